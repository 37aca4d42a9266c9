/* SPDX-License-Identifier: Apache-2.0
 * The kernel of lengths: a thread for each row. */
#include "kernels.h"

#include "../instance.cuh"
#include "../rows.cuh"

namespace WIDTH {

TOPK_KERNEL TOPK_BOUNDS(SIMT_WARP, 1) void lengths_of_rows(struct lengths_args a) {
    const int64_t threads = (int64_t)simt_blocks() * simt_threads();
    for (int64_t row = (int64_t)simt_block() * simt_threads() + simt_thread(); row < a.rows.rows;
         row += threads)
        a.counts[row] = row_at(a.rows, row).length;
}

static int prepare(void) {
    return simt_prepare(lengths_of_rows, 0);
}

static int launch_lengths(const struct launch_grid *grid, const struct lengths_args *args) {
    return launch("lengths_of_rows", grid, 0, lengths_of_rows, args);
}

extern "C" const struct lengths_kernels INSTANCE = {prepare, launch_lengths};
} // namespace WIDTH
