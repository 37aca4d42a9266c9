/* SPDX-License-Identifier: Apache-2.0
 * Positions that become others: one kernel for both widths of indices. */
#include "../instance.cuh"

#if KEY_BITS == 8
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

int topk_cuda_launch_renumber(const struct launch_grid *grid, const struct renumber_args *args) {
    return launch("transfer_renumber", grid, 0, transfer_renumber, args);
}

int topk_cuda_prepare_renumber(void) {
    return simt_prepare(transfer_renumber, 0);
}
#endif
