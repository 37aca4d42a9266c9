/* SPDX-License-Identifier: Apache-2.0
 * vector.h for NEON, which every 64-bit Arm processor has.
 *
 * No instruction of NEON makes a bit mask of comparisons. But a shift that inserts can put the flags of one
 * vector above the flags of the vectors before it: each lane keeps one bit of each vector, or as many bits as
 * there are lanes, so that the bits of other lanes fit in between. What a lane has no claim to is masked at
 * the end, and the lanes are added up. That takes little more than one instruction for each vector. */
#ifndef TOPK_SRC_CPU_KERNELS_NEON_H
#define TOPK_SRC_CPU_KERNELS_NEON_H

#include <arm_neon.h>

#include "lanes16.h"

/* A word is CHAINS chains of vectors, whose flags are folded from the first vector to the last: FOLD(flags,
 * before) shifts the flags before down and inserts them below a vector's flags. */
#if KEY_BITS == 8
typedef uint8x16_t vector;
typedef int8x16_t signed_vector;
typedef uint8x16x4_t four_vectors;
enum { CHAINS = 1 };
#define FOLD(flags, before) vsriq_n_u8(flags, before, 1)
#define MAGNITUDE(v) vabsq_s8(v)
#define SELECT(flags, a, b) vbslq_u8(flags, a, b)
#define LOAD(elements) vld1q_u8_x4(elements)
#elif KEY_BITS == 16
typedef uint16x8_t vector;
typedef int16x8_t signed_vector;
typedef uint16x8x4_t four_vectors;
enum { CHAINS = 4 };
#define FOLD(flags, before) vsriq_n_u16(flags, before, 8)
#define MAGNITUDE(v) vabsq_s16(v)
#define SELECT(flags, a, b) vbslq_u16(flags, a, b)
#define LOAD(elements) vld1q_u16_x4(elements)
#elif KEY_BITS == 32
typedef uint32x4_t vector;
typedef int32x4_t signed_vector;
typedef uint32x4x4_t four_vectors;
enum { CHAINS = 2 };
#define FOLD(flags, before) vsriq_n_u32(flags, before, 4)
#define MAGNITUDE(v) vabsq_s32(v)
#define SELECT(flags, a, b) vbslq_u32(flags, a, b)
#define LOAD(elements) vld1q_u32_x4(elements)
#else
typedef uint64x2_t vector;
typedef int64x2_t signed_vector;
typedef uint64x2x4_t four_vectors;
enum { CHAINS = 1 };
#define FOLD(flags, before) vsriq_n_u64(flags, before, 2)
#define MAGNITUDE(v) vabsq_s64(v)
#define SELECT(flags, a, b) vbslq_u64(flags, a, b)
#define LOAD(elements) vld1q_u64_x4(elements)
#endif

enum { LANES = 128 / KEY_BITS, VECTORS = WORD / LANES, CHAIN = VECTORS / CHAINS };

static INLINE vector vector_of(uint64_t number) {
    return (kint)number - (vector){0};
}

/* Folds the flags of vector i of a word. */
static INLINE void fold(vector *folded, unsigned i, vector flags) {
    folded[i / CHAIN] = i % CHAIN == 0 ? flags : FOLD(flags, folded[i / CHAIN]);
}

/* The four vectors from element i of a word on. Elements of 8 bits are dealt out: lane j of vector v has
 * element 4 * j + v, so that a lane's four bits are neighbours. */
static INLINE four_vectors load_for_mask(const kint *elements) {
#if KEY_BITS == 8
    return vld4q_u8(elements);
#else
    return LOAD(elements);
#endif
}

/* The mask of a word, from the folded flags of its chains. */
static INLINE uint64_t mask_of(const vector *folded) {
#if KEY_BITS == 8
    const vector twice = vsriq_n_u8(folded[0], folded[0], 4); /* four bits are valid, the upper ones */
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(twice), 4)), 0);
#elif KEY_BITS == 16
    const vector own = {0x0101, 0x0202, 0x0404, 0x0808, 0x1010, 0x2020, 0x4040, 0x8080};
    const vector sums = vpaddq_u16(vpaddq_u16(folded[0] & own, folded[1] & own),
                                   vpaddq_u16(folded[2] & own, folded[3] & own));
    return vgetq_lane_u64(vreinterpretq_u64_u16(vpaddq_u16(sums, sums)), 0);
#elif KEY_BITS == 32
    const vector own = {0x11111111, 0x22222222, 0x44444444, 0x88888888};
    const vector sums = vpaddq_u32(folded[0] & own, folded[1] & own);
    return vgetq_lane_u64(vreinterpretq_u64_u32(vpaddq_u32(sums, sums)), 0);
#else
    const vector own = {0x5555555555555555, 0xaaaaaaaaaaaaaaaa};
    return vaddvq_u64(folded[0] & own);
#endif
}

static INLINE uint64_t mask_compared(const kint *keys, kint threshold, bool or_equal) {
    const vector t = vector_of(threshold);
    vector folded[CHAINS];
#pragma GCC unroll 8
    for (unsigned i = 0; i < VECTORS; i += 4) {
        const four_vectors four = load_for_mask(keys + i * LANES);
        for (unsigned j = 0; j < 4; j++) {
            fold(folded, i + j, or_equal ? (vector)(four.val[j] >= t) : (vector)(four.val[j] > t));
        }
    }
    return mask_of(folded);
}

static inline uint64_t mask_above(const kint *keys, kint threshold) {
    return mask_compared(keys, threshold, false);
}

static inline uint64_t mask_from(const kint *keys, kint threshold) {
    return mask_compared(keys, threshold, true);
}

/* By magnitude what adds to a negative number is part of its absolute value. */
static INLINE void word_keys_as(const kint *elements, const struct map *map, bool by_magnitude, kint *keys) {
    const vector keep = vector_of(map->keep), magnitude = vector_of(map->magnitude);
    const vector positive = vector_of(map->flip_positive), change = vector_of(map->flip_change);
    const vector largest = vector_of(map->largest_number);
    const vector zero = vector_of(map->zero_key), nan = vector_of(map->nan_key);
#pragma GCC unroll 8
    for (unsigned i = 0; i < WORD; i += 4 * LANES) {
        const four_vectors four = LOAD(elements + i);
        vector four_keys[4];
        for (unsigned j = 0; j < 4; j++) {
            const vector u = by_magnitude ? four.val[j] & keep : four.val[j], size = u & magnitude;
            const vector signs = (vector)((signed_vector)u >> (KEY_BITS - 1));
            const vector key = by_magnitude ? (vector)MAGNITUDE((signed_vector)u) : u ^ (signs & change);
            const vector number = SELECT((vector)(size == 0), zero, key ^ positive);
            four_keys[j] = SELECT((vector)(size > largest), nan, number);
        }
        memcpy(keys + i, four_keys, sizeof four_keys);
    }
}

#define HAVE_WORD_KEYS
static inline void word_keys(const kint *elements, const struct map *map, kint *keys) {
    if (map->keep == (kint)UINT64_MAX && map->add_negative == 0) {
        word_keys_as(elements, map, false, keys);
    } else {
        word_keys_as(elements, map, true, keys);
    }
}

struct arcs {
    vector keep, flip, a_begin, a_span, b_begin, b_span;
};

static inline struct arcs arcs_make(const struct point_map *point_map, const struct arc *a,
                                    const struct arc *b) {
    return (struct arcs){vector_of(point_map->keep), vector_of(point_map->flip), vector_of(a->begin),
                         vector_of(a->span),         vector_of(b->begin),        vector_of(b->span)};
}

/* By magnitude the point of a float is its bits but for the sign, and the point of an integer its absolute
 * value, masked in both cases. */
static INLINE vector points_of(const struct arcs *arcs, vector elements, bool by_magnitude) {
    if (by_magnitude) {
        return (vector)MAGNITUDE((signed_vector)(elements & arcs->keep));
    }
    const vector signs = (vector)((signed_vector)elements >> (KEY_BITS - 1));
    return elements ^ (signs & arcs->flip);
}

static INLINE void arcs_masks(const struct arcs *arcs, const kint *elements, bool by_magnitude,
                              uint64_t *in_a, uint64_t *in_b) {
    vector a_folded[CHAINS], b_folded[CHAINS];
#pragma GCC unroll 8
    for (unsigned i = 0; i < VECTORS; i += 4) {
        const four_vectors four = load_for_mask(elements + i * LANES);
        for (unsigned j = 0; j < 4; j++) {
            const vector point = points_of(arcs, four.val[j], by_magnitude);
            fold(a_folded, i + j, (vector)(point - arcs->a_begin <= arcs->a_span));
            fold(b_folded, i + j, (vector)(point - arcs->b_begin <= arcs->b_span));
        }
    }
    *in_a = mask_of(a_folded);
    *in_b = mask_of(b_folded);
}

/* The lanes of four that a mask keeps, in order, as the numbers of their bytes. */
#define LANE_BYTES(i) (0x03020100u + (i)*0x04040404u)
static const uint32_t kept_bytes[16][4] __attribute__((aligned(16))) = {
    {0},
    {LANE_BYTES(0)},
    {LANE_BYTES(1)},
    {LANE_BYTES(0), LANE_BYTES(1)},
    {LANE_BYTES(2)},
    {LANE_BYTES(0), LANE_BYTES(2)},
    {LANE_BYTES(1), LANE_BYTES(2)},
    {LANE_BYTES(0), LANE_BYTES(1), LANE_BYTES(2)},
    {LANE_BYTES(3)},
    {LANE_BYTES(0), LANE_BYTES(3)},
    {LANE_BYTES(1), LANE_BYTES(3)},
    {LANE_BYTES(0), LANE_BYTES(1), LANE_BYTES(3)},
    {LANE_BYTES(2), LANE_BYTES(3)},
    {LANE_BYTES(0), LANE_BYTES(2), LANE_BYTES(3)},
    {LANE_BYTES(1), LANE_BYTES(2), LANE_BYTES(3)},
    {LANE_BYTES(0), LANE_BYTES(1), LANE_BYTES(2), LANE_BYTES(3)},
};
static const uint8_t kept_count[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

static INLINE uint32x4_t kept_lanes(uint32x4_t bytes) {
    return bytes >> 26;
}

static INLINE uint32x4_t move_lanes(uint32x4_t v, uint32x4_t bytes) {
    return vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(v), vreinterpretq_u8_u32(bytes)));
}

#if KEY_BITS == 32
#define HAVE_PACK_WORD
static inline size_t pack_word(const kint *elements, uint64_t mask, kint *out) {
    const kint *const begin = out;
    for (unsigned i = 0; i < WORD; i += 4) {
        const unsigned part = (unsigned)(mask >> i) & 0xf;
        uint32x4_t v, bytes;
        memcpy(&v, elements + i, sizeof v);
        memcpy(&bytes, kept_bytes[part], sizeof bytes);
        v = move_lanes(v, bytes);
        memcpy(out, &v, sizeof v);
        out += kept_count[part];
    }
    return (size_t)(out - begin);
}
#endif

#define HAVE_PACK_POSITIONS32
static inline size_t pack_positions32(uint64_t mask, uint32_t base, uint32_t *out) {
    const uint32_t *const begin = out;
    for (unsigned i = 0; i < WORD; i += 4) {
        const unsigned part = (unsigned)(mask >> i) & 0xf;
        uint32x4_t bytes;
        memcpy(&bytes, kept_bytes[part], sizeof bytes);
        const uint32x4_t positions = kept_lanes(bytes) + (base + i);
        memcpy(out, &positions, sizeof positions);
        out += kept_count[part];
    }
    return (size_t)(out - begin);
}

#if KEY_BITS < 64
/* Four elements, widened. */
static INLINE uint32x4_t load_wide(const kint *elements) {
    kint four[4];
    memcpy(four, elements, sizeof four);
    return (uint32x4_t){four[0], four[1], four[2], four[3]};
}

static inline size_t pack_hits(const kint *elements, uint64_t mask, uint32_t base, bool sparse,
                               wide_kint *out, uint32_t *slots) {
    size_t count = 0;
    (void)sparse;
    for (unsigned i = 0; i < WORD; i += 4) {
        const unsigned part = (unsigned)(mask >> i) & 0xf;
        uint32x4_t bytes;
        memcpy(&bytes, kept_bytes[part], sizeof bytes);
        const uint32x4_t positions = kept_lanes(bytes) + (base + i);
        const uint32x4_t hits = move_lanes(load_wide(elements + i), bytes);
        memcpy(slots + count, &positions, sizeof positions);
        memcpy(out + count, &hits, sizeof hits);
        count += kept_count[part];
    }
    return count;
}
#else
/* A vector has two elements: to move them one by one is as short. */
static inline size_t pack_hits(const kint *elements, uint64_t mask, uint32_t base, bool sparse,
                               wide_kint *out, uint32_t *slots) {
    size_t count = 0;
    (void)sparse;
    for (; mask != 0; mask &= mask - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(mask);
        slots[count] = base + i;
        out[count++] = elements[i];
    }
    return count;
}
#endif

enum {
    RANK_MAX = KEY_BITS == 8 ? WORD : 3 * WORD,
    STUBS_MIN = STUB_HITS_MIN < 40 ? STUB_HITS_MIN : 40,
};

#endif
