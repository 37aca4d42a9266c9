/* SPDX-License-Identifier: Apache-2.0
 * Atomics, all relaxed and of device scope, and what gives them an order. Pointers are generic: shared and
 * global memory alike. Atomics return the old value. Included by simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_ATOMIC_CUH
#define TOPK_SRC_CUDA_SIMT_ATOMIC_CUH

/* What CUDA's atomics take for uint32_t and uint64_t: unsigned long long is another type than uint64_t. */
template <size_t bytes> struct simt_native { typedef unsigned int type; };
template <> struct simt_native<8> { typedef unsigned long long type; };
template <typename T> using simt_native_t = typename simt_native<sizeof(T)>::type;

template <typename T> TOPK_DEVICE T simt_atomic_add(T *word, simt_native_t<T> value) {
    return (T)atomicAdd((simt_native_t<T> *)word, value);
}

template <typename T> TOPK_DEVICE T simt_atomic_min(T *word, simt_native_t<T> value) {
    return (T)atomicMin((simt_native_t<T> *)word, value);
}

template <typename T> TOPK_DEVICE T simt_atomic_max(T *word, simt_native_t<T> value) {
    return (T)atomicMax((simt_native_t<T> *)word, value);
}

template <typename T> TOPK_DEVICE T simt_atomic_or(T *word, simt_native_t<T> value) {
    return (T)atomicOr((simt_native_t<T> *)word, value);
}

/* Adds 1 between a fence of the device and another: publishes what came before it and sees what others have
 * published so. */
TOPK_DEVICE uint32_t simt_atomic_ticket(uint32_t *word) {
    uint32_t old;
    asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(word) : "memory");
    return old;
}

/* Between all threads of the device. */
TOPK_DEVICE void simt_fence_device(void) {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

TOPK_DEVICE uint32_t simt_load_relaxed(const uint32_t *word) {
    uint32_t value;
    asm volatile("ld.relaxed.gpu.b32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

TOPK_DEVICE uint64_t simt_load_relaxed(const uint64_t *word) {
    uint64_t value;
    asm volatile("ld.relaxed.gpu.b64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}

TOPK_DEVICE void simt_store_relaxed(uint32_t *word, uint32_t value) {
    asm volatile("st.relaxed.gpu.b32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

TOPK_DEVICE void simt_store_relaxed(uint64_t *word, uint64_t value) {
    asm volatile("st.relaxed.gpu.b64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

/* Of device scope. */
TOPK_DEVICE uint32_t simt_load_acquire(const uint32_t *word) {
    uint32_t value;
    asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

TOPK_DEVICE uint64_t simt_load_acquire(const uint64_t *word) {
    uint64_t value;
    asm volatile("ld.acquire.gpu.b64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}

TOPK_DEVICE void simt_store_release(uint32_t *word, uint32_t value) {
    asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

TOPK_DEVICE void simt_store_release(uint64_t *word, uint64_t value) {
    asm volatile("st.release.gpu.b64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

#endif
