/* SPDX-License-Identifier: Apache-2.0
 * Accesses of system scope, and the time. Included by simt/system.cuh alone. */
#ifndef TOPK_TESTS_SIMT_EMULATED_SYSTEM_H
#define TOPK_TESTS_SIMT_EMULATED_SYSTEM_H

#include "system.h"

/* Within its launch it orders what a fence of the device does. What goes beyond that, the release after it
 * says. */
inline void simt_fence_system() {
    simt_runtime::fence();
}

template <typename T> T simt_load_acquire_system(const T *word) {
    simt_runtime::before_atomic(word, sizeof *word);
    T value = __atomic_load_n(word, __ATOMIC_RELAXED);
    simt_runtime::after_load(word, value);
    simt_runtime::acquire_system(word);
    return value;
}

template <typename T> void simt_store_release_system(T *word, typename simt_same<T>::type value) {
    simt_runtime::before_atomic(word, sizeof *word);
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
    simt_runtime::release_system(word);
}

struct simt_pair {
    uint64_t first, second;
};

/* Each word by itself, and other threads run in between. */
inline simt_pair simt_load_pair_system(const uint64_t *words) {
    const uint64_t second = simt_load_relaxed(words + 1);
    return simt_pair{simt_load_relaxed(words), second};
}

inline void simt_store_pair_system(uint64_t *words, simt_pair pair) {
    simt_runtime::before_access(words, sizeof pair);
    simt_store_relaxed(words, pair.first);
    simt_store_relaxed(words + 1, pair.second);
}

inline uint64_t simt_nanoseconds() {
    return simt_runtime::nanoseconds();
}

#endif
