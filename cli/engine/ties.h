/* SPDX-License-Identifier: Apache-2.0
 *
 * The k-th best element of a stream, with the counts that the k best alone do not tell. The elements that may
 * be better are listed, without their positions. When the list is long enough, its k-th is the bar: what is
 * not better from then on is forgotten, and what equals it is counted. So memory holds 5/4 k elements. */
#ifndef TOPK_CLI_TIES_H
#define TOPK_CLI_TIES_H

#include "classes.h"

struct ties {
    struct session *host; /* where the list is ranked, and elements are counted */
    struct classes classes;
    int64_t k;
    int64_t seen;
    char *list; /* elements above the bar, or all so far */
    int64_t listed, room;
    char *above; /* flags: which elements of a block of the list are above a new bar */
    int64_t block;
    bool has_bar;  /* k elements have been listed */
    uint64_t bar;  /* the class of their k-th */
    char kth[8];   /* as topk_kth() wrote it */
    int64_t equal; /* elements in that class so far */
};

/* For chunks of up to `length_max` elements. */
void ties_begin(struct ties *ties, struct session *session, const struct options *options, topk_type type,
                int64_t length_max);

void ties_push(struct ties *ties, const void *elements, int64_t length);

/* As topk_kth() on everything pushed, for a k up to the one of the options. */
void ties_result(struct ties *ties, int64_t k, void *kth, int64_t *better, int64_t *equal);

/* Elements that stand for all that was pushed, as far as their k-th and its counts go: so many, and those
 * from `first` on. */
int64_t ties_count(const struct ties *ties);
void ties_copy(const struct ties *ties, int64_t first, int64_t length, void *elements);

void ties_end(struct ties *ties);

#endif /* TOPK_CLI_TIES_H */
