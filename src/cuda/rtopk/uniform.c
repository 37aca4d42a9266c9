/* SPDX-License-Identifier: Apache-2.0
 * Problems whose rows are all alike. */
#include "uniform.h"

static struct lead_map lead_map_of(const struct plan *plan, const struct code_map *map) {
    const unsigned bits = 8 * (unsigned)plan->element_bytes, up = bits < 32 ? 32 - bits : 0;
    const uint64_t ones = topk_ones(bits);
    const uint64_t unit = bits == 64 ? 0 : 1ull << up;
    uint64_t step = unit;
    for (int64_t positions = plan->problem.length_max; positions > 1; positions = divide_up(positions, 2)) {
        step /= 2;
    }
    return (struct lead_map){.flip = (map->negative | (ones ^ map->keep)) << up,
                             .always = map->always,
                             .turn = bits == 64 ? map->turn : (map->turn + map->always) << up,
                             .sign = map->always != 0 ? UINT32_MAX : 1,
                             .unit = (uint32_t)unit,
                             .step = (uint32_t)step,
                             .lowest = (uint32_t)(bits == 64 ? map->lowest >> 32 : map->lowest << up),
                             .highest = (uint32_t)(bits == 64 ? map->highest >> 32 : map->highest << up),
                             .zeros = (uint32_t)(bits == 64 ? map->zeros >> 32 : map->zeros << up)};
}

bool topk_cuda_rtopk_may_be_uniform(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    return plan->operation == TOPK_OPERATION_SELECT && p->shape == TOPK_SHAPE_STRIDED &&
           results_max(plan) > 0 && p->rows <= INT32_MAX && topk_code_map(&plan->order).add == 0;
}

bool topk_cuda_rtopk_is_uniform(const struct call *call) {
    return topk_cuda_rtopk_may_be_uniform(call->plan) && call->input.lengths == NULL && call->input.k == NULL;
}

bool topk_cuda_rtopk_is_whole(const struct call *call) {
    const topk_problem *p = &call->plan->problem;
    const int64_t per = group_elements(call->plan);
    return (uintptr_t)call->input.values % 16 == 0 && p->row_stride % per == 0 && p->length_max % per == 0;
}

struct uniform_rows topk_cuda_rtopk_uniform_rows(const struct call *call, const struct code_map *map) {
    const topk_problem *p = &call->plan->problem;
    const int64_t k = results_max(call->plan);
    return (struct uniform_rows){.length = (uint32_t)p->length_max,
                                 .k = (uint32_t)k,
                                 .has_padding = p->k_max > k,
                                 .has_plain_outputs = call->values != NULL && call->indices != NULL &&
                                                      call->input.indices == NULL &&
                                                      p->index_type == TOPK_INDEX_I32,
                                 .map = lead_map_of(call->plan, map)};
}
