/* SPDX-License-Identifier: Apache-2.0
 * Where the results of a selection go. */
#ifndef TOPK_SRC_CUDA_SELECT_TARGET_H
#define TOPK_SRC_CUDA_SELECT_TARGET_H

#include <stdbool.h>
#include <stdint.h>

enum target_kind {
    TARGET_OUTPUTS, /* the outputs, in any order */
    TARGET_ENTRIES, /* entries for a sort by one block: at most SELECT_SORT_MAX and ties (small_sort.cuh) */
    TARGET_LIST,    /* a list in the order of positions, for a sort by the whole device */
    TARGET_KTH      /* the k-th class alone: no result is written */
};

/* Elements with their positions, in global memory. */
struct element_list {
    void *elements;  /* their bits */
    void *positions; /* uint64_t if `wide`, else uint32_t */
    bool wide;
};

/* Look-back of the ordered filter over `tiles` tiles of each row: two sums of `sum_words` words each, zero
 * before the launch. */
struct lookback_args {
    int64_t tiles, sum_words;
    uint64_t *words;
};

struct target {
    enum target_kind kind;
    bool ties_free; /* which ties are taken may be chosen */
    /* TARGET_ENTRIES: entries.cuh; `pitch` for each row. */
    bool two_words;
    int64_t pitch;
    uint64_t *entries, *entries_low;
    struct element_list list; /* TARGET_LIST: k_max for each row */
};

#endif
