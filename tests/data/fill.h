/* SPDX-License-Identifier: Apache-2.0
 *
 * What the generators are made of; each function writes one row of n elements. */
#ifndef TESTS_FILL_H
#define TESTS_FILL_H

#include "elements.h"
#include "laws.h"

/* distributions.c: what real data looks like. Of LAW_FIRST_BITS `same_of_32` of every 32 bits are equal:
 * radix digits that tell nothing apart. */
void fill_law(law which, topk_type type, void *values, int64_t n, random_state *random, int same_of_32);
void fill_relu(topk_type type, void *values, int64_t n, random_state *random);
void fill_best_plateau(topk_type type, void *values, int64_t n, random_state *random);
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
