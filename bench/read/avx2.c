/* SPDX-License-Identifier: Apache-2.0 */
#include "read/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

enum { vectors = bench_read_step / sizeof(__m256i) };

static bool have_avx2(void) {
    return __builtin_cpu_supports("avx2");
}

AVX2 static inline __m256i load(const __m256i *at) {
    return _mm256_loadu_si256(at);
}

AVX2 static uint64_t reduce(__m256i v) {
    const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return (uint64_t)_mm_cvtsi128_si64(half) ^ (uint64_t)_mm_extract_epi64(half, 1);
}

AVX2 static uint64_t sum_x8(const unsigned char *begin, size_t steps) {
    const __m256i *in = (const __m256i *)(const void *)begin;
    __m256i sums[8] = {0};
    for (size_t i = 0; i < steps * vectors; i += 8) {
#pragma GCC unroll 8
        for (int lane = 0; lane < 8; ++lane) {
            sums[lane] = _mm256_add_epi64(sums[lane], load(in + i + lane));
        }
    }
    __m256i all = sums[0];
    for (int lane = 1; lane < 8; ++lane) {
        all = _mm256_add_epi64(all, sums[lane]);
    }
    return reduce(all);
}

AVX2 static uint64_t max_x4_ahead(const unsigned char *begin, size_t steps) {
    const __m256i *in = (const __m256i *)(const void *)begin;
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
    for (size_t i = 0; i < steps * vectors; i += 4) {
        __builtin_prefetch((const unsigned char *)(in + i) + bench_read_ahead);
        __builtin_prefetch((const unsigned char *)(in + i) + bench_read_ahead + 64);
        a = _mm256_max_epi32(a, load(in + i));
        b = _mm256_max_epi32(b, load(in + i + 1));
        c = _mm256_max_epi32(c, load(in + i + 2));
        d = _mm256_max_epi32(d, load(in + i + 3));
    }
    return reduce(_mm256_max_epi32(_mm256_max_epi32(a, b), _mm256_max_epi32(c, d)));
}

AVX2 static uint64_t max_streams(const unsigned char *begin, size_t steps) {
    const size_t quarter = steps / 4 * vectors;
    const __m256i *in = (const __m256i *)(const void *)begin;
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
    for (size_t i = 0; i < quarter; i += 2) {
        a = _mm256_max_epi32(a, _mm256_max_epi32(load(in + i), load(in + i + 1)));
        b = _mm256_max_epi32(b, _mm256_max_epi32(load(in + i + quarter), load(in + i + quarter + 1)));
        c = _mm256_max_epi32(c, _mm256_max_epi32(load(in + i + 2 * quarter), load(in + i + 2 * quarter + 1)));
        d = _mm256_max_epi32(d, _mm256_max_epi32(load(in + i + 3 * quarter), load(in + i + 3 * quarter + 1)));
    }
    for (size_t i = 4 * quarter; i < steps * vectors; ++i) {
        a = _mm256_max_epi32(a, load(in + i));
    }
    return reduce(_mm256_max_epi32(_mm256_max_epi32(a, b), _mm256_max_epi32(c, d)));
}

const bench_read_kernel bench_read_avx2[] = {
    {"avx2-x8", have_avx2, sum_x8},
    {"avx2-x4-ahead", have_avx2, max_x4_ahead},
    {"avx2-4-streams", have_avx2, max_streams},
};
const int bench_read_avx2_count = (int)(sizeof bench_read_avx2 / sizeof *bench_read_avx2);
#endif
