/* SPDX-License-Identifier: Apache-2.0 */
#include "points/outputs.h"

#include <string.h>

/* The next part, of so many bytes; NULL: out of memory. */
static void *take(bench_outputs *outputs, size_t bytes) {
    bench_buffer *part = &outputs->parts[outputs->parts_used];
    const bool made = bench_buffer_make(outputs->memory, part, bytes);
    outputs->parts_used += made;
    return made ? part->data : NULL;
}

static bool make_where(bench_outputs *outputs, const bench_point *point, int64_t matches) {
    const bool indices = bench_wants_indices(point), values = bench_wants_values(point);
    outputs->capacity = indices || values ? matches : 0;
    outputs->index_bytes = indices ? (size_t)matches * bench_index_size(point) : 0;
    outputs->value_bytes = values ? (size_t)matches * topk_type_size(point->type) : 0;
    outputs->indices = indices ? take(outputs, outputs->index_bytes) : NULL;
    outputs->values = values ? take(outputs, outputs->value_bytes) : NULL;
    outputs->offsets = take(outputs, (size_t)(point->rows + 1) * sizeof(int64_t));
    return outputs->parts_used == 1 + indices + values;
}

bool bench_outputs_make(bench_outputs *outputs, const bench_memory *memory, const bench_point *point,
                        int64_t pitch) {
    const size_t rows = (size_t)point->rows, element = topk_type_size(point->type);
    bench_outputs made = {.memory = memory, .pitch = pitch};
    memcpy(made.parts, outputs->parts, sizeof made.parts);
    *outputs = made;
    switch (point->operation) {
    case TOPK_OPERATION_WHERE:
        return make_where(outputs, point, pitch);
    case TOPK_OPERATION_COUNT:
        outputs->counts = take(outputs, rows * sizeof(int64_t));
        return outputs->counts != NULL;
    case TOPK_OPERATION_MASK:
        outputs->value_bytes = bench_mask_bytes(point);
        outputs->mask = take(outputs, outputs->value_bytes);
        return outputs->mask != NULL;
    case TOPK_OPERATION_KTH:
        outputs->value_bytes = rows * element;
        outputs->kth = take(outputs, outputs->value_bytes);
        outputs->better = take(outputs, rows * sizeof(int64_t));
        outputs->equal = take(outputs, rows * sizeof(int64_t));
        return outputs->parts_used == 3;
    default:
        outputs->value_bytes = rows * (size_t)pitch * element;
        outputs->index_bytes = rows * (size_t)pitch * bench_index_size(point);
        outputs->values = take(outputs, outputs->value_bytes);
        outputs->indices = take(outputs, outputs->index_bytes);
        return outputs->parts_used == 2;
    }
}

void bench_outputs_free(bench_outputs *outputs) {
    for (int i = 0; i < BENCH_PARTS; ++i) {
        bench_buffer_free(&outputs->parts[i]);
    }
    memset(outputs, 0, sizeof *outputs);
}

bool bench_outputs_poison(const bench_outputs *outputs) {
    bool ok = true;
    for (int i = 0; ok && i < outputs->parts_used; ++i) {
        ok = bench_buffer_poison(&outputs->parts[i]);
    }
    return ok;
}

bool bench_outputs_intact(const bench_outputs *outputs) {
    bool ok = true;
    for (int i = 0; ok && i < outputs->parts_used; ++i) {
        ok = bench_buffer_intact(&outputs->parts[i]);
    }
    return ok;
}

/* All parts from one side to the other. */
static bool copy(const bench_outputs *to, const bench_outputs *from) {
    bool ok = true;
    for (int i = 0; ok && i < from->parts_used; ++i) {
        const bench_memory *memory = to->memory == &bench_host_memory ? from->memory : to->memory;
        ok = memory->copy(to->parts[i].data, from->parts[i].data, from->parts[i].bytes);
    }
    return ok;
}

bool bench_outputs_spoil(bench_outputs *outputs, const bench_point *point, bench_spoil *spoil) {
    bench_outputs mirror = {0};
    bool ok =
        bench_outputs_make(&mirror, &bench_host_memory, point, outputs->pitch) && copy(&mirror, outputs);
    if (ok) {
        spoil(point, &mirror);
        outputs->any_order = mirror.any_order;
        outputs->count_alone = mirror.count_alone;
        ok = copy(outputs, &mirror);
    }
    bench_outputs_free(&mirror);
    return ok;
}
