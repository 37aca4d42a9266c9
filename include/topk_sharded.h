/* SPDX-License-Identifier: Apache-2.0
 *
 * The k-th element of rows whose elements lie on several devices or machines, without moving any element.
 *
 * Each row is cut into shards. A state, in the memory of a context's device, serves one shard of every row.
 * In each round the states count how many elements lie in each bin of an interval of keys, the caller adds up
 * the counters of all shards by any means (MPI_Allreduce, ncclAllReduce: plain sums of int64_t), and every
 * state narrows the interval to the bin with the k-th element. The number of rounds is known beforehand. In
 * the end each state knows the k-th element of the whole, and how many results its own shard has. Everything
 * is exact, and the same bits for any number of shards:
 *
 *   topk_sharded_query(context, &problem, &properties);
 *   topk_sharded_begin(context, &problem, state, bytes, NULL, counters, stream);
 *   for (int round = 0; round < properties.rounds; round++) {
 *       topk_sharded_count(context, &problem, state, bytes, round, &input, counters, stream);
 *       ... add up `counters` over all shards, in place or to another array: `sums` ...
 *       topk_sharded_advance(context, &problem, state, bytes, round, sums, counters, stream);
 *   }
 *   topk_sharded_result(context, &problem, state, bytes, NULL, &output, stream);     // output.own_equal
 *   ... add up own_equal over the shards before this one: `before` ...
 *   topk_sharded_result(context, &problem, state, bytes, before, &output, stream);   // output.own_k
 *   topk_sharded_select(context, &problem, state, bytes, &input, before, pitch, values, indices, stream);
 *
 * The last call writes the results of the whole row that lie in this shard, in order of position, by one read
 * of its elements. topk_select() on the shard gives them in another order, with own_k as the k of its rows
 * and ties by lowest index. docs/sharded.md has an example, and more on ties. */
#ifndef TOPK_SHARDED_H
#define TOPK_SHARDED_H

#include "topk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the problem all shards have the same
 *
 *   type, direction, rank, nan, rows, and k_max (the k-th of all elements of a row, whatever the shard has)
 *
 * and each has its own length_max, shape, row_stride, elements_max and extent_type, which describe the shard
 * and stay the same for all calls on one state. All else of the problem is ignored, but must be valid.
 * workspace_limit, if it is not 0, bounds the state where that is possible: the state then keeps no elements
 * between rounds, and each round reads the shard again.
 *
 * A state holds no pointers: it can be copied to an address that is the same modulo 64. It belongs to one
 * thread or stream at a time, and may have any alignment. */
typedef struct topk_sharded_properties {
    size_t size;        /* sizeof(topk_sharded_properties); set by the caller */
    size_t state_bytes; /* of a state */
    int64_t counters;   /* how many int64_t the counters of all rows are: rows x the bins of a row */
    int rounds;         /* 1 to 6, by the type's width and, on a GPU, by `rows`. 0 is no number of rounds */
    int reserved;       /* 0 */
} topk_sharded_properties;

#define TOPK_SHARDED_PROPERTIES_INIT                                                                         \
    { sizeof(topk_sharded_properties), 0, 0, 0, 0 }

/* Fills *properties. `counters` and `rounds` are the same for all shards.
 *
 * Statuses as topk_workspace_size() for TOPK_OPERATION_KTH. */
TOPK_API topk_status topk_sharded_query(const topk_context *context, const topk_problem *problem,
                                        topk_sharded_properties *properties);

/* Begins: the state may hold garbage. `k` is NULL (k_max for every row) or rows numbers, of extent_type,
 * clamped to [0, k_max]; all shards must have the same. The counters (properties.counters of them) become 0.
 *
 * Statuses as topk_sharded_query(), and: WORKSPACE_TOO_SMALL, MISALIGNED, OVERLAP, DEVICE. */
TOPK_API topk_status topk_sharded_begin(topk_context *context, const topk_problem *problem, void *state,
                                        size_t state_bytes, const void *k, int64_t *counters,
                                        topk_stream stream);

/* Counts the elements of this shard that lie in the row's interval, and adds them to `counters`: several
 * shards in one memory may share an array. `input` has the values and extents of the shard, the same
 * elements in each round; `indices` are not looked at, `k` must be NULL (CONTRADICTION). With a predicate,
 * the same in each round, a row is the elements that meet it, as topk_select_where() takes them; masks count
 * from input->values. Rounds count from 0, and each is counted once. A row with nothing left to count is not
 * read.
 *
 * Statuses as topk_sharded_begin(), as topk_select_where() for input and predicate, and BAD_STATE (on a GPU
 * see docs/sharded.md). */
TOPK_API topk_status topk_sharded_count(topk_context *context, const topk_problem *problem, void *state,
                                        size_t state_bytes, int round, const topk_input *input,
                                        int64_t *counters, topk_stream stream);

/* The same for a shard in several vectors: its parts are counted one after another, `part` 0 first, alike in
 * each round. In all calls on the state problem->length_max is then what all parts of a row have together. A
 * part's elements_max does not bound it; calls without a part have shape STRIDED, or an elements_max that is
 * no less. The part has `length` elements of each row (0 to length_max), or lengths[r] of them if
 * input->lengths is given (clamped to `length`); shape, row_stride, elements_max and extent_type are the
 * part's, and may differ from part to part. All parts are one shard, in whatever order: its own numbers are
 * of them together. Vectors that need own numbers each are shards of their own. topk_sharded_count() is part
 * 0 with length_max.
 *
 * Statuses as topk_sharded_count(); OUT_OF_RANGE for part and length. */
TOPK_API topk_status topk_sharded_count_part(topk_context *context, const topk_problem *problem, void *state,
                                             size_t state_bytes, int round, int64_t part,
                                             const topk_input *input, int64_t length, int64_t *counters,
                                             topk_stream stream);

/* Ends a round. `sums` are the counters of all shards, added up; they are only read. A negative sum, as an
 * exchange that failed may leave it, is BAD_STATE; on a GPU the row's results are -2 then. `counters` become
 * 0, for the next round: the same array, or another one.
 *
 * Statuses as topk_sharded_count(). */
TOPK_API topk_status topk_sharded_advance(topk_context *context, const topk_problem *problem, void *state,
                                          size_t state_bytes, int round, const int64_t *sums,
                                          int64_t *counters, topk_stream stream);

/* Where results go: an array of `rows` elements each, or NULL. `known` and the first three are the same for
 * all shards; those are what topk_kth() writes for the whole row, also where k is 0 or exceeds its length. */
typedef struct topk_sharded_output {
    size_t size;         /* sizeof(topk_sharded_output) */
    void *kth;           /* the k-th element, as its class */
    int64_t *better;     /* how many elements of the whole row rank above it */
    int64_t *equal;      /* how many tie with it */
    int64_t *own_better; /* of the elements of this shard, likewise */
    int64_t *own_equal;
    int64_t *own_k; /* how many of the row's k best this shard has, if `before` elements of shards before this
                       one tie with the k-th: own_better, and ties as far as k reaches */
    int64_t *after; /* before + own_equal: `before` of the next shard */
    int64_t *known; /* 2: all of the above. 1: own_k alone. 0: nothing yet. After the last round 2 */
} topk_sharded_output;

#define TOPK_SHARDED_OUTPUT_INIT                                                                             \
    { sizeof(topk_sharded_output), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* Writes results after a round; as often as you like. What is not known yet is -2, as k-th element the
 * padding value. A driver that has looked at `known` may leave out the rounds that follow. Ties go to the
 * lowest position, so shards come in the order of their positions: `before` says, for each row, how many
 * elements of the shards before this one tie with the k-th, as their own_equal adds up. NULL: none. A
 * negative number of a row whose `known` is 2 is BAD_STATE; on a GPU own_k and after of the row are -2 then.
 * An output may be the array `before` itself only if that is `after`.
 *
 * Statuses as topk_sharded_count(). BAD_STATE before a round has ended. */
TOPK_API topk_status topk_sharded_result(topk_context *context, const topk_problem *problem, void *state,
                                         size_t state_bytes, const int64_t *before,
                                         const topk_sharded_output *output, topk_stream stream);

/* Writes the results of this shard: of each row its elements that are among the k best of the whole, by
 * ascending position, as TOPK_ORDER_BY_POSITION has them. There are own_k of them, if `before` is what
 * topk_sharded_result() was given for it. Row r has the `pitch` slots from r x pitch on, of `values`
 * (elements) and of `indices` (problem->index_type); either may be NULL. The first `pitch` results are
 * written, and slots behind own_k are padding. A row whose own_k is not known yet (output.known), or that is
 * broken, has index -2 and the padding value in all slots.
 *
 * `input` is what was counted, with the same predicate; input->indices are payload, written in place of
 * positions; input->k must be NULL (CONTRADICTION). An index is the position in the shard, plus
 * problem->index_base. Elements are read once; the state is not used up.
 *
 * Statuses as topk_sharded_count() and topk_sharded_result(), and INDEX_TOO_NARROW; OUT_OF_RANGE for
 * pitch. */
TOPK_API topk_status topk_sharded_select(topk_context *context, const topk_problem *problem, void *state,
                                         size_t state_bytes, const topk_input *input, const int64_t *before,
                                         int64_t pitch, void *values, void *indices, topk_stream stream);

/* The same for a shard in several vectors (topk_sharded_count_part()), in the order of their positions, part
 * 0 first. The results of a part follow the results of earlier parts, in the same slots; part 0 writes the
 * padding, too. An index is the position in the part, plus problem->index_base, which may differ from part to
 * part.
 *
 * Statuses as topk_sharded_select(); OUT_OF_RANGE for part and length. */
TOPK_API topk_status topk_sharded_select_part(topk_context *context, const topk_problem *problem, void *state,
                                              size_t state_bytes, int64_t part, const topk_input *input,
                                              int64_t length, const int64_t *before, int64_t pitch,
                                              void *values, void *indices, topk_stream stream);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_SHARDED_H */
