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
