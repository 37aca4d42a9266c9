/* SPDX-License-Identifier: Apache-2.0
 * What sort launches, and over which workspace. */
#include "../../reached.h"
#include "../lookback.h"
#include "../ordering/ordering.h"
#include "plan.h"

static const struct sort_kernels *const kernels[WIDTHS] = {
    &topk_cuda_sort_kernels_8, &topk_cuda_sort_kernels_16, &topk_cuda_sort_kernels_32,
    &topk_cuda_sort_kernels_64};

/* ---- Workspace ---- */

/* Whether some pass writes buffer `which`: pass p writes buffer p % 2, but select's last pass writes the
 * outputs. Survivors are listed in buffer 1. */
static bool is_used(const struct sort_plan *s, uint32_t which) {
    return which < s->passes - (s->is_kth ? 0 : 1) || (which == 1 && s->is_filtered);
}

static struct sort_lists take_lists(struct arena *arena, const struct plan *plan, const struct sort_plan *s) {
    const size_t elements = (size_t)(s->group_rows * s->room);
    struct sort_lists lists = {.elements = arena_take(arena, elements, plan->element_bytes),
                               .pitch = s->room};
    if (!s->is_kth) {
        lists.positions = arena_take(arena, elements, s->wide ? 8 : 4);
    }
    return lists;
}

static size_t filter_words(const struct sort_plan *s) {
    return (size_t)look_back_words(s->group_rows * s->row_tiles);
}

/* Tickets and words of two launches. */
static struct sort_filter take_filter(struct arena *arena, const struct sort_plan *s) {
    const size_t rows = (size_t)s->group_rows;
    struct sort_filter f = {.room = s->room, .tiles = s->row_tiles};
    f.ranges = arena_take(arena, rows, sizeof *f.ranges);
    f.words = arena_take(arena, 2 * filter_words(s), sizeof *f.words);
    f.ticket = arena_take(arena, 2, sizeof *f.ticket);
    f.row_ticket = arena_take(arena, 1, sizeof *f.row_ticket);
    f.settled = arena_take(arena, rows, sizeof *f.settled);
    return f;
}

struct sort_buffers topk_cuda_sort_take(struct arena *arena, const struct plan *plan,
                                        const struct sort_plan *s) {
    struct sort_buffers b = {.zeroed = NULL};
    const size_t rows = (size_t)s->group_rows, states = rows * (size_t)s->tiles * SORT_BINS;
    const size_t before = arena->used;
    b.zeroed = b.counts = arena_take(arena, rows * s->passes * SORT_BINS, sizeof *b.counts);
    b.tickets = arena_take(arena, s->passes, sizeof *b.tickets);
    b.states[0] = arena_take(arena, states, s->wide_states ? 8 : 4);
    if (s->is_filtered) {
        b.filter = take_filter(arena, s);
    }
    b.zeroed_bytes = arena_join(arena, before);
    if (s->is_filtered) {
        b.filter.thresholds = arena_take(arena, rows, sizeof *b.filter.thresholds);
        b.filter.until = arena_take(arena, rows, sizeof *b.filter.until);
        b.filter.starts = arena_take(arena, rows + 1, sizeof *b.filter.starts);
    }
    if (s->passes > 1) {
        b.states[1] = arena_take(arena, states, s->wide_states ? 8 : 4);
    }
    if (is_used(s, 0)) {
        b.lists[0] = take_lists(arena, plan, s);
    }
    if (is_used(s, 1) && !s->is_found) {
        b.lists[1] = take_lists(arena, plan, s);
    }
    return b;
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
static struct sort_args args_of(const struct call *call, const struct sort_plan *s, const int64_t *counts) {
    const struct row_args rows = row_args_of(call);
    return (struct sort_args){.rows = rows,
                              .decode = topk_decode_args(&call->plan->order, &rows.map),
                              .kth = kth_outputs_of(call),
                              .is_kth = s->is_kth,
                              .is_found = s->is_found,
                              .found_counts = counts,
                              .wide = s->wide,
                              .wide_states = s->wide_states,
                              .tiles = s->tiles};
}

/* `source` as in struct sort_args. */
static int sort_rows(const struct call *call, const struct sort_plan *s, const struct sort_lists *source,
                     const int64_t *counts) {
    const int64_t rows = call->plan->problem.rows;
    const struct launch_grid grid = grid_of(call, rows, s->resident_blocks, s->threads);
    struct sort_args args = args_of(call, s, counts);
    args.group_rows = rows;
    args.from = *source;
    return kernels[width_of(call->plan)]->row(&grid, &args);
}

/* Counts the digits of lists. */
static int count_lists(const struct call *call, const struct sort_plan *s, const struct sort_args *args) {
    const int64_t rows_at_once = least(args->group_rows, least(s->resident_blocks, SORT_GRID_ROWS));
    struct launch_grid counting =
        grid_of(call, s->tiles, greatest(s->resident_blocks / rows_at_once, 1), s->threads);
    counting.rows = (uint32_t)rows_at_once;
    counting.dependent = s->is_filtered && device_of(call->context)->dependent_launch;
    return kernels[width_of(call->plan)]->count(&counting, args);
}

/* Lists the survivors of rows. The lists become args->from. */
static int filter_group(const struct call *call, const struct sort_plan *s, const struct sort_buffers *b,
                        struct sort_args *args) {
    const struct sort_kernels *launch = kernels[width_of(call->plan)];
    const int64_t zeroing = divide_up((int64_t)b->zeroed_bytes, SORT_SAMPLE_THREADS * 64);
    const int64_t sms = device_of(call->context)->sms;
    struct launch_grid sampling =
        grid_of(call, greatest(args->group_rows, zeroing), sms, SORT_SAMPLE_THREADS);
    struct launch_grid filtering =
        grid_of(call, args->group_rows * s->row_tiles, sms * SORT_FILTER_BLOCKS_PER_SM, SORT_FILTER_THREADS);
    filtering.dependent = device_of(call->context)->dependent_launch;
    args->filter = b->filter;
    args->filter.seed = call->context->seed;
    args->zeroed = b->zeroed;
    args->zeroed_bytes = (int64_t)b->zeroed_bytes;
    args->to = b->lists[1];
    int error = launch->sample(&sampling, args);
    error = error != 0 ? error : launch->filter(&filtering, args);
    args->filter.again = true;
    args->filter.ticket++;
    args->filter.words += filter_words(s);
    error = error != 0 ? error : launch->filter(&filtering, args);
    args->from = args->to;
    return error;
}

/* Sorts rows [args->first_row, args->first_row + args->group_rows), whose lists are args->from. */
static int sort_group(const struct call *call, const struct sort_plan *s, const struct sort_buffers *b,
                      struct sort_args *args) {
    const struct sort_kernels *launch = kernels[width_of(call->plan)];
    const int64_t passing = (int64_t)device_of(call->context)->sms * SORT_PASS_BLOCKS_PER_SM;
    struct launch_grid moving = grid_of(call, args->group_rows * s->tiles, passing, SORT_PASS_THREADS);
    struct launch_grid finding = grid_of(call, divide_up(args->group_rows, 32), s->resident_blocks, 32);
    moving.dependent = finding.dependent = device_of(call->context)->dependent_launch;
    args->counts = b->counts;
    int error = s->is_filtered ? filter_group(call, s, b, args)
                               : topk_device_zero(call->stream, b->zeroed, b->zeroed_bytes);
    error = error != 0 ? error : count_lists(call, s, args);
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

static int sort_groups(const struct call *call, const struct sort_plan *s, const struct sort_lists *source,
                       const int64_t *counts) {
    const struct plan *plan = call->plan;
    struct arena arena = arena_over(call->workspace);
    struct sort_buffers b = topk_cuda_sort_take(&arena, plan, s);
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

int topk_cuda_sort_run(const struct call *call) {
    const struct sort_plan *s = call->decision->own;
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
