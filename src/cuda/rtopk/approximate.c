/* SPDX-License-Identifier: Apache-2.0
 * What an approximate selection launches: a team of warps for each row, or parts of a warp where rows are all
 * alike, whole and short. */
#include "plan.h"

/* How a row is held. */
static const struct row_class {
    uint32_t items; /* elements of a thread */
    uint32_t warps; /* of the team */
} classes[RTOPK_APPROXIMATE_CLASSES] = {{RTOPK_ITEMS_1, 1},
                                        {RTOPK_ITEMS_2, 1},
                                        {RTOPK_ITEMS_3, 1},
                                        {RTOPK_BLOCK_ITEMS, RTOPK_BLOCK_WARPS_0},
                                        {RTOPK_BLOCK_ITEMS, RTOPK_BLOCK_WARPS_1},
                                        {RTOPK_BLOCK_ITEMS, RTOPK_BLOCK_WARPS_2},
                                        {RTOPK_BLOCK_ITEMS, RTOPK_BLOCK_WARPS_3},
                                        {RTOPK_BLOCK_ITEMS_4, RTOPK_BLOCK_WARPS_4}};

static uint32_t held_by(const struct row_class *c) {
    return 32 * c->items * c->warps;
}

/* The first class that holds the longest row. */
static uint32_t class_of(const struct plan *plan) {
    uint32_t index = 0;
    while (held_by(&classes[index]) < plan->problem.length_max) {
        index++;
    }
    return index;
}

/* Where rows are many a team takes several of them, one after another: that spares what a block does once. */
static int64_t blocks_for(const topk_context *context, const struct plan *plan, int64_t teams) {
    const int64_t rows = plan->problem.rows;
    const int64_t several = rows / (teams * device_of(context)->sms * RTOPK_BLOCKS_OF_SM);
    return divide_up(rows, teams * greatest(1, least(several, RTOPK_ROWS_OF_TEAM)));
}

static const int64_t items_of_parts[RTOPK_APPROXIMATE_PARTS] = {RTOPK_PART_ITEMS_0, RTOPK_PART_ITEMS_1};

/* How lanes share rows: 1 << shift have one, with items_of_parts[index] elements each. */
struct parts {
    uint32_t index, shift;
};

/* At least as many lanes as a word of hits has groups. */
static uint32_t parts_shift(int64_t items, int64_t length) {
    const int64_t groups = least(items, 32) / (16 / (int64_t)sizeof(float));
    uint32_t shift = 0;
    while (1 << shift < groups || items << shift < length) {
        shift++;
    }
    return shift;
}

/* Fewest lanes for a row, unless that leaves most of the GPU idle, or a lane with too many results to list
 * one after another. Whether parts of a warp serve the rows. */
static bool choose_parts(const topk_context *context, const struct plan *plan, bool may_be_whole,
                         struct parts *parts) {
    const topk_problem *p = &plan->problem;
    const int64_t length = p->length_max, busy = RTOPK_PART_WARPS * device_of(context)->sms;
    parts->shift = UINT32_MAX;
    if (plan->element_bytes != sizeof(float) || length > RTOPK_UNIFORM_ROW_MAX || p->k_max > length ||
        p->max_iterations < 1 || p->max_iterations > RTOPK_PART_STEPS || !may_be_whole ||
        !may_be_uniform(plan) || !topk_cuda_rtopk_shares_warps(plan)) {
        return false;
    }
    for (uint32_t i = 0; i < RTOPK_APPROXIMATE_PARTS; i++) {
        const uint32_t shift = parts_shift(items_of_parts[i], length);
        const bool is_better =
            p->rows >> (5 - least(shift, 5)) >= busy && results_max(plan) <= RTOPK_PART_RESULTS << shift;
        if (shift <= 5 && (32 >> shift) * results_max(plan) <= RTOPK_NETWORK_RESULTS &&
            (results_max(plan) <= RTOPK_PART_MOST << shift || !is_sorted(plan)) &&
            (parts->shift > 5 || (shift < parts->shift && is_better))) {
            *parts = (struct parts){i, shift};
        }
    }
    return parts->shift <= 5;
}

/* Parts of a warp serve rows that are all alike, unless their results cannot be put in order. */
static void take_parts(const topk_context *context, const struct plan *plan, const struct parts *parts,
                       struct rtopk_plan *own) {
    const topk_problem *p = &plan->problem;
    const int64_t items = items_of_parts[parts->index], rows_of_warp = 32 >> parts->shift;
    const int64_t warps = RTOPK_THREADS / 32, warps_of_sm = RTOPK_APPROXIMATE_PART_BLOCKS(items) * warps;
    const uint32_t k = (uint32_t)results_max(plan);
    own->uniform = (struct uniform_rows){.length = (uint32_t)p->length_max, .k = k};
    own->uniform.part_shift = parts->shift;
    own->uniform.reciprocal = (1u << RTOPK_RECIPROCAL_BITS) / k + 1;
    if (p->row_stride == p->length_max) {
        own->uniform.ahead = (uint32_t)(device_of(context)->sms * warps_of_sm / 2 * rows_of_warp);
    }
    own->lists_numbers = !is_sorted(plan) && results_max(plan) > RTOPK_PART_RESULTS << parts->shift;
    own->alike = (struct rtopk_launch){.kernel = RTOPK_PARTS,
                                       .index = parts->index,
                                       .blocks = divide_up(p->rows, rows_of_warp * warps),
                                       .threads = RTOPK_THREADS,
                                       .slots = (uint32_t)rows_of_warp * k};
    if (!topk_cuda_rtopk_order_parts(plan, RTOPK_ORDER_FEW, own)) {
        own->alike.kernel = RTOPK_NONE;
    }
}

double topk_cuda_rtopk_plan_approximate(const topk_context *context, const struct plan *plan,
                                        uint32_t entries, struct rtopk_plan *own) {
    const uint32_t index = class_of(plan);
    const struct row_class *c = &classes[index];
    const uint32_t threads = c->warps == 1 ? RTOPK_THREADS : 32 * c->warps;
    const int64_t blocks = blocks_for(context, plan, threads / (32 * c->warps));
    struct parts parts;
    own->any = (struct rtopk_launch){
        .kernel = RTOPK_APPROXIMATE,
        .index = index,
        .blocks = least(blocks, RTOPK_GRID_BLOCKS),
        .threads = threads,
        .is_sorted = is_sorted(plan),
        .slots = approximate_slots(held_by(c)),
        .entries = entries > RTOPK_RESULTS_MAX ? 0 : entries}; /* 0: the list of positions is sorted */
    if (choose_parts(context, plan, own->may_be_whole, &parts)) {
        take_parts(context, plan, &parts, own);
    }
    return c->warps * (200 + 20.0 * c->items) + 12 * entries;
}
