/* SPDX-License-Identifier: Apache-2.0
 *
 * libtopk for small uses: topk.h with a workspace that grows by itself.
 *
 *   float scores[n];
 *   int64_t best[10];
 *   topk_simple *simple;
 *   if (topk_simple_create(NULL, &simple) == TOPK_OK &&
 *       topk_simple_select(simple, TOPK_LARGEST, TOPK_F32, scores, 1, n, 10, NULL, best) == TOPK_OK) {
 *       ...
 *   }
 *   topk_simple_destroy(simple);
 *
 * Results, order, padding and statuses are as in topk.h and CONTRACT.md; topk_last_error() has the
 * sentence. CONTRACT.md, 13, says when memory is allocated, and when a call waits for a GPU.
 *
 * A topk_simple serves one thread at a time, and on a GPU one stream at a time: calls on another stream must
 * be ordered behind those before. Its calls must not be captured in a graph. What is shared, captured, or may
 * never wait calls the functions of topk.h.
 */
#ifndef TOPK_SIMPLE_H
#define TOPK_SIMPLE_H

#include "topk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A context, and a workspace as large as the largest that a call has needed so far. */
typedef struct topk_simple topk_simple;

/* Creates one, in a context as topk_context_create() makes it of these options: NULL is the CPU, where all
 * pointers are to host memory. On success the caller owns *simple and
 * ends it with topk_simple_destroy(); on failure *simple is NULL.
 *
 * On the CPU each has threads of its own, as many as topk_context_options.threads says:
 * who needs many of them gives each few.
 *
 * Statuses as topk_context_create(). */
TOPK_API topk_status topk_simple_create(const topk_context_options *options, topk_simple **simple);

/* Ends it: on a GPU when the device's work is done, for which it waits. NULL is ignored. */
TOPK_API void topk_simple_destroy(topk_simple *simple);

/* Its context, for the functions of topk.h; NULL for NULL. It ends with *simple. */
TOPK_API topk_context *topk_simple_context(const topk_simple *simple);

/* ---- Rows of one length ---------------------------------------------------------------------- */

/* `values` are `rows` rows of `length` elements of that type, one after the other; for a single array, 1 row.
 * Positions count from 0 in each row. On a GPU all arrays are the device's, and the work is enqueued on its
 * default stream. Every function has the statuses of its namesake in topk.h, and OUT_OF_MEMORY where the
 * workspace cannot grow; what is then written is nothing, and other calls may follow. */

/* The k largest or smallest of each row, best first, equal ones by position.
 *
 * out_values   rows x k elements of that type, or NULL
 * out_indices  rows x k positions, or NULL
 *
 * A row shorter than k ends in padding: position -1. */
TOPK_API topk_status topk_simple_select(topk_simple *simple, topk_direction direction, topk_type type,
                                        const void *values, int64_t rows, int64_t length, int64_t k,
                                        void *out_values, int64_t *out_indices);

/* The k-th largest or smallest element of each row, k from 1 on, to `rows` elements at `kth`. */
TOPK_API topk_status topk_simple_kth(topk_simple *simple, topk_direction direction, topk_type type,
                                     const void *values, int64_t rows, int64_t length, int64_t k, void *kth);

/* The elements that meet a predicate, in input order, row after row without gaps.
 *
 * out_values   room for `capacity` elements of that type, or NULL
 * out_indices  room for `capacity` positions, or NULL
 * offsets      rows + 1 counts, or NULL: the results of row r are [offsets[r], offsets[r + 1]); the last one
 *              is the number of all matches, also of those beyond capacity, which are not written */
TOPK_API topk_status topk_simple_where(topk_simple *simple, topk_type type, const void *values, int64_t rows,
                                       int64_t length, const topk_predicate *predicate, void *out_values,
                                       int64_t *out_indices, int64_t capacity, int64_t *offsets);

/* How many elements of each row meet a predicate, to `rows` counts. */
TOPK_API topk_status topk_simple_count(topk_simple *simple, topk_type type, const void *values, int64_t rows,
                                       int64_t length, const topk_predicate *predicate, int64_t *counts);

/* ---- Any problem ----------------------------------------------------------------------------- */

/* topk_run() with the context and workspace of `simple`: statuses, too, and OUT_OF_MEMORY as above. */
TOPK_API topk_status topk_simple_run(topk_simple *simple, topk_operation operation,
                                     const topk_problem *problem, const topk_input *input,
                                     const topk_output *output, topk_stream stream);

/* Likewise topk_simple_run_select() is topk_select() with the context and workspace of `simple`, and so on:
 * parameters and results are as topk.h says of the function. Statuses, too, and OUT_OF_MEMORY as above. */
TOPK_API topk_status topk_simple_run_select(topk_simple *simple, const topk_problem *problem,
                                            const topk_input *input, void *values, void *indices,
                                            topk_stream stream);
TOPK_API topk_status topk_simple_run_kth(topk_simple *simple, const topk_problem *problem,
                                         const topk_input *input, void *kth, int64_t *better, int64_t *equal,
                                         topk_stream stream);
TOPK_API topk_status topk_simple_run_where(topk_simple *simple, const topk_problem *problem,
                                           const topk_input *input, const topk_predicate *predicate,
                                           void *values, void *indices, int64_t capacity, int64_t *offsets,
                                           topk_stream stream);
TOPK_API topk_status topk_simple_run_select_where(topk_simple *simple, const topk_problem *problem,
                                                  const topk_input *input, const topk_predicate *predicate,
                                                  void *values, void *indices, topk_stream stream);
TOPK_API topk_status topk_simple_run_kth_where(topk_simple *simple, const topk_problem *problem,
                                               const topk_input *input, const topk_predicate *predicate,
                                               void *kth, int64_t *better, int64_t *equal,
                                               topk_stream stream);
TOPK_API topk_status topk_simple_run_count(topk_simple *simple, const topk_problem *problem,
                                           const topk_input *input, const topk_predicate *predicate,
                                           int64_t *counts, topk_stream stream);
TOPK_API topk_status topk_simple_run_mask(topk_simple *simple, const topk_problem *problem,
                                          const topk_input *input, const topk_predicate *predicate,
                                          void *mask, topk_stream stream);
TOPK_API topk_status topk_simple_run_route(topk_simple *simple, const topk_problem *problem,
                                           const struct topk_routing *routing, const void *logits,
                                           void *indices, float *weights, topk_stream stream);
TOPK_API topk_status topk_simple_run_merge(topk_simple *simple, const topk_problem *problem,
                                           const topk_input *input, const struct topk_lists *lists,
                                           void *values, void *indices, void *payload, topk_stream stream);
TOPK_API topk_status topk_simple_run_select_by(topk_simple *simple, const topk_problem *problem,
                                               const topk_input *input, void *values, void *indices,
                                               int64_t *counts, topk_stream stream);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_SIMPLE_H */
