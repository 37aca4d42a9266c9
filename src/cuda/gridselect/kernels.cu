/* SPDX-License-Identifier: Apache-2.0
 * The kernels of gridselect for elements of KEY_BITS bits. docs/methods/gridselect.md tells the whole. */
#include "kernels.h"

#include "../instance.cuh"
#include "lone/rows.cuh"
#include "row.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

/* Entries of 64-bit elements always have two words. */
static const bool ALWAYS_TWO = KEY_BITS == 64;

static uint32_t shared_bytes(const struct gridselect_args *args, bool two_words, uint32_t threads,
                             uint32_t blocks) {
    simt_arena arena = simt_measuring_arena();
    if (two_words)
        (void)carve_block<element_t, true>(arena, *args, threads / SIMT_WARP, blocks);
    else
        (void)carve_block<element_t, false>(arena, *args, threads / SIMT_WARP, blocks);
    return arena.used_bytes;
}

static int launch_select(const struct launch_grid *grid, const struct gridselect_args *args, bool two_words) {
    return launch("gridselect", grid, shared_bytes(args, two_words, grid->threads, grid->blocks),
                  two_words ? gridselect<element_t, true> : gridselect<element_t, ALWAYS_TWO>, args);
}

static uint32_t lone_shared_bytes(const struct gridselect_args *args, uint32_t threads) {
    return shared_bytes_of(carve_lone<ALWAYS_TWO>, *args, threads / SIMT_WARP);
}

static int launch_select_lone(const struct launch_grid *grid, const struct gridselect_args *args) {
    return launch("gridselect_lone", grid, lone_shared_bytes(args, grid->threads), gridselect_lone<element_t>,
                  args);
}

static int prepare(uint32_t shared_bytes_max) {
    void (*const kernels[])(struct gridselect_args) = {
        gridselect<element_t, true>, gridselect<element_t, ALWAYS_TWO>, gridselect_lone<element_t>};
    int error = 0;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0] && error == 0; i++)
        error = simt_prepare(kernels[i], shared_bytes_max);
    return error;
}

extern "C" const struct gridselect_kernels INSTANCE = {prepare, shared_bytes, launch_select,
                                                       lone_shared_bytes, launch_select_lone};
} // namespace WIDTH
