/* SPDX-License-Identifier: Apache-2.0
 * The kernels for elements of KEY_BITS bits that find thresholds by sorting networks. */
#include "network.h"

#include "../instance.cuh"
#include "candidates.cuh"
#include "network.cuh"
#include "tiny.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

struct network_kernel {
    const char *name;
    void (*kernel)(struct rtopk_args);
    uint32_t (*shared_bytes)(const struct rtopk_args *args);
};

template <uint32_t ITEMS, uint32_t KEPT> static uint32_t network_bytes(const struct rtopk_args *args) {
    simt_arena arena = simt_measuring_arena();
    if (lists_leads<element_t, KEPT>::value)
        (void)carve_lead_list(arena, *args, 0);
    else if (stages_rows<element_t, ITEMS, KEPT>::value)
        (void)carve_row_stage<element_t, ITEMS>(arena, *args, 0);
    else
        (void)carve_lists<element_t>(arena, *args, RTOPK_THREADS / SIMT_WARP);
    return arena.used_bytes;
}

static uint32_t tiny_bytes(const struct rtopk_args *args) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_stage<element_t>(arena, *args, RTOPK_THREADS / SIMT_WARP);
    return arena.used_bytes;
}

template <uint32_t HEADS> static uint32_t candidate_bytes(const struct rtopk_args *args) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_candidates<HEADS>(arena, *args, 0);
    return arena.used_bytes;
}

/* Others have no such kernels, so that the library stays small. */
static constexpr bool is_common = sizeof(element_t) == 2 || sizeof(element_t) == 4;

template <uint32_t ITEMS, uint32_t KEPT, bool BY_POSITION>
static constexpr network_kernel network_kernel_of(void) {
    if constexpr (is_common || !BY_POSITION)
        return {"rtopk_network", rtopk_network<element_t, ITEMS, KEPT, BY_POSITION>,
                network_bytes<ITEMS, KEPT>};
    else
        return {};
}

template <uint32_t ITEMS, uint32_t HEADS, bool BY_POSITION>
static constexpr network_kernel candidate_kernel_of(void) {
    if constexpr (is_common)
        return {"rtopk_candidates", rtopk_candidates<element_t, ITEMS, HEADS, BY_POSITION>,
                candidate_bytes<HEADS>};
    else
        return {};
}

#define NETWORK(items, kept) network_kernel_of<items, kept, false>(),
#define NETWORK_BY_POSITION(items, kept) network_kernel_of<items, kept, true>(),
#define TINY(items, kept) {"rtopk_tiny", rtopk_tiny<element_t, items, kept>, tiny_bytes},
#define CANDIDATES(items, heads) candidate_kernel_of<items, heads, false>(),
#define CANDIDATES_BY_POSITION(items, heads) candidate_kernel_of<items, heads, true>(),
/* The second ones are for results by position. */
static const network_kernel kernels[2][RTOPK_NETWORKS + RTOPK_TINIES + RTOPK_CANDIDATES] = {
    {RTOPK_NETWORK_LIST(NETWORK) RTOPK_TINY_LIST(TINY) RTOPK_CANDIDATE_LIST(CANDIDATES)},
    {RTOPK_NETWORK_LIST(NETWORK_BY_POSITION) RTOPK_TINY_LIST(TINY)
         RTOPK_CANDIDATE_LIST(CANDIDATES_BY_POSITION)}};

static int launch_rows(const struct launch_grid *grid, const struct rtopk_args *args, uint32_t network) {
    const network_kernel &k = kernels[args->by_position][network];
    return launch(k.name, grid, k.shared_bytes(args), k.kernel, args);
}

static int prepare(void) {
    struct rtopk_args most = {};
    most.slots = RTOPK_NETWORK_RESULTS;
    most.uniform.length = SIMT_WARP; /* of tiny rows */
    int error = 0;
    for (const network_kernel(&of_order)[sizeof kernels[0] / sizeof kernels[0][0]] : kernels)
        for (const network_kernel &k : of_order)
            if (k.kernel != nullptr && error == 0)
                error = simt_prepare(k.kernel, k.shared_bytes(&most));
    return error;
}

extern "C" const struct network_kernels INSTANCE = {prepare, launch_rows};
} // namespace WIDTH
