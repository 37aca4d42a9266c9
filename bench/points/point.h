/* SPDX-License-Identifier: Apache-2.0
 *
 * A point of the benchmark: one problem to be timed. */
#ifndef BENCH_POINT_H
#define BENCH_POINT_H

#include "topk.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bench_distribution; /* data/data.h */

/* What decides which elements of where match. A mask says for each element whether it is above the bound. */
typedef enum bench_predicate { BENCH_GREATER, BENCH_BYTE_MASK, BENCH_BIT_MASK } bench_predicate;

/* What where is to write of the elements that match. */
typedef enum bench_wanted { BENCH_INDICES, BENCH_VALUES, BENCH_PAIRS, BENCH_COUNT } bench_wanted;

/* Made zeroed and then filled, so that equal points are equal byte for byte. */
typedef struct bench_point {
    topk_operation operation;
    topk_type type;
    const struct bench_distribution *distribution;
    int64_t rows;
    int64_t n;                 /* elements of each row */
    int64_t k;                 /* select, kth; 0 for where */
    int keep_percent;          /* where: share of the elements that meets the predicate; else 0 */
    bench_predicate predicate; /* where; else 0, as is the next */
    bench_wanted wanted;
    topk_direction direction;
    topk_order order;
    topk_ties ties;
    topk_index_type index_type;
    char method[28]; /* forced method, "" for the library's choice */
    char tuning[36]; /* knobs of the method, see tuning.h; "" for none */
} bench_point;

/* Bytes of the input of a point, and of one of its indices. */
static inline size_t bench_point_bytes(const bench_point *point) {
    return (size_t)(point->rows * point->n) * topk_type_size(point->type);
}
static inline size_t bench_index_size(const bench_point *point) {
    return point->index_type == TOPK_INDEX_I64 ? sizeof(int64_t) : sizeof(int32_t);
}

/* Which outputs of where a point asks for. */
static inline bool bench_wants_indices(const bench_point *point) {
    return point->wanted == BENCH_INDICES || point->wanted == BENCH_PAIRS;
}
static inline bool bench_wants_values(const bench_point *point) {
    return point->wanted == BENCH_VALUES || point->wanted == BENCH_PAIRS;
}

#ifdef __cplusplus
}
#endif

#endif /* BENCH_POINT_H */
