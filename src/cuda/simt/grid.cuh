/* SPDX-License-Identifier: Apache-2.0
 * The grid barrier, whole and in two parts. Included by the kernels that need it. */
#ifndef TOPK_SRC_CUDA_SIMT_GRID_CUH
#define TOPK_SRC_CUDA_SIMT_GRID_CUH

#include "../simt.cuh"

#ifdef __CUDACC__

#include <cooperative_groups.h>

/* What an arrival hands to its wait. */
typedef cooperative_groups::grid_group::arrival_token simt_grid_arrival;

/* Every thread of every block of a cooperative launch arrives: in any other, blocks that have not started
 * would be waited for. Each arrival has its wait before the next one. The state is the driver's, so no memory
 * of the call has to be cleared for it. A block barrier is inside. */
TOPK_DEVICE simt_grid_arrival simt_grid_arrive(void) {
    return cooperative_groups::this_grid().barrier_arrive();
}

/* Returns when all have arrived; the thread then sees what they did before. A block barrier is inside. */
TOPK_DEVICE void simt_grid_wait(simt_grid_arrival arrival) {
    cooperative_groups::this_grid().barrier_wait(static_cast<simt_grid_arrival &&>(arrival));
}

#else
#include "simt_emulated_grid.h"
#endif

/* Both parts. */
TOPK_DEVICE void simt_grid_sync(void) {
    simt_grid_wait(simt_grid_arrive());
}

#endif
