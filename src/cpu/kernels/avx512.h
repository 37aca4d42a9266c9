/* SPDX-License-Identifier: Apache-2.0
 * vector.h for AVX-512 (F, BW, DQ and VL). */
#ifndef TOPK_SRC_CPU_KERNELS_AVX512_H
#define TOPK_SRC_CPU_KERNELS_AVX512_H

#include <immintrin.h>

#if KEY_BITS == 8
#define LANES 64
#define LOAD_SET(t) _mm512_set1_epi8((char)(t))
#define COMPARE_ABOVE(a, b) _mm512_cmpgt_epu8_mask(a, b)
#define COMPARE_FROM(a, b) _mm512_cmpge_epu8_mask(a, b)
#elif KEY_BITS == 16
#define LANES 32
#define LOAD_SET(t) _mm512_set1_epi16((short)(t))
#define COMPARE_ABOVE(a, b) _mm512_cmpgt_epu16_mask(a, b)
#define COMPARE_FROM(a, b) _mm512_cmpge_epu16_mask(a, b)
#elif KEY_BITS == 32
#define LANES 16
#define LOAD_SET(t) _mm512_set1_epi32((int)(t))
#define COMPARE_ABOVE(a, b) _mm512_cmpgt_epu32_mask(a, b)
#define COMPARE_FROM(a, b) _mm512_cmpge_epu32_mask(a, b)
#else
#define LANES 8
#define LOAD_SET(t) _mm512_set1_epi64((long long)(t))
#define COMPARE_ABOVE(a, b) _mm512_cmpgt_epu64_mask(a, b)
#define COMPARE_FROM(a, b) _mm512_cmpge_epu64_mask(a, b)
#endif

static inline uint64_t mask_above(const kint *keys, kint threshold) {
    const __m512i t = LOAD_SET(threshold);
    uint64_t mask = 0;
    for (unsigned i = 0; i < WORD; i += LANES) {
        mask |= (uint64_t)COMPARE_ABOVE(_mm512_loadu_si512(keys + i), t) << i;
    }
    return mask;
}

static inline uint64_t mask_from(const kint *keys, kint threshold) {
    const __m512i t = LOAD_SET(threshold);
    uint64_t mask = 0;
    for (unsigned i = 0; i < WORD; i += LANES) {
        mask |= (uint64_t)COMPARE_FROM(_mm512_loadu_si512(keys + i), t) << i;
    }
    return mask;
}

#if KEY_BITS == 8
#define SIGNS(v) _mm512_movm_epi8(_mm512_movepi8_mask(v))
#define ADD(a, b) _mm512_add_epi8(a, b)
#define SUBTRACT(a, b) _mm512_sub_epi8(a, b)
#define COMPARE_WITHIN(a, b) _mm512_cmple_epu8_mask(a, b)
#elif KEY_BITS == 16
#define SIGNS(v) _mm512_srai_epi16(v, 15)
#define ADD(a, b) _mm512_add_epi16(a, b)
#define SUBTRACT(a, b) _mm512_sub_epi16(a, b)
#define COMPARE_WITHIN(a, b) _mm512_cmple_epu16_mask(a, b)
#elif KEY_BITS == 32
#define SIGNS(v) _mm512_srai_epi32(v, 31)
#define ADD(a, b) _mm512_add_epi32(a, b)
#define SUBTRACT(a, b) _mm512_sub_epi32(a, b)
#define COMPARE_WITHIN(a, b) _mm512_cmple_epu32_mask(a, b)
#else
#define SIGNS(v) _mm512_srai_epi64(v, 63)
#define ADD(a, b) _mm512_add_epi64(a, b)
#define SUBTRACT(a, b) _mm512_sub_epi64(a, b)
#define COMPARE_WITHIN(a, b) _mm512_cmple_epu64_mask(a, b)
#endif

struct arcs {
    __m512i keep, flip, add, a_begin, a_span, b_begin, b_span;
};

static inline struct arcs arcs_make(const struct point_map *point_map, const struct arc *a,
                                    const struct arc *b) {
    return (struct arcs){LOAD_SET(point_map->keep), LOAD_SET(point_map->flip), LOAD_SET(point_map->add),
                         LOAD_SET(a->begin),        LOAD_SET(a->span),         LOAD_SET(b->begin),
                         LOAD_SET(b->span)};
}

static INLINE void arcs_masks(const struct arcs *arcs, const kint *elements, bool by_magnitude,
                              uint64_t *in_a, uint64_t *in_b) {
    uint64_t a_bits = 0, b_bits = 0;
    for (unsigned i = 0; i < WORD; i += LANES) {
        __m512i v = _mm512_loadu_si512(elements + i);
        v = by_magnitude ? _mm512_and_si512(v, arcs->keep) : v;
        const __m512i signs = SIGNS(v);
        v = _mm512_ternarylogic_epi64(v, signs, arcs->flip, 0x78); /* v ^ (signs & flip) */
        v = by_magnitude ? ADD(v, _mm512_and_si512(signs, arcs->add)) : v;
        a_bits |= (uint64_t)COMPARE_WITHIN(SUBTRACT(v, arcs->a_begin), arcs->a_span) << i;
        b_bits |= (uint64_t)COMPARE_WITHIN(SUBTRACT(v, arcs->b_begin), arcs->b_span) << i;
    }
    *in_a = a_bits;
    *in_b = b_bits;
}

/* A deposit finds the bit behind the first `count`, or 0 if there is none. */
static inline uint64_t first_bits(uint64_t mask, size_t count) {
    return count < WORD ? mask & (_pdep_u64(1ull << count, mask) - 1) : mask;
}

#if KEY_BITS >= 32
#define HAVE_PACK_WORD
static inline size_t pack_word(const kint *elements, uint64_t mask, kint *out) {
    size_t count = 0;
    for (unsigned i = 0; i < WORD; i += LANES) {
        const unsigned part = (unsigned)(mask >> i) & ((1u << LANES) - 1);
        const __m512i v = _mm512_loadu_si512(elements + i);
#if KEY_BITS == 32
        _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi32((__mmask16)part, v));
#else
        _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi64((__mmask8)part, v));
#endif
        count += (size_t)__builtin_popcount(part);
    }
    return count;
}
#endif

static inline __m512i positions_from(uint32_t base) {
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_add_epi32(numbers, _mm512_set1_epi32((int)base));
}

#define HAVE_PACK_POSITIONS32
static inline size_t pack_positions32(uint64_t mask, uint32_t base, uint32_t *out) {
    __m512i positions = positions_from(base);
    size_t count = 0;
    for (unsigned i = 0; i < WORD; i += 16) {
        const unsigned part = (unsigned)(mask >> i) & 0xffff;
        _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi32((__mmask16)part, positions));
        positions = _mm512_add_epi32(positions, _mm512_set1_epi32(16));
        count += (size_t)__builtin_popcount(part);
    }
    return count;
}

/* Stores a vector, or its lower half, which crosses fewer cache lines. */
static INLINE void store_lanes(void *out, __m512i v, bool half) {
    if (half) {
        _mm256_storeu_si256(out, _mm512_castsi512_si256(v));
    } else {
        _mm512_storeu_si512(out, v);
    }
}

static inline size_t pack_hits(const kint *elements, uint64_t mask, uint32_t base, bool sparse,
                               wide_kint *out, uint32_t *slots) {
    __m512i positions = positions_from(base);
    size_t count = 0;
    for (unsigned i = 0; i < WORD; i += 16) {
        const unsigned part = (unsigned)(mask >> i) & 0xffff, hits = (unsigned)__builtin_popcount(part);
        const bool half = sparse && __builtin_expect(hits <= 8, 1);
        store_lanes(slots + count, _mm512_maskz_compress_epi32((__mmask16)part, positions), half);
#if KEY_BITS == 64
        const __m512i low = _mm512_loadu_si512(elements + i), high = _mm512_loadu_si512(elements + i + 8);
        const __m512i kept = _mm512_maskz_compress_epi32((__mmask16)part, positions_from(0));
        const __m512i first = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(kept));
        _mm512_storeu_si512(out + count, _mm512_permutex2var_epi64(low, first, high));
        if (!half) {
            const __m512i second = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(kept, 1));
            _mm512_storeu_si512(out + count + 8, _mm512_permutex2var_epi64(low, second, high));
        }
#else
#if KEY_BITS == 32
        const __m512i v = _mm512_loadu_si512(elements + i);
#elif KEY_BITS == 16
        const __m512i v =
            _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(elements + i)));
#else
        const __m512i v =
            _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(elements + i)));
#endif
        store_lanes(out + count, _mm512_maskz_compress_epi32((__mmask16)part, v), half);
#endif
        positions = _mm512_add_epi32(positions, _mm512_set1_epi32(16));
        count += hits;
    }
    return count;
}

#if KEY_BITS == 32
#define HAVE_PACK_BEYOND
static INLINE size_t pack_beyond(const struct arcs *arcs, const kint *elements, uint64_t among, uint32_t base,
                                 bool by_magnitude, bool sparse, wide_kint *out, uint32_t *slots) {
    __m512i positions = positions_from(base);
    size_t count = 0;
    for (unsigned i = 0; i < WORD; i += 16) {
        const __m512i element = _mm512_loadu_si512(elements + i);
        __m512i v = by_magnitude ? _mm512_and_si512(element, arcs->keep) : element;
        const __m512i signs = SIGNS(v);
        v = _mm512_ternarylogic_epi64(v, signs, arcs->flip, 0x78); /* v ^ (signs & flip) */
        v = by_magnitude ? ADD(v, _mm512_and_si512(signs, arcs->add)) : v;
        const __mmask16 beyond = COMPARE_ABOVE(SUBTRACT(v, arcs->a_begin), arcs->a_span);
        const __mmask16 part = (__mmask16)(beyond & among >> i);
        const unsigned hits = (unsigned)__builtin_popcount(part);
        const bool half = sparse && __builtin_expect(hits <= 8, 1);
        store_lanes(slots + count, _mm512_maskz_compress_epi32(part, positions), half);
        store_lanes(out + count, _mm512_maskz_compress_epi32(part, element), half);
        positions = _mm512_add_epi32(positions, _mm512_set1_epi32(16));
        count += hits;
    }
    return count;
}
#endif

typedef __m512i lanes;
static inline void store_line(void *to, const void *from) {
    _mm512_stream_si512(to, _mm512_load_si512(from));
}

static inline void lines_stored(void) {
    _mm_sfence();
}

enum {
    WIDE_LANES = 512 / WIDE_BITS,
    RANK_MAX = KEY_BITS == 8 ? WORD : 3 * WORD,
    /* Sixteen keys are compared at once: up to RANK_MAX of these that is faster than the network. */
    STUBS_MIN = WIDE_BITS == 32 ? RANK_MAX + 1 : STUB_HITS_MIN,
};
static const wide_kint wide_flip = 0;

static inline lanes lanes_load(const wide_kint *keys) {
    return _mm512_loadu_si512(keys);
}

#if WIDE_BITS == 64
static inline lanes add_lanes(lanes a, lanes b) {
    return _mm512_add_epi64(a, b);
}

static inline lanes lanes_of(wide_kint key) {
    return _mm512_set1_epi64((long long)key);
}

static inline lanes add_above(lanes counts, lanes a, lanes b) {
    return _mm512_mask_sub_epi64(counts, _mm512_cmpgt_epu64_mask(a, b), counts, _mm512_set1_epi64(-1));
}
#else
static inline lanes add_lanes(lanes a, lanes b) {
    return _mm512_add_epi32(a, b);
}

static inline lanes lanes_of(wide_kint key) {
    return _mm512_set1_epi32((int)key);
}

static inline lanes add_above(lanes counts, lanes a, lanes b) {
    return _mm512_mask_sub_epi32(counts, _mm512_cmpgt_epu32_mask(a, b), counts, _mm512_set1_epi32(-1));
}
#endif

#endif
