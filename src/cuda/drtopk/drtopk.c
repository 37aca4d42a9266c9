/* SPDX-License-Identifier: Apache-2.0
 * What a call of drtopk launches: delegates, the first top-k among them by another method, the concatenated
 * vector, and the second top-k on that. */
#include "../../reached.h"
#include "../../subcall.h"
#include "../leaf.h"
#include "../lookback.h"
#include "../methods.h"
#include "../select/plan.h"
#include "kernels.h"

static const struct drtopk_kernels *const kernels_of_width[] = {
    &topk_cuda_drtopk_kernels_8, &topk_cuda_drtopk_kernels_16, &topk_cuda_drtopk_kernels_32,
    &topk_cuda_drtopk_kernels_64};

/* ---- Knobs ---- */

enum { KNOB_BASE, KNOB_BETA, KNOB_EXPONENT, KNOB_FILTER, KNOB_COALESCED };

/* By the number that `base` has. */
static const struct method *const bases[] = {&topk_cuda_radix, &topk_cuda_air, &topk_cuda_radik,
                                             &topk_cuda_bracket};
enum { BASES = sizeof bases / sizeof bases[0] };

static const struct knob knobs[] = {
    [KNOB_BASE] = {"base", KNOB_INTEGER, 0, BASES - 1, 0,
                   "the method of both top-k: 0 radix, 1 air, 2 radik, 3 bracket"},
    [KNOB_BETA] = {"beta", KNOB_INTEGER, 1, DRTOPK_BETA_MAX, DRTOPK_BETA, "delegates of a subrange"},
    [KNOB_EXPONENT] =
        {"exponent", KNOB_INTEGER, DRTOPK_EXPONENT_MIN, DRTOPK_EXPONENT_MAX, DRTOPK_EXPONENT_MIN,
         "subranges have 2^exponent elements; by default the rule tells, and fewer where k needs "
         "more delegates"},
    [KNOB_FILTER] = {"filter", KNOB_SWITCH, 0, 1, 1,
                     "0 keeps also elements that are worse than the k-th delegate"},
    [KNOB_COALESCED] =
        {"coalesced", KNOB_SWITCH, 0, 1, 1,
         "0 has lanes of a warp make the delegates of subranges up to exponent 6, too, in place of "
         "a thread"},
    {.name = NULL},
};

static int64_t value_of(const struct plan *plan, int knob) {
    return tuning_value(&plan->tuning, &knobs[knob]);
}

/* ---- Strategy ---- */

/* Follows from the plan and the device alone. */
struct strategy {
    bool is_base; /* rows are too short, or k too large, for delegates: the base alone serves */
    uint32_t exponent, beta;
    bool coalesced, filters;
    int64_t subranges, slots; /* of the longest row: at most, and room for their delegates */
    int64_t pitch;            /* of a concatenated vector */
    int64_t tiles;            /* of a row's subranges, at most */
};

static uint32_t exponent_min(const struct plan *plan) {
    return plan->element_bytes == 1 ? DRTOPK_EXPONENT_MIN_OF_BYTES : DRTOPK_EXPONENT_MIN;
}

static int64_t log2_of(int64_t number) {
    return number < 2 ? 0 : 63 - __builtin_clzll((unsigned long long)number);
}

/* Rule 4 of the paper: which size makes the work of all steps the least; then smaller until there are k
 * delegates. 0: no size does. */
static uint32_t exponent_of(const struct plan *plan, int64_t beta) {
    const int64_t n = plan->problem.length_max, k = plan->problem.k_max;
    const int64_t *given = tuning_given(&plan->tuning, &knobs[KNOB_EXPONENT]);
    int64_t exponent = given != NULL ? *given : (log2_of(n) - log2_of(k) + DRTOPK_RULE) / 2;
    exponent = least(greatest(exponent, exponent_min(plan)), DRTOPK_EXPONENT_MAX);
    while (exponent >= exponent_min(plan) && beta * (n >> exponent) < k) {
        exponent--;
    }
    return exponent < exponent_min(plan) ? 0 : (uint32_t)exponent;
}

static struct strategy usual_strategy(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const int64_t k = p->k_max, per = 16 / (int64_t)plan->element_bytes;
    struct strategy s = {.beta = (uint32_t)value_of(plan, KNOB_BETA)};
    s.exponent = p->rows == 0 || k == 0 ? 0 : exponent_of(plan, s.beta);
    s.is_base = s.exponent == 0;
    if (s.is_base) {
        return s;
    }
    const int64_t size = INT64_C(1) << s.exponent;
    s.coalesced = value_of(plan, KNOB_COALESCED) != 0 && s.exponent <= DRTOPK_COALESCED_MAX;
    s.filters = value_of(plan, KNOB_FILTER) != 0;
    s.subranges = (p->length_max >> s.exponent) + (per - 1 + p->length_max % size + size - 1) / size;
    s.slots = s.subranges * s.beta;
    /* Up to k / beta subranges are scanned, and there is room for two more. */
    s.pitch = least(p->length_max, (k / s.beta + 2) * size + k);
    s.tiles = s.subranges / DRTOPK_TILE + 1;
    return s;
}

static const struct method *base_of(const struct plan *plan) {
    return bases[value_of(plan, KNOB_BASE)];
}

/* ---- Inner calls ---- */

static topk_problem inner_problem(const struct plan *plan) {
    topk_problem problem = plan->problem;
    problem.method = base_of(plan)->name;
    problem.tuning = NULL;
    problem.shape = TOPK_SHAPE_STRIDED;
    problem.extent_type = TOPK_INDEX_I64;
    problem.elements_max = 0;
    problem.index_base = 0;
    problem.workspace_limit = 0;
    return problem;
}

/* The k-th of the delegates, whose keys are unsigned integers. */
static topk_status plan_first(const topk_context *context, const struct plan *plan, const struct strategy *s,
                              struct subcall *first) {
    static const topk_type types[WIDTHS] = {TOPK_U8, TOPK_U16, TOPK_U32, TOPK_U64};
    topk_problem problem = inner_problem(plan);
    problem.type = types[width_of(plan)];
    problem.direction = TOPK_LARGEST;
    problem.rank = TOPK_BY_VALUE;
    problem.length_max = problem.row_stride = s->slots;
    problem.k_max = least(problem.k_max, s->slots);
    return topk_subcall_choose(context, TOPK_OPERATION_KTH, &problem, first);
}

/* The call's own operation on the concatenated vectors. */
static topk_status plan_second(const topk_context *context, const struct plan *plan, const struct strategy *s,
                               struct subcall *second) {
    topk_problem problem = inner_problem(plan);
    problem.length_max = problem.row_stride = s->pitch;
    return topk_subcall_choose(context, plan->operation, &problem, second);
}

/* The whole call, by the base, which keeps to the caller's limit where it can. */
static topk_status plan_base(const topk_context *context, const struct plan *plan, struct subcall *base) {
    topk_problem problem = plan->problem;
    problem.method = base_of(plan)->name;
    problem.tuning = NULL;
    return topk_subcall_choose(context, plan->operation, &problem, base);
}

/* ---- Workspace ---- */

struct layout {
    struct subcall first, second; /* if delegates are made, else `base` */
    struct subcall base;
    struct drtopk_args args;
    void *elements, *indices; /* concatenated */
    void *kth_values;
    void *zeroed; /* what must be zero before the first launch */
    size_t zeroed_bytes;
    size_t bytes;
    topk_status status; /* whether the base can serve */
};

static void take_buffers(const struct plan *plan, const struct strategy *s, struct arena *arena,
                         struct layout *l) {
    const size_t rows = (size_t)plan->problem.rows, slots = size_product(rows, (size_t)s->slots),
                 concatenated = size_product(rows, (size_t)s->pitch);
    const bool is_kth = plan->operation == TOPK_OPERATION_KTH;
    struct drtopk_args *a = &l->args;
    const size_t before = arena->used;
    a->lookback.tiles = s->tiles;
    a->lookback.sum_words = look_back_words(s->tiles);
    a->tickets = arena_take(arena, rows, sizeof *a->tickets);
    a->lookback.words =
        arena_take(arena, size_product(rows, 2 * (size_t)a->lookback.sum_words), sizeof *a->lookback.words);
    a->counts = arena_take(arena, is_kth ? rows : 0, sizeof *a->counts);
    a->retired = arena_take(arena, is_kth ? rows : 0, sizeof *a->retired);
    l->zeroed = a->tickets;
    l->zeroed_bytes = arena_join(arena, before);
    a->delegates.keys = arena_take(arena, slots, plan->element_bytes);
    a->delegates.offsets = arena_take(arena, slots, sizeof *a->delegates.offsets);
    a->delegates.pitch = s->slots;
    a->delegates.lengths = arena_take(arena, rows, sizeof *a->delegates.lengths);
    a->delegates.needed = arena_take(arena, rows, sizeof *a->delegates.needed);
    a->delegates.asked = arena_take(arena, rows, sizeof *a->delegates.asked);
    a->first.keys = arena_take(arena, rows, plan->element_bytes);
    a->first.better = arena_take(arena, rows, sizeof *a->first.better);
    a->first.equal = arena_take(arena, rows, sizeof *a->first.equal);
    l->elements = arena_take(arena, concatenated, plan->element_bytes);
    l->indices = arena_take(arena, is_kth ? 0 : concatenated, plan->index_bytes);
    a->concatenated_pitch = s->pitch;
    a->concatenated_lengths = arena_take(arena, rows, sizeof *a->concatenated_lengths);
    l->kth_values = arena_take(arena, is_kth ? rows : 0, plan->element_bytes);
}

static struct layout lay_out(const topk_context *context, const struct plan *plan, const struct strategy *s,
                             void *workspace) {
    struct arena arena = arena_over(workspace);
    struct layout l = {.bytes = 0};
    if (s->is_base) {
        l.status = plan_base(context, plan, &l.base);
        if (l.status == TOPK_OK) {
            topk_subcall_take(&l.base, &arena);
        }
    } else {
        l.status = plan_first(context, plan, s, &l.first);
        l.status = l.status != TOPK_OK ? l.status : plan_second(context, plan, s, &l.second);
        if (l.status == TOPK_OK) {
            take_buffers(plan, s, &arena, &l);
            topk_subcall_take(&l.first, &arena);
            topk_subcall_take(&l.second, &arena);
        }
    }
    l.bytes = l.status == TOPK_OK ? arena_bytes(&arena) : SIZE_MAX; /* rows may overlap, vectors do not */
    return l;
}

/* Above the caller's limit the base serves alone. */
static struct strategy strategy_of(const topk_context *context, const struct plan *plan) {
    const size_t limit = plan->problem.workspace_limit;
    struct strategy s = usual_strategy(plan);
    if (!s.is_base && limit != 0 && lay_out(context, plan, &s, NULL).bytes > limit) {
        s.is_base = true;
    }
    return s;
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    const struct strategy s = strategy_of(context, plan);
    return lay_out(context, plan, &s, NULL).bytes;
}

static const char *refuse(const topk_context *context, const struct plan *plan) {
    if (tuning_given(&plan->tuning, &knobs[KNOB_BASE]) == NULL) {
        return NULL; /* the usual base serves whatever there is */
    }
    const struct strategy s = strategy_of(context, plan);
    return lay_out(context, plan, &s, NULL).status == TOPK_OK ? NULL : "its base cannot serve";
}

static double cost_us(const topk_context *context, const struct plan *plan) {
    const struct strategy s = strategy_of(context, plan);
    const double element_bytes = (double)plan->element_bytes;
    if (s.is_base) {
        struct plan of_base = *plan;
        of_base.tuning.count = 0;
        return 1.01 * base_of(plan)->cost_us(context, &of_base);
    }
    const double read = topk_cuda_costs.drtopk.reads * (double)plan->input_elements;
    const double worked =
        topk_cuda_costs.drtopk.worked_reads * (double)plan->problem.rows * (double)(s.slots + s.pitch);
    return topk_cuda_costs.drtopk.call_us +
           move_us(context, (read + worked) * element_bytes, topk_cuda_costs.drtopk.bytes_per_us) +
           work_us(context, (double)plan->output_elements, topk_cuda_costs.air.chosen_per_us) +
           sorting_us(context, plan, radix_target_of(plan));
}

/* ---- Running ---- */

static int launch_kernel(const struct call *call, const struct layout *l, enum drtopk_kernel kernel,
                         int64_t subranges_of_block, int64_t threads, int64_t blocks_per_sm) {
    const struct plan *plan = call->plan;
    const int64_t rows = plan->problem.rows, sms = device_of(call->context)->sms;
    const int64_t blocks = divide_up(l->args.delegates.pitch / l->args.beta, subranges_of_block);
    struct launch_grid grid =
        grid_of(call, blocks, greatest(divide_up(sms * blocks_per_sm, rows), 1), threads);
    grid.rows = (uint32_t)least(rows, DRTOPK_GRID_ROWS);
    return kernels_of_width[width_of(plan)]->launch(kernel, &grid, &l->args);
}

/* Of so many subranges a block has one for each thread, or one at least for each warp. */
static int make_delegates(const struct call *call, const struct layout *l, bool coalesced) {
    if (!coalesced) {
        return launch_kernel(call, l, DRTOPK_BY_WARP, DRTOPK_THREADS / 32, DRTOPK_THREADS,
                             DRTOPK_BLOCKS_PER_SM);
    }
    TOPK_REACHED(REACHED_DRTOPK_COALESCED);
    return launch_kernel(call, l, DRTOPK_BY_THREAD, DRTOPK_COALESCED_THREADS, DRTOPK_COALESCED_THREADS,
                         DRTOPK_COALESCED_BLOCKS_PER_SM);
}

static int run_first(const struct call *call, const struct layout *l) {
    struct call first = topk_subcall_call(&l->first, call);
    first.input = (topk_input){.size = sizeof first.input,
                               .values = l->args.delegates.keys,
                               .lengths = l->args.delegates.lengths,
                               .k = l->args.delegates.needed};
    first.values = l->args.first.keys;
    first.indices = NULL;
    first.better = l->args.first.better;
    first.equal = l->args.first.equal;
    return l->first.method->run(&first);
}

static int run_second(const struct call *call, const struct layout *l) {
    struct call second = topk_subcall_call(&l->second, call);
    second.input = (topk_input){.size = sizeof second.input,
                                .values = l->elements,
                                .indices = l->indices,
                                .lengths = l->args.concatenated_lengths,
                                .k = l->args.delegates.asked};
    if (call->plan->operation == TOPK_OPERATION_KTH) {
        second.values = l->args.kth.values;
        second.equal = NULL;
    }
    return l->second.method->run(&second);
}

static int run(const struct call *call) {
    const struct strategy s = strategy_of(call->context, call->plan);
    struct layout l = lay_out(call->context, call->plan, &s, call->workspace);
    if (s.is_base) {
        const struct call base = topk_subcall_call(&l.base, call);
        TOPK_REACHED(REACHED_DRTOPK_BASE_ALONE);
        return l.base.method->run(&base);
    }
    l.args.rows = row_args_of(call);
    l.args.rows.out_values = l.elements;
    l.args.rows.out_indices = l.indices;
    l.args.exponent = s.exponent;
    l.args.beta = s.beta;
    l.args.filters = s.filters;
    l.args.kth = kth_outputs_of(call);
    l.args.kth.values = call->values != NULL ? call->values : l.kth_values;
    int error = topk_device_zero(call->stream, l.zeroed, l.zeroed_bytes);
    error = error != 0 ? error : make_delegates(call, &l, s.coalesced);
    error = error != 0 ? error : run_first(call, &l);
    error = error != 0 ? error
                       : launch_kernel(call, &l, DRTOPK_CONCATENATE, DRTOPK_TILE, DRTOPK_TILE,
                                       DRTOPK_TILE_BLOCKS_PER_SM);
    error = error != 0 ? error : run_second(call, &l);
    if (error == 0 && call->equal != NULL) {
        error = launch_kernel(call, &l, DRTOPK_EQUAL, DRTOPK_TILE, DRTOPK_TILE, DRTOPK_TILE_BLOCKS_PER_SM);
    }
    return error;
}

static int prepare(const topk_context *context) {
    int error = 0;
    (void)context;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels_of_width[width]->prepare();
    }
    return error;
}

const struct method topk_cuda_drtopk = {.name = "drtopk",
                                        .operations = SELECTS,
                                        .knobs = knobs,
                                        .refuse = refuse,
                                        .cost_us = cost_us,
                                        .workspace_bytes = workspace_bytes,
                                        .prepare = prepare,
                                        .run = run};
