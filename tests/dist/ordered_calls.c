/* SPDX-License-Identifier: Apache-2.0 */
#include "ordered.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "failing.h"
#include "topk_accumulator.h"
#include "topk_sharded.h"
#include "topk_transfer.h"

/* A stream of the caller's, the one of a plan, and the host. */
enum { CALLERS, PLANS, HOST, CLOCKS, EVENTS = 4096, ACCESSES = 64 };

typedef struct moment {
    long at[CLOCKS]; /* how much of each has been done */
} moment;

/* Of memory, by work number `at` of a clock. */
typedef struct access {
    uintptr_t begin, end;
    int by;
    long at;
    bool is_write;
} access;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static moment clocks[CLOCKS];
static struct {
    topk_event event;
    moment moment;
} events[EVENTS];
static access accesses[ACCESSES];
static int next_access;
static long faults, copies;

static int clock_of(topk_stream stream) {
    return stream == NULL ? CALLERS : PLANS;
}

static void join(moment *to, const moment *from) {
    for (int c = 0; c < CLOCKS; c++) {
        to->at[c] = from->at[c] > to->at[c] ? from->at[c] : to->at[c];
    }
}

/* More work, which comes behind what the host has seen. */
static void step(int by) {
    join(&clocks[by], &clocks[HOST]);
    clocks[by].at[by]++;
}

/* Two accesses are in order if one is a write. Without events, on the CPU, all calls wait. */
static void note(const void *memory, size_t bytes, int by, bool is_write) {
    const access own = {(uintptr_t)memory, (uintptr_t)memory + bytes, by, clocks[by].at[by], is_write};
    for (int a = 0; a < ACCESSES && bytes > 0 && events[0].event != NULL; a++) {
        const access *const other = &accesses[a];
        const bool meet = own.begin < other->end && other->begin < own.end;
        if (meet && (own.is_write || other->is_write) && other->at > clocks[by].at[other->by]) {
            faults++;
            fprintf(stderr, "  %s %p by %d, not behind %s by %d\n", is_write ? "write to" : "read of", memory,
                    by, other->is_write ? "a write" : "a read", other->by);
        }
    }
    accesses[next_access++ % ACCESSES] = own;
}

static moment *moment_of(topk_event event) {
    int at = 0;
    while (at < EVENTS && events[at].event != event && events[at].event != NULL) {
        at++;
    }
    if (at == EVENTS) {
        abort();
    }
    events[at].event = event;
    return &events[at].moment;
}

void ordered_host_writes(const void *memory, size_t bytes) {
    pthread_mutex_lock(&mutex);
    clocks[HOST].at[HOST]++;
    note(memory, bytes, HOST, true);
    pthread_mutex_unlock(&mutex);
}

long ordered_faults(void) {
    return faults;
}

long ordered_copies(void) {
    return copies;
}

/* A call on the caller's stream that looks at a piece. */
static void look(const topk_problem *problem, const topk_input *input, int64_t length, topk_stream stream) {
    const int64_t elements = length > 0 ? (problem->rows - 1) * problem->row_stride + length : 0;
    pthread_mutex_lock(&mutex);
    step(clock_of(stream));
    note(input->values, (size_t)elements * topk_type_size(problem->type), clock_of(stream), false);
    pthread_mutex_unlock(&mutex);
}

/* ---- The calls ---- */

topk_status __real_topk_copy_rows(const topk_context *context, void *to, size_t to_pitch, const void *from,
                                  size_t from_pitch, size_t row_bytes, int64_t rows, topk_stream stream);
topk_status __wrap_topk_copy_rows(const topk_context *context, void *to, size_t to_pitch, const void *from,
                                  size_t from_pitch, size_t row_bytes, int64_t rows, topk_stream stream);
topk_status __wrap_topk_copy_rows(const topk_context *context, void *to, size_t to_pitch, const void *from,
                                  size_t from_pitch, size_t row_bytes, int64_t rows, topk_stream stream) {
    pthread_mutex_lock(&mutex);
    copies++;
    step(clock_of(stream));
    note(from, (size_t)(rows - 1) * from_pitch + row_bytes, clock_of(stream), false);
    note(to, (size_t)(rows - 1) * to_pitch + row_bytes, clock_of(stream), true);
    pthread_mutex_unlock(&mutex);
    return failing_now()
               ? TOPK_ERROR_DEVICE
               : __real_topk_copy_rows(context, to, to_pitch, from, from_pitch, row_bytes, rows, stream);
}

topk_status __real_topk_event_record(const topk_context *context, topk_event event, topk_stream stream);
topk_status __wrap_topk_event_record(const topk_context *context, topk_event event, topk_stream stream);
topk_status __wrap_topk_event_record(const topk_context *context, topk_event event, topk_stream stream) {
    pthread_mutex_lock(&mutex);
    step(clock_of(stream));
    *moment_of(event) = clocks[clock_of(stream)];
    pthread_mutex_unlock(&mutex);
    return failing_now() ? TOPK_ERROR_DEVICE : __real_topk_event_record(context, event, stream);
}

topk_status __real_topk_event_await(const topk_context *context, topk_event event, topk_stream stream);
topk_status __wrap_topk_event_await(const topk_context *context, topk_event event, topk_stream stream);
topk_status __wrap_topk_event_await(const topk_context *context, topk_event event, topk_stream stream) {
    pthread_mutex_lock(&mutex);
    join(&clocks[clock_of(stream)], moment_of(event));
    pthread_mutex_unlock(&mutex);
    return failing_now() ? TOPK_ERROR_DEVICE : __real_topk_event_await(context, event, stream);
}

topk_status __real_topk_event_wait(const topk_context *context, topk_event event);
topk_status __wrap_topk_event_wait(const topk_context *context, topk_event event);
topk_status __wrap_topk_event_wait(const topk_context *context, topk_event event) {
    pthread_mutex_lock(&mutex);
    join(&clocks[HOST], moment_of(event));
    pthread_mutex_unlock(&mutex);
    return failing_now() ? TOPK_ERROR_DEVICE : __real_topk_event_wait(context, event);
}

topk_status __real_topk_wait(const topk_context *context, topk_stream stream);
topk_status __wrap_topk_wait(const topk_context *context, topk_stream stream);
topk_status __wrap_topk_wait(const topk_context *context, topk_stream stream) {
    pthread_mutex_lock(&mutex);
    join(&clocks[HOST], &clocks[clock_of(stream)]);
    pthread_mutex_unlock(&mutex);
    return failing_now() ? TOPK_ERROR_DEVICE : __real_topk_wait(context, stream);
}

topk_status __real_topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                         size_t bytes, const topk_input *chunk, int64_t length, int64_t base,
                                         topk_stream stream);
topk_status __wrap_topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                         size_t bytes, const topk_input *chunk, int64_t length, int64_t base,
                                         topk_stream stream);
topk_status __wrap_topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                         size_t bytes, const topk_input *chunk, int64_t length, int64_t base,
                                         topk_stream stream) {
    look(problem, chunk, length, stream);
    return failing_now()
               ? TOPK_ERROR_DEVICE
               : __real_topk_accumulator_push(context, problem, state, bytes, chunk, length, base, stream);
}

topk_status __real_topk_sharded_count_part(topk_context *context, const topk_problem *problem, void *state,
                                           size_t bytes, int round, int64_t part, const topk_input *input,
                                           int64_t length, int64_t *counters, topk_stream stream);
topk_status __wrap_topk_sharded_count_part(topk_context *context, const topk_problem *problem, void *state,
                                           size_t bytes, int round, int64_t part, const topk_input *input,
                                           int64_t length, int64_t *counters, topk_stream stream);
topk_status __wrap_topk_sharded_count_part(topk_context *context, const topk_problem *problem, void *state,
                                           size_t bytes, int round, int64_t part, const topk_input *input,
                                           int64_t length, int64_t *counters, topk_stream stream) {
    look(problem, input, length, stream);
    return failing_now() ? TOPK_ERROR_DEVICE
                         : __real_topk_sharded_count_part(context, problem, state, bytes, round, part, input,
                                                          length, counters, stream);
}

topk_status __real_topk_sharded_select_part(topk_context *context, const topk_problem *problem, void *state,
                                            size_t bytes, int64_t part, const topk_input *input,
                                            int64_t length, const int64_t *before, int64_t pitch,
                                            void *values, void *indices, topk_stream stream);
topk_status __wrap_topk_sharded_select_part(topk_context *context, const topk_problem *problem, void *state,
                                            size_t bytes, int64_t part, const topk_input *input,
                                            int64_t length, const int64_t *before, int64_t pitch,
                                            void *values, void *indices, topk_stream stream);
topk_status __wrap_topk_sharded_select_part(topk_context *context, const topk_problem *problem, void *state,
                                            size_t bytes, int64_t part, const topk_input *input,
                                            int64_t length, const int64_t *before, int64_t pitch,
                                            void *values, void *indices, topk_stream stream) {
    look(problem, input, length, stream);
    return failing_now() ? TOPK_ERROR_DEVICE
                         : __real_topk_sharded_select_part(context, problem, state, bytes, part, input,
                                                           length, before, pitch, values, indices, stream);
}
