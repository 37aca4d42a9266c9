/* SPDX-License-Identifier: Apache-2.0
 * The kernels of a select_where on elements of KEY_BITS bits. */
#include "where.h"

#include "../instance.cuh"
#include "where.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

static const uint32_t HALVED = KEY_BITS == 64 ? 2 : 1;
static const uint32_t KERNELS = RESIDENT_SHAPES - RESIDENT_WHERE_SHAPE;

/* Of each shape; the second ones are for results by position. */
static void (*const kernels[2][KERNELS])(struct resident_where_args) = {
    {resident_where<element_t, RESIDENT_ITEMS_1 / HALVED, block_team>,
     resident_where<element_t, RESIDENT_ITEMS_2 / HALVED, block_team>},
    {resident_where<element_t, RESIDENT_ITEMS_1 / HALVED, block_team_of<true>>,
     resident_where<element_t, RESIDENT_ITEMS_2 / HALVED, block_team_of<true>>}};

static int launch_row(const struct launch_grid *grid, const struct resident_where_args *args,
                      uint32_t shape) {
    return launch("resident_where", grid,
                  row_shared_bytes<element_t, block_team>(args->of_row, grid->threads),
                  kernels[args->of_row.by_position][shape - RESIDENT_WHERE_SHAPE], args);
}

static int prepare(uint32_t shared_bytes_max) {
    int error = 0;
    for (uint32_t i = 0; i < 2 * KERNELS && error == 0; i++)
        error = simt_prepare(kernels[i % 2][i / 2], shared_bytes_max);
    return error;
}

extern "C" const struct resident_where_kernels INSTANCE = {prepare, launch_row};
} // namespace WIDTH
