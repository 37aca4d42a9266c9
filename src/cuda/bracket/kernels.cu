/* SPDX-License-Identifier: Apache-2.0
 * The kernels of bracket for elements of KEY_BITS bits. docs/methods/bracket.md tells the whole. */
#include "../instance.cuh"
#include "row.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

static uint32_t shared_bytes(void) {
    return shared_bytes_of(carve_bracket<element_t>);
}

static int prepare(uint32_t shared_bytes_max) {
    return simt_prepare(bracket_select<element_t>, shared_bytes_max);
}

static int launch_select(const struct launch_grid *grid, const struct bracket_args *args) {
    return launch("bracket_select", grid, shared_bytes(), bracket_select<element_t>, args);
}

extern "C" const struct bracket_kernels INSTANCE = {prepare, shared_bytes, launch_select};
} // namespace WIDTH
