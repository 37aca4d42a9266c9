/* SPDX-License-Identifier: Apache-2.0
 * What sort decides and launches, and over which workspace. */
#include "../methods.h"

#include <limits.h>
#include <math.h>

#include "../../reached.h"
#include "../../workspace.h"
#include "../leaf.h"
#include "../position/by_position.h"
#include "../select/found.h"
#include "kernels.h"

/* How lists are sorted: whole rows, or what was found of each. */
struct strategy {
    bool is_found;
    bool is_kth;
    bool wide;
    bool one_block;  /* for each row */
    uint32_t passes; /* of all digits */
    int64_t length;  /* of the longest list */
    int64_t threads, resident_blocks;
    int64_t tiles;      /* of each row */
    int64_t group_rows; /* sorted together */
};

/* Between passes elements go back and forth. Of what is sorted once and for all there is no second buffer,
 * and the second buffer of found elements is where they were found. */
struct buffers {
    struct sort_lists lists[2];
    uint64_t *states[2];
    uint64_t *counts, *tickets;
    void *zeroed; /* counts, tickets and states[0]: zero before the first launch of a group */
    size_t zeroed_bytes;
};

static const struct sort_kernels *const kernels[WIDTHS] = {
    &topk_cuda_sort_kernels_8, &topk_cuda_sort_kernels_16, &topk_cuda_sort_kernels_32,
    &topk_cuda_sort_kernels_64};

static int64_t row_max(const struct plan *plan) {
    return (plan->element_bytes == 8 ? SORT_ROW_THREADS_64 : SORT_ROW_THREADS) * SORT_ROW_ITEMS;
}

static int64_t tile_elements(const struct plan *plan) {
    return SORT_THREADS * (plan->element_bytes == 8 ? SORT_ITEMS_64 : SORT_ITEMS);
}

/* ---- Workspace ---- */

/* Whether some pass writes buffer `which`: pass p writes buffer p % 2, but that of select's last pass are the
 * outputs. */
static bool is_used(const struct strategy *s, uint32_t which) {
    return which < s->passes - (s->is_kth ? 0 : 1);
}

static struct sort_lists take_lists(struct arena *arena, const struct plan *plan, const struct strategy *s) {
    const size_t elements = (size_t)(s->group_rows * s->length);
    struct sort_lists lists = {.elements = arena_take(arena, elements, plan->element_bytes),
                               .pitch = s->length};
    if (!s->is_kth) {
        lists.positions = arena_take(arena, elements, s->wide ? 8 : 4);
    }
    return lists;
}

static struct buffers take_buffers(struct arena *arena, const struct plan *plan, const struct strategy *s) {
    struct buffers b = {.zeroed = NULL};
    const size_t rows = (size_t)s->group_rows, states = rows * (size_t)s->tiles * SORT_BINS;
    const size_t before = arena->used;
    b.zeroed = b.counts = arena_take(arena, rows * s->passes * SORT_BINS, sizeof *b.counts);
    b.tickets = arena_take(arena, s->passes, sizeof *b.tickets);
    b.states[0] = arena_take(arena, states, sizeof *b.states[0]);
    b.zeroed_bytes = arena_join(arena, before);
    if (s->passes > 1) {
        b.states[1] = arena_take(arena, states, sizeof *b.states[1]);
    }
    if (is_used(s, 0)) {
        b.lists[0] = take_lists(arena, plan, s);
    }
    if (is_used(s, 1) && !s->is_found) {
        b.lists[1] = take_lists(arena, plan, s);
    }
    return b;
}

static size_t bytes_of(const struct plan *plan, const struct strategy *s) {
    struct arena arena = arena_over(NULL);
    (void)take_buffers(&arena, plan, s);
    return arena_bytes(&arena);
}

/* ---- Decision ---- */

static double rows_us(const topk_context *context, const struct plan *plan, const struct strategy *s) {
    const double rows = (double)plan->problem.rows, elements = rows * (double)s->length;
    const double ranking_us =
        work_us(context, rows, 1 / topk_cuda_costs.sort.row_us) +
        work_us(context, elements * (double)s->passes, topk_cuda_costs.sort.ranked_per_us);
    const double pass_us =
        topk_cuda_costs.sort.block_pass_us + topk_cuda_costs.sort.element_us * (double)s->length;
    return topk_cuda_costs.launch_us + fmax(ranking_us, block_us(context, pass_us * (double)s->passes));
}

static double groups_us(const topk_context *context, const struct plan *plan, const struct strategy *s) {
    const double rows = (double)plan->problem.rows, elements = rows * (double)s->length;
    const double entry = (double)plan->element_bytes + (s->is_kth ? 0 : s->wide ? 8 : 4);
    const double groups = rows / (double)s->group_rows, launches = s->passes + 2 + s->is_kth;
    return groups * launches * topk_cuda_costs.sort.pass_us +
           move_us(context, elements * ((double)plan->element_bytes + 2 * s->passes * entry),
                   topk_cuda_costs.sort.bytes_per_us);
}

static void decide_rows(const topk_context *context, const struct plan *plan, struct strategy *s,
                        struct decision *decision) {
    s->threads = greatest(divide_up(divide_up(s->length, SORT_ROW_ITEMS), 32) * 32, 32);
    s->resident_blocks = device_of(context)->sms * greatest(SORT_ROW_THREADS_PER_SM / s->threads, 1);
    decision->variant = "block";
    decision->launches = 1;
    decision->cost_us = rows_us(context, plan, s);
    decision->workspace_bytes = 0;
}

static int64_t group_rows_of(const struct plan *plan, const struct strategy *s) {
    return least(greatest(SORT_GROUP_ELEMENTS / s->length, 1), plan->problem.rows);
}

/* Groups are smaller where the caller's limit says so. */
static void decide_groups(const topk_context *context, const struct plan *plan, struct strategy *s,
                          struct decision *decision) {
    const topk_problem *p = &plan->problem;
    s->threads = SORT_THREADS;
    s->resident_blocks = (int64_t)device_of(context)->sms * SORT_BLOCKS_PER_SM;
    s->tiles = divide_up(s->length, tile_elements(plan));
    s->group_rows = group_rows_of(plan, s);
    decision->workspace_bytes = bytes_of(plan, s);
    while (p->workspace_limit != 0 && s->group_rows > 1 && decision->workspace_bytes > p->workspace_limit) {
        TOPK_REACHED(REACHED_SORT_LIMIT);
        s->group_rows /= 2;
        decision->workspace_bytes = bytes_of(plan, s);
    }
    const int64_t groups = p->rows == 0 ? 0 : divide_up(p->rows, s->group_rows), of_group = s->passes + 2;
    decision->variant = "groups";
    decision->launches = (int)(least(groups, INT_MAX / 4 / of_group) * of_group); /* callers add to them */
    decision->cost_us = p->rows == 0 ? rows_us(context, plan, s) : groups_us(context, plan, s);
}

/* Of rows; groups may be smaller. */
static double least_us(const topk_context *context, const struct plan *plan) {
    struct strategy s = {.is_kth = plan->operation == TOPK_OPERATION_KTH,
                         .wide = plan->problem.length_max > SORT_NARROW_ROW,
                         .passes = plan->element_bits / SORT_DIGIT_BITS,
                         .length = plan->problem.length_max};
    if (plan->problem.rows == 0 || s.length <= row_max(plan)) {
        return rows_us(context, plan, &s);
    }
    s.group_rows = group_rows_of(plan, &s);
    return groups_us(context, plan, &s);
}

static void decide(const topk_context *context, const struct plan *plan, const struct strategy *lists,
                   struct room *room, struct decision *decision) {
    struct strategy *s = topk_room_take(room, sizeof *s);
    *s = *lists;
    s->is_kth = plan->operation == TOPK_OPERATION_KTH;
    s->passes = plan->element_bits / SORT_DIGIT_BITS;
    s->one_block = s->length <= row_max(plan);
    if (s->one_block) {
        decide_rows(context, plan, s, decision);
    } else {
        decide_groups(context, plan, s, decision);
    }
    decision->own = s;
}

static void plan_rows(const topk_context *context, const struct plan *plan, struct room *room,
                      struct decision *decision) {
    if (wants_positions(plan)) {
        topk_cuda_plan_by_position(context, plan, &topk_cuda_sort, room, decision);
        return;
    }
    const struct strategy rows = {.wide = plan->problem.length_max > SORT_NARROW_ROW,
                                  .length = plan->problem.length_max};
    decide(context, plan, &rows, room, decision);
}

void topk_cuda_plan_found(const topk_context *context, const struct plan *plan, size_t position_bytes,
                          struct room *room, struct decision *decision) {
    const topk_problem *p = &plan->problem;
    const struct strategy found = {
        .is_found = true, .wide = position_bytes == 8, .length = least(p->k_max, p->length_max)};
    *decision = (struct decision){.cannot = NULL};
    decide(context, plan, &found, room, decision);
}

/* ---- Launches ---- */

/* From row `row` on. */
static struct sort_lists lists_from(const struct sort_lists *lists, int64_t row, const struct plan *plan,
                                    bool wide) {
    const size_t at = (size_t)(row * lists->pitch);
    struct sort_lists moved = *lists;
    if (lists->elements != NULL) {
        moved.elements = (char *)lists->elements + at * plan->element_bytes;
    }
    if (lists->positions != NULL) {
        moved.positions = (char *)lists->positions + at * (wide ? 8 : 4);
    }
    return moved;
}

/* `counts` as in struct found. */
static struct sort_args args_of(const struct call *call, const struct strategy *s, const int64_t *counts) {
    const struct row_args rows = row_args_of(call);
    return (struct sort_args){.rows = rows,
                              .decode = topk_decode_args(&call->plan->order, &rows.map),
                              .kth = kth_outputs_of(call),
                              .is_kth = s->is_kth,
                              .is_found = s->is_found,
                              .found_counts = counts,
                              .wide = s->wide,
                              .tiles = s->tiles};
}

/* `source` as in struct sort_args. */
static int sort_rows(const struct call *call, const struct strategy *s, const struct sort_lists *source,
                     const int64_t *counts) {
    const int64_t rows = call->plan->problem.rows;
    const struct launch_grid grid = grid_of(call, rows, s->resident_blocks, s->threads);
    struct sort_args args = args_of(call, s, counts);
    args.group_rows = rows;
    args.from = *source;
    return kernels[width_of(call->plan)]->row(&grid, &args);
}

/* Sorts rows [args->first_row, args->first_row + args->group_rows), whose lists are args->from. */
static int sort_group(const struct call *call, const struct strategy *s, const struct buffers *b,
                      struct sort_args *args) {
    const struct sort_kernels *launch = kernels[width_of(call->plan)];
    const int64_t resident = s->resident_blocks;
    const int64_t rows_at_once = least(args->group_rows, least(resident, SORT_GRID_ROWS));
    struct launch_grid counting = grid_of(call, s->tiles, greatest(resident / rows_at_once, 1), s->threads);
    struct launch_grid moving = grid_of(call, args->group_rows * s->tiles, resident, s->threads);
    struct launch_grid finding = grid_of(call, divide_up(args->group_rows, 32), resident, 32);
    counting.rows = (uint32_t)rows_at_once;
    moving.dependent = finding.dependent = device_of(call->context)->dependent_launch;
    args->counts = b->counts;
    int error = topk_device_zero(call->stream, b->zeroed, b->zeroed_bytes);
    error = error != 0 ? error : launch->count(&counting, args);
    for (uint32_t pass = 0; pass < s->passes && error == 0; pass++) {
        args->pass = pass;
        args->has_successor = pass + 1 < s->passes || s->is_kth;
        args->ticket = b->tickets + pass;
        args->states = b->states[pass % 2];
        args->next_states = pass + 1 < s->passes ? b->states[1 - pass % 2] : NULL;
        args->to = pass + 1 < s->passes || s->is_kth ? b->lists[pass % 2] : (struct sort_lists){.pitch = 0};
        error = launch->pass(&moving, args);
        args->from = args->to;
    }
    return error == 0 && s->is_kth ? launch->kth(&finding, args) : error;
}

static int sort_groups(const struct call *call, const struct strategy *s, const struct sort_lists *source,
                       const int64_t *counts) {
    const struct plan *plan = call->plan;
    struct arena arena = arena_over(call->workspace);
    struct buffers b = take_buffers(&arena, plan, s);
    int error = 0;
    for (int64_t row = 0; row < plan->problem.rows && error == 0; row += s->group_rows) {
        if (row != 0) {
            TOPK_REACHED(REACHED_SORT_GROUPS);
        }
        struct sort_args args = args_of(call, s, counts);
        args.first_row = row;
        args.group_rows = least(s->group_rows, plan->problem.rows - row);
        args.from = lists_from(source, row, plan, s->wide);
        if (s->is_found) {
            b.lists[1] = args.from;
        }
        error = sort_group(call, s, &b, &args);
    }
    return error;
}

static int run(const struct call *call) {
    if (wants_positions(call->plan)) {
        return topk_cuda_run_by_position(call);
    }
    const struct strategy *s = call->decision->own;
    const struct found *found = call->found;
    struct sort_lists source = {.elements = NULL};
    if (call->plan->problem.rows == 0 || (!s->is_kth && call->plan->problem.k_max == 0)) {
        return 0;
    }
    if (found != NULL) {
        source = (struct sort_lists){found->elements, found->positions, call->plan->problem.k_max};
    }
    const int64_t *counts = found != NULL ? found->counts : NULL;
    return s->one_block ? sort_rows(call, s, &source, counts) : sort_groups(call, s, &source, counts);
}

static int prepare(const topk_context *context) {
    int error = 0;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare();
    }
    (void)context;
    return error;
}

const struct method topk_cuda_sort = {.name = "sort",
                                      .operations = SELECTS,
                                      .least_us = least_us,
                                      .plan = plan_rows,
                                      .prepare = prepare,
                                      .run = run};
