/* SPDX-License-Identifier: Apache-2.0
 * Bytes of words, and places in shared memory that are told in bytes. Included by the kernels that need it.
 */
#ifndef TOPK_SRC_CUDA_SIMT_BYTES_CUH
#define TOPK_SRC_CUDA_SIMT_BYTES_CUH

#include "../simt.cuh"

#ifdef __CUDACC__

/* Byte i of `low`, and above it byte i of `high`, whose highest bits are not set. The compiler knows i. */
TOPK_DEVICE uint32_t simt_byte_pair(uint32_t low, uint32_t high, uint32_t i) {
    uint32_t pair; /* a selector with its highest bit set takes the sign of a byte of `high`: 0 */
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(pair) : "r"(low), "r"(high), "r"(0xcc40 + 0x11 * i));
    return pair;
}

/* The address of the element that begins `offset` bytes behind the first, good for atomics. */
template <typename T> TOPK_DEVICE T *simt_shared_at(simt_shared<T> array, uint32_t offset) {
    return (T *)((unsigned char *)array.data + offset);
}

/* Stores to that element. */
template <typename T> TOPK_DEVICE void simt_shared_store(simt_shared<T> array, uint32_t offset, T value) {
    *simt_shared_at(array, offset) = value;
}

#else
#include "simt_emulated_bytes.h"
#endif
#endif
