/* SPDX-License-Identifier: Apache-2.0 */
#include "fill.h"

void fill_law(law which, topk_type type, void *values, int64_t n, random_state *random, int same_of_32) {
    const uint64_t seed = random_bits(random);
    const recipe how = {.law = which,
                        .type = type,
                        .seed = seed,
                        .n = n,
                        .scale = element_scale(type) * (which == LAW_ZIPF ? 0x1p-20 : 1), /* at most 1 */
                        .first_bits = element_bits(type) * same_of_32 / 32};
    const int64_t first = which == LAW_SOFTMAX && seed % 2 != 0 ? n : 0; /* its second row has two peaks */
    for (int64_t i = 0; i < n; i++) {
        element_put_bits(type, values, i, law_element(&how, first + i));
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

/* One element in 16 has the same best score: 8192 in a row of 131072. */
void fill_best_plateau(topk_type type, void *values, int64_t n, random_state *random) {
    for (int64_t i = 0; i < n; i++) {
        element_put(type, values, i, random_below(random, 16) == 0 ? 2 : random_unit(random));
    }
}

/* One element so large that equal-width buckets, or a subtraction, lose all others. */
void fill_outlier(topk_type type, void *values, int64_t n, random_state *random) {
    fill_law(LAW_UNIFORM, type, values, n, random, 0);
    if (n > 0) {
        element_put(type, values, random_below(random, n), 1e30);
    }
}
