/* SPDX-License-Identifier: Apache-2.0
 *
 * Data for tests, by name: ordinary distributions, and rows that break selection algorithms which are right
 * on ordinary ones. */
#ifndef TESTS_GENERATORS_H
#define TESTS_GENERATORS_H

#include "elements.h"
#include "laws.h"

typedef struct generator {
    const char *name;
    law law; /* LAW_NONE: `fill` has it */
    void (*fill)(topk_type type, void *values, int64_t n, random_state *random);
    int same_of_32; /* LAW_FIRST_BITS: equal bits of every 32 */
} generator;

extern const generator generators[];
extern const int generator_count;

/* Writes n elements: one row. */
void generate(const generator *from, topk_type type, void *values, int64_t n, random_state *random);

#endif
