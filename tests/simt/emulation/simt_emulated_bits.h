/* SPDX-License-Identifier: Apache-2.0
 * Counting the bits of a word. */
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

inline uint32_t simt_pick_halves(uint32_t a, uint32_t b, bool lesser) {
    const bool low = (a & 0xffff) < (b & 0xffff), high = a >> 16 < b >> 16;
    return ((low == lesser ? a : b) & 0xffff) | ((high == lesser ? a : b) >> 16 << 16);
}

inline uint32_t simt_ffs(uint32_t word) {
    return (uint32_t)__builtin_ffs((int)word);
}

inline uint32_t simt_ffs(uint64_t word) {
    return (uint32_t)__builtin_ffsll((long long)word);
}

#endif
