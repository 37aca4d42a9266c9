/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/rivals_cuda.h"

#include "gpu/launch_cuda.cuh"

namespace {

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
bool prepare_select(bench_rival *rival) {
    const std::int64_t rows = rival->point->rows, elements = rows * rival->point->n;
    const std::size_t positions_bytes = static_cast<std::size_t>(elements + 1) * sizeof(std::int32_t);
    const std::size_t offsets_bytes = static_cast<std::size_t>(rows + 1) * sizeof(std::int64_t);
    if (!bench_buffer_make(&bench_device_memory, &rival->positions, positions_bytes) ||
        !bench_buffer_make(&bench_device_memory, &rival->offsets, offsets_bytes)) {
        return false;
    }
    const number_elements body = {static_cast<std::int32_t *>(rival->positions.data),
                                  static_cast<std::int64_t *>(rival->offsets.data), rival->point->n};
    return bench_for_each(elements + 1, body, static_cast<cudaStream_t>(rival->stream));
}

bool prepare_where(bench_session *session, bench_rival *rival) {
    const int traits = rival->kind->traits;
    rival->outputs.any_order = (traits & BENCH_RIVAL_ANY_ORDER) != 0;
    rival->outputs.count_alone = true;
    rival->outputs.host_count = traits & BENCH_RIVAL_WAITS ? &rival->host_count : nullptr;
    rival->data = traits & BENCH_RIVAL_FLAGS ? &rival->flags : rival->data;
    return !(traits & BENCH_RIVAL_FLAGS) ||
           bench_gpu_mask_make(session, &rival->flags, rival->point, BENCH_BYTE_MASK);
}

} // namespace

bool bench_gpu_rival_prepare(bench_session *session, bench_rival *rival) {
    if (rival->point->operation == TOPK_OPERATION_WHERE) {
        return prepare_where(session, rival);
    }
    return rival->kind->traits & BENCH_RIVAL_NUMBERS || prepare_select(rival);
}
