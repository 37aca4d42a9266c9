/* SPDX-License-Identifier: Apache-2.0
 *
 * Making elements of any type out of doubles and bit patterns, for tests and benchmarks. */
#ifndef TESTS_ELEMENTS_H
#define TESTS_ELEMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "random.h"
#include "topk.h"

bool element_is_float(topk_type type);
int element_bits(topk_type type);

/* Stores the low bits of `bits` as element i. */
void element_put_bits(topk_type type, void *values, int64_t i, uint64_t bits);
uint64_t element_get_bits(topk_type type, const void *values, int64_t i);

/* Stores x as element i: floats rounded to nearest, ties to even; integers scaled so that [-4, 4)
 * covers the signed type of that width and [0, 8) the unsigned one. Both saturate at the largest
 * finite value. */
void element_put(topk_type type, void *values, int64_t i, double x);

/* Bit patterns with a meaning. Integers have extremes in place of infinities and NaN. */
uint64_t element_infinity(topk_type type, bool negative);
uint64_t element_largest(topk_type type, bool negative);
uint64_t element_zero(topk_type type, bool negative);
uint64_t element_random_nan(topk_type type, random_state *random);
uint64_t element_random_denormal(topk_type type, random_state *random);

#endif
