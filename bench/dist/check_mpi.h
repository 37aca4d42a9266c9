/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether ranks have the right results, found out by code that shares nothing with the library, and from
 * elements that are made anew from their row and position. Results of a row are right if
 *
 *   - each value is the element that its index says;
 *   - they stand in the order that was promised, so that none comes twice;
 *   - all ranks together have k of them, once or on each rank that gets all;
 *   - exactly k elements of the row do not rank behind the worst result that any rank has.
 *
 * The last point takes all elements: each rank counts in its own run of positions. */
#ifndef BENCH_DIST_CHECK_MPI_H
#define BENCH_DIST_CHECK_MPI_H

#include <stdbool.h>

#include "random.h"
#include "topk_dist_mpi.h"

/* The elements of a benchmark. All are positive: their bits rank as they do. */
static inline float element_at(int64_t row, int64_t position) {
    return (float)random_unit_at(1 + (uint64_t)row, position);
}

/* The first position of the run that a rank has in a row of n elements. */
static inline int64_t run_begin(int64_t n, int rank, int ranks) {
    return n / ranks * rank + n % ranks * rank / ranks;
}

/* What a rank got, as topk_dist_output says. own_k and before: IN_PLACE alone. */
typedef struct results {
    float *values;
    int64_t *indices, *own_k, *before;
} results;

/* How a result is made wrong before it is checked, on the last rank that has results, in its last row. */
typedef enum spoil {
    SPOIL_NOTHING,
    SPOIL_VALUE,   /* of the first result */
    SPOIL_INDEX,   /* of the last result */
    SPOIL_ORDER,   /* the first two change places */
    SPOIL_TWICE,   /* the first one comes twice */
    SPOIL_MISSING, /* a worse element in place of the last result */
    SPOIL_NUMBER   /* own_k, else as TWICE */
} spoil;

/* By its name; NOTHING: there is no such way. */
spoil spoil_of(const char *name);

/* The k best of rows of n elements each. */
typedef struct questions {
    int64_t rows, n, k;
    const topk_dist_properties *properties; /* of this rank */
    topk_dist_destination where;
    spoil spoil;
} questions;

/* Collective over MPI_COMM_WORLD. Whether this rank finds no fault; tells on stderr what it finds. */
bool check_results(const questions *q, results *r);

#endif
