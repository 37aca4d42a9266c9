/* SPDX-License-Identifier: Apache-2.0
 *
 * Moving what libtopk reads and writes, for libraries that work beside it and link no CUDA: copies between
 * the memories of a context's device and of the host, positions that become others, and ones that do not
 * ascend. libtopk_dist is made of these and the other public calls.
 *
 * On a GPU a call enqueues its work on `stream` and returns; a graph can capture all that take one but
 * topk_wait() and topk_stream_destroy(). On the CPU `stream` is NULL, and a call
 * returns when its work is done. */
#ifndef TOPK_TRANSFER_H
#define TOPK_TRANSFER_H

#include "topk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies `bytes`, from the context's device or from the host, to either. Memory of the host that
 * topk_memory_allocate() gave is read and written when the work runs, other memory of the host perhaps before
 * the call returns. The two must not overlap. 0 bytes: nothing happens.
 *
 * NULL_POINTER, CONTRADICTION (a stream on the CPU), OVERLAP, DEVICE. */
TOPK_API topk_status topk_copy(const topk_context *context, void *to, const void *from, size_t bytes,
                               topk_stream stream);

/* The same for `rows` rows of row_bytes each, which begin to_pitch and from_pitch bytes apart. Rows at `to`
 * must not overlap: to_pitch >= row_bytes; at `from` they may. Statuses as topk_copy(), and OUT_OF_RANGE. */
TOPK_API topk_status topk_copy_rows(const topk_context *context, void *to, size_t to_pitch, const void *from,
                                    size_t from_pitch, size_t row_bytes, int64_t rows, topk_stream stream);

/* Sets `bytes` of the context's device to the low 8 bits of `byte`. Statuses as topk_copy(). */
TOPK_API topk_status topk_fill(const topk_context *context, void *to, int byte, size_t bytes,
                               topk_stream stream);

/* Waits until all work that was enqueued on `stream` is done. NULL_POINTER, CONTRADICTION, DEVICE. */
TOPK_API topk_status topk_wait(const topk_context *context, topk_stream stream);

/* ---- Streams and events ----
 *
 * For work that goes on beside other work. An event is recorded on a stream, and stands for all work that has
 * been enqueued there so far: another stream, or the host, can wait for it. It may be recorded again. Work
 * on a stream that waits for an event of a stream that is captured is part of the graph. On the CPU calls
 * return when their work is done, so streams and events are NULL there, and these calls do nothing. */
struct CUevent_st;
typedef struct CUevent_st *topk_event; /* a cudaEvent_t is a pointer to this */

/* Makes a stream that does not wait for the default stream. NULL_POINTER, DEVICE. */
TOPK_API topk_status topk_stream_create(const topk_context *context, topk_stream *stream);

/* Ends it; its work goes on. NULL is ignored. NULL_POINTER, CONTRADICTION, DEVICE. */
TOPK_API topk_status topk_stream_destroy(const topk_context *context, topk_stream stream);

/* The same of events. */
TOPK_API topk_status topk_event_create(const topk_context *context, topk_event *event);
TOPK_API topk_status topk_event_destroy(const topk_context *context, topk_event event);

/* Records the event; has the work that is enqueued on `stream` from now on wait for it; has the host wait.
 * An event that was never recorded is not waited for. NULL_POINTER, CONTRADICTION, DEVICE. */
TOPK_API topk_status topk_event_record(const topk_context *context, topk_event event, topk_stream stream);
TOPK_API topk_status topk_event_await(const topk_context *context, topk_event event, topk_stream stream);
TOPK_API topk_status topk_event_wait(const topk_context *context, topk_event event);

/* Where memory lies. On the CPU both are the same. */
typedef enum topk_memory {
    TOPK_MEMORY_DEVICE = 0, /* on the context's device */
    TOPK_MEMORY_HOST = 1 /* on the host, where a GPU copies it fast and behind the caller's back (pinned) */
} topk_memory;

/* Allocates `bytes`, at least 1, aligned for every type. On failure *memory is NULL. It may wait for the
 * device.
 *
 * NULL_POINTER, UNKNOWN_ENUM, OUT_OF_RANGE for 0 bytes, OUT_OF_MEMORY, DEVICE. */
TOPK_API topk_status topk_memory_allocate(const topk_context *context, topk_memory memory_kind, size_t bytes,
                                          void **memory);

/* Gives it back, once all work of the device is done; NULL is ignored. Kind and context are as for
 * topk_memory_allocate(). NULL_POINTER, UNKNOWN_ENUM, DEVICE. */
TOPK_API topk_status topk_memory_release(const topk_context *context, topk_memory memory_kind, void *memory);

/* Adds: to[i] += from[i] for `count` numbers, modulo 2^64. The two must not overlap. Statuses as
 * topk_renumber(). */
TOPK_API topk_status topk_add(const topk_context *context, int64_t count, const int64_t *from, int64_t *to,
                              topk_stream stream);

/* Finds the rows whose positions do not ascend. Of each row places[r] becomes the first place, from 0 on, at
 * which input->indices has a negative number, or one that is not above the number before it; -1 where there
 * is none. Problem and input describe the rows as for topk_select(); of the input indices and extents alone
 * are looked at. All indices of all rows are read, once. `places` has `rows` numbers.
 *
 * Statuses as topk_select() for what is looked at. */
TOPK_API topk_status topk_find_descents(const topk_context *context, const topk_problem *problem,
                                        const topk_input *input, int64_t *places, topk_stream stream);

/* Breaks rows: where from[r * from_pitch] is below -1 the numbers of row r at `to`, which has to_pitch of
 * them for each of `rows` rows, all become -2, as calls on a GPU have indices that are none (CONTRACT.md,
 * 10.8). Other rows stay; with a pitch of 0 all do. The two arrays must not overlap.
 *
 * NULL_POINTER, UNKNOWN_ENUM, OUT_OF_RANGE, CONTRADICTION, MISALIGNED, OVERLAP, DEVICE. */
TOPK_API topk_status topk_break_rows(const topk_context *context, int64_t rows, topk_index_type from_type,
                                     const void *from, int64_t from_pitch, topk_index_type to_type, void *to,
                                     int64_t to_pitch, topk_stream stream);

/* How positions become others. Start from TOPK_RENUMBERING_INIT, and set `count` and what differs. */
typedef struct topk_renumbering {
    size_t size; /* sizeof(topk_renumbering) */
    topk_index_type from_type, to_type;
    int64_t count;          /* of numbers, >= 0 */
    int64_t factor, addend; /* p >= 0 becomes p * factor + addend; p < 0, as padding has it, stays */
} topk_renumbering;

#define TOPK_RENUMBERING_INIT                                                                                \
    { sizeof(topk_renumbering), TOPK_INDEX_I64, TOPK_INDEX_I64, 0, 1, 0 }

/* Writes to `to` (count numbers of to_type) what becomes of those at `from` (of from_type). Each must fit
 * into to_type: else it loses its high bits. With both types the same the two may be one array; else they
 * must not overlap.
 *
 * NULL_POINTER, STRUCT_SIZE, UNKNOWN_ENUM, OUT_OF_RANGE, CONTRADICTION, MISALIGNED, OVERLAP, DEVICE. */
TOPK_API topk_status topk_renumber(const topk_context *context, const topk_renumbering *renumbering,
                                   const void *from, void *to, topk_stream stream);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_TRANSFER_H */
