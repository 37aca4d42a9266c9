/* SPDX-License-Identifier: Apache-2.0
 * How air serves a problem, and over which workspace. */
#ifndef TOPK_SRC_CUDA_AIR_STRATEGY_H
#define TOPK_SRC_CUDA_AIR_STRATEGY_H

#include "../../subcall.h"
#include "kernels.h"

extern const struct knob topk_cuda_air_knobs[];

/* Follows from the plan and the device alone. */
struct strategy {
    enum target_kind target;
    bool one_block;         /* for each row */
    bool early_stop, fused; /* knobs */
    bool wide, two_words;   /* positions, and entries */
    uint32_t digit_bits, passes;
    uint32_t block_entries;
    /* One block for each row: the length that it is made for, its threads, and the candidates that it has
     * room for. */
    int64_t usual_length;
    uint32_t row_threads, row_candidates;
    /* Several blocks for each row, in the first pass and after. */
    uint32_t first_blocks, blocks;
    int64_t capacity; /* of a row's candidate buffer */
    int64_t pitch;    /* of a row's entries */
    int64_t tiles;    /* of the ordered filter; 0 if none can be needed */
};

struct layout {
    struct air_args args;
    void *zeroed; /* what must be zero before the first launch */
    size_t zeroed_bytes;
    struct found found;
    struct subcall sort;       /* of what was found */
    struct match *found_match; /* of bounds that the device reads */
    size_t bytes;
};

struct strategy topk_cuda_air_strategy(const topk_context *context, const struct plan *plan);

/* Sets the pointers of layout.args, and nothing else of them. */
struct layout topk_cuda_air_lay_out(const topk_context *context, const struct plan *plan,
                                    const struct strategy *s, void *workspace);

#endif
