/* SPDX-License-Identifier: Apache-2.0 */
#include "ties.h"

#include <math.h>
#include <string.h>

#include "../base/alloc.h"
#include "../output/element.h"

void ties_begin(struct ties *ties, struct session *session, const struct options *options, topk_type type,
                int64_t length_max, int64_t k) {
    *ties = (struct ties){.host = session->host, .rank = options->problem.rank, .k = k};
    topk_problem problem = session_problem(options, type, 1, length_max, k);
    problem.method = NULL; /* a method of topk_kth() may be none of the accumulator's */
    stream_begin(&ties->stream, session, &problem, NULL);
    ties->best = allocate((uint64_t)k, topk_type_size(type));
}

void ties_reset(struct ties *ties) {
    stream_reset(&ties->stream);
    ties->seen = 0;
    ties->known = false;
}

void ties_end(struct ties *ties) {
    stream_end(&ties->stream);
    release(ties->best);
}

static topk_problem list_problem(const struct ties *ties, int64_t length) {
    topk_problem problem = ties->stream.problem;
    problem.length_max = length;
    return problem;
}

static int64_t count_if(struct ties *ties, const void *elements, int64_t length, topk_predicate_kind kind,
                        topk_bound bound) {
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    predicate.kind = kind;
    predicate.low = bound;
    topk_problem problem = list_problem(ties, length);
    int64_t offsets[2];
    session_where(ties->host, &problem, elements, &predicate, NULL, NULL, 0, offsets);
    return offsets[1];
}

/* The elements that tie with one that topk_kth() wrote. */
static int64_t count_equal(struct ties *ties, const void *elements, int64_t length, const void *kth) {
    topk_bound bound = element_decode(ties->stream.problem.type, kth);
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
    struct stream *stream = &ties->stream;
    size_t element = topk_type_size(stream->problem.type);
    stream_push(stream, elements, length, ties->seen);
    int64_t listed = ties->seen < ties->k ? ties->seen : ties->k;
    ties->seen += length;
    if (ties->k == 0)
        return;
    if (ties->seen >= ties->k) {
        /* The list before this push is still in `best`. */
        char *list = allocate((uint64_t)ties->k, element);
        char kth[8];
        topk_problem problem = list_problem(ties, ties->k);
        stream_peek(stream, list, NULL);
        session_kth(ties->host, &problem, list, kth, &ties->better, NULL);
        if (!ties->known || memcmp(kth, ties->kth, element) != 0)
            ties->equal = count_equal(ties, ties->best, listed, kth);
        ties->equal += count_equal(ties, elements, length, kth);
        memcpy(ties->kth, kth, element);
        ties->known = true;
        release(ties->best);
        ties->best = list;
    } else {
        stream_peek(stream, ties->best, NULL);
    }
}

void ties_result(struct ties *ties, void *kth, int64_t *better, int64_t *equal) {
    if (ties->known) {
        memcpy(kth, ties->kth, topk_type_size(ties->stream.problem.type));
        *better = ties->better;
        *equal = ties->equal;
        return;
    }
    topk_problem problem = list_problem(ties, 0);
    session_kth(ties->host, &problem, NULL, kth, NULL, NULL);
    *better = ties->k > 0 ? ties->seen : 0;
    *equal = 0;
}
