/* SPDX-License-Identifier: Apache-2.0
 * The kernels of sort for elements of KEY_BITS bits. docs/methods/sort.md tells the whole. */
#include "kernels.h"

#include "../instance.cuh"
#include "filter.cuh"
#include "pass.cuh"
#include "row.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

static int launch_row(const struct launch_grid *grid, const struct sort_args *args) {
    return launch("sort_row", grid, shared_bytes_of(carve_row<element_t>, grid->threads), sort_row<element_t>,
                  args);
}

static int launch_sample(const struct launch_grid *grid, const struct sort_args *args) {
    return launch("sort_sample", grid, shared_bytes_of(carve_search<element_t>), sort_sample<element_t>,
                  args);
}

static int launch_filter(const struct launch_grid *grid, const struct sort_args *args) {
    return launch("sort_survivors", grid, shared_bytes_of(carve_filter<element_t>), sort_survivors<element_t>,
                  args);
}

static int launch_count(const struct launch_grid *grid, const struct sort_args *args) {
    return launch("sort_count", grid, shared_bytes_of(carve_count<element_t>), sort_count<element_t>, args);
}

static int launch_pass(const struct launch_grid *grid, const struct sort_args *args) {
    return launch("sort_pass", grid, shared_bytes_of(carve_pass<element_t>), sort_pass<element_t>, args);
}

static int launch_kth(const struct launch_grid *grid, const struct sort_args *args) {
    return launch("sort_kth", grid, 0, sort_kth<element_t>, args);
}

static int prepare(void) {
    int error = simt_prepare(
        sort_row<element_t>,
        shared_bytes_of(carve_row<element_t>, KEY_BITS == 64 ? SORT_ROW_THREADS_64 : SORT_ROW_THREADS));
    error =
        error != 0 ? error : simt_prepare(sort_sample<element_t>, shared_bytes_of(carve_search<element_t>));
    error = error != 0 ? error
                       : simt_prepare(sort_survivors<element_t>, shared_bytes_of(carve_filter<element_t>));
    error = error != 0 ? error : simt_prepare(sort_count<element_t>, shared_bytes_of(carve_count<element_t>));
    error = error != 0 ? error : simt_prepare(sort_pass<element_t>, shared_bytes_of(carve_pass<element_t>));
    return error != 0 ? error : simt_prepare(sort_kth<element_t>, 0);
}

extern "C" const struct sort_kernels INSTANCE = {prepare,      launch_row,  launch_sample, launch_filter,
                                                 launch_count, launch_pass, launch_kth};
} // namespace WIDTH
