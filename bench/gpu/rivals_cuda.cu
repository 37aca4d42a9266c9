/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/rivals_cuda.h"

#include "gpu/launch_cuda.cuh"

namespace {

/* The i-th of both tables one after the other, or null. */
const bench_rival_kind *kind_at(int i) {
    for (const bench_rival_kind *kind : {bench_toolkit_rivals, bench_device_baselines}) {
        for (; kind->name != nullptr; ++kind) {
            if (i-- == 0) {
                return kind;
            }
        }
    }
    return nullptr;
}

/* Numbers the elements within their rows, and the element where each row begins and the last one ends. */
struct number_elements {
    std::int32_t *positions;
    std::int64_t *offsets;
    std::int64_t n;

    __device__ void operator()(std::int64_t e) const {
        positions[e] = static_cast<std::int32_t>(e % n);
        if (e % n == 0) {
            offsets[e / n] = e;
        }
    }
};

/* The end of the last row is numbered like the beginning of one more. */
bool make_select(bench_gpu_rival *rival) {
    bench_rival_task &task = rival->task;
    const std::size_t numbers = static_cast<std::size_t>(task.rows * task.n) + 1;
    const std::size_t rows = static_cast<std::size_t>(task.rows);
    if (!bench_buffer_make(&bench_device_memory, &rival->positions, numbers * sizeof *task.positions) ||
        !bench_buffer_make(&bench_device_memory, &rival->offsets, (rows + 1) * sizeof *task.offsets)) {
        return false;
    }
    const number_elements body = {static_cast<std::int32_t *>(rival->positions.data),
                                  static_cast<std::int64_t *>(rival->offsets.data), task.n};
    task.positions = body.positions;
    task.offsets = body.offsets;
    return bench_for_each(task.rows * task.n + 1, body, task.stream);
}

bool make_where(bench_gpu_rival *rival, const bench_point *point, const bench_truth *truth,
                std::size_t cold_bytes) {
    const int traits = rival->kind->traits;
    rival->task.bound = static_cast<float>(truth->bound.value.f64); /* an element, or infinite: exact */
    rival->task.count = rival->outputs.offsets + point->rows;
    rival->task.host_count = &rival->host_count;
    rival->outputs.any_order = (traits & BENCH_RIVAL_ANY_ORDER) != 0;
    rival->outputs.count_alone = true;
    rival->outputs.host_count = traits & BENCH_RIVAL_WAITS ? &rival->host_count : nullptr;
    if (!(traits & BENCH_RIVAL_FLAGS)) {
        return true;
    }
    const void *input = bench_data_copy(rival->data, 0);
    rival->data = &rival->flags;
    return bench_gpu_mask_make(&rival->flags, point, BENCH_BYTE_MASK, input, truth, cold_bytes,
                               rival->task.stream);
}

} // namespace

const char *bench_gpu_rival_name(int i) {
    const bench_rival_kind *kind = kind_at(i);
    return kind != nullptr ? kind->name : nullptr;
}

bool bench_gpu_rival_can(int i, const bench_point *point) {
    return kind_at(i)->can(point);
}

bool bench_gpu_rival_make(bench_gpu_rival *rival, int i, const bench_point *point, const bench_data *data,
                          const bench_truth *truth, std::size_t cold_bytes, cudaStream_t stream) {
    const bool where = point->operation == TOPK_OPERATION_WHERE;
    std::size_t needed = 0;
    rival->kind = kind_at(i);
    rival->data = data;
    const std::int64_t pitch = where                                     ? truth->matches
                               : rival->kind->traits & BENCH_RIVAL_SORTS ? point->n
                                                                         : point->k;
    if (!bench_outputs_make(&rival->outputs, &bench_device_memory, point, pitch)) {
        return false;
    }
    bench_rival_task &task = rival->task;
    task.rows = point->rows;
    task.n = point->n;
    task.k = point->k;
    task.block = point->block;
    task.values = static_cast<float *>(rival->outputs.values);
    task.indices = static_cast<std::int32_t *>(rival->outputs.indices);
    task.stream = stream;
    if (where ? !make_where(rival, point, truth, cold_bytes) : !make_select(rival)) {
        return false;
    }
    bench_rival_task question = task;
    question.scratch_bytes = &needed;
    const bool made = bench_device_ok(rival->kind->run(&question), "scratch of a rival") &&
                      bench_buffer_make(&bench_device_memory, &rival->scratch, needed) &&
                      bench_device_ok(cudaStreamSynchronize(stream), "preparing a rival");
    task.scratch = rival->scratch.data;
    return made;
}

void bench_gpu_rival_free(bench_gpu_rival *rival) {
    bench_outputs_free(&rival->outputs);
    bench_buffer_free(&rival->positions);
    bench_buffer_free(&rival->offsets);
    bench_data_free(&rival->flags);
    bench_buffer_free(&rival->scratch);
}

bool bench_gpu_rival_enqueue(void *state, std::int64_t turn) {
    const bench_gpu_rival *rival = static_cast<bench_gpu_rival *>(state);
    const void *input = bench_data_copy(rival->data, turn);
    std::size_t bytes = rival->scratch.bytes;
    bench_rival_task task = rival->task;
    task.input = static_cast<const float *>(input);
    task.flags = static_cast<const unsigned char *>(input);
    task.scratch_bytes = &bytes;
    return bench_device_ok(rival->kind->run(&task), rival->kind->name);
}
