/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of a type that is known at run time, and bit patterns with a meaning. */
#ifndef TESTS_ELEMENTS_H
#define TESTS_ELEMENTS_H

#include "encode.h"
#include "random.h"

static inline EVERYWHERE int element_bits(topk_type type) {
    return element_format_of(type).bits;
}

/* Stores the low bits of `bits` as element i. */
static inline EVERYWHERE void element_put_bits(topk_type type, void *values, int64_t i, uint64_t bits) {
    switch (element_bits(type)) {
    case 8:
        ((uint8_t *)values)[i] = (uint8_t)bits;
        break;
    case 16:
        ((uint16_t *)values)[i] = (uint16_t)bits;
        break;
    case 32:
        ((uint32_t *)values)[i] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)values)[i] = bits;
    }
}

static inline EVERYWHERE uint64_t element_get_bits(topk_type type, const void *values, int64_t i) {
    switch (element_bits(type)) {
    case 8:
        return ((const uint8_t *)values)[i];
    case 16:
        return ((const uint16_t *)values)[i];
    case 32:
        return ((const uint32_t *)values)[i];
    default:
        return ((const uint64_t *)values)[i];
    }
}

/* What tests multiply numbers by: 1 for floats; for integers [-4, 4) then covers the signed type of that
 * width and [0, 8) the unsigned one. */
double element_scale(topk_type type);

/* Stores x, scaled, as element i. */
void element_put(topk_type type, void *values, int64_t i, double x);

/* Integers have extremes in place of infinities and NaN. */
uint64_t element_infinity(topk_type type, bool negative);
uint64_t element_largest(topk_type type, bool negative);
uint64_t element_zero(topk_type type, bool negative);
uint64_t element_random_nan(topk_type type, random_state *random);
uint64_t element_random_denormal(topk_type type, random_state *random);

#endif
