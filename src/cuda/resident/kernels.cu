/* SPDX-License-Identifier: Apache-2.0
 * The kernels of resident for elements of KEY_BITS bits. docs/methods/resident.md tells the whole. */
#include "kernels.h"

#include "../instance.cuh"
#include "row.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

static uint32_t shared_bytes(const struct resident_args *args, uint32_t threads) {
    return row_shared_bytes<element_t, block_team>(*args, threads);
}

static const uint32_t HALVED = KEY_BITS == 64 ? 2 : 1;

/* Of each shape; the second ones are for results by position. */
static void (*const kernels[2][RESIDENT_SHAPES])(struct resident_args) = {
    {resident_row<element_t, RESIDENT_ITEMS_0 / HALVED, block_team>,
     resident_row<element_t, RESIDENT_ITEMS_1 / HALVED, block_team>,
     resident_row<element_t, RESIDENT_ITEMS_2 / HALVED, block_team>},
    {resident_row<element_t, RESIDENT_ITEMS_0 / HALVED, block_team_of<true>>,
     resident_row<element_t, RESIDENT_ITEMS_1 / HALVED, block_team_of<true>>,
     resident_row<element_t, RESIDENT_ITEMS_2 / HALVED, block_team_of<true>>}};

static int launch_row(const struct launch_grid *grid, const struct resident_args *args, uint32_t shape) {
    return launch("resident_row", grid, shared_bytes(args, grid->threads), kernels[args->by_position][shape],
                  args);
}

static int prepare(uint32_t shared_bytes_max) {
    int error = 0;
    for (uint32_t i = 0; i < 2 * RESIDENT_SHAPES && error == 0; i++)
        error = simt_prepare(kernels[i % 2][i / 2], shared_bytes_max);
    return error;
}

extern "C" const struct resident_kernels INSTANCE = {prepare, shared_bytes, launch_row};
} // namespace WIDTH
