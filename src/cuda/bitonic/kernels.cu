/* SPDX-License-Identifier: Apache-2.0
 * The kernel of bitonic for elements of KEY_BITS bits. docs/methods/bitonic.md tells the whole. */
#include "kernels.h"

#include "../instance.cuh"
#include "row.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

/* Entries of 64-bit elements have two words. */
static const bool TWO_WORDS = KEY_BITS == 64;

static uint32_t shared_bytes(const struct bitonic_args *args) {
    return shared_bytes_of(carve_padded<TWO_WORDS>, 1u << args->tile_log2);
}

static int launch_select(const struct launch_grid *grid, const struct bitonic_args *args) {
    return launch("bitonic", grid, shared_bytes(args), bitonic<element_t, TWO_WORDS>, args);
}

static int prepare(uint32_t shared_bytes_max) {
    return simt_prepare(bitonic<element_t, TWO_WORDS>, shared_bytes_max);
}

extern "C" const struct bitonic_kernels INSTANCE = {prepare, shared_bytes, launch_select};
} // namespace WIDTH
