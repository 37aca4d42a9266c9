/* SPDX-License-Identifier: Apache-2.0
 *
 * Goes through a row of a file that can be read again, as often as is asked for, in chunks that stay in the
 * cache. */
#ifndef TOPK_CLI_READER_H
#define TOPK_CLI_READER_H

#include "../output/progress.h"
#include "session.h"

struct reader {
    struct session *host;
    const struct matrix *matrix;
    const topk_predicate *predicate; /* only elements that meet it are shown; NULL: all */
    topk_problem problem;            /* of one row */
    struct progress *progress;
    struct pieces pieces;
    int64_t row;     /* which row is read */
    int passes_left; /* over this row, most likely */
    int passes_made;
    int passes_of_others; /* over each row behind this one, most likely */
    int64_t length;       /* of a row */
    int64_t chunk;        /* elements that are shown at once, at most */
    void *values;         /* with a predicate: what meets it, and where that is */
    int64_t *indices;
};

/* Elements of a chunk, in their order. Element i has position base + i, or indices[i] if that is not NULL. */
struct shown {
    const void *values;
    const int64_t *indices;
    int64_t base;
    int64_t count;
};
typedef void reader_visit(void *state, const struct shown *shown);

/* The matrix must be rereadable, and with the predicate outlive the reader. */
void reader_begin(struct reader *reader, struct session *session, const struct options *options,
                  const struct matrix *matrix, const topk_predicate *predicate, struct progress *progress);

/* Goes to a later row. At first the reader is at none. */
void reader_go(struct reader *reader, int64_t row);

/* Says how many passes over the row are most likely left, for the progress bar: one, unless this is called.
 * The bar expects that each later row takes as many as the last one that is done or, before that, as the
 * first one is expected to take. */
void reader_expect(struct reader *reader, int passes);

/* Shows all elements of the row, chunk by chunk. */
void reader_pass(struct reader *reader, reader_visit *visit, void *state);

/* Shows elements from random places: one run of SAMPLE_RUN elements from each of `runs` equal parts of the
 * row. */
enum { SAMPLE_RUN = 16 };
void reader_sample(struct reader *reader, int64_t runs, reader_visit *visit, void *state);

void reader_end(struct reader *reader);

#endif /* TOPK_CLI_READER_H */
