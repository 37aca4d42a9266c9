/* SPDX-License-Identifier: Apache-2.0
 * What a call of merge launches. The lists are known when it runs; all that is laid out follows from the
 * problem.
 *
 *   lists of ranks   short ones are exchanged and merged at once (exchange.cuh), others come here first
 *   short lists      one block merges a row's sorted lists (short.cuh)
 *   few candidates   one block sorts a row's candidates
 *   sorted lists     of few rows, blocks hold what may be a result, and rank some of it (held.cuh); of more,
 *                    blocks find their shares of the results, and rank these (share.cuh). If blocks share
 *                    a row and are no cluster, other ones look first whether it is invalid
 *   all else         a selection digit by digit (select.cuh). If there is an order, blocks sort runs of the
 *                    results, and runs are merged as lists are, MERGE_RUNS at a time */
#include "../methods.h"

#include "../../reached.h"
#include "../../workspace.h"
#include "../leaf.h"
#include "exchange.h"
#include "launches.h"

static const struct merge_kernels *const kernels[WIDTHS] = {
    &topk_cuda_merge_kernels_8, &topk_cuda_merge_kernels_16, &topk_cuda_merge_kernels_32,
    &topk_cuda_merge_kernels_64};

/* Blocks of MERGE_THREADS that a multiprocessor holds. */
enum { BLOCKS_PER_SM = 2 };

struct layout {
    struct merge_state *states;
    int64_t *listed, *counts;
    struct merge_runs runs[2];
    uint32_t *invalid;
};

static struct merge_runs take_runs(struct arena *arena, const struct shape *s) {
    struct merge_runs runs;
    runs.values = arena_take(arena, s->elements, s->element_bytes);
    runs.indices = arena_take(arena, s->elements, s->index_bytes);
    runs.at = arena_take(arena, s->elements, sizeof *runs.at);
    return runs;
}

static struct layout lay_out(struct arena *arena, const struct shape *s) {
    struct layout l = {.listed = NULL};
    l.states = arena_take(arena, (size_t)s->states, sizeof *l.states);
    l.invalid = arena_take(arena, (size_t)greatest((int64_t)s->rows, MERGE_LOOK_BLOCKS), sizeof *l.invalid);
    if (s->has_order) {
        l.counts = arena_take(arena, s->rows, sizeof *l.counts);
        l.listed = arena_take(arena, s->elements, sizeof *l.listed);
    }
    for (int i = 0; i < 2 && i < s->merges; i++) {
        l.runs[i] = take_runs(arena, s);
    }
    return l;
}

/* How often MERGE_RUNS runs become one until there is one. */
static int64_t merges_of(int64_t results) {
    int64_t runs = divide_up(results, MERGE_RUN), merges = 0;
    for (; runs > 1; merges++) {
        runs = divide_up(runs, MERGE_RUNS);
    }
    return merges;
}

/* A model, not a fit: only this method merges. It knows nothing of how many lists there will be. */
static void decide(const topk_context *context, const struct plan *plan, struct room *room,
                   struct decision *decision) {
    const topk_problem *p = &plan->problem;
    struct shape *s = topk_room_take(room, sizeof *s);
    struct arena arena = arena_over(NULL);
    *s = (struct shape){.kernels = kernels[width_of(plan)],
                        .has_order = p->order != TOPK_ORDER_ANY,
                        .states = p->rows <= MERGE_SHARED_ROWS ? p->rows : 0,
                        .elements = plan->output_elements,
                        .rows = (size_t)p->rows,
                        .element_bytes = plan->element_bytes,
                        .index_bytes = plan->index_bytes};
    s->merges = s->has_order ? merges_of(p->k_max) : 0;
    (void)lay_out(&arena, s);
    decision->launches = (int)greatest(2, s->has_order ? 2 + s->merges : 1);
    decision->workspace_bytes = arena_bytes(&arena);
    decision->cost_us =
        2 * topk_cuda_costs.launch_us +
        move_us(context, (double)plan->input_elements * (double)(plan->element_bytes + plan->index_bytes),
                topk_cuda_costs.merge.bytes_per_us);
    decision->own = s;
}

/* ---- Running ---- */

static uint64_t candidates_of(const struct call *call) {
    return (uint64_t)call->lists->lists * (uint64_t)call->plan->problem.length_max;
}

static struct merge_args args_of(const struct call *call, const struct layout *l) {
    return (struct merge_args){.rows = row_args_of(call),
                               .lists = call->lists->lists,
                               .list_stride = call->lists->list_stride,
                               .candidates = candidates_of(call),
                               .payload = call->lists->payload,
                               .out_payload = call->payload,
                               .payload_bytes = (uint32_t)call->lists->payload_bytes,
                               .by_position = call->plan->problem.order == TOPK_ORDER_BY_POSITION,
                               .is_last = true,
                               .states = l->states,
                               .counts = l->counts,
                               .parts = 1,
                               .invalid = l->invalid};
}

static bool are_few(const struct launches *l) {
    const struct device_info *device = device_of(l->call->context);
    const uint64_t most = l->call->plan->problem.rows >= device->sms ? MERGE_FEW_OF_MANY_ROWS : MERGE_FEW;
    return l->args.candidates <= most &&
           l->shape->kernels->sort_bytes((uint32_t)l->args.candidates, MERGE_SORT_THREADS) <=
               (uint32_t)device->shared_bytes_max;
}

static int sort_few(struct launches *l) {
    const uint32_t candidates = (uint32_t)l->args.candidates;
    int64_t threads = 32;
    while (threads < MERGE_SORT_THREADS && 2 * threads < candidates) {
        threads *= 2;
    }
    const struct launch_grid grid = topk_cuda_merge_grid(l, l->call->plan->problem.rows, threads);
    TOPK_REACHED(REACHED_MERGE_FEW);
    return l->shape->kernels->sort(&grid, &l->args, candidates);
}

static int64_t steps_of_search(int64_t length) {
    int64_t steps = 0;
    while (length >> steps > 0) {
        steps++;
    }
    return steps;
}

/* The cost if there are `rows` rows. */
static bool are_short(const struct launches *l, int64_t rows) {
    const int64_t lists = l->args.lists, length = l->args.rows.length_max, threads = MERGE_SHORT_THREADS;
    if (l->args.candidates == 0 || l->args.candidates > (uint64_t)MERGE_SHORT_ITEMS * MERGE_SHORT_THREADS ||
        rows > MERGE_SHORT_ROWS) {
        return false;
    }
    const int64_t chosen = least((int64_t)l->args.candidates, 2 * l->call->plan->problem.k_max);
    const int64_t items = divide_up(chosen, threads);
    return items * (lists - 1) * steps_of_search(length) <= MERGE_SHORT_STEPS &&
           l->shape->kernels->short_bytes((uint32_t)l->args.candidates) <=
               (uint32_t)device_of(l->call->context)->shared_bytes_max;
}

static int64_t short_threads(const struct launches *l) {
    return least(MERGE_SHORT_THREADS, 32 * divide_up((int64_t)l->args.candidates, 32));
}

static int merge_short(struct launches *l) {
    const struct launch_grid grid = topk_cuda_merge_grid(l, l->call->plan->problem.rows, short_threads(l));
    TOPK_REACHED(REACHED_MERGE_SHORT);
    return l->shape->kernels->merge_short(&grid, &l->args);
}

/* Whether one kernel exchanges and merges. All ranks find the same, also those that get no rows. */
static bool is_one_launch(const struct launches *l, bool are_sorted) {
    const struct peer_lists *e = l->call->exchange;
    const topk_peer_group *g = &e->run.group;
    const uint64_t rows = (uint64_t)e->block_rows;
    if (!are_sorted || g->ranks < 2 || l->shape->kernels->exchange == NULL || !are_short(l, e->block_rows) ||
        l->call->plan->problem.k_max == 0) {
        return false;
    }
    return rows * (uint64_t)e->length <= peer_list_slots(g) &&
           (g->one_each != 0 || rows * l->args.candidates <= MERGE_SHORT_ITEMS * MERGE_SHORT_THREADS);
}

/* Blocks share rows if no other rank can be in want of their room. */
static int exchange_short(struct launches *l) {
    const struct peer_lists *e = l->call->exchange;
    const topk_peer_group *g = &e->run.group;
    const int64_t sms = device_of(l->call->context)->sms;
    const struct exchange_args args = exchange_args_of(e, &l->args);
    l->dependent = e->follows;
    struct launch_grid grid =
        topk_cuda_merge_grid(l, g->one_each != 0 ? least(e->rows, sms) : 1, short_threads(l));
    grid.waits = grid.blocks > 1; /* each for blocks of other ranks, which wait for this rank's */
    return l->shape->kernels->exchange(&grid, &args);
}

/* Merges runs until there is one of each row: the results. */
static int merge_runs(struct launches *l, const struct layout *layout) {
    const int64_t rows = l->call->plan->problem.rows, k = l->call->plan->problem.k_max;
    int error = 0;
    l->args.run = MERGE_RUN;
    for (int64_t merge = 0; merge < l->shape->merges && error == 0; merge++) {
        const int64_t span = l->args.run * MERGE_RUNS, groups = divide_up(k, span), results = least(k, span);
        l->args.is_last = merge + 1 == l->shape->merges;
        l->args.has_successor = !l->args.is_last;
        l->args.from = layout->runs[merge % 2];
        l->args.to = layout->runs[(merge + 1) % 2];
        error = topk_cuda_share_lists(l, rows * groups,
                                      topk_cuda_merge_parts(l, rows * groups, results, results), results, 1);
        l->args.run = span;
        if (merge > 0) {
            TOPK_REACHED(REACHED_MERGE_AGAIN);
        }
    }
    return error;
}

static int select_results(struct launches *l) {
    const int64_t rows = l->call->plan->problem.rows;
    const uint64_t tiles = (l->args.candidates - 1) / (MERGE_THREADS * MERGE_ITEMS) + 1;
    const int64_t of_row = (int64_t)device_of(l->call->context)->sms * BLOCKS_PER_SM / rows;
    const int64_t blocks = tiles > (uint64_t)of_row ? greatest(of_row, 1) : (int64_t)tiles;
    int error = 0;
    l->args.is_alone = l->shape->states == 0;
    if (!l->args.is_alone) {
        l->dependent = false; /* behind what is no kernel */
        error = topk_device_zero(l->call->stream, l->args.states, l->shape->rows * sizeof *l->args.states);
    }
    const struct launch_grid grid =
        topk_cuda_merge_grid(l, l->args.is_alone ? rows : rows * blocks, MERGE_THREADS);
    return error != 0 ? error : l->shape->kernels->select(&grid, &l->args);
}

/* Lists that are here. */
static int merge(struct launches *l, const struct layout *layout, bool are_sorted) {
    const struct call *call = l->call;
    const struct shape *s = l->shape;
    const bool are_merged = are_sorted && l->args.candidates > MERGE_FEW_SORTED;
    if (are_sorted && are_short(l, call->plan->problem.rows)) {
        return merge_short(l);
    }
    if (!are_merged && are_few(l)) {
        return sort_few(l);
    }
    if (are_merged) {
        return topk_cuda_merge_lists(l);
    }
    l->args.listed = layout->listed;
    l->args.has_successor = s->has_order;
    int error = select_results(l);
    if (error == 0 && s->has_order) {
        const int64_t runs = divide_up(call->plan->problem.k_max, MERGE_RUN);
        const struct launch_grid grid =
            topk_cuda_merge_grid(l, call->plan->problem.rows * runs, MERGE_RUN_THREADS);
        l->args.is_last = s->merges == 0;
        l->args.has_successor = !l->args.is_last;
        l->args.to = layout->runs[0];
        error = s->kernels->sort(&grid, &l->args, MERGE_RUN);
    }
    return error != 0 ? error : merge_runs(l, layout);
}

static int run(const struct call *call) {
    struct arena arena = arena_over(call->workspace);
    const struct shape *s = call->decision->own;
    const struct layout layout = lay_out(&arena, s);
    struct launches l = {.call = call, .shape = s, .args = args_of(call, &layout)};
    const bool are_sorted = call->lists->sorted == TOPK_SORTED_BEST_FIRST &&
                            call->lists->lists <= MERGE_LISTS && !l.args.by_position;
    if (call->exchange != NULL && call->exchange->run.count > 0) {
        if (is_one_launch(&l, are_sorted)) {
            return exchange_short(&l);
        }
        const int error = topk_cuda_move(&call->exchange->run);
        if (error != 0) {
            return error;
        }
        l.dependent = true;
    }
    return s->elements > 0 ? merge(&l, &layout, are_sorted) : 0;
}

static int prepare(const topk_context *context) {
    struct device_info *device = &((struct cuda_leaf *)context->leaf)->device;
    int error = 0;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare((uint32_t)device->shared_bytes_max, &device->merge_cluster[width]);
    }
    return error;
}

const struct method topk_cuda_merge = {.name = "merge",
                                       .operations = OPERATION_BIT(TOPK_OPERATION_MERGE),
                                       .plan = decide,
                                       .prepare = prepare,
                                       .run = run};
