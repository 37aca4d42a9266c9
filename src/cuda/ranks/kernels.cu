/* SPDX-License-Identifier: Apache-2.0
 * Extents: one kernel for all widths of elements. */
#include "../instance.cuh"

#if KEY_BITS == 8
#include "../rows.cuh"
#include "kernels.h"

TOPK_DEVICE void write_extent(void *array, int64_t at, bool wide, int64_t extent) {
    if (array == nullptr)
        return;
    if (wide)
        ((int64_t *)array)[at] = extent;
    else
        ((int32_t *)array)[at] = (int32_t)extent;
}

TOPK_KERNEL TOPK_BOUNDS(RANKS_THREADS, 1) void ranks_spread(struct ranks_args a) {
    const int64_t step = (int64_t)simt_blocks() * simt_threads(), slots = a.rows.rows * a.ranks;
    if (is_called_off(a.rows))
        return;
    for (int64_t i = (int64_t)simt_block() * simt_threads() + simt_thread(); i < slots; i += step) {
        const int64_t row = i / a.ranks, rank = i - row * a.ranks;
        const struct row r = row_at(a.rows, row);
        write_extent(a.begins, i, a.wide, r.begin);
        write_extent(a.ends, i, a.wide, r.begin + r.length);
        if (a.k != nullptr)
            write_extent(a.own_k, i, a.wide, read_extent(a.k, row * a.k_pitch + rank, a.rows.wide_extents));
    }
}

int topk_cuda_launch_ranks(const struct launch_grid *grid, const struct ranks_args *args) {
    return launch("ranks_spread", grid, 0, ranks_spread, args);
}

int topk_cuda_load_ranks(void) {
    return simt_prepare(ranks_spread, 0);
}
#endif
