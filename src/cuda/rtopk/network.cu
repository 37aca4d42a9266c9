/* SPDX-License-Identifier: Apache-2.0
 * The kernels for elements of KEY_BITS bits that find thresholds by sorting networks. */
#include "network.h"

#include "../instance.cuh"
#include "network.cuh"
#include "tiny.cuh"

#define LISTS_LEADS(items, kept) lists_leads<element_t, kept>::value,
static const bool has_lead_list[RTOPK_NETWORKS] = {RTOPK_NETWORK_LIST(LISTS_LEADS)};

enum { KERNELS = RTOPK_NETWORKS + RTOPK_TINIES + RTOPK_CANDIDATES };

template <uint32_t HEADS> static uint32_t candidate_bytes(const struct rtopk_args *args) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_candidates<HEADS>(arena, *args, 0);
    return arena.used_bytes;
}

#define CANDIDATE_BYTES(items, heads) candidate_bytes<heads>,
static uint32_t (*const bytes_of_candidates[RTOPK_CANDIDATES])(const struct rtopk_args *) = {
    RTOPK_CANDIDATE_LIST(CANDIDATE_BYTES)};

static uint32_t shared_bytes(const struct rtopk_args *args, uint32_t network) {
    const uint32_t warps = RTOPK_THREADS / SIMT_WARP;
    simt_arena arena = simt_measuring_arena();
    if (network >= RTOPK_NETWORKS + RTOPK_TINIES)
        return bytes_of_candidates[network - RTOPK_NETWORKS - RTOPK_TINIES](args);
    if (network < RTOPK_NETWORKS && has_lead_list[network])
        (void)carve_lead_list(arena, *args, 0);
    else if (network < RTOPK_NETWORKS)
        (void)carve_lists<element_t>(arena, *args, warps);
    else
        (void)carve_stage<element_t>(arena, *args, warps);
    return arena.used_bytes;
}

#define KERNEL(items, kept) rtopk_network<element_t, items, kept>,
#define TINY_KERNEL(items, kept) rtopk_tiny<element_t, items, kept>,
#define CANDIDATE_KERNEL(items, heads) rtopk_candidates<element_t, items, heads>,
static void (*const kernels[KERNELS])(struct rtopk_args) = {
    RTOPK_NETWORK_LIST(KERNEL) RTOPK_TINY_LIST(TINY_KERNEL) RTOPK_CANDIDATE_LIST(CANDIDATE_KERNEL)};

static int launch_rows(const struct launch_grid *grid, const struct rtopk_args *args, uint32_t network) {
    const char *name = network < RTOPK_NETWORKS                  ? "rtopk_network"
                       : network < RTOPK_NETWORKS + RTOPK_TINIES ? "rtopk_tiny"
                                                                 : "rtopk_candidates";
    return launch(name, grid, shared_bytes(args, network), kernels[network], args);
}

static int prepare(void) {
    struct rtopk_args most = {};
    most.slots = RTOPK_NETWORK_RESULTS;
    most.uniform.length = SIMT_WARP; /* of tiny rows */
    int error = 0;
    for (uint32_t i = 0; i < KERNELS && error == 0; i++)
        error = simt_prepare(kernels[i], shared_bytes(&most, i));
    return error;
}

extern "C" const struct network_kernels INSTANCE = {prepare, launch_rows};
