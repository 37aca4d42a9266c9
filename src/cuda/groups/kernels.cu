/* SPDX-License-Identifier: Apache-2.0 */
#include "../instance.cuh"
#include "../rows.cuh"
#include "kernels.h"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

TOPK_DEVICE bool is_off(const groups_args &a) {
    return a.condition != nullptr && *a.condition == 0;
}

/* How many of the ascending numbers are below `group`. */
TOPK_DEVICE int64_t groups_below(const groups_args &a, int64_t group) {
    int64_t low = 0, high = a.elements;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (read_extent(a.numbers, middle, a.wide_numbers) < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A thread finds where a group begins, and where the next one does. */
TOPK_KERNEL TOPK_BOUNDS(GROUPS_THREADS, 1) void groups_bounds(struct groups_args a) {
    if (is_off(a))
        return;
    const int64_t step = (int64_t)simt_blocks() * simt_threads();
    for (int64_t g = (int64_t)simt_block() * simt_threads() + simt_thread(); g <= a.groups; g += step) {
        const int64_t begin = groups_below(a, g);
        a.offsets[g] = begin;
        if (g == a.groups)
            continue;
        if (a.counts != nullptr)
            a.counts[g] = groups_below(a, g + 1) - begin;
        if (a.k != nullptr)
            a.own_k[g] = read_extent(a.k, g, a.wide_numbers);
    }
}

TOPK_DEVICE void groups_write(void *array, int64_t at, bool wide, int64_t number) {
    if (wide)
        ((int64_t *)array)[at] = number;
    else
        ((int32_t *)array)[at] = (int32_t)number;
}

TOPK_KERNEL TOPK_BOUNDS(GROUPS_THREADS, 1) void groups_gather(struct groups_args a) {
    if (is_off(a))
        return;
    const int64_t step = (int64_t)simt_blocks() * simt_threads();
    for (int64_t i = (int64_t)simt_block() * simt_threads() + simt_thread(); i < a.elements; i += step) {
        const int64_t position = read_extent(a.indices, i, a.wide_indices) - a.base;
        ((element_t *)a.moved)[i] = ((const element_t *)a.values)[position];
        if (a.given != nullptr)
            groups_write(a.indices, i, a.wide_indices, read_extent(a.given, position, a.wide_indices));
    }
}

static int prepare(void) {
    const int error = simt_prepare(groups_bounds, 0);
    return error != 0 ? error : simt_prepare(groups_gather, 0);
}

static int bounds(const struct launch_grid *grid, const struct groups_args *args) {
    return launch("groups_bounds", grid, 0, groups_bounds, args);
}

static int gather(const struct launch_grid *grid, const struct groups_args *args) {
    return launch("groups_gather", grid, 0, groups_gather, args);
}

extern "C" const struct groups_kernels INSTANCE = {prepare, bounds, gather};
} // namespace WIDTH
