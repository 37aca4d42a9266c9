/* SPDX-License-Identifier: Apache-2.0
 *
 * Data for tests and benchmarks, by name: ordinary distributions, and rows that break selection
 * algorithms which are right on ordinary ones. */
#ifndef TESTS_GENERATORS_H
#define TESTS_GENERATORS_H

#include "elements.h"

typedef struct generator {
    const char *name;
    /* Writes n elements: one row. */
    void (*fill)(topk_type type, void *values, int64_t n, random_state *random);
} generator;

extern const generator generators[];
extern const int generator_count;

#endif
