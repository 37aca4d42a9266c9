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
    return plan->operation == TOPK_OPERATION_SELECT && plan->problem.order == TOPK_ORDER_BEST_FIRST;
}

int64_t topk_cuda_resident_row_max(const struct plan *plan) {
    return RESIDENT_THREADS_MAX * items_of(plan, RESIDENT_SHAPES - 1);
}

int64_t topk_cuda_resident_entries(const struct plan *plan) {
    const int64_t results = least(plan->problem.k_max, plan->problem.length_max);
    int64_t merged = 64;
    if (!topk_cuda_resident_is_sorted(plan) || results + RESIDENT_FEW <= RESIDENT_RANKED) {
        return RESIDENT_LIST;
    }
    while (merged < results + RESIDENT_FEW) {
        merged *= 2;
    }
    return greatest(merged, RESIDENT_LIST);
}

static int64_t whole_warps(int64_t threads) {
    return greatest(divide_up(threads, 32), 1) * 32;
}

struct block_shape topk_cuda_resident_shape(const topk_context *context, const struct plan *plan,
                                            bool aligned) {
    const int64_t *given = tuning_given(&plan->tuning, &topk_cuda_resident_knobs[THREADS]);
    const int64_t beside = aligned ? 0 : 16 / (int64_t)plan->element_bytes - 1;
    const int64_t most = given != NULL ? *given : RESIDENT_THREADS;
    const int64_t at_once = (int64_t)device_of(context)->sms * RESIDENT_THREADS_MAX;
    struct block_shape shape = {0};
    for (uint32_t kernel = 0; kernel < RESIDENT_SHAPES; kernel++) {
        shape.kernel = kernel;
        shape.items = items_of(plan, kernel);
        shape.threads = whole_warps(divide_up(plan->problem.length_max + beside, shape.items));
        if (shape.threads <= most && (given != NULL || plan->problem.rows <= at_once / shape.threads)) {
            break;
        }
    }
    shape.threads = least(shape.threads, RESIDENT_THREADS_MAX); /* without what lies beside the row */
    shape.threads = greatest(
        shape.threads, whole_warps(divide_up(topk_cuda_resident_entries(plan), RESIDENT_ENTRIES_PER_THREAD)));
    return shape;
}
