/* SPDX-License-Identifier: Apache-2.0
 * What a call of bracket launches: one kernel, as bracket.c has decided. Where a row has several blocks they
 * share a state and the row's list of entries, and lists that exceed a page lie in the workspace. */
#include "../../reached.h"
#include "../../workspace.h"
#include "../position/by_position.h"
#include "plan.h"

struct bracket_layout topk_cuda_bracket_lay_out(const struct plan *plan, const struct bracket_plan *decided,
                                                void *workspace) {
    struct arena arena = arena_over(workspace);
    const size_t rows = (size_t)plan->problem.rows;
    struct bracket_layout l = {.bytes = 0};
    if (decided->blocks_of_row > 1) {
        l.states = arena_take(&arena, rows, sizeof *l.states);
        l.entries = arena_take(&arena, rows * BRACKET_SENT, sizeof(uint64_t));
        if (plan->element_bytes == 8) {
            l.entries_low = arena_take(&arena, rows * BRACKET_SENT, sizeof(uint64_t));
        }
    }
    if (decided->room > BRACKET_PAGE) {
        const size_t slots = (size_t)decided->grid_blocks * decided->room;
        l.stored.elements = arena_take(&arena, slots, plan->element_bytes);
        l.stored.positions = arena_take(&arena, slots, sizeof(uint32_t));
    }
    if (has_predicate(plan)) {
        l.found_match = arena_take(&arena, 1, sizeof *l.found_match);
    }
    l.bytes = arena_bytes(&arena);
    return l;
}

/* Whether rows may differ in length. */
static bool is_uneven(const struct call *call) {
    const topk_problem *p = &call->plan->problem;
    return p->rows > 1 && (p->shape != TOPK_SHAPE_STRIDED || call->input.lengths != NULL);
}

static struct target target_of(const struct plan *plan, const struct bracket_plan *decided,
                               const struct bracket_layout *l) {
    return (struct target){.kind = decided->target,
                           .ties_free = plan->problem.ties == TOPK_TIES_ANY,
                           .by_position = wants_positions(plan),
                           .two_words = plan->element_bytes == 8,
                           .pitch = decided->blocks_of_row > 1 ? BRACKET_SENT : 0,
                           .entries = l->entries,
                           .entries_low = l->entries_low};
}

bool topk_cuda_bracket_finds_positions(const struct plan *plan) {
    return wants_positions(plan) &&
           (plan->element_bytes < 4 || least(plan->problem.k_max, plan->problem.length_max) > BRACKET_SENT);
}

int topk_cuda_bracket_run(const struct call *call) {
    if (topk_cuda_bracket_finds_positions(call->plan)) {
        return topk_cuda_run_by_position(call);
    }
    const struct plan *plan = call->plan;
    const struct bracket_plan *decided = call->decision->own;
    const struct bracket_layout l = topk_cuda_bracket_lay_out(plan, decided, call->workspace);
    struct launch_grid grid = grid_of(call, decided->grid_blocks, INT32_MAX, BRACKET_THREADS);
    if (decided->is_empty) {
        return 0;
    }
    grid.waits = decided->blocks_of_row > 1;
    const struct row_args rows = row_args_of(call);
    struct bracket_args args = {.blocks_of_row = decided->blocks_of_row,
                                .reciprocal = (uint32_t)divide_up(INT64_C(1) << 32, decided->blocks_of_row),
                                .by_length = grid.waits && is_uneven(call),
                                .sample_groups = decided->sample_groups,
                                .is_pair = decided->is_pair,
                                .draws_more = decided->draws_more,
                                .room = decided->room,
                                .seed = call->context->seed,
                                .states = l.states,
                                .rows = rows,
                                .decode = topk_decode_args(&plan->order, &rows.map),
                                .kth = kth_outputs_of(call),
                                .target = target_of(plan, decided, &l),
                                .stored = l.stored};
    if (args.by_length) { /* the longest row has no fewer blocks than all rows would have */
        TOPK_REACHED(REACHED_BRACKET_GPU_UNEVEN);
    } else if (grid.waits) {
        grid.blocks = (uint32_t)plan->problem.rows * decided->blocks_of_row;
    }
    if (call->input.lengths == NULL && call->input.k == NULL) {
        args.rank = decided->rank;
    }
    if (has_predicate(plan)) {
        args.predicate = topk_cuda_predicate_args(call, l.found_match);
    }
    const int error = topk_cuda_read_bounds(call, &args.predicate);
    return error != 0 ? error : decided->kernels->select(&grid, &args);
}
