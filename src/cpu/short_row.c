/* SPDX-License-Identifier: Apache-2.0 */
#include "short_row.h"

struct short_row topk_short_row_take(struct arena *arena, const struct plan *plan, int64_t length_max) {
    const int64_t k_max = plan->problem.k_max < length_max ? plan->problem.k_max : length_max;
    const size_t words = words_of((size_t)length_max), sorted = words_of((size_t)k_max) * WORD;
    struct short_row row;
    row.keys = arena_take(arena, words * WORD, plan->element_bytes);
    row.above = arena_take(arena, words, sizeof *row.above);
    row.equal = arena_take(arena, words, sizeof *row.equal);
    for (int i = 0; i < 2; i++) {
        row.sort_keys[i] = arena_take(arena, sorted, plan->element_bytes);
        row.slots[i] = arena_take(arena, sorted, sizeof *row.slots[i]);
    }
    return row;
}

static void kth_short(const struct call *call, const struct kernels *kernels, int64_t row,
                      struct row_extent extent, int64_t k, const struct short_row *buffers) {
    const struct plan *plan = call->plan;
    const char *elements = (const char *)call->input.values + (size_t)extent.begin * plan->element_bytes;
    const size_t n = (size_t)extent.length, padded = words_of(n) * WORD;
    kernels->encode(elements, n, &plan->map, buffers->keys);
    memset((char *)buffers->keys + n * plan->element_bytes, 0, (padded - n) * plan->element_bytes);
    const struct threshold t = kernels->bisect(buffers->keys, n, (size_t)k, true);
    const struct threshold_arcs arcs = topk_threshold_arcs(&plan->order, t.key);
    const struct split_counts counts =
        kernels->split(elements, n, &plan->placing, &arcs, buffers->above, NULL);
    topk_write_kth(call, row, t.key, (int64_t)counts.above, (int64_t)counts.equal);
}

void topk_short_row_run(const struct call *call, const struct kernels *kernels, int64_t row,
                        struct row_extent extent, const struct short_row *buffers) {
    const struct plan *plan = call->plan;
    const int64_t wanted = plan_row_k(plan, &call->input, row);
    if (plan->operation == TOPK_OPERATION_KTH) {
        if (wanted == 0 || wanted > extent.length) {
            topk_write_kth_padding(call, row, wanted, extent.length);
        } else {
            kth_short(call, kernels, row, extent, wanted, buffers);
        }
        return;
    }
    const size_t k = (size_t)(wanted < extent.length ? wanted : extent.length);
    if (k > 0) {
        const char *elements = (const char *)call->input.values + (size_t)extent.begin * plan->element_bytes;
        const struct source source = {elements, NULL, 0};
        const bool sorted = plan->problem.order == TOPK_ORDER_BEST_FIRST;
        const uint32_t *slots =
            kernels->select_short(elements, (size_t)extent.length, k, &plan->map, sorted, buffers);
        topk_write_slots(call, row * plan->problem.k_max, &source, extent.begin, slots, k);
    }
    topk_write_padding(call, row, k);
}
