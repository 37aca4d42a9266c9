/* SPDX-License-Identifier: Apache-2.0
 * The k-th key of an array, exactly, by counting alone: no array of candidates, whatever the data. */
#ifndef TOPK_SRC_CPU_COUNTING_H
#define TOPK_SRC_CPU_COUNTING_H

#include "../matcher.h"

struct counting {
    const topk_context *context;
    const struct kernels *kernels;
    const struct key_map *map;
    const void *elements;
    size_t n;
    int threads;
    void *keys;     /* room for BISECT_MAX keys, in whole words */
    uint64_t *bins; /* HISTOGRAM_BINS for each thread */
    /* Counts only the matches, at least k: the matcher, what its first element is called,
     * and TILE / WORD words for each thread. Else NULL. */
    const struct matcher *matcher;
    size_t first;
    uint64_t *masks;
};

/* The k-th largest key (1 <= k <= n) and how many keys are larger; without `exact`, any threshold of
 * the k best will do. */
struct threshold topk_cpu_counting_kth(const struct counting *counting, size_t k, bool exact);

#endif
