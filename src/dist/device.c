/* SPDX-License-Identifier: Apache-2.0
 *
 * The way of a run over the memory of a device, from begin to end. Each step is enqueued on the caller's
 * stream: a call of the core, a copy, or a collective (move.h). The host looks at nothing in between, and
 * what is done depends on the plan alone. So lists are sent whole, all rounds are taken, and a graph can
 * capture a run whose transport enqueues.
 *
 *   select, gather      lists of the rank's k best -> sent -> merged; or by nodes (deliver_nodes.c)
 *   select, histogram   rounds -> how many of a row's results the rank may have -> lists of these, as above
 *   in place            rounds -> how many ties come before the rank's -> its results, from its elements
 *                       or lists -> sent to all -> merged, each candidate marked if it is the rank's
 *                       own -> the marked ones
 *   kth, count          rounds; or a sum
 *
 * Arguments that are wrong are found before the rank has sent anything. If the transport waits anyway (MPI),
 * all ranks then agree on a status, and again at the end, which the run waits for: what fails in between is
 * kept until then (failure.c). */
#include "error.h"
#include "load.h"
#include "move.h"
#include "topk_merge.h"
#include "topk_transfer.h"

/* ---- Steps of the core: each does nothing once the rank has failed ---- */

static topk_status kept(const struct run *r, topk_status status) {
    return topk_dist_kept(r, topk_dist_of_core(status));
}

static topk_status run_core(const struct run *r, const topk_plan *plan, const topk_input *input,
                            const topk_output *output) {
    return topk_dist_has_failed(r)
               ? TOPK_OK
               : kept(r, topk_plan_run(plan, input, output, r->b.core, r->plan->core_bytes, r->stream));
}

static topk_status copied(const struct run *r, void *to, const void *from, size_t bytes) {
    return topk_dist_has_failed(r) ? TOPK_OK
                                   : kept(r, topk_copy(r->plan->context, to, from, bytes, r->stream));
}

static topk_status filled(const struct run *r, void *to, int byte, size_t bytes) {
    return topk_dist_has_failed(r) ? TOPK_OK
                                   : kept(r, topk_fill(r->plan->context, to, byte, bytes, r->stream));
}

static topk_status renumbered(const struct run *r, const topk_renumbering *how, const void *from, void *to) {
    return topk_dist_has_failed(r) ? TOPK_OK
                                   : kept(r, topk_renumber(r->plan->context, how, from, to, r->stream));
}

/* Elements that come in pieces: see run.h. */
static topk_status stream_own(const struct run *r, const void *k) {
    return topk_dist_has_failed(r) ? TOPK_OK : topk_dist_kept(r, topk_dist_stream_own(r, k));
}

/* ---- Selecting ---- */

/* Positions on this rank become positions in the whole row. */
static topk_status map_positions(const struct run *r, void *indices, int64_t pitch) {
    const struct topk_dist_plan *p = r->plan;
    topk_renumbering how = TOPK_RENUMBERING_INIT;
    if (p->options.map != TOPK_DIST_STRIDE || indices == NULL) {
        return TOPK_OK;
    }
    how.from_type = how.to_type = p->problem.index_type;
    how.count = p->problem.rows * pitch;
    how.factor = p->group->ranks;
    how.addend = p->problem.index_base + p->group->rank;
    return renumbered(r, &how, indices, indices);
}

/* b.own_k as extents, for the core. */
static topk_status take_own_k(const struct run *r, topk_input *input) {
    const struct topk_dist_plan *p = r->plan;
    topk_renumbering how = TOPK_RENUMBERING_INIT;
    how.to_type = p->problem.extent_type;
    how.count = p->problem.rows;
    input->k = r->b.ks;
    return renumbered(r, &how, r->b.own_k, r->b.ks);
}

/* The rank's list, from its elements: k of each row is b.own_k, or the caller's. */
static topk_status select_own(const struct run *r, bool by_own_k) {
    const struct topk_dist_plan *p = r->plan;
    topk_input input = r->input;
    topk_output output = TOPK_OUTPUT_INIT;
    output.values = r->b.values;
    output.indices = r->b.indices;
    topk_status status = by_own_k ? take_own_k(r, &input) : TOPK_OK;
    if (status == TOPK_OK) {
        status = topk_dist_is_streamed(p) ? stream_own(r, input.k) : run_core(r, p->local, &input, &output);
    }
    return status == TOPK_OK ? map_positions(r, r->b.indices, p->list_max) : status;
}

/* b.descents: -2 for rows whose positions do not ascend. */
static topk_status find_descents(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    topk_renumbering how = TOPK_RENUMBERING_INIT;
    how.count = p->problem.rows;
    how.factor = 0;
    how.addend = -2;
    const topk_status status =
        topk_dist_has_failed(r)
            ? TOPK_OK
            : kept(r, topk_find_descents(p->context, &p->problem, &r->input, r->b.descents, r->stream));
    return status == TOPK_OK ? renumbered(r, &how, r->b.descents, r->b.descents) : status;
}

/* The numbers of the rows whose first number at `from` is below -1 become so, too. */
static topk_status broken(const struct run *r, topk_index_type type, const void *from, int64_t from_pitch,
                          topk_index_type to_type, void *to, int64_t pitch) {
    return to == NULL || topk_dist_has_failed(r)
               ? TOPK_OK
               : kept(r, topk_break_rows(r->plan->context, r->plan->problem.rows, type, from, from_pitch,
                                         to_type, to, pitch, r->stream));
}

/* A row whose positions do not ascend is broken: merging the list breaks it on all ranks. */
static topk_status list_own(const struct run *r, bool by_own_k) {
    const struct topk_dist_plan *p = r->plan;
    topk_status status = select_own(r, by_own_k);
    if (status != TOPK_OK || !topk_dist_checks_table(p)) {
        return status;
    }
    status = find_descents(r);
    return status == TOPK_OK
               ? broken(r, TOPK_INDEX_I64, r->b.descents, 1, p->problem.index_type, r->b.indices, p->list_max)
               : status;
}

/* The same of results in place. */
static topk_status break_placed(const struct run *r, topk_index_type type, const void *from, int64_t pitch) {
    const struct topk_dist_plan *p = r->plan;
    const topk_dist_output *o = &r->output;
    topk_status status = broken(r, type, from, pitch, p->problem.index_type, o->indices, p->pitch);
    status = status == TOPK_OK ? broken(r, type, from, pitch, TOPK_INDEX_I64, o->own_k, 1) : status;
    return status == TOPK_OK ? broken(r, type, from, pitch, TOPK_INDEX_I64, o->before, 1) : status;
}

/* ---- Lists meet ---- */

static topk_status send(const struct run *r, const void *list, void *got, size_t bytes) {
    const struct topk_dist_plan *p = r->plan;
    const size_t block = (size_t)(p->block_rows * p->list_max) * bytes;
    switch (p->options.destination) {
    case TOPK_DIST_ROOT:
        return topk_dist_move_to_root(r, p->group, p->options.root, list, block, got);
    case TOPK_DIST_OWNER:
        return topk_dist_move_to_each(r, p->group, list, block, got);
    default:
        return topk_dist_move_to_all(r, p->group, list, block, got);
    }
}

static topk_status send_lists(const struct run *r) {
    const size_t index_bytes = topk_dist_integer_bytes(r->plan->problem.index_type);
    topk_status status = topk_dist_move_begin(r->plan->group);
    status = status == TOPK_OK ? send(r, r->b.values, r->b.got_values, topk_type_size(r->plan->problem.type))
                               : status;
    status = status == TOPK_OK ? send(r, r->b.indices, r->b.got_indices, index_bytes) : status;
    return status == TOPK_OK ? topk_dist_move_end(r, r->plan->group) : status;
}

/* `marks`: of each candidate a byte, whose copies go to output->payload; or NULL. */
static topk_status merge_lists(const struct run *r, const void *marks, const topk_output *output) {
    const struct topk_dist_plan *p = r->plan;
    topk_input input = TOPK_INPUT_INIT;
    topk_lists lists = TOPK_LISTS_INIT;
    if (p->got_rows == 0) {
        return TOPK_OK;
    }
    lists.lists = p->group->ranks;
    lists.list_stride = p->block_rows * p->list_max;
    lists.sorted =
        topk_dist_list_order(p) == TOPK_ORDER_BEST_FIRST ? TOPK_SORTED_BEST_FIRST : TOPK_SORTED_NOT;
    lists.payload = marks;
    lists.payload_bytes = marks != NULL;
    input.values = r->b.got_values;
    input.indices = r->b.got_indices;
    input.lists = &lists;
    if (r->input.k != NULL) {
        input.k =
            (const char *)r->input.k + (size_t)p->first_row * topk_dist_integer_bytes(p->problem.extent_type);
    }
    return run_core(r, p->merge, &input, output);
}

static topk_status deliver(const struct run *r) {
    topk_output output = TOPK_OUTPUT_INIT;
    output.values = r->output.values;
    output.indices = r->output.indices;
    if (r->plan->nodes != NULL) {
        return topk_dist_deliver_by_nodes(r, r->plan->list_max);
    }
    if (r->plan->group->merge != NULL) {
        return topk_dist_move_and_merge(r, &output);
    }
    const topk_status status = send_lists(r);
    return status == TOPK_OK ? merge_lists(r, NULL, &output) : status;
}

/* ---- Rounds ---- */

static topk_status begin_rounds(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    return kept(r, topk_sharded_begin(p->context, &p->counted, r->b.state, p->counting.state_bytes,
                                      r->input.k, r->b.counters, r->stream));
}

static topk_status count(const struct run *r, int round) {
    const struct topk_dist_plan *p = r->plan;
    topk_input input = r->input;
    if (topk_dist_has_failed(r)) {
        return TOPK_OK;
    }
    if (topk_dist_is_streamed(p)) {
        return topk_dist_kept(r, topk_dist_stream_round(r, round));
    }
    input.k = NULL;
    input.indices = NULL;
    return kept(r, topk_sharded_count(p->context, &p->counted, r->b.state, p->counting.state_bytes, round,
                                      &input, r->b.counters, r->stream));
}

/* What is read may be unreadable at any time: then ranks agree before they communicate again. */
static topk_status agreed(struct run *r, topk_status status) {
    return r->plan->any_reads ? topk_dist_agree_in_run(r, status) : status;
}

/* Those behind the first count, which finds wrong arguments. */
static topk_status end_rounds(struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    topk_status status = TOPK_OK;
    for (int round = 0; round < p->counting.rounds && status == TOPK_OK; round++) {
        status = round > 0 ? agreed(r, count(r, round)) : TOPK_OK;
        status = status == TOPK_OK ? topk_dist_move_sum(r, r->b.counters, p->counting.counters) : status;
        if (status == TOPK_OK && !topk_dist_has_failed(r)) {
            status =
                kept(r, topk_sharded_advance(p->context, &p->counted, r->b.state, p->counting.state_bytes,
                                             round, r->b.counters, r->b.counters, r->stream));
        }
    }
    return status;
}

static topk_status write_result(const struct run *r, const int64_t *before,
                                const topk_sharded_output *output) {
    const struct topk_dist_plan *p = r->plan;
    return topk_dist_has_failed(r)
               ? TOPK_OK
               : kept(r, topk_sharded_result(p->context, &p->counted, r->b.state, p->counting.state_bytes,
                                             before, output, r->stream));
}

/* b.own_k: how many of a row's results the rank has, if `before` ties lie before its own. */
static topk_status find_own_k(const struct run *r, const int64_t *before) {
    topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
    output.own_k = r->b.own_k;
    return write_result(r, before, &output);
}

/* ---- Sums over the ranks before this one ---- */

/* Whether a rank's elements lie before another one's: by their runs of positions, else by number. */
static bool lies_before(const struct topk_dist_plan *p, int rank, int other) {
    return p->bases[rank] != p->bases[other] ? p->bases[rank] < p->bases[other] : rank < other;
}

/* Each rank puts its numbers, one of each row, into the places of the ranks that it comes before, and all are
 * added up: *sums is this rank's place. */
static topk_status sum_before(const struct run *r, const int64_t *numbers, bool by_position,
                              const int64_t **sums) {
    const struct topk_dist_plan *p = r->plan;
    const int64_t rows = p->problem.rows;
    const size_t bytes = (size_t)rows * sizeof *numbers;
    const int own = p->group->rank;
    topk_status status = TOPK_OK;
    for (int rank = 0; rank < p->group->ranks && status == TOPK_OK; rank++) {
        const bool comes_before = by_position ? lies_before(p, own, rank) : own < rank;
        int64_t *const place = r->b.all + rank * rows;
        status = comes_before ? copied(r, place, numbers, bytes) : filled(r, place, 0, bytes);
    }
    *sums = r->b.all + own * rows;
    return status == TOPK_OK ? topk_dist_move_sum(r, r->b.all, rows * p->group->ranks) : status;
}

/* output.own_k and output.before from b.own_k. */
static topk_status number_own(const struct run *r) {
    const size_t bytes = (size_t)r->plan->problem.rows * sizeof(int64_t);
    const int64_t *before;
    topk_status status = sum_before(r, r->b.own_k, false, &before);
    if (status == TOPK_OK && r->output.before != NULL) {
        status = copied(r, r->output.before, before, bytes);
    }
    return status == TOPK_OK && r->output.own_k != NULL ? copied(r, r->output.own_k, r->b.own_k, bytes)
                                                        : status;
}

/* ---- Results in place ---- */

/* Results that come in pieces go through lists: nothing is written before all ranks have theirs. */
static topk_status place_streamed(const struct run *r) {
    const topk_status status =
        topk_dist_has_failed(r) ? TOPK_OK : topk_dist_kept(r, topk_dist_stream_placed(r));
    return status == TOPK_OK ? map_positions(r, r->b.indices, r->plan->pitch) : status;
}

static topk_status write_streamed(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const size_t slots = (size_t)(p->problem.rows * p->pitch);
    topk_status status = TOPK_OK;
    if (r->output.values != NULL) {
        status = copied(r, r->output.values, r->b.values, slots * topk_type_size(p->problem.type));
    }
    if (status == TOPK_OK && r->output.indices != NULL) {
        status = copied(r, r->output.indices, r->b.indices,
                        slots * topk_dist_integer_bytes(p->problem.index_type));
    }
    return status;
}

/* To the outputs, once all ranks have their results. */
static topk_status write_placed(const struct run *r) {
    if (topk_dist_is_streamed(r->plan)) {
        return write_streamed(r);
    }
    const topk_status status =
        topk_dist_has_failed(r) ? TOPK_OK : topk_dist_kept(r, topk_dist_select_placed(r));
    return status == TOPK_OK ? map_positions(r, r->output.indices, r->plan->pitch) : status;
}

/* Ranks know how many ties come before their own, so each selects its results by the rounds' state. */
static topk_status place_elements(struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const size_t bytes = (size_t)p->problem.rows * sizeof(int64_t);
    topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
    const int64_t *before;
    output.own_equal = r->b.own_equal;
    topk_status status = write_result(r, NULL, &output);
    status = status == TOPK_OK ? sum_before(r, r->b.own_equal, true, &before) : status;
    status = status == TOPK_OK ? copied(r, r->b.before, before, bytes) : status;
    status = status == TOPK_OK ? find_own_k(r, r->b.before) : status;
    if (status == TOPK_OK && topk_dist_is_streamed(p)) {
        status = place_streamed(r);
    }
    status = agreed(r, status);
    status = status == TOPK_OK ? number_own(r) : status;
    status = status == TOPK_OK ? write_placed(r) : status;
    if (status != TOPK_OK || !topk_dist_checks_table(p)) {
        return status;
    }
    status = find_descents(r);
    return status == TOPK_OK ? break_placed(r, TOPK_INDEX_I64, r->b.descents, 1) : status;
}

/* The row's results, by position: in b.won_values and b.winners, and in b.won_marks 1 for the rank's own. */
static topk_status merge_marked(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const size_t block = (size_t)(p->block_rows * p->list_max);
    unsigned char *const marks = r->b.marks;
    topk_output output = TOPK_OUTPUT_INIT;
    output.values = r->b.won_values;
    output.indices = r->b.winners;
    output.payload = r->b.won_marks;
    topk_status status = filled(r, marks, 0, block * (size_t)p->group->ranks);
    status = status == TOPK_OK ? filled(r, marks + block * (size_t)p->group->rank, 1, block) : status;
    return status == TOPK_OK ? merge_lists(r, marks, &output) : status;
}

/* By nodes: b.own_mask has a bit for each of them. */
static topk_status merge_by_nodes(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    topk_input input = TOPK_INPUT_INIT;
    topk_predicate is_own = TOPK_PREDICATE_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    const topk_status status = topk_dist_deliver_by_nodes(r, p->list_max);
    is_own.kind = TOPK_EQ;
    is_own.low = topk_bound_i64(p->place_of[p->group->rank] + 1);
    input.values = r->b.won_marks;
    input.predicate = &is_own;
    output.mask = r->b.own_mask;
    return status == TOPK_OK ? run_core(r, p->own_mask, &input, &output) : status;
}

static topk_status find_results(const struct run *r) {
    if (r->plan->nodes != NULL) {
        return merge_by_nodes(r);
    }
    const topk_status status = send_lists(r);
    return status == TOPK_OK ? merge_marked(r) : status;
}

static topk_status place_lists(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    topk_input input = TOPK_INPUT_INIT;
    topk_predicate is_own = TOPK_PREDICATE_INIT;
    topk_output counts = TOPK_OUTPUT_INIT, output = TOPK_OUTPUT_INIT;
    topk_status status = find_results(r);
    is_own.kind = p->nodes != NULL ? TOPK_BIT_MASK : TOPK_BYTE_MASK;
    is_own.mask = p->nodes != NULL ? r->b.own_mask : r->b.won_marks;
    input.values = r->b.won_values;
    input.predicate = &is_own;
    counts.counts = r->b.own_k;
    status = status == TOPK_OK ? run_core(r, p->own_counts, &input, &counts) : status;
    status = status == TOPK_OK ? number_own(r) : status;
    input.indices = r->b.winners;
    output.values = r->output.values;
    output.indices = r->output.indices;
    status = status == TOPK_OK ? run_core(r, p->placed, &input, &output) : status;
    return status == TOPK_OK && p->options.map == TOPK_DIST_TABLE
               ? break_placed(r, p->problem.index_type, r->b.winners, p->winners_max)
               : status;
}

/* ---- Operations ---- */

static bool has_rounds(const struct run *r) {
    return topk_dist_counts(r->plan);
}

/* What a rank does alone before all agree. */
static topk_status begin(struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    topk_output counts = TOPK_OUTPUT_INIT;
    topk_status status = topk_dist_reads(p) ? topk_dist_load_lengths(r) : TOPK_OK;
    if (status != TOPK_OK) {
        return status;
    }
    if (has_rounds(r)) {
        status = begin_rounds(r);
        return status == TOPK_OK ? count(r, 0) : status;
    }
    if (p->operation != TOPK_OPERATION_COUNT) {
        return list_own(r, false);
    }
    counts.counts = r->b.better;
    return topk_dist_is_streamed(p) ? topk_dist_kept(r, topk_dist_stream_count(r))
                                    : run_core(r, p->local, &r->input, &counts);
}

static topk_status end_kth(struct run *r) {
    topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
    output.kth = r->output.values;
    output.better = r->output.better;
    output.equal = r->output.equal;
    const topk_status status = end_rounds(r);
    return status == TOPK_OK ? write_result(r, NULL, &output) : status;
}

static topk_status end_count(const struct run *r) {
    const int64_t rows = r->plan->problem.rows;
    const topk_status status = topk_dist_move_sum(r, r->b.better, rows);
    return status == TOPK_OK ? copied(r, r->output.counts, r->b.better, (size_t)rows * sizeof *r->b.better)
                             : status;
}

static topk_status end_select(struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    topk_status status = TOPK_OK;
    if (has_rounds(r)) {
        status = end_rounds(r);
        if (topk_dist_is_placed(p) && !topk_dist_places_lists(p)) {
            return status == TOPK_OK ? place_elements(r) : status;
        }
        if (status != TOPK_OK) {
            return status;
        }
        /* As if no ties came before: what is too much loses when lists are merged. */
        status = find_own_k(r, NULL);
        status = agreed(r, status == TOPK_OK ? list_own(r, true) : status);
    }
    if (status != TOPK_OK) {
        return status;
    }
    return topk_dist_is_placed(p) ? place_lists(r) : deliver(r);
}

topk_status topk_dist_run_on_device(struct run *r, topk_status status) {
    const struct topk_dist_plan *p = r->plan;
    const bool waits = p->group->on_stream == NULL;
    status = status == TOPK_OK ? begin(r) : status;
    status = waits ? topk_dist_agree_in_run(r, status) : status;
    if (status == TOPK_OK) {
        status = p->operation == TOPK_OPERATION_KTH     ? end_kth(r)
                 : p->operation == TOPK_OPERATION_COUNT ? end_count(r)
                                                        : end_select(r);
    }
    if (waits) { /* after an error, too: what is under way uses the plan's memory */
        const topk_status waited = topk_wait(p->context, r->stream);
        status = status == TOPK_OK ? kept(r, waited) : status;
        status = status == TOPK_OK ? topk_dist_agree_in_run(r, status) : status;
    }
    if (status == TOPK_ERROR_DEVICE && !r->all_know) { /* the others may wait for this rank */
        topk_dist_break(p->group);
    }
    return status;
}
