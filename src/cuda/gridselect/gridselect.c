/* SPDX-License-Identifier: Apache-2.0
 * What gridselect decides: whether a row has several blocks, one, or a warp, with how many warps and slots,
 * and what that is expected to take. launch.c launches it. */
#include <math.h>

#include "../methods.h"
#include "../ordering/ordering.h"
#include "plan.h"

static const struct gridselect_kernels *const kernels[WIDTHS] = {
    &topk_cuda_gridselect_kernels_8, &topk_cuda_gridselect_kernels_16, &topk_cuda_gridselect_kernels_32,
    &topk_cuda_gridselect_kernels_64};

/* ---- Knobs ---- */

enum { QUEUE, ELEMENTS, HASHED };

static const struct knob knobs[] = {
    [QUEUE] = {"queue", KNOB_SWITCH, 0, 1, 1, "0: a queue for each lane, not one for its warp"},
    [ELEMENTS] =
        {"elements", KNOB_INTEGER, 1, INT64_MAX, 0,
         "of a row for each block, at least; by default by the row's length, k and the number of rows"},
    [HASHED] = {"hashed", KNOB_SWITCH, 0, 1, 1, "0: blocks visit their tiles in the order of positions"},
    {.name = NULL}};

static int64_t value_of(const struct plan *plan, int knob) {
    return tuning_value(plan->problem.tuning, &knobs[knob]);
}

/* ---- Shape ---- */

/* Of 16 bytes, for a row that a warp has alone and that may begin and end anywhere: multiples of 128 bytes.
 */
static uint32_t row_groups_of(const struct plan *plan) {
    const int64_t body =
        least(plan->problem.length_max, GRIDSELECT_LONE_ROW) * (int64_t)plan->element_bytes / 16;
    return (uint32_t)(8 * divide_up(GRIDSELECT_LONE_LEAD + body + 1, 8));
}

/* With room for the words of as many blocks as may share a row. */
static int64_t shared_bytes(const struct plan *plan, const struct gridselect_shape *shape) {
    const struct gridselect_args args = gridselect_args_of(shape);
    const struct gridselect_kernels *k = kernels[width_of(plan)];
    const uint32_t threads = (uint32_t)(32 * shape->warps);
    if (shape->is_lone) {
        return k->lone_shared_bytes(&args, threads);
    }
    return k->shared_bytes(&args, shape->two_words, threads, (uint32_t)shape->parts) +
           8 * GRIDSELECT_PARTS_MAX;
}

/* Blocks of this shape, with so much shared memory each, that a multiprocessor holds. */
static int64_t blocks_per_sm(const topk_context *context, const struct gridselect_shape *shape,
                             int64_t bytes) {
    const int64_t warps = !shape->is_lone    ? GRIDSELECT_WARPS_PER_SM
                          : shape->two_words ? GRIDSELECT_LONE_WARPS_PER_SM_64
                                             : GRIDSELECT_LONE_WARPS_PER_SM;
    const int64_t fitting = device_of(context)->shared_bytes_max / bytes;
    return greatest(least(fitting, warps / shape->warps), 1);
}

static int64_t resident_blocks(const topk_context *context, const struct plan *plan,
                               const struct gridselect_shape *shape) {
    return device_of(context)->sms * blocks_per_sm(context, shape, shared_bytes(plan, shape));
}

/* Elements of a row that a warp reads in one turn. */
static int64_t elements_of_turn(const struct plan *plan) {
    const int64_t groups = plan->element_bytes == 1 ? 2 : 4; /* tiles.cuh */
    return 32 * groups * (16 / (int64_t)plan->element_bytes);
}

/* As many slots as lists leave room for, beside as many blocks, and as a row can fill. */
static int64_t slots_of(const topk_context *context, const struct plan *plan,
                        const struct gridselect_shape *least) {
    const int64_t blocks = blocks_per_sm(context, least, shared_bytes(plan, least));
    const int64_t of_slot = elements_of_turn(plan) * least->warps;
    struct gridselect_shape shape = *least;
    while (2 * shape.slots <= GRIDSELECT_SLOTS && shape.slots * of_slot < plan->problem.length_max) {
        struct gridselect_shape next = shape;
        next.slots *= 2;
        const int64_t bytes = shared_bytes(plan, &next);
        if (bytes > device_of(context)->shared_bytes_max || blocks_per_sm(context, &next, bytes) < blocks) {
            break;
        }
        shape = next;
    }
    return shape.slots;
}

/* Whether blocks of `warps` warps leave multiprocessors over, a quarter at least, for few results. */
static bool leaves_many(const topk_context *context, const struct plan *plan,
                        const struct gridselect_shape *shape) {
    const int64_t blocks = divide_up(plan->problem.length_max, elements_of_turn(plan) * shape->warps);
    const int64_t rows_needed = divide_up(3 * device_of(context)->sms, 4 * blocks);
    return shape->capacity <= GRIDSELECT_FEW_RESULTS && plan->problem.rows < rows_needed;
}

/* Blocks for a row of `length`, each with `elements` elements at least. */
static int64_t parts_of(int64_t length, int64_t elements, int64_t most) {
    return greatest(least(divide_up(length, elements), most), 1);
}

/* What is the same for rows of blocks and for rows of one warp. */
static struct gridselect_shape shape_with(const struct plan *plan, int64_t warps, bool is_lone) {
    const topk_problem *p = &plan->problem;
    return (struct gridselect_shape){.two_words =
                                         plan->element_bytes == 8 || p->length_max > GRIDSELECT_ONE_WORD_ROW,
                                     .capacity = greatest(least(p->k_max, p->length_max), 1),
                                     .warps = warps,
                                     .slots = GRIDSELECT_SLOTS_LEAST,
                                     .parts = 1,
                                     .is_lone = is_lone,
                                     .row_groups = is_lone ? row_groups_of(plan) : 0,
                                     .has_lane_queues = value_of(plan, QUEUE) == 0,
                                     .is_hashed = value_of(plan, HASHED) != 0};
}

/* Each row has a block or more. `given`: elements that the caller wants a block to have, or 0. */
static struct gridselect_shape shape_of_blocks(const topk_context *context, const struct plan *plan,
                                               int64_t given) {
    const topk_problem *p = &plan->problem;
    const int64_t n = p->length_max;
    struct gridselect_shape shape = shape_with(plan, GRIDSELECT_WARPS, false);
    while (shape.warps > 1 && (n <= shape.warps / 2 * GRIDSELECT_WARP_ELEMENTS ||
                               shared_bytes(plan, &shape) > device_of(context)->shared_bytes_max)) {
        shape.warps /= 2;
    }
    if (shape.warps == GRIDSELECT_WARPS && leaves_many(context, plan, &shape)) {
        shape.warps /= 2;
    }
    shape.slots = slots_of(context, plan, &shape);
    const int64_t resident = resident_blocks(context, plan, &shape);
    const int64_t rows = greatest(least(p->rows, GRIDSELECT_GRID_ROWS), 1);
    const int64_t of_turn = elements_of_turn(plan) * shape.warps;
    shape.parts = parts_of(n, greatest(of_turn, given), resident / rows);
    if (given == 0 && gridselect_part_of(&shape) == 0) {
        shape.parts = parts_of(n, greatest(of_turn, GRIDSELECT_ALONE), resident / rows);
    }
    return shape;
}

/* Each warp has rows of its own, if these are short and fill the device, and the knob asks for no blocks. */
static struct gridselect_shape shape_of(const topk_context *context, const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const int64_t given = value_of(plan, ELEMENTS);
    struct gridselect_shape shape = shape_with(plan, GRIDSELECT_LONE_WARPS, true);
    if (p->length_max > GRIDSELECT_LONE_ROW || shape.capacity > GRIDSELECT_LONE_RESULTS ||
        p->rows < (int64_t)GRIDSELECT_LONE_ROWS_PER_SM * device_of(context)->sms || given > 0) {
        return shape_of_blocks(context, plan, given);
    }
    while (shared_bytes(plan, &shape) > device_of(context)->shared_bytes_max) {
        if (shape.warps == 1) {
            return shape_of_blocks(context, plan, given);
        }
        shape.warps /= 2;
    }
    return shape;
}

/* ---- Choice ---- */

/* Elements that reach a list of k: the first k, and then fewer and fewer. */
static double pushed(double elements, double k) {
    return elements <= k ? elements : k * (1 + log(elements / k));
}

/* Time of a launch in which each row has a block, or several. */
static double blocks_us(const topk_context *context, const struct plan *plan,
                        const struct gridselect_shape *shape, double bytes) {
    const double n = (double)plan->problem.length_max, k = (double)shape->capacity;
    const double blocks = fmax((double)plan->problem.rows * (double)shape->parts, 1);
    const double of_block = pushed(n / (double)shape->parts, k) / (double)shape->warps;
    const double block =
        topk_cuda_costs.gridselect.block_us + topk_cuda_costs.gridselect.pushed_us * of_block;
    const double of_sm = (double)GRIDSELECT_WARPS_PER_SM / (double)shape->warps;
    const double waves = fmax(1, blocks / ((double)device_of(context)->sms * of_sm));
    const double read =
        block_us(context, waves * bytes / blocks * of_sm / topk_cuda_costs.gridselect.stream_bytes_per_us);
    return block_us(context, block * waves * (shape->parts > 1 ? 2 : 1)) +
           fmax(read, move_us(context, bytes, topk_cuda_costs.gridselect.bytes_per_us));
}

/* Time of a launch in which each warp has rows of its own. */
static double warps_us(const topk_context *context, const struct plan *plan,
                       const struct gridselect_shape *shape, double bytes) {
    const double n = (double)plan->problem.length_max;
    const double of_row = topk_cuda_costs.gridselect.of_row + topk_cuda_costs.gridselect.of_element * n +
                          topk_cuda_costs.gridselect.of_pushed * pushed(n, (double)shape->capacity);
    const double issue =
        work_us(context, (double)plan->problem.rows * of_row, topk_cuda_costs.gridselect.instructions_per_us);
    return fmax(issue, move_us(context, bytes, topk_cuda_costs.gridselect.bytes_per_us));
}

/* ---- The whole ---- */

static double cost_us(const topk_context *context, const struct plan *plan,
                      const struct gridselect_shape *shape) {
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes;
    return topk_cuda_costs.launch_us +
           (shape->is_lone ? warps_us(context, plan, shape, bytes) : blocks_us(context, plan, shape, bytes));
}

/* Whether warps have rows of their own, unless the caller or a small shared memory is against it. */
static bool may_be_lone(const topk_context *context, const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    return p->length_max <= GRIDSELECT_LONE_ROW &&
           least(p->k_max, p->length_max) <= GRIDSELECT_LONE_RESULTS &&
           p->rows >= (int64_t)GRIDSELECT_LONE_ROWS_PER_SM * device_of(context)->sms;
}

/* Elements of a block at least, if a row has `blocks` blocks with all warps. Multiprocessors read side by
 * side, if there are blocks for all. */
static double least_blocks_us(const topk_context *context, const struct plan *plan, int64_t parts) {
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes;
    const double k = (double)greatest(least(plan->problem.k_max, plan->problem.length_max), 1);
    const double of_warp = pushed((double)plan->problem.length_max / (double)parts, k) / GRIDSELECT_WARPS;
    const double block = topk_cuda_costs.gridselect.block_us + topk_cuda_costs.gridselect.pushed_us * of_warp;
    const double readers =
        (double)(parts > 1 ? device_of(context)->sms
                           : greatest(least(plan->problem.rows, device_of(context)->sms), 1));
    const double rounded = 1 - 1e-9; /* whatever the order of these divisions */
    const double read =
        rounded * block_us(context, bytes / readers / topk_cuda_costs.gridselect.stream_bytes_per_us);
    return topk_cuda_costs.launch_us + block_us(context, block * (parts > 1 ? 2 : 1)) +
           fmax(read, move_us(context, bytes, topk_cuda_costs.gridselect.bytes_per_us));
}

/* A row has one block, or many. */
static double least_us(const topk_context *context, const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const int64_t at_once = device_of(context)->sms * (GRIDSELECT_WARPS_PER_SM / GRIDSELECT_WARPS);
    const int64_t parts = at_once / greatest(least(p->rows, GRIDSELECT_GRID_ROWS), 1);
    const double of_row =
        topk_cuda_costs.gridselect.of_row + topk_cuda_costs.gridselect.of_element * (double)p->length_max;
    if (least(p->k_max, p->length_max) > GRIDSELECT_K_MAX) {
        return INFINITY;
    }
    const double alone = least_blocks_us(context, plan, 1);
    const double blocks = parts > 1 ? fmin(alone, least_blocks_us(context, plan, parts)) : alone;
    return may_be_lone(context, plan)
               ? fmin(blocks,
                      topk_cuda_costs.launch_us + work_us(context, (double)p->rows * of_row,
                                                          topk_cuda_costs.gridselect.instructions_per_us))
               : blocks;
}

static void decide(const topk_context *context, const struct plan *plan, struct room *room,
                   struct decision *decision) {
    if (wants_positions(plan)) {
        topk_cuda_plan_ordered(context, plan, &topk_cuda_gridselect, room, decision);
        return;
    }
    const topk_problem *p = &plan->problem;
    if (least(p->k_max, p->length_max) > GRIDSELECT_K_MAX) {
        decision->cannot = "rows have more results than a warp's list holds";
        return;
    }
    struct gridselect_plan *own = topk_room_take(room, sizeof *own);
    *own = (struct gridselect_plan){.kernels = kernels[width_of(plan)],
                                    .is_empty = p->rows == 0 || p->k_max == 0,
                                    .shape = shape_of(context, plan)};
    const struct gridselect_shape *shape = &own->shape;
    own->grid_blocks = shape->is_lone
                           ? least(divide_up(p->rows, shape->warps), resident_blocks(context, plan, shape))
                           : shape->parts;
    own->grid_rows = shape->is_lone ? 1 : least(p->rows, GRIDSELECT_GRID_ROWS);
    decision->own = own;
    decision->variant = shape->is_lone ? "warps" : shape->parts > 1 ? "shared" : "blocks";
    decision->launches = own->is_empty ? 0 : 1 + has_predicate(plan);
    decision->cost_us = cost_us(context, plan, shape);
    decision->workspace_bytes = topk_cuda_gridselect_lay_out(plan, shape, NULL).bytes;
}

static int prepare(const topk_context *context) {
    const uint32_t shared_bytes_max = (uint32_t)device_of(context)->shared_bytes_max;
    int error = topk_cuda_prepare_bounds();
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare(shared_bytes_max);
    }
    return error;
}

const struct method topk_cuda_gridselect = {.name = "gridselect",
                                            .operations = OPERATION_BIT(TOPK_OPERATION_SELECT) |
                                                          OPERATION_BIT(TOPK_OPERATION_SELECT_WHERE),
                                            .knobs = knobs,
                                            .least_us = least_us,
                                            .plan = decide,
                                            .prepare = prepare,
                                            .run = topk_cuda_gridselect_run};
