/* SPDX-License-Identifier: Apache-2.0 */
#include "fill.h"

void fill_all_equal(topk_type type, void *values, int64_t n, random_state *random) {
    double x = 4 * random_unit(random);
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, x);
    }
}

void fill_infinities(topk_type type, void *values, int64_t n, random_state *random) {
    for (int64_t i = 0; i < n; i++) {
        int64_t draw = random_below(random, 4);
        element_put(type, values, i, random_unit(random));
        if (draw < 2) {
            element_put_bits(type, values, i, element_infinity(type, draw == 0));
        }
    }
}

/* The very values that padding is made of. */
void fill_all_lowest(topk_type type, void *values, int64_t n, random_state *random) {
    bool negative = random_below(random, 4) != 0;
    for (int64_t i = 0; i < n; i++) {
        element_put_bits(type, values, i, element_infinity(type, negative));
    }
}

static void fill_nan_among(topk_type type, void *values, int64_t n, random_state *random, double share) {
    fill_law(LAW_NORMAL, type, values, n, random, 0);
    for (int64_t i = 0; i < n; i++) {
        if (random_unit(random) < share) {
            element_put_bits(type, values, i, element_random_nan(type, random));
        }
    }
}

void fill_some_nan(topk_type type, void *values, int64_t n, random_state *random) {
    fill_nan_among(type, values, n, random, 0.05);
}

void fill_mostly_nan(topk_type type, void *values, int64_t n, random_state *random) {
    fill_nan_among(type, values, n, random, 0.9);
}

void fill_all_nan(topk_type type, void *values, int64_t n, random_state *random) {
    fill_nan_among(type, values, n, random, 1);
}

void fill_zeros(topk_type type, void *values, int64_t n, random_state *random) {
    for (int64_t i = 0; i < n; i++) {
        int64_t draw = random_below(random, 100);
        element_put_bits(type, values, i,
                         draw == 0 ? element_random_denormal(type, random)
                                   : element_zero(type, draw % 2 != 0));
    }
}

void fill_denormals(topk_type type, void *values, int64_t n, random_state *random) {
    for (int64_t i = 0; i < n; i++) {
        element_put_bits(type, values, i, element_random_denormal(type, random));
    }
}

void fill_extremes(topk_type type, void *values, int64_t n, random_state *random) {
    uint64_t extremes[] = {element_largest(type, false), element_largest(type, true),
                           element_infinity(type, false), element_infinity(type, true),
                           element_largest(type, false) - 1};
    for (int64_t i = 0; i < n; i++) {
        element_put_bits(type, values, i, extremes[random_below(random, 5)]);
    }
}

/* Two classes with keys between them that no element has (NaN patterns, the other zero), in any
 * proportion: a threshold found by bisection may be such a key. */
void fill_gap(topk_type type, void *values, int64_t n, random_state *random) {
    const double share = random_unit(random);
    const int64_t pair = random_below(random, 3);
    for (int64_t i = 0; i < n; i++) {
        const bool first = random_unit(random) < share;
        const uint64_t bits =
            pair == 2 ? (first ? element_zero(type, false) : element_random_denormal(type, random))
            : first   ? element_infinity(type, pair == 1)
                      : element_random_nan(type, random);
        element_put_bits(type, values, i, bits);
    }
}
