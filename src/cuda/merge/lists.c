/* SPDX-License-Identifier: Apache-2.0
 * How sorted lists, and runs, are merged: blocks hold what may be a result, or share the results. */
#include "launches.h"

#include "../../reached.h"
#include "../leaf.h"

/* Blocks of MERGE_THREADS that a multiprocessor holds. */
enum { CHECKS_PER_SM = 4 };

struct launch_grid topk_cuda_merge_grid(struct launches *l, int64_t blocks, int64_t threads) {
    struct launch_grid grid = grid_of(l->call, greatest(blocks, 1), MERGE_GRID_BLOCKS, threads);
    grid.dependent = l->dependent && device_of(l->call->context)->dependent_launch;
    l->dependent = true;
    return grid;
}

static int64_t cluster_of(const struct launches *l) {
    return device_of(l->call->context)->merge_cluster[width_of(l->call->plan)];
}

/* Looks at the indices of rows that blocks share. */
static int check_rows(struct launches *l) {
    const int64_t rows = l->call->plan->problem.rows, sms = device_of(l->call->context)->sms;
    const int64_t blocks = least(MERGE_LOOK_BLOCKS, sms * CHECKS_PER_SM);
    const int64_t wanted = divide_up((int64_t)l->args.candidates, MERGE_CANDIDATES);
    TOPK_REACHED(REACHED_MERGE_PARTS);
    l->args.checks = (uint32_t)greatest(1, least(wanted, blocks / rows));
    const struct launch_grid grid = topk_cuda_merge_grid(l, rows * l->args.checks, MERGE_THREADS);
    return l->shape->kernels->check(&grid, &l->args);
}

/* Whether blocks hold the candidates of a row before the cut, where there is room for about twice as many as
 * even lists have. If lists turn out to have more, as many blocks can share the results. Lays them out. */
static bool are_held(struct launches *l) {
    const topk_problem *p = &l->call->plan->problem;
    const struct device_info *device = device_of(l->call->context);
    const int64_t lists = l->args.lists, even = divide_up(p->k_max, lists), room = MERGE_HELD / lists;
    const int64_t wanted = least(p->length_max, 2 * even + MERGE_HELD_BEYOND);
    const int64_t parts =
        least(divide_up((int64_t)l->args.candidates, MERGE_CANDIDATES), device->sms / p->rows);
    l->args.held = (uint32_t)least(wanted, room);
    l->args.held_words = l->args.held * (uint32_t)lists;
    l->args.may_share = l->args.held < p->length_max;
    l->args.parts = (uint32_t)greatest(1, parts);
    return p->rows <= MERGE_HELD_ROWS && p->k_max <= l->args.parts * (int64_t)MERGE_CHUNK &&
           (l->args.held == wanted || 5 * even <= 4 * room) &&
           l->shape->kernels->held_bytes(l->args.held_words, l->args.may_share) <=
               (uint32_t)device->shared_bytes_max;
}

static int hold_lists(struct launches *l) {
    const int64_t rows = l->call->plan->problem.rows;
    const int error = l->args.parts > 1 ? check_rows(l) : 0;
    const struct launch_grid grid = topk_cuda_merge_grid(l, rows * l->args.parts, MERGE_THREADS);
    TOPK_REACHED(REACHED_MERGE_HELD);
    return error != 0 ? error : l->shape->kernels->hold(&grid, &l->args);
}

/* Threads of a block that shares results, at most: a T4 has room for half of what another block has. */
static int64_t share_threads(const struct launches *l) {
    return l->shape->kernels->lists_bytes(MERGE_THREADS) <=
                   (uint32_t)device_of(l->call->context)->shared_bytes_max
               ? MERGE_THREADS
               : MERGE_THREADS / 2;
}

/* Results that a block has a share of, at most, as planned. */
static int64_t chunk_of(const struct launches *l) {
    return share_threads(l) * MERGE_ITEMS / 2;
}

int64_t topk_cuda_merge_parts(const struct launches *l, int64_t pieces, int64_t results, int64_t candidates) {
    const int64_t left = device_of(l->call->context)->sms / pieces;
    const int64_t looks = least(divide_up(candidates, MERGE_LOOKED), cluster_of(l));
    return greatest(divide_up(greatest(results, 1), chunk_of(l)),
                    least(greatest(divide_up(results, MERGE_PART), looks), left));
}

int topk_cuda_share_lists(struct launches *l, int64_t pieces, int64_t parts, int64_t results,
                          int64_t cluster) {
    const bool are_many =
        divide_up(results, parts) > MERGE_THREADS / 2 || l->args.lists > MERGE_THREADS / 128;
    struct launch_grid grid =
        topk_cuda_merge_grid(l, pieces * parts, are_many ? share_threads(l) : MERGE_THREADS / 2);
    grid.blocks -= grid.blocks % (uint32_t)cluster;
    l->args.parts = (uint32_t)parts;
    return l->shape->kernels->lists(&grid, &l->args, (uint32_t)cluster);
}

/* Whether so many blocks that share a row, as a cluster, have room for its results; and look at all its
 * candidates as fast as blocks of a launch before would. */
static bool are_clusters(const struct launches *l, int64_t blocks, int64_t results) {
    const int64_t candidates = (int64_t)l->args.candidates, all = blocks * l->call->plan->problem.rows;
    return blocks > 1 && 4 * results <= 5 * blocks * chunk_of(l) &&
           (candidates <= blocks * 4 * MERGE_LOOKED || 2 * all >= device_of(l->call->context)->sms);
}

int topk_cuda_merge_lists(struct launches *l) {
    const topk_problem *p = &l->call->plan->problem;
    const int64_t candidates = (int64_t)l->args.candidates, results = least(p->k_max, candidates);
    const int64_t parts = topk_cuda_merge_parts(l, p->rows, results, candidates),
                  cluster = least(parts, cluster_of(l));
    const bool may_be_clusters = are_clusters(l, cluster, results);
    if (!(may_be_clusters && l->args.lists <= MERGE_CLUSTER_LISTS) && are_held(l)) {
        return hold_lists(l);
    }
    if (may_be_clusters) {
        TOPK_REACHED(REACHED_MERGE_CLUSTER);
        return topk_cuda_share_lists(l, p->rows, cluster, results, cluster);
    }
    const int error = parts > 1 ? check_rows(l) : 0;
    return error != 0 ? error : topk_cuda_share_lists(l, p->rows, parts, results, 1);
}
