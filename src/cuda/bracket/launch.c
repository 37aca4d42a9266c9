/* SPDX-License-Identifier: Apache-2.0
 * What a call of bracket launches: one kernel, as bracket.c has decided. Where a row has several blocks they
 * share a state and the row's list of entries, and lists that exceed a page lie in the workspace. */
#include "../../reached.h"
#include "../../workspace.h"
#include "plan.h"

struct bracket_layout topk_cuda_bracket_lay_out(const struct plan *plan, const struct bracket_plan *decided,
                                                void *workspace) {
    struct arena arena = arena_over(workspace);
    const size_t rows = (size_t)plan->problem.rows;
    struct bracket_layout l = {.bytes = 0};
    if (decided->blocks_of_row > 1) {
        l.states = arena_take(&arena, rows, sizeof *l.states);
        l.entries = arena_take(&arena, rows * decided->kernel->sent, sizeof(uint64_t));
        if (plan->element_bytes == 8) {
            l.entries_low = arena_take(&arena, rows * decided->kernel->sent, sizeof(uint64_t));
        }
    }
    if (decided->room > decided->kernel->page) {
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

int topk_cuda_bracket_run(const struct call *call) {
    const struct plan *plan = call->plan;
    const struct bracket_plan *decided = call->decision->own;
    const struct bracket_layout l = topk_cuda_bracket_lay_out(plan, decided, call->workspace);
    struct launch_grid grid = grid_of(call, decided->grid_blocks, INT32_MAX, BRACKET_THREADS);
    if (decided->is_empty) {
        return 0;
    }
    grid.waits = decided->blocks_of_row > 1;
    struct bracket_args args = {
        .blocks_of_row = decided->blocks_of_row,
        .reciprocal = (uint32_t)divide_up(INT64_C(1) << 32, decided->blocks_of_row),
        .by_length =
            grid.waits && (decided->is_uneven || (call->input.lengths != NULL && plan->problem.rows > 1)),
        .sample_groups = decided->sample_groups,
        .is_pair = decided->is_pair,
        .draws_more = decided->draws_more,
        .room = decided->room,
        .has_successor = call->is_followed,
        .seed = call->context->seed,
        .states = l.states,
        .rows = row_args_with(call, &decided->order.map),
        .decode = decided->order,
        .kth = kth_outputs_of(call),
        .target = decided->target,
        .stored = l.stored};
    args.target.entries = l.entries;
    args.target.entries_low = l.entries_low;
    if (args.by_length) { /* the longest row has no fewer blocks than all rows would have */
        TOPK_REACHED(REACHED_BRACKET_GPU_UNEVEN);
    } else if (grid.waits) {
        grid.blocks = (uint32_t)plan->problem.rows * decided->blocks_of_row;
    }
    if (call->input.lengths == NULL && call->input.k == NULL) {
        args.rank = decided->rank;
    }
    const int error =
        has_predicate(plan) ? topk_cuda_take_predicate(call, l.found_match, &args.predicate) : 0;
    return error != 0 ? error : decided->kernel->select(&grid, &args);
}
