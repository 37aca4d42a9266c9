/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of instance_build(). */
#ifndef TESTS_BUILD_H
#define TESTS_BUILD_H

#include "instance.h"
#include "random.h"

/* A buffer for an input array, which lies relative to a page as the case says. */
guarded build_buffer(const test_case *c, int64_t count, size_t element_bytes);

/* Lengths, begins and ends, or offsets. */
void build_extents(instance *out, random_state *random);
void build_row_k(instance *out, random_state *random);

/* The predicate with its mask, or with bounds that are elements of the data. */
void build_predicate(instance *out, random_state *random);

#endif
