/* SPDX-License-Identifier: Apache-2.0
 * Bulk copies from global to shared memory, which run beside the threads. A streaming kernel fills the slots
 * of a ring with them, and an mbarrier for each slot tells when the slot's bytes have come.
 *
 * Below compute capability 9.0 the lanes copy. From 8.0 on their copies run beside the threads, too; before
 * that the bytes have come when the call returns, and the same kernels run without the overlap. Included by
 * simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_BULK_CUH
#define TOPK_SRC_CUDA_SIMT_BULK_CUH

#include "mbarrier.cuh"
#include "memory.cuh"
#include "thread.cuh"
#include "warp.cuh"

/* The lanes copy groups, each some at a time: their loads wait for memory together. */
TOPK_DEVICE void simt_load_groups(simt_shared<simt_u32x4> to, uint32_t first, const simt_u32x4 *from,
                                  uint32_t count) {
    const uint32_t AT_ONCE = 4;
    simt_u32x4 raw[AT_ONCE];
#pragma unroll 1
    for (uint32_t begin = simt_lane(); begin < count; begin += AT_ONCE * SIMT_WARP) {
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            const uint32_t group = begin + i * SIMT_WARP;
            raw[i] = simt_load16(from + (group < count ? group : begin));
        }
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; i++)
            if (begin + i * SIMT_WARP < count)
                to[first + begin + i * SIMT_WARP] = raw[i];
    }
}

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
#elif defined(SIMT_HAS_ASYNC_COPIES)
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#pragma unroll 1
    for (uint32_t i = simt_lane(); i < count; i += SIMT_WARP)
        asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                         simt_shared_address(to, first + i)),
                     "l"(__cvta_generic_to_global((const simt_u32x4 *)from + i)), "l"(policy)
                     : "memory");
    /* The phase waits for what the lane has copied, too: one arrival more, which comes after that. */
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(simt_shared_address(barriers, index))
                 : "memory");
    simt_warp_sync(SIMT_ALL_LANES);
    if (simt_lane() == 0)
        simt_mbarrier_arrive(barriers, index);
#else
    simt_load_groups(to, first, (const simt_u32x4 *)from, count);
    simt_warp_sync(SIMT_ALL_LANES);
    if (simt_lane() == 0)
        simt_mbarrier_arrive(barriers, index);
#endif
}

#endif
