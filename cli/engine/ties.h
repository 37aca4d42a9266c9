/* SPDX-License-Identifier: Apache-2.0
 *
 * The k-th best element of a stream, with the counts that the k best alone do not tell. */
#ifndef TOPK_CLI_TIES_H
#define TOPK_CLI_TIES_H

#include "stream.h"

struct ties {
    struct session *host; /* where the list is ranked, and elements are counted */
    struct stream stream;
    topk_rank rank;
    int64_t k;
    int64_t seen;
    void *best; /* the k best so far; NULL until there are k */
    bool known; /* k elements have been seen */
    char kth[8];
    int64_t better; /* elements above the k-th so far: all are in `best` */
    int64_t equal;  /* elements that tie with it so far: some may no longer be in `best` */
};

/* For chunks of up to `length_max` elements, and `row` in all, or STREAM_ENDLESS. */
void ties_begin(struct ties *ties, struct session *session, const struct options *options, topk_type type,
                int64_t length_max, int64_t row);

/* Begins again with no elements. */
void ties_reset(struct ties *ties);

void ties_push(struct ties *ties, const void *elements, int64_t length);

/* As topk_kth() on everything pushed. */
void ties_result(struct ties *ties, void *kth, int64_t *better, int64_t *equal);

void ties_end(struct ties *ties);

#endif /* TOPK_CLI_TIES_H */
