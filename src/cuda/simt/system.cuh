/* SPDX-License-Identifier: Apache-2.0
 * Order between launches that run at the same time, also on several GPUs, and with the host: loads, stores
 * and a fence of system scope, and the time. Included by the kernels that need it. */
#ifndef TOPK_SRC_CUDA_SIMT_SYSTEM_CUH
#define TOPK_SRC_CUDA_SIMT_SYSTEM_CUH

#include "../simt.cuh"

#ifdef __CUDACC__

TOPK_DEVICE void simt_fence_system(void) {
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

TOPK_DEVICE uint32_t simt_load_acquire_system(const uint32_t *word) {
    uint32_t value;
    asm volatile("ld.acquire.sys.b32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

TOPK_DEVICE uint64_t simt_load_acquire_system(const uint64_t *word) {
    uint64_t value;
    asm volatile("ld.acquire.sys.b64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}

TOPK_DEVICE void simt_store_release_system(uint64_t *word, uint64_t value) {
    asm volatile("st.release.sys.b64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

/* Two words side by side, each of them whole, in no order: a word that tells that it is there needs no flag.
 * The address is a multiple of 16. */
struct simt_pair {
    uint64_t first, second;
};

TOPK_DEVICE simt_pair simt_load_pair_system(const uint64_t *words) {
    simt_pair pair;
    asm volatile("ld.relaxed.sys.v2.b64 {%0, %1}, [%2];"
                 : "=l"(pair.first), "=l"(pair.second)
                 : "l"(words)
                 : "memory");
    return pair;
}

TOPK_DEVICE void simt_store_pair_system(uint64_t *words, simt_pair pair) {
    asm volatile("st.relaxed.sys.v2.b64 [%0], {%1, %2};" ::"l"(words), "l"(pair.first), "l"(pair.second)
                 : "memory");
}

/* Nanoseconds since some moment, in steps of up to a millisecond. */
TOPK_DEVICE uint64_t simt_nanoseconds(void) {
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

#else
#include "simt_emulated_system.h"
#endif
#endif
