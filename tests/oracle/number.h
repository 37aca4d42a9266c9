/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements and bounds as exact real numbers, decoded field by field in integer arithmetic. The
 * floating-point unit takes no part, so that rounding and flush-to-zero modes cannot bend the answer. */
#ifndef TESTS_ORACLE_NUMBER_H
#define TESTS_ORACLE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "topk.h"

/* |x| = mantissa * 2^(exponent - 63). Normalised: the top bit of the mantissa is set, so two
 * magnitudes compare by exponent first, then by mantissa. Zero has the least exponent there is,
 * infinity the greatest, both with mantissa 0. */
typedef struct oracle_number {
    uint64_t mantissa;
    int exponent;
    int sign; /* -1, 0 or 1; 0 for both zeros */
    bool nan; /* then the rest means nothing */
} oracle_number;

size_t oracle_type_size(topk_type type);
oracle_number oracle_decode(topk_type type, const void *element);
oracle_number oracle_decode_bound(const topk_bound *bound);

/* Less than, equal to or greater than 0, as a is to b. Neither is NaN. Inline, as sorting takes most of the
 * oracle's time. */
static inline int oracle_compare_magnitudes(const oracle_number *a, const oracle_number *b) {
    if (a->exponent != b->exponent) {
        return a->exponent < b->exponent ? -1 : 1;
    }
    return (a->mantissa > b->mantissa) - (a->mantissa < b->mantissa);
}

static inline int oracle_compare(const oracle_number *a, const oracle_number *b) {
    if (a->sign != b->sign) {
        return a->sign < b->sign ? -1 : 1;
    }
    return a->sign < 0 ? -oracle_compare_magnitudes(a, b) : oracle_compare_magnitudes(a, b);
}

/* What topk_kth() writes for an element: the canonical member of its class (CONTRACT.md, 2.3). */
void oracle_write_class(topk_type type, topk_rank rank, const void *element, void *class_value);

/* The value of a slot that holds no result (CONTRACT.md, 3.1). */
void oracle_write_padding(topk_type type, topk_direction direction, void *value);

#endif
