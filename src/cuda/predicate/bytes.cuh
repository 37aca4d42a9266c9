/* SPDX-License-Identifier: Apache-2.0
 * Four bytes of a word, or eight of two, at once. */
#ifndef TOPK_SRC_CUDA_PREDICATE_BYTES_CUH
#define TOPK_SRC_CUDA_PREDICATE_BYTES_CUH

#include "../simt.cuh"

static const uint32_t TOP_BITS = 0x80808080u;

TOPK_DEVICE uint32_t four_times(uint32_t byte) {
    return byte * 0x01010101u;
}

/* All bits of the bytes whose top bit is set. */
TOPK_DEVICE uint32_t negative_bytes(uint32_t bytes) {
    uint32_t ones = (bytes & TOP_BITS) >> 7;
    return (ones << 8) - ones;
}

/* Sets the top bit of each byte for which byte - begin is at most span, modulo 256, and clears all other
 * bits. The low seven bits are subtracted below a bit that is set, which keeps them from borrowing from the
 * next byte. */
TOPK_DEVICE uint32_t bytes_in_arc(uint32_t bytes, uint32_t begin, uint32_t span) {
    uint32_t turned = ((bytes | TOP_BITS) - (begin & ~TOP_BITS)) ^ ((bytes ^ ~begin) & TOP_BITS);
    uint32_t low_at_most = (span | TOP_BITS) - (turned & ~TOP_BITS);
    return ((span & ~turned) | ((span | ~turned) & low_at_most)) & TOP_BITS;
}

/* Sets the top bit of each byte that is not 0, and clears all other bits. */
TOPK_DEVICE uint32_t nonzero_bytes(uint32_t bytes) {
    return (bytes | ((bytes & ~TOP_BITS) + ~TOP_BITS)) & TOP_BITS;
}

/* Bits 0 to 7: the top bits of eight bytes, `low` before `high`, whose other bits are 0. */
TOPK_DEVICE uint32_t gather_tops(uint32_t low, uint32_t high) {
    return (low >> 7 | high >> 3) * 0x01020408u >> 24;
}

#endif
