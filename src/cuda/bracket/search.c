/* SPDX-License-Identifier: Apache-2.0
 * How many blocks share a row, how much of a row they sample, and what that leaves. */
#include "search.h"

#include <math.h>

/* Results of a row that are work enough for a block. */
enum { RESULTS_OF_BLOCK = BRACKET_THREADS };

/* Blocks that share a row: as many as can wait for each other and have a chunk for each warp, or results
 * enough; or one. The fewer they are, the sooner they have met. Each needs a bin of its own. */
uint32_t topk_cuda_bracket_blocks(const topk_context *context, const struct plan *plan) {
    const int64_t blocks = device_of(context)->waiting_blocks / greatest(plan->problem.rows, 1);
    const int64_t chunk =
        bracket_kernel_of(context, plan)->chunk * INT64_C(16) / (int64_t)plan->element_bytes;
    const int64_t useful = greatest(divide_up(plan->problem.length_max, chunk * (BRACKET_THREADS / 32)),
                                    divide_up(plan->problem.k_max, RESULTS_OF_BLOCK));
    return (uint32_t)greatest(least(least(blocks, useful), SELECT_BINS_MAX), 1);
}

enum target_kind topk_cuda_bracket_target(const struct plan *plan) {
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
double topk_cuda_bracket_rank(const struct plan *plan, uint32_t groups) {
    const double mean =
        samples_of(plan, groups) * (double)plan->problem.k_max / (double)plan->problem.length_max;
    return fmax(mean + 5 * sqrt(mean) + 4.5, 16.0 / (double)plan->element_bytes + 2);
}

/* Of a row, as many as are expected to reach the threshold. */
static double candidates_of(const struct plan *plan, uint32_t groups) {
    const double length = (double)plan->problem.length_max;
    return fmin(length, topk_cuda_bracket_rank(plan, groups) * length / samples_of(plan, groups));
}

/* How much of a block's page its candidates are expected to take. */
double topk_cuda_bracket_fill(const struct bracket_kernel *kernel, double candidates, uint32_t blocks) {
    return candidates / (kernel->page * (double)blocks);
}

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
static uint32_t groups_of_threshold(const struct bracket_kernel *kernel, const struct plan *plan,
                                    uint32_t blocks) {
    const int64_t n = plan->problem.length_max;
    const uint32_t most = groups_max(plan);
    uint32_t groups = n < BRACKET_LONG_ROW      ? BRACKET_GROUPS_FEW
                      : n < BRACKET_LONGEST_ROW ? BRACKET_GROUPS_MORE
                                                : BRACKET_GROUPS_MANY;
    if (n < BRACKET_LONG_ROW && plan->element_bytes == 1) {
        groups = 1;
    }
    while (groups < most &&
           topk_cuda_bracket_fill(kernel, candidates_of(plan, groups), blocks) > BRACKET_FILL_MAX &&
           has_sample(plan, 2 * groups)) {
        groups *= 2;
    }
    return groups < most ? groups : most;
}

/* Of a row, as many as are expected between the pair of a first sample. */
static double elements_between(const struct plan *plan, uint32_t groups) {
    const double samples = samples_of(plan, groups), length = (double)plan->problem.length_max;
    const double mean = samples * (double)plan->problem.k_max / length;
    return fmin(length, 2.25 * (topk_cuda_bracket_rank(plan, groups) - mean) * length / samples);
}

/* The same of the larger sample after it. */
static double elements_closer(const struct plan *plan, uint32_t groups) {
    const double k = (double)plan->problem.k_max, length = (double)plan->problem.length_max;
    const double pieces = (double)BRACKET_STRETCH / BRACKET_PIECE;
    return BRACKET_HALF_DEVIATIONS * sqrt(pieces * k * fmax(1 - k / length, 0)) + 2 * pieces +
           2 * elements_between(plan, groups) / SELECT_BINS_MAX;
}

/* A small sample that saves a second read, or one with a larger one after it, or else the largest. */
static struct pair_plan pair_plan_of(const struct bracket_kernel *kernel, const struct plan *plan,
                                     uint32_t blocks) {
    const double room = 0.9 * kernel->page * (double)blocks;
    const double share = (double)plan->problem.k_max / (double)plan->problem.length_max;
    const uint32_t most = (uint32_t)least(groups_max(plan), kernel->staged);
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

/* A pair of thresholds takes less time than to list all that is better, if there is more of it than pages
 * hold: the more so if the pair takes another read. */
struct bracket_search topk_cuda_bracket_search(const topk_context *context, const struct plan *plan) {
    const double row_bytes = (double)plan->problem.length_max * (double)plan->element_bytes;
    const struct bracket_kernel *kernel = bracket_kernel_of(context, plan);
    struct bracket_search s = {.blocks = topk_cuda_bracket_blocks(context, plan),
                               .target = topk_cuda_bracket_target(plan)};
    const double pages = 1.25 * kernel->page * (double)s.blocks;
    s.groups = groups_of_threshold(kernel, plan, s.blocks);
    s.candidates = candidates_of(plan, s.groups);
    if (s.target == TARGET_KTH && s.candidates > pages) {
        s.pair = pair_plan_of(kernel, plan, s.blocks);
        const double read_again = s.pair.reads >= 2 ? row_bytes / 64 : 0;
        s.is_pair = s.candidates > pages + read_again;
    }
    if (s.is_pair) {
        s.groups = s.pair.groups;
        s.candidates = candidates_of(plan, s.groups);
    }
    return s;
}
