/* SPDX-License-Identifier: Apache-2.0
 * The total order of CONTRACT.md section 1, as unsigned keys.
 *
 * The key of an element is an unsigned integer of the element's width; of two elements the better one
 * has the larger key, and elements that tie have the same key. A key_map holds the masks that turn
 * the bits of any type, under any direction, rank and NaN policy, into keys, so that code is
 * instantiated for the four widths and not for types. All fields are used at the element's width.
 *
 *   u    = bits & keep                             magnitude of floats: drop the sign
 *   key  = (u ^ flip_negative) + add_negative      if the top bit of u is set
 *          u ^ flip_positive                       otherwise
 *   key  = zero_key                                if (u & magnitude) == 0: both zeros
 *   key  = nan_key                                 if (u & magnitude) > largest_number
 *
 * Floats ascend when a set sign bit flips all bits and a clear one flips the sign; the opposite
 * direction complements every key. Key 0 and the all-ones key belong to NaN patterns of floats
 * in either direction, so a NaN can be given either of them without meeting a number. |x| of a negative
 * integer is ~x + 1, whose complement is x - 1. Integers have magnitude = all ones, so that only 0
 * itself counts as zero and nothing counts as NaN. */
#ifndef TOPK_SRC_KEYS_H
#define TOPK_SRC_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "topk.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "libtopk needs a little-endian machine"
#endif

struct key_map {
    uint64_t keep;
    uint64_t flip_negative;
    uint64_t add_negative;
    uint64_t flip_positive;
    uint64_t magnitude;
    uint64_t zero_key;
    uint64_t largest_number;
    uint64_t nan_key;
};

/* What the order needs to know of a type. */
struct type_traits {
    unsigned bits;
    bool is_float;
    bool is_signed;
    unsigned mantissa_bits; /* stored bits of the fraction; floats */
    uint64_t infinity;      /* bits of the largest number: +infinity, or e4m3's 448 */
    uint64_t quiet_nan;     /* bits of the NaN that topk_kth writes */
};

struct type_traits topk_type_traits(topk_type type);

/* Bits of a floating-point type's largest finite number. */
static inline uint64_t topk_largest_finite(const struct type_traits *traits) {
    const uint64_t fraction = traits->infinity & ((1ull << traits->mantissa_bits) - 1);
    return traits->infinity - (fraction == 0); /* e4m3's infinity is a number */
}

/* The bits of a narrow type's number, moved to where a float32 has exponent and fraction, are a number that
 * is smaller by 2 to this power: the difference between the biases. 0 for float32 and float64. */
static inline unsigned topk_bias_gap(const struct type_traits *traits) {
    const unsigned exponent_bits = traits->bits - 1 - traits->mantissa_bits;
    return ((traits->bits == 64 ? 1u << 10 : 1u << 7) - (1u << (exponent_bits - 1)));
}

/* Keys compare two elements. To compare a long row with one threshold there is a shorter way. Each
 * element has a point on a circle of 2^bits points:
 *
 *   ((bits & keep) ^ (flip if the top bit is set)) + (add if the top bit is set)
 *
 * The elements of a type lie on the circle in order, with both zeros side by side and the two runs of
 * NaN patterns joined. So any class of equal elements is one arc, and so are all elements up to a
 * class in the ranking, whatever the direction, rank and NaN policy. */
struct point_map {
    uint64_t keep, flip, add;
};

/* The points begin, begin + 1, ... begin + span, on the circle. */
struct arc {
    uint64_t begin, span;
};

/* The elements that match: those whose points lie in an arc, or none. Points are as predicate_order() has
 * them (predicate.h). */
struct match {
    struct arc arc;
    bool none;
};

/* What a threshold key means on the circle: the arc of its class, and the arc of all elements that are not
 * above it. A key that no element has counts as the next lower key that one has, or else as the lowest. */
struct threshold_arcs {
    struct arc equal, not_above;
    uint64_t key; /* of the class: the threshold, or the lower key that it counts as */
};

/* An order of elements. NaN is best or worst, whatever the direction. */
struct order {
    topk_type type;
    topk_direction direction;
    topk_rank rank;
    bool nan_best;
};

/* The order of a caller's options. */
struct order topk_order_of(topk_type type, topk_direction direction, topk_rank rank, topk_nan nan);

/* The same classes of equal elements, the worst first. Keys are the complements of the order's keys. */
struct order topk_order_reversed(const struct order *order);

struct key_map topk_key_map(const struct order *order);

struct point_map topk_point_map(const struct order *order);

/* Where the worst class begins if the ranking ascends on the circle, or ends if it descends. */
uint64_t topk_worst_point(const struct order *order, const struct point_map *point_map);

/* Where all NaN lie, of a float. */
struct arc topk_nan_arc(const struct order *order, const struct point_map *point_map);

struct threshold_arcs topk_threshold_arcs(const struct order *order, uint64_t key);

/* Bits of the element that stands for a key's class, as topk_kth writes it. */
uint64_t topk_key_decode(const struct order *order, uint64_t key);

/* Bits of the padding value. */
uint64_t topk_padding_bits(topk_type type, topk_direction direction);

static inline uint64_t topk_ones(unsigned bits) {
    return UINT64_MAX >> (64 - bits);
}

/* The key of one element, for code that is not instantiated by width. */
static inline uint64_t topk_key_encode(uint64_t element, unsigned bits, const struct key_map *map) {
    const uint64_t u = element & map->keep;
    const uint64_t size = u & map->magnitude;
    if (size == 0) {
        return map->zero_key;
    }
    if (size > map->largest_number) {
        return map->nan_key;
    }
    if (u >> (bits - 1)) {
        return ((u ^ map->flip_negative) + map->add_negative) & topk_ones(bits);
    }
    return u ^ map->flip_positive;
}

#endif
