/* SPDX-License-Identifier: Apache-2.0
 * What bracket decides: how many blocks share a row, how much of a row they sample, what room their lists
 * get, and what all that is expected to take. launch.c does it. */
#include <math.h>

#include "../methods.h"
#include "../ordering/ordering.h"
#include "plan.h"

static const struct bracket_kernels *const kernels[WIDTHS] = {
    &topk_cuda_bracket_kernels_8, &topk_cuda_bracket_kernels_16, &topk_cuda_bracket_kernels_32,
    &topk_cuda_bracket_kernels_64};

/* Results of a row that are work enough for a block. */
enum { RESULTS_OF_BLOCK = BRACKET_THREADS };

/* Blocks that share a row: as many as can wait for each other and have a chunk for each warp, or results
 * enough; or one. The fewer they are, the sooner they have met. Each needs a bin of its own. */
static uint32_t blocks_of_row(const topk_context *context, const struct plan *plan) {
    const int64_t blocks = device_of(context)->waiting_blocks / greatest(plan->problem.rows, 1);
    const int64_t chunk = BRACKET_CHUNK * 16 / (int64_t)plan->element_bytes;
    const int64_t useful = greatest(divide_up(plan->problem.length_max, chunk * (BRACKET_THREADS / 32)),
                                    divide_up(plan->problem.k_max, RESULTS_OF_BLOCK));
    return (uint32_t)greatest(least(least(blocks, useful), SELECT_BINS_MAX), 1);
}

static enum target_kind target_of(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    if (plan->operation == TOPK_OPERATION_KTH) {
        return TARGET_KTH;
    }
    return p->order == TOPK_ORDER_ANY ? TARGET_OUTPUTS : TARGET_ENTRIES;
}

static double samples_of(const struct plan *plan, uint32_t groups) {
    return groups * BRACKET_THREADS * 16.0 / (double)plan->element_bytes;
}

/* The rank of the sample that is the threshold, in rows of the greatest length: see sample.cuh. */
static double threshold_rank(const struct plan *plan, uint32_t groups) {
    const double mean =
        samples_of(plan, groups) * (double)plan->problem.k_max / (double)plan->problem.length_max;
    return fmax(mean + 5 * sqrt(mean) + 4.5, 16.0 / (double)plan->element_bytes + 2);
}

/* Of a row, as many as are expected to reach the threshold. */
static double candidates_of(const struct plan *plan, uint32_t groups) {
    const double length = (double)plan->problem.length_max;
    return fmin(length, threshold_rank(plan, groups) * length / samples_of(plan, groups));
}

/* How much of a block's page its candidates are expected to take. */
static double fill_of_page(double candidates, uint32_t blocks) {
    return candidates / (BRACKET_PAGE * (double)blocks);
}

/* More is too often more than a page holds. A larger sample sees to that, as far as it can. */
static const double FILL_MAX = 0.6;

/* Groups of a thread's sample, at most. */
static uint32_t groups_max(const struct plan *plan) {
    return (uint32_t)least(BRACKET_GROUPS_MANY,
                           BRACKET_SAMPLES_OF_THREAD * (int64_t)plan->element_bytes / 16);
}

/* Whether a row has twice as many groups as so large a sample: else it is not drawn (sample.cuh). */
static bool has_sample(const struct plan *plan, uint32_t groups) {
    const int64_t of_row = plan->problem.length_max * (int64_t)plan->element_bytes / 16;
    return of_row > 2 * (int64_t)groups * BRACKET_THREADS;
}

/* Groups that a thread samples for one threshold. Long rows have larger samples, so that fewer candidates
 * pass. */
static uint32_t groups_of_threshold(const struct plan *plan, uint32_t blocks) {
    const int64_t n = plan->problem.length_max;
    const uint32_t most = groups_max(plan);
    uint32_t groups = n < BRACKET_LONG_ROW      ? BRACKET_GROUPS_FEW
                      : n < BRACKET_LONGEST_ROW ? BRACKET_GROUPS_MORE
                                                : BRACKET_GROUPS_MANY;
    if (n < BRACKET_LONG_ROW && plan->element_bytes == 1) {
        groups = 1;
    }
    while (groups < most && fill_of_page(candidates_of(plan, groups), blocks) > FILL_MAX &&
           has_sample(plan, 2 * groups)) {
        groups *= 2;
    }
    return groups < most ? groups : most;
}

/* How a k-th element is found between a pair of thresholds (pair.cuh). */
struct pair_plan {
    uint32_t groups; /* of a thread's first sample */
    bool draws_more;
    double between; /* elements of a row that are expected between the pair of the last sample */
    double reads;   /* of a row, with its larger sample */
};

/* Of a row, as many as are expected between the pair of a first sample. */
static double elements_between(const struct plan *plan, uint32_t groups) {
    const double samples = samples_of(plan, groups), length = (double)plan->problem.length_max;
    const double mean = samples * (double)plan->problem.k_max / length;
    return fmin(length, 2.25 * (threshold_rank(plan, groups) - mean) * length / samples);
}

/* The same of the larger sample after it. */
static double elements_closer(const struct plan *plan, uint32_t groups) {
    const double k = (double)plan->problem.k_max, length = (double)plan->problem.length_max;
    const double pieces = (double)BRACKET_STRETCH / BRACKET_PIECE;
    return BRACKET_HALF_DEVIATIONS * sqrt(pieces * k * fmax(1 - k / length, 0)) + 2 * pieces +
           2 * elements_between(plan, groups) / SELECT_BINS_MAX;
}

/* A small sample that saves a second read, or one with a larger one after it, or else the largest. */
static struct pair_plan pair_plan_of(const struct plan *plan, uint32_t blocks) {
    const double room = 0.9 * BRACKET_PAGE * (double)blocks;
    const double share = (double)plan->problem.k_max / (double)plan->problem.length_max;
    const uint32_t most = groups_max(plan);
    struct pair_plan p = {.groups = most, .reads = 1};
    for (uint32_t groups = BRACKET_GROUPS_FEW; groups <= BRACKET_GROUPS_MORE && groups < p.groups;
         groups *= 2) {
        if (elements_between(plan, groups) <= room) {
            p.groups = groups;
        }
    }
    p.between = elements_between(plan, p.groups);
    if (p.between <= room && p.groups <= BRACKET_GROUPS_MORE) {
        return p;
    }
    for (uint32_t groups = BRACKET_GROUPS_FEW; groups <= most && blocks > 1; groups *= 2) {
        const bool has_upper = samples_of(plan, groups) * share >= 60; /* pair_of() */
        const double closer = elements_closer(plan, groups);
        if (closer <= room && (has_upper || groups == most)) {
            return (struct pair_plan){groups, true, closer, 1 + (double)BRACKET_PIECE / BRACKET_STRETCH};
        }
    }
    p.reads = p.between <= room ? 1 : 2;
    return p;
}

/* How results are looked for. */
struct search {
    uint32_t blocks; /* of a row */
    enum target_kind target;
    uint32_t groups;   /* of a thread's sample */
    double candidates; /* of a row, that are expected to reach the threshold of such a sample */
    bool is_pair;
    struct pair_plan pair; /* if it is one */
};

/* A pair of thresholds takes less time than to list all that is better, if there is more of it than pages
 * hold: the more so if the pair takes another read. */
static struct search search_of(const topk_context *context, const struct plan *plan) {
    const double row_bytes = (double)plan->problem.length_max * (double)plan->element_bytes;
    struct search s = {.blocks = blocks_of_row(context, plan), .target = target_of(plan)};
    s.groups = groups_of_threshold(plan, s.blocks);
    s.candidates = candidates_of(plan, s.groups);
    if (s.target == TARGET_KTH && s.candidates > 1.25 * BRACKET_PAGE * (double)s.blocks) {
        s.pair = pair_plan_of(plan, s.blocks);
        const double read_again = s.pair.reads >= 2 ? row_bytes / 64 : 0;
        s.is_pair = s.candidates > 1.25 * BRACKET_PAGE * (double)s.blocks + read_again;
    }
    if (s.is_pair) {
        s.groups = s.pair.groups;
        s.candidates = candidates_of(plan, s.groups);
    }
    return s;
}

/* Slots of each block's list: a page, or as many as it is expected to need with some deviations, and as many
 * ties of a plateau as it lists (stream.cuh). Chunks of a row are dealt out in turn. Blocks with rows of
 * their own make do with a page while they can: all of them together would need much. */
static uint32_t room_of(const struct plan *plan, const struct search *search) {
    const int64_t chunk = BRACKET_CHUNK * 16 / (int64_t)plan->element_bytes;
    const int64_t blocks = search->blocks, k = plan->problem.k_max;
    const int64_t share = (plan->problem.length_max / chunk / blocks + 2) * chunk;
    const double expected = search->candidates / (double)blocks;
    const double needed = expected * (1.25 + 4 / sqrt(threshold_rank(plan, search->groups))) +
                          1.25 * (double)k / (double)blocks + BRACKET_PAGE / 2.0;
    if (search->is_pair || (blocks == 1 && fill_of_page(search->candidates, search->blocks) <= FILL_MAX)) {
        return BRACKET_PAGE;
    }
    return (uint32_t)greatest(BRACKET_PAGE, (int64_t)fmin((double)share, needed));
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

/* Whether results are selected in any order and sorted afterwards: there are more than one block sorts;
 * or they go by position, and elements are narrow, so that many tie. */
static bool is_ordered_after(const topk_context *context, const struct plan *plan) {
    return (wants_positions(plan) &&
            (plan->element_bytes < 4 ||
             least(plan->problem.k_max, plan->problem.length_max) > BRACKET_SORTED)) ||
           topk_cuda_orders_beyond(context, plan, BRACKET_SORTED);
}

static const char *refuse(const topk_context *context, const struct plan *plan) {
    if (plan->problem.rows == 0 || plan->problem.length_max == 0) {
        return NULL;
    }
    if (plan->problem.length_max > BRACKET_ROW_MAX) {
        return "rows are longer than 2^31";
    }
    if (target_of(plan) == TARGET_ENTRIES &&
        least(plan->problem.k_max, plan->problem.length_max) > BRACKET_SENT) {
        return "a row has more sorted results than a cluster sorts";
    }
    if (device_of(context)->bracket_bytes[width_of(plan)] > (uint32_t)device_of(context)->shared_bytes_max) {
        return "the device has too little shared memory";
    }
    return NULL;
}

/* The candidates that take a row's blocks as long as the elements that they list, but for some. */
static double candidates_to_list(const struct search *search, double but_for) {
    const double candidates = fmax(search->candidates - but_for, 0);
    if (search->is_pair) {
        return topk_cuda_costs.bracket.pair_share * search->pair.between;
    }
    return search->target == TARGET_KTH ? topk_cuda_costs.bracket.kth_share * candidates : candidates;
}

/* To tell the first of many ties, of results in any order. By hand, from 2^20 and 2^24 elements on an H200.
 */
static double ties_us(const struct plan *plan, const struct search *search) {
    if (plan->problem.ties == TOPK_TIES_ANY || search->target != TARGET_OUTPUTS) {
        return 0;
    }
    return plan->element_bytes == 1 ? 9 : plan->element_bytes == 2 ? 4 : 0;
}

static double cost_us(const topk_context *context, const struct plan *plan, const struct search *search) {
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes;
    const double reads = search->is_pair ? search->pair.reads : 1;
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
    const double of_pages = candidates_to_list(search, BRACKET_PAGE) * (double)sms;
    const double of_row = block_us(context, topk_cuda_costs.bracket.alone_us + block) +
                          work_us(context, of_pages, topk_cuda_costs.bracket.candidates_per_us) +
                          read_us * (double)sms / (double)rows;
    return topk_cuda_costs.launch_us + of_row * (double)divide_up(rows, sms);
}

/* Without what candidates take, or positions. */
static double least_us(const topk_context *context, const struct plan *plan) {
    const bool is_after = is_ordered_after(context, plan);
    const struct search least = {.blocks = blocks_of_row(context, plan),
                                 .target = is_after ? TARGET_OUTPUTS : target_of(plan)};
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
    const struct search search = search_of(context, plan);
    const uint32_t list = room_of(plan, &search);
    *own = (struct bracket_plan){
        .kernels = kernels[width_of(plan)],
        .order = device_order_of(plan),
        .is_empty = p->rows == 0 || (plan->operation != TOPK_OPERATION_KTH && p->k_max == 0),
        .target = {.kind = search.target,
                   .ties_free = p->ties == TOPK_TIES_ANY,
                   .by_position = wants_positions(plan),
                   .two_words = plan->element_bytes == 8,
                   .pitch = search.blocks > 1 ? BRACKET_SENT : 0},
        .is_uneven = p->rows > 1 && p->shape != TOPK_SHAPE_STRIDED,
        .blocks_of_row = search.blocks,
        .sample_groups = search.groups,
        .room = list,
        .is_pair = search.is_pair,
        .draws_more = search.is_pair && search.pair.draws_more,
        .grid_blocks = grid_blocks(context, plan, search.blocks, list > BRACKET_PAGE)};
    if (p->shape == TOPK_SHAPE_STRIDED && p->length_max > 0) {
        own->rank = (uint32_t)threshold_rank(plan, search.groups);
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
        device->bracket_bytes[width] = kernels[width]->shared_bytes();
        error = kernels[width]->prepare(shared_bytes_max);
    }
    return error;
}

const struct method topk_cuda_bracket = {.name = "bracket",
                                         .operations = SELECTS_WHERE,
                                         .least_us = least_us,
                                         .plan = decide,
                                         .prepare = prepare,
                                         .run = topk_cuda_bracket_run};
