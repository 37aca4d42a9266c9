/* SPDX-License-Identifier: Apache-2.0
 * How air serves a problem, and over which workspace. */
#ifndef TOPK_SRC_CUDA_AIR_STRATEGY_H
#define TOPK_SRC_CUDA_AIR_STRATEGY_H

#include "../select/found.h"
#include "kernels.h"

extern const struct knob topk_cuda_air_knobs[];

/* What is decided. */
struct strategy {
    enum target_kind target;
    bool in_order;          /* as in struct target */
    bool one_block;         /* for each row */
    bool early_stop, fused; /* knobs */
    bool by_extent;         /* in_place.h */
    bool wide, two_words;   /* positions, and entries */
    uint32_t digit_bits, passes;
    uint32_t block_entries, block_candidates;
    uint64_t surplus; /* of struct plan */
    /* One block for each row: the length that it is made for, its threads, and how many such blocks run at
     * once. */
    int64_t usual_length, resident_blocks;
    uint32_t row_threads;
    /* Several blocks for each row, in the first pass and after. */
    uint32_t first_blocks, blocks;
    int64_t capacity;     /* of a row's candidate buffer */
    int64_t pitch;        /* of a row's entries */
    int64_t tiles;        /* of the ordered filter; 0 if none can be needed */
    bool has_last;        /* a launch writes what the passes do not */
    struct decision sort; /* of what was found, if it goes to a list */
};

struct layout {
    struct air_args args;
    void *zeroed; /* what must be zero before the first launch */
    size_t zeroed_bytes;
    struct found found;
    void *sort_workspace;
    struct match *found_match; /* of bounds that the device reads */
    size_t bytes;
};

/* Of struct method. */
double topk_cuda_air_least_us(const topk_context *context, const struct plan *plan);
void topk_cuda_air_plan(const topk_context *context, const struct plan *plan, struct room *room,
                        struct decision *decision);

/* Sets the pointers of layout.args, and nothing else of them. */
struct layout topk_cuda_air_lay_out(const struct plan *plan, const struct strategy *s, void *workspace);

#endif
