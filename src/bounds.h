/* SPDX-License-Identifier: Apache-2.0
 * Which elements meet a comparison with bounds, for the host and for kernels.
 *
 * The numbers of a type have ordinals: 0 for the least, ascending by value. A float's ordinal is its distance
 * from zero's, which is the bits of its magnitude; both zeros share one. A bound becomes an ordinal once it
 * is rounded to a number of the type, towards zero. All of this takes integers alone: it is exact for every
 * element and every bound, and independent of the caller's floating-point mode. */
#ifndef TOPK_SRC_BOUNDS_H
#define TOPK_SRC_BOUNDS_H

#include <assert.h>
#include <string.h>

#include "keys.h"

/* What kernels define to compile these functions for the device. */
#ifndef TOPK_BOUNDS_FUNCTION
#define TOPK_BOUNDS_FUNCTION static inline
#endif

/* The number (-1 if negative) * mantissa * 2^exponent. The top bit of the mantissa is set, but for zero,
 * whose exponent is below all others. Infinity is 2^1024. */
struct real {
    bool negative, is_infinite, is_nan;
    int32_t exponent;
    uint64_t mantissa;
};

TOPK_BOUNDS_FUNCTION struct real real_of_bound(const topk_bound *bound) {
    const uint64_t bits = bound->value.u64, sign = (uint64_t)1 << 63, infinity = (uint64_t)0x7ff << 52;
    struct real real = {false, false, false, 0, bits};
    uint32_t type, step; /* the type may be none of the enumeration */
    static_assert(sizeof type == sizeof bound->type, "enumerations have 32 bits");
    memcpy(&type, &bound->type, sizeof type);
    real.negative = type != TOPK_BOUND_U64 && bits >= sign;
    if (type == TOPK_BOUND_I64) {
        real.mantissa = real.negative ? 0 - bits : bits;
    } else if (type != TOPK_BOUND_U64) {
        const uint64_t size = bits & (sign - 1), hidden = (uint64_t)1 << 52;
        real.is_infinite = size == infinity;
        real.is_nan = size > infinity;
        real.mantissa = size < hidden ? size : (size & (hidden - 1)) | hidden;
        real.exponent = (int32_t)(size < hidden ? 1 : size / hidden) - 1075;
    }
    for (step = 32; step > 0; step /= 2) {
        if (real.mantissa >> (64 - step) == 0) {
            real.mantissa <<= step;
            real.exponent -= (int32_t)step;
        }
    }
    if (real.mantissa == 0) {
        real.exponent = -4096;
    }
    return real;
}

struct ordinals {
    struct type_traits traits;
    uint64_t zero, last;
};

TOPK_BOUNDS_FUNCTION struct ordinals ordinals_of(const struct type_traits *traits) {
    const uint64_t sign = (uint64_t)1 << (traits->bits - 1);
    const struct ordinals of_floats = {*traits, traits->infinity, 2 * traits->infinity};
    const struct ordinals of_integers = {*traits, traits->is_signed ? sign : 0, sign | (sign - 1)};
    return traits->is_float ? of_floats : of_integers;
}

/* How far a number's ordinal lies from zero's. */
struct distance {
    uint64_t ordinals;
    bool exact; /* otherwise the number had to be rounded */
};

/* Rounds towards zero: drops the lowest bits of the mantissa. For floats `field` is the exponent as it is
 * stored; the mantissa's top bit, which is not stored, adds 1 to it. */
TOPK_BOUNDS_FUNCTION struct distance distance_of(const struct ordinals *o, const struct real *real) {
    const struct type_traits *traits = &o->traits;
    const uint32_t fraction_bits = traits->mantissa_bits;
    const uint64_t fraction_ones = ((uint64_t)1 << fraction_bits) - 1;
    const bool has_infinity = traits->is_float && (traits->infinity & fraction_ones) == 0;
    const uint64_t largest = has_infinity && !real->is_infinite ? traits->infinity - 1
                             : real->negative                   ? o->zero
                                                                : o->last - o->zero;
    int32_t dropped = -real->exponent;
    struct distance d = {0, real->mantissa == 0};
    if (traits->is_float) {
        const int32_t bias = (1 << (traits->bits - 2 - fraction_bits)) - 1,
                      field = real->exponent + 63 + bias;
        dropped = 63 - (int32_t)fraction_bits + (field < 1 ? 1 - field : 0);
        d.ordinals = field < 1 ? 0 : (uint64_t)(field - 1) << fraction_bits;
    }
    if (dropped >= 0 && dropped < 64) {
        d.ordinals += real->mantissa >> dropped;
        d.exact = real->mantissa >> dropped << dropped == real->mantissa;
    }
    if (dropped < 0 || d.ordinals > largest) {
        d.ordinals = largest;
        d.exact = has_infinity && real->is_infinite;
    }
    return d;
}

/* The first ordinal whose number is at least `real`, or above it if `strictly`; false if there is none. */
TOPK_BOUNDS_FUNCTION bool first_ordinal(const struct ordinals *o, const struct real *real, bool strictly,
                                        uint64_t *ordinal) {
    const struct distance d = distance_of(o, real);
    const bool next = d.exact ? strictly : !real->negative;
    *ordinal = real->negative ? o->zero - d.ordinals : o->zero + d.ordinals;
    if (next && *ordinal == o->last) {
        return false;
    }
    *ordinal += next ? 1 : 0;
    return true;
}

/* The ends of an ordinal's class on the circle of points: -0.0 is one point below +0.0, and so are all
 * negative floats. */
TOPK_BOUNDS_FUNCTION uint64_t first_point(const struct ordinals *o, uint64_t ordinal) {
    return ordinal - o->zero - (o->traits.is_float && ordinal <= o->zero ? 1 : 0);
}

TOPK_BOUNDS_FUNCTION uint64_t last_point(const struct ordinals *o, uint64_t ordinal) {
    return ordinal - o->zero - (o->traits.is_float && ordinal < o->zero ? 1 : 0);
}

/* The ordinals [begin, end] whose numbers lie between the bounds; false if there are none. The kinds differ
 * in which end is open and which bound closes it. */
TOPK_BOUNDS_FUNCTION bool ordinals_between(const struct ordinals *o, topk_predicate_kind kind,
                                           const struct real *low, const struct real *high, uint64_t *begin,
                                           uint64_t *end) {
    uint64_t beyond;
    *begin = 0;
    *end = o->last;
    if (kind != TOPK_LT && kind != TOPK_LE && !first_ordinal(o, low, kind == TOPK_GT, begin)) {
        return false;
    }
    if (kind != TOPK_GT && kind != TOPK_GE && first_ordinal(o, high, kind != TOPK_LT, &beyond)) {
        if (beyond == 0) {
            return false;
        }
        *end = beyond - 1;
    }
    return *begin <= *end;
}

/* The elements of a type that meet a comparison. `high` is read if the kind has two bounds. NaN meets NE
 * alone: it lies in no arc of numbers, but in the rest of the circle. */
TOPK_BOUNDS_FUNCTION struct match match_of_bounds(topk_predicate_kind kind, const topk_bound *low,
                                                  const topk_bound *high, const struct type_traits *traits) {
    const struct ordinals o = ordinals_of(traits);
    const uint64_t ones = UINT64_MAX >> (64 - traits->bits);
    const struct real from = real_of_bound(low), to = kind == TOPK_BETWEEN ? real_of_bound(high) : from;
    struct match match = {{0, ones}, false};
    uint64_t begin, end;
    if (from.is_nan || to.is_nan || !ordinals_between(&o, kind, &from, &to, &begin, &end)) {
        match.none = kind != TOPK_NE;
        return match;
    }
    begin = first_point(&o, begin);
    end = last_point(&o, end);
    match.arc.begin = (kind == TOPK_NE ? end + 1 : begin) & ones;
    match.arc.span = (kind == TOPK_NE ? begin - end - 2 : end - begin) & ones;
    return match;
}

#endif
