/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/session_cuda.h"

#include "check/passes.hpp"
#include "check/truth.hpp"
#include "elements.h"
#include "gpu/launch_cuda.cuh"

namespace {

struct fill {
    bench_filling filling;
    void *elements;

    __device__ void operator()(std::int64_t i) const {
        element_put_bits(filling.how.type, elements, i, bench_element(&filling, i));
    }
};

/* Copies what elements are made from to the device, unless it is there. */
bool upload(bench_buffer *to, const void *from, std::size_t bytes) {
    return to->data != nullptr || (bench_buffer_make(&bench_device_memory, to, bytes) &&
                                   bench_device_memory.copy(to->data, from, bytes));
}

bool upload(bench_buffer *to, const bench_vectors &from) {
    return upload(to, from.elements, static_cast<std::size_t>(from.count * from.dimensions) * sizeof(float));
}

/* From one copy to all, doubling what there is. */
bool make_copies(const bench_data *data, cudaStream_t stream) {
    unsigned char *base = static_cast<unsigned char *>(data->buffer.data);
    const std::size_t all = static_cast<std::size_t>(data->copies) * data->pitch;
    for (std::size_t done = data->pitch; done < all; done *= 2) {
        const std::size_t bytes = all - done < done ? all - done : done;
        if (!bench_device_ok(cudaMemcpyAsync(base + done, base, bytes, cudaMemcpyDeviceToDevice, stream),
                             "copies of the input")) {
            return false;
        }
    }
    return bench_device_ok(cudaStreamSynchronize(stream), "copies of the input");
}

struct gpu {
    cudaStream_t stream;
    const bench_memory *memory = &bench_device_memory;
    std::int64_t busy = 1 << 18;

    template <typename Body> bool for_each(std::int64_t count, Body body) const {
        return bench_for_each(count, body, stream);
    }
};

/* One byte of a mask: `elements_each` elements, the first in the lowest bit. */
template <typename W> struct make_mask {
    const W *elements;
    std::int64_t count;
    int elements_each;
    topk_type type;
    bench_truth truth;
    unsigned char *mask;

    __device__ void operator()(std::int64_t byte) const {
        unsigned bits = 0;
        for (int bit = 0; bit < elements_each; ++bit) {
            const std::int64_t e = byte * elements_each + bit;
            bits |= e < count && bench::matches(truth, type, elements[e], e) ? 1u << bit : 0;
        }
        mask[byte] = static_cast<unsigned char>(bits);
    }
};

} // namespace

bool bench_gpu_data_make(bench_session *session, const bench_point *point) {
    const bench_source &source = session->options.source;
    bench_gpu_state *state = static_cast<bench_gpu_state *>(session->state);
    bench_filling filling = bench_filling_of(point, &source);
    if (bench_has_distances(point)) {
        if (!upload(&state->queries, source.queries) || !upload(&state->base, source.base)) {
            return false;
        }
        filling.queries = static_cast<const float *>(state->queries.data);
        filling.base = static_cast<const float *>(state->base.data);
    }
    if (bench_has_file(point)) {
        const std::size_t bytes = static_cast<std::size_t>(source.file.count) * topk_type_size(point->type);
        if (!upload(&state->file, source.file.values, bytes)) {
            return false;
        }
        filling.file = state->file.data;
    }
    const cudaStream_t stream = static_cast<cudaStream_t>(session->stream);
    bench_data *data = &session->data;
    const bool ok = bench_data_room(data, &bench_device_memory, point, bench_point_bytes(point),
                                    bench_cold_bytes(session)) &&
                    bench_for_each(point->elements, fill{filling, data->buffer.data}, stream) &&
                    make_copies(data, stream);
    if (!ok) {
        bench_data_free(data);
    }
    return ok;
}

bool bench_gpu_truth_find(bench_session *session, const bench_point *point) {
    const gpu machine = {static_cast<cudaStream_t>(session->stream)};
    return bench::find_truth(machine, &session->truth, *point, session->data.buffer.data,
                             &static_cast<bench_gpu_state *>(session->state)->scratch);
}

bool bench_gpu_mask_make(bench_session *session, bench_data *mask, const bench_point *point,
                         bench_predicate kind) {
    const cudaStream_t stream = static_cast<cudaStream_t>(session->stream);
    const std::int64_t count = point->elements;
    const int each = kind == BENCH_BIT_MASK ? 8 : 1;
    const std::int64_t bytes = (count + each - 1) / each;
    if (!bench_data_room(mask, &bench_device_memory, point, static_cast<std::size_t>(bytes),
                         bench_cold_bytes(session))) {
        return false;
    }
    unsigned char *const to = static_cast<unsigned char *>(mask->buffer.data);
    const bool made = bench::with_width(point->type, [&](auto width) {
        using W = decltype(width);
        const W *const elements = static_cast<const W *>(session->data.buffer.data);
        return bench_for_each(bytes, make_mask<W>{elements, count, each, point->type, session->truth, to},
                              stream);
    });
    return made && make_copies(mask, stream);
}

bool bench_gpu_check(bench_session *session, const bench_point *point, const bench_outputs *outputs,
                     bench_result *result, std::uint64_t *checksum) {
    const gpu machine = {static_cast<cudaStream_t>(session->stream)};
    bench_buffer *scratch = &static_cast<bench_gpu_state *>(session->state)->scratch;
    bench::verdict found = {};
    const bool ran = bench::run_check(machine, *point, *outputs, session->truth, session->data.buffer.data,
                                      session->mask.buffer.data, scratch, &found);
    *checksum = found.checksum;
    if (!ran) {
        std::snprintf(result->reason, sizeof result->reason, "could not be checked: %s",
                      bench_device_error());
        return false;
    }
    return bench::tell(found, result->reason, sizeof result->reason);
}
