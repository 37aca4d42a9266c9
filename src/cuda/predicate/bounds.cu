/* SPDX-License-Identifier: Apache-2.0
 * The launch that reads a predicate's bounds: once for all widths. */
#include "../instance.cuh"

#if KEY_BITS == 8
#include "bounds.cuh"

TOPK_KERNEL TOPK_BOUNDS(SIMT_WARP, 1) void predicate_bounds(struct bounds_args a) {
    if (a.condition == nullptr || *a.condition != 0)
        read_bounds(a.predicate);
}

int topk_cuda_launch_bounds(const struct launch_grid *grid, const struct bounds_args *args) {
    return launch("predicate_bounds", grid, 0, predicate_bounds, args);
}

int topk_cuda_prepare_bounds(void) {
    return simt_prepare(predicate_bounds, 0);
}
#endif
