/* SPDX-License-Identifier: Apache-2.0 */
#include "points/outputs.h"

#include <string.h>

/* The next part, of `bytes`; NULL: out of memory, here or before. */
static void *take(bench_outputs *outputs, size_t bytes) {
    bench_buffer *part = &outputs->parts[outputs->parts_used];
    outputs->complete = outputs->complete && bench_buffer_make(outputs->memory, part, bytes);
    outputs->parts_used += outputs->complete;
    return outputs->complete ? part->data : NULL;
}

static void take_results(bench_outputs *outputs, const bench_point *point, bool values, bool indices,
                         size_t results) {
    outputs->value_bytes = values ? results * topk_type_size(point->type) : 0;
    outputs->index_bytes = indices ? results * bench_index_size(point) : 0;
    outputs->values = values ? take(outputs, outputs->value_bytes) : NULL;
    outputs->indices = indices ? take(outputs, outputs->index_bytes) : NULL;
}

bool bench_outputs_make(bench_outputs *outputs, const bench_memory *memory, const bench_point *point,
                        int64_t pitch) {
    const bool indices = bench_wants_indices(point), values = bench_wants_values(point);
    const size_t rows = (size_t)point->rows;
    bench_outputs made = {.memory = memory, .pitch = pitch, .complete = true};
    memcpy(made.parts, outputs->parts, sizeof made.parts);
    *outputs = made;
    switch (point->operation) {
    case TOPK_OPERATION_WHERE:
        outputs->capacity = indices || values ? pitch : 0;
        take_results(outputs, point, values, indices, (size_t)pitch);
        outputs->offsets = take(outputs, (rows + 1) * sizeof(int64_t));
        break;
    case TOPK_OPERATION_ROUTE:
        take_results(outputs, point, false, true, rows * (size_t)pitch);
        outputs->value_bytes = point->routing & BENCH_WEIGHTS ? rows * (size_t)pitch * sizeof(float) : 0;
        outputs->weights = outputs->value_bytes > 0 ? take(outputs, outputs->value_bytes) : NULL;
        break;
    case TOPK_OPERATION_COUNT:
        outputs->counts = take(outputs, rows * sizeof(int64_t));
        break;
    case TOPK_OPERATION_MASK:
        outputs->value_bytes = bench_mask_bytes(point);
        outputs->mask = take(outputs, outputs->value_bytes);
        break;
    case TOPK_OPERATION_KTH:
        outputs->value_bytes = rows * topk_type_size(point->type);
        outputs->kth = take(outputs, outputs->value_bytes);
        outputs->better = take(outputs, rows * sizeof(int64_t));
        outputs->equal = take(outputs, rows * sizeof(int64_t));
        break;
    default:
        take_results(outputs, point, true, true, rows * (size_t)pitch);
    }
    return outputs->complete;
}

void bench_outputs_free(bench_outputs *outputs) {
    for (int i = 0; i < BENCH_PARTS; ++i) {
        bench_buffer_free(&outputs->parts[i]);
    }
    memset(outputs, 0, sizeof *outputs);
}

bool bench_outputs_all(const bench_outputs *outputs, bool (*holds)(const bench_buffer *part)) {
    bool ok = true;
    for (int i = 0; ok && i < outputs->parts_used; ++i) {
        ok = holds(&outputs->parts[i]);
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

bool bench_outputs_mirror(bench_outputs *mirror, const bench_outputs *outputs, const bench_point *point) {
    return bench_outputs_make(mirror, &bench_host_memory, point, outputs->pitch) && copy(mirror, outputs);
}

bool bench_outputs_spoil(bench_outputs *outputs, const bench_point *point, bench_spoil *spoil) {
    bench_outputs mirror = {0};
    bool ok = bench_outputs_mirror(&mirror, outputs, point);
    if (ok) {
        spoil(point, &mirror);
        outputs->any_order = mirror.any_order;
        outputs->count_alone = mirror.count_alone;
        ok = copy(outputs, &mirror);
    }
    bench_outputs_free(&mirror);
    return ok;
}
