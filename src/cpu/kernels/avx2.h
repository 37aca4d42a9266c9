/* SPDX-License-Identifier: Apache-2.0
 * vector.h for AVX2 and BMI2. */
#ifndef TOPK_SRC_CPU_KERNELS_AVX2_H
#define TOPK_SRC_CPU_KERNELS_AVX2_H

#include <immintrin.h>

#if KEY_BITS == 8
#define LANES 32
#define LOAD_SET(t) _mm256_set1_epi8((char)(t))
#define COMPARE_ABOVE(a, b) _mm256_cmpgt_epi8(a, b)
#define LANE_BITS(v) ((uint32_t)_mm256_movemask_epi8(v))
#elif KEY_BITS == 16
#define LANES 16
#define LOAD_SET(t) _mm256_set1_epi16((short)(t))
#define COMPARE_ABOVE(a, b) _mm256_cmpgt_epi16(a, b)
/* One bit of each byte pair. */
#define LANE_BITS(v) _pext_u32((uint32_t)_mm256_movemask_epi8(v), 0x55555555u)
#elif KEY_BITS == 32
#define LANES 8
#define LOAD_SET(t) _mm256_set1_epi32((int)(t))
#define COMPARE_ABOVE(a, b) _mm256_cmpgt_epi32(a, b)
#define LANE_BITS(v) ((uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(v)))
#else
#define LANES 4
#define LOAD_SET(t) _mm256_set1_epi64x((long long)(t))
#define COMPARE_ABOVE(a, b) _mm256_cmpgt_epi64(a, b)
#define LANE_BITS(v) ((uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(v)))
#endif

/* AVX2 compares signed integers: flipping the top bit of both sides makes that an unsigned compare. */
static inline uint64_t mask_above(const kint *keys, kint threshold) {
    const __m256i top = LOAD_SET((kint)1 << (KEY_BITS - 1));
    const __m256i t = _mm256_xor_si256(LOAD_SET(threshold), top);
    uint64_t mask = 0;
    for (unsigned i = 0; i < WORD; i += LANES) {
        const __m256i v =
            _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(keys + i)), top);
        mask |= (uint64_t)LANE_BITS(COMPARE_ABOVE(v, t)) << i;
    }
    return mask;
}

static inline uint64_t mask_from(const kint *keys, kint threshold) {
    const __m256i top = LOAD_SET((kint)1 << (KEY_BITS - 1));
    const __m256i t = _mm256_xor_si256(LOAD_SET(threshold), top);
    uint64_t below = 0;
    for (unsigned i = 0; i < WORD; i += LANES) {
        const __m256i v =
            _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(keys + i)), top);
        below |= (uint64_t)LANE_BITS(COMPARE_ABOVE(t, v)) << i;
    }
    return ~below;
}

/* A deposit finds the bit behind the first `count`, or 0 if there is none. */
static inline uint64_t first_bits(uint64_t mask, size_t count) {
    return count < WORD ? mask & (_pdep_u64(1ull << count, mask) - 1) : mask;
}

#if KEY_BITS == 8
#define SIGNS(v) _mm256_cmpgt_epi8(_mm256_setzero_si256(), v)
#define ADD(a, b) _mm256_add_epi8(a, b)
#define SUBTRACT(a, b) _mm256_sub_epi8(a, b)
#elif KEY_BITS == 16
#define SIGNS(v) _mm256_srai_epi16(v, 15)
#define ADD(a, b) _mm256_add_epi16(a, b)
#define SUBTRACT(a, b) _mm256_sub_epi16(a, b)
#elif KEY_BITS == 32
#define SIGNS(v) _mm256_srai_epi32(v, 31)
#define ADD(a, b) _mm256_add_epi32(a, b)
#define SUBTRACT(a, b) _mm256_sub_epi32(a, b)
#else
#define SIGNS(v) _mm256_cmpgt_epi64(_mm256_setzero_si256(), v)
#define ADD(a, b) _mm256_add_epi64(a, b)
#define SUBTRACT(a, b) _mm256_sub_epi64(a, b)
#endif

/* Begins and spans are shifted by half the circle, so that the signed comparison serves. */
struct arcs {
    __m256i keep, flip, add, a_begin, a_span, b_begin, b_span;
};

static inline struct arcs arcs_make(const struct point_map *point_map, const struct arc *a,
                                    const struct arc *b) {
    const uint64_t half = 1ull << (KEY_BITS - 1);
    return (struct arcs){LOAD_SET(point_map->keep), LOAD_SET(point_map->flip), LOAD_SET(point_map->add),
                         LOAD_SET(a->begin - half), LOAD_SET(a->span - half),  LOAD_SET(b->begin - half),
                         LOAD_SET(b->span - half)};
}

static INLINE void arcs_masks(const struct arcs *arcs, const kint *elements, bool by_magnitude,
                              uint64_t *in_a, uint64_t *in_b) {
    uint64_t beyond_a = 0, beyond_b = 0;
    for (unsigned i = 0; i < WORD; i += LANES) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(elements + i));
        v = by_magnitude ? _mm256_and_si256(v, arcs->keep) : v;
        const __m256i signs = SIGNS(v);
        v = _mm256_xor_si256(v, _mm256_and_si256(signs, arcs->flip));
        v = by_magnitude ? ADD(v, _mm256_and_si256(signs, arcs->add)) : v;
        beyond_a |= (uint64_t)LANE_BITS(COMPARE_ABOVE(SUBTRACT(v, arcs->a_begin), arcs->a_span)) << i;
        beyond_b |= (uint64_t)LANE_BITS(COMPARE_ABOVE(SUBTRACT(v, arcs->b_begin), arcs->b_span)) << i;
    }
    *in_a = ~beyond_a;
    *in_b = ~beyond_b;
}

/* The lanes that a mask of 8 keeps, in order: spread the mask to nibbles, and let it extract from
 * the nibbles 0 to 7. */
static inline __m256i kept_lanes(unsigned mask) {
    const uint32_t nibbles = _pdep_u32(mask, 0x11111111u) * 0xf;
    const __m256i packed = _mm256_set1_epi32((int)_pext_u32(0x76543210u, nibbles));
    const __m256i shifts = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    return _mm256_and_si256(_mm256_srlv_epi32(packed, shifts), _mm256_set1_epi32(7));
}

#if KEY_BITS == 32
#define HAVE_PACK_WORD
static inline size_t pack_word(const kint *elements, uint64_t mask, kint *out) {
    size_t count = 0;
    for (unsigned i = 0; i < WORD; i += 8) {
        const unsigned part = (unsigned)(mask >> i) & 0xff;
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(elements + i));
        _mm256_storeu_si256((__m256i *)(void *)(out + count),
                            _mm256_permutevar8x32_epi32(v, kept_lanes(part)));
        count += (size_t)__builtin_popcount(part);
    }
    return count;
}
#endif

#define HAVE_PACK_POSITIONS32
static inline size_t pack_positions32(uint64_t mask, uint32_t base, uint32_t *out) {
    size_t count = 0;
    for (unsigned i = 0; i < WORD; i += 8) {
        const unsigned part = (unsigned)(mask >> i) & 0xff;
        const __m256i v = _mm256_add_epi32(_mm256_set1_epi32((int)(base + i)), kept_lanes(part));
        _mm256_storeu_si256((__m256i *)(void *)(out + count), v);
        count += (size_t)__builtin_popcount(part);
    }
    return count;
}

static inline size_t pack_hits(const kint *elements, uint64_t mask, uint32_t base, bool sparse,
                               wide_kint *out, uint32_t *slots) {
    size_t count = 0;
    (void)sparse;
    for (unsigned i = 0; i < WORD; i += 8) {
        const unsigned part = (unsigned)(mask >> i) & 0xff;
        const __m256i offsets = kept_lanes(part);
        _mm256_storeu_si256((__m256i *)(void *)(slots + count),
                            _mm256_add_epi32(_mm256_set1_epi32((int)(base + i)), offsets));
#if KEY_BITS == 64
        for (unsigned j = 0; j < 8; j++) {
            out[count + j] = elements[slots[count + j] - base];
        }
#else
#if KEY_BITS == 32
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(elements + i));
#elif KEY_BITS == 16
        const __m256i v =
            _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(elements + i)));
#else
        const __m256i v =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(elements + i)));
#endif
        _mm256_storeu_si256((__m256i *)(void *)(out + count), _mm256_permutevar8x32_epi32(v, offsets));
#endif
        count += (size_t)__builtin_popcount(part);
    }
    return count;
}

static inline void store_line(void *to, const void *from) {
    _mm256_stream_si256(to, _mm256_load_si256(from));
    _mm256_stream_si256((__m256i *)to + 1, _mm256_load_si256((const __m256i *)from + 1));
}

static inline void lines_stored(void) {
    _mm_sfence();
}

/* Signed comparisons serve keys whose top bits are flipped. */
typedef __m256i lanes;
enum {
    WIDE_LANES = 256 / WIDE_BITS,
    RANK_MAX = KEY_BITS == 8 ? WORD : 3 * WORD,
    STUBS_MIN = STUB_HITS_MIN,
};
static const wide_kint wide_flip = (wide_kint)1 << (WIDE_BITS - 1);

static inline lanes lanes_load(const wide_kint *keys) {
    return _mm256_loadu_si256((const __m256i *)(const void *)keys);
}

#if WIDE_BITS == 64
static inline lanes add_lanes(lanes a, lanes b) {
    return _mm256_add_epi64(a, b);
}

static inline lanes lanes_of(wide_kint key) {
    return _mm256_set1_epi64x((long long)key);
}

static inline lanes add_above(lanes counts, lanes a, lanes b) {
    return _mm256_sub_epi64(counts, _mm256_cmpgt_epi64(a, b));
}
#else
static inline lanes add_lanes(lanes a, lanes b) {
    return _mm256_add_epi32(a, b);
}

static inline lanes lanes_of(wide_kint key) {
    return _mm256_set1_epi32((int)key);
}

static inline lanes add_above(lanes counts, lanes a, lanes b) {
    return _mm256_sub_epi32(counts, _mm256_cmpgt_epi32(a, b));
}
#endif

#endif
