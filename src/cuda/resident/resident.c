/* SPDX-License-Identifier: Apache-2.0
 * What resident decides: whether a row stays in the registers of one block or of a cluster, or is
 * streamed through shared memory, and what that is expected to take. shape.c makes the blocks, launch.c runs
 * them. */
#include <math.h>

#include "../../workspace.h"
#include "../methods.h"
#include "../ordering/ordering.h"
#include "plan.h"

static const struct resident_set kernels[WIDTHS] = {
    {&topk_cuda_resident_kernels_8, &topk_cuda_resident_where_8, &topk_cuda_resident_cluster_8,
     &topk_cuda_resident_stream_8},
    {&topk_cuda_resident_kernels_16, &topk_cuda_resident_where_16, &topk_cuda_resident_cluster_16,
     &topk_cuda_resident_stream_16},
    {&topk_cuda_resident_kernels_32, &topk_cuda_resident_where_32, &topk_cuda_resident_cluster_32,
     &topk_cuda_resident_stream_32},
    {&topk_cuda_resident_kernels_64, &topk_cuda_resident_where_64, &topk_cuda_resident_cluster_64,
     &topk_cuda_resident_stream_64}};

/* ---- Knobs ---- */

enum { THREADS, CLUSTER, STREAM };

static const struct knob knobs[] = {
    [THREADS] = {"threads", KNOB_INTEGER, 32, RESIDENT_THREADS_MAX, RESIDENT_THREADS,
                 "of a block, at most, unless its row or results need more; by default fewer for many rows"},
    [CLUSTER] = {"cluster", KNOB_INTEGER, 1, RESIDENT_CLUSTER_MAX, 1,
                 "blocks that share a row, a power of two or the one below; by default as rows need"},
    [STREAM] = {"stream", KNOB_SWITCH, 0, 1, 0,
                "rows go through shared memory once, where that is possible; by default where it is faster"},
    {.name = NULL}};

static struct resident_wishes wishes_of(const struct plan *plan) {
    const char *const tuning = plan->problem.tuning;
    struct resident_wishes wishes = {.threads = 0};
    int64_t cluster = 0;
    (void)topk_tuning_given(tuning, &knobs[THREADS], &wishes.threads);
    wishes.tells_stream = topk_tuning_given(tuning, &knobs[STREAM], &wishes.stream);
    if (topk_tuning_given(tuning, &knobs[CLUSTER], &cluster)) {
        wishes.cluster = 1;
        while (2 * wishes.cluster <= cluster) {
            wishes.cluster *= 2;
        }
    }
    return wishes;
}

/* ---- What cannot be served ---- */

/* Rows in no more room than they need on average. */
static bool is_wasteful(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    return p->shape != TOPK_SHAPE_STRIDED && p->length_max > RESIDENT_WASTE * 32 &&
           p->elements_max / RESIDENT_WASTE / p->rows < p->length_max / RESIDENT_WASTE / RESIDENT_WASTE;
}

/* Why blocks that hold a row cannot serve it. */
static const char *refuse(const topk_context *context, const struct plan *plan,
                          const struct resident_plan *decided) {
    const struct resident_shape *shape = &decided->shapes[1];
    if (is_wasteful(plan)) {
        return "rows are much shorter than length_max on average";
    }
    if (shape->threads == 0) {
        return "a row has more sorted results than a cluster sorts";
    }
    const struct resident_args args = resident_args_of(decided, shape);
    if (shape->cluster == 1 && decided->kernels->block->shared_bytes(&args, RESIDENT_THREADS_MAX) >
                                   (uint32_t)device_of(context)->shared_bytes_max) {
        return "a row has more results than a block's shared memory holds";
    }
    return NULL;
}

/* ---- What rows in registers take ---- */

/* Whether a sample's bound nearly always tells a short list of a row's results. */
static bool is_listed_at_once(const struct plan *plan, const struct resident_shape *shape) {
    const int64_t k = least(plan->problem.k_max, plan->problem.length_max);
    return plan->operation == TOPK_OPERATION_SELECT && plan->element_bytes < 8 && k <= RESIDENT_LIST / 4 &&
           2 * k * shape->items <= plan->problem.length_max;
}

static double block_instructions(const struct plan *plan, const struct resident_shape *shape) {
    const double warps = (double)shape->threads / 32, items = (double)shape->items;
    return is_listed_at_once(plan, shape)
               ? topk_cuda_costs.resident.of_list +
                     topk_cuda_costs.resident.of_listed * (double)plan->problem.k_max +
                     warps * (topk_cuda_costs.resident.of_listing_warp +
                              topk_cuda_costs.resident.of_listing_item * items)
               : shape->instructions;
}

/* Entries that one block sorts in buckets; and how many times as many, where more than half of a row are
 * results: then buckets are often crowded, and entries are merged. */
static double merged_entries(const struct plan *plan, const struct resident_shape *shape) {
    const double MERGED = 4;
    return !shape->is_merged
               ? 0
               : (double)shape->sorted * (plan->problem.k_max > plan->problem.length_max / 2 ? MERGED : 1);
}

static double cluster_us(const topk_context *context, const struct plan *plan,
                         const struct resident_shape *shape, double merged) {
    const bool is_searched = plan->problem.k_max > RESIDENT_LIST / 4 || has_predicate(plan);
    const double of_row =
        shape->instructions * (double)shape->cluster * (is_searched ? topk_cuda_costs.resident.searched : 1) +
        topk_cuda_costs.resident.of_merged * merged;
    return block_us(context, topk_cuda_costs.resident.cluster_us +
                                 (is_searched ? topk_cuda_costs.resident.search_us : 0) +
                                 topk_cuda_costs.resident.merged_us * merged) +
           work_us(context, (double)plan->problem.rows * of_row,
                   topk_cuda_costs.resident.cluster_instructions_per_us);
}

/* What a row takes in its blocks, however few rows there are. */
static double row_us(const struct plan *plan, const struct resident_shape *shape, double merged) {
    const double elements = (double)plan->problem.length_max / (double)shape->cluster;
    const double results =
        (double)least(plan->problem.k_max, plan->problem.length_max) / (double)shape->cluster;
    return topk_cuda_costs.resident.row_us +
           elements * (topk_cuda_costs.resident.element_us +
                       (has_predicate(plan) ? topk_cuda_costs.resident.compared_us : 0)) +
           results * topk_cuda_costs.resident.chosen_us +
           (shape->cluster == 1 ? topk_cuda_costs.resident.merged_us * merged : 0);
}

static double held_us(const topk_context *context, const struct plan *plan,
                      const struct resident_shape *shape) {
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes +
                         (double)plan->output_elements * (double)(plan->element_bytes + plan->index_bytes);
    const double merged = merged_entries(plan, shape);
    const double issue_us =
        shape->cluster > 1 ? cluster_us(context, plan, shape, merged)
                           : work_us(context, (double)plan->problem.rows * block_instructions(plan, shape),
                                     topk_cuda_costs.resident.instructions_per_us);
    return topk_cuda_costs.launch_us + block_us(context, row_us(plan, shape, merged)) +
           fmax(issue_us, move_us(context, bytes, topk_cuda_costs.resident.bytes_per_us));
}

/* ---- Streamed rows ---- */

/* Whether a sample of rows of that length tells a bound that keeps few enough. As the kernel: stream.cuh,
 * sampled_rank(); a fifth more than expected has room. */
static bool is_sampled(const struct plan *plan) {
    const double length = (double)plan->problem.length_max,
                 sampled = RESIDENT_STREAM_THREADS * RESIDENT_SAMPLED;
    const double mean = sampled * (double)plan->problem.k_max / length + 1;
    const double rank = mean + 5 * sqrt(mean) + 5;
    return plan->problem.shape == TOPK_SHAPE_STRIDED && length >= 4 * sampled &&
           1.2 * (1.25 * rank + 4) * length / sampled <= RESIDENT_KEPT;
}

/* Whether rows may be streamed: the caller wants it, or leaves it to us and it would not take the way out;
 * and the kernel serves the problem, whatever its data. */
static bool may_stream(const struct plan *plan, const struct resident_wishes *wishes) {
    const topk_problem *p = &plan->problem;
    return plan->operation == TOPK_OPERATION_SELECT && p->order == TOPK_ORDER_ANY &&
           p->ties == TOPK_TIES_ANY && p->k_max <= RESIDENT_STREAM_RESULTS &&
           (wishes->tells_stream ? wishes->stream != 0 : wishes->cluster == 0 && is_sampled(plan));
}

static bool fits_stream(const topk_context *context, const struct plan *plan,
                        const struct resident_set *of_width) {
    const struct resident_args args = {.rows.k_max = plan->problem.k_max, .entries = RESIDENT_LIST};
    return of_width->stream->shared_bytes(&args) <= (uint32_t)device_of(context)->shared_bytes_max;
}

/* Blocks that share a row, if multiprocessors are left over: half as many more for a cluster of four, since
 * not all of them are beside each other. `given`: as many as the caller wants, or 0. */
static int64_t stream_blocks(const topk_context *context, const struct plan *plan, int64_t given) {
    const int64_t sms = device_of(context)->sms, room = device_of(context)->stream_blocks[width_of(plan)];
    const int64_t most = given != 0 ? least(given, room) : room;
    int64_t blocks = 1;
    while (2 * blocks <= most && (given != 0 || (blocks + 1) * blocks * plan->problem.rows <= sms)) {
        blocks *= 2;
    }
    return blocks;
}

static double streamed_us(const topk_context *context, const struct plan *plan, int64_t blocks) {
    const int64_t rows = plan->problem.rows, rounds = divide_up(rows * blocks, device_of(context)->sms);
    const double row_bytes = (double)plan->problem.length_max * (double)plan->element_bytes;
    const double of_block = block_us(context, (double)rounds * row_bytes / (double)blocks /
                                                  topk_cuda_costs.resident.stream_bytes_per_us);
    const double of_memory =
        move_us(context, (double)rows * row_bytes, topk_cuda_costs.resident.bytes_per_us);
    const double selected_us =
        block_us(context, topk_cuda_costs.resident.kept_us +
                              topk_cuda_costs.resident.result_us * (double)plan->problem.k_max);
    return topk_cuda_costs.resident.stream_us + (double)rounds * selected_us + fmax(of_block, of_memory);
}

/* Streams the rows if the caller wants it or it takes less time than `held`. Returns the time of the way that
 * is taken. */
static double choose_stream(const topk_context *context, const struct plan *plan,
                            const struct resident_wishes *wishes, double held, struct resident_plan *own) {
    if (!may_stream(plan, wishes)) {
        return held;
    }
    const int64_t blocks = stream_blocks(context, plan, wishes->cluster);
    const double streamed = streamed_us(context, plan, blocks);
    own->is_streamed = (wishes->tells_stream || streamed < held) && fits_stream(context, plan, own->kernels);
    if (own->is_streamed) {
        own->grid_rows = greatest(device_of(context)->sms / blocks, 1);
        own->shapes[0] = own->shapes[1] = (struct resident_shape){
            .threads = RESIDENT_STREAM_THREADS, .cluster = blocks, .entries = RESIDENT_LIST};
    }
    return own->is_streamed ? streamed : held;
}

/* ---- The whole ---- */

/* Whether all rows begin at multiples of 16 bytes, if the first one does; or, without a stride, may do so. */
static bool may_be_aligned(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    return p->shape != TOPK_SHAPE_STRIDED || p->rows == 1 ||
           (size_t)p->row_stride * plan->element_bytes % 16 == 0;
}

/* Each element takes a few instructions at least, and a row a warp's, whoever holds them. Streamed
 * rows are at least read. */
static double least_us(const topk_context *context, const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const double OF_WARP = 300, of_element = topk_cuda_costs.resident.of_listing_item / 32;
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes;
    const double read_us = move_us(context, bytes, topk_cuda_costs.resident.bytes_per_us);
    const double issue_us = work_us(context, (double)p->rows * (OF_WARP + of_element * (double)p->length_max),
                                    topk_cuda_costs.resident.instructions_per_us);
    const double held_us = topk_cuda_costs.launch_us + block_us(context, topk_cuda_costs.resident.row_us) +
                           fmax(issue_us, read_us);
    return topk_cuda_resident_refuse_length(context, plan, 0) != NULL ? INFINITY
           : p->ties == TOPK_TIES_ANY /* also of results that are put in order afterwards */
               ? fmin(held_us, topk_cuda_costs.resident.stream_us + read_us)
               : held_us;
}

static void decide(const topk_context *context, const struct plan *plan, struct room *room,
                   struct decision *decision) {
    const topk_problem *p = &plan->problem;
    const struct resident_wishes wishes = wishes_of(plan);
    const bool is_aligned = may_be_aligned(plan);
    struct resident_plan *own = topk_room_take(room, sizeof *own);
    *own = (struct resident_plan){.kernels = &kernels[width_of(plan)],
                                  .order = device_order_of(plan),
                                  .is_kth = plan->operation == TOPK_OPERATION_KTH,
                                  .results = least(p->k_max, p->length_max),
                                  .may_be_aligned = p->shape == TOPK_SHAPE_STRIDED && is_aligned,
                                  .grid_rows = RESIDENT_GRID_ROWS};
    own->is_empty = p->rows == 0 || (!own->is_kth && p->k_max == 0);
    own->is_sorted = !own->is_kth && p->order == TOPK_ORDER_BEST_FIRST;
    own->by_position = p->order == TOPK_ORDER_BY_POSITION;
    decision->cannot = topk_cuda_resident_shapes(context, plan, &wishes, own->shapes);
    if (decision->cannot == NULL && own->shapes[1].threads == 0 &&
        topk_cuda_orders_beyond(context, plan, 0)) {
        topk_cuda_plan_ordered(context, plan, &topk_cuda_resident, room, decision);
        return;
    }
    if (decision->cannot == NULL && p->rows > 0 && p->length_max > 0) {
        decision->cannot = refuse(context, plan, own);
    }
    if (decision->cannot != NULL) {
        return;
    }
    struct arena arena = arena_over(NULL);
    (void)arena_take(&arena, has_predicate(plan) ? 1 : 0, sizeof(struct match));
    const double held = held_us(context, plan, &own->shapes[is_aligned]);
    decision->cost_us = choose_stream(context, plan, &wishes, held, own);
    decision->variant = own->is_streamed ? "stream" : own->shapes[1].cluster > 1 ? "cluster" : "block";
    decision->launches = own->is_empty ? 0 : 1 + has_predicate(plan);
    decision->workspace_bytes = arena_bytes(&arena);
    decision->own = own;
}

static int prepare(const topk_context *context) {
    struct device_info *device = &((struct cuda_leaf *)context->leaf)->device;
    const uint32_t shared_bytes_max = (uint32_t)device->shared_bytes_max;
    int error = topk_cuda_prepare_bounds();
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        const struct resident_set *of_width = &kernels[width];
        error = of_width->stream->prepare(shared_bytes_max, &device->stream_blocks[width]);
        error = error != 0 ? error : of_width->block->prepare(shared_bytes_max);
        error = error != 0 ? error : of_width->where->prepare(shared_bytes_max);
        error =
            error != 0 ? error : of_width->cluster->prepare(shared_bytes_max, &device->cluster_blocks[width]);
    }
    return error;
}

const struct method topk_cuda_resident = {.name = "resident",
                                          .operations = SELECTS_WHERE,
                                          .knobs = knobs,
                                          .least_us = least_us,
                                          .plan = decide,
                                          .prepare = prepare,
                                          .run = topk_cuda_resident_run};
