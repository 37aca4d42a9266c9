/* SPDX-License-Identifier: Apache-2.0 */
#include "shape.h"

enum { THREADS };

const struct knob topk_cuda_resident_knobs[] = {
    [THREADS] = {"threads", KNOB_INTEGER, 32, RESIDENT_THREADS_MAX, RESIDENT_THREADS,
                 "of a block, at most, unless its row or results need more; by default fewer for many rows"},
    {.name = NULL}};

static const int64_t items_of_kernel[RESIDENT_SHAPES] = {RESIDENT_ITEMS_0, RESIDENT_ITEMS_1,
                                                         RESIDENT_ITEMS_2};

static int64_t items_of(const struct plan *plan, uint32_t kernel) {
    return items_of_kernel[kernel] / (plan->element_bytes == 8 ? 2 : 1);
}

bool topk_cuda_resident_is_sorted(const struct plan *plan) {
    return plan->operation != TOPK_OPERATION_KTH && plan->problem.order == TOPK_ORDER_BEST_FIRST;
}

int64_t topk_cuda_resident_row_max(const struct plan *plan) {
    return RESIDENT_THREADS_MAX * items_of(plan, RESIDENT_SHAPES - 1);
}

/* Entries of a row that are sorted, at most; of rows that are too long for a block, some number. */
static int64_t sorted_entries(const struct plan *plan) {
    const int64_t results = least(plan->problem.k_max, plan->problem.length_max);
    return least(results, topk_cuda_resident_row_max(plan)) + RESIDENT_FEW;
}

/* Whether they are too many to be ranked by counting. */
static bool is_merged(const struct plan *plan) {
    return topk_cuda_resident_is_sorted(plan) && sorted_entries(plan) > RESIDENT_RANKED;
}

int64_t topk_cuda_resident_entries(const struct plan *plan) {
    int64_t merged = 64;
    if (!is_merged(plan)) {
        return RESIDENT_LIST;
    }
    while (merged < sorted_entries(plan)) {
        merged *= 2;
    }
    return greatest(merged, RESIDENT_LIST);
}

static int64_t whole_warps(int64_t threads) {
    return greatest(divide_up(threads, 32), 1) * 32;
}

/* With that kernel; `beside`: elements that may lie beside a row in its groups. */
static struct block_shape shape_with(const struct plan *plan, uint32_t kernel, int64_t beside) {
    const int64_t items = items_of(plan, kernel), entries = topk_cuda_resident_entries(plan);
    const int64_t for_row = whole_warps(divide_up(plan->problem.length_max + beside, items));
    const int64_t for_entries = whole_warps(divide_up(entries, RESIDENT_ENTRIES_PER_THREAD));
    return (struct block_shape){.kernel = kernel, .items = items, .threads = greatest(for_row, for_entries)};
}

/* A model, not a fit: what a warp takes for its part, for each element of a thread, and more of it with a
 * predicate, for the list of entries, and for entries that are merged. */
static const double OF_WARP = 300, OF_ITEM = 20, OF_TEST = 10, OF_ENTRY = 6, OF_MERGED = 8;

double topk_cuda_resident_instructions(const struct plan *plan, const struct block_shape *shape) {
    const double once = has_predicate(plan) ? OF_ITEM + OF_TEST : OF_ITEM;
    const double of_item = plan->element_bytes == 8 ? 2 * once : once;
    const double of_entry = is_merged(plan) ? OF_ENTRY + OF_MERGED : OF_ENTRY;
    return (double)shape->threads / 32 * (OF_WARP + of_item * (double)shape->items) +
           of_entry * (double)topk_cuda_resident_entries(plan);
}

struct block_shape topk_cuda_resident_shape(const topk_context *context, const struct plan *plan,
                                            bool aligned) {
    const int64_t *given = tuning_given(&plan->tuning, &topk_cuda_resident_knobs[THREADS]);
    const int64_t beside = aligned ? 0 : 16 / (int64_t)plan->element_bytes - 1;
    const int64_t most = given != NULL ? *given : RESIDENT_THREADS;
    const int64_t at_once = (int64_t)device_of(context)->sms * RESIDENT_THREADS_MAX;
    struct block_shape best = shape_with(plan, RESIDENT_SHAPES - 1, beside);
    for (uint32_t kernel = has_predicate(plan) ? RESIDENT_WHERE_SHAPE : 0; kernel < RESIDENT_SHAPES;
         kernel++) {
        const struct block_shape shape = shape_with(plan, kernel, beside);
        if (shape.threads <= most && (given != NULL || plan->problem.rows <= at_once / shape.threads)) {
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
