/* SPDX-License-Identifier: Apache-2.0
 * Shared memory: arrays carved one after another from the dynamic shared memory of the launch. A layout
 * function that carves from simt_measuring_arena() on the host says how many bytes the launch needs.
 * Included by simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_SHARED_CUH
#define TOPK_SRC_CUDA_SIMT_SHARED_CUH

/* T is trivially copyable. In the emulation an element is a proxy that checks: it converts to T, takes a T,
 * and its address goes to atomics only; elements that are structs are therefore copied whole. */
template <typename T> struct simt_shared {
    T *data;

    __device__ __forceinline__ T &operator[](uint32_t index) const {
        return data[index];
    }
};

/* `count` elements of an array from `first` on. */
template <typename T>
TOPK_HOST_DEVICE simt_shared<T> simt_shared_part(simt_shared<T> array, uint32_t first, uint32_t) {
    return simt_shared<T>{array.data + first};
}

/* The same bytes as elements of another type, whose alignment T has. */
template <typename U, typename T> TOPK_HOST_DEVICE simt_shared<U> simt_shared_as(simt_shared<T> array) {
    static_assert(alignof(U) <= alignof(T), "the array may begin between two elements");
    return simt_shared<U>{(U *)array.data};
}

/* Of an element, for instructions that take addresses of the block's shared memory. */
template <typename T> TOPK_DEVICE uint32_t simt_shared_address(simt_shared<T> array, uint32_t index) {
    return (uint32_t)__cvta_generic_to_shared(array.data + index);
}

/* Where the next of some 16-bit words goes, which are written one after another from array[index] on, or
 * the other way, from array[index - 1]. */
struct simt_appender {
    uint32_t address;

    /* If `wanted` is not 0; without a branch. */
    __device__ __forceinline__ void append_if(uint32_t wanted, uint16_t word) {
        asm volatile("{ .reg .pred wanted;\n"
                     "setp.ne.u32 wanted, %2, 0;\n"
                     "@wanted st.shared.u16 [%0], %1;\n"
                     "@wanted add.u32 %0, %0, 2; }"
                     : "+r"(address)
                     : "h"(word), "r"(wanted)
                     : "memory");
    }
    __device__ __forceinline__ void prepend(uint16_t word) {
        asm volatile("st.shared.u16 [%0 + -2], %1;\n"
                     "add.u32 %0, %0, -2;"
                     : "+r"(address)
                     : "h"(word)
                     : "memory");
    }
    /* If `wanted` is not 0; without a branch. */
    __device__ __forceinline__ void prepend_if(uint32_t wanted, uint16_t word) {
        asm volatile("{ .reg .pred wanted;\n"
                     "setp.ne.u32 wanted, %2, 0;\n"
                     "@wanted st.shared.u16 [%0 + -2], %1;\n"
                     "@wanted add.u32 %0, %0, -2; }"
                     : "+r"(address)
                     : "h"(word), "r"(wanted)
                     : "memory");
    }
};

TOPK_DEVICE simt_appender simt_append_at(simt_shared<uint16_t> array, uint32_t index) {
    return simt_appender{simt_shared_address(array, index)};
}

/* Slots of 32-bit words are spread over the banks of shared memory: slots that are 16 or 32 apart, such as
 * those from which neighbouring lanes append, lie in different banks. Groups of 4 slots stay together. The
 * words lie in 128 bytes, or a multiple of it. */
TOPK_HOST_DEVICE uint32_t simt_spread_group(uint32_t group) {
    return group ^ (group >> 2 & 7);
}

TOPK_HOST_DEVICE uint32_t simt_spread_slot(uint32_t slot) {
    return slot ^ (slot >> 2 & 28);
}

/* Where the next words go that a thread appends to two such arrays at once, in the same slots. */
struct simt_pair_appender {
    uint32_t first, second; /* addresses */
    uint32_t slot_bytes;

    /* If `wanted` is not 0; without a branch. */
    __device__ __forceinline__ void append_if(uint32_t wanted, uint32_t to_first, uint32_t to_second) {
        const uint32_t spread = slot_bytes ^ (slot_bytes >> 2 & 112);
        asm volatile("{ .reg .pred wanted;\n"
                     "setp.ne.u32 wanted, %5, 0;\n"
                     "@wanted st.shared.u32 [%1], %3;\n"
                     "@wanted st.shared.u32 [%2], %4;\n"
                     "@wanted add.u32 %0, %0, 4; }"
                     : "+r"(slot_bytes)
                     : "r"(first + spread), "r"(second + spread), "r"(to_first), "r"(to_second), "r"(wanted)
                     : "memory");
    }
    /* Likewise, if the slot is below `limit`, too. */
    __device__ __forceinline__ void append_below(uint32_t limit, uint32_t wanted, uint32_t to_first,
                                                 uint32_t to_second) {
        const uint32_t spread = slot_bytes ^ (slot_bytes >> 2 & 112);
        asm volatile("{ .reg .pred wanted;\n"
                     "setp.ne.u32 wanted, %5, 0;\n"
                     "setp.lt.and.u32 wanted, %0, %6, wanted;\n"
                     "@wanted st.shared.u32 [%1], %3;\n"
                     "@wanted st.shared.u32 [%2], %4;\n"
                     "@wanted add.u32 %0, %0, 4; }"
                     : "+r"(slot_bytes)
                     : "r"(first + spread), "r"(second + spread), "r"(to_first), "r"(to_second), "r"(wanted),
                       "r"(4 * limit)
                     : "memory");
    }
    __device__ __forceinline__ void go_to(uint32_t slot) {
        slot_bytes = 4 * slot;
    }
};

TOPK_DEVICE simt_pair_appender simt_append_pairs_at(simt_shared<uint32_t> first, simt_shared<uint32_t> second,
                                                    uint32_t slot) {
    return simt_pair_appender{simt_shared_address(first, 0), simt_shared_address(second, 0), 4 * slot};
}

struct simt_arena {
    unsigned char *base; /* NULL while measuring */
    uint32_t used_bytes;
};

TOPK_DEVICE simt_arena simt_shared_arena(void) {
    extern __shared__ __align__(128) unsigned char simt_dynamic_shared[];
    return simt_arena{simt_dynamic_shared, 0};
}

TOPK_HOST_DEVICE simt_arena simt_measuring_arena(void) {
    return simt_arena{nullptr, 0};
}

/* Room for `count` elements, which hold nothing yet. The alignment is a power of two, at most 128. */
template <typename T>
TOPK_HOST_DEVICE simt_shared<T> simt_carve(simt_arena &arena, uint32_t count,
                                           uint32_t alignment = (uint32_t)alignof(T)) {
    uint32_t start = (arena.used_bytes + alignment - 1) / alignment * alignment;
    arena.used_bytes = start + count * (uint32_t)sizeof(T);
#ifdef __CUDA_ARCH__
    return simt_shared<T>{
        (T *)(arena.base + start)}; /* without a test, which would hide that this is shared memory */
#else
    return simt_shared<T>{arena.base ? (T *)(arena.base + start) : nullptr};
#endif
}

#endif
