/* SPDX-License-Identifier: Apache-2.0
 * How drtopk serves a problem, by which base, and over which workspace. */
#ifndef TOPK_SRC_CUDA_DRTOPK_STRATEGY_H
#define TOPK_SRC_CUDA_DRTOPK_STRATEGY_H

#include "../../subcall.h"
#include "../leaf.h"
#include "kernels.h"

extern const struct knob topk_cuda_drtopk_knobs[];

/* Whether the tuning names the base. */
bool topk_cuda_drtopk_names_base(const struct plan *plan);

/* Follows from the plan and the device alone. */
struct strategy {
    const struct method *base;
    bool is_base; /* rows are too short, or k too large, for delegates: the base alone serves */
    uint32_t exponent, beta;
    bool coalesced, filters;
    bool first_selects;       /* the first top-k is a selection, since the base has no kth */
    int64_t surplus;          /* delegates besides the k best that may be taken */
    int64_t subranges, slots; /* of the longest row: at most, and room for their delegates */
    int64_t pitch;            /* of a concatenated vector */
    int64_t tile, tiles;      /* subranges of a tile; tiles of a row, at most */
};

struct layout {
    struct subcall first, second; /* if delegates are made, else `base` */
    struct subcall base;
    struct drtopk_args args;
    void *elements, *indices; /* concatenated */
    void *kth_values;
    void *zeroed; /* what must be zero before the first launch */
    size_t zeroed_bytes;
    size_t bytes;
    topk_status status; /* whether the base can serve */
};

/* Where workspaces would exceed the caller's limit, the base serves alone. */
struct strategy topk_cuda_drtopk_strategy(const topk_context *context, const struct plan *plan);

/* Sets the pointers of layout.args, and nothing else of them but what the look-back has room for. */
struct layout topk_cuda_drtopk_lay_out(const topk_context *context, const struct plan *plan,
                                       const struct strategy *s, void *workspace);

#endif
