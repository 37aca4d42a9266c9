/* SPDX-License-Identifier: Apache-2.0
 * Loads and stores of global memory that name their width or their way through the caches. The addresses of
 * 16-byte accesses are multiples of 16. Included by simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_MEMORY_CUH
#define TOPK_SRC_CUDA_SIMT_MEMORY_CUH

TOPK_DEVICE simt_u32x4 simt_from_native(uint4 v) {
    return simt_u32x4{v.x, v.y, v.z, v.w};
}

TOPK_DEVICE simt_u32x4 simt_load16(const void *address) {
    return simt_from_native(*(const uint4 *)address);
}

/* Through the read-only cache: data that nobody writes during the launch. In a dependent launch, neither what
 * the launches before it wrote, back to the last that was not dependent: such loads need not heed the wait.
 */
TOPK_DEVICE simt_u32x4 simt_load16_read_only(const void *address) {
    return simt_from_native(__ldg((const uint4 *)address));
}

/* T: an integer or floating-point type of 1, 2, 4 or 8 bytes. */
template <typename T> TOPK_DEVICE T simt_load_read_only(const T *address) {
    return __ldg(address);
}

TOPK_DEVICE void simt_store16(void *address, simt_u32x4 value) {
    *(uint4 *)address = make_uint4(value.x, value.y, value.z, value.w);
}

/* The same pointer to global memory, computed once: the compiler knows no more of it than where it points. */
template <typename T> TOPK_DEVICE T *simt_global(T *pointer) {
    size_t address = __cvta_generic_to_global(pointer);
    asm("" : "+l"(address));
    return (T *)__cvta_global_to_generic(address);
}

/* The same pointer to what is only read, or the same word, computed once: the compiler knows nothing of it
 * and works on with it. */
template <typename T> TOPK_DEVICE const T *simt_in_register(const T *pointer) {
    asm("" : "+l"(pointer));
    return pointer;
}

TOPK_DEVICE uint32_t simt_in_register(uint32_t word) {
    asm("" : "+r"(word));
    return word;
}

/* Has the L2 cache read the line with this address. It changes no result. */
TOPK_DEVICE void simt_read_ahead(const void *address) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(address)));
}

#endif
