/* SPDX-License-Identifier: Apache-2.0
 * Bounds that the device reads. */
#ifndef TOPK_SRC_CUDA_PREDICATE_BOUNDS_CUH
#define TOPK_SRC_CUDA_PREDICATE_BOUNDS_CUH

#include "../simt.cuh"
#include "args.h"

#define TOPK_BOUNDS_FUNCTION TOPK_DEVICE
#include "../../bounds.h"

/* Reads the bounds, if the device has to, and leaves the match for later launches. One thread of the launch
 * does it. */
TOPK_DEVICE void read_bounds(const struct predicate_args &p) {
    const struct device_bounds &b = p.bounds;
    if (b.values != nullptr && simt_block() == 0 && simt_thread() == 0)
        *b.found = match_of_bounds(b.kind, &b.values[0], &b.values[1], &b.traits);
}

#endif
