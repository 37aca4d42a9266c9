/* SPDX-License-Identifier: Apache-2.0
 *
 * A point of the benchmark: one problem to be timed. */
#ifndef BENCH_POINT_H
#define BENCH_POINT_H

#include "topk.h"

#include <stdbool.h>

/* Around what C++ code calls or defines. */
#ifdef __cplusplus
#define BENCH_C_BEGIN extern "C" {
#define BENCH_C_END }
#else
#define BENCH_C_BEGIN
#define BENCH_C_END
#endif

BENCH_C_BEGIN

struct bench_distribution; /* data/data.h */

/* What decides which elements match: a comparison with a bound, or a mask, which tells it of each element. */
typedef enum bench_predicate {
    BENCH_GREATER,
    BENCH_AT_MOST,
    BENCH_BYTE_MASK,
    BENCH_BIT_MASK
} bench_predicate;

/* What where is to write of the elements that match. */
/* What routing has, bit by bit: weights; a bias, and with it sigmoids in place of logits; 4 groups of 8. */
enum { BENCH_WEIGHTS = 1, BENCH_BIAS = 2, BENCH_GROUPED = 4 };

typedef enum bench_wanted { BENCH_INDICES, BENCH_VALUES, BENCH_PAIRS, BENCH_COUNT } bench_wanted;

/* How long rows are. But for even ones they have offsets; see bench_row_offsets(). */
typedef enum bench_lengths { BENCH_EVEN, BENCH_ODD, BENCH_POWERS, BENCH_UNEVEN } bench_lengths;

/* Made zeroed and then filled, so that equal points are equal byte for byte. */
typedef struct bench_point {
    topk_operation operation;
    topk_type type;
    const struct bench_distribution *distribution;
    int64_t rows;
    int64_t n;                 /* elements of each row, if they are even */
    bench_lengths lengths;     /* select and kth; else even */
    int64_t elements;          /* of all rows; these two follow from the last three */
    int64_t length_max;        /* of the longest row */
    int64_t k;                 /* of operations that have it; else 0 */
    int keep_percent;          /* share of the elements that meets the predicate; 0 if there is none */
    bench_predicate predicate; /* likewise */
    bench_wanted wanted;       /* where; else 0 */
    unsigned routing;          /* of route; else 0 */
    topk_direction direction;
    topk_order order;
    topk_ties ties;
    topk_nan nan;
    topk_index_type index_type;
    int64_t chunk;      /* select: elements of each row that an accumulator gets at a time; 0: one call */
    int max_iterations; /* select, or one of the next two, which are approximate; 0: exact */
    double epsilon, epsilon_relative;
    char method[28]; /* forced method, "" for the library's choice */
    char tuning[64]; /* its knobs, see bench_settings_read(); "" for none */
    int block;       /* threads of a block of the baselines on a GPU, a multiple of 32 */
} bench_point;

/* Where each row begins and the last one ends, in elements: rows + 1 numbers. Rows follow one another:
 *   odd     the first has n - 1 elements, the others n
 *   powers  from 2^10 to n elements in equal ratios, by turns a short one and a long one
 *   uneven  0 to 2n elements, but for 1 row of 20000, and at least 4, that have 1000 n */
void bench_row_offsets(const bench_point *point, int64_t *offsets);

/* Sets `elements` and `length_max`. */
void bench_point_add_up(bench_point *point);

/* Bytes of the input of a point, and of one of its indices. */
static inline size_t bench_point_bytes(const bench_point *point) {
    return (size_t)point->elements * topk_type_size(point->type);
}
static inline size_t bench_index_size(const bench_point *point) {
    return point->index_type == TOPK_INDEX_I64 ? sizeof(int64_t) : sizeof(int32_t);
}

/* Whether a call has more launches than a GPU takes before it has begun with the first: some hundreds. Pushes
 * have two or three, with a large k some more. */
static inline bool bench_is_long(const bench_point *point) {
    const int64_t launches = point->k > 2048 ? 16 : 3, most = 900;
    return point->chunk > 0 && point->n / point->chunk > most / launches;
}

/* What the operation of a point has: a k, a predicate, or both. */
static inline bool bench_has_k(const bench_point *point) {
    return point->operation == TOPK_OPERATION_SELECT || point->operation == TOPK_OPERATION_KTH ||
           point->operation == TOPK_OPERATION_SELECT_WHERE || point->operation == TOPK_OPERATION_ROUTE;
}
static inline bool bench_has_predicate(const bench_point *point) {
    return !bench_has_k(point) || point->operation == TOPK_OPERATION_SELECT_WHERE;
}
static inline bool bench_has_mask(const bench_point *point) {
    return point->predicate == BENCH_BYTE_MASK || point->predicate == BENCH_BIT_MASK;
}

static inline bool bench_is_approximate(const bench_point *point) {
    return point->max_iterations > 0 || point->epsilon > 0 || point->epsilon_relative > 0;
}

/* Whether its calls read the elements, and not a mask alone. */
static inline bool bench_reads_data(const bench_point *point) {
    return bench_has_k(point) || !bench_has_mask(point);
}

/* Bytes of the bit mask that mask writes. */
static inline size_t bench_mask_bytes(const bench_point *point) {
    return ((size_t)point->elements + 7) / 8;
}

/* Which outputs of where a point asks for. */
static inline bool bench_wants_indices(const bench_point *point) {
    return point->wanted == BENCH_INDICES || point->wanted == BENCH_PAIRS;
}
static inline bool bench_wants_values(const bench_point *point) {
    return point->wanted == BENCH_VALUES || point->wanted == BENCH_PAIRS;
}

BENCH_C_END

#endif /* BENCH_POINT_H */
