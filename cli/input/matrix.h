/* SPDX-License-Identifier: Apache-2.0
 *
 * Binary input: mapped or a stream, never read as a whole, and handled in pieces. A stream whose elements do
 * not come in the order of its rows, or whose length is not known at its begin, goes to a temporary file. */
#ifndef TOPK_CLI_MATRIX_H
#define TOPK_CLI_MATRIX_H

#include "../options/options.h"
#include "../parse/parse.h"
#include "shards.h"
#include "text.h"

struct matrix {
    const char *name; /* for messages */
    const char *file; /* the mapping, NULL for an empty file, for a stream, and where nothing can be mapped */
    uint64_t size;
    char *head; /* the first bytes, with the header; NULL if the file is mapped */
    size_t head_bytes;
    int descriptor;       /* of the file */
    struct shards shards; /* instead of one file; without any the list is NULL */
    struct layout layout;
    bool rereadable;     /* a file: any part can be read at any time; else a stream */
    bool has_dimensions; /* each row is preceded by its dimension, which is checked on the way */
};

/* Opens the input, or its shards, and parses headers. Ends the tool when it is no such file. */
void matrix_open(struct matrix *matrix, const struct options *options);

/* Whether its file, or one of its shards, cannot be mapped: then pieces are read. */
bool matrix_is_unmapped(const struct matrix *matrix);

/* Makes a stream rereadable, by a temporary file. No piece of it may have been read. */
void matrix_spool(struct matrix *matrix);

/* Copies `count` elements of a row, from `column` on, of a rereadable matrix. False if the file has them no
 * longer, or they cannot be read. Any number of threads may call it. */
bool matrix_elements(const struct matrix *matrix, int64_t row, int64_t column, int64_t count, void *to);

/* Ends the tool if one of the rows [first, first + count) says that its dimension is another one. */
void matrix_check_rows(const struct matrix *matrix, int64_t first, int64_t count);

/* The elements of a row in the mapping, whose dimension is checked; NULL if they are not one after the other
 * there, or the matrix is none that is mapped. They need not be aligned. */
const void *matrix_row(const struct matrix *matrix, int64_t row);

void matrix_close(struct matrix *matrix);

/* Reads the next bytes of a stream, which are those at byte `at`. Ends the tool if they do not come. */
void matrix_read(const struct matrix *matrix, void *to, uint64_t at, size_t bytes);

/* The same for bytes of a rereadable matrix, in any order. */
void matrix_read_at(const struct matrix *matrix, void *to, uint64_t at, size_t bytes);

/* Ends the tool if a stream goes on behind its last element, or a file has shrunk: within its last page what
 * is cut off reads as zeros. */
void matrix_check_end(const struct matrix *matrix);

/* Copies bytes of the mapping, or of any other memory if the matrix is NULL or they lie elsewhere. Bytes of
 * the mapping are read from the file: each page of a mapping costs a fault, and more when it is given back.
 * False if the file has them no longer, or they cannot be read. Any number of threads may call it. */
bool matrix_copy(const struct matrix *matrix, void *to, const void *from, size_t bytes);

/* What one call of the library gets: whole rows, or a part of one row. */
struct piece {
    const void *values;          /* aligned to their type; valid until the next piece */
    int64_t row;                 /* first row */
    int64_t rows;                /* 1 for a part */
    int64_t begin;               /* first element in its row; 0 for whole rows */
    int64_t length;              /* of each row */
    const struct text *text;     /* whose lines these are; NULL for a matrix */
    const struct beyond *beyond; /* NULL, or a number that is no element: of line `begin`. The length is 0 */
    const unsigned char
        *met; /* text: of each element, whether its line meets the conditions; NULL: there are none */
};

/* Goes through a matrix, dropping the pages behind it. */
struct pieces {
    const struct matrix *matrix;
    int64_t rows_max;    /* of a piece */
    int64_t length_max;  /* of a piece's rows */
    int64_t first, end;  /* the columns that are gone through */
    int64_t row, column; /* where the next piece begins */
    uint64_t dropped;    /* the mapping's bytes before this are no longer resident */
    void *copy;          /* NULL, or room for a piece: a mapping does not hold it as it should be */
};

/* Goes through columns [first, end) of all rows. A piece holds at most `elements_max` elements in at most
 * `rows_max` rows, but at least one of each. */
void pieces_begin(struct pieces *pieces, const struct matrix *matrix, int64_t first, int64_t end,
                  int64_t elements_max, int64_t rows_max);

/* The next piece is the first one of row `row`. The matrix must be rereadable. */
void pieces_go(struct pieces *pieces, int64_t row);

/* Elements from the first to the last of the largest piece. */
int64_t pieces_span(const struct pieces *pieces);

/* The next piece; false at the end. Ends the tool when a row's dimension is wrong. */
bool pieces_next(struct pieces *pieces, struct piece *piece);

/* Bytes of the file that have been passed. */
uint64_t pieces_done(const struct pieces *pieces);

void pieces_end(struct pieces *pieces);

#endif /* TOPK_CLI_MATRIX_H */
