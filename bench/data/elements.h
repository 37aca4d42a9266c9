/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing elements of a run-time type. */
#ifndef BENCH_ELEMENTS_H
#define BENCH_ELEMENTS_H

#include "data/random.h" /* BENCH_PURE */
#include "topk.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A float of up to 16 bits that numbers are rounded to without a float32 between. */
typedef struct bench_small_float {
    int fraction_bits;
    int least_exponent; /* of a normal number */
    double largest;     /* finite */
} bench_small_float;

static BENCH_PURE bench_small_float bench_small_float_of(topk_type type) {
    const bench_small_float f16 = {10, -14, 65504.0}, e4m3 = {3, -6, 448.0}, e5m2 = {2, -14, 57344.0};
    return type == TOPK_F16 ? f16 : type == TOPK_F8_E4M3 ? e4m3 : e5m2;
}

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
