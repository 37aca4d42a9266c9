/* SPDX-License-Identifier: Apache-2.0
 * The kernels of compact for sources of KEY_BITS bits; those of 8 bits come with those of single bits and
 * with what needs no width. docs/methods/compact.md tells the whole. */
#include "kernels.h"

#include "../launch.cuh"
#include "pass.cuh"

#if KEY_BITS == 8
typedef uint8_t source_t;
#define KERNELS topk_compact_kernels_8
#elif KEY_BITS == 16
typedef uint16_t source_t;
#define KERNELS topk_compact_kernels_16
#elif KEY_BITS == 32
typedef uint32_t source_t;
#define KERNELS topk_compact_kernels_32
#else
typedef uint64_t source_t;
#define KERNELS topk_compact_kernels_64
#endif

template <typename Source> static uint32_t pass_shared_bytes(void) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_pass<Source>(arena);
    return arena.used_bytes;
}

static struct simt_launch_shape shape_of(const char *name, const struct compact_grid *grid,
                                         uint32_t shared_bytes) {
    struct simt_launch_shape shape = {};
    shape.name = name;
    shape.blocks = grid->blocks;
    shape.rows = 1;
    shape.threads = COMPACT_THREADS;
    shape.shared_bytes = shared_bytes;
    shape.dependent = grid->dependent;
    shape.stream = grid->stream;
    return shape;
}

template <typename Source>
static int launch_pass(const struct compact_grid *grid, const struct compact_args *args) {
    return simt_launch(shape_of("compact_pass", grid, pass_shared_bytes<Source>()), compact_pass<Source>,
                       *args);
}

static int prepare(void) {
    return simt_prepare(compact_pass<source_t>, pass_shared_bytes<source_t>());
}

extern "C" const struct compact_kernels KERNELS = {prepare, compact_shape<source_t>::STEP,
                                                   launch_pass<source_t>};

#if KEY_BITS == 8
#include "prepare.cuh"

static uint32_t prepare_shared_bytes(void) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_prepare(arena);
    return arena.used_bytes;
}

static int prepare_more(void) {
    int error = simt_prepare(compact_pass<mask_bits>, pass_shared_bytes<mask_bits>());
    return error != 0 ? error : simt_prepare(compact_prepare, prepare_shared_bytes());
}

extern "C" const struct compact_kernels topk_compact_kernels_bits = {
    prepare_more, compact_shape<mask_bits>::STEP, launch_pass<mask_bits>};

int topk_compact_launch_prepare(const struct compact_grid *grid, const struct compact_args *args) {
    return simt_launch(shape_of("compact_prepare", grid, prepare_shared_bytes()), compact_prepare, *args);
}
#endif
