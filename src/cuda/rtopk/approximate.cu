/* SPDX-License-Identifier: Apache-2.0
 * The kernels of approximate selections from elements of KEY_BITS bits. */
#include "approximate.h"

#include "../instance.cuh"
#include "approximate_parts.cuh"
#include "approximate_row.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

struct approximate_kernel {
    void (*kernel)(struct approximate_args);
    uint32_t (*shared_bytes)(const struct rtopk_args *args);
    uint32_t held; /* elements, of a team */
};

template <uint32_t WARPS> static uint32_t shared_bytes(const struct rtopk_args *args) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_approximate<element_t, WARPS>(arena, *args);
    return arena.used_bytes;
}

template <uint32_t ITEMS, uint32_t WARPS> static constexpr approximate_kernel kernel_of(void) {
    return {rtopk_approximate<element_t, ITEMS, WARPS>, shared_bytes<WARPS>, ITEMS * WARPS * SIMT_WARP};
}

/* For each class of rows. */
static const approximate_kernel kernels[RTOPK_APPROXIMATE_CLASSES] = {
    kernel_of<RTOPK_ITEMS_1, 1>(),
    kernel_of<RTOPK_ITEMS_2, 1>(),
    kernel_of<RTOPK_ITEMS_3, 1>(),
    kernel_of<RTOPK_BLOCK_ITEMS, RTOPK_BLOCK_WARPS_0>(),
    kernel_of<RTOPK_BLOCK_ITEMS, RTOPK_BLOCK_WARPS_1>(),
    kernel_of<RTOPK_BLOCK_ITEMS, RTOPK_BLOCK_WARPS_2>(),
    kernel_of<RTOPK_BLOCK_ITEMS, RTOPK_BLOCK_WARPS_3>(),
    kernel_of<RTOPK_BLOCK_ITEMS_4, RTOPK_BLOCK_WARPS_4>()};

static int launch_row(const struct launch_grid *grid, const struct approximate_args *args,
                      uint32_t row_class) {
    const approximate_kernel &k = kernels[row_class];
    return launch("rtopk_approximate", grid, k.shared_bytes(&args->of_row), k.kernel, args);
}

/* Other widths have none of these kernels: the library stays small. */
static const bool HAS_PARTS = sizeof(element_t) == 4;

struct parts_kernel {
    void (*kernel)(struct approximate_args);
    uint32_t (*shared_bytes)(const struct rtopk_args *args);
};

template <bool NUMBERS> static uint32_t parts_shared_bytes(const struct rtopk_args *args) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_parts<NUMBERS>(arena, *args, 0);
    return arena.used_bytes;
}

template <uint32_t ITEMS, bool NUMBERS> static constexpr parts_kernel parts_kernel_of(void) {
    if constexpr (HAS_PARTS)
        return {rtopk_approximate_parts<element_t, ITEMS, NUMBERS>, parts_shared_bytes<NUMBERS>};
    else
        return {};
}

/* By what lanes hold, and by whether they list numbers. */
static const parts_kernel parts_kernels[RTOPK_APPROXIMATE_PARTS][2] = {
    {parts_kernel_of<RTOPK_PART_ITEMS_0, false>(), parts_kernel_of<RTOPK_PART_ITEMS_0, true>()},
    {parts_kernel_of<RTOPK_PART_ITEMS_1, false>(), parts_kernel_of<RTOPK_PART_ITEMS_1, true>()}};

static int launch_parts(const struct launch_grid *grid, const struct approximate_args *args, uint32_t index) {
    const parts_kernel &k = parts_kernels[index][args->lists_numbers];
    return launch("rtopk_approximate_parts", grid, k.shared_bytes(&args->of_row), k.kernel, args);
}

static int prepare(void) {
    int error = 0;
    struct rtopk_args most_parts = {};
    most_parts.slots = most_parts.uniform.k = RTOPK_NETWORK_RESULTS;
    for (uint32_t i = 0; i < 2 * RTOPK_APPROXIMATE_PARTS && HAS_PARTS && error == 0; i++) {
        const parts_kernel &k = parts_kernels[i / 2][i % 2];
        error = simt_prepare(k.kernel, k.shared_bytes(&most_parts));
    }
    for (uint32_t i = 0; i < RTOPK_APPROXIMATE_CLASSES && error == 0; i++) {
        struct rtopk_args most = {};
        most.slots = approximate_slots(kernels[i].held);
        most.entries = RTOPK_RESULTS_MAX;
        error = simt_prepare(kernels[i].kernel, kernels[i].shared_bytes(&most));
    }
    return error;
}

extern "C" const struct approximate_kernels INSTANCE = {prepare, launch_row, launch_parts};
} // namespace WIDTH
