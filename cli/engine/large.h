/* SPDX-License-Identifier: Apache-2.0
 *
 * The k best of a row of a file, where k is large. One pass lists what a sample tells, if there is room for
 * it. If that fails, one or more passes narrow down to the k-th, one lists what is better, and one as many
 * equals of it as are left to take. The memory of the results, with what puts them in order, is 32 bytes for
 * each of the min(k, length) results, and a piece more. */
#ifndef TOPK_CLI_LARGE_H
#define TOPK_CLI_LARGE_H

#include "narrow.h"

struct large {
    struct reader reader;
    struct classes classes;
    const struct options *options;
    topk_problem problem; /* of a list */

    /* The list: all elements that are better than the k-th, then or among them some that are not. Those of
     * one class come in the order of their positions. */
    char *values;
    int64_t *indices;
    int64_t listed, room;

    /* What a pass lists, up to a length of the list, and how many it finds. */
    struct class_range range;
    int64_t listed_max, found;

    /* Results that are put in order at once. */
    int64_t bucket_max;
    char *bucket_values;
    int64_t *bucket_indices;
    char *ranked_values;
    int64_t *ranked_indices;
};

/* Takes results, in the order that the options ask for. */
typedef void large_emit(void *state, const void *values, const int64_t *indices, int64_t count);

/* Takes the arguments of reader_begin(). Without a predicate it ends the tool, before elements are read, if
 * the results need more memory than there is. */
void large_begin(struct large *large, struct session *session, const struct options *options,
                 const struct matrix *matrix, const topk_predicate *predicate, struct progress *progress);

/* Emits the results of row `row`, at most k. */
void large_row(struct large *large, int64_t row, large_emit *emit, void *state);

void large_end(struct large *large);

#endif /* TOPK_CLI_LARGE_H */
