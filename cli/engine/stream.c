/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

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

/* The best of a chunk come best first and equal ones in their order, so that the accumulator, which counts
 * their places in the list as positions, ranks equal ones as their own positions would. */
static void begin_merging(struct stream *stream) {
    stream->chunk = stream->problem;
    stream->chunk.order = TOPK_ORDER_BEST_FIRST;
    stream->problem.length_max = least(stream->problem.k_max, stream->problem.length_max);
    stream->problem.row_stride = 0;
    stream->problem.method = NULL;
    stream->values = allocate((uint64_t)stream->problem.length_max, topk_type_size(stream->problem.type));
    stream->indices = allocate((uint64_t)stream->problem.length_max, sizeof *stream->indices);
}

void stream_begin(struct stream *stream, struct session *session, const topk_problem *problem,
                  const topk_predicate *predicate) {
    *stream = (struct stream){.session = session, .problem = *problem, .predicate = predicate};
    if (merges(stream))
        begin_merging(stream);
    check(topk_accumulator_size(session->host->context, &stream->problem, &stream->state_bytes));
    stream->state = allocate(stream->state_bytes, 1);
    stream_reset(stream);
}

void stream_reset(struct stream *stream) {
    check(topk_accumulator_init(stream->session->host->context, &stream->problem, stream->state,
                                stream->state_bytes, NULL));
}

void stream_push(struct stream *stream, const void *elements, int64_t length, int64_t base) {
    topk_input chunk = TOPK_INPUT_INIT;
    chunk.values = elements;
    if (merges(stream)) {
        topk_problem problem = stream->chunk;
        problem.length_max = length;
        problem.k_max = least(problem.k_max, length);
        problem.index_base = base;
        session_select(stream->session, &problem, elements, stream->predicate, stream->values,
                       stream->indices);
        chunk.values = stream->values;
        chunk.indices = stream->indices;
        length = results_found(stream->indices, problem.k_max);
    }
    check(topk_accumulator_push(stream->session->host->context, &stream->problem, stream->state,
                                stream->state_bytes, &chunk, length, base, NULL));
}

void stream_peek(struct stream *stream, void *values, int64_t *indices) {
    check(topk_accumulator_peek(stream->session->host->context, &stream->problem, stream->state,
                                stream->state_bytes, values, indices, NULL));
}

void stream_end(struct stream *stream) {
    release(stream->state);
    release(stream->values);
    release(stream->indices);
}
