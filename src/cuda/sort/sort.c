/* SPDX-License-Identifier: Apache-2.0
 * What sort decides. */
#include "../methods.h"

#include <limits.h>
#include <math.h>

#include "../../reached.h"
#include "../ordering/ordering.h"
#include "../select/found.h"
#include "plan.h"

static const struct sort_kernels *const kernels[WIDTHS] = {
    &topk_cuda_sort_kernels_8, &topk_cuda_sort_kernels_16, &topk_cuda_sort_kernels_32,
    &topk_cuda_sort_kernels_64};

static int64_t row_max(const struct plan *plan) {
    return (plan->element_bytes == 8 ? SORT_ROW_THREADS_64 : SORT_ROW_THREADS) * SORT_ROW_ITEMS;
}

static int64_t tile_elements(const struct plan *plan) {
    return SORT_PASS_THREADS * (plan->element_bytes == 8 ? SORT_ITEMS_64 : SORT_ITEMS);
}

static size_t bytes_of(const struct plan *plan, const struct sort_plan *s) {
    struct arena arena = arena_over(NULL);
    (void)topk_cuda_sort_take(&arena, plan, s);
    return arena_bytes(&arena);
}

/* Of a row that may begin anywhere in a group of 16 bytes. */
static int64_t filter_tiles(const struct plan *plan, const struct sort_plan *s) {
    const int64_t bytes = (int64_t)plan->element_bytes;
    return divide_up(s->length + 16 / bytes - 1, (SORT_FILTER_THREADS - 32) * SORT_FILTER_ITEMS(bytes));
}

/* ---- Decision ---- */

/* Room for what reaches a row's threshold: k elements, and twice as many deviations of the sample as the
 * threshold lies below the k-th element, once for these and once for chance. */
static int64_t room_of(const topk_problem *p) {
    const double n = (double)p->length_max, share = (double)p->k_max / n;
    const double deviation = sqrt(SORT_SAMPLES * share * (1 - share));
    const double beyond = 2.15 * SORT_DEVIATION_TENTHS / 10 * deviation + SORT_SPARE_SAMPLES;
    return share >= 1 ? p->length_max : p->k_max + (int64_t)(n / SORT_SAMPLES * beyond);
}

/* Whether a threshold leaves out at least a tenth of the longest row, and the room of lists. */
static void decide_filter(const struct plan *plan, struct sort_plan *s) {
    const topk_problem *p = &plan->problem;
    s->room = s->length;
    if (s->is_found || s->is_kth || p->length_max > SORT_FILTERED_ROW) {
        return;
    }
    const int64_t room = room_of(p);
    s->is_filtered = room <= p->length_max / 10 * 9;
    s->room = s->is_filtered ? room : s->length;
}

static double rows_us(const topk_context *context, const struct plan *plan, const struct sort_plan *s) {
    const double rows = (double)plan->problem.rows, elements = rows * (double)s->length;
    const double ranking_us =
        work_us(context, rows, 1 / topk_cuda_costs.sort.row_us) +
        work_us(context, elements * (double)s->passes, topk_cuda_costs.sort.ranked_per_us);
    const double pass_us =
        topk_cuda_costs.sort.block_pass_us + topk_cuda_costs.sort.element_us * (double)s->length;
    return topk_cuda_costs.launch_us + fmax(ranking_us, block_us(context, pass_us * (double)s->passes));
}

/* The launch that filters rows once more, and the passes that survivors need not have, take little. */
static double groups_us(const topk_context *context, const struct plan *plan, const struct sort_plan *s) {
    const double rows = (double)plan->problem.rows, moved = rows * (double)s->room;
    const double entry = (double)plan->element_bytes + (s->is_kth ? 0 : s->wide ? 8 : 4);
    const double groups = rows / (double)s->group_rows, launches = s->passes + 2 + s->is_kth + s->is_filtered;
    const double elements = rows * (double)s->length, read = elements * (double)plan->element_bytes;
    double bytes = moved * 2 * s->passes * entry + (s->is_filtered ? moved * entry : read), filter_us = 0;
    if (s->is_filtered) {
        filter_us = fmax(work_us(context, elements, topk_cuda_costs.sort.filtered_per_us),
                         move_us(context, read, topk_cuda_costs.sort.read_bytes_per_us));
    }
    return groups * launches * topk_cuda_costs.sort.pass_us + filter_us +
           move_us(context, bytes, topk_cuda_costs.sort.moved_bytes_per_us);
}

static void decide_rows(const topk_context *context, const struct plan *plan, struct sort_plan *s,
                        struct decision *decision) {
    s->threads = greatest(divide_up(divide_up(s->length, SORT_ROW_ITEMS), 32) * 32, 32);
    s->resident_blocks = device_of(context)->sms * greatest(SORT_ROW_THREADS_PER_SM / s->threads, 1);
    decision->variant = "block";
    decision->launches = 1;
    decision->cost_us = rows_us(context, plan, s);
    decision->workspace_bytes = 0;
}

static int64_t group_rows_of(const struct plan *plan, const struct sort_plan *s) {
    return least(greatest(SORT_GROUP_ELEMENTS / s->room, 1), plan->problem.rows);
}

/* Groups are smaller where the caller's limit says so. */
static void decide_groups(const topk_context *context, const struct plan *plan, struct sort_plan *s,
                          struct decision *decision) {
    const topk_problem *p = &plan->problem;
    s->threads = SORT_THREADS;
    s->resident_blocks = (int64_t)device_of(context)->sms * SORT_BLOCKS_PER_SM;
    decide_filter(plan, s);
    s->tiles = divide_up(s->room, tile_elements(plan));
    s->row_tiles = s->is_filtered ? filter_tiles(plan, s) : 0;
    s->wide_states = s->room > SORT_NARROW_STATES;
    s->group_rows = group_rows_of(plan, s);
    decision->workspace_bytes = bytes_of(plan, s);
    while (p->workspace_limit != 0 && s->group_rows > 1 && decision->workspace_bytes > p->workspace_limit) {
        TOPK_REACHED(REACHED_SORT_LIMIT);
        s->group_rows /= 2;
        decision->workspace_bytes = bytes_of(plan, s);
    }
    const int64_t groups = p->rows == 0 ? 0 : divide_up(p->rows, s->group_rows),
                  of_group = s->passes + 2 + 2 * s->is_filtered;
    decision->variant = s->is_filtered ? "filtered" : "groups";
    decision->launches = (int)(least(groups, INT_MAX / 4 / of_group) * of_group); /* callers add to them */
    decision->cost_us = p->rows == 0 ? rows_us(context, plan, s) : groups_us(context, plan, s);
}

/* Of rows; groups may be smaller. */
static double least_us(const topk_context *context, const struct plan *plan) {
    struct sort_plan s = {.is_kth = plan->operation == TOPK_OPERATION_KTH,
                          .wide = plan->problem.length_max > SORT_NARROW_ROW,
                          .passes = plan->element_bits / SORT_DIGIT_BITS,
                          .length = plan->problem.length_max};
    if (plan->problem.rows == 0 || s.length <= row_max(plan)) {
        return rows_us(context, plan, &s);
    }
    decide_filter(plan, &s);
    s.group_rows = group_rows_of(plan, &s);
    return groups_us(context, plan, &s);
}

static void decide(const topk_context *context, const struct plan *plan, const struct sort_plan *lists,
                   struct room *room, struct decision *decision) {
    struct sort_plan *s = topk_room_take(room, sizeof *s);
    *s = *lists;
    s->is_kth = plan->operation == TOPK_OPERATION_KTH;
    s->passes = plan->element_bits / SORT_DIGIT_BITS;
    s->one_block = s->length <= row_max(plan);
    if (s->one_block) {
        decide_rows(context, plan, s, decision);
    } else {
        decide_groups(context, plan, s, decision);
    }
    decision->own = s;
}

static void plan_rows(const topk_context *context, const struct plan *plan, struct room *room,
                      struct decision *decision) {
    if (wants_positions(plan)) {
        topk_cuda_plan_ordered(context, plan, &topk_cuda_sort, room, decision);
        return;
    }
    const struct sort_plan rows = {.wide = plan->problem.length_max > SORT_NARROW_ROW,
                                   .length = plan->problem.length_max};
    decide(context, plan, &rows, room, decision);
}

void topk_cuda_plan_found(const topk_context *context, const struct plan *plan, size_t position_bytes,
                          struct room *room, struct decision *decision) {
    const topk_problem *p = &plan->problem;
    const struct sort_plan found = {
        .is_found = true, .wide = position_bytes == 8, .length = least(p->k_max, p->length_max)};
    *decision = (struct decision){.cannot = NULL};
    decide(context, plan, &found, room, decision);
}

static int prepare(const topk_context *context) {
    int error = 0;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare();
    }
    (void)context;
    return error;
}

const struct method topk_cuda_sort = {.name = "sort",
                                      .operations = SELECTS,
                                      .least_us = least_us,
                                      .plan = plan_rows,
                                      .prepare = prepare,
                                      .run = topk_cuda_sort_run};
