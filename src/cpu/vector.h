/* SPDX-License-Identifier: Apache-2.0
 * What kernels.c asks of an instruction set: comparing a word of keys to a bit mask, and moving
 * the elements of a mask together. Included by kernels.c alone, after KEY_BITS and kint, the integer that
 * holds a key.
 *
 *   mask_above(keys, t)    bit i: keys[i] > t, for 64 keys
 *   mask_equal(keys, t)    bit i: keys[i] == t
 *   arcs_masks(...)        bit i: the place of element i is in an arc, for 64 elements and two arcs
 *   pack_word(...)         the elements of one mask word, moved together; may write up to PACK_SLACK
 *                          elements beyond the last
 *   pack_positions32(...)  the same for base + i */
#ifndef TOPK_SRC_CPU_VECTOR_H
#define TOPK_SRC_CPU_VECTOR_H

#define INLINE inline __attribute__((always_inline))

#if defined(__AVX512BW__)
#include <immintrin.h>

enum { PACK_SLACK = 16 };

#if KEY_BITS == 8
#define LANES 64
#define LOAD_SET(t) _mm512_set1_epi8((char)(t))
#define COMPARE_ABOVE(a, b) _mm512_cmpgt_epu8_mask(a, b)
#define COMPARE_EQUAL(a, b) _mm512_cmpeq_epu8_mask(a, b)
#elif KEY_BITS == 16
#define LANES 32
#define LOAD_SET(t) _mm512_set1_epi16((short)(t))
#define COMPARE_ABOVE(a, b) _mm512_cmpgt_epu16_mask(a, b)
#define COMPARE_EQUAL(a, b) _mm512_cmpeq_epu16_mask(a, b)
#elif KEY_BITS == 32
#define LANES 16
#define LOAD_SET(t) _mm512_set1_epi32((int)(t))
#define COMPARE_ABOVE(a, b) _mm512_cmpgt_epu32_mask(a, b)
#define COMPARE_EQUAL(a, b) _mm512_cmpeq_epu32_mask(a, b)
#else
#define LANES 8
#define LOAD_SET(t) _mm512_set1_epi64((long long)(t))
#define COMPARE_ABOVE(a, b) _mm512_cmpgt_epu64_mask(a, b)
#define COMPARE_EQUAL(a, b) _mm512_cmpeq_epu64_mask(a, b)
#endif

static inline uint64_t mask_above(const kint *keys, kint threshold) {
    const __m512i t = LOAD_SET(threshold);
    uint64_t mask = 0;
    for (unsigned i = 0; i < WORD; i += LANES) {
        mask |= (uint64_t)COMPARE_ABOVE(_mm512_loadu_si512(keys + i), t) << i;
    }
    return mask;
}

static inline uint64_t mask_equal(const kint *keys, kint threshold) {
    const __m512i t = LOAD_SET(threshold);
    uint64_t mask = 0;
    for (unsigned i = 0; i < WORD; i += LANES) {
        mask |= (uint64_t)COMPARE_EQUAL(_mm512_loadu_si512(keys + i), t) << i;
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

/* The masks of a word's vectors as one, joined in mask registers. */
static INLINE uint64_t join_masks(const __mmask64 *masks) {
#if LANES == 64
    return masks[0];
#elif LANES == 32
    return _mm512_kunpackd(masks[1], masks[0]);
#elif LANES == 16
    return _mm512_kunpackd(_mm512_kunpackw((__mmask32)masks[3], (__mmask32)masks[2]),
                           _mm512_kunpackw((__mmask32)masks[1], (__mmask32)masks[0]));
#else
    uint64_t joined = 0;
    for (unsigned i = 0; i < WORD / LANES; i++) {
        joined |= (uint64_t)masks[i] << i * LANES;
    }
    return joined;
#endif
}

struct arcs {
    __m512i keep, flip, add, a_begin, a_span, b_begin, b_span;
};

static inline struct arcs arcs_make(const struct placing *placing, const struct arc *a, const struct arc *b) {
    return (struct arcs){LOAD_SET(placing->keep), LOAD_SET(placing->flip), LOAD_SET(placing->add),
                         LOAD_SET(a->begin),      LOAD_SET(a->span),       LOAD_SET(b->begin),
                         LOAD_SET(b->span)};
}

static INLINE void arcs_masks(const struct arcs *arcs, const kint *elements, bool by_magnitude,
                              uint64_t *in_a, uint64_t *in_b) {
    __mmask64 a_bits[WORD / LANES], b_bits[WORD / LANES];
    for (unsigned i = 0; i < WORD / LANES; i++) {
        __m512i v = _mm512_loadu_si512(elements + i * LANES);
        v = by_magnitude ? _mm512_and_si512(v, arcs->keep) : v;
        const __m512i signs = SIGNS(v);
        v = _mm512_ternarylogic_epi64(v, signs, arcs->flip, 0x78); /* v ^ (signs & flip) */
        v = by_magnitude ? ADD(v, _mm512_and_si512(signs, arcs->add)) : v;
        a_bits[i] = COMPARE_WITHIN(SUBTRACT(v, arcs->a_begin), arcs->a_span);
        b_bits[i] = COMPARE_WITHIN(SUBTRACT(v, arcs->b_begin), arcs->b_span);
    }
    *in_a = join_masks(a_bits);
    *in_b = join_masks(b_bits);
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

#define HAVE_PACK_POSITIONS32
static inline size_t pack_positions32(uint64_t mask, uint32_t base, uint32_t *out) {
    const __m512i step = _mm512_set1_epi32(16);
    __m512i v = _mm512_add_epi32(_mm512_set1_epi32((int)base),
                                 _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    size_t count = 0;
    for (unsigned i = 0; i < WORD; i += 16) {
        const unsigned part = (unsigned)(mask >> i) & 0xffff;
        _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi32((__mmask16)part, v));
        count += (size_t)__builtin_popcount(part);
        v = _mm512_add_epi32(v, step);
    }
    return count;
}

#elif defined(__AVX2__)
#include <immintrin.h>

enum { PACK_SLACK = 8 };

#if KEY_BITS == 8
#define LANES 32
#define LOAD_SET(t) _mm256_set1_epi8((char)(t))
#define COMPARE_ABOVE(a, b) _mm256_cmpgt_epi8(a, b)
#define COMPARE_EQUAL(a, b) _mm256_cmpeq_epi8(a, b)
#define LANE_BITS(v) ((uint32_t)_mm256_movemask_epi8(v))
#elif KEY_BITS == 16
#define LANES 16
#define LOAD_SET(t) _mm256_set1_epi16((short)(t))
#define COMPARE_ABOVE(a, b) _mm256_cmpgt_epi16(a, b)
#define COMPARE_EQUAL(a, b) _mm256_cmpeq_epi16(a, b)
/* One bit of each byte pair. */
#define LANE_BITS(v) _pext_u32((uint32_t)_mm256_movemask_epi8(v), 0x55555555u)
#elif KEY_BITS == 32
#define LANES 8
#define LOAD_SET(t) _mm256_set1_epi32((int)(t))
#define COMPARE_ABOVE(a, b) _mm256_cmpgt_epi32(a, b)
#define COMPARE_EQUAL(a, b) _mm256_cmpeq_epi32(a, b)
#define LANE_BITS(v) ((uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(v)))
#else
#define LANES 4
#define LOAD_SET(t) _mm256_set1_epi64x((long long)(t))
#define COMPARE_ABOVE(a, b) _mm256_cmpgt_epi64(a, b)
#define COMPARE_EQUAL(a, b) _mm256_cmpeq_epi64(a, b)
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

static inline uint64_t mask_equal(const kint *keys, kint threshold) {
    const __m256i t = LOAD_SET(threshold);
    uint64_t mask = 0;
    for (unsigned i = 0; i < WORD; i += LANES) {
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(keys + i));
        mask |= (uint64_t)LANE_BITS(COMPARE_EQUAL(v, t)) << i;
    }
    return mask;
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

static inline struct arcs arcs_make(const struct placing *placing, const struct arc *a, const struct arc *b) {
    const uint64_t half = 1ull << (KEY_BITS - 1);
    return (struct arcs){LOAD_SET(placing->keep),   LOAD_SET(placing->flip),  LOAD_SET(placing->add),
                         LOAD_SET(a->begin - half), LOAD_SET(a->span - half), LOAD_SET(b->begin - half),
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

#else /* portable */

enum { PACK_SLACK = 0 };

/* 64 bytes of 0 or 1 to 64 bits: eight at a time, the product gathers the low bits of its bytes
 * in the top byte. */
static inline uint64_t flags_to_mask(const unsigned char *flags) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < WORD; i += 8) {
        uint64_t bits = 0;
        for (unsigned j = 0; j < 8; j++) {
            bits |= (uint64_t)flags[i + j] << 8 * j;
        }
        mask |= (bits * 0x0102040810204080u >> 56) << i;
    }
    return mask;
}

static inline uint64_t mask_above(const kint *keys, kint threshold) {
    unsigned char flags[WORD];
    for (unsigned i = 0; i < WORD; i++) {
        flags[i] = keys[i] > threshold;
    }
    return flags_to_mask(flags);
}

static inline uint64_t mask_equal(const kint *keys, kint threshold) {
    unsigned char flags[WORD];
    for (unsigned i = 0; i < WORD; i++) {
        flags[i] = keys[i] == threshold;
    }
    return flags_to_mask(flags);
}

struct arcs {
    kint keep, flip, add, a_begin, a_span, b_begin, b_span;
};

static inline struct arcs arcs_make(const struct placing *placing, const struct arc *a, const struct arc *b) {
    return (struct arcs){(kint)placing->keep, (kint)placing->flip, (kint)placing->add, (kint)a->begin,
                         (kint)a->span,       (kint)b->begin,      (kint)b->span};
}

static INLINE void arcs_masks(const struct arcs *arcs, const kint *elements, bool by_magnitude,
                              uint64_t *in_a, uint64_t *in_b) {
    const struct arcs c = *arcs;
    unsigned char a_flags[WORD], b_flags[WORD];
    (void)by_magnitude;
    for (unsigned i = 0; i < WORD; i++) {
        const kint u = elements[i] & c.keep;
        const kint negative = (kint)(0 - (u >> (KEY_BITS - 1)));
        const kint place = (kint)((u ^ (negative & c.flip)) + (negative & c.add));
        a_flags[i] = (kint)(place - c.a_begin) <= c.a_span;
        b_flags[i] = (kint)(place - c.b_begin) <= c.b_span;
    }
    *in_a = flags_to_mask(a_flags);
    *in_b = flags_to_mask(b_flags);
}

#endif

#endif
