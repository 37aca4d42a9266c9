/* SPDX-License-Identifier: Apache-2.0 */
#include "fill.h"

void fill_ascending(topk_type type, void *values, int64_t n, random_state *random) {
    double scale = 8.0 * random_unit(random) / (double)(n + 1);
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, scale * (double)i - 2);
    }
}

void fill_descending(topk_type type, void *values, int64_t n, random_state *random) {
    double scale = 8.0 * random_unit(random) / (double)(n + 1);
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, scale * (double)(n - i) - 2);
    }
}

void fill_sawtooth(topk_type type, void *values, int64_t n, random_state *random) {
    int64_t period = 2 + random_below(random, 200);
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, (double)(i % period) / 64 - 1);
    }
}

void fill_alternating(topk_type type, void *values, int64_t n, random_state *random) {
    double even = random_unit(random), odd = -random_unit(random);
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, i % 2 == 0 ? even : odd);
    }
}

/* A sample drawn from elsewhere sees nothing of the winners, and one thread gets them all. */
void fill_one_block(topk_type type, void *values, int64_t n, random_state *random) {
    int64_t block = n / 16 + 1, first = random_below(random, n - n / 16 + 1);
    for (int64_t i = 0; i < n; i++) {
        bool inside = i >= first && i < first + block;
        element_put(type, values, i, random_unit(random) + (inside ? 2 : 0));
    }
}
