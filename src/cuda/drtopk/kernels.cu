/* SPDX-License-Identifier: Apache-2.0
 * The kernels of Dr. Top-k (Gaihre et al., SC 2021) for elements of KEY_BITS bits. docs/methods/drtopk.md
 * tells the whole. */
#include "../instance.cuh"
#include "concatenate.cuh"
#include "delegates.cuh"
#include "equal.cuh"

static uint32_t tile_shared_bytes(void) {
    return shared_bytes_of(carve_tile);
}

static uint32_t coalesced_shared_bytes(uint32_t exponent) {
    return shared_bytes_of(carve_coalesced<element_t>, exponent);
}

typedef void (*drtopk_function)(struct drtopk_args);

template <bool COALESCED> static drtopk_function delegates_for(uint32_t beta) {
    return beta == 1   ? drtopk_delegates<element_t, 1, COALESCED>
           : beta == 2 ? drtopk_delegates<element_t, 2, COALESCED>
                       : drtopk_delegates<element_t, DRTOPK_BETA_MAX, COALESCED>;
}

static int launch_kernel(enum drtopk_kernel kernel, const struct launch_grid *grid,
                         const struct drtopk_args *args) {
    switch (kernel) {
    case DRTOPK_DELEGATES:
        return args->coalesced ? launch("drtopk_delegates", grid, coalesced_shared_bytes(args->exponent),
                                        delegates_for<true>(args->beta), args)
                               : launch("drtopk_delegates", grid, 0, delegates_for<false>(args->beta), args);
    case DRTOPK_CONCATENATE:
        return launch("drtopk_concatenate", grid, tile_shared_bytes(), drtopk_concatenate<element_t>, args);
    default:
        return launch("drtopk_equal", grid, tile_shared_bytes(), drtopk_equal<element_t>, args);
    }
}

static int prepare(void) {
    int error = simt_prepare(drtopk_concatenate<element_t>, 0);
    error = error != 0 ? error : simt_prepare(drtopk_equal<element_t>, 0);
    for (uint32_t beta = 1; beta <= DRTOPK_BETA_MAX && error == 0; beta++) {
        error = simt_prepare(delegates_for<false>(beta), 0);
        error = error != 0
                    ? error
                    : simt_prepare(delegates_for<true>(beta), coalesced_shared_bytes(DRTOPK_COALESCED_MAX));
    }
    return error;
}

extern "C" const struct drtopk_kernels INSTANCE = {prepare, launch_kernel};
