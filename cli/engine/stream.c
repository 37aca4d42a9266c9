/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include <string.h>

#include "../base/alloc.h"
#include "../base/fail.h"

/* Results that a stream without an end may have on a GPU. */
static const int64_t endless_k_max = 1 << 20;

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* ---- Lists of elements ----------------------------------------------------------------------- */

static void reserve(const struct stream *stream, struct elements *list, int64_t count) {
    if (count <= list->room)
        return;
    list->room = count > 2 * list->room ? count : 2 * list->room;
    list->values =
        reallocate(list->values, (uint64_t)list->room, topk_type_size(stream->accumulator.problem.type));
    list->indices = reallocate(list->indices, (uint64_t)list->room, sizeof *list->indices);
}

static void release_elements(struct elements *list) {
    release(list->values);
    release(list->indices);
    *list = (struct elements){0};
}

/* Where element `at` of the list of first elements is. */
static void *first_at(const struct stream *stream, int64_t at) {
    return (char *)stream->first.values + (size_t)at * topk_type_size(stream->accumulator.problem.type);
}

/* ---- The stream ------------------------------------------------------------------------------ */

void stream_begin(struct stream *stream, struct session *session, const topk_problem *problem,
                  const topk_predicate *predicate, int64_t row) {
    if (options_approximate(problem))
        fail("an approximation takes rows as a whole: neither text nor rows longer than a piece");
    *stream = (struct stream){.session = session, .predicate = predicate};
    topk_problem results = *problem;
    results.k_max = least(problem->k_max, row);
    accumulator_make(&stream->accumulator, session,
                     predicate == NULL ? TOPK_OPERATION_SELECT : TOPK_OPERATION_SELECT_WHERE, &results,
                     row == STREAM_ENDLESS && problem->k_max > endless_k_max);
    stream_reset(stream);
}

void stream_reset(struct stream *stream) {
    stream->found = 0;
    stream->accumulates = accumulator_on_device(&stream->accumulator);
    if (stream->accumulates)
        accumulator_begin(&stream->accumulator);
}

/* Elements of the list from `at` on whose positions follow one another. */
static int64_t run_length(const struct stream *stream, int64_t at) {
    const int64_t *indices = stream->first.indices;
    int64_t end = at + 1;
    while (end < stream->found && indices[end] == indices[end - 1] + 1)
        end++;
    return end - at;
}

/* Goes on with an accumulator, which gets all elements so far. */
static void accumulate(struct stream *stream) {
    accumulator_begin(&stream->accumulator);
    for (int64_t at = 0, length; at < stream->found; at += length) {
        length = run_length(stream, at);
        accumulator_push(&stream->accumulator, NULL, first_at(stream, at), length, stream->first.indices[at]);
    }
    release_elements(&stream->first);
    stream->accumulates = true;
}

/* Appends the chunk's elements that count, if there is room for all of them up to k. */
static bool append(struct stream *stream, const void *elements, int64_t length, int64_t base) {
    const topk_problem *whole = &stream->accumulator.problem;
    const int64_t room = whole->k_max - stream->found;
    int64_t offsets[2] = {0, length};
    if (length == 0)
        return true;
    if (stream->predicate == NULL && length > room)
        return false;
    reserve(stream, &stream->first, stream->found + least(length, room));
    if (stream->predicate == NULL) {
        memcpy(first_at(stream, stream->found), elements, (size_t)length * topk_type_size(whole->type));
        for (int64_t i = 0; i < length; i++)
            stream->first.indices[stream->found + i] = base + i;
    } else {
        topk_problem problem = *whole;
        problem.length_max = length;
        problem.k_max = 0;
        problem.index_base = base;
        session_choose_freely(&problem);
        session_where(stream->session->host, &problem, elements, stream->predicate,
                      first_at(stream, stream->found), stream->first.indices + stream->found,
                      least(length, room), offsets);
    }
    stream->found += offsets[1] <= room ? offsets[1] : 0;
    return offsets[1] <= room;
}

void stream_push(struct stream *stream, const void *elements, int64_t length, int64_t base) {
    if (!stream->accumulates) {
        if (append(stream, elements, length, base))
            return;
        accumulate(stream);
    }
    accumulator_push(&stream->accumulator, stream->predicate, elements, length, base);
    stream->found += least(length, stream->accumulator.problem.k_max - stream->found);
}

int64_t stream_slots(const struct stream *stream) {
    return stream->accumulates ? stream->accumulator.problem.k_max : stream->found;
}

static void write_best(struct stream *stream, bool ends, void *values, int64_t *indices) {
    if (stream->accumulates) {
        accumulator_write(&stream->accumulator, ends, values, indices);
        return;
    }
    topk_problem problem = stream->accumulator.problem;
    problem.length_max = problem.k_max = stream->found;
    session_rank(stream->session->host, &problem, stream->first.values, stream->first.indices, values,
                 indices);
}

void stream_peek(struct stream *stream, void *values, int64_t *indices) {
    write_best(stream, false, values, indices);
}

void stream_finish(struct stream *stream, void *values, int64_t *indices) {
    write_best(stream, true, values, indices);
}

void stream_end(struct stream *stream) {
    accumulator_end(&stream->accumulator);
    release_elements(&stream->first);
}
