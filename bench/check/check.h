/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a result is right, told by an oracle that shares nothing with the library: it orders keys of
 * its own making with std::nth_element. A set of k distinct elements is the right one if and only if
 * each of them ranks above the k-th key, or equals it and lies early enough; that is all the oracle has
 * to know of a row. */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include "points/outputs.h"
#include "points/point.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_oracle bench_oracle;

/* The truth about a point and its input. NULL: out of memory. */
bench_oracle *bench_oracle_make(const bench_point *point, const void *input);
void bench_oracle_free(bench_oracle *oracle);

/* Whether an oracle made for one point tells the truth about another of the same input as well. */
bool bench_oracle_serves(const bench_oracle *oracle, const bench_point *point);

/* where: the elements sought are those above this bound, and so many are. */
double bench_oracle_bound(const bench_oracle *oracle);
int64_t bench_oracle_matches(const bench_oracle *oracle);

/* True if the outputs are right; else `reason` gets a sentence. Of outputs that are NULL nothing is
 * asked: a rival that gives values alone is checked by its values. */
bool bench_check(const bench_oracle *oracle, const bench_point *point, const void *input,
                 const bench_outputs *outputs, char *reason, size_t reason_bytes);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_CHECK_H */
