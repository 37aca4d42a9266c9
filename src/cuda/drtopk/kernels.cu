/* SPDX-License-Identifier: Apache-2.0
 * The kernels of Dr. Top-k (Gaihre et al., SC 2021) for elements of KEY_BITS bits. docs/methods/drtopk.md
 * tells the whole. */
#include "../instance.cuh"
#include "by_thread.cuh"
#include "by_warp.cuh"
#include "concatenate.cuh"
#include "equal.cuh"
#include "last.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

static uint32_t tile_shared_bytes(uint32_t exponent) {
    return shared_bytes_of(carve_tile, exponent);
}

static uint32_t coalesced_shared_bytes(uint32_t exponent) {
    return shared_bytes_of(carve_coalesced<element_t>, exponent);
}

static uint32_t rings_shared_bytes(void) {
    return shared_bytes_of(carve_rings<delegate_rings>, (uint32_t)DRTOPK_THREADS / SIMT_WARP, 0u, 0u);
}

typedef void (*drtopk_function)(struct drtopk_args);

static drtopk_function by_thread(uint32_t beta) {
    return beta <= 2 ? drtopk_by_thread<element_t, 2> : drtopk_by_thread<element_t, DRTOPK_BETA_MAX>;
}

static int launch_kernel(enum drtopk_kernel kernel, const struct launch_grid *grid,
                         const struct drtopk_args *args) {
    switch (kernel) {
    case DRTOPK_BY_WARP:
        return launch("drtopk_by_warp", grid, rings_shared_bytes(), drtopk_by_warp<element_t>, args);
    case DRTOPK_BY_THREAD:
        return launch("drtopk_by_thread", grid, coalesced_shared_bytes(args->exponent), by_thread(args->beta),
                      args);
    case DRTOPK_LAST:
        return launch("drtopk_last", grid, shared_bytes_of(carve_last), drtopk_last<element_t>, args);
    case DRTOPK_CONCATENATE:
        return launch("drtopk_concatenate", grid, tile_shared_bytes(args->exponent),
                      drtopk_concatenate<element_t>, args);
    default:
        return launch("drtopk_equal", grid, tile_shared_bytes(args->exponent), drtopk_equal<element_t>, args);
    }
}

static int prepare(void) {
    const uint32_t coalesced = coalesced_shared_bytes(DRTOPK_COALESCED_MAX), rings = rings_shared_bytes();
    int error = simt_prepare(drtopk_concatenate<element_t>, 0);
    error = error != 0 ? error : simt_prepare(drtopk_equal<element_t>, 0);
    error = error != 0 ? error : simt_prepare(drtopk_last<element_t>, 0);
    error = error != 0 ? error : simt_prepare(drtopk_by_warp<element_t>, rings);
    error = error != 0 ? error : simt_prepare(by_thread(DRTOPK_BETA), coalesced);
    error = error != 0 ? error : simt_prepare(by_thread(DRTOPK_BETA_MAX), coalesced);
    return error;
}

extern "C" const struct drtopk_kernels INSTANCE = {prepare, launch_kernel};
} // namespace WIDTH
