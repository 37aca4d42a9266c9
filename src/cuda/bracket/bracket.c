/* SPDX-License-Identifier: Apache-2.0
 * What a call of bracket launches. */
#include <math.h>

#include "../../reached.h"
#include "../../workspace.h"
#include "../leaf.h"
#include "../methods.h"
#include "kernels.h"

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
    return p->order == TOPK_ORDER_BEST_FIRST ? TARGET_ENTRIES : TARGET_OUTPUTS;
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
static double fill_of_page(const topk_context *context, const struct plan *plan, uint32_t groups) {
    return candidates_of(plan, groups) / (BRACKET_PAGE * (double)blocks_of_row(context, plan));
}

/* More is too often more than a page holds. A larger sample sees to that, as far as it can. */
static const double FILL_MAX = 0.6;

/* Groups of a thread's sample, at most. */
static uint32_t groups_max(const struct plan *plan) {
    return (uint32_t)least(BRACKET_GROUPS_MANY,
                           BRACKET_SAMPLES_OF_THREAD * (int64_t)plan->element_bytes / 16);
}

/* Groups that a thread samples for one threshold. Long rows have larger samples, so that fewer candidates
 * pass. */
static uint32_t groups_of_threshold(const topk_context *context, const struct plan *plan) {
    const int64_t n = plan->problem.length_max;
    const uint32_t most = groups_max(plan);
    uint32_t groups = n < BRACKET_LONG_ROW      ? BRACKET_GROUPS_FEW
                      : n < BRACKET_LONGEST_ROW ? BRACKET_GROUPS_MORE
                                                : BRACKET_GROUPS_MANY;
    if (n < BRACKET_LONG_ROW && plan->element_bytes == 1) {
        groups = 1;
    }
    while (groups < most && fill_of_page(context, plan, groups) > FILL_MAX) {
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
static struct pair_plan pair_plan_of(const topk_context *context, const struct plan *plan) {
    const int64_t blocks = blocks_of_row(context, plan);
    const double room = 0.9 * BRACKET_PAGE * (double)blocks;
    const double share = (double)plan->problem.k_max / (double)plan->problem.length_max;
    struct pair_plan p = {.groups = groups_max(plan), .reads = 1};
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
    for (uint32_t groups = BRACKET_GROUPS_FEW; groups <= groups_max(plan) && blocks > 1; groups *= 2) {
        const bool has_upper = samples_of(plan, groups) * share >= 60; /* pair_of() */
        if (elements_closer(plan, groups) <= room && (has_upper || groups == groups_max(plan))) {
            return (struct pair_plan){groups, true, elements_closer(plan, groups),
                                      1 + (double)BRACKET_PIECE / BRACKET_STRETCH};
        }
    }
    p.reads = p.between <= room ? 1 : 2;
    return p;
}

/* Whether that takes less time than to list all that is better, of which there is more than pages hold: the
 * more so if it takes another read. */
static bool is_pair(const topk_context *context, const struct plan *plan) {
    const double row_bytes = (double)plan->problem.length_max * (double)plan->element_bytes;
    if (target_of(plan) != TARGET_KTH || has_predicate(plan)) {
        return false;
    }
    const double read_again = pair_plan_of(context, plan).reads >= 2 ? row_bytes / 64 : 0;
    return candidates_of(plan, groups_of_threshold(context, plan)) >
           1.25 * BRACKET_PAGE * (double)blocks_of_row(context, plan) + read_again;
}

static uint32_t sample_groups(const topk_context *context, const struct plan *plan) {
    return is_pair(context, plan) ? pair_plan_of(context, plan).groups : groups_of_threshold(context, plan);
}

/* Slots of each block's list: a page, or as many as it is expected to need with some deviations, and as many
 * ties of a plateau as it lists (stream.cuh). Chunks of a row are dealt out in turn. Blocks with rows of
 * their own make do with a page while they can: all of them together would need much. */
static uint32_t room_of(const topk_context *context, const struct plan *plan) {
    const int64_t chunk = BRACKET_CHUNK * 16 / (int64_t)plan->element_bytes;
    const int64_t blocks = blocks_of_row(context, plan), k = plan->problem.k_max;
    const int64_t share = (plan->problem.length_max / chunk / blocks + 2) * chunk;
    const uint32_t groups = sample_groups(context, plan);
    const double expected = candidates_of(plan, groups) / (double)blocks;
    const double needed = expected * (1.25 + 4 / sqrt(threshold_rank(plan, groups))) +
                          1.25 * (double)k / (double)blocks + BRACKET_PAGE / 2.0;
    if (is_pair(context, plan) || (blocks == 1 && fill_of_page(context, plan, groups) <= FILL_MAX)) {
        return BRACKET_PAGE;
    }
    return (uint32_t)greatest(BRACKET_PAGE, (int64_t)fmin((double)share, needed));
}

/* Blocks of the grid, at most: no more than run at once if each has a list in the workspace. */
static int64_t grid_blocks(const topk_context *context, const struct plan *plan) {
    const int64_t rows = plan->problem.rows, of_row = blocks_of_row(context, plan);
    const bool is_stored = room_of(context, plan) > BRACKET_PAGE;
    const int64_t most = is_stored ? device_of(context)->sms : BRACKET_GRID_BLOCKS;
    if (of_row > 1) { /* rows of different lengths have as many as there are */
        return rows > 1 ? device_of(context)->waiting_blocks : of_row;
    }
    return least(rows, least(most, BRACKET_GRID_BLOCKS));
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
        return "a row has more sorted results than one block sorts";
    }
    if (kernels[width_of(plan)]->shared_bytes() > (uint32_t)device_of(context)->shared_bytes_max) {
        return "the device has too little shared memory";
    }
    return NULL;
}

/* What takes a row's blocks as long as the elements that they list: so many candidates, but for some. */
static double candidates_to_list(const topk_context *context, const struct plan *plan, double but_for) {
    const double candidates = fmax(candidates_of(plan, sample_groups(context, plan)) - but_for, 0);
    if (is_pair(context, plan)) {
        return topk_cuda_costs.bracket.pair_share * pair_plan_of(context, plan).between;
    }
    return target_of(plan) == TARGET_KTH ? topk_cuda_costs.bracket.kth_share * candidates : candidates;
}

static double cost_us(const topk_context *context, const struct plan *plan) {
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes;
    const double reads = is_pair(context, plan) ? pair_plan_of(context, plan).reads : 1;
    const double read_us = reads * move_us(context, bytes, topk_cuda_costs.bracket.bytes_per_us);
    const bool is_sorted = target_of(plan) == TARGET_ENTRIES;
    const bool are_all =
        candidates_of(plan, sample_groups(context, plan)) >= (double)plan->problem.length_max;
    const double block =
        (is_sorted ? (double)plan->problem.k_max / topk_cuda_costs.bracket.results_per_us : 0) +
        (is_sorted && are_all ? topk_cuda_costs.bracket.all_us : 0) +
        (is_pair(context, plan) ? topk_cuda_costs.bracket.pair_us : 0) +
        (has_predicate(plan) ? topk_cuda_costs.bracket.where_us : 0);
    const int64_t sms = device_of(context)->sms, rows = plan->problem.rows;
    if (rows == 0) {
        return topk_cuda_costs.launch_us;
    }
    if (blocks_of_row(context, plan) > 1) {
        return topk_cuda_costs.bracket.shared_us + block_us(context, block) + read_us +
               work_us(context, candidates_to_list(context, plan, 0) * (double)rows,
                       topk_cuda_costs.bracket.candidates_per_us);
    }
    const double of_pages = candidates_to_list(context, plan, BRACKET_PAGE) * (double)sms;
    const double of_row = block_us(context, topk_cuda_costs.bracket.alone_us + block) +
                          work_us(context, of_pages, topk_cuda_costs.bracket.candidates_per_us) +
                          read_us * (double)sms / (double)rows;
    return topk_cuda_costs.launch_us + of_row * (double)divide_up(rows, sms);
}

struct layout {
    struct bracket_args args;
    struct match *found_match;
    size_t bytes;
};

static struct layout lay_out(const topk_context *context, const struct plan *plan, void *workspace) {
    struct arena arena = arena_over(workspace);
    const size_t rows = (size_t)plan->problem.rows;
    struct layout l = {.bytes = 0};
    l.args.blocks_of_row = blocks_of_row(context, plan);
    l.args.reciprocal = (uint32_t)divide_up(INT64_C(1) << 32, l.args.blocks_of_row);
    if (l.args.blocks_of_row > 1) {
        l.args.states = arena_take(&arena, rows, sizeof *l.args.states);
        l.args.target.pitch = BRACKET_SENT;
        l.args.target.entries = arena_take(&arena, rows * BRACKET_SENT, sizeof(uint64_t));
        if (plan->element_bytes == 8) {
            l.args.target.entries_low = arena_take(&arena, rows * BRACKET_SENT, sizeof(uint64_t));
        }
    }
    l.args.room = room_of(context, plan);
    if (l.args.room > BRACKET_PAGE) {
        const size_t slots = (size_t)grid_blocks(context, plan) * l.args.room;
        l.args.stored.elements = arena_take(&arena, slots, plan->element_bytes);
        l.args.stored.positions = arena_take(&arena, slots, sizeof(uint32_t));
    }
    if (has_predicate(plan)) {
        l.found_match = arena_take(&arena, 1, sizeof *l.found_match);
    }
    l.bytes = arena_bytes(&arena);
    return l;
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    return lay_out(context, plan, NULL).bytes;
}

/* Whether rows may differ in length. */
static bool is_uneven(const struct call *call) {
    const topk_problem *p = &call->plan->problem;
    return p->rows > 1 && (p->shape != TOPK_SHAPE_STRIDED || call->input.lengths != NULL);
}

static int run(const struct call *call) {
    const struct plan *plan = call->plan;
    struct layout l = lay_out(call->context, plan, call->workspace);
    struct bracket_args *args = &l.args;
    const int64_t rows = plan->problem.rows;
    struct launch_grid grid = grid_of(call, grid_blocks(call->context, plan), INT32_MAX, BRACKET_THREADS);
    if (rows == 0 || (plan->operation != TOPK_OPERATION_KTH && plan->problem.k_max == 0)) {
        return 0;
    }
    grid.waits = args->blocks_of_row > 1;
    if (grid.waits && is_uneven(call)) { /* the longest row has no fewer blocks than all rows would have */
        TOPK_REACHED(REACHED_BRACKET_GPU_UNEVEN);
        args->by_length = true;
    } else if (grid.waits) {
        grid.blocks = (uint32_t)rows * args->blocks_of_row;
    }
    args->rows = row_args_of(call);
    if (has_predicate(plan)) {
        args->predicate = topk_cuda_predicate_args(call, l.found_match);
    }
    args->decode = topk_decode_args(&plan->order);
    args->kth = kth_outputs_of(call);
    args->target.kind = target_of(plan);
    args->target.ties_free = plan->problem.ties == TOPK_TIES_ANY;
    args->target.two_words = plan->element_bytes == 8;
    args->seed = call->context->seed;
    args->sample_groups = sample_groups(call->context, plan);
    args->is_pair = is_pair(call->context, plan);
    args->draws_more = args->is_pair && pair_plan_of(call->context, plan).draws_more;
    if (plan->problem.shape == TOPK_SHAPE_STRIDED && call->input.lengths == NULL && call->input.k == NULL) {
        args->rank = (uint32_t)threshold_rank(plan, args->sample_groups);
    }
    const int error = topk_cuda_read_bounds(call, &args->predicate);
    return error != 0 ? error : kernels[width_of(plan)]->select(&grid, args);
}

static int prepare(const topk_context *context) {
    const uint32_t shared_bytes_max = (uint32_t)device_of(context)->shared_bytes_max;
    int error = topk_cuda_prepare_bounds();
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare(shared_bytes_max);
    }
    return error;
}

const struct method topk_cuda_bracket = {.name = "bracket",
                                         .operations = SELECTS_WHERE,
                                         .refuse = refuse,
                                         .cost_us = cost_us,
                                         .workspace_bytes = workspace_bytes,
                                         .prepare = prepare,
                                         .run = run};
