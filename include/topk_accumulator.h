/* SPDX-License-Identifier: Apache-2.0
 *
 * The k best elements of a stream of chunks. */
#ifndef TOPK_ACCUMULATOR_H
#define TOPK_ACCUMULATOR_H

#include "topk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The k best elements of each of problem->rows streams that arrive in chunks. The state lives in memory of
 * the context's device. It holds no pointers: it can be copied to an address that is the same modulo 64. One
 * problem serves all calls on one state, in so far as topk_accumulator_init() says:
 *
 *   problem->length_max   the longest chunk of a row that is pushed at once
 *   problem->shape        must be STRIDED; row_stride is the pitch of the chunks
 *
 * A push takes time in proportion to its chunk, on average over all pushes. An element that is not among the
 * k best so far is only read; another one is kept, and sorted out later, which takes far longer. So the
 * smaller k is beside the number of elements that came, the faster is a push. Every call writes to the
 * state's memory, one at a time. Results are sorted best first, ties by lowest position, whatever
 * problem->order and ties say; or they come by position, where the order of that call is
 * TOPK_ORDER_BY_POSITION. */

/* Bytes of state. Statuses as topk_workspace_size(). */
TOPK_API topk_status topk_accumulator_size(const topk_context *context, const topk_problem *problem,
                                           size_t *bytes);

/* Begins: no elements seen. The state may hold garbage and have any alignment.
 *
 * The calls that follow must have the same type, index_type, direction, rank, nan, rows, length_max, k_max
 * and index_base in their problem. All else may differ from call to call, if it is valid: a push reads
 * row_stride and extent_type for its chunk; method, tuning, workspace_limit and context change nothing but
 * how large the state must be.
 *
 * Statuses as topk_workspace_size(), and WORKSPACE_TOO_SMALL. */
TOPK_API topk_status topk_accumulator_init(topk_context *context, const topk_problem *problem, void *state,
                                           size_t state_bytes, topk_stream stream);

/* Adds `length` elements (0 to length_max) to each row, or lengths[r] of them if chunk->lengths is given
 * (clamped to `length`). `base` >= 0 is the position of the chunk's first element in its stream.
 * Chunks may come in any order but must not overlap; of those with a length above 0 either all or none carry
 * indices. A row's k is the least one that chunk->k gave it, or k_max. The chunk may be reused once the
 * call's work is done.
 *
 * Statuses as topk_select(), and BAD_STATE. For `base` they are OUT_OF_RANGE, and OVERFLOW or
 * INDEX_TOO_NARROW if base + length + index_base exceeds what an index can hold. */
TOPK_API topk_status topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                           size_t state_bytes, const topk_input *chunk, int64_t length,
                                           int64_t base, topk_stream stream);

/* The same of the elements that match, as topk_select_where() takes them; masks count from chunk->values.
 * Chunks with other predicates, and with none, may come before and after.
 *
 * Statuses as topk_select_where(), and topk_accumulator_push(). */
TOPK_API topk_status topk_accumulator_push_where(topk_context *context, const topk_problem *problem,
                                                 void *state, size_t state_bytes, const topk_input *chunk,
                                                 const topk_predicate *predicate, int64_t length,
                                                 int64_t base, topk_stream stream);

/* Adds to `state` all that was pushed to `other`, as if its chunks had come here: streams can be split among
 * threads or machines. `other` (of other_bytes, as topk_accumulator_size() says) is a state of the same
 * problem, as topk_accumulator_init() says; it is only read, and stays open. The positions of the two must
 * not overlap; either both or none carry indices, unless one has had no elements. A row's k is the lower one.
 *
 * Statuses as topk_accumulator_init(), and: OVERLAP, BAD_STATE. */
TOPK_API topk_status topk_accumulator_merge(topk_context *context, const topk_problem *problem, void *state,
                                            size_t state_bytes, const void *other, size_t other_bytes,
                                            topk_stream stream);

/* Writes the k best so far, as topk_select() on everything pushed would; more may be pushed.
 *
 * Statuses as topk_accumulator_init(), and: MISALIGNED, OVERLAP, BAD_STATE. */
TOPK_API topk_status topk_accumulator_peek(topk_context *context, const topk_problem *problem, void *state,
                                           size_t state_bytes, void *values, void *indices,
                                           topk_stream stream);

/* Writes the bar of each row: an element, as its class (CONTRACT.md, 2.3), to `values`, and a position in the
 * stream, without index_base, to `positions`. What ranks behind it can be no result any more, ties by
 * position, so a caller need not compute it. A row that has not had enough elements yet has no bar: its
 * position is -1, its value the padding value. A bar lags behind the k-th best element: it is what that was
 * when the row last had 2 x k_max candidates. It takes constant time for each row, and changes nothing;
 * either array may be NULL. On the CPU alone.
 *
 * Statuses as topk_accumulator_init(), and: MISALIGNED, OVERLAP, BAD_STATE; UNSUPPORTED on a GPU. */
TOPK_API topk_status topk_accumulator_bar(topk_context *context, const topk_problem *problem, void *state,
                                          size_t state_bytes, void *values, int64_t *positions,
                                          topk_stream stream);

/* Raises the bar of each row: of what is pushed or merged from now on nothing takes part that ranks behind
 * values[r] at positions[r]. A negative position raises nothing, and so does a bar behind the row's own. What
 * was pushed before stays. A bar that another state of the same streams has told loses no result of both,
 * merged. Bytes (below) hold no bar that was raised: a state from them begins without it. On the CPU alone.
 *
 * Statuses as topk_accumulator_bar(), and NULL_POINTER. */
TOPK_API topk_status topk_accumulator_raise(topk_context *context, const topk_problem *problem, void *state,
                                            size_t state_bytes, const void *values, const int64_t *positions,
                                            topk_stream stream);

/* As peek, and ends the state: only init may follow. */
TOPK_API topk_status topk_accumulator_finish(topk_context *context, const topk_problem *problem, void *state,
                                             size_t state_bytes, void *values, void *indices,
                                             topk_stream stream);

/* ---- States as bytes ----
 *
 * A state can be written as bytes that hold nothing of the machine, the backend or the context: to a file, to
 * go on from there, or to another machine, to be merged there. docs/state.md has the format. Bytes are
 * valid within one format version, which they tell; import reads the version that export writes. Equal states
 * give equal bytes: the k best of each row, by position.
 *
 * Bytes are of the context's device, at any alignment. A state from bytes goes on as the exported one: all
 * later results are the same. The problem must have the same type, index_type, direction, rank, nan, rows,
 * k_max and index_base; length_max may be another one. */

/* How many bytes the state of this problem takes. It depends on rows, k_max, type and index_type alone.
 *
 * Statuses as topk_accumulator_size(). */
TOPK_API topk_status topk_accumulator_export_size(const topk_context *context, const topk_problem *problem,
                                                  size_t *bytes);

/* Writes the state to the first export_size bytes of `bytes`, which has `capacity` of them; more may be
 * pushed. On a GPU a state that is broken (CONTRACT.md, 10.8) gives zeros, which no import takes.
 *
 * Statuses as topk_accumulator_init(), and: OVERLAP, BAD_STATE; WORKSPACE_TOO_SMALL also for `capacity`. */
TOPK_API topk_status topk_accumulator_export(topk_context *context, const topk_problem *problem, void *state,
                                             size_t state_bytes, void *bytes, size_t capacity,
                                             topk_stream stream);

/* Begins a state, as init does, with what `size` bytes say. They may come from anywhere: all that they say is
 * checked before it is used, and nothing is read beyond them.
 *
 * Statuses as topk_accumulator_init(), and: OVERLAP; MALFORMED for bytes that are no state of this problem,
 * too few or too many. The state is then what it was. On a GPU only a wrong `size` is MALFORMED; all else
 * leaves the state broken (CONTRACT.md, 10.8). */
TOPK_API topk_status topk_accumulator_import(topk_context *context, const topk_problem *problem, void *state,
                                             size_t state_bytes, const void *bytes, size_t size,
                                             topk_stream stream);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_ACCUMULATOR_H */
