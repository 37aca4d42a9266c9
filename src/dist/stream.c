/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rank makes of elements that come in pieces: its list, by an accumulator; a round of counters; a
 * count. */
#include "error.h"
#include "pieces.h"
#include "topk_accumulator.h"
#include "topk_transfer.h"

/* ---- The rank's list ---- */

struct list {
    topk_problem problem;
    const void *k; /* of each row, or NULL */
};

static topk_status push(const struct run *r, const struct piece *piece, void *what) {
    const struct topk_dist_plan *p = r->plan;
    const struct list *const list = what;
    topk_problem problem = list->problem;
    topk_input chunk = piece->input;
    problem.row_stride = piece->row_stride;
    chunk.predicate = NULL;
    chunk.k = list->k;
    return topk_dist_of_core(
        piece->input.predicate != NULL
            ? topk_accumulator_push_where(p->context, &problem, r->b.accumulator, p->accumulator_bytes,
                                          &chunk, piece->input.predicate, piece->length, piece->first,
                                          r->stream)
            : topk_accumulator_push(p->context, &problem, r->b.accumulator, p->accumulator_bytes, &chunk,
                                    piece->length, piece->first, r->stream));
}

topk_status topk_dist_stream_own(const struct run *r, const void *k) {
    const struct topk_dist_plan *p = r->plan;
    struct list list = {p->streamed, k};
    topk_status status = topk_dist_of_core(
        topk_accumulator_init(p->context, &list.problem, r->b.accumulator, p->accumulator_bytes, r->stream));
    status = status == TOPK_OK ? topk_dist_visit_pieces(r, push, &list) : status;
    if (status == TOPK_OK) {
        status = topk_dist_of_core(topk_accumulator_finish(p->context, &list.problem, r->b.accumulator,
                                                           p->accumulator_bytes, r->b.values, r->b.indices,
                                                           r->stream));
    }
    return status;
}

/* ---- A round of counters ---- */

static topk_status count_part(const struct run *r, const struct piece *piece, void *what) {
    const struct topk_dist_plan *p = r->plan;
    topk_problem problem = p->counted;
    problem.row_stride = piece->row_stride;
    return topk_dist_of_core(
        topk_sharded_count_part(p->context, &problem, r->b.state, p->counting.state_bytes, *(const int *)what,
                                piece->number, &piece->input, piece->length, r->b.counters, r->stream));
}

topk_status topk_dist_stream_round(const struct run *r, int round) {
    return topk_dist_visit_pieces(r, count_part, &round);
}

/* ---- The rank's results in place ---- */

static topk_status select_part(const struct run *r, const struct piece *piece, void *what) {
    const struct topk_dist_plan *p = r->plan;
    topk_problem problem = topk_dist_placed_problem(p);
    problem.row_stride = piece->row_stride;
    problem.index_base += piece->first;
    return topk_dist_of_core(topk_sharded_select_part(
        p->context, &problem, r->b.state, p->counting.state_bytes, piece->number, &piece->input,
        piece->length, what, p->pitch, r->b.values, r->b.indices, r->stream));
}

topk_status topk_dist_stream_placed(const struct run *r) {
    return topk_dist_visit_pieces(r, select_part, r->b.before);
}

/* ---- A count ---- */

static topk_status count_matches(const struct run *r, const struct piece *piece, void *what) {
    const struct topk_dist_plan *p = r->plan;
    topk_problem problem = p->streamed;
    topk_input input = piece->input;
    (void)what;
    problem.row_stride = piece->row_stride;
    problem.length_max = piece->length;
    input.predicate = NULL;
    topk_status status = topk_count(p->context, &problem, &input, piece->input.predicate, r->b.equal,
                                    r->b.core, p->core_bytes, r->stream);
    if (status == TOPK_OK) {
        status = topk_add(p->context, p->problem.rows, r->b.equal, r->b.better, r->stream);
    }
    return topk_dist_of_core(status);
}

topk_status topk_dist_stream_count(const struct run *r) {
    const size_t bytes = (size_t)r->plan->problem.rows * sizeof *r->b.better;
    const topk_status status =
        topk_dist_of_core(topk_fill(r->plan->context, r->b.better, 0, bytes, r->stream));
    return status == TOPK_OK ? topk_dist_visit_pieces(r, count_matches, NULL) : status;
}
