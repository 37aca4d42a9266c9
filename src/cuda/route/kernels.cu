/* SPDX-License-Identifier: Apache-2.0
 * The kernels of expert routing for elements of KEY_BITS bits. docs/methods/route.md tells the whole. */
#include "kernels.h"

#include "../instance.cuh"
#include "row.cuh"

/* Those for one class of rows. */
struct class_kernel {
    void (*kernel)(struct route_args);
    row_lists (*carve)(simt_arena &, const struct route_args &);
    uint32_t lanes, per, groups; /* of a row; experts that a lane has side by side, and how often */
};

template <uint32_t LANES, uint32_t ITEMS> static constexpr class_kernel kernel_of(void) {
    return class_kernel{route_row<element_t, LANES, ITEMS>, carve_lists<LANES>, LANES,
                        logit_shape<element_t, LANES, ITEMS>::PER,
                        logit_shape<element_t, LANES, ITEMS>::GROUPS};
}

static const class_kernel kernels[ROUTE_CLASSES] = {
    kernel_of<ROUTE_LANES_0, ROUTE_ITEMS_0>(), kernel_of<ROUTE_LANES_1, ROUTE_ITEMS_1>(),
    kernel_of<ROUTE_LANES_2, ROUTE_ITEMS_2>(), kernel_of<ROUTE_LANES_3, ROUTE_ITEMS_3>(),
    kernel_of<ROUTE_LANES_4, ROUTE_ITEMS_4>(), kernel_of<ROUTE_LANES_5, ROUTE_ITEMS_5>()};

static uint32_t row_shared_bytes(const class_kernel &kernel, const struct route_args *args) {
    simt_arena arena = simt_measuring_arena();
    (void)kernel.carve(arena, *args);
    return arena.used_bytes;
}

/* A power of two. Each lane has one group at most, and halving leaves it with no more. */
static uint32_t group_lanes(const struct route_args *args, uint32_t row_class) {
    const class_kernel &kernel = kernels[row_class];
    const uint32_t lanes = args->group_size % kernel.per == 0 ? args->group_size / kernel.per : 0;
    const bool fits = lanes >= kernel.groups && lanes <= kernel.lanes && (lanes & (lanes - 1)) == 0;
    return fits ? lanes : 0;
}

static int launch_row(const struct launch_grid *grid, const struct route_args *args, uint32_t row_class) {
    const class_kernel &kernel = kernels[row_class];
    return launch("route_row", grid, row_shared_bytes(kernel, args), kernel.kernel, args);
}

/* Lists of the most experts, in as many groups, take no more shared memory than any kernel may have. */
static int prepare(void) {
    int error = 0;
    for (uint32_t i = 0; i < ROUTE_CLASSES && error == 0; i++)
        error = simt_prepare(kernels[i].kernel, 0);
    return error;
}

extern "C" const struct route_kernels INSTANCE = {prepare, launch_row, group_lanes};
