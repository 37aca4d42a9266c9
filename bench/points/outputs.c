/* SPDX-License-Identifier: Apache-2.0 */
#include "points/outputs.h"

#include "data/data.h"

#include <stdlib.h>
#include <string.h>

bool bench_outputs_make(bench_outputs *outputs, const bench_point *point, int64_t matches) {
    memset(outputs, 0, sizeof *outputs);
    outputs->pitch = point->k;
    const size_t rows = (size_t)point->rows;
    const size_t element = topk_type_size(point->type);
    if (point->operation == TOPK_OPERATION_WHERE) {
        const bool indices = bench_wants_indices(point), values = bench_wants_values(point);
        outputs->capacity = indices || values ? matches : 0;
        outputs->index_bytes = indices ? (size_t)matches * bench_index_size(point) : 0;
        outputs->value_bytes = values ? (size_t)matches * element : 0;
        outputs->indices = indices ? bench_allocate(outputs->index_bytes) : NULL;
        outputs->values = values ? bench_allocate(outputs->value_bytes) : NULL;
        outputs->offsets = bench_allocate((rows + 1) * sizeof(int64_t));
        return (!indices || outputs->indices != NULL) && (!values || outputs->values != NULL) &&
               outputs->offsets != NULL;
    }
    if (point->operation == TOPK_OPERATION_COUNT) {
        outputs->counts = bench_allocate(rows * sizeof(int64_t));
        return outputs->counts != NULL;
    }
    if (point->operation == TOPK_OPERATION_MASK) {
        outputs->value_bytes = bench_mask_bytes(point);
        outputs->mask = bench_allocate(outputs->value_bytes);
        return outputs->mask != NULL;
    }
    if (point->operation == TOPK_OPERATION_KTH) {
        outputs->value_bytes = rows * element;
        outputs->kth = bench_allocate(outputs->value_bytes);
        outputs->better = bench_allocate(rows * sizeof(int64_t));
        outputs->equal = bench_allocate(rows * sizeof(int64_t));
        return outputs->kth != NULL && outputs->better != NULL && outputs->equal != NULL;
    }
    outputs->value_bytes = rows * (size_t)point->k * element;
    outputs->index_bytes = rows * (size_t)point->k * bench_index_size(point);
    outputs->values = bench_allocate(outputs->value_bytes);
    outputs->indices = bench_allocate(outputs->index_bytes);
    return outputs->values != NULL && outputs->indices != NULL;
}

static void poison(void *memory, size_t bytes) {
    if (memory != NULL) {
        memset(memory, 0xA5, bytes);
    }
}

void bench_outputs_poison(const bench_outputs *outputs, int64_t rows) {
    poison(outputs->values, outputs->value_bytes);
    poison(outputs->kth, outputs->value_bytes);
    poison(outputs->mask, outputs->value_bytes);
    poison(outputs->indices, outputs->index_bytes);
    poison(outputs->better, (size_t)rows * sizeof(int64_t));
    poison(outputs->equal, (size_t)rows * sizeof(int64_t));
    poison(outputs->offsets, (size_t)(rows + 1) * sizeof(int64_t));
    poison(outputs->counts, (size_t)rows * sizeof(int64_t));
}

void bench_outputs_free(bench_outputs *outputs) {
    free(outputs->values);
    free(outputs->indices);
    free(outputs->kth);
    free(outputs->better);
    free(outputs->equal);
    free(outputs->offsets);
    free(outputs->counts);
    free(outputs->mask);
    memset(outputs, 0, sizeof *outputs);
}
