/* SPDX-License-Identifier: Apache-2.0
 * Candidates of a group, and the best of them. */
#ifndef TOPK_SRC_CPU_GROUPS_CANDIDATES_H
#define TOPK_SRC_CPU_GROUPS_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct group_candidate {
    uint64_t key; /* keys.h */
    int64_t position;
};

/* Whether `a` ranks before `b`. Without a branch, for which comes first is anyone's guess. */
static inline bool group_before(const struct group_candidate *a, const struct group_candidate *b) {
    return (a->key > b->key) | ((a->key == b->key) & (a->position < b->position));
}

/* Of a thread: room for as many candidates as it cuts or sorts at once. Pivots are drawn, so no order of the
 * candidates makes that slow. */
struct group_scratch {
    struct group_candidate *candidates;
    uint64_t random;
};

/* Moves the k best of `count` candidates, in any order, to the front. */
void topk_cpu_group_keep(struct group_candidate *candidates, size_t count, size_t k,
                         struct group_scratch *scratch);

/* Sorts, best first. */
void topk_cpu_group_sort(struct group_candidate *candidates, size_t count, struct group_scratch *scratch);

#endif
