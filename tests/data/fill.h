/* SPDX-License-Identifier: Apache-2.0
 *
 * The fill functions of the generator table; each writes one row of n elements. */
#ifndef TESTS_FILL_H
#define TESTS_FILL_H

#include "elements.h"

/* distributions.c: what real data looks like. */
void fill_bits(topk_type type, void *values, int64_t n, random_state *random);
void fill_uniform(topk_type type, void *values, int64_t n, random_state *random);
void fill_normal(topk_type type, void *values, int64_t n, random_state *random);
void fill_zipf(topk_type type, void *values, int64_t n, random_state *random);
void fill_peaked(topk_type type, void *values, int64_t n, random_state *random);
void fill_quantised(topk_type type, void *values, int64_t n, random_state *random);
void fill_relu(topk_type type, void *values, int64_t n, random_state *random);
void fill_relu_quantised(topk_type type, void *values, int64_t n, random_state *random);
void fill_best_plateau(topk_type type, void *values, int64_t n, random_state *random);
void fill_narrow(topk_type type, void *values, int64_t n, random_state *random);
void fill_same_10_bits(topk_type type, void *values, int64_t n, random_state *random);
void fill_same_20_bits(topk_type type, void *values, int64_t n, random_state *random);
void fill_outlier(topk_type type, void *values, int64_t n, random_state *random);

/* orders.c: where in the row the winners lie. */
void fill_ascending(topk_type type, void *values, int64_t n, random_state *random);
void fill_descending(topk_type type, void *values, int64_t n, random_state *random);
void fill_sawtooth(topk_type type, void *values, int64_t n, random_state *random);
void fill_alternating(topk_type type, void *values, int64_t n, random_state *random);
void fill_one_block(topk_type type, void *values, int64_t n, random_state *random);

/* specials.c: infinities, NaN, zeros and the like. */
void fill_all_equal(topk_type type, void *values, int64_t n, random_state *random);
void fill_infinities(topk_type type, void *values, int64_t n, random_state *random);
void fill_all_lowest(topk_type type, void *values, int64_t n, random_state *random);
void fill_some_nan(topk_type type, void *values, int64_t n, random_state *random);
void fill_mostly_nan(topk_type type, void *values, int64_t n, random_state *random);
void fill_all_nan(topk_type type, void *values, int64_t n, random_state *random);
void fill_zeros(topk_type type, void *values, int64_t n, random_state *random);
void fill_denormals(topk_type type, void *values, int64_t n, random_state *random);
void fill_gap(topk_type type, void *values, int64_t n, random_state *random);
void fill_extremes(topk_type type, void *values, int64_t n, random_state *random);

#endif
