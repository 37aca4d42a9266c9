/* SPDX-License-Identifier: Apache-2.0 */
#include "ties.h"

#include <math.h>
#include <string.h>

#include "../base/alloc.h"
#include "../output/element.h"

void ties_begin(struct ties *ties, struct session *session, const struct options *options, topk_type type,
                int64_t length_max, int64_t row) {
    *ties = (struct ties){.host = session->host, .rank = options->problem.rank, .k = options->k};
    topk_problem problem = session_problem(options, type, 1, length_max, options->k);
    session_check(session, options, TOPK_OPERATION_KTH, type);
    session_choose_freely(&problem); /* a method of topk_kth() may be none of the accumulator's */
    stream_begin(&ties->stream, session, &problem, NULL, row);
}

void ties_reset(struct ties *ties) {
    stream_reset(&ties->stream);
    release(ties->best);
    ties->best = NULL;
    ties->seen = 0;
    ties->known = false;
}

void ties_end(struct ties *ties) {
    stream_end(&ties->stream);
    release(ties->best);
}

static topk_problem list_problem(const struct ties *ties, int64_t length, int64_t k) {
    topk_problem problem = ties->stream.accumulator.problem;
    problem.length_max = length;
    problem.k_max = k;
    return problem;
}

static void *list_best(struct ties *ties) {
    void *list = allocate((uint64_t)stream_slots(&ties->stream),
                          topk_type_size(ties->stream.accumulator.problem.type));
    stream_peek(&ties->stream, list, NULL);
    return list;
}

static int64_t count_if(struct ties *ties, const void *elements, int64_t length, topk_predicate_kind kind,
                        topk_bound bound) {
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    predicate.kind = kind;
    predicate.low = bound;
    topk_problem problem = list_problem(ties, length, 0);
    int64_t offsets[2];
    session_where(ties->host, &problem, elements, &predicate, NULL, NULL, 0, offsets);
    return offsets[1];
}

/* The elements that tie with one that topk_kth() wrote. */
static int64_t count_equal(struct ties *ties, const void *elements, int64_t length, const void *kth) {
    topk_bound bound = element_decode(ties->stream.accumulator.problem.type, kth);
    if (bound.type == TOPK_BOUND_F64 && isnan(bound.value.f64)) {
        bound.value.f64 = -(double)INFINITY;
        return length - count_if(ties, elements, length, TOPK_GE, bound);
    }
    int64_t count = count_if(ties, elements, length, TOPK_EQ, bound);
    if (ties->rank != TOPK_BY_MAGNITUDE)
        return count;
    /* The negative of a magnitude, but where that is the same number: zeros, and a signed minimum. */
    if (bound.type == TOPK_BOUND_F64 && bound.value.f64 > 0)
        bound.value.f64 = -bound.value.f64;
    else if (bound.type == TOPK_BOUND_I64 && bound.value.i64 > 0)
        bound.value.i64 = -bound.value.i64;
    else
        return count;
    return count + count_if(ties, elements, length, TOPK_EQ, bound);
}

/* Once k elements are there, `equal` is kept up to date from chunk to chunk. When the k-th changes, it is
 * to a better one, whose equals among the elements so far are all in the list of the k best so far. */
void ties_push(struct ties *ties, const void *elements, int64_t length) {
    const bool reached = ties->k > 0 && length >= ties->k - ties->seen;
    const int64_t listed = ties->stream.found;
    if (reached && ties->best == NULL)
        ties->best = list_best(ties);
    stream_push(&ties->stream, elements, length, ties->seen);
    ties->seen += length;
    if (!reached)
        return;
    /* The list before this push is still in `best`. */
    size_t element = topk_type_size(ties->stream.accumulator.problem.type);
    void *list = list_best(ties);
    char kth[8];
    topk_problem problem = list_problem(ties, ties->k, ties->k);
    session_kth(ties->host, &problem, list, kth, &ties->better, NULL);
    if (!ties->known || memcmp(kth, ties->kth, element) != 0)
        ties->equal = count_equal(ties, ties->best, listed, kth);
    ties->equal += count_equal(ties, elements, length, kth);
    memcpy(ties->kth, kth, element);
    ties->known = true;
    release(ties->best);
    ties->best = list;
}

void ties_result(struct ties *ties, void *kth, int64_t *better, int64_t *equal) {
    if (ties->known) {
        memcpy(kth, ties->kth, topk_type_size(ties->stream.accumulator.problem.type));
        *better = ties->better;
        *equal = ties->equal;
        return;
    }
    topk_problem problem = list_problem(ties, 0, 1); /* as for any k above the length */
    session_kth(ties->host, &problem, NULL, kth, NULL, NULL);
    *better = ties->k > 0 ? ties->seen : 0;
    *equal = 0;
}
