/* SPDX-License-Identifier: Apache-2.0
 * The shapes of blocks that hold rows in registers: threads, elements of a thread, blocks of a cluster. */
#include "plan.h"

static const int64_t items_of_kernel[RESIDENT_SHAPES] = {RESIDENT_ITEMS_0, RESIDENT_ITEMS_1,
                                                         RESIDENT_ITEMS_2};

static int64_t items_of(const struct plan *plan, uint32_t kernel) {
    return items_of_kernel[kernel] / (plan->element_bytes == 8 ? 2 : 1);
}

static int64_t threads_max(int64_t cluster) {
    return cluster > 1 ? RESIDENT_CLUSTER_THREADS : RESIDENT_THREADS_MAX;
}

static int64_t row_max(const struct plan *plan, int64_t cluster) {
    return cluster * threads_max(cluster) * items_of(plan, RESIDENT_SHAPES - 1);
}

/* A shape that has only what `cluster` blocks need for entries. */
static struct resident_shape entries_of(const struct plan *plan, int64_t cluster) {
    const int64_t results = least(plan->problem.k_max, plan->problem.length_max);
    const bool is_sorted =
        plan->operation != TOPK_OPERATION_KTH && plan->problem.order == TOPK_ORDER_BEST_FIRST;
    struct resident_shape shape = {.cluster = cluster};
    shape.sorted = least(results, row_max(plan, cluster)) + RESIDENT_FEW;
    shape.is_merged = is_sorted && shape.sorted > RESIDENT_RANKED;
    int64_t merged = shape.is_merged ? greatest(RESIDENT_LIST, 64) : RESIDENT_LIST;
    while (shape.is_merged && merged < shape.sorted) {
        merged *= 2;
    }
    if (plan->problem.order == TOPK_ORDER_BY_POSITION) {
        merged += RESIDENT_LIST; /* a second list, of results (results.cuh) */
    }
    shape.entries = (uint32_t)merged;
    return shape;
}

static int64_t whole_warps(int64_t threads) {
    return greatest(divide_up(threads, 32), 1) * 32;
}

/* With that kernel, and those entries; `beside`: elements that may lie beside a row in its groups. */
static struct resident_shape shape_with(const struct plan *plan, uint32_t kernel,
                                        const struct resident_shape *entries, int64_t beside) {
    struct resident_shape shape = *entries;
    shape.kernel = kernel;
    shape.items = items_of(plan, kernel);
    const int64_t for_row =
        whole_warps(divide_up(plan->problem.length_max + beside, shape.items * shape.cluster));
    const int64_t for_entries =
        shape.is_merged ? whole_warps(divide_up(shape.entries, RESIDENT_ENTRIES_PER_THREAD)) : 32;
    shape.threads = greatest(for_row, for_entries);
    return shape;
}

/* A model, not a fit: what a warp takes for its part, for each element of a thread, and more of it with a
 * predicate, for the list of entries, and for entries that are too many to be ranked. */
static const double OF_WARP = 300, OF_ITEM = 20, OF_TEST = 10, OF_ENTRY = 6, OF_MERGED = 8;

static double instructions_of(const struct plan *plan, const struct resident_shape *shape) {
    const double once = has_predicate(plan) ? OF_ITEM + OF_TEST : OF_ITEM;
    const double of_item = plan->element_bytes == 8 ? 2 * once : once;
    const double of_entries =
        shape->is_merged ? (OF_ENTRY + OF_MERGED) * (double)shape->sorted : OF_ENTRY * RESIDENT_LIST;
    return (double)shape->threads / 32 * (OF_WARP + of_item * (double)shape->items) + of_entries;
}

/* Of one block for each row: of few rows threads keep as few elements as leave blocks no more than the usual
 * threads. `given`: threads that the caller wants, or 0. */
static struct resident_shape shape_of_block(const topk_context *context, const struct plan *plan,
                                            int64_t given, const struct resident_shape *entries,
                                            int64_t beside) {
    const int64_t most = given != 0 ? given : RESIDENT_THREADS;
    const int64_t at_once = (int64_t)device_of(context)->sms * RESIDENT_THREADS_MAX;
    struct resident_shape best = shape_with(plan, RESIDENT_SHAPES - 1, entries, beside);
    double best_instructions = instructions_of(plan, &best);
    for (uint32_t kernel = has_predicate(plan) ? RESIDENT_WHERE_SHAPE : 0; kernel < RESIDENT_SHAPES;
         kernel++) {
        const struct resident_shape shape = shape_with(plan, kernel, entries, beside);
        /* so that few threads keep as many elements as they can: these take longest */
        const int64_t more = given == 0 && kernel == RESIDENT_SHAPES - 2 ? most / 2 : 0;
        if (shape.threads <= most + more && (given != 0 || plan->problem.rows <= at_once / shape.threads)) {
            return shape;
        }
        const double instructions = instructions_of(plan, &shape);
        if (given == 0 && shape.threads <= RESIDENT_THREADS_MAX && instructions < best_instructions) {
            best = shape;
            best_instructions = instructions;
        }
    }
    best.threads = least(best.threads, RESIDENT_THREADS_MAX); /* without what lies beside the row */
    return best;
}

/* Whether `blocks` blocks hold a row and its results. */
static bool fits(const struct plan *plan, const struct resident_shape *entries) {
    return plan->problem.length_max <= row_max(plan, entries->cluster) &&
           entries->entries <= RESIDENT_ENTRIES_PER_THREAD * threads_max(entries->cluster);
}

/* Of a cluster, threads of a block at most, if it may be larger: half of what there could be where
 * multiprocessors are left over, since a row takes longer in large blocks. */
static int64_t threads_of_cluster(const topk_context *context, const struct plan *plan, int64_t given,
                                  int64_t cluster) {
    const bool are_few = plan->problem.rows <= device_of(context)->sms / 2 / cluster;
    const int64_t most = given != 0 ? given
                         : are_few  ? RESIDENT_CLUSTER_THREADS / 2
                                    : RESIDENT_CLUSTER_THREADS;
    return least(most, RESIDENT_CLUSTER_THREADS);
}

static struct resident_shape shape_of_cluster(const topk_context *context, const struct plan *plan,
                                              const struct resident_wishes *wishes, int64_t most,
                                              int64_t beside) {
    struct resident_shape shape = {.threads = 0};
    for (int64_t cluster = wishes->cluster > 1 ? wishes->cluster : 2; cluster <= most; cluster *= 2) {
        const struct resident_shape entries = entries_of(plan, cluster);
        shape = shape_with(plan, RESIDENT_SHAPES - 1, &entries, beside);
        if (shape.threads <= threads_of_cluster(context, plan, wishes->threads, 2 * cluster)) {
            break;
        }
    }
    shape.threads = least(shape.threads, RESIDENT_CLUSTER_THREADS); /* without what lies beside the row */
    return shape;
}

const char *topk_cuda_resident_refuse_length(const topk_context *context, const struct plan *plan,
                                             int64_t given) {
    const int64_t most = device_of(context)->cluster_blocks[width_of(plan)]; /* 1: no clusters */
    if (given > most) {
        return "the device has no room for clusters of so many blocks";
    }
    if (plan->problem.length_max <= row_max(plan, given != 0 ? given : most)) {
        return NULL;
    }
    return given == 1  ? "rows are longer than a block's registers hold"
           : most == 1 ? "rows are longer than a block's registers hold, and there is no room for clusters"
                       : "rows are longer than a cluster's registers hold";
}

const char *topk_cuda_resident_shapes(const topk_context *context, const struct plan *plan,
                                      const struct resident_wishes *wishes, struct resident_shape shapes[2]) {
    const int64_t room = device_of(context)->cluster_blocks[width_of(plan)];
    const int64_t most = wishes->cluster != 0 ? wishes->cluster : room;
    const int64_t beside[2] = {16 / (int64_t)plan->element_bytes - 1, 0};
    const char *reason = topk_cuda_resident_refuse_length(context, plan, wishes->cluster);
    if (reason != NULL) {
        return reason;
    }
    const struct resident_shape alone = entries_of(plan, 1);
    const bool is_alone = wishes->cluster <= 1 && fits(plan, &alone);
    const struct resident_shape together = is_alone ? alone : entries_of(plan, most);
    const bool are_together = fits(plan, &together);
    for (int i = 0; i < 2; i++) {
        shapes[i] = is_alone       ? shape_of_block(context, plan, wishes->threads, &alone, beside[i])
                    : are_together ? shape_of_cluster(context, plan, wishes, most, beside[i])
                                   : entries_of(plan, 0);
        shapes[i].instructions = instructions_of(plan, &shapes[i]);
    }
    return NULL;
}
