/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/outputs_cuda.h"

#include <string.h>

/* What is not asked for has a buffer without contents. */
static bool make_where(bench_gpu_outputs *outputs, const bench_point *point, int64_t matches) {
    bench_outputs *view = &outputs->view;
    const bool indices = bench_wants_indices(point), values = bench_wants_values(point);
    view->capacity = indices || values ? matches : 0;
    view->value_bytes = values ? (size_t)matches * topk_type_size(point->type) : 0;
    view->index_bytes = indices ? (size_t)matches * bench_index_size(point) : 0;
    const bool ok = bench_buffer_make(&outputs->values, view->value_bytes) &&
                    bench_buffer_make(&outputs->indices, view->index_bytes) &&
                    bench_buffer_make(&outputs->offsets, (size_t)(point->rows + 1) * sizeof(int64_t));
    view->values = values ? outputs->values.data : NULL;
    view->indices = indices ? outputs->indices.data : NULL;
    view->offsets = outputs->offsets.data;
    return ok;
}

bool bench_gpu_outputs_make(bench_gpu_outputs *outputs, const bench_point *point, int64_t pitch) {
    const size_t rows = (size_t)point->rows;
    const size_t element = topk_type_size(point->type);
    bench_outputs *view = &outputs->view;
    memset(view, 0, sizeof *view);
    view->pitch = pitch;
    if (point->operation == TOPK_OPERATION_WHERE) {
        return make_where(outputs, point, pitch);
    }
    if (point->operation == TOPK_OPERATION_COUNT) {
        const bool ok = bench_buffer_make(&outputs->offsets, rows * sizeof(int64_t));
        view->counts = outputs->offsets.data;
        return ok;
    }
    if (point->operation == TOPK_OPERATION_MASK) {
        view->value_bytes = bench_mask_bytes(point);
        const bool ok = bench_buffer_make(&outputs->values, view->value_bytes);
        view->mask = outputs->values.data;
        return ok;
    }
    if (point->operation == TOPK_OPERATION_KTH) {
        view->value_bytes = rows * element;
        const bool ok = bench_buffer_make(&outputs->values, view->value_bytes) &&
                        bench_buffer_make(&outputs->better, rows * sizeof(int64_t)) &&
                        bench_buffer_make(&outputs->equal, rows * sizeof(int64_t));
        view->kth = outputs->values.data;
        view->better = outputs->better.data;
        view->equal = outputs->equal.data;
        return ok;
    }
    view->value_bytes = rows * (size_t)pitch * element;
    view->index_bytes = rows * (size_t)pitch * bench_index_size(point);
    const bool ok = bench_buffer_make(&outputs->values, view->value_bytes) &&
                    bench_buffer_make(&outputs->indices, view->index_bytes);
    view->values = outputs->values.data;
    view->indices = outputs->indices.data;
    return ok;
}

void bench_gpu_outputs_free(bench_gpu_outputs *outputs) {
    bench_buffer_free(&outputs->values);
    bench_buffer_free(&outputs->indices);
    bench_buffer_free(&outputs->better);
    bench_buffer_free(&outputs->equal);
    bench_buffer_free(&outputs->offsets);
    memset(outputs, 0, sizeof *outputs);
}

bool bench_gpu_outputs_poison(const bench_gpu_outputs *outputs, cudaStream_t stream) {
    return bench_buffer_poison(&outputs->values, stream) && bench_buffer_poison(&outputs->indices, stream) &&
           bench_buffer_poison(&outputs->better, stream) && bench_buffer_poison(&outputs->equal, stream) &&
           bench_buffer_poison(&outputs->offsets, stream);
}

bool bench_gpu_outputs_intact(const bench_gpu_outputs *outputs, cudaStream_t stream) {
    return bench_buffer_intact(&outputs->values, stream) && bench_buffer_intact(&outputs->indices, stream) &&
           bench_buffer_intact(&outputs->better, stream) && bench_buffer_intact(&outputs->equal, stream) &&
           bench_buffer_intact(&outputs->offsets, stream);
}

static bool copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return from == NULL || to == NULL || bytes == 0 ||
           bench_device_ok(cudaMemcpy(to, from, bytes, kind), "outputs");
}

/* All outputs from one side to the other. */
static bool copy_all(const bench_outputs *to, const bench_outputs *from, size_t rows,
                     enum cudaMemcpyKind kind) {
    return copy(to->values, from->values, from->value_bytes, kind) &&
           copy(to->indices, from->indices, from->index_bytes, kind) &&
           copy(to->kth, from->kth, from->value_bytes, kind) &&
           copy(to->mask, from->mask, from->value_bytes, kind) &&
           copy(to->counts, from->counts, rows * sizeof(int64_t), kind) &&
           copy(to->better, from->better, rows * sizeof(int64_t), kind) &&
           copy(to->equal, from->equal, rows * sizeof(int64_t), kind) &&
           copy(to->offsets, from->offsets, (rows + 1) * sizeof(int64_t), kind);
}

bool bench_gpu_outputs_tamper(bench_gpu_outputs *outputs, const bench_point *point,
                              void (*tamper)(const bench_point *point, bench_outputs *outputs),
                              cudaStream_t stream) {
    bench_outputs mirror;
    const size_t rows = (size_t)point->rows;
    bool ok = bench_outputs_make(&mirror, point, outputs->view.capacity) &&
              bench_device_ok(cudaStreamSynchronize(stream), "outputs") &&
              copy_all(&mirror, &outputs->view, rows, cudaMemcpyDeviceToHost);
    if (ok) {
        tamper(point, &mirror);
        outputs->view.any_order = mirror.any_order;
        outputs->view.count_alone = mirror.count_alone;
        ok = copy_all(&outputs->view, &mirror, rows, cudaMemcpyHostToDevice) &&
             bench_device_ok(cudaDeviceSynchronize(), "outputs");
    }
    bench_outputs_free(&mirror);
    return ok;
}
