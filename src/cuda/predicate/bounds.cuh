/* SPDX-License-Identifier: Apache-2.0
 * Bounds that the device reads: src/predicate.c for one thread.
 *
 * The numbers of a type have ordinals, which ascend by value: those of floats are their bits with the sign as
 * a number's, so that both zeros have 0. They are kept as unsigned integers, less the ordinal of the least
 * number. */
#ifndef TOPK_SRC_CUDA_PREDICATE_BOUNDS_CUH
#define TOPK_SRC_CUDA_PREDICATE_BOUNDS_CUH

#include <string.h>

#include "../simt.cuh"
#include "args.h"

/* A real number, sign * mantissa * 2^exponent. The top bit of the mantissa is set; zero has sign 0; infinity
 * has the largest exponent. */
struct exact_real {
    int32_t sign, exponent;
    uint64_t mantissa;
};

TOPK_DEVICE struct exact_real make_real(bool negative, uint64_t mantissa, int32_t exponent) {
    if (mantissa == 0)
        return exact_real{0, 0, 0};
    uint32_t shift = simt_clz(mantissa);
    return exact_real{negative ? -1 : 1, exponent - (int32_t)shift, mantissa << shift};
}

/* A float that is no NaN, from the bits of its magnitude. */
TOPK_DEVICE struct exact_real real_of_float(bool negative, uint64_t size, const struct type_traits &traits) {
    uint32_t fraction_bits = traits.mantissa_bits;
    int32_t exponent_max = (1 << (traits.bits - 1 - fraction_bits)) - 1, bias = exponent_max >> 1;
    uint64_t fraction = size & (((uint64_t)1 << fraction_bits) - 1);
    int32_t exponent = (int32_t)(size >> fraction_bits);
    if (size == traits.infinity && fraction == 0)
        return exact_real{negative ? -1 : 1, INT32_MAX, (uint64_t)1 << 63};
    if (exponent == 0)
        return make_real(negative, fraction, 1 - bias - (int32_t)fraction_bits);
    return make_real(negative, fraction | (uint64_t)1 << fraction_bits,
                     exponent - bias - (int32_t)fraction_bits);
}

TOPK_DEVICE int32_t compare_reals(const struct exact_real &a, const struct exact_real &b) {
    if (a.sign != b.sign)
        return a.sign < b.sign ? -1 : 1;
    if (a.exponent != b.exponent)
        return a.exponent < b.exponent ? -a.sign : a.sign;
    return a.mantissa == b.mantissa ? 0 : a.mantissa < b.mantissa ? -a.sign : a.sign;
}

TOPK_DEVICE struct exact_real real_of_bound(const topk_bound &bound, bool *is_nan) {
    const struct type_traits f64 = {64, true, true, 52, (uint64_t)0x7ff << 52, 0};
    const uint64_t bits = bound.value.u64, sign = (uint64_t)1 << 63;
    uint32_t type; /* may be none of the enumeration */
    static_assert(sizeof type == sizeof bound.type, "enumerations have 32 bits");
    memcpy(&type, &bound.type, sizeof type);
    *is_nan = false;
    if (type == TOPK_BOUND_U64)
        return make_real(false, bits, 0);
    if (type == TOPK_BOUND_I64)
        return make_real(bits >= sign, bits >= sign ? 0 - bits : bits, 0);
    *is_nan = (bits & (sign - 1)) > f64.infinity;
    return *is_nan ? exact_real{0, 0, 0} : real_of_float(bits >= sign, bits & (sign - 1), f64);
}

struct ordinals {
    struct type_traits traits;
    uint64_t zero, last;
};

TOPK_DEVICE struct ordinals ordinals_of(const struct type_traits &traits) {
    uint64_t sign = (uint64_t)1 << (traits.bits - 1), ones = sign | (sign - 1);
    if (traits.is_float)
        return ordinals{traits, traits.infinity, 2 * traits.infinity};
    return ordinals{traits, traits.is_signed ? sign : 0, ones};
}

TOPK_DEVICE struct exact_real real_of_ordinal(const struct ordinals &o, uint64_t ordinal) {
    bool negative = ordinal < o.zero;
    uint64_t size = negative ? o.zero - ordinal : ordinal - o.zero;
    return o.traits.is_float ? real_of_float(negative, size, o.traits) : make_real(negative, size, 0);
}

/* The first ordinal whose number is at least `bound`, or above it if `strictly`; last + 1 - which may be 0 -
 * with *none set if there is none. */
TOPK_DEVICE uint64_t first_ordinal(const struct ordinals &o, const struct exact_real &bound, bool strictly,
                                   bool *none) {
    const int32_t least = strictly ? 1 : 0;
    uint64_t low = 0, high = o.last;
    *none = compare_reals(real_of_ordinal(o, high), bound) < least;
    if (*none)
        return high + 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (compare_reals(real_of_ordinal(o, middle), bound) >= least)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The ends of an ordinal's class on the circle of places: -0.0 is one place below +0.0, and so are all
 * negative floats. */
TOPK_DEVICE uint64_t first_place(const struct ordinals &o, uint64_t ordinal) {
    return ordinal - o.zero - (o.traits.is_float && ordinal <= o.zero ? 1 : 0);
}

TOPK_DEVICE uint64_t last_place(const struct ordinals &o, uint64_t ordinal) {
    return ordinal - o.zero - (o.traits.is_float && ordinal < o.zero ? 1 : 0);
}

/* What topk_predicate_match() says of the bounds. */
TOPK_DEVICE struct match match_of_bounds(const struct device_bounds &b) {
    const struct ordinals o = ordinals_of(b.traits);
    const uint64_t sign = (uint64_t)1 << (b.traits.bits - 1), ones = sign | (sign - 1);
    const bool inverted = b.kind == TOPK_NE;
    const struct match nothing = {{0, ones}, !inverted};
    bool low_is_nan, high_is_nan = false, none;
    const struct exact_real low = real_of_bound(b.values[0], &low_is_nan);
    const struct exact_real high = b.kind == TOPK_BETWEEN ? real_of_bound(b.values[1], &high_is_nan) : low;
    if (low_is_nan || high_is_nan)
        return nothing;
    uint64_t begin = 0, end = o.last;
    if (b.kind != TOPK_LT && b.kind != TOPK_LE) {
        begin = first_ordinal(o, low, b.kind == TOPK_GT, &none);
        if (none)
            return nothing;
    }
    if (b.kind != TOPK_GT && b.kind != TOPK_GE) {
        uint64_t beyond = first_ordinal(o, high, b.kind != TOPK_LT, &none);
        if (!none && beyond == 0)
            return nothing;
        end = beyond - 1;
    }
    if (begin > end)
        return nothing;
    const uint64_t first = first_place(o, begin);
    return match{{first & ones, (last_place(o, end) - first) & ones}, inverted};
}

/* Reads the bounds, if the device has to, and leaves the match for later launches. In one thread of the
 * launch. */
TOPK_DEVICE void read_bounds(const struct predicate_args &p) {
    if (p.bounds.values != nullptr && simt_block() == 0 && simt_thread() == 0)
        *p.bounds.found = match_of_bounds(p.bounds);
}

#endif
