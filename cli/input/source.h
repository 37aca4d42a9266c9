/* SPDX-License-Identifier: Apache-2.0
 *
 * The input, whatever its format, piece by piece. */
#ifndef TOPK_CLI_SOURCE_H
#define TOPK_CLI_SOURCE_H

#include "matrix.h"
#include "text.h"

/* What a piece of text is. Lines may be skipped, which hold no number. A number beyond float64 is a piece of
 * its own, but for TEXT_CHUNK. */
enum text_piece {
    TEXT_RUN,    /* lines without a gap */
    TEXT_VALUES, /* all values of a chunk, whose positions do not matter */
    TEXT_CHUNK,  /* all lines of a chunk: those that are skipped have 0 for a value */
};

struct source {
    bool is_text;
    enum text_piece text_piece; /* the caller's to set */
    struct run run;             /* of the text's chunk: what pieces come from */
    int64_t run_done;           /* lines of the run, or of the values, that were pieces */
    int64_t beyond_done;        /* numbers beyond float64 of the chunk that were pieces */
    struct layout layout;       /* of text: one row, whose length is known at the end */
    uint64_t bytes;             /* of the file; 0: not known */
    int64_t first, end;         /* of a matrix: the columns that pieces come from */
    int64_t rows_max;           /* of a piece */
    int64_t length_max;         /* of a piece's rows */
    struct matrix matrix;       /* unless it is text */
    struct pieces pieces;
    struct text text;
};

void source_open(struct source *source, const struct options *options);

/* Takes only part `part` of `parts` of each row, which must be a vector. Its pieces have their places in the
 * whole. */
void source_take_part(struct source *source, int part, int parts);

/* Has `threads` threads parse text. Needed before the first piece of text alone. */
void source_share(struct source *source, int threads);

/* Limits pieces to these elements and rows; not pieces of text. Pieces of a matrix need it, once. */
void source_limit(struct source *source, int64_t elements_max, int64_t rows_max);

/* Whether pieces are parts of rows, or may be. */
bool source_divides_rows(const struct source *source);

/* Elements from the first to the last of the largest piece. */
int64_t source_span(const struct source *source);

/* The next piece; false at the end. Ends the tool when the input is wrong. */
bool source_next(struct source *source, struct piece *piece);

/* Whether no row of the piece goes on behind it. Of text nobody knows. */
bool source_ends_rows(const struct source *source, const struct piece *piece);

/* Bytes of the input that have been passed. */
uint64_t source_done(const struct source *source);

void source_close(struct source *source);

#endif /* TOPK_CLI_SOURCE_H */
