/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of an approximate selection are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_RTOPK_APPROXIMATE_H
#define TOPK_SRC_CUDA_RTOPK_APPROXIMATE_H

#include "../predicate/args.h"
#include "kernels.h"
#include "numbers.h"

/* `of_row`: lists have a slot for each element that a team holds, or more. */
struct approximate_args {
    struct rtopk_args of_row;
    struct predicate_args predicate;
    struct number_map numbers;
    uint32_t max_iterations; /* or 0: one of the others is set */
    bool lists_numbers; /* of rows in parts of a warp: results in any order are listed with their numbers */
    double epsilon, epsilon_relative;
};

/* Blocks for each multiprocessor of kernels that share a warp among several rows: as registers allow. */
#define RTOPK_APPROXIMATE_PART_BLOCKS(items) ((items) > 32 ? 4 : 7)

/* Slots of a list for `held`: a list that is sorted itself has a power of two. */
static inline uint32_t approximate_slots(uint32_t held) {
    uint32_t slots = 1;
    while (slots < held) {
        slots *= 2;
    }
    return slots;
}

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of one element width. `row_class` as in approximate_classes. */
struct approximate_kernels {
    int (*prepare)(void);
    int (*row)(const struct launch_grid *grid, const struct approximate_args *args, uint32_t row_class);
    /* Elements of 32 bits, in rows that are alike and whole. `index`: of RTOPK_PART_ITEMS_0 or 1. */
    int (*parts)(const struct launch_grid *grid, const struct approximate_args *args, uint32_t index);
};

extern const struct approximate_kernels topk_cuda_rtopk_approximate_8, topk_cuda_rtopk_approximate_16,
    topk_cuda_rtopk_approximate_32, topk_cuda_rtopk_approximate_64;

#ifdef __cplusplus
}
#endif
#endif
