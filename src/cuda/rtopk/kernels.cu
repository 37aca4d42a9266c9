/* SPDX-License-Identifier: Apache-2.0
 * The kernels of RTop-K (Xie et al., 2024) for elements of KEY_BITS bits. docs/methods/rtopk.md tells the
 * whole. */
#include "kernels.h"

#include "../instance.cuh"
#include "row.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

static uint32_t row_shared_bytes(const struct rtopk_args *args) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_lists<element_t>(arena, *args, RTOPK_THREADS / SIMT_WARP);
    return arena.used_bytes;
}

/* For each class of rows; the second ones are for results by position. */
static void (*const kernels[2][RTOPK_CLASSES])(struct rtopk_args) = {
    {rtopk_row<element_t, RTOPK_ITEMS_0, LISTED_FOR_OTHERS>,
     rtopk_row<element_t, RTOPK_ITEMS_1, LISTED_FOR_OTHERS>,
     rtopk_row<element_t, RTOPK_ITEMS_2, LISTED_FOR_OTHERS>,
     rtopk_row<element_t, RTOPK_ITEMS_3, LISTED_FOR_OTHERS>},
    {rtopk_row<element_t, RTOPK_ITEMS_0, LISTED_BY_POSITION>,
     rtopk_row<element_t, RTOPK_ITEMS_1, LISTED_BY_POSITION>,
     rtopk_row<element_t, RTOPK_ITEMS_2, LISTED_BY_POSITION>,
     rtopk_row<element_t, RTOPK_ITEMS_3, LISTED_BY_POSITION>}};

static uint32_t uneven_shared_bytes(const struct rtopk_args *args) {
    const uint32_t warps = RTOPK_UNEVEN_THREADS / SIMT_WARP;
    simt_arena arena = simt_measuring_arena();
    (void)simt_carve<simt_u32x4>(arena, warps * shared_quads<element_t>((uint32_t)args->rows.length_max));
    (void)carve_lists<element_t>(arena, *args, warps);
    return arena.used_bytes;
}

static int launch_uneven(const struct launch_grid *grid, const struct rtopk_args *args) {
    return launch("rtopk_uneven", grid, uneven_shared_bytes(args), rtopk_uneven<element_t>, args);
}

static int launch_row(const struct launch_grid *grid, const struct rtopk_args *args, uint32_t row_class) {
    return launch("rtopk_row", grid, row_shared_bytes(args), kernels[args->by_position][row_class], args);
}

/* No more shared memory than any kernel may have. */
static int prepare(void) {
    struct rtopk_args most = {};
    most.slots = most.entries = RTOPK_RESULTS_MAX;
    most.rows.length_max = RTOPK_ROW_MAX;
    int error = simt_prepare(rtopk_uneven<element_t>, uneven_shared_bytes(&most));
    for (uint32_t i = 0; i < 2 * RTOPK_CLASSES && error == 0; i++)
        error = simt_prepare(kernels[i % 2][i / 2], row_shared_bytes(&most));
    return error;
}

extern "C" const struct rtopk_kernels INSTANCE = {prepare, launch_row, launch_uneven};
} // namespace WIDTH
