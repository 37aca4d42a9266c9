/* SPDX-License-Identifier: Apache-2.0 */
#include "streamed.h"

#include <math.h>

#include "shape.h"
#include "stream.h"

static const struct resident_stream_kernels *const kernels[WIDTHS] = {
    &topk_cuda_resident_stream_8, &topk_cuda_resident_stream_16, &topk_cuda_resident_stream_32,
    &topk_cuda_resident_stream_64};

static struct resident_args args_of(const struct plan *plan) {
    return (struct resident_args){.rows.k_max = plan->problem.k_max, .entries = RESIDENT_LIST};
}

bool topk_cuda_resident_can_stream(const topk_context *context, const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const struct resident_args args = args_of(plan);
    return plan->operation == TOPK_OPERATION_SELECT && p->order == TOPK_ORDER_ANY &&
           p->ties == TOPK_TIES_ANY && p->k_max <= RESIDENT_STREAM_RESULTS &&
           kernels[width_of(plan)]->shared_bytes(&args) <= (uint32_t)device_of(context)->shared_bytes_max;
}

/* Blocks that share a row, if multiprocessors are left over: half as many more for a cluster of four, since
 * not all of them are beside each other. */
static int64_t blocks_of_row(const topk_context *context, const struct plan *plan) {
    const int64_t given = topk_cuda_resident_given_cluster(plan), sms = device_of(context)->sms;
    const int64_t room = device_of(context)->stream_blocks[width_of(plan)];
    const int64_t most = given != 0 ? least(given, room) : room;
    int64_t blocks = 1;
    while (2 * blocks <= most && (given != 0 || (blocks + 1) * blocks * plan->problem.rows <= sms)) {
        blocks *= 2;
    }
    return blocks;
}

/* As the kernel: stream.cuh, sampled_rank(); a fifth more than expected has room. */
bool topk_cuda_resident_is_sampled(const struct plan *plan) {
    const double length = (double)plan->problem.length_max,
                 sampled = RESIDENT_STREAM_THREADS * RESIDENT_SAMPLED;
    const double mean = sampled * (double)plan->problem.k_max / length + 1;
    const double rank = mean + 5 * sqrt(mean) + 5;
    return plan->problem.shape == TOPK_SHAPE_STRIDED && length >= 4 * sampled &&
           1.2 * (1.25 * rank + 4) * length / sampled <= RESIDENT_KEPT;
}

double topk_cuda_resident_streamed_us(const topk_context *context, const struct plan *plan) {
    const int64_t blocks = blocks_of_row(context, plan), rows = plan->problem.rows;
    const int64_t rounds = divide_up(rows * blocks, device_of(context)->sms);
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

int topk_cuda_resident_prepare_streamed(struct device_info *device) {
    int error = 0;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare((uint32_t)device->shared_bytes_max, &device->stream_blocks[width]);
    }
    return error;
}

int topk_cuda_resident_run_streamed(const struct call *call) {
    const struct plan *plan = call->plan;
    const int64_t cluster = blocks_of_row(call->context, plan);
    const struct launch_grid teams =
        grid_of(call, plan->problem.rows, greatest(device_of(call->context)->sms / cluster, 1),
                RESIDENT_STREAM_THREADS);
    struct resident_args args = args_of(plan);
    args.rows = row_args_of(call);
    if (plan->problem.rows == 0 || plan->problem.k_max == 0) {
        return 0;
    }
    return kernels[width_of(plan)]->stream(&teams, &args, (uint32_t)cluster);
}
