/* SPDX-License-Identifier: Apache-2.0
 * Bytes of words, and places in shared memory. Included by simt/bytes.cuh alone. */
#ifndef TOPK_TESTS_SIMT_EMULATED_BYTES_H
#define TOPK_TESTS_SIMT_EMULATED_BYTES_H

inline uint32_t simt_byte_pair(uint32_t low, uint32_t high, uint32_t i) {
    return (low >> 8 * i & 0xff) | (high >> 8 * i & 0xff) << 8;
}

template <typename T> simt_shared_pointer<T> simt_shared_at(simt_shared<T> array, uint32_t offset) {
    if (offset % sizeof(T) != 0)
        simt_runtime::report("shared memory: %u is no element's offset", offset);
    return &array[offset / (uint32_t)sizeof(T)];
}

template <typename T> void simt_shared_store(simt_shared<T> array, uint32_t offset, T value) {
    *simt_shared_at(array, offset).access(false, true) = value;
}

#endif
