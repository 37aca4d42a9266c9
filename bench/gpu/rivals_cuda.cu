/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/launch_cuda.cuh"
#include "gpu/rival_kind_cuda.h"

namespace {

/* The i-th of all tables one after the other, or null. */
const bench_gpu_rival_kind *kind_at(int i) {
    const bench_gpu_rival_kinds tables[] = {bench_select_rivals(), bench_where_rivals(),
                                            bench_where_baselines()};
    for (const bench_gpu_rival_kinds &table : tables) {
        if (i < table.count) {
            return &table.each[i];
        }
        i -= table.count;
    }
    return nullptr;
}

struct number_positions {
    std::int32_t *positions;
    std::int64_t n;

    __device__ void operator()(std::int64_t i) const {
        positions[i] = static_cast<std::int32_t>(i % n);
    }
};

struct number_rows {
    std::int64_t *offsets;
    std::int64_t n;

    __device__ void operator()(std::int64_t r) const {
        offsets[r] = r * n;
    }
};

bool make_select(bench_gpu_rival *rival) {
    const bench_point *point = rival->point;
    const std::int64_t elements = point->rows * point->n;
    return bench_outputs_make(&rival->outputs, &bench_device_memory, point,
                              rival->kind->sorts ? point->n : point->k) &&
           bench_buffer_make(&rival->positions, static_cast<std::size_t>(elements) * sizeof(std::int32_t)) &&
           bench_buffer_make(&rival->offsets,
                             static_cast<std::size_t>(point->rows + 1) * sizeof(std::int64_t)) &&
           bench_for_each(elements,
                          number_positions{static_cast<std::int32_t *>(rival->positions.data), point->n},
                          rival->stream) &&
           bench_for_each(point->rows + 1,
                          number_rows{static_cast<std::int64_t *>(rival->offsets.data), point->n},
                          rival->stream);
}

bool make_where(bench_gpu_rival *rival, const bench_truth *truth, std::size_t cold_bytes) {
    const bench_gpu_rival_kind *kind = rival->kind;
    if (!bench_outputs_make(&rival->outputs, &bench_device_memory, rival->point, truth->matches)) {
        return false;
    }
    rival->bound = static_cast<float>(truth->bound.value.f64); /* an element, or infinite: exact */
    rival->outputs.any_order = kind->any_order;
    rival->outputs.count_alone = true;
    rival->outputs.host_count = kind->waits ? &rival->count : nullptr;
    return !kind->flags ||
           bench_gpu_mask_make(&rival->flags, rival->point, BENCH_BYTE_MASK,
                               bench_gpu_data_copy(rival->data, 0), truth, cold_bytes, rival->stream);
}

} // namespace

const char *bench_gpu_rival_name(int i) {
    const bench_gpu_rival_kind *kind = kind_at(i);
    return kind != nullptr ? kind->name : nullptr;
}

bool bench_gpu_rival_can(int i, const bench_point *point) {
    return kind_at(i)->can(point);
}

bool bench_gpu_rival_make(bench_gpu_rival *rival, int i, const bench_point *point, const bench_gpu_data *data,
                          const bench_truth *truth, std::size_t cold_bytes, cudaStream_t stream) {
    rival->kind = kind_at(i);
    rival->point = point;
    rival->data = data;
    rival->stream = stream;
    std::size_t needed = 0;
    const bool select = point->operation != TOPK_OPERATION_WHERE;
    return (select ? make_select(rival) : make_where(rival, truth, cold_bytes)) &&
           bench_device_ok(rival->kind->run(rival, nullptr, nullptr, &needed), "scratch of a rival") &&
           bench_buffer_make(&rival->scratch, needed) &&
           bench_device_ok(cudaStreamSynchronize(stream), "preparing a rival");
}

void bench_gpu_rival_free(bench_gpu_rival *rival) {
    bench_outputs_free(&rival->outputs);
    bench_buffer_free(&rival->positions);
    bench_buffer_free(&rival->offsets);
    bench_gpu_data_free(&rival->flags);
    bench_buffer_free(&rival->scratch);
}

bool bench_gpu_rival_waits(const bench_gpu_rival *rival) {
    return rival->kind->waits;
}

bool bench_gpu_rival_enqueue(void *state, std::int64_t turn) {
    bench_gpu_rival *rival = static_cast<bench_gpu_rival *>(state);
    std::size_t bytes = rival->scratch.bytes;
    const void *input = bench_gpu_data_copy(rival->kind->flags ? &rival->flags : rival->data, turn);
    return bench_device_ok(rival->kind->run(rival, input, rival->scratch.data, &bytes), rival->kind->name);
}
