/* SPDX-License-Identifier: Apache-2.0
 * Candidates on their way to be merged, and sorting them. */
#ifndef TOPK_SRC_CPU_MERGE_ENTRIES_H
#define TOPK_SRC_CPU_MERGE_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merge_entry {
    uint64_t key;  /* keys.h */
    int64_t index; /* of the candidate, which breaks ties */
    int64_t at;    /* its element in the input */
};

enum { MERGE_BUFFERS = 3, MERGE_INSERTED = 8 };

/* Whether `a` ranks before `b`. */
static inline bool merge_before(const struct merge_entry *a, const struct merge_entry *b) {
    return a->key != b->key ? a->key > b->key : a->index < b->index;
}

/* Merges two runs, each best first, up to `most` entries. Returns how many they are. */
size_t topk_cpu_merge_runs(const struct merge_entry *a, size_t a_count, const struct merge_entry *b,
                           size_t b_count, struct merge_entry *merged, size_t most);

/* Sorts, best first. `others` has room for as many; returns where the sorted ones are. */
struct merge_entry *topk_cpu_merge_sort(struct merge_entry *entries, struct merge_entry *others,
                                        size_t count);

#endif
