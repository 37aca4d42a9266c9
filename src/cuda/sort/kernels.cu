/* SPDX-License-Identifier: Apache-2.0
 * The kernels of sort for elements of KEY_BITS bits. docs/methods/sort.md tells the whole. */
#include "kernels.h"

#include "../launch.cuh"
#include "pass.cuh"
#include "row.cuh"

#if KEY_BITS == 8
typedef uint8_t element_t;
#define KERNELS topk_sort_kernels_8
#elif KEY_BITS == 16
typedef uint16_t element_t;
#define KERNELS topk_sort_kernels_16
#elif KEY_BITS == 32
typedef uint32_t element_t;
#define KERNELS topk_sort_kernels_32
#else
typedef uint64_t element_t;
#define KERNELS topk_sort_kernels_64
#endif

static uint32_t row_shared_bytes(uint32_t threads) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_row<element_t>(arena, threads);
    return arena.used_bytes;
}

static uint32_t count_shared_bytes(void) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_count<element_t>(arena);
    return arena.used_bytes;
}

static uint32_t pass_shared_bytes(void) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_pass<element_t>(arena);
    return arena.used_bytes;
}

static struct simt_launch_shape shape_of(const char *name, const struct sort_grid *grid,
                                         uint32_t shared_bytes) {
    struct simt_launch_shape shape = {};
    shape.name = name;
    shape.blocks = grid->blocks;
    shape.rows = grid->rows;
    shape.threads = grid->threads;
    shape.shared_bytes = shared_bytes;
    shape.dependent = grid->dependent;
    shape.stream = grid->stream;
    return shape;
}

static int launch_row(const struct sort_grid *grid, const struct sort_args *args) {
    return simt_launch(shape_of("sort_row", grid, row_shared_bytes(grid->threads)), sort_row<element_t>,
                       *args);
}

static int launch_count(const struct sort_grid *grid, const struct sort_args *args) {
    return simt_launch(shape_of("sort_count", grid, count_shared_bytes()), sort_count<element_t>, *args);
}

static int launch_pass(const struct sort_grid *grid, const struct sort_args *args) {
    return simt_launch(shape_of("sort_pass", grid, pass_shared_bytes()), sort_pass<element_t>, *args);
}

static int launch_kth(const struct sort_grid *grid, const struct sort_args *args) {
    return simt_launch(shape_of("sort_kth", grid, 0), sort_kth<element_t>, *args);
}

static int prepare(void) {
    int error = simt_prepare(sort_row<element_t>,
                             row_shared_bytes(KEY_BITS == 64 ? SORT_ROW_THREADS_64 : SORT_ROW_THREADS));
    error = error != 0 ? error : simt_prepare(sort_count<element_t>, count_shared_bytes());
    error = error != 0 ? error : simt_prepare(sort_pass<element_t>, pass_shared_bytes());
    return error != 0 ? error : simt_prepare(sort_kth<element_t>, 0);
}

extern "C" const struct sort_kernels KERNELS = {prepare, launch_row, launch_count, launch_pass, launch_kth};
