/* SPDX-License-Identifier: Apache-2.0
 * The kernels of compact for sources of KEY_BITS bits. With 8 bits come the kernels for single bits and those
 * that need no width. docs/methods/compact.md tells the whole. */
#include "kernels.h"

#include "../instance.cuh"
#include "dense.cuh"
#include "mask.cuh"
#include "ragged.cuh"

#if KEY_BITS == 8
#include "phases.cuh"
#include "prepare.cuh"
#endif

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

template <typename Source> static uint32_t dense_shared_bytes(void) {
    return shared_bytes_of(carve_tiles<dense_tiles<Source>>);
}

template <typename Source>
static int launch_pass(const struct launch_grid *grid, const struct compact_args *args) {
    return args->dense
               ? launch("compact_dense", grid, dense_shared_bytes<Source>(), compact_dense<Source>, args)
               : launch("compact_ragged", grid, shared_bytes_of(carve_ragged<Source>), compact_ragged<Source>,
                        args);
}

template <typename Source> static constexpr int64_t step_of(void) {
    typedef compact_shape<Source> shape;
    return shape::STEP < shape::DENSE_TILE ? shape::STEP : shape::DENSE_TILE;
}

template <typename Source>
static int launch_mask(const struct launch_grid *grid, const struct compact_args *args) {
    return args->dense ? launch("compact_mask", grid, 0, compact_mask<Source>, args)
                       : launch("compact_mask_ragged", grid, 0, compact_mask_ragged<Source>, args);
}

/* Where a block has too little shared memory for it, dense rows are not served as such. */
template <typename Source> static int prepare_passes(uint32_t shared_bytes_max) {
    int error = simt_prepare(compact_ragged<Source>, shared_bytes_of(carve_ragged<Source>));
    if (error == 0 && dense_shared_bytes<Source>() <= shared_bytes_max)
        error = simt_prepare(compact_dense<Source>, dense_shared_bytes<Source>());
    error = error != 0 ? error : simt_prepare(compact_mask<Source>, 0);
    return error != 0 ? error : simt_prepare(compact_mask_ragged<Source>, 0);
}

extern "C" const struct compact_kernels INSTANCE = {prepare_passes<element_t>,
                                                    step_of<element_t>(),
                                                    dense_shared_bytes<element_t>,
                                                    compact_shape<element_t>::BLOCKS_PER_SM,
                                                    compact_shape<element_t>::THREADS,
                                                    launch_pass<element_t>,
                                                    launch_mask<element_t>};

#if KEY_BITS == 8
static int prepare_more(uint32_t shared_bytes_max) {
    int error = prepare_passes<mask_bits>(shared_bytes_max);
    error = error != 0 ? error : simt_prepare(compact_prepare, shared_bytes_of(carve_scan));
    error = error != 0 ? error : simt_prepare(compact_scan, shared_bytes_of(carve_scan));
    error = error != 0 ? error : simt_prepare(compact_scatter, 0);
    return error != 0 ? error : simt_prepare(compact_count, 0);
}

extern "C" const struct compact_kernels topk_cuda_compact_kernels_bits = {
    prepare_more,
    step_of<mask_bits>(),
    dense_shared_bytes<mask_bits>,
    compact_shape<mask_bits>::BLOCKS_PER_SM,
    compact_shape<mask_bits>::THREADS,
    launch_pass<mask_bits>,
    launch_mask<mask_bits>};

extern "C" int topk_cuda_compact_launch_prepare(const struct launch_grid *grid,
                                                const struct compact_args *args) {
    return launch("compact_prepare", grid, shared_bytes_of(carve_scan), compact_prepare, args);
}

extern "C" int topk_cuda_compact_launch_scan(const struct launch_grid *grid,
                                             const struct compact_args *args) {
    return launch("compact_scan", grid, shared_bytes_of(carve_scan), compact_scan, args);
}

extern "C" int topk_cuda_compact_launch_scatter(const struct launch_grid *grid,
                                                const struct compact_args *args) {
    return launch("compact_scatter", grid, 0, compact_scatter, args);
}

extern "C" int topk_cuda_compact_launch_count(const struct launch_grid *grid,
                                              const struct compact_args *args) {
    return launch("compact_count", grid, 0, compact_count, args);
}
#endif
} // namespace WIDTH
