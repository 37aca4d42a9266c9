/* SPDX-License-Identifier: Apache-2.0
 * Atomics, fences, and loads and stores of global memory. Each atomic is a relaxed one of the compiler, which
 * orders nothing for ThreadSanitizer either; the runtime adds the order that fences give. */
#ifndef TOPK_TESTS_SIMT_EMULATED_ATOMIC_H
#define TOPK_TESTS_SIMT_EMULATED_ATOMIC_H

/* Replaces a word by what `change` makes of it. */
template <typename T, typename Change> T simt_atomic_update(T *word, Change change) {
    simt_runtime::before_atomic(word, sizeof *word);
    T old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &old, change(old), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    simt_runtime::after_read_modify_write(word, old, change(old) != old);
    return old;
}

/* Keeps `value` from taking part in deducing T. */
template <typename T> struct simt_same { typedef T type; };

template <typename T> T simt_atomic_add(T *word, typename simt_same<T>::type value) {
    return simt_atomic_update(word, [=](T old) { return (T)(old + value); });
}

template <typename T> T simt_atomic_min(T *word, typename simt_same<T>::type value) {
    return simt_atomic_update(word, [=](T old) { return value < old ? value : old; });
}

template <typename T> T simt_atomic_max(T *word, typename simt_same<T>::type value) {
    return simt_atomic_update(word, [=](T old) { return value > old ? value : old; });
}

template <typename T> T simt_atomic_or(T *word, typename simt_same<T>::type value) {
    return simt_atomic_update(word, [=](T old) { return (T)(old | value); });
}

inline void simt_fence_device() {
    simt_runtime::fence();
}

inline uint32_t simt_atomic_ticket(uint32_t *word) {
    simt_fence_device();
    uint32_t old = simt_atomic_add(word, 1u);
    simt_fence_device();
    return old;
}

template <typename T> T simt_load_relaxed(const T *word) {
    simt_runtime::before_atomic(word, sizeof *word);
    T value = __atomic_load_n(word, __ATOMIC_RELAXED);
    simt_runtime::after_load(word, value);
    return value;
}

template <typename T> T simt_load_acquire(const T *word) {
    T value = simt_load_relaxed(word);
    simt_runtime::acquire(word);
    return value;
}

template <typename T> void simt_store_relaxed(T *word, typename simt_same<T>::type value) {
    simt_runtime::before_atomic(word, sizeof *word);
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
    simt_runtime::after_store(word);
}

template <typename T> void simt_store_release(T *word, typename simt_same<T>::type value) {
    simt_runtime::before_atomic(word, sizeof *word);
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
    simt_runtime::release(word);
}

inline simt_u32x4 simt_load_words(const void *address) {
    const uint32_t *words = (const uint32_t *)address;
    return simt_u32x4{words[0], words[1], words[2], words[3]};
}

inline simt_u32x4 simt_load16(const void *address) {
    simt_runtime::before_access(address, sizeof(simt_u32x4));
    return simt_load_words(address);
}

inline simt_u32x4 simt_load16_read_only(const void *address, simt_site at = simt_here()) {
    simt_runtime::before_access(address, sizeof(simt_u32x4));
    simt_runtime::read_through_cache(address, sizeof(simt_u32x4), at);
    return simt_load_words(address);
}

template <typename T> T *simt_global(T *pointer) {
    return pointer;
}

template <typename T> const T *simt_in_register(const T *pointer) {
    return pointer;
}
inline void simt_read_ahead(const void *) {
}
inline uint32_t simt_in_register(uint32_t word) {
    return word;
}

template <typename T> T simt_load_read_only(const T *address, simt_site at = simt_here()) {
    simt_runtime::before_access(address, sizeof *address);
    simt_runtime::read_through_cache(address, sizeof *address, at);
    return *address;
}

inline void simt_store16(void *address, simt_u32x4 value) {
    simt_runtime::before_access(address, sizeof value);
    uint32_t *words = (uint32_t *)address;
    words[0] = value.x;
    words[1] = value.y;
    words[2] = value.z;
    words[3] = value.w;
}

#endif
