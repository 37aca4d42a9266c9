/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include "../../status.h"
#include "../leaf.h"

/* So that bins of 32 bits count all candidates of a row. */
#define K_MAX (INT64_C(1) << 29)

bool topk_cuda_accumulate_selects(const struct accumulator *a) {
    return a->plan.problem.rows > ACCUMULATE_WAYS_OUT;
}

bool topk_cuda_accumulate_is_apart(const struct accumulator *a) {
    return a->plan.problem.k_max >= ACCUMULATE_APART && !topk_cuda_accumulate_selects(a);
}

int64_t topk_cuda_accumulate_blocks_of_row(const struct accumulator *a) {
    return greatest(ACCUMULATE_HOLDERS / greatest(a->plan.problem.rows, 1), 1);
}

/* Slots for what they hold back. Where a selection follows it need not find room. */
static int64_t reserve_of(const struct accumulator *a) {
    return topk_cuda_accumulate_selects(a) ? 0 : topk_cuda_accumulate_blocks_of_row(a) * ACCUMULATE_HELD;
}

/* The best of each row's candidates, in any order. */
static topk_status choose_kept(struct accumulator *a, int64_t pitch) {
    topk_problem p = a->plan.problem;
    p.length_max = p.row_stride = pitch;
    p.index_type = p.extent_type = TOPK_INDEX_I64;
    p.index_base = 0;
    p.order = TOPK_ORDER_ANY;
    p.ties = TOPK_TIES_LOWEST_INDEX;
    p.method = p.tuning = NULL;
    return topk_subcall_choose(a->context, TOPK_OPERATION_MERGE, &p, &a->room, &a->of_candidates[KEPT]);
}

topk_status topk_cuda_accumulate_choose(struct accumulator *a) {
    const int64_t k = a->plan.problem.k_max, pitch = ACCUMULATE_ROOM * k + reserve_of(a);
    if (k > K_MAX) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "k_max is %lld, an accumulator on a GPU keeps up to 2^29",
                         (long long)k);
    }
    const topk_problem positions = topk_accumulator_positions(a, k);
    topk_status status =
        topk_accumulator_choose(a, TOPK_OPERATION_SELECT, &positions, k, pitch, &a->of_candidates[SORTED]);
    if (status == TOPK_OK && topk_cuda_accumulate_is_apart(a)) {
        status = choose_kept(a, pitch);
    }
    return status != TOPK_OK ? status
                             : topk_accumulator_choose(a, TOPK_OPERATION_SELECT, &a->plan.problem, k, k,
                                                       &a->of_candidates[BEST]);
}

static struct accumulate_list take_list(struct arena *arena, const struct plan *plan, int64_t pitch) {
    const size_t slots = (size_t)plan->problem.rows * (size_t)pitch;
    struct accumulate_list list = {.pitch = pitch};
    list.elements = arena_take(arena, slots, plan->element_bytes);
    list.positions = arena_take(arena, slots, sizeof *list.positions);
    list.payload = arena_take(arena, slots, plan->index_bytes);
    return list;
}

struct accumulate_state topk_cuda_accumulate_take(struct arena *arena, const struct accumulator *a) {
    const topk_problem *p = &a->plan.problem;
    const size_t rows = (size_t)p->rows;
    const int64_t most = least(p->k_max, p->length_max);
    struct accumulate_state state;
    state.header = arena_take(arena, 1, sizeof *state.header);
    state.rows = arena_take(arena, rows, sizeof *state.rows);
    state.reserve = reserve_of(a);
    state.candidates = take_list(arena, &a->plan, ACCUMULATE_ROOM * p->k_max + state.reserve);
    const int64_t listed = ACCUMULATE_LISTED * most + state.reserve / ACCUMULATE_HELD_OF_LISTED;
    state.best = take_list(arena, &a->plan,
                           topk_cuda_accumulate_selects(a)    ? most
                           : topk_cuda_accumulate_is_apart(a) ? greatest(listed, p->k_max)
                                                              : listed);
    state.ways_out = arena_take(arena, topk_cuda_accumulate_selects(a) ? 0 : rows, sizeof *state.ways_out);
    state.lengths = arena_take(arena, rows, sizeof *state.lengths);
    state.ks = arena_take(arena, rows, sizeof *state.ks);
    return state;
}

struct push_scratch topk_cuda_accumulate_push_scratch(const struct accumulator *a,
                                                      const struct subcall *inner, void *scratch) {
    struct arena arena = {scratch, 0};
    struct push_scratch s = {.merge = NULL};
    s.match = arena_take(&arena, has_predicate(&inner->plan) ? 1 : 0, sizeof *s.match);
    s.selection =
        arena_take(&arena, topk_cuda_accumulate_selects(a) ? 1 : 0, inner->decision.workspace_bytes);
    if (topk_cuda_accumulate_is_apart(a)) {
        s.merge = arena_take(&arena, 1, a->of_candidates[KEPT].decision.workspace_bytes);
        s.bars = arena_take(&arena, (size_t)a->plan.problem.rows * ACCUMULATE_KEEPERS, 2 * sizeof *s.bars);
    }
    s.bytes = arena.used;
    return s;
}

struct write_scratch topk_cuda_accumulate_write_scratch(const struct accumulator *a, void *scratch) {
    const size_t slots = a->plan.output_elements;
    struct arena arena = {scratch, 0};
    struct write_scratch s;
    s.selections[SORTED] = arena_take(&arena, 1, a->of_candidates[SORTED].decision.workspace_bytes);
    s.selections[BEST] = arena_take(&arena, 1, a->of_candidates[BEST].decision.workspace_bytes);
    s.positions = arena_take(&arena, slots, sizeof *s.positions);
    s.places = arena_take(&arena, slots, sizeof *s.places);
    s.sorted = arena_take(&arena, slots, sizeof *s.sorted);
    s.arranged = arena_take(&arena, slots, a->plan.element_bytes);
    s.bytes = arena.used;
    return s;
}

static size_t scratch_bytes(const struct accumulator *a) {
    const size_t of_push = topk_cuda_accumulate_push_scratch(a, &a->select, NULL).bytes,
                 of_where = topk_cuda_accumulate_push_scratch(a, &a->select_where, NULL).bytes,
                 of_write = topk_cuda_accumulate_write_scratch(a, NULL).bytes;
    const size_t most = of_push > of_where ? of_push : of_where;
    return most > of_write ? most : of_write;
}

struct layout topk_cuda_accumulate_layout(const struct accumulator *a, void *memory) {
    struct arena arena = arena_over(memory);
    struct layout l = {.state = topk_cuda_accumulate_take(&arena, a)};
    l.kept_bytes = arena_bytes(&arena);
    l.scratch = arena_take(&arena, 1, scratch_bytes(a));
    l.bytes = arena_bytes(&arena);
    return l;
}

void topk_cuda_accumulate_measure(struct accumulator *a) {
    const struct layout l = topk_cuda_accumulate_layout(a, NULL);
    a->kept_bytes = l.kept_bytes;
    a->bytes = l.bytes;
}
