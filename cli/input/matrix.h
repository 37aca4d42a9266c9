/* SPDX-License-Identifier: Apache-2.0
 *
 * Binary files: mapped, never read as a whole, and handled in pieces. */
#ifndef TOPK_CLI_MATRIX_H
#define TOPK_CLI_MATRIX_H

#include "../options/options.h"
#include "../parse/parse.h"

struct matrix {
    const char *name; /* for messages */
    const char *file; /* the mapping, NULL for an empty file */
    uint64_t size;
    int descriptor; /* of the file */
    struct layout layout;
    bool has_dimensions; /* each row is preceded by its dimension, which is checked on the way */
};

/* Maps the input and parses its header. Ends the tool when it is no such file. */
void matrix_open(struct matrix *matrix, const struct options *options);
void matrix_close(struct matrix *matrix);

/* Ends the tool when the file has shrunk: within its last page what is cut off reads as zeros. */
void matrix_check(const struct matrix *matrix);

/* Copies bytes of the mapping, or of any other memory if the matrix is NULL or they lie elsewhere. Those of
 * the mapping are read from the file: each page of a mapping costs a fault, and more when it is given back.
 * False if the file has them no longer, or they cannot be read. Any number of threads may call it. */
bool matrix_copy(const struct matrix *matrix, void *to, const void *from, size_t bytes);

/* What one call of the library gets: whole rows, or a part of one row. */
struct piece {
    const void *values; /* aligned to their type; valid until the next piece */
    int64_t row;        /* first row */
    int64_t rows;       /* 1 for a part */
    int64_t begin;      /* first element in its row; 0 for whole rows */
    int64_t length;     /* of each row */
};

/* Goes through a matrix, dropping the pages behind it. */
struct pieces {
    const struct matrix *matrix;
    int64_t rows_max;    /* of a piece */
    int64_t length_max;  /* of a piece's rows */
    int64_t row, column; /* where the next piece begins */
    uint64_t dropped;    /* the mapping's bytes before this are no longer resident */
    void *copy;          /* NULL, or room for a piece whose place in the file is misaligned */
};

/* A piece holds at most `elements_max` elements in at most `rows_max` rows, but at least one of each. */
void pieces_begin(struct pieces *pieces, const struct matrix *matrix, int64_t elements_max, int64_t rows_max);

/* Elements from the first to the last of the largest piece. */
int64_t pieces_span(const struct pieces *pieces);

/* The next piece; false at the end. Ends the tool when a row's dimension is wrong. */
bool pieces_next(struct pieces *pieces, struct piece *piece);

/* Bytes of the file that have been passed. */
uint64_t pieces_done(const struct pieces *pieces);

void pieces_end(struct pieces *pieces);

#endif /* TOPK_CLI_MATRIX_H */
