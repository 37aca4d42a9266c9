/* SPDX-License-Identifier: Apache-2.0
 * What the parts of a selection get from the host, and what they know of a row. */
#ifndef TOPK_SRC_CUDA_SELECT_ARGS_H
#define TOPK_SRC_CUDA_SELECT_ARGS_H

#include <stdbool.h>
#include <stdint.h>

/* The k-th code lies in [low, high]. Elements above are winners; of the candidates, those in between, the
 * best `need` are results. */
struct kth_range {
    uint64_t low, high;
    uint64_t need, candidates;
};

/* A digit of codes. */
struct digit {
    uint32_t shift, mask;
};

/* Digits have `bits` bits, the last one perhaps fewer. They are looked at from the highest on, until all are
 * known; with early_stop, until at most `surplus` candidates are no results. */
struct digit_plan {
    uint32_t bits;
    bool early_stop;
    uint64_t surplus;
};

/* Where the results go. */
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

struct target {
    enum target_kind kind;
    bool ties_free; /* which ties are taken may be chosen */
    /* All results are found in the order of positions: always so for a list, and for outputs by position. */
    bool in_order;
    bool by_position; /* TARGET_ENTRIES: they are sorted by position */
    /* TARGET_ENTRIES: entries.cuh; `pitch` for each row. */
    bool two_words;
    int64_t pitch;
    uint64_t *entries, *entries_low;
    struct element_list list; /* TARGET_LIST: k_max for each row */
};

/* Look-back of the ordered filter over `tiles` tiles of each row: two sums of `sum_words` words each, zero
 * before the launch. */
struct lookback_args {
    int64_t tiles, sum_words;
    uint64_t *words;
};

#endif
