/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include <string.h>

#include "../base/alloc.h"
#include "../base/fail.h"

static void check(topk_status status) {
    if (status != TOPK_OK)
        fail_library();
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static bool merges(const struct stream *stream) {
    return stream->session->host != stream->session || stream->predicate != NULL;
}

/* ---- Lists of elements ----------------------------------------------------------------------- */

static void reserve(const struct stream *stream, struct elements *list, int64_t count) {
    if (count <= list->room)
        return;
    list->room = count > 2 * list->room ? count : 2 * list->room;
    list->values = reallocate(list->values, (uint64_t)list->room, topk_type_size(stream->problem.type));
    if (merges(stream))
        list->indices = reallocate(list->indices, (uint64_t)list->room, sizeof *list->indices);
}

static void release_elements(struct elements *list) {
    release(list->values);
    release(list->indices);
    *list = (struct elements){0};
}

/* Where element `at` of a list is; NULL stays NULL. */
static const void *value_at(const struct stream *stream, const void *values, int64_t at) {
    return (const char *)values + (size_t)at * topk_type_size(stream->problem.type);
}

static const int64_t *index_at(const int64_t *indices, int64_t at) {
    return indices != NULL ? indices + at : NULL;
}

/* ---- The stream ------------------------------------------------------------------------------ */

/* The best of a chunk come best first and equal ones in their order, so that the accumulator, which counts
 * their places in the list as positions, ranks equal ones as their own positions would. */
static void begin_merging(struct stream *stream) {
    stream->chunk = stream->problem;
    stream->chunk.order = TOPK_ORDER_BEST_FIRST;
    stream->problem.length_max = least(stream->problem.k_max, stream->problem.length_max);
    stream->problem.row_stride = 0;
    session_choose_freely(&stream->problem);
}

/* A method that cannot serve is found before anything is read. */
static void check_method(const struct stream *stream) {
    topk_problem problem = stream->problem;
    size_t bytes;
    problem.k_max = least(problem.k_max, problem.length_max);
    check(topk_accumulator_size(stream->session->host->context, &problem, &bytes));
}

void stream_begin(struct stream *stream, struct session *session, const topk_problem *problem,
                  const topk_predicate *predicate) {
    if (options_approximate(problem))
        fail("an approximation takes rows as a whole: neither text nor rows longer than a piece");
    *stream = (struct stream){.session = session, .problem = *problem, .predicate = predicate};
    if (merges(stream))
        begin_merging(stream);
    check_method(stream);
}

void stream_reset(struct stream *stream) {
    stream->found = 0;
    stream->accumulates = false;
}

static void push(struct stream *stream, const void *values, const int64_t *indices, int64_t length,
                 int64_t base) {
    topk_input input = TOPK_INPUT_INIT;
    input.values = values;
    input.indices = indices;
    check(topk_accumulator_push(stream->session->host->context, &stream->problem, stream->state,
                                stream->state_bytes, &input, length, base, NULL));
}

/* Goes on with an accumulator, which gets all elements so far. */
static void accumulate(struct stream *stream) {
    topk_context *context = stream->session->host->context;
    const int64_t part = stream->problem.length_max;
    if (stream->state == NULL) {
        check(topk_accumulator_size(context, &stream->problem, &stream->state_bytes));
        stream->state = allocate(stream->state_bytes, 1);
    }
    check(topk_accumulator_init(context, &stream->problem, stream->state, stream->state_bytes, NULL));
    for (int64_t at = 0; at < stream->found; at += part)
        push(stream, value_at(stream, stream->first.values, at), index_at(stream->first.indices, at),
             least(part, stream->found - at), at);
    release_elements(&stream->first);
    stream->accumulates = true;
}

static void append(struct stream *stream, const void *values, const int64_t *indices, int64_t length) {
    struct elements *first = &stream->first;
    const size_t element = topk_type_size(stream->problem.type);
    if (length == 0)
        return;
    reserve(stream, first, stream->found + length);
    memcpy((char *)first->values + (size_t)stream->found * element, values, (size_t)length * element);
    if (indices != NULL)
        memcpy(first->indices + stream->found, indices, (size_t)length * sizeof *indices);
}

/* Selects from a chunk; returns how many there are in stream->best. */
static int64_t select_chunk(struct stream *stream, const void *elements, int64_t length, int64_t base) {
    topk_problem problem = stream->chunk;
    problem.length_max = length;
    problem.k_max = least(problem.k_max, length);
    problem.index_base = base;
    reserve(stream, &stream->best, problem.k_max);
    session_select(stream->session, &problem, elements, stream->predicate, stream->best.values,
                   stream->best.indices);
    return results_found(stream->best.indices, problem.k_max);
}

void stream_push(struct stream *stream, const void *elements, int64_t length, int64_t base) {
    const int64_t *indices = NULL;
    if (merges(stream)) {
        length = select_chunk(stream, elements, length, base);
        elements = stream->best.values;
        indices = stream->best.indices;
    }
    if (!stream->accumulates && length > stream->problem.k_max - stream->found)
        accumulate(stream);
    if (stream->accumulates)
        push(stream, elements, indices, length, base);
    else
        append(stream, elements, indices, length);
    stream->found += least(length, stream->problem.k_max - stream->found);
}

void stream_peek(struct stream *stream, void *values, int64_t *indices) {
    if (stream->accumulates) {
        check(topk_accumulator_peek(stream->session->host->context, &stream->problem, stream->state,
                                    stream->state_bytes, values, indices, NULL));
        return;
    }
    topk_problem problem = stream->problem;
    problem.length_max = stream->found;
    problem.k_max = stream->found;
    session_rank(stream->session->host, &problem, stream->first.values, stream->first.indices, values,
                 indices);
}

void stream_end(struct stream *stream) {
    release(stream->state);
    release_elements(&stream->first);
    release_elements(&stream->best);
}
