/* SPDX-License-Identifier: Apache-2.0
 * Positions: one kernel for both widths of indices. */
#include "../instance.cuh"

#if KEY_BITS == 8
#include "../rows.cuh"
#include "kernels.h"

TOPK_KERNEL TOPK_BOUNDS(RENUMBER_THREADS, 1) void transfer_renumber(struct renumber_args a) {
    const int64_t threads = (int64_t)simt_blocks() * simt_threads();
    for (int64_t i = (int64_t)simt_block() * simt_threads() + simt_thread(); i < a.how.count; i += threads) {
        int64_t number =
            a.how.from_type == TOPK_INDEX_I32 ? ((const int32_t *)a.from)[i] : ((const int64_t *)a.from)[i];
        if (number >= 0)
            number = (int64_t)((uint64_t)number * (uint64_t)a.how.factor + (uint64_t)a.how.addend);
        if (a.how.to_type == TOPK_INDEX_I32)
            ((int32_t *)a.to)[i] = (int32_t)number;
        else
            ((int64_t *)a.to)[i] = number;
    }
}

/* Of the numbers that begin at `first`, `step` apart, the thread's next DESCENT_STEPS ones. */
template <typename Integer>
TOPK_DEVICE void look_at(const Integer *numbers, int64_t first, int64_t step, int64_t length,
                         uint64_t *place) {
    Integer own[DESCENT_STEPS], before[DESCENT_STEPS];
#pragma unroll
    for (int s = 0; s < DESCENT_STEPS; s++) {
        const int64_t at = first + s * step;
        own[s] = at < length ? numbers[at] : (Integer)0;
        before[s] = at < length && at > 0 ? numbers[at - 1] : (Integer)-1;
    }
#pragma unroll
    for (int s = 0; s < DESCENT_STEPS; s++) {
        const int64_t at = first + s * step;
        if (at < length && (own[s] < 0 || own[s] <= before[s]))
            simt_atomic_min(place, (uint64_t)at);
    }
}

TOPK_KERNEL TOPK_BOUNDS(RENUMBER_THREADS, 1) void transfer_descents(struct descent_args a) {
    const int64_t step = (int64_t)simt_blocks() * simt_threads();
    for (int64_t r = simt_block_y(); r < a.rows.rows; r += simt_blocks_y()) {
        const struct row row = row_at(a.rows, r);
        for (int64_t i = (int64_t)simt_block() * simt_threads() + simt_thread(); i < row.length;
             i += DESCENT_STEPS * step) {
            if (a.rows.wide_indices)
                look_at((const int64_t *)a.rows.payload + row.begin, i, step, row.length, &a.places[r]);
            else
                look_at((const int32_t *)a.rows.payload + row.begin, i, step, row.length, &a.places[r]);
        }
    }
}

TOPK_KERNEL TOPK_BOUNDS(RENUMBER_THREADS, 1) void transfer_break(struct break_args a) {
    const int64_t threads = (int64_t)simt_blocks() * simt_threads();
    for (int64_t i = (int64_t)simt_block() * simt_threads() + simt_thread(); i < a.rows * a.to_pitch;
         i += threads) {
        if (read_extent(a.from, i / a.to_pitch * a.from_pitch, a.from_wide) >= -1)
            continue;
        if (a.to_wide)
            ((int64_t *)a.to)[i] = -2;
        else
            ((int32_t *)a.to)[i] = -2;
    }
}

TOPK_KERNEL TOPK_BOUNDS(RENUMBER_THREADS, 1) void transfer_add(struct add_args a) {
    const int64_t threads = (int64_t)simt_blocks() * simt_threads();
    for (int64_t i = (int64_t)simt_block() * simt_threads() + simt_thread(); i < a.count; i += threads)
        a.to[i] = (int64_t)((uint64_t)a.to[i] + (uint64_t)a.from[i]);
}

int topk_cuda_launch_add(const struct launch_grid *grid, const struct add_args *args) {
    return launch("transfer_add", grid, 0, transfer_add, args);
}

int topk_cuda_launch_descents(const struct launch_grid *grid, const struct descent_args *args) {
    return launch("transfer_descents", grid, 0, transfer_descents, args);
}

int topk_cuda_launch_break(const struct launch_grid *grid, const struct break_args *args) {
    return launch("transfer_break", grid, 0, transfer_break, args);
}

int topk_cuda_launch_renumber(const struct launch_grid *grid, const struct renumber_args *args) {
    return launch("transfer_renumber", grid, 0, transfer_renumber, args);
}

int topk_cuda_prepare_renumber(void) {
    int error = simt_prepare(transfer_renumber, 0);
    error = error != 0 ? error : simt_prepare(transfer_add, 0);
    error = error != 0 ? error : simt_prepare(transfer_descents, 0);
    return error != 0 ? error : simt_prepare(transfer_break, 0);
}
#endif
