/* SPDX-License-Identifier: Apache-2.0
 * The kernels of an exact select_where on elements of KEY_BITS bits. */
#include "where.h"

#include "../instance.cuh"
#include "where.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

static uint32_t shared_bytes(const struct rtopk_args *args) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_lists<element_t>(arena, *args, RTOPK_THREADS / SIMT_WARP);
    return arena.used_bytes;
}

/* For each class of rows; the second ones are for results by position. */
static void (*const kernels[2][RTOPK_WHERE_CLASSES])(struct where_args) = {
    {rtopk_where<element_t, RTOPK_ITEMS_1, LISTED_FOR_OTHERS>,
     rtopk_where<element_t, RTOPK_ITEMS_2, LISTED_FOR_OTHERS>,
     rtopk_where<element_t, RTOPK_ITEMS_3, LISTED_FOR_OTHERS>},
    {rtopk_where<element_t, RTOPK_ITEMS_1, LISTED_BY_POSITION>,
     rtopk_where<element_t, RTOPK_ITEMS_2, LISTED_BY_POSITION>,
     rtopk_where<element_t, RTOPK_ITEMS_3, LISTED_BY_POSITION>}};

static int launch_row(const struct launch_grid *grid, const struct where_args *args, uint32_t row_class) {
    return launch("rtopk_where", grid, shared_bytes(&args->of_row),
                  kernels[args->of_row.by_position][row_class], args);
}

static int prepare(void) {
    struct rtopk_args most = {};
    most.slots = most.entries = RTOPK_RESULTS_MAX;
    int error = 0;
    for (uint32_t i = 0; i < 2 * RTOPK_WHERE_CLASSES && error == 0; i++)
        error = simt_prepare(kernels[i % 2][i / 2], shared_bytes(&most));
    return error;
}

extern "C" const struct where_kernels INSTANCE = {prepare, launch_row};
} // namespace WIDTH
