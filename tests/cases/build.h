/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of instance_build(). */
#ifndef TESTS_BUILD_H
#define TESTS_BUILD_H

#include "instance.h"
#include "random.h"

enum { ROW_COST = 16 }; /* in elements: what a row costs, however short it is */

static inline int64_t rows_within_budget(int64_t budget, int64_t rows, int64_t n, int64_t k_max) {
    const int64_t results = k_max > ROW_COST ? k_max : ROW_COST, cost = n > results ? n : results;
    const int64_t most = budget > cost ? budget / cost : 1;
    return rows < most ? rows : most;
}

/* A buffer for an input array, which lies relative to a page as the case says. */
guarded build_buffer(const test_case *c, int64_t count, size_t element_bytes);

/* Lengths, begins and ends, or offsets. */
void build_extents(instance *out, random_state *random);
void build_row_k(instance *out, random_state *random);

/* The problem with ranks, and their array. */
void build_ranks(instance *out, int64_t budget);

/* The predicate with its mask, or with bounds that are elements of the data. */
void build_predicate(instance *out, random_state *random);

/* The problem of routing, with logits and perhaps a bias. */
void build_routing(instance *out, int64_t budget);

/* The problem of merging, with its lists. */
void build_merging(instance *out, int64_t budget);

/* The problem of groups. */
void build_grouping(instance *out, int64_t budget);

#endif
