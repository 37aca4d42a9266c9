/* SPDX-License-Identifier: Apache-2.0
 * How drtopk serves a problem, by which base, and over which workspace. */
#ifndef TOPK_SRC_CUDA_DRTOPK_STRATEGY_H
#define TOPK_SRC_CUDA_DRTOPK_STRATEGY_H

#include "../../subcall.h"
#include "../leaf.h"
#include "kernels.h"

extern const struct knob topk_cuda_drtopk_knobs[];
extern const struct drtopk_kernels *const topk_cuda_drtopk_kernels[WIDTHS];

/* Whether the tuning names the base. */
bool topk_cuda_drtopk_names_base(const struct plan *plan);

/* What is decided, in the room, once. */
struct strategy {
    /* The whole call, by the base: rows are too short or k is too large for delegates, or workspaces would
     * exceed the caller's limit. Else NULL, and the other fields count. */
    const struct subcall *base;
    const struct subcall *first, *second; /* top-k among the delegates, and of the concatenated vectors */
    const struct drtopk_kernels *kernels;
    int64_t rows;
    size_t element_bytes, index_bytes; /* index_bytes: 0 if no positions are wanted */
    bool is_kth;
    uint32_t exponent, beta;
    bool coalesced, filters;
    bool first_selects;                    /* the first top-k is a selection, since the base has no kth */
    int64_t surplus;                       /* delegates besides the k best that may be taken */
    int64_t subranges, slots;              /* of the longest row: at most, and room for their delegates */
    int64_t pitch;                         /* of a concatenated vector */
    int64_t tile, tiles;                   /* subranges of a tile; tiles of a row, at most */
    uint32_t delegate_blocks, tile_blocks; /* of a row: of the kernel that makes delegates, and of others */
};

struct layout {
    struct drtopk_args args;
    void *elements, *indices; /* concatenated */
    void *kth_values;
    void *zeroed; /* what must be zero before the first launch */
    size_t zeroed_bytes;
    void *base, *first, *second; /* workspaces of the inner calls */
    size_t bytes;
};

/* Fails if the base cannot serve. */
topk_status topk_cuda_drtopk_decide(const topk_context *context, const struct plan *plan, struct room *room,
                                    struct strategy *s);

/* Sets the pointers of layout.args, and nothing else of them but sizes. */
struct layout topk_cuda_drtopk_lay_out(const struct strategy *s, void *workspace);

#endif
