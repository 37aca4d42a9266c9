/* SPDX-License-Identifier: Apache-2.0
 * The bits of a word. Included by simt.cuh alone. */
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

/* All ones for each part of BYTES bytes, 1 or 2, whose highest bit is set; zeros for the others. */
template <uint32_t BYTES> TOPK_DEVICE uint32_t simt_signs(uint32_t word) {
    uint32_t
        signs; /* a selector with its highest bit set takes a byte's sign, which __byte_perm() does not */
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(signs) : "r"(word), "n"(BYTES == 1 ? 0xba98 : 0xbb99));
    return signs;
}

#endif
