/* SPDX-License-Identifier: Apache-2.0
 * The kernels for elements of KEY_BITS bits that find thresholds by sorting networks. */
#include "network.h"

#include "../instance.cuh"
#include "network.cuh"

static uint32_t shared_bytes(const struct rtopk_args *args) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_lists<element_t>(arena, *args, RTOPK_THREADS / SIMT_WARP);
    return arena.used_bytes;
}

#define KERNEL(items, kept) rtopk_network<element_t, items, kept>,
static void (*const kernels[RTOPK_NETWORKS])(struct rtopk_args) = {RTOPK_NETWORK_LIST(KERNEL)};

static int launch_rows(const struct launch_grid *grid, const struct rtopk_args *args, uint32_t network) {
    return launch("rtopk_network", grid, shared_bytes(args), kernels[network], args);
}

static int prepare(void) {
    struct rtopk_args most = {};
    most.slots = 2 * RTOPK_NETWORK_RESULTS;
    most.entries = RTOPK_NETWORK_RESULTS;
    int error = 0;
    for (uint32_t i = 0; i < RTOPK_NETWORKS && error == 0; i++)
        error = simt_prepare(kernels[i], shared_bytes(&most));
    return error;
}

extern "C" const struct network_kernels INSTANCE = {prepare, launch_rows};
