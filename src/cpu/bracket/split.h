/* SPDX-License-Identifier: Apache-2.0
 * Parts of the row against a threshold, with the predicate in between. */
#ifndef TOPK_SRC_CPU_SPLIT_H
#define TOPK_SRC_CPU_SPLIT_H

#include "winners.h"

/* kernels->split() over the n elements of the row from `begin` on, by thread `part`. With a matcher only
 * the elements that match count. `equal` may be NULL. */
struct split_counts topk_cpu_split_row(const struct bracket *b, int part, size_t begin, size_t n,
                                       const struct threshold_arcs *threshold, uint64_t *above,
                                       uint64_t *equal);

/* How many elements of the row match. */
size_t topk_cpu_count_matches(const struct bracket *b);

/* kernels->sample() with a matcher: elements that do not match get the lowest key. */
void topk_cpu_sample_matches(const struct bracket *b, size_t stretch, size_t begin, size_t end,
                             uint64_t seed);

#endif
