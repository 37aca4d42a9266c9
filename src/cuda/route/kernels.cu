/* SPDX-License-Identifier: Apache-2.0
 * The kernels of expert routing for elements of KEY_BITS bits. docs/methods/route.md tells the whole. */
#include "kernels.h"

#include "../instance.cuh"
#include "row.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

/* Those for one class of rows. */
struct class_kernel {
    void (*any)(struct route_args), (*plain)(struct route_args);
    route_lists (*carve)(simt_arena &, const struct route_args &);
    uint32_t lanes, per_piece; /* of a row; experts of a piece */
};

template <uint32_t LANES, uint32_t ITEMS> static constexpr class_kernel kernel_of(void) {
    typedef row_shape<element_t, LANES, ITEMS, false> any;
    typedef row_shape<element_t, LANES, ITEMS, (any::PER > 1)> plain;
    return class_kernel{route_row<any>, route_row<plain>, carve_lists<any>, LANES, any::PER};
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

/* Each lane has one group at most. */
static uint32_t pieces_of_group(const struct route_args *args, uint32_t row_class) {
    const class_kernel &kernel = kernels[row_class];
    const bool fits = args->group_size % kernel.per_piece == 0 && args->groups <= kernel.lanes;
    return fits ? args->group_size / kernel.per_piece : 0;
}

/* Rows without biases are full. */
static bool is_plain(const class_kernel &kernel, const struct route_args *args) {
    const struct row_args *rows = &args->rows;
    const bool are_aligned =
        (uintptr_t)rows->values % 16 == 0 && rows->row_stride * sizeof(element_t) % 16 == 0;
    return kernel.per_piece > 1 && are_aligned && !args->has_biases && args->groups == 0;
}

static int launch_row(const struct launch_grid *given, const struct route_args *args, uint32_t row_class) {
    const class_kernel &kernel = kernels[row_class];
    const bool plain = is_plain(kernel, args);
    struct launch_grid grid = *given;
    const int64_t rows_of_warp = SIMT_WARP / kernel.lanes;
    const int64_t warps = (args->rows.rows + rows_of_warp - 1) / rows_of_warp;
    if (plain && warps <= ROUTE_FEW_WARPS && row_class != ROUTE_CLASS_AHEAD) {
        grid.blocks = (uint32_t)warps;
        grid.threads = SIMT_WARP;
    }
    return launch("route_row", &grid, row_shared_bytes(kernel, args), plain ? kernel.plain : kernel.any,
                  args);
}

/* Lists of the most experts, in as many groups, take no more shared memory than any kernel may have. */
static int prepare(void) {
    int error = 0;
    for (uint32_t i = 0; i < 2 * ROUTE_CLASSES && error == 0; i++)
        error = simt_prepare(i % 2 == 0 ? kernels[i / 2].any : kernels[i / 2].plain, 0);
    return error;
}

extern "C" const struct route_kernels INSTANCE = {prepare, launch_row, pieces_of_group};
} // namespace WIDTH
