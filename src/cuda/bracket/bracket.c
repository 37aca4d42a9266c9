/* SPDX-License-Identifier: Apache-2.0
 * What bracket decides: how results are looked for (search.c), what room the lists of blocks get, and what
 * all that is expected to take. launch.c does it. */
#include <math.h>

#include "../methods.h"
#include "../ordering/ordering.h"
#include "plan.h"
#include "search.h"

static const struct bracket_kernels *const kernels[WIDTHS] = {
    &topk_cuda_bracket_kernels_8, &topk_cuda_bracket_kernels_16, &topk_cuda_bracket_kernels_32,
    &topk_cuda_bracket_kernels_64};

/* Slots of each block's list: a page, or as many as it is expected to need with some deviations, and as many
 * ties of a plateau as it lists (stream.cuh). Chunks of a row are dealt out in turn. Blocks with rows of
 * their own make do with a page while they can: all of them together would need much. */
static uint32_t room_of(const struct bracket_kernel *kernel, const struct plan *plan,
                        const struct bracket_search *search) {
    const int64_t chunk = kernel->chunk * INT64_C(16) / (int64_t)plan->element_bytes;
    const int64_t blocks = search->blocks, k = plan->problem.k_max;
    const int64_t share = (plan->problem.length_max / chunk / blocks + 2) * chunk;
    const double expected = search->candidates / (double)blocks;
    const double needed = expected * (1.25 + 4 / sqrt(topk_cuda_bracket_rank(plan, search->groups))) +
                          1.25 * (double)k / (double)blocks + kernel->page / 2.0;
    if (search->is_pair || (blocks == 1 && topk_cuda_bracket_fill(kernel, search->candidates,
                                                                  search->blocks) <= BRACKET_FILL_MAX)) {
        return kernel->page;
    }
    return (uint32_t)greatest(kernel->page, (int64_t)fmin((double)share, needed));
}

/* Blocks of the grid, at most: no more than run at once if each has a list in the workspace. */
static int64_t grid_blocks(const topk_context *context, const struct plan *plan, int64_t of_row,
                           bool is_stored) {
    const int64_t rows = plan->problem.rows;
    const int64_t most = is_stored ? device_of(context)->sms : BRACKET_GRID_BLOCKS;
    if (of_row > 1) { /* rows of different lengths have as many as there are */
        return rows > 1 ? device_of(context)->waiting_blocks : of_row;
    }
    return least(rows, least(most, BRACKET_GRID_BLOCKS));
}

/* Results that one block puts in order, at most. */
static int64_t sorted_by(const struct bracket_kernel *kernel) {
    return (int64_t)kernel->sent * BRACKET_SORTED / BRACKET_SENT;
}

/* Whether results are selected in any order and sorted afterwards: there are more than one block sorts;
 * or they go by position, and elements are narrow, so that many tie. */
static bool is_ordered_after(const topk_context *context, const struct plan *plan) {
    const struct bracket_kernel *kernel = bracket_kernel_of(context, plan);
    const int64_t most = kernel == NULL ? BRACKET_SORTED : sorted_by(kernel);
    return (wants_positions(plan) &&
            (plan->element_bytes < 4 || least(plan->problem.k_max, plan->problem.length_max) > most)) ||
           topk_cuda_orders_beyond(context, plan, most);
}

static const char *refuse(const topk_context *context, const struct plan *plan) {
    const struct bracket_kernel *kernel = bracket_kernel_of(context, plan);
    if (kernel == NULL) {
        return "the device has too little shared memory";
    }
    if (plan->problem.rows == 0 || plan->problem.length_max == 0) {
        return NULL;
    }
    if (plan->problem.length_max > BRACKET_ROW_MAX) {
        return "rows are longer than 2^31";
    }
    if (topk_cuda_bracket_target(plan) == TARGET_ENTRIES &&
        least(plan->problem.k_max, plan->problem.length_max) > kernel->sent) {
        return "a row has more sorted results than a cluster sorts";
    }
    return NULL;
}

/* The candidates that take a row's blocks as long as the elements that they list, but for some. */
static double candidates_to_list(const struct bracket_search *search, double but_for) {
    const double candidates = fmax(search->candidates - but_for, 0);
    if (search->is_pair) {
        return topk_cuda_costs.bracket.pair_share * search->pair.between;
    }
    return search->target == TARGET_KTH ? topk_cuda_costs.bracket.kth_share * candidates : candidates;
}

/* To tell the first of many ties, of results in any order. By hand, from 2^20 and 2^24 elements on an H200.
 */
static double ties_us(const struct plan *plan, const struct bracket_search *search) {
    if (plan->problem.ties == TOPK_TIES_ANY || search->target != TARGET_OUTPUTS) {
        return 0;
    }
    return plan->element_bytes == 1 ? 9 : plan->element_bytes == 2 ? 4 : 0;
}

/* The time to read a row in blocks of this size, over that of large ones. */
static double reads_of_size(enum bracket_size size) {
    return size == BRACKET_LARGE  ? 1
           : size == BRACKET_HALF ? topk_cuda_costs.bracket.half_reads
                                  : topk_cuda_costs.bracket.quarter_reads;
}

static double cost_us(const topk_context *context, const struct plan *plan,
                      const struct bracket_search *search) {
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes;
    const struct bracket_kernel *kernel = bracket_kernel_of(context, plan);
    const double reads = (search->is_pair ? search->pair.reads : 1) * reads_of_size(kernel->size);
    const double read_us = reads * move_us(context, bytes, topk_cuda_costs.bracket.bytes_per_us);
    const bool is_sorted = search->target == TARGET_ENTRIES;
    const bool are_all = search->candidates >= (double)plan->problem.length_max;
    const double block =
        (is_sorted ? (double)plan->problem.k_max / topk_cuda_costs.bracket.results_per_us : 0) +
        (is_sorted && are_all ? topk_cuda_costs.bracket.all_us : 0) +
        (search->is_pair ? topk_cuda_costs.bracket.pair_us : 0) + ties_us(plan, search) +
        (has_predicate(plan) ? topk_cuda_costs.bracket.where_us : 0);
    const int64_t sms = device_of(context)->sms, rows = plan->problem.rows;
    if (rows == 0) {
        return topk_cuda_costs.launch_us;
    }
    if (search->blocks > 1) {
        return topk_cuda_costs.bracket.shared_us + block_us(context, block) + read_us +
               work_us(context, candidates_to_list(search, 0) * (double)rows,
                       topk_cuda_costs.bracket.candidates_per_us);
    }
    const double of_pages = candidates_to_list(search, kernel->page) * (double)sms;
    const double of_row = block_us(context, topk_cuda_costs.bracket.alone_us + block) +
                          work_us(context, of_pages, topk_cuda_costs.bracket.candidates_per_us) +
                          read_us * (double)sms / (double)rows;
    return topk_cuda_costs.launch_us + of_row * (double)divide_up(rows, sms);
}

/* Without what candidates take, or positions. */
static double least_us(const topk_context *context, const struct plan *plan) {
    if (bracket_kernel_of(context, plan) == NULL) {
        return INFINITY;
    }
    const bool is_after = is_ordered_after(context, plan);
    const struct bracket_search least = {.blocks = topk_cuda_bracket_blocks(context, plan),
                                         .target =
                                             is_after ? TARGET_OUTPUTS : topk_cuda_bracket_target(plan)};
    return !is_after && refuse(context, plan) != NULL
               ? INFINITY
               : cost_us(context, plan, &least) + (is_after ? topk_cuda_ordering_least_us(context) : 0);
}

static void decide(const topk_context *context, const struct plan *plan, struct room *room,
                   struct decision *decision) {
    if (is_ordered_after(context, plan)) {
        topk_cuda_plan_ordered(context, plan, &topk_cuda_bracket, room, decision);
        return;
    }
    const topk_problem *p = &plan->problem;
    decision->cannot = refuse(context, plan);
    if (decision->cannot != NULL) {
        return;
    }
    struct bracket_plan *own = topk_room_take(room, sizeof *own);
    const struct bracket_search search = topk_cuda_bracket_search(context, plan);
    const struct bracket_kernel *kernel = bracket_kernel_of(context, plan);
    const uint32_t list = room_of(kernel, plan, &search);
    *own = (struct bracket_plan){
        .kernel = kernel,
        .order = device_order_of(plan),
        .is_empty = p->rows == 0 || (plan->operation != TOPK_OPERATION_KTH && p->k_max == 0),
        .target = {.kind = search.target,
                   .ties_free = p->ties == TOPK_TIES_ANY,
                   .by_position = wants_positions(plan),
                   .two_words = plan->element_bytes == 8,
                   .pitch = search.blocks > 1 ? kernel->sent : 0},
        .is_uneven = p->rows > 1 && p->shape != TOPK_SHAPE_STRIDED,
        .blocks_of_row = search.blocks,
        .sample_groups = search.groups,
        .room = list,
        .is_pair = search.is_pair,
        .draws_more = search.is_pair && search.pair.draws_more,
        .grid_blocks = grid_blocks(context, plan, search.blocks, list > kernel->page)};
    if (p->shape == TOPK_SHAPE_STRIDED && p->length_max > 0) {
        own->rank = (uint32_t)topk_cuda_bracket_rank(plan, search.groups);
    }
    decision->own = own;
    decision->variant = search.is_pair ? "pair" : "threshold";
    decision->launches = own->is_empty ? 0 : 1 + has_predicate(plan);
    decision->cost_us = cost_us(context, plan, &search);
    decision->workspace_bytes = topk_cuda_bracket_lay_out(plan, own, NULL).bytes;
}

static int prepare(const topk_context *context) {
    struct device_info *device = &((struct cuda_leaf *)context->leaf)->device;
    const uint32_t shared_bytes_max = (uint32_t)device->shared_bytes_max;
    int error = topk_cuda_prepare_bounds();
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare(shared_bytes_max, &device->bracket[width]);
    }
    return error;
}

const struct method topk_cuda_bracket = {.name = "bracket",
                                         .operations = SELECTS_WHERE,
                                         .least_us = least_us,
                                         .plan = decide,
                                         .prepare = prepare,
                                         .run = topk_cuda_bracket_run};
