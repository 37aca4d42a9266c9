/* SPDX-License-Identifier: Apache-2.0 */
#include "shape.h"

enum { THREADS, CLUSTER, STREAM };

const struct knob topk_cuda_resident_knobs[] = {
    [THREADS] = {"threads", KNOB_INTEGER, 32, RESIDENT_THREADS_MAX, RESIDENT_THREADS,
                 "of a block, at most, unless its row or results need more; by default fewer for many rows"},
    [CLUSTER] = {"cluster", KNOB_INTEGER, 1, RESIDENT_CLUSTER_MAX, 1,
                 "blocks that share a row, a power of two or the one below; by default as rows need"},
    [STREAM] = {"stream", KNOB_SWITCH, 0, 1, 0,
                "rows go through shared memory once, where that is possible; by default where it is faster"},
    {.name = NULL}};

static const int64_t items_of_kernel[RESIDENT_SHAPES] = {RESIDENT_ITEMS_0, RESIDENT_ITEMS_1,
                                                         RESIDENT_ITEMS_2};

static int64_t items_of(const struct plan *plan, uint32_t kernel) {
    return items_of_kernel[kernel] / (plan->element_bytes == 8 ? 2 : 1);
}

static int64_t threads_max(int64_t cluster) {
    return cluster > 1 ? RESIDENT_CLUSTER_THREADS : RESIDENT_THREADS_MAX;
}

bool topk_cuda_resident_is_sorted(const struct plan *plan) {
    return plan->operation != TOPK_OPERATION_KTH && plan->problem.order == TOPK_ORDER_BEST_FIRST;
}

int64_t topk_cuda_resident_row_max(const struct plan *plan, int64_t cluster) {
    return cluster * threads_max(cluster) * items_of(plan, RESIDENT_SHAPES - 1);
}

int64_t topk_cuda_resident_cluster_max(const topk_context *context, const struct plan *plan) {
    return device_of(context)->cluster_blocks[width_of(plan)];
}

int64_t topk_cuda_resident_given_cluster(const struct plan *plan) {
    const int64_t *given = tuning_given(&plan->tuning, &topk_cuda_resident_knobs[CLUSTER]);
    int64_t cluster = given != NULL ? 1 : 0;
    while (2 * cluster <= (given != NULL ? *given : -1)) {
        cluster *= 2;
    }
    return cluster;
}

const int64_t *topk_cuda_resident_given_stream(const struct plan *plan) {
    return tuning_given(&plan->tuning, &topk_cuda_resident_knobs[STREAM]);
}

/* ---- Entries ---- */

int64_t topk_cuda_resident_sorted_entries(const struct plan *plan, int64_t cluster) {
    const int64_t results = least(plan->problem.k_max, plan->problem.length_max);
    return least(results, topk_cuda_resident_row_max(plan, cluster)) + RESIDENT_FEW;
}

bool topk_cuda_resident_is_merged(const struct plan *plan, int64_t cluster) {
    return topk_cuda_resident_is_sorted(plan) &&
           topk_cuda_resident_sorted_entries(plan, cluster) > RESIDENT_RANKED;
}

int64_t topk_cuda_resident_entries(const struct plan *plan, int64_t cluster) {
    int64_t merged = 64;
    if (!topk_cuda_resident_is_merged(plan, cluster)) {
        return RESIDENT_LIST;
    }
    while (merged < topk_cuda_resident_sorted_entries(plan, cluster)) {
        merged *= 2;
    }
    return greatest(merged, RESIDENT_LIST);
}

/* ---- Shapes ---- */

static int64_t whole_warps(int64_t threads) {
    return greatest(divide_up(threads, 32), 1) * 32;
}

/* With that kernel; `beside`: elements that may lie beside a row in its groups. */
static struct block_shape shape_with(const struct plan *plan, uint32_t kernel, int64_t cluster,
                                     int64_t beside) {
    const int64_t items = items_of(plan, kernel), entries = topk_cuda_resident_entries(plan, cluster);
    const int64_t for_row = whole_warps(divide_up(plan->problem.length_max + beside, items * cluster));
    const int64_t for_entries = whole_warps(divide_up(entries, RESIDENT_ENTRIES_PER_THREAD));
    return (struct block_shape){
        .kernel = kernel, .items = items, .threads = greatest(for_row, for_entries), .cluster = cluster};
}

/* A model, not a fit: what a warp takes for its part, for each element of a thread, and more of it with a
 * predicate, for the list of entries, and for entries that are too many to be ranked. */
static const double OF_WARP = 300, OF_ITEM = 20, OF_TEST = 10, OF_ENTRY = 6, OF_MERGED = 8;

double topk_cuda_resident_instructions(const struct plan *plan, const struct block_shape *shape) {
    const double once = has_predicate(plan) ? OF_ITEM + OF_TEST : OF_ITEM;
    const double of_item = plan->element_bytes == 8 ? 2 * once : once;
    const double of_entries =
        topk_cuda_resident_is_merged(plan, shape->cluster)
            ? (OF_ENTRY + OF_MERGED) * (double)topk_cuda_resident_sorted_entries(plan, shape->cluster)
            : OF_ENTRY * RESIDENT_LIST;
    return (double)shape->threads / 32 * (OF_WARP + of_item * (double)shape->items) + of_entries;
}

/* Of one block for each row: of few rows threads keep as few elements as leave blocks no more than the usual
 * threads. */
static struct block_shape shape_of_block(const topk_context *context, const struct plan *plan,
                                         int64_t beside) {
    const int64_t *given = tuning_given(&plan->tuning, &topk_cuda_resident_knobs[THREADS]);
    const int64_t most = given != NULL ? *given : RESIDENT_THREADS;
    const int64_t at_once = (int64_t)device_of(context)->sms * RESIDENT_THREADS_MAX;
    struct block_shape best = shape_with(plan, RESIDENT_SHAPES - 1, 1, beside);
    for (uint32_t kernel = has_predicate(plan) ? RESIDENT_WHERE_SHAPE : 0; kernel < RESIDENT_SHAPES;
         kernel++) {
        const struct block_shape shape = shape_with(plan, kernel, 1, beside);
        /* so that few threads keep as many elements as they can: these take longest */
        const int64_t more = given == NULL && kernel == RESIDENT_SHAPES - 2 ? most / 2 : 0;
        if (shape.threads <= most + more &&
            (given != NULL || plan->problem.rows <= at_once / shape.threads)) {
            return shape;
        }
        if (given == NULL && shape.threads <= RESIDENT_THREADS_MAX &&
            topk_cuda_resident_instructions(plan, &shape) < topk_cuda_resident_instructions(plan, &best)) {
            best = shape;
        }
    }
    best.threads = least(best.threads, RESIDENT_THREADS_MAX); /* without what lies beside the row */
    return best;
}

/* Whether so many blocks hold a row and its results. */
static bool fits(const struct plan *plan, int64_t cluster) {
    return plan->problem.length_max <= topk_cuda_resident_row_max(plan, cluster) &&
           topk_cuda_resident_entries(plan, cluster) <= RESIDENT_ENTRIES_PER_THREAD * threads_max(cluster);
}

/* Of a cluster, threads of a block at most, if it may be larger: half of what there could be where
 * multiprocessors are left over, since a row takes longer in large blocks. */
static int64_t threads_of_cluster(const topk_context *context, const struct plan *plan, int64_t cluster) {
    const int64_t *given = tuning_given(&plan->tuning, &topk_cuda_resident_knobs[THREADS]);
    const bool are_few = plan->problem.rows <= device_of(context)->sms / 2 / cluster;
    const int64_t most = given != NULL ? *given
                         : are_few     ? RESIDENT_CLUSTER_THREADS / 2
                                       : RESIDENT_CLUSTER_THREADS;
    return least(most, RESIDENT_CLUSTER_THREADS);
}

struct block_shape topk_cuda_resident_shape(const topk_context *context, const struct plan *plan,
                                            bool aligned) {
    const int64_t beside = aligned ? 0 : 16 / (int64_t)plan->element_bytes - 1;
    const int64_t given = topk_cuda_resident_given_cluster(plan);
    const int64_t most = given != 0 ? given : topk_cuda_resident_cluster_max(context, plan);
    struct block_shape shape = {.threads = 0};
    if (given <= 1 && fits(plan, 1)) {
        return shape_of_block(context, plan, beside);
    }
    for (int64_t cluster = given > 1 ? given : 2; cluster <= most && fits(plan, most); cluster *= 2) {
        shape = shape_with(plan, RESIDENT_SHAPES - 1, cluster, beside);
        if (shape.threads <= threads_of_cluster(context, plan, 2 * cluster)) {
            break;
        }
    }
    shape.threads = least(shape.threads, RESIDENT_CLUSTER_THREADS); /* without what lies beside the row */
    return shape;
}
