/* SPDX-License-Identifier: Apache-2.0
 * Bounds that the device reads. */
#ifndef TOPK_SRC_CUDA_PREDICATE_BOUNDS_CUH
#define TOPK_SRC_CUDA_PREDICATE_BOUNDS_CUH

#include "../simt.cuh"
#include "args.h"

#define TOPK_BOUNDS_FUNCTION TOPK_DEVICE
#include "../../bounds.h"

TOPK_DEVICE uint64_t read_element(const void *element, uint32_t bits) {
    return bits == 8    ? *(const uint8_t *)element
           : bits == 16 ? *(const uint16_t *)element
           : bits == 32 ? *(const uint32_t *)element
                        : *(const uint64_t *)element;
}

/* The points of numbers that rank by value at or above one, whose bits are given: from its class to the best,
 * or from the best to its class. NaN lie between +infinity and -infinity, at one end of all. */
TOPK_DEVICE struct match at_least_by_value(const struct device_bounds &b, uint64_t element) {
    const struct type_traits &t = b.traits;
    const uint64_t ones = UINT64_MAX >> (64 - t.bits), sign = ones ^ ones >> 1, magnitude = element & ~sign;
    const uint64_t nan_first = t.infinity + 1, nan_last = ones - t.infinity - 1;
    const uint64_t least = t.is_signed ? sign : 0; /* of integers */
    uint64_t worst = b.largest ? least : least - 1, first = element, last = element;
    if (t.is_float) {
        first = last = element & sign ? element ^ (ones >> 1) : element;
        if (magnitude > t.infinity) {
            first = nan_first;
            last = nan_last;
        } else if (magnitude == 0) {
            first = ones;
            last = 0;
        }
        worst = b.largest ? (b.nan_best ? nan_last + 1 : nan_first) : (b.nan_best ? nan_first - 1 : nan_last);
    }
    const uint64_t begin = b.largest ? first : worst + 1, end = b.largest ? worst - 1 : last;
    return {{begin & ones, (end - begin) & ones}, false};
}

/* The same by magnitude: all but what lies between -|x| and |x|, with NaN, which are best; or what lies
 * there, both ends included. */
TOPK_DEVICE struct match at_least_by_magnitude(const struct device_bounds &b, uint64_t element) {
    const struct type_traits &t = b.traits;
    const uint64_t ones = UINT64_MAX >> (64 - t.bits), sign = ones ^ ones >> 1;
    const uint64_t plus = (t.is_float ? element & ~sign : element & sign ? 0 - element : element) & ones;
    const uint64_t minus = (t.is_float ? ones - plus : 0 - plus) & ones;
    const uint64_t nan_first = t.infinity + 1, nan_last = ones - t.infinity - 1;
    if (t.is_float && plus > t.infinity && b.largest)
        return {{nan_first, (nan_last - nan_first) & ones}, false};
    /* All: NaN, which are worst; an integer's least or greatest magnitude. */
    if (t.is_float ? plus > t.infinity : plus == (b.largest ? 0 : sign))
        return {{0, ones}, false};
    const uint64_t begin = b.largest ? plus : minus, end = b.largest ? minus : plus;
    return {{begin, (end - begin) & ones}, false};
}

/* Reads the bounds, if the device has to, and leaves the match for later launches. One thread of the launch
 * does it. */
TOPK_DEVICE void read_bounds(const struct predicate_args &p) {
    const struct device_bounds &b = p.bounds;
    if (b.values == nullptr || simt_block() != 0 || simt_thread() != 0)
        return;
    if (b.kind == TOPK_AT_LEAST) {
        const uint64_t element = read_element(b.values, b.traits.bits);
        const bool has_sign = b.traits.is_float || b.traits.is_signed;
        *b.found =
            b.by_magnitude && has_sign ? at_least_by_magnitude(b, element) : at_least_by_value(b, element);
    } else {
        const topk_bound *bounds = (const topk_bound *)b.values;
        *b.found = match_of_bounds(b.kind, &bounds[0], &bounds[1], &b.traits);
    }
}

#endif
