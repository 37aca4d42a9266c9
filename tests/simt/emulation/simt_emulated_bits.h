/* SPDX-License-Identifier: Apache-2.0
 * The bits of a word. */
#ifndef TOPK_TESTS_SIMT_EMULATED_BITS_H
#define TOPK_TESTS_SIMT_EMULATED_BITS_H

inline uint32_t simt_popc(uint32_t word) {
    return (uint32_t)__builtin_popcount(word);
}

inline uint32_t simt_popc(uint64_t word) {
    return (uint32_t)__builtin_popcountll(word);
}

inline uint32_t simt_clz(uint32_t word) {
    return word != 0 ? (uint32_t)__builtin_clz(word) : 32;
}

inline uint32_t simt_clz(uint64_t word) {
    return word != 0 ? (uint32_t)__builtin_clzll(word) : 64;
}

inline uint32_t simt_ffs(uint32_t word) {
    return (uint32_t)__builtin_ffs((int)word);
}

inline uint32_t simt_ffs(uint64_t word) {
    return (uint32_t)__builtin_ffsll((long long)word);
}

template <uint32_t BYTES> inline uint32_t simt_signs(uint32_t word) {
    uint32_t signs = 0;
    for (uint32_t bit = 8 * BYTES; bit <= 32; bit += 8 * BYTES)
        signs |= (word >> (bit - 1) & 1) != 0 ? ((1u << 8 * BYTES) - 1) << (bit - 8 * BYTES) : 0;
    return signs;
}

#endif
