/* SPDX-License-Identifier: Apache-2.0
 * Which network serves a problem, and its launch. */
#include "network.h"

#include <math.h>

static const struct network_kernels *const kernels[WIDTHS] = {
    &topk_cuda_rtopk_network_8, &topk_cuda_rtopk_network_16, &topk_cuda_rtopk_network_32,
    &topk_cuda_rtopk_network_64};

enum { NETWORK };

const struct knob topk_cuda_rtopk_knobs[] = {
    [NETWORK] =
        {"network", KNOB_INTEGER, 0, 2, 1,
         "sorting networks find the thresholds of rows of one length: 0 never, 1 where they take fewer "
         "instructions, 2 wherever they can"},
    {.name = NULL}};

/* kept: 0 where a thread sorts its row as a whole. */
#define SHAPE(items, kept) {items, kept},
static const struct network_shape {
    int64_t items, kept;
} shapes[] = {RTOPK_NETWORK_LIST(SHAPE) RTOPK_TINY_LIST(SHAPE)};

/* The least number whose power of two, times `unit`, is `count` or more. */
static uint32_t shift_to(int64_t unit, int64_t count) {
    uint32_t shift = 0;
    while (unit << shift < count) {
        shift++;
    }
    return shift;
}

/* Whether a lane's list nearly always has room for its results, if these are spread over the lanes at random.
 */
static bool has_room(const struct network_shape *shape, int64_t k, int64_t lanes) {
    const double share = 1.0 / (double)lanes, mean = (double)k * share;
    return shape->kept >= least(k, shape->items) ||
           (double)shape->kept >= mean + 0.1 * RTOPK_NETWORK_DEVIATIONS * sqrt(mean * (1 - share));
}

/* Whether a search in the sorted leads takes fewer instructions than a comparison of each result with all
 * others. */
static bool ranks_by_list(int64_t k) {
    return k > RTOPK_NETWORK_COMPARED;
}

/* A model of what a warp executes: rows are read, converted and compared with the threshold; lists are sorted
 * and merged; results are listed, perhaps sorted, and written. */
static double instructions_of(const struct plan *plan, const struct network_shape *shape,
                              const struct network *network) {
    const int64_t lanes = 1 << network->part_shift, n = plan->problem.length_max, per = group_elements(plan);
    const bool may_be_whole = n % per == 0 && plan->problem.row_stride % per == 0;
    const double k = (double)results_max(plan), kept = (double)shape->kept, levels = network->part_shift;
    const double lists = (double)divide_up(n, shape->kept * lanes), of_lane = k / (double)lanes;
    const double steps = log2(kept), spans = fmin(levels, network->list_shift) * levels / 2;
    const double sort = (steps * steps - steps + 4) * kept / 2 - 2, merge = kept * (steps + 1);
    const double search =
        lists * sort + (lists - 1) * merge + levels * (merge + 4 * kept) + spans * 3.5 * kept;
    const double list = 10 * (of_lane + 3 * sqrt(of_lane) + 1), write = 22 * ceil(of_lane);
    const double rank = ranks_by_list((int64_t)k) ? 6 * log2(k) + 25 : 4 * k + 20;
    const double order = is_sorted(plan) ? ceil(of_lane) * rank : 0;
    const double read = (double)shape->items * (may_be_whole ? 6.5 : 10.5);
    return 250 + read + search + list + order + write;
}

/* The same, where a thread sorts its row with its positions. */
static double tiny_instructions_of(const struct plan *plan, const struct network_shape *shape) {
    const double items = (double)shape->items, steps = log2(items);
    const double comparisons = (steps * steps - steps + 4) * items / 4 - 1;
    return 130 + 9 * items + 6 * comparisons + 24 * (double)results_max(plan);
}

double topk_cuda_rtopk_instructions_of_row(const topk_context *context, const struct plan *plan,
                                           double of_warp, int64_t rows_of_warp) {
    const double warps = (double)plan->problem.rows / (double)rows_of_warp;
    const double busy = RTOPK_BUSY_WARPS * (double)device_of(context)->sms;
    return of_warp / (double)rows_of_warp * fmax(1, busy / warps);
}

struct network topk_cuda_rtopk_network_of(const topk_context *context, const struct plan *plan) {
    struct network best = {.instructions = INFINITY};
    const int64_t n = plan->problem.length_max, k = results_max(plan);
    const int64_t setting = tuning_value(&plan->tuning, &topk_cuda_rtopk_knobs[NETWORK]);
    if (setting == 0 || n > RTOPK_ROW_MAX || k == 0) {
        return best;
    }
    for (uint32_t i = 0; i < RTOPK_NETWORKS + RTOPK_TINIES; i++) {
        const struct network_shape *shape = &shapes[i];
        const bool is_tiny = shape->kept == 0;
        struct network network = {i, shift_to(shape->items, n), is_tiny ? 0 : shift_to(shape->kept, k), 0};
        if (network.part_shift > (is_tiny ? 0 : 5) || network.list_shift > network.part_shift ||
            32 >> network.part_shift > RTOPK_NETWORK_RESULTS / k ||
            (!is_tiny && !has_room(shape, k, 1 << network.part_shift))) {
            continue;
        }
        const double of_warp =
            is_tiny ? tiny_instructions_of(plan, shape) : instructions_of(plan, shape, &network);
        network.instructions =
            topk_cuda_rtopk_instructions_of_row(context, plan, of_warp, 32 >> network.part_shift);
        if (network.instructions < best.instructions) {
            best = network;
        }
    }
    best.instructions = setting == 2 && best.instructions < INFINITY ? 0 : best.instructions;
    return best;
}

int topk_cuda_rtopk_prepare_network(void) {
    int error = 0;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare();
    }
    return error;
}

int topk_cuda_rtopk_run_network(const struct call *call, const struct rtopk_args *of_row,
                                const struct network *network) {
    const struct plan *plan = call->plan;
    const struct network_shape *shape = &shapes[network->index];
    const int64_t parts = 32 >> network->part_shift, warps = RTOPK_THREADS / 32;
    const struct launch_grid grid =
        grid_of(call, divide_up(plan->problem.rows, parts * warps), INT32_MAX, RTOPK_THREADS);
    struct rtopk_args args = *of_row;
    struct uniform_rows *u = &args.uniform;
    *u = topk_cuda_rtopk_uniform_rows(call, &args.rows.map);
    u->is_whole = topk_cuda_rtopk_is_whole(call);
    u->part_shift = network->part_shift;
    u->list_shift = network->list_shift;
    u->is_full = u->is_whole && plan->problem.length_max == shape->items << network->part_shift;
    u->group_shift = u->is_whole ? shift_to(1, least(group_elements(plan), shape->items)) : 0;
    u->reciprocal = (1u << RTOPK_RECIPROCAL_BITS) / u->k + 1;
    args.slots = (uint32_t)parts * u->k;
    if (args.is_sorted && shape->kept != 0) {
        u->ranks_by_list = ranks_by_list(u->k);
        args.entries = args.slots;
        args.slots *= 2;
    }
    return kernels[width_of(plan)]->rows(&grid, &args, network->index);
}
