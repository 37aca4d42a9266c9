/* SPDX-License-Identifier: Apache-2.0
 * Bulk copies from global to shared memory, which run beside the threads. A streaming kernel fills the slots
 * of a ring with them, and an mbarrier for each slot tells when the slot's bytes have come.
 *
 * Below compute capability 9.0 the lanes copy, and the bytes have come when the call returns: the same
 * kernels run there, without the overlap. Included by simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_BULK_CUH
#define TOPK_SRC_CUDA_SIMT_BULK_CUH

#include "mbarrier.cuh"
#include "memory.cuh"
#include "thread.cuh"
#include "warp.cuh"

/* Copies `count` groups of 16 bytes, at least one, to to[first] and on. All lanes of the warp call it alike,
 * and together they make one arrival at the mbarrier. Until somebody has waited for its phase no thread
 * touches these bytes, and the block does not end.
 *
 * The call orders nothing by itself. Threads that read the slot before have met the warp since; threads that
 * wrote to it see simt_fence_bulk. `from` is a multiple of 16, and nobody writes there during the launch, as
 * for simt_load16_read_only. Slots that begin at multiples of 128 bytes are filled faster. What is copied is
 * the first that the L2 cache gives up: a stream is read once. */
TOPK_DEVICE void simt_bulk_copy(simt_shared<simt_u32x4> to, uint32_t first, const void *from, uint32_t count,
                                simt_shared<simt_mbarrier> barriers, uint32_t index) {
#ifdef SIMT_HAS_BULK_COPIES
    if (simt_lane() == 0) {
        const uint32_t barrier = simt_shared_address(barriers, index), bytes = count * 16;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                     : "memory");
        uint64_t policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                     "[%0], [%1], %2, [%3], %4;" ::"r"(simt_shared_address(to, first)),
                     "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier), "l"(policy)
                     : "memory");
    }
#else
    for (uint32_t i = simt_lane(); i < count; i += SIMT_WARP)
        to[first + i] = simt_load16((const simt_u32x4 *)from + i);
    simt_warp_sync(SIMT_ALL_LANES);
    if (simt_lane() == 0)
        simt_mbarrier_arrive(barriers, index);
#endif
}

#endif
