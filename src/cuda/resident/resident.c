/* SPDX-License-Identifier: Apache-2.0
 * What a call of resident launches. It needs no workspace. */
#include "../methods.h"

#include <math.h>

#include "../../workspace.h"
#include "cluster.h"
#include "shape.h"
#include "streamed.h"

static const struct resident_kernels *const kernels[WIDTHS] = {
    &topk_cuda_resident_kernels_8, &topk_cuda_resident_kernels_16, &topk_cuda_resident_kernels_32,
    &topk_cuda_resident_kernels_64};

static const struct resident_where_kernels *const where_kernels[WIDTHS] = {
    &topk_cuda_resident_where_8, &topk_cuda_resident_where_16, &topk_cuda_resident_where_32,
    &topk_cuda_resident_where_64};

static const struct resident_cluster_kernels *const cluster_kernels[WIDTHS] = {
    &topk_cuda_resident_cluster_8, &topk_cuda_resident_cluster_16, &topk_cuda_resident_cluster_32,
    &topk_cuda_resident_cluster_64};

/* What does not depend on where the buffers are. */
static struct resident_args args_of(const struct plan *plan, const struct block_shape *shape) {
    const bool is_kth = plan->operation == TOPK_OPERATION_KTH;
    const int64_t results = least(plan->problem.k_max, plan->problem.length_max);
    return (struct resident_args){.is_kth = is_kth,
                                  .is_sorted = topk_cuda_resident_is_sorted(plan),
                                  .positions =
                                      is_kth ? 0 : (uint32_t)least(results, shape->threads * shape->items),
                                  .entries = (uint32_t)topk_cuda_resident_entries(plan, shape->cluster),
                                  .has_buckets = topk_cuda_resident_is_merged(plan, shape->cluster)};
}

/* Rows in no more room than they need on average. */
static bool is_wasteful(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    return p->shape != TOPK_SHAPE_STRIDED && p->length_max > RESIDENT_WASTE * 32 &&
           p->elements_max / RESIDENT_WASTE / p->rows < p->length_max / RESIDENT_WASTE / RESIDENT_WASTE;
}

/* Why so many blocks cannot hold a row. */
static const char *refuse_length(const topk_context *context, const struct plan *plan) {
    const int64_t most = topk_cuda_resident_cluster_max(context, plan);
    const int64_t given = topk_cuda_resident_given_cluster(plan);
    if (given > most) {
        return "the device has no room for clusters of so many blocks";
    }
    if (plan->problem.length_max <= topk_cuda_resident_row_max(plan, given != 0 ? given : most)) {
        return NULL;
    }
    return given == 1  ? "rows are longer than a block's registers hold"
           : most == 1 ? "rows are longer than a block's registers hold, and there is no room for clusters"
                       : "rows are longer than a cluster's registers hold";
}

static const char *refuse(const topk_context *context, const struct plan *plan) {
    const char *reason = refuse_length(context, plan);
    if (plan->problem.rows == 0 || plan->problem.length_max == 0 || reason != NULL) {
        return reason;
    }
    if (is_wasteful(plan)) {
        return "rows are much shorter than length_max on average";
    }
    const struct block_shape shape = topk_cuda_resident_shape(context, plan, true);
    if (shape.threads == 0) {
        return "a row has more sorted results than a block merges";
    }
    const struct resident_args args = args_of(plan, &shape);
    if (shape.cluster == 1 && kernels[width_of(plan)]->shared_bytes(&args, RESIDENT_THREADS_MAX) >
                                  (uint32_t)device_of(context)->shared_bytes_max) {
        return "a row has more results than a block's shared memory holds";
    }
    return NULL;
}

/* Whether a sample's bound nearly always tells a short list of a row's results. */
static bool is_listed_at_once(const struct plan *plan, const struct block_shape *shape) {
    const int64_t k = least(plan->problem.k_max, plan->problem.length_max);
    return plan->operation == TOPK_OPERATION_SELECT && plan->element_bytes < 8 && k <= RESIDENT_LIST / 4 &&
           2 * k * shape->items <= plan->problem.length_max;
}

static double instructions_of(const struct plan *plan, const struct block_shape *shape) {
    const double warps = (double)shape->threads / 32, items = (double)shape->items;
    return is_listed_at_once(plan, shape)
               ? topk_cuda_costs.resident.of_list +
                     topk_cuda_costs.resident.of_listed * (double)plan->problem.k_max +
                     warps * (topk_cuda_costs.resident.of_listing_warp +
                              topk_cuda_costs.resident.of_listing_item * items)
               : topk_cuda_resident_instructions(plan, shape);
}

/* Whether all rows begin at multiples of 16 bytes, if the first one does; or may do so. */
static bool may_be_aligned(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    return p->shape != TOPK_SHAPE_STRIDED || p->rows == 1 ||
           (size_t)p->row_stride * plan->element_bytes % 16 == 0;
}

/* Entries that one block sorts in buckets; and so many times as many, where more than half of a row are
 * results: then buckets are often crowded, and entries are merged. */
static double merged_entries(const struct plan *plan, const struct block_shape *shape) {
    const double MERGED = 4;
    if (!topk_cuda_resident_is_merged(plan, shape->cluster)) {
        return 0;
    }
    return (double)topk_cuda_resident_sorted_entries(plan, shape->cluster) *
           (plan->problem.k_max > plan->problem.length_max / 2 ? MERGED : 1);
}

static double cluster_us(const topk_context *context, const struct plan *plan,
                         const struct block_shape *shape) {
    const bool is_searched = plan->problem.k_max > RESIDENT_LIST / 4 || has_predicate(plan);
    const double merged = merged_entries(plan, shape);
    const double of_row = topk_cuda_resident_instructions(plan, shape) * (double)shape->cluster *
                              (is_searched ? topk_cuda_costs.resident.searched : 1) +
                          topk_cuda_costs.resident.of_merged * merged;
    return block_us(context, topk_cuda_costs.resident.cluster_us +
                                 (is_searched ? topk_cuda_costs.resident.search_us : 0) +
                                 topk_cuda_costs.resident.merged_us * merged) +
           work_us(context, (double)plan->problem.rows * of_row,
                   topk_cuda_costs.resident.cluster_instructions_per_us);
}

/* What a row takes in its blocks, however few rows there are. */
static double row_us(const struct plan *plan, const struct block_shape *shape) {
    const double elements = (double)plan->problem.length_max / (double)shape->cluster;
    const double results =
        (double)least(plan->problem.k_max, plan->problem.length_max) / (double)shape->cluster;
    return topk_cuda_costs.resident.row_us +
           elements * (topk_cuda_costs.resident.element_us +
                       (has_predicate(plan) ? topk_cuda_costs.resident.compared_us : 0)) +
           results * topk_cuda_costs.resident.chosen_us +
           (shape->cluster == 1 ? topk_cuda_costs.resident.merged_us * merged_entries(plan, shape) : 0);
}

/* With rows in registers. */
static double held_us(const topk_context *context, const struct plan *plan) {
    const struct block_shape shape = topk_cuda_resident_shape(context, plan, may_be_aligned(plan));
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes +
                         (double)plan->output_elements * (double)(plan->element_bytes + plan->index_bytes);
    const double instructions = (double)plan->problem.rows * instructions_of(plan, &shape);
    const double issue_us =
        shape.cluster > 1 ? cluster_us(context, plan, &shape)
                          : work_us(context, instructions, topk_cuda_costs.resident.instructions_per_us);
    return topk_cuda_costs.launch_us + block_us(context, row_us(plan, &shape)) +
           fmax(issue_us, move_us(context, bytes, topk_cuda_costs.resident.bytes_per_us));
}

/* Whether rows are streamed, of a problem that is served. */
static bool is_streamed(const topk_context *context, const struct plan *plan) {
    const int64_t *given = topk_cuda_resident_given_stream(plan);
    if (!topk_cuda_resident_can_stream(context, plan) || given != NULL) {
        return given != NULL && *given != 0 && topk_cuda_resident_can_stream(context, plan);
    }
    return topk_cuda_resident_given_cluster(plan) == 0 && topk_cuda_resident_is_sampled(plan) &&
           topk_cuda_resident_streamed_us(context, plan) < held_us(context, plan);
}

static double cost_us(const topk_context *context, const struct plan *plan) {
    return is_streamed(context, plan) ? topk_cuda_resident_streamed_us(context, plan)
                                      : held_us(context, plan);
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    struct arena arena = arena_over(NULL);
    (void)context;
    if (has_predicate(plan)) {
        (void)arena_take(&arena, 1, sizeof(struct match)); /* of bounds that the device reads */
    }
    return arena_bytes(&arena);
}

/* Whether all rows begin at multiples of 16 bytes. */
static bool is_aligned(const struct call *call) {
    return call->plan->problem.shape == TOPK_SHAPE_STRIDED && (uintptr_t)call->input.values % 16 == 0 &&
           may_be_aligned(call->plan);
}

static int run_where(const struct call *call, const struct launch_grid *grid,
                     const struct resident_args *of_row, const struct block_shape *shape) {
    const int width = width_of(call->plan);
    struct arena arena = arena_over(call->workspace);
    struct match *found = arena_take(&arena, 1, sizeof *found);
    const struct resident_where_args args = {*of_row, topk_cuda_predicate_args(call, found)};
    const int error = topk_cuda_read_bounds(call, &args.predicate);
    return error != 0           ? error
           : shape->cluster > 1 ? cluster_kernels[width]->where(grid, &args, (uint32_t)shape->cluster)
                                : where_kernels[width]->row(grid, &args, shape->kernel);
}

static int run(const struct call *call) {
    const struct plan *plan = call->plan;
    if (is_streamed(call->context, plan)) {
        return topk_cuda_resident_run_streamed(call);
    }
    const int width = width_of(plan);
    const struct block_shape shape = topk_cuda_resident_shape(call->context, plan, is_aligned(call));
    const struct launch_grid grid = grid_of(call, plan->problem.rows, RESIDENT_GRID_ROWS, shape.threads);
    struct resident_args args = args_of(plan, &shape);
    args.rows = row_args_of(call);
    args.decode = topk_decode_args(&plan->order);
    args.kth = kth_outputs_of(call);
    if (plan->problem.rows == 0 || (!args.is_kth && plan->problem.k_max == 0)) {
        return 0;
    }
    return has_predicate(plan) ? run_where(call, &grid, &args, &shape)
           : shape.cluster > 1 ? cluster_kernels[width]->row(&grid, &args, (uint32_t)shape.cluster)
                               : kernels[width]->row(&grid, &args, shape.kernel);
}

static int prepare(const topk_context *context) {
    struct device_info *device = &((struct cuda_leaf *)context->leaf)->device;
    const uint32_t shared_bytes_max = (uint32_t)device->shared_bytes_max;
    int error = topk_cuda_prepare_bounds();
    error = error != 0 ? error : topk_cuda_resident_prepare_streamed(device);
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare(shared_bytes_max);
        error = error != 0 ? error : where_kernels[width]->prepare(shared_bytes_max);
        error = error != 0
                    ? error
                    : cluster_kernels[width]->prepare(shared_bytes_max, &device->cluster_blocks[width]);
    }
    return error;
}

const struct method topk_cuda_resident = {.name = "resident",
                                          .operations = SELECTS_WHERE,
                                          .knobs = topk_cuda_resident_knobs,
                                          .refuse = refuse,
                                          .cost_us = cost_us,
                                          .workspace_bytes = workspace_bytes,
                                          .prepare = prepare,
                                          .run = run};
