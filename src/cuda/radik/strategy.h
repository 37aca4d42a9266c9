/* SPDX-License-Identifier: Apache-2.0
 * How radik serves a problem, and over which workspace. */
#ifndef TOPK_SRC_CUDA_RADIK_STRATEGY_H
#define TOPK_SRC_CUDA_RADIK_STRATEGY_H

#include "../../subcall.h"
#include "../select/found.h"
#include "kernels.h"

extern const struct knob topk_cuda_radik_knobs[];
extern const struct radik_kernels *const topk_cuda_radik_kernels[];

/* What is decided. */
struct radik_strategy {
    bool is_empty; /* there is nothing to do */
    bool is_air;   /* all rows are short: air serves the call */
    struct decode_args order;
    enum target_kind target;
    bool in_order;                               /* as in struct target */
    bool has_many;                               /* results of a row may be many */
    bool uses_buffer, reschedules, pads, scales; /* knobs */
    bool wide, two_words;                        /* positions, and entries */
    uint32_t digit_bits, passes;                 /* passes that count a digit */
    uint32_t blocks;
    int64_t short_length;                /* of rows that are left to another method, at most */
    int64_t tile_elements, tiles_of_row; /* of the longest row */
    int64_t states, tiles;               /* at most, of all rows that are read here */
    int64_t tile_capacity;
    int64_t pitch; /* of a row's entries */
    uint32_t block_entries;
    bool may_go_in_order;
    bool may_overflow;            /* spans may overlap: more rows and tiles than there is room for */
    struct decision air;          /* of the whole call, if it may be left to air */
    struct decision sort;         /* of what was found, if it goes to a list */
    const struct subcall *shorts; /* rows of different lengths: the short ones; NULL: all are read here */
};

struct radik_layout {
    struct radik_args args;
    void *zeroed; /* what must be zero before the first launch */
    size_t zeroed_bytes;
    size_t lookback_bytes;
    struct found found;
    void *air_workspace, *shorts_workspace, *sort_workspace;
    struct match *found_match; /* of bounds that the device reads */
    size_t bytes;
};

/* Of struct method. */
double topk_cuda_radik_least_us(const topk_context *context, const struct plan *plan);
void topk_cuda_radik_plan(const topk_context *context, const struct plan *plan, struct room *room,
                          struct decision *decision);

/* Sets the pointers of layout.args, and nothing else of them. */
struct radik_layout topk_cuda_radik_lay_out(const struct plan *plan, const struct radik_strategy *s,
                                            void *workspace);

#endif
