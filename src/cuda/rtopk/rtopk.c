/* SPDX-License-Identifier: Apache-2.0
 * What rtopk decides: which of its kernels serves a problem, and what that is expected to take. Where rows
 * are all alike this is a network (network.c), or, of an approximation, one that shares a warp among several
 * rows (approximate.c). launch.c launches it. */
#include <math.h>

#include "../../workspace.h"
#include "../methods.h"
#include "plan.h"

static const struct rtopk_set kernels[WIDTHS] = {
    {&topk_cuda_rtopk_kernels_8, &topk_cuda_rtopk_where_8, &topk_cuda_rtopk_network_8,
     &topk_cuda_rtopk_approximate_8},
    {&topk_cuda_rtopk_kernels_16, &topk_cuda_rtopk_where_16, &topk_cuda_rtopk_network_16,
     &topk_cuda_rtopk_approximate_16},
    {&topk_cuda_rtopk_kernels_32, &topk_cuda_rtopk_where_32, &topk_cuda_rtopk_network_32,
     &topk_cuda_rtopk_approximate_32},
    {&topk_cuda_rtopk_kernels_64, &topk_cuda_rtopk_where_64, &topk_cuda_rtopk_network_64,
     &topk_cuda_rtopk_approximate_64}};

static const int64_t items_of_class[RTOPK_CLASSES] = {RTOPK_ITEMS_0, RTOPK_ITEMS_1, RTOPK_ITEMS_2,
                                                      RTOPK_ITEMS_3};

/* The first class whose lanes hold a row of that length. */
static uint32_t row_class_of(int64_t length) {
    uint32_t row_class = 0;
    while (32 * items_of_class[row_class] < length) {
        row_class++;
    }
    return row_class;
}

/* Whether an exact search without a network keeps rows in shared memory: they are too long for registers, or
 * may have such different lengths that most of these would be empty. */
static bool is_uneven(const struct plan *plan) {
    return !has_predicate(plan) &&
           plan->problem.length_max >
               32 * (plan->problem.shape == TOPK_SHAPE_STRIDED ? RTOPK_ITEMS_3 : RTOPK_ITEMS_1);
}

/* Entries that a warp sorts in shared memory, a power of two: 0 if registers hold them. */
static uint32_t entries_of(const struct plan *plan) {
    uint32_t entries = RTOPK_FEW;
    const bool is_listed_so = is_by_position(plan) && !is_uneven(plan);
    if (!is_sorted(plan) || is_listed_so || results_max(plan) <= RTOPK_FEW) {
        return 0;
    }
    while (entries < results_max(plan)) {
        entries *= 2;
    }
    return entries;
}

static const char *refuse(const struct plan *plan) {
    const int64_t length = plan->problem.length_max;
    if (plan->approximate) {
        return length > RTOPK_APPROXIMATE_MAX ? "rows are longer than 8192 elements" : NULL;
    }
    if (length > (has_predicate(plan) ? RTOPK_WHERE_ROW_MAX : RTOPK_ROW_MAX)) {
        return "rows are longer than a warp holds";
    }
    if (plan->operation != TOPK_OPERATION_KTH && results_max(plan) > RTOPK_RESULTS_MAX) {
        return "more results are wanted than a warp lists";
    }
    return NULL;
}

/* Elements of a row that a lane deals with, on average. */
static double items_of(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const double most = (double)p->length_max, all = (double)p->elements_max;
    const double length = p->shape == TOPK_SHAPE_STRIDED ? most : fmin(most, all / fmax(1, (double)p->rows));
    return is_uneven(plan) ? length / 32 + 2 : (double)items_of_class[row_class_of(p->length_max)];
}

/* Whether a row has all lanes of a warp to itself, and more elements than the classes below hold. */
static bool is_wide(const struct plan *plan) {
    return !plan->approximate && plan->problem.length_max > 32 * RTOPK_ITEMS_3;
}

/* Of an exact search without a network. For up to 32 results the lanes' best codes tell a threshold. Codes of
 * 64 bits take two words, and wait for each other while they are counted. */
static double plain_of_warp(const struct plan *plan, uint32_t entries) {
    const int64_t k = results_max(plan);
    const double items = items_of(plan), few = (double)least(k, 32);
    const double in_memory =
        plan->element_bytes < 8 ? 380 + 6 * few + 27 * items : 500 + 6 * few + 55 * items;
    const double search = is_uneven(plan)           ? in_memory
                          : plan->element_bytes < 8 ? 300 + 25 * items
                          : k < 32                  ? 350 + 43 * items
                                                    : 500 + 75 * items;
    const double of_results = k > 32 ? 2.5 * (double)k + 12 * entries : 0;
    return search + of_results;
}

/* What a row takes from its first load to its last store, by what one instruction takes. A wide row has a
 * warp alone, and too few warps have room beside it. */
static double latency_us(const topk_context *context, const struct plan *plan, const struct network *search) {
    return block_us(context, topk_cuda_costs.rtopk.latency_us *
                                 (is_wide(plan) ? search->of_warp : search->instructions));
}

static double cost_us(const topk_context *context, const struct plan *plan, const struct network *search) {
    const double rows = (double)plan->problem.rows;
    if (rows == 0) {
        return topk_cuda_costs.launch_us;
    }
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes +
                         (double)plan->output_elements * (double)(plan->element_bytes + plan->index_bytes);
    return topk_cuda_costs.launch_us + latency_us(context, plan, search) +
           fmax(work_us(context, rows * search->instructions, topk_cuda_costs.rtopk.instructions_per_us),
                move_us(context, bytes, topk_cuda_costs.rtopk.bytes_per_us));
}

/* An exact search of rows of any kind, without a network. */
static struct rtopk_launch plain_of(const struct plan *plan, uint32_t entries) {
    const bool is_kth = plan->operation == TOPK_OPERATION_KTH, is_long = is_uneven(plan);
    const int64_t threads = is_long ? RTOPK_UNEVEN_THREADS : RTOPK_THREADS;
    const uint32_t row_class = is_long ? 0 : row_class_of(plan->problem.length_max);
    return (struct rtopk_launch){.kernel = has_predicate(plan) ? RTOPK_WHERE
                                           : is_long           ? RTOPK_UNEVEN
                                                               : RTOPK_ROW,
                                 .index = has_predicate(plan) && row_class > 0 ? row_class - 1 : row_class,
                                 .blocks =
                                     least(divide_up(plan->problem.rows, threads / 32), RTOPK_GRID_BLOCKS),
                                 .threads = threads,
                                 .is_sorted = is_sorted(plan),
                                 .slots = (uint32_t)greatest(is_kth ? 0 : results_max(plan), RTOPK_LISTED),
                                 .entries = entries};
}

/* Decides on an exact search, and returns what it takes. A network stands for it, also where none serves. */
static struct network plan_exact(const topk_context *context, const struct plan *plan, uint32_t entries,
                                 struct rtopk_plan *own, struct decision *decision) {
    const double of_ties = 400; /* which narrow elements have */
    struct network best = {.of_warp = plain_of_warp(plan, entries)};
    best.instructions = topk_cuda_rtopk_instructions_of_row(context, plan, best.of_warp, 1);
    own->any = plain_of(plan, entries);
    decision->variant = own->any.kernel == RTOPK_UNEVEN ? "memory" : "registers";
    if (may_be_uniform(plan)) {
        const struct network network = topk_cuda_rtopk_network_of(context, plan);
        if (network.instructions < best.instructions) {
            best = network;
            decision->variant = topk_cuda_rtopk_take_network(context, plan, &network, own);
        }
    }
    best.instructions += is_wide(plan) && plan->element_bytes < 4 ? of_ties : 0;
    return best;
}

/* No kernel executes fewer instructions for the rows of a warp. */
static double least_us(const topk_context *context, const struct plan *plan) {
    const double LEAST = 80;
    struct network search = {.of_warp = LEAST, .instructions = LEAST};
    if (!plan->approximate) {
        search.instructions = topk_cuda_rtopk_instructions_of_row(context, plan, LEAST, 32);
    }
    return refuse(plan) != NULL ? INFINITY : cost_us(context, plan, &search);
}

static void decide(const topk_context *context, const struct plan *plan, struct room *room,
                   struct decision *decision) {
    const topk_problem *p = &plan->problem;
    decision->cannot = refuse(plan);
    if (decision->cannot != NULL) {
        return;
    }
    struct rtopk_plan *own = topk_room_take(room, sizeof *own);
    struct network search = {.of_warp = 0};
    struct arena arena = arena_over(NULL);
    const uint32_t entries = entries_of(plan);
    const int64_t per = group_elements(plan);
    *own = (struct rtopk_plan){.kernels = &kernels[width_of(plan)],
                               .order = device_order_of(plan),
                               .is_empty =
                                   p->rows == 0 || (plan->operation != TOPK_OPERATION_KTH && p->k_max == 0),
                               .may_be_whole = p->row_stride % per == 0 && p->length_max % per == 0};
    if (plan->approximate) {
        own->numbers = topk_cuda_number_map(&plan->order);
        search.instructions = topk_cuda_rtopk_plan_approximate(context, plan, entries, own);
        decision->variant = own->alike.kernel == RTOPK_PARTS ? "parts" : "teams";
    } else {
        search = plan_exact(context, plan, entries, own, decision);
    }
    (void)arena_take(&arena, has_predicate(plan) ? 1 : 0, sizeof(struct match));
    decision->own = own;
    decision->launches = own->is_empty ? 0 : 1 + has_predicate(plan);
    decision->cost_us = cost_us(context, plan, &search);
    decision->workspace_bytes = arena_bytes(&arena);
}

static int prepare(const topk_context *context) {
    int error = topk_cuda_prepare_bounds();
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width].approximate->prepare();
        error = error != 0 ? error : kernels[width].network->prepare();
        error = error != 0 ? error : kernels[width].plain->prepare();
        error = error != 0 ? error : kernels[width].where->prepare();
    }
    (void)context;
    return error;
}

const struct method topk_cuda_rtopk = {.name = "rtopk",
                                       .operations = SELECTS_WHERE,
                                       .approximates = true,
                                       .knobs = topk_cuda_rtopk_knobs,
                                       .least_us = least_us,
                                       .plan = decide,
                                       .prepare = prepare,
                                       .run = topk_cuda_rtopk_run};
