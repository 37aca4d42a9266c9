/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "fill.h"

static double normal_draw(random_state *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += random_unit(random);
    }
    return sum;
}

/* Every bit pattern of the type. */
void fill_bits(topk_type type, void *values, int64_t n, random_state *random) {
    for (int64_t i = 0; i < n; i++) {
        element_put_bits(type, values, i, random_bits(random));
    }
}

void fill_uniform(topk_type type, void *values, int64_t n, random_state *random) {
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, 1 - random_unit(random));
    }
}

void fill_normal(topk_type type, void *values, int64_t n, random_state *random) {
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, normal_draw(random));
    }
}

/* The frequency of words in text: many small values, few large ones. */
void fill_zipf(topk_type type, void *values, int64_t n, random_state *random) {
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, pow((double)(1 + random_below(random, n)), -1.1));
    }
}

/* A softmax that is sure of itself: two entries share nearly all of the mass. */
void fill_peaked(topk_type type, void *values, int64_t n, random_state *random) {
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, 1e-5 * (1 + 1e-3 * random_unit(random)));
    }
    for (int i = 0; i < 2 && n > 0; i++) {
        element_put(type, values, random_below(random, n), 0.4 + 0.1 * random_unit(random));
    }
}

void fill_quantised(topk_type type, void *values, int64_t n, random_state *random) {
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, (double)random_below(random, 16) / 16);
    }
}

/* Few winners above a plateau of zeros: 100 in a row of 8320. */
void fill_relu(topk_type type, void *values, int64_t n, random_state *random) {
    int64_t winners = (n * 100 + 8319) / 8320;
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, 0);
    }
    for (int64_t i = 0; i < winners; i++) {
        element_put(type, values, random_below(random, n), 1 - random_unit(random));
    }
}

void fill_relu_quantised(topk_type type, void *values, int64_t n, random_state *random) {
    for (int64_t i = 0; i < n; i++) {
        double x = rint(4 * normal_draw(random)) / 4;
        element_put(type, values, i, x > 0 ? x : 0);
    }
}

/* One element in 16 has the same best score: 8192 in a row of 131072. */
void fill_best_plateau(topk_type type, void *values, int64_t n, random_state *random) {
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, random_below(random, 16) == 0 ? 2 : random_unit(random));
    }
}

void fill_narrow(topk_type type, void *values, int64_t n, random_state *random) {
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, 0.6 + 0.1 * random_unit(random));
    }
}

/* The first `same` of every 32 bits are those of 1.5: radix digits that tell nothing apart. */
static void fill_same_bits(topk_type type, void *values, int64_t n, random_state *random, int same) {
    int free_bits = element_bits(type) - element_bits(type) * same / 32;
    for (int64_t i = 0; i < n; i++) {
        uint64_t low = random_bits(random) & ((UINT64_C(1) << free_bits) - 1);
        element_put(type, values, i, 1.5);
        element_put_bits(type, values, i, element_get_bits(type, values, i) >> free_bits << free_bits | low);
    }
}

void fill_same_10_bits(topk_type type, void *values, int64_t n, random_state *random) {
    fill_same_bits(type, values, n, random, 10);
}

void fill_same_20_bits(topk_type type, void *values, int64_t n, random_state *random) {
    fill_same_bits(type, values, n, random, 20);
}

/* One element so large that equal-width buckets, or a subtraction, lose all others. */
void fill_outlier(topk_type type, void *values, int64_t n, random_state *random) {
    fill_uniform(type, values, n, random);
    if (n > 0) {
        element_put(type, values, random_below(random, n), 1e30);
    }
}
