/* SPDX-License-Identifier: Apache-2.0
 * What the hosts of radix selection decide alike. */
#ifndef TOPK_SRC_CUDA_SELECT_PLAN_H
#define TOPK_SRC_CUDA_SELECT_PLAN_H

#include <float.h>
#include <math.h>

#include "../leaf.h"
#include "args.h"
#include "sizes.h"

/* Where the results go. */
static inline enum target_kind radix_target_of(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const bool sorted = p->order == TOPK_ORDER_BEST_FIRST;
    if (operation_is_kth(plan->operation)) {
        return TARGET_KTH;
    }
    if (p->order == TOPK_ORDER_ANY && p->ties == TOPK_TIES_ANY) {
        return TARGET_OUTPUTS;
    }
    return p->k_max <= SELECT_SORT_MAX ? TARGET_ENTRIES : sorted ? TARGET_LIST : TARGET_OUTPUTS;
}

/* As in struct target. */
static inline bool goes_in_order(const struct plan *plan, enum target_kind target) {
    return target == TARGET_LIST ||
           (target == TARGET_OUTPUTS && plan->problem.order == TOPK_ORDER_BY_POSITION);
}

static inline void set_target(const struct plan *plan, enum target_kind kind, struct target *target) {
    target->kind = kind;
    target->ties_free = plan->problem.ties == TOPK_TIES_ANY;
    target->in_order = goes_in_order(plan, kind);
    target->by_position = plan->problem.order == TOPK_ORDER_BY_POSITION;
}

/* Room for entries that one block sorts: a power of two. */
static inline uint32_t room_for_entries(int64_t count) {
    uint32_t entries = 64;
    while (entries < count) {
        entries *= 2;
    }
    return entries;
}

/* Whether the whole device ranks the results of few rows, or each row's are sorted in one block: the work of
 * ranking grows with k^2. */
static inline bool ranks_results(int64_t rows, int64_t k, int64_t rows_of_most) {
    return rows <= rows_of_most * SELECT_SORT_MAX * SELECT_SORT_MAX / ((k + 1) * (k + 1));
}

/* The chance that results are listed in the order of positions: else blocks write them where they may. Of
 * equal elements the first ones are results, so they are listed if the k-th one has an equal that is none.
 * Uniform floats of 32 bits have about 2^24 values, and others tie as often or more. */
static inline double listing_chance(const struct plan *plan, enum target_kind target) {
    const double values = plan->element_bits <= 16 ? 1 : plan->element_bits == 32 ? 1 << 24 : DBL_MAX;
    if (goes_in_order(plan, target)) {
        return 1;
    }
    return target == TARGET_OUTPUTS && plan->problem.ties == TOPK_TIES_LOWEST_INDEX
               ? fmin(1, (double)plan->problem.length_max / values)
               : 0;
}

/* What that takes besides, where blocks share rows: a tile waits for those before it, whether it holds
 * results or not. */
static inline double listing_us(const topk_context *context, const struct plan *plan,
                                enum target_kind target) {
    const double of_element = (double)plan->element_bytes + 4;
    return listing_chance(plan, target) * work_us(context, (double)plan->input_elements * of_element,
                                                  topk_cuda_costs.air.listed_bytes_per_us);
}

/* What it takes to put results in order, in one block or, of lists, by sort: a pass for each byte, and about
 * as long as two more to write the list in order and to read it. */
static inline double sorting_us(const topk_context *context, const struct plan *plan,
                                enum target_kind target) {
    if (target == TARGET_ENTRIES) {
        const double sorted = (double)least(plan->problem.k_max, SELECT_SORT_MAX);
        return block_us(context, sorted / topk_cuda_costs.air.results_per_us);
    }
    const double bytes = (double)plan->element_bytes, moved = 2 * (double)plan->output_elements * (bytes + 4);
    return target != TARGET_LIST
               ? 0
               : (bytes + 2) * topk_cuda_costs.sort.pass_us +
                     bytes * move_us(context, moved, topk_cuda_costs.sort.list_bytes_per_us);
}

/* A product that says "too many" instead of overflowing. */
static inline size_t size_product(size_t a, size_t b) {
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

#endif
