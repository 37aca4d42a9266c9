/* SPDX-License-Identifier: Apache-2.0
 * short_lanes of network.c: eight integers, for AVX2, and for AVX-512. */
#ifndef TOPK_SRC_CPU_KERNELS_AVX2_LANES_H
#define TOPK_SRC_CPU_KERNELS_AVX2_LANES_H

#include <immintrin.h>

typedef __m256i short_lanes;
enum { SHORT_LANES = 8 };

static inline short_lanes lesser_lanes(short_lanes a, short_lanes b) {
    return _mm256_min_epu32(a, b);
}

static inline short_lanes greater_lanes(short_lanes a, short_lanes b) {
    return _mm256_max_epu32(a, b);
}

static INLINE short_lanes lanes_across(short_lanes v, unsigned distance) {
    switch (distance) {
    case 1:
        return _mm256_shuffle_epi32(v, 0xb1);
    case 2:
        return _mm256_shuffle_epi32(v, 0x4e);
    case 3:
        return _mm256_shuffle_epi32(v, 0x1b);
    default:
        return _mm256_permute4x64_epi64(_mm256_shuffle_epi32(v, 0x1b), 0x4e);
    }
}

static INLINE short_lanes lanes_by_bit(short_lanes clear, short_lanes set, unsigned bit) {
    return bit == 1   ? _mm256_blend_epi32(clear, set, 0xaa)
           : bit == 2 ? _mm256_blend_epi32(clear, set, 0xcc)
                      : _mm256_blend_epi32(clear, set, 0xf0);
}

static INLINE void store_columns(const short_lanes *v, uint32_t *columns, size_t stride) {
    short_lanes a[8], b[8];
    for (unsigned i = 0; i < 8; i += 2) {
        a[i] = _mm256_unpacklo_epi32(v[i], v[i + 1]);
        a[i + 1] = _mm256_unpackhi_epi32(v[i], v[i + 1]);
    }
    for (unsigned i = 0; i < 8; i += 4) {
        b[i] = _mm256_unpacklo_epi64(a[i], a[i + 2]);
        b[i + 1] = _mm256_unpackhi_epi64(a[i], a[i + 2]);
        b[i + 2] = _mm256_unpacklo_epi64(a[i + 1], a[i + 3]);
        b[i + 3] = _mm256_unpackhi_epi64(a[i + 1], a[i + 3]);
    }
    for (unsigned i = 0; i < 4; i++) {
        _mm256_storeu_si256((__m256i *)(void *)(columns + i * stride),
                            _mm256_permute2x128_si256(b[i], b[i + 4], 0x20));
        _mm256_storeu_si256((__m256i *)(void *)(columns + (i + 4) * stride),
                            _mm256_permute2x128_si256(b[i], b[i + 4], 0x31));
    }
}

#endif
