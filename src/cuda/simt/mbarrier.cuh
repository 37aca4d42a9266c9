/* SPDX-License-Identifier: Apache-2.0
 * Mbarriers: barriers in shared memory whose arrivals and waits are apart. An mbarrier goes through phases,
 * which count from 0. A phase completes when all its arrivals have happened and the bytes of their bulk
 * copies have come; then the next phase begins. A wait names a phase by its parity alone, so no thread may
 * fall two phases behind.
 *
 * Below compute capability 8.0 an mbarrier counts arrivals, and means the same. Included by simt.cuh alone.
 */
#ifndef TOPK_SRC_CUDA_SIMT_MBARRIER_CUH
#define TOPK_SRC_CUDA_SIMT_MBARRIER_CUH

#include "shared.cuh"

/* Its memory serves nothing else until the launch ends. */
struct alignas(8) simt_mbarrier {
    uint32_t arrivals, arrived; /* of each phase, of all; from 8.0 on the hardware's 64 bits */
};

/* Orders the caller's writes to shared memory before bulk copies to the same bytes. The threads that wrote
 * call it, and then meet the warp that starts the copy. */
TOPK_DEVICE void simt_fence_bulk(void) {
#ifdef SIMT_HAS_BULK_COPIES
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* Makes `count` mbarriers, from barriers[first] on; each phase takes `arrivals` arrivals. One thread calls
 * it; others use the mbarriers once they have met it. */
TOPK_DEVICE void simt_mbarrier_init(simt_shared<simt_mbarrier> barriers, uint32_t first, uint32_t count,
                                    uint32_t arrivals) {
    for (uint32_t i = first; i < first + count; i++) {
#ifdef SIMT_HAS_ASYNC_COPIES
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(simt_shared_address(barriers, i)),
                     "r"(arrivals)
                     : "memory");
#else
        barriers[i] = simt_mbarrier{arrivals, 0};
#endif
    }
    simt_fence_bulk();
}

/* One arrival. Threads that wait for the phase see what the caller did before. */
TOPK_DEVICE void simt_mbarrier_arrive(simt_shared<simt_mbarrier> barriers, uint32_t index) {
#ifdef SIMT_HAS_BULK_COPIES
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(simt_shared_address(barriers, index))
                 : "memory");
#elif defined(SIMT_HAS_ASYNC_COPIES)
    asm volatile("{ .reg .b64 state;\n"
                 "mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(simt_shared_address(barriers, index))
                 : "memory");
#else
    __threadfence_block();
    (void)atomicAdd(&barriers[index].arrived, 1u);
#endif
}

/* Returns when the phase of that parity has completed; for the phase before the first, of parity 1, at once.
 * A thread that reads copied bytes waits itself, or meets one that has waited. */
TOPK_DEVICE void simt_mbarrier_wait(simt_shared<simt_mbarrier> barriers, uint32_t index, uint32_t parity) {
#ifdef SIMT_HAS_BULK_COPIES
    asm volatile("{ .reg .pred completed;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 completed, [%0], %1;\n"
                 "@!completed bra again; }" ::"r"(simt_shared_address(barriers, index)),
                 "r"(parity)
                 : "memory");
#elif defined(SIMT_HAS_ASYNC_COPIES)
    asm volatile("{ .reg .pred completed;\n"
                 "again:\n"
                 "mbarrier.test_wait.parity.shared.b64 completed, [%0], %1;\n"
                 "@!completed bra again; }" ::"r"(simt_shared_address(barriers, index)),
                 "r"(parity)
                 : "memory");
#else
    const volatile uint32_t &arrived = barriers[index].arrived;
    while ((arrived / barriers[index].arrivals) % 2 == parity)
        ;
    __threadfence_block();
#endif
}

#endif
