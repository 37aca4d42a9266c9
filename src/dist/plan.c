/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans are made in steps. In each a rank does what it can, then all agree that they have gone well; so all
 * ranks end at the same step, with the same error. */
#include "plan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "agree.h"
#include "cost.h"
#include "error.h"
#include "layout.h"
#include "load.h"
#include "move.h"
#include "nodes.h"
#include "topk_accumulator.h"
#include "topk_advanced.h"
#include "topk_transfer.h"

enum { PROBLEM_BYTES_FIRST = 144, OPTIONS_BYTES_FIRST = 32, PROPERTIES_BYTES_FIRST = 56 };

static int64_t lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* ---- What a rank checks by itself ---- */

static topk_status check_options(const struct topk_dist_plan *plan) {
    const topk_dist_options *o = &plan->options;
    if (o->destination < TOPK_DIST_EVERYWHERE || o->destination > TOPK_DIST_IN_PLACE) {
        return topk_dist_fail(TOPK_ERROR_UNKNOWN_ENUM, "options->destination is %d", (int)o->destination);
    }
    if (o->map < TOPK_DIST_BASE || o->map > TOPK_DIST_TABLE) {
        return topk_dist_fail(TOPK_ERROR_UNKNOWN_ENUM, "options->map is %d", (int)o->map);
    }
    if (o->strategy < TOPK_DIST_AUTO || o->strategy > TOPK_DIST_GATHER_NODES) {
        return topk_dist_fail(TOPK_ERROR_UNKNOWN_ENUM, "options->strategy is %d", (int)o->strategy);
    }
    if (o->root < 0 || o->root >= plan->group->ranks) {
        return topk_dist_fail(TOPK_ERROR_OUT_OF_RANGE, "options->root is %d: there are %d ranks", o->root,
                              plan->group->ranks);
    }
    if (o->exchange_kth < 0 || o->exchange_kth > 1 || o->device_pointers < 0 || o->device_pointers > 1) {
        return topk_dist_fail(TOPK_ERROR_OUT_OF_RANGE,
                              "options->exchange_kth is %d, options->device_pointers %d: 0 or 1",
                              o->exchange_kth, o->device_pointers);
    }
    if (o->trust_table < 0 || o->trust_table > 1 || o->parts_on_device < 0 || o->parts_on_device > 1) {
        return topk_dist_fail(TOPK_ERROR_OUT_OF_RANGE,
                              "options->trust_table is %d, options->parts_on_device %d: 0 or 1",
                              o->trust_table, o->parts_on_device);
    }
    if (o->node < 0) {
        return topk_dist_fail(TOPK_ERROR_OUT_OF_RANGE, "options->node is %d: 0, or at least 1", o->node);
    }
    return TOPK_OK;
}

static topk_status check_origin(const struct topk_dist_plan *plan) {
    const topk_dist_options *o = &plan->options;
    if (o->origin < TOPK_DIST_INPUT || o->origin > TOPK_DIST_READ_ONCE) {
        return topk_dist_fail(TOPK_ERROR_UNKNOWN_ENUM, "options->origin is %d", (int)o->origin);
    }
    if (o->piece < (topk_dist_reads(plan) ? 1 : 0) || (o->origin == TOPK_DIST_INPUT && o->piece != 0)) {
        return topk_dist_fail(TOPK_ERROR_OUT_OF_RANGE, "options->piece is %" PRId64 " with origin %d",
                              o->piece, (int)o->origin);
    }
    if (o->origin != TOPK_DIST_INPUT && o->map == TOPK_DIST_TABLE && topk_dist_selects(plan)) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED,
                              "elements that come in pieces have no table of positions");
    }
    if (o->origin == TOPK_DIST_READ_ONCE &&
        (plan->operation == TOPK_OPERATION_KTH ||
         (topk_dist_selects(plan) && o->strategy == TOPK_DIST_HISTOGRAM))) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED,
                              "elements that are read once: kth and histogram read them in each round");
    }
    return TOPK_OK;
}

static topk_status check_context(struct topk_dist_plan *plan) {
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    const bool enqueues = plan->group->on_stream != NULL;
    const topk_status status = topk_dist_of_core(topk_context_query(plan->context, &properties));
    if (status == TOPK_OK && enqueues && !topk_dist_has_context(plan->group, plan->context)) {
        return topk_dist_fail(TOPK_ERROR_CONTRADICTION, "the context is not on the device of the group");
    }
    plan->backend = properties.backend;
    plan->on_device = enqueues || properties.backend != TOPK_BACKEND_CPU;
    if (status == TOPK_OK && enqueues && topk_dist_reads(plan)) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED,
                              "elements are not read in a group that enqueues: parts may lie in memory");
    }
    if (status == TOPK_OK && plan->group->shares_device && topk_dist_loads(plan)) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED,
                              "parts are not copied to a GPU that ranks share: they may lie on it, or "
                              "peer->one_each says that each rank has its own");
    }
    if (status == TOPK_OK && plan->options.strategy == TOPK_DIST_GATHER_NODES && topk_dist_selects(plan) &&
        !topk_dist_has_nodes(plan)) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED, "lists are not merged by nodes: %s",
                              plan->group->undivided);
    }
    return status;
}

/* The last position that the rank can have, by the rule of the core: one more must fit. */
static topk_status check_positions(const struct topk_dist_plan *plan) {
    const topk_problem *p = &plan->problem;
    const int64_t most = p->index_type == TOPK_INDEX_I32 ? INT32_MAX : INT64_MAX;
    int64_t last;
    if (plan->options.map != TOPK_DIST_STRIDE || plan->longest == 0) {
        return TOPK_OK;
    }
    if (__builtin_mul_overflow(plan->longest - 1, plan->group->ranks, &last) ||
        __builtin_add_overflow(last, p->index_base, &last) ||
        __builtin_add_overflow(last, plan->group->rank, &last) || last >= most) {
        return topk_dist_fail(TOPK_ERROR_INDEX_TOO_NARROW,
                              "indices cannot hold every position: these are dealt out to %d ranks",
                              plan->group->ranks);
    }
    return TOPK_OK;
}

static topk_status check_problem(struct topk_dist_plan *plan, const topk_problem *problem) {
    topk_problem *const p = &plan->problem;
    size_t bytes;
    int64_t blocks;
    topk_status status = topk_dist_read_struct("problem", problem, PROBLEM_BYTES_FIRST, sizeof *p, p);
    if (status != TOPK_OK) {
        return status;
    }
    if (p->max_iterations != 0 || p->epsilon != 0 || p->epsilon_relative != 0) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED, "ranks do not approximate");
    }
    if (p->ranks != 0) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED,
                              "problem->ranks is %lld: a run of many ranks finds one k a row",
                              (long long)p->ranks);
    }
    if (plan->options.map == TOPK_DIST_TABLE) {
        p->index_base = 0;
    }
    if (topk_dist_is_streamed(plan) && (p->shape != TOPK_SHAPE_STRIDED || p->row_stride != 0)) {
        return topk_dist_fail(
            TOPK_ERROR_UNSUPPORTED,
            "elements that come in pieces have rows of shape STRIDED, and problem->row_stride 0");
    }
    status = topk_dist_of_core(topk_workspace_size(plan->context, plan->operation, p, &bytes));
    if (status != TOPK_OK) {
        return status;
    }
    plan->longest = p->shape == TOPK_SHAPE_STRIDED ? p->length_max : lesser(p->length_max, p->elements_max);
    if (plan->options.piece > plan->longest) { /* there are no more elements to look at in one step */
        plan->options.piece = plan->longest > 0 ? plan->longest : 1;
    }
    plan->piece_max = topk_dist_loads(plan) ? lesser(plan->options.piece, plan->longest) : 0;
    if (topk_dist_loads(plan) && plan->options.piece == 0) { /* the longest part is not known yet */
        plan->piece_max = plan->longest;
    }
    if (__builtin_mul_overflow(p->rows, 8 * (int64_t)plan->group->ranks, &blocks)) {
        return topk_dist_fail(TOPK_ERROR_OVERFLOW, "numbers of all rows and ranks have no room");
    }
    return topk_dist_selects(plan) ? check_positions(plan) : TOPK_OK;
}

static topk_status check(struct topk_dist_plan *plan, const topk_problem *problem,
                         const topk_dist_options *options) {
    static const topk_dist_options defaults = TOPK_DIST_OPTIONS_INIT;
    const topk_operation operation = plan->operation;
    if (operation != TOPK_OPERATION_SELECT && operation != TOPK_OPERATION_KTH &&
        operation != TOPK_OPERATION_SELECT_WHERE && operation != TOPK_OPERATION_COUNT) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED, "ranks have no operation %d", (int)operation);
    }
    topk_status status = topk_dist_read_struct("options", options != NULL ? options : &defaults,
                                               OPTIONS_BYTES_FIRST, sizeof defaults, &plan->options);
    status = status == TOPK_OK ? check_options(plan) : status;
    status = status == TOPK_OK ? check_origin(plan) : status;
    status = status == TOPK_OK ? check_context(plan) : status;
    return status == TOPK_OK ? check_problem(plan, problem) : status;
}

/* ---- What follows from what all have told ---- */

static topk_status set_lists(struct topk_dist_plan *plan, const int64_t *told) {
    const topk_problem *p = &plan->problem;
    const int ranks = plan->group->ranks, rank = plan->group->rank;
    int64_t longest = 0, all;
    for (int r = 0; r < ranks; r++) {
        const int64_t of_rank = told[r * AGREE_NUMBERS + AGREE_LONGEST];
        longest = of_rank > longest ? of_rank : longest;
        plan->bases[r] = told[r * AGREE_NUMBERS + AGREE_BASE];
        plan->any_reads = plan->any_reads || told[r * AGREE_NUMBERS + AGREE_READS] != 0;
    }
    plan->list_max = lesser(p->k_max, longest);
    plan->winners_max =
        __builtin_mul_overflow(plan->list_max, ranks, &all) ? p->k_max : lesser(p->k_max, all);
    plan->node_max =
        __builtin_mul_overflow(plan->list_max, plan->node_ranks_max, &all) ? p->k_max : lesser(p->k_max, all);
    plan->block_rows = plan->got_rows = plan->node_rows = p->rows;
    plan->pitch = topk_dist_is_placed(plan) ? lesser(p->k_max, plan->longest) : p->k_max;
    if (topk_dist_selects(plan) && plan->options.destination == TOPK_DIST_ROOT) {
        plan->got_rows = rank == plan->options.root ? p->rows : 0;
    } else if (topk_dist_selects(plan) && plan->options.destination == TOPK_DIST_OWNER) {
        plan->block_rows = p->rows / ranks + (p->rows % ranks != 0);
        plan->first_row = lesser(rank * plan->block_rows, p->rows);
        plan->got_rows = lesser(plan->block_rows, p->rows - plan->first_row);
        plan->node_rows = plan->node_ranks_max * plan->block_rows;
    }
    if (p->extent_type == TOPK_INDEX_I32 && plan->list_max > INT32_MAX && topk_dist_selects(plan)) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED, "32-bit extents with lists of more than 2^31 - 1");
    }
    if (plan->options.strategy == TOPK_DIST_GATHER_NODES && topk_dist_selects(plan) &&
        !topk_dist_nodes_fit(plan)) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED,
                              "by nodes: 32-bit extents with results of more than 2^31 - 1, or in place more "
                              "than 254 ranks of one");
    }
    return TOPK_OK;
}

/* ---- The calls of the core ---- */

static topk_status make_core(struct topk_dist_plan *plan, topk_operation operation,
                             const topk_problem *problem, topk_plan **made) {
    topk_plan_properties properties = TOPK_PLAN_PROPERTIES_INIT;
    topk_status status = topk_plan_create(plan->context, operation, problem, NULL, made);
    if (status == TOPK_OK) {
        status = topk_plan_query(*made, &properties);
    }
    if (properties.workspace_bytes > plan->core_bytes) {
        plan->core_bytes = properties.workspace_bytes;
    }
    return topk_dist_of_core(status);
}

static topk_status make_local(struct topk_dist_plan *plan) {
    topk_problem problem = plan->problem;
    if (plan->operation == TOPK_OPERATION_COUNT) {
        return make_core(plan, plan->operation, &problem, &plan->local);
    }
    problem.k_max = plan->list_max;
    problem.order = topk_dist_list_order(plan);
    problem.index_base = plan->options.map == TOPK_DIST_BASE ? problem.index_base : 0;
    return make_core(plan, plan->operation, &problem, &plan->local);
}

/* Of lists of list_max candidates. */
static topk_problem merged(const struct topk_dist_plan *plan, int64_t rows, int64_t k_max) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    const topk_problem *p = &plan->problem;
    problem.type = p->type;
    problem.index_type = p->index_type;
    problem.extent_type = p->extent_type;
    problem.direction = p->direction;
    problem.rank = p->rank;
    problem.nan = p->nan;
    problem.ties = p->ties;
    problem.order = p->order;
    problem.rows = rows;
    problem.length_max = plan->list_max;
    problem.k_max = k_max;
    return problem;
}

/* For elements that come in pieces: an accumulator of the rank's list, and room to count a piece. */
static topk_status make_streamed(struct topk_dist_plan *plan) {
    topk_problem *const p = &plan->streamed;
    const int64_t piece = plan->options.piece;
    *p = plan->problem;
    p->method = p->tuning = NULL;
    p->order = TOPK_ORDER_BEST_FIRST;
    p->ties = TOPK_TIES_LOWEST_INDEX;
    p->length_max = piece > 0 ? lesser(piece, plan->longest) : plan->longest;
    p->k_max = plan->list_max;
    p->index_base = plan->options.map == TOPK_DIST_BASE ? p->index_base : 0;
    if (plan->operation == TOPK_OPERATION_COUNT) {
        return topk_dist_of_core(topk_workspace_size(plan->context, plan->operation, p, &plan->core_bytes));
    }
    return topk_dist_selects_lists(plan)
               ? topk_dist_of_core(topk_accumulator_size(plan->context, p, &plan->accumulator_bytes))
               : TOPK_OK;
}

/* On a device: the rank's own among all results of a row, which lie by position and are marked. */
static topk_status make_marked(struct topk_dist_plan *plan) {
    topk_problem problem = merged(plan, plan->problem.rows, plan->pitch);
    problem.length_max = plan->winners_max;
    problem.order = TOPK_ORDER_BY_POSITION;
    problem.ties = TOPK_TIES_LOWEST_INDEX;
    topk_status status = make_core(plan, TOPK_OPERATION_COUNT, &problem, &plan->own_counts);
    status =
        status == TOPK_OK ? make_core(plan, TOPK_OPERATION_SELECT_WHERE, &problem, &plan->placed) : status;
    problem.type = TOPK_U8;
    return status == TOPK_OK && plan->nodes != NULL
               ? make_core(plan, TOPK_OPERATION_MASK, &problem, &plan->own_mask)
               : status;
}

/* From lists. */
static topk_status make_placed(struct topk_dist_plan *plan) {
    if (plan->on_device) {
        return make_marked(plan);
    }
    topk_problem problem = merged(plan, plan->problem.rows, plan->pitch);
    problem.order = TOPK_ORDER_BY_POSITION;
    return make_core(plan, TOPK_OPERATION_MERGE, &problem, &plan->placed);
}

static topk_status make_merge(struct topk_dist_plan *plan) {
    topk_problem problem = merged(plan, plan->got_rows, plan->problem.k_max);
    if (topk_dist_is_placed(plan)) { /* all ranks must find the same */
        problem.k_max = plan->winners_max;
        problem.ties = TOPK_TIES_LOWEST_INDEX;
        problem.order = TOPK_ORDER_BY_POSITION;
    }
    plan->merging = problem;
    plan->merging.rows = plan->problem.rows;
    return make_core(plan, TOPK_OPERATION_MERGE, &problem, &plan->merge);
}

/* By nodes. The root merges the lists of nodes to its outputs; all others copy their results from one list,
 * and in place they look for their own by position. */
static topk_status make_nodes_merge(struct topk_dist_plan *plan) {
    const bool is_placed = topk_dist_is_placed(plan), is_root = plan->options.destination == TOPK_DIST_ROOT;
    topk_problem problem = merged(plan, plan->problem.rows, plan->node_max);
    topk_status status = TOPK_OK;
    problem.order = topk_dist_list_order(plan);
    problem.ties = is_placed ? TOPK_TIES_LOWEST_INDEX : problem.ties;
    if (topk_dist_leads(plan)) {
        status = make_core(plan, TOPK_OPERATION_MERGE, &problem, &plan->node_merge);
    }
    if (status == TOPK_OK && topk_dist_leads(plan) && !is_root) {
        problem.rows = plan->node_rows;
        problem.length_max = plan->node_max;
        problem.k_max = plan->winners_max;
        problem.order = is_placed ? TOPK_ORDER_BY_POSITION : problem.order;
        status = make_core(plan, TOPK_OPERATION_MERGE, &problem, &plan->nodes_merge);
    }
    if (status != TOPK_OK || is_placed || plan->got_rows == 0) {
        return status;
    }
    problem = merged(plan, plan->got_rows, plan->problem.k_max);
    problem.length_max = is_root ? plan->node_max : plan->winners_max;
    return make_core(plan, TOPK_OPERATION_MERGE, &problem, &plan->merge);
}

static size_t least_state(const struct topk_dist_plan *plan) {
    const topk_problem *p = &plan->problem;
    size_t bytes;
    return plan->options.piece == 0 || __builtin_mul_overflow((size_t)plan->options.piece, p->rows, &bytes) ||
                   __builtin_mul_overflow(bytes, topk_type_size(p->type), &bytes)
               ? p->workspace_limit
               : bytes;
}

static topk_status make_counted(struct topk_dist_plan *plan) {
    plan->counted = plan->problem;
    plan->counted.method = plan->counted.tuning = NULL;
    if (topk_dist_is_streamed(plan)) { /* elements between rounds take no more than a piece */
        plan->counted.workspace_limit = least_state(plan);
    }
    plan->tied = (topk_problem)TOPK_PROBLEM_INIT;
    plan->tied.type = TOPK_I64;
    plan->tied.direction = TOPK_SMALLEST;
    plan->tied.rows = plan->problem.rows;
    plan->tied.length_max = plan->list_max;
    plan->tied.k_max = plan->problem.k_max;
    plan->counting = plan->tying = (topk_sharded_properties)TOPK_SHARDED_PROPERTIES_INIT;
    topk_status status = topk_sharded_query(plan->context, &plan->counted, &plan->counting);
    if (status == TOPK_OK) {
        status = topk_sharded_query(plan->context, &plan->tied, &plan->tying);
    }
    return topk_dist_of_core(status);
}

/* The better one of two elements of each row, and the best one of a list of each rank. */
static topk_status make_exchange(struct topk_dist_plan *plan) {
    topk_problem problem = merged(plan, plan->problem.rows, 1);
    problem.length_max = 1;
    problem.extent_type = TOPK_INDEX_I64;
    topk_status status = make_core(plan, TOPK_OPERATION_MERGE, &problem, &plan->best_kth);
    problem.length_max = 2;
    problem.index_type = TOPK_INDEX_I32;
    problem.ties = TOPK_TIES_LOWEST_INDEX;
    return status == TOPK_OK ? make_core(plan, TOPK_OPERATION_SELECT, &problem, &plan->better) : status;
}

/* For lists of the device on their way, where the transport neither enqueues nor takes pointers of it. */
static topk_status make_staging(struct topk_dist_plan *plan) {
    const size_t bytes = topk_dist_staging_bytes(plan);
    if (!plan->on_device || plan->group->on_stream != NULL || plan->options.device_pointers != 0 ||
        bytes == 0) {
        return TOPK_OK;
    }
    return topk_dist_of_core(topk_memory_allocate(plan->context, TOPK_MEMORY_HOST, bytes, &plan->staging));
}

static topk_status make_both(struct topk_dist_plan *plan) {
    const topk_status status = make_staging(plan);
    return status == TOPK_OK ? topk_dist_load_open(plan) : status;
}

static topk_status make_calls(struct topk_dist_plan *plan) {
    const bool merges = topk_dist_selects(plan) && (plan->got_rows > 0 || plan->group->merge != NULL) &&
                        (!topk_dist_is_placed(plan) || topk_dist_places_lists(plan));
    struct buffers unused;
    topk_status status = TOPK_OK;
    if (topk_dist_is_streamed(plan) && plan->operation != TOPK_OPERATION_KTH) {
        status = make_streamed(plan);
    } else if (plan->operation == TOPK_OPERATION_COUNT || topk_dist_selects_lists(plan)) {
        status = make_local(plan);
    }
    if (status == TOPK_OK && plan->nodes != NULL) {
        status = make_nodes_merge(plan);
    } else if (status == TOPK_OK && merges) {
        status = make_merge(plan);
    }
    if (status == TOPK_OK && topk_dist_places_lists(plan)) {
        status = make_placed(plan);
    }
    if (status == TOPK_OK && topk_dist_counts(plan)) {
        status = make_counted(plan);
    }
    if (status == TOPK_OK && topk_dist_exchanges(plan)) {
        status = make_exchange(plan);
    }
    if (status != TOPK_OK) {
        return status;
    }
    plan->workspace_bytes = topk_dist_lay_out(plan, NULL, &unused);
    return plan->workspace_bytes == SIZE_MAX
               ? topk_dist_fail(TOPK_ERROR_OVERFLOW, "the workspace is beyond the address space")
           : topk_dist_loads(plan) && plan->on_device ? make_both(plan)
                                                      : make_staging(plan);
}

/* ---- The interface ---- */

static topk_status make(struct topk_dist_plan *plan, int64_t *told) {
    topk_status status = topk_dist_compare(plan, told);
    if (status != TOPK_OK) {
        return status;
    }
    topk_dist_number_nodes(plan, told);
    status = topk_dist_agree(plan->group, set_lists(plan, told));
    if (status == TOPK_OK && topk_dist_selects(plan)) {
        status = topk_dist_choose(plan);
    }
    if (status == TOPK_OK && plan->strategy == TOPK_DIST_GATHER_NODES) {
        status = topk_dist_nodes_open(plan);
    }
    return status == TOPK_OK ? topk_dist_agree(plan->group, make_calls(plan)) : status;
}

topk_status topk_dist_plan_create(topk_dist_group *group, topk_context *context, topk_operation operation,
                                  const topk_problem *problem, const topk_dist_options *options,
                                  topk_dist_plan **plan) {
    if (group == NULL || plan == NULL) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "%s is NULL", group == NULL ? "group" : "plan");
    }
    *plan = NULL;
    topk_dist_plan *const made = calloc(1, sizeof *made);
    int64_t *const told = malloc((size_t)group->ranks * AGREE_NUMBERS * sizeof *told);
    int64_t *const bases = malloc(3 * (size_t)group->ranks * sizeof *bases);
    topk_status status;
    if (made == NULL || told == NULL || bases == NULL) {
        status = topk_dist_fail(TOPK_ERROR_OUT_OF_MEMORY, "no memory for a plan");
    } else {
        made->group = group;
        made->context = context;
        made->operation = operation;
        status = check(made, problem, options);
    }
    status = topk_dist_agree(group, status);
    if (status == TOPK_OK) {
        made->bases = bases;
        made->node_of = bases + group->ranks;
        made->place_of = made->node_of + group->ranks;
        status = make(made, told);
    }
    free(told);
    if (status != TOPK_OK) {
        if (made == NULL || made->bases == NULL) {
            free(bases);
        }
        topk_dist_plan_destroy(made);
        return status;
    }
    made->problem.method = made->problem.tuning = NULL; /* the caller's texts */
    *plan = made;
    return TOPK_OK;
}

void topk_dist_plan_destroy(topk_dist_plan *plan) {
    if (plan != NULL) {
        topk_plan_destroy(plan->local);
        topk_plan_destroy(plan->merge);
        topk_plan_destroy(plan->node_merge);
        topk_plan_destroy(plan->nodes_merge);
        topk_plan_destroy(plan->placed);
        topk_plan_destroy(plan->own_counts);
        topk_plan_destroy(plan->own_mask);
        topk_plan_destroy(plan->best_kth);
        topk_plan_destroy(plan->better);
        topk_dist_load_close(plan);
        if (plan->staging != NULL) {
            (void)topk_memory_release(plan->context, TOPK_MEMORY_HOST, plan->staging);
        }
        free(plan->bases);
        free(plan);
    }
}

topk_status topk_dist_plan_query(const topk_dist_plan *plan, topk_dist_properties *properties) {
    topk_dist_properties own = TOPK_DIST_PROPERTIES_INIT, callers;
    if (plan == NULL) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "plan is NULL");
    }
    const topk_status status =
        topk_dist_read_struct("properties", properties, PROPERTIES_BYTES_FIRST, sizeof callers, &callers);
    if (status != TOPK_OK) {
        return status;
    }
    own.size = properties->size;
    own.strategy = plan->strategy;
    own.workspace_bytes = plan->workspace_bytes;
    own.first_row = plan->first_row;
    own.rows = plan->got_rows;
    own.pitch = plan->pitch;
    own.predicted_us = plan->predicted_us;
    *properties = own; /* as long as the first release's, so far */
    return TOPK_OK;
}
