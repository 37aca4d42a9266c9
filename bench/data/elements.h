/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing elements of a run-time type. */
#ifndef BENCH_ELEMENTS_H
#define BENCH_ELEMENTS_H

#include "topk.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

bool bench_type_is_float(topk_type type);
bool bench_type_is_signed(topk_type type);

/* Writes count elements, rounded to the nearest that the type has, and cut to its finite range. */
void bench_store_numbers(topk_type type, const double *numbers, int64_t count, void *elements);

/* Writes the low bits of each word. */
void bench_store_bits(topk_type type, const uint64_t *bits, int64_t count, void *elements);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_ELEMENTS_H */
