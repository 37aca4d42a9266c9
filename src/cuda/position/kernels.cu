/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include "../instance.cuh"
#include "../rows.cuh"

/* A thread for each slot of all rows, or as many as there are. */
template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(POSITION_THREADS, 1) void position_gather(struct position_args a) {
    const int64_t step = (int64_t)simt_blocks() * simt_threads();
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    for (int64_t at = (int64_t)simt_block() * simt_threads() + simt_thread(); at < a.rows.rows * a.rows.k_max;
         at += step) {
        const int64_t row = at / a.rows.k_max, slot = at % a.rows.k_max;
        const int64_t position = read_extent(a.positions, at, a.rows.wide_indices);
        if (position < 0) {
            write_padding<Element>(a.rows, row, slot);
        } else {
            const struct row r = row_at(a.rows, row);
            write_result<Element>(a.rows, row, r, slot, row_values<Element>(a.rows, r)[position], position);
        }
    }
}

static int prepare(void) {
    return simt_prepare(position_gather<element_t>, 0);
}

static int gather(const struct launch_grid *grid, const struct position_args *args) {
    return launch("position_gather", grid, 0, position_gather<element_t>, args);
}

extern "C" const struct position_kernels INSTANCE = {prepare, gather};
