/* SPDX-License-Identifier: Apache-2.0 */
#include "read/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))

enum { vectors = bench_read_step / sizeof(__m512i) };

static bool have_avx512(void) {
    return __builtin_cpu_supports("avx512f");
}

AVX512 static inline __m512i load(const __m512i *at) {
    return _mm512_loadu_si512(at);
}

AVX512 static uint64_t sum_x8(const unsigned char *begin, size_t steps) {
    const __m512i *in = (const __m512i *)(const void *)begin;
    __m512i sums[8] = {0};
    for (size_t i = 0; i < steps * vectors; i += 8) {
#pragma GCC unroll 8
        for (int lane = 0; lane < 8; ++lane) {
            sums[lane] = _mm512_add_epi64(sums[lane], load(in + i + lane));
        }
    }
    __m512i all = sums[0];
    for (int lane = 1; lane < 8; ++lane) {
        all = _mm512_add_epi64(all, sums[lane]);
    }
    return (uint64_t)_mm512_reduce_or_epi64(all);
}

AVX512 static uint64_t max_x4_ahead(const unsigned char *begin, size_t steps) {
    const __m512i *in = (const __m512i *)(const void *)begin;
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    for (size_t i = 0; i < steps * vectors; i += 4) {
#pragma GCC unroll 4
        for (int line = 0; line < 4; ++line) {
            __builtin_prefetch((const unsigned char *)(in + i + line) + bench_read_ahead);
        }
        a = _mm512_max_epi32(a, load(in + i));
        b = _mm512_max_epi32(b, load(in + i + 1));
        c = _mm512_max_epi32(c, load(in + i + 2));
        d = _mm512_max_epi32(d, load(in + i + 3));
    }
    return (uint64_t)_mm512_reduce_max_epi32(
        _mm512_max_epi32(_mm512_max_epi32(a, b), _mm512_max_epi32(c, d)));
}

AVX512 static uint64_t max_streams(const unsigned char *begin, size_t steps) {
    const size_t quarter = steps / 4 * vectors;
    const __m512i *in = (const __m512i *)(const void *)begin;
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    for (size_t i = 0; i < quarter; ++i) {
        a = _mm512_max_epi32(a, load(in + i));
        b = _mm512_max_epi32(b, load(in + i + quarter));
        c = _mm512_max_epi32(c, load(in + i + 2 * quarter));
        d = _mm512_max_epi32(d, load(in + i + 3 * quarter));
    }
    for (size_t i = 4 * quarter; i < steps * vectors; ++i) {
        a = _mm512_max_epi32(a, load(in + i));
    }
    return (uint64_t)_mm512_reduce_max_epi32(
        _mm512_max_epi32(_mm512_max_epi32(a, b), _mm512_max_epi32(c, d)));
}

const bench_read_kernel bench_read_avx512[] = {
    {"avx512-x8", have_avx512, sum_x8},
    {"avx512-x4-ahead", have_avx512, max_x4_ahead},
    {"avx512-4-streams", have_avx512, max_streams},
};
const int bench_read_avx512_count = (int)(sizeof bench_read_avx512 / sizeof *bench_read_avx512);
#endif
