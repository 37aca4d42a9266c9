/* SPDX-License-Identifier: Apache-2.0
 * The kernels of peer memory, which know of bytes alone: KEY_BITS is 8. */
#include "kernels.h"

#include "../instance.cuh"
#include "run.cuh"

static int launch_kernel(enum peer_kernel kernel, const struct launch_grid *grid,
                         const struct peer_args *args) {
    switch (kernel) {
    case PEER_STORE:
        return launch("peer_store", grid, 0, peer_store, args);
    case PEER_WAIT:
        return launch("peer_wait", grid, 0, peer_wait, args);
    case PEER_TAKE:
        return launch("peer_take", grid, 0, peer_take, args);
    default:
        return launch("peer_whole", grid, 0, peer_whole, args);
    }
}

static int prepare(void) {
    int error = simt_prepare(peer_store, 0);
    error = error != 0 ? error : simt_prepare(peer_wait, 0);
    error = error != 0 ? error : simt_prepare(peer_take, 0);
    return error != 0 ? error : simt_prepare(peer_whole, 0);
}

extern "C" const struct peer_kernels INSTANCE = {prepare, launch_kernel};
