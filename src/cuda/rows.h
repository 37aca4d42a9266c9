/* SPDX-License-Identifier: Apache-2.0
 * A problem's rows as kernels see them: what struct plan and topk_input say, in one struct that is passed by
 * value. */
#ifndef TOPK_SRC_CUDA_ROWS_H
#define TOPK_SRC_CUDA_ROWS_H

#include "codes.h"

/* A launch finds the constant cache cold: what every kernel reads first lies side by side. */
struct row_args {
    const uint32_t *condition; /* of struct call */
    const void *values;
    topk_shape shape;
    bool wide_extents; /* int64 */
    bool wide_indices; /* int64, of payload and out_indices */
    int64_t rows, length_max, k_max, row_stride;
    const void *lengths, *k, *begins, *ends, *offsets;
    int64_t elements_max, index_base;
    struct code_map map;
    const void *payload; /* topk_input.indices, or NULL */
    uint64_t padding;
    void *out_values, *out_indices; /* rows x k_max, or NULL */
};

/* Where topk_kth writes, for each row; NULL: not wanted. */
struct kth_outputs {
    void *values;
    int64_t *better, *equal;
};

#ifndef __cplusplus
#include "../method.h"

/* How the elements of a plan rank on the device. A method that decides so keeps it for its runs. */
static inline struct decode_args device_order_of(const struct plan *plan) {
    const struct code_map map = topk_code_map(&plan->order, &plan->point_map);
    return topk_decode_args(&plan->order, &map);
}

/* `map`: of the plan's order. */
static inline struct row_args row_args_with(const struct call *call, const struct code_map *map) {
    const topk_problem *p = &call->plan->problem;
    const topk_input *input = &call->input;
    return (struct row_args){.values = input->values,
                             .payload = input->indices,
                             .lengths = input->lengths,
                             .begins = input->begins,
                             .ends = input->ends,
                             .offsets = input->offsets,
                             .k = input->k,
                             .rows = p->rows,
                             .length_max = p->length_max,
                             .k_max = p->k_max,
                             .row_stride = p->row_stride,
                             .elements_max = p->elements_max,
                             .index_base = p->index_base + call->base,
                             .map = *map,
                             .padding = call->plan->padding,
                             .shape = p->shape,
                             .wide_extents = p->extent_type == TOPK_INDEX_I64,
                             .wide_indices = p->index_type == TOPK_INDEX_I64,
                             .out_values = call->values,
                             .out_indices = call->indices,
                             .condition = call->condition};
}

static inline struct row_args row_args_of(const struct call *call) {
    const struct code_map map = topk_code_map(&call->plan->order, &call->plan->point_map);
    return row_args_with(call, &map);
}

static inline struct kth_outputs kth_outputs_of(const struct call *call) {
    return (struct kth_outputs){call->values, call->better, call->equal};
}
#endif
#endif
