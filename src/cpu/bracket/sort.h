/* SPDX-License-Identifier: Apache-2.0
 * A stable radix sort of (key, slot) pairs, best first, by a team. */
#ifndef TOPK_SRC_CPU_SORT_H
#define TOPK_SRC_CPU_SORT_H

#include "../kernels/kernels.h"

/* Pairs in keys[0] and slots[0]; the others are scratch of the same size (whole words). counts has
 * RADIX_BINS elements for each thread. */
struct sorter {
    const topk_context *context;
    const struct kernels *kernels;
    void *keys[2];
    uint32_t *slots[2];
    size_t *counts;
    size_t n;
    int threads;
};

/* Returns the sorted slots: sorter->slots[0] or [1]. */
const uint32_t *topk_cpu_sort_pairs(struct sorter *sorter);

#endif
