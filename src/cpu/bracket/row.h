/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPK_SRC_CPU_BRACKET_ROW_H
#define TOPK_SRC_CPU_BRACKET_ROW_H

#include "../matcher.h"
#include "counting.h"
#include "winners.h"

/* select or kth on one row of more than SHORT_ROW_MAX elements, at most scratch->length_cap. `matcher` is a
 * predicate's, or NULL. */
void topk_cpu_bracket_row(const struct call *call, const struct kernels *kernels,
                          const struct matcher *matcher, int64_t row, struct row_extent extent,
                          const struct scratch *scratch);

/* ---- What a search for several ranks of a row shares with this one ---- */

/* Draws samples; their keys are padded with zeros to whole words. */
void topk_cpu_draw_samples(const struct bracket *b, size_t samples, uint64_t seed);

/* Counts n elements of the row or the pool, in the scratch of the row. */
struct counting topk_cpu_counting_of(const struct bracket *b, const void *elements, size_t n);

/* Number of elements that equal a key, among those that are counted. */
size_t topk_cpu_count_equal(const struct bracket *b, const struct counting *counting, uint64_t key);

#endif
