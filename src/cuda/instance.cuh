/* SPDX-License-Identifier: Apache-2.0
 * A file that includes this one is compiled for each width of elements. Each time it defines one constant
 * table of functions that prepare and launch its kernels. CMake gives KEY_BITS and the table's name,
 * INSTANCE: topk_cuda_air_kernels_32 for air/kernels.cu and 32 bits. The host picks the table: leaf.h,
 * width_of().
 *
 * nvcc compiles all widths of a file at once: their kernels have much in common, and what is compiled at once
 * is compressed together. So what a file defines for a width lies in a namespace WIDTH, behind its
 * includes, and begins with `typedef element_of_bits<KEY_BITS>::type element_t;`: the bits of an element.
 * The emulated GPU has a compilation for each width. */
#ifndef TOPK_SRC_CUDA_INSTANCE_CUH
#define TOPK_SRC_CUDA_INSTANCE_CUH

#include "grid.h"
#include "launch.cuh"

template <int BITS> struct element_of_bits;
template <> struct element_of_bits<8> { typedef uint8_t type; };
template <> struct element_of_bits<16> { typedef uint16_t type; };
template <> struct element_of_bits<32> { typedef uint32_t type; };
template <> struct element_of_bits<64> { typedef uint64_t type; };

#define WIDTH WIDTH_OF(KEY_BITS)
#define WIDTH_OF(bits) WIDTH_PASTED(bits)
#define WIDTH_PASTED(bits) width_##bits

/* The shared memory that a layout function carves: carve(arena, sizes...). */
template <typename Shared, typename... Needed, typename... Given>
static uint32_t shared_bytes_of(Shared (*carve)(simt_arena &, Needed...), Given... sizes) {
    simt_arena arena = simt_measuring_arena();
    (void)carve(arena, sizes...);
    return arena.used_bytes;
}

/* Launches a kernel whose one argument is *args. 0 or a cudaError_t. */
template <typename Args>
static int launch(const char *name, const struct launch_grid *grid, uint32_t shared_bytes,
                  void (*kernel)(Args), const Args *args) {
    struct simt_launch_shape shape = {};
    shape.name = name;
    shape.blocks = grid->blocks;
    shape.rows = grid->rows;
    shape.threads = grid->threads;
    shape.shared_bytes = shared_bytes;
    shape.cooperative = grid->waits;
    shape.dependent = grid->dependent;
    shape.stream = grid->stream;
    return simt_launch(shape, kernel, *args);
}

#endif
