/* SPDX-License-Identifier: Apache-2.0
 * The kernels of gridselect for elements of KEY_BITS bits. docs/methods/gridselect.md tells the whole. */
#include "kernels.h"

#include "../instance.cuh"
#include "row.cuh"

/* Entries of 64-bit elements always have two words. */
static const bool ALWAYS_TWO = KEY_BITS == 64;

static uint32_t shared_bytes(const struct gridselect_args *args, bool two_words, uint32_t threads,
                             uint32_t blocks) {
    const uint32_t warps = threads / SIMT_WARP, queue = queue_slots(args->has_lane_queues);
    const uint32_t words = args->part > 0 ? blocks : 0;
    return two_words ? shared_bytes_of(carve_selection<true>, warps, args->capacity, queue, words)
                     : shared_bytes_of(carve_selection<false>, warps, args->capacity, queue, words);
}

static int launch_select(const struct launch_grid *grid, const struct gridselect_args *args, bool two_words) {
    return launch("gridselect", grid, shared_bytes(args, two_words, grid->threads, grid->blocks),
                  two_words ? gridselect<element_t, true> : gridselect<element_t, ALWAYS_TWO>, args);
}

static int launch_where(const struct launch_grid *grid, const struct gridselect_where_args *args,
                        bool two_words) {
    return launch(
        "gridselect_where", grid, shared_bytes(&args->of_row, two_words, grid->threads, grid->blocks),
        two_words ? gridselect_where<element_t, true> : gridselect_where<element_t, ALWAYS_TWO>, args);
}

static int prepare(uint32_t shared_bytes_max) {
    int error = simt_prepare(gridselect<element_t, true>, shared_bytes_max);
    error = error != 0 ? error : simt_prepare(gridselect_where<element_t, true>, shared_bytes_max);
    error = error != 0 ? error : simt_prepare(gridselect<element_t, ALWAYS_TWO>, shared_bytes_max);
    return error != 0 ? error : simt_prepare(gridselect_where<element_t, ALWAYS_TWO>, shared_bytes_max);
}

extern "C" const struct gridselect_kernels INSTANCE = {prepare, shared_bytes, launch_select, launch_where};
