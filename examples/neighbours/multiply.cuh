/* SPDX-License-Identifier: Apache-2.0
 * Products of 16 queries and 8 vectors over 16 dimensions, by the lanes of a warp: tensor cores from compute
 * capability 8.0 on, elsewhere shuffles. The layout of fragments is mma.m16n8k16's. */
#ifndef TOPK_EXAMPLES_NEIGHBOURS_MULTIPLY_CUH
#define TOPK_EXAMPLES_NEIGHBOURS_MULTIPLY_CUH

#include <stdint.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename Number> struct is_bfloat16 { static const bool value = false; };
template <> struct is_bfloat16<__nv_bfloat16> { static const bool value = true; };

/* Words 0 and 1 have two numbers each of queries lane / 4 and lane / 4 + 8, from dimension 2 * (lane % 4) on.
 * Words 2 and 3 have the same, 8 dimensions on. */
struct fragment_of_queries {
    uint32_t words[4];
};

/* Loads a fragment of 16 queries and flips the signs. */
template <typename Number>
__device__ inline fragment_of_queries negative_fragment(const Number *from, uint32_t pitch) {
    static_assert(sizeof(Number) == 2, "two of them are a word");
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t *word = (const uint32_t *)(from + lane / 4 * pitch) + lane % 4;
    const uint32_t signs = 0x80008000u;
    return {{word[0] ^ signs, word[4 * pitch] ^ signs, word[4] ^ signs, word[4 * pitch + 4] ^ signs}};
}

/* Loads four matrices of 8 rows of 16 bytes. Lanes 8 * i to 8 * i + 7 give the addresses of matrix i. */
__device__ inline uint4 load_matrices(const uint4 *row) {
    uint4 to;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
                 : "r"((uint32_t)__cvta_generic_to_shared(row))
                 : "memory");
    return to;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800

__device__ inline float2 floats_of(uint32_t word, const __half *) {
    return __half22float2(*(const __half2 *)&word);
}

__device__ inline float2 floats_of(uint32_t word, const __nv_bfloat16 *) {
    return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u));
}

/* Adds the products of two dimensions. */
template <typename Number> __device__ inline float add_products(float sum, uint32_t query, uint32_t vector) {
    const float2 q = floats_of(query, (const Number *)nullptr),
                 v = floats_of(vector, (const Number *)nullptr);
    return fmaf(q.y, v.y, fmaf(q.x, v.x, sum));
}

/* A function of its own: the loops around its calls are unrolled. */
template <typename Number>
__device__ __noinline__ float4 sums_with_products(float4 sums, uint4 queries, uint32_t vectors,
                                                  uint32_t further) {
    const uint32_t all = 0xffffffffu, lane = threadIdx.x % 32;
#pragma unroll 1
    for (uint32_t i = 0; i < 4; i++) {
        const int from = (int)(lane / 4 * 4 + i), first = (int)(lane % 4 * 8 + i), second = first + 4;
        const uint32_t q0 = __shfl_sync(all, queries.x, from), q1 = __shfl_sync(all, queries.y, from);
        const uint32_t q2 = __shfl_sync(all, queries.z, from), q3 = __shfl_sync(all, queries.w, from);
        const uint32_t v0 = __shfl_sync(all, vectors, first), v1 = __shfl_sync(all, vectors, second);
        const uint32_t f0 = __shfl_sync(all, further, first), f1 = __shfl_sync(all, further, second);
        sums.x = add_products<Number>(add_products<Number>(sums.x, q0, v0), q2, f0);
        sums.y = add_products<Number>(add_products<Number>(sums.y, q0, v1), q2, f1);
        sums.z = add_products<Number>(add_products<Number>(sums.z, q1, v0), q3, f0);
        sums.w = add_products<Number>(add_products<Number>(sums.w, q1, v1), q3, f1);
    }
    return sums;
}

template <typename Number>
__device__ inline void multiply_add(float (&sums)[4], const fragment_of_queries &queries, uint32_t vectors,
                                    uint32_t further) {
    const uint32_t *q = queries.words;
    const float4 more = sums_with_products<Number>(make_float4(sums[0], sums[1], sums[2], sums[3]),
                                                   make_uint4(q[0], q[1], q[2], q[3]), vectors, further);
    sums[0] = more.x;
    sums[1] = more.y;
    sums[2] = more.z;
    sums[3] = more.w;
}

#else

#define TOPK_EXAMPLE_MULTIPLY(type)                                                                          \
    "mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "       \
    "{%8, %9}, {%0, %1, %2, %3};"

/* Adds to the sums of queries lane / 4 and lane / 4 + 8, and of vectors 2 * (lane % 4) and the next.
 * `vectors` has two numbers of vector lane / 4, `further` those 8 dimensions on. */
template <typename Number>
__device__ inline void multiply_add(float (&sums)[4], const fragment_of_queries &queries, uint32_t vectors,
                                    uint32_t further) {
    const uint32_t *q = queries.words;
    if (is_bfloat16<Number>::value)
        asm(TOPK_EXAMPLE_MULTIPLY("bf16")
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
            : "r"(q[0]), "r"(q[1]), "r"(q[2]), "r"(q[3]), "r"(vectors), "r"(further));
    else
        asm(TOPK_EXAMPLE_MULTIPLY("f16")
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
            : "r"(q[0]), "r"(q[1]), "r"(q[2]), "r"(q[3]), "r"(vectors), "r"(further));
}

#endif

#endif
