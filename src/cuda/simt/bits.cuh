/* SPDX-License-Identifier: Apache-2.0
 * Counting the bits of a word. Included by simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_BITS_CUH
#define TOPK_SRC_CUDA_SIMT_BITS_CUH

/* How many bits are set. */
TOPK_DEVICE uint32_t simt_popc(uint32_t word) {
    return (uint32_t)__popc(word);
}

TOPK_DEVICE uint32_t simt_popc(uint64_t word) {
    return (uint32_t)__popcll(word);
}

/* How many zeros are above the highest bit that is set: all of them in zero. */
TOPK_DEVICE uint32_t simt_clz(uint32_t word) {
    return (uint32_t)__clz((int)word);
}

TOPK_DEVICE uint32_t simt_clz(uint64_t word) {
    return (uint32_t)__clzll((long long)word);
}

/* The place of the lowest bit that is set, counted from 1; 0 for zero. */
TOPK_DEVICE uint32_t simt_ffs(uint32_t word) {
    return (uint32_t)__ffs((int)word);
}

TOPK_DEVICE uint32_t simt_ffs(uint64_t word) {
    return (uint32_t)__ffsll((long long)word);
}

#endif
