/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/session_cuda.h"

#include "check/passes.hpp"
#include "gpu/launch_cuda.cuh"

namespace {

template <typename W> struct fill {
    recipe how;
    W *elements;

    __device__ void operator()(std::int64_t i) const {
        elements[i] = static_cast<W>(law_element(&how, i));
    }
};

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

using bench::counter;

constexpr std::int64_t busy = 1 << 18; /* workers that keep a GPU at work */

/* Counts the elements of an input that match; a worker takes every `workers`-th. */
template <typename W> struct counting {
    const W *elements;
    std::int64_t count, workers;
    topk_type type;
    counter *total;
    cudaStream_t stream;
    bench_truth truth;

    __device__ void operator()(std::int64_t worker) const {
        counter found = 0;
        for (std::int64_t e = worker; e < count; e += workers) {
            found += bench::matches(truth, type, elements[e], e);
        }
        bench::add(total, found);
    }
    bool run(const bench_truth &wanted, std::int64_t *matches) const {
        counting body = *this;
        counter found = 0;
        body.truth = wanted;
        const bool ok = bench_device_ok(cudaMemsetAsync(total, 0, sizeof *total, stream), "counting") &&
                        bench_for_each(workers, body, stream) &&
                        bench_device_memory.copy(&found, total, sizeof found);
        *matches = static_cast<std::int64_t>(found);
        return ok;
    }
};

/* The least key with at most `wanted` elements above it. */
template <typename W> bool find_key(const counting<W> &input, std::int64_t wanted, W *key) {
    W low = 0, high = static_cast<W>(~W(0));
    while (low < high) {
        const W middle = static_cast<W>(low + (high - low) / 2);
        bench_truth above_middle = {};
        std::int64_t above = 0;
        above_middle.rule = BENCH_ABOVE_BOUND;
        above_middle.key = middle;
        if (!input.run(above_middle, &above)) {
            return false;
        }
        if (above <= wanted) {
            high = middle;
        } else {
            low = static_cast<W>(middle + 1);
        }
    }
    *key = low;
    return true;
}

template <typename W> bool find(bench_truth *truth, const counting<W> &input) {
    const int percent = bench::percent_above(*truth);
    W key = 0;
    if (percent >= 100) {
        bench::set_no_bound<W>(*truth, input.type);
    } else if (find_key(input, input.count / 100 * percent + input.count % 100 * percent / 100, &key)) {
        bench::set_bound(*truth, input.type, key);
    } else {
        return false;
    }
    return input.run(*truth, &truth->matches);
}

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

bool bench_gpu_data_make(bench_data *data, const bench_point *point, std::uint64_t seed,
                         std::size_t cold_bytes, cudaStream_t stream) {
    const recipe how = bench_recipe_of(point, seed);
    const bool ok =
        bench_data_room(data, &bench_device_memory, point, bench_point_bytes(point), cold_bytes) &&
        bench::with_width(point->type,
                          [&](auto width) {
                              using W = decltype(width);
                              const fill<W> body = {how, static_cast<W *>(data->buffer.data)};
                              return bench_for_each(point->rows * point->n, body, stream);
                          }) &&
        make_copies(data, stream);
    if (!ok) {
        bench_data_free(data);
    }
    return ok;
}

bool bench_gpu_truth_find(bench_truth *truth, const bench_point *point, const void *input,
                          bench_buffer *scratch, cudaStream_t stream) {
    *truth = bench::truth_of(*point);
    return bench_buffer_make(&bench_device_memory, scratch, sizeof(counter)) &&
           bench::with_width(point->type, [&](auto width) {
               using W = decltype(width);
               const std::int64_t count = point->rows * point->n;
               return find(truth, counting<W>{static_cast<const W *>(input),
                                              count,
                                              count < busy ? count : busy,
                                              point->type,
                                              static_cast<counter *>(scratch->data),
                                              stream,
                                              {}});
           });
}

bool bench_gpu_mask_make(bench_data *mask, const bench_point *point, bench_predicate kind, const void *input,
                         const bench_truth *truth, std::size_t cold_bytes, cudaStream_t stream) {
    const std::int64_t count = point->rows * point->n;
    const int elements_each = kind == BENCH_BIT_MASK ? 8 : 1;
    const std::int64_t bytes = (count + elements_each - 1) / elements_each;
    return bench_data_room(mask, &bench_device_memory, point, static_cast<std::size_t>(bytes), cold_bytes) &&
           bench::with_width(point->type,
                             [&](auto width) {
                                 using W = decltype(width);
                                 const make_mask<W> body = {static_cast<const W *>(input),
                                                            count,
                                                            elements_each,
                                                            point->type,
                                                            *truth,
                                                            static_cast<unsigned char *>(mask->buffer.data)};
                                 return bench_for_each(bytes, body, stream);
                             }) &&
           make_copies(mask, stream);
}

bool bench_gpu_check(bench_session *session, const bench_point *point, const bench_outputs *outputs,
                     bench_result *result, std::uint64_t *checksum) {
    const std::size_t bytes = bench::layout(*point).bytes;
    const cudaStream_t stream = static_cast<cudaStream_t>(session->stream);
    bench_buffer *scratch = &static_cast<bench_gpu_state *>(session->state)->scratch;
    bench::verdict found = {};
    const bool ran = bench_buffer_make(&bench_device_memory, scratch, bytes) &&
                     bench_device_ok(cudaMemsetAsync(scratch->data, 0, bytes, stream), "checking") &&
                     bench::run_check(*point, *outputs, session->truth, session->data.buffer.data,
                                      session->mask.buffer.data, scratch->data, busy,
                                      [stream](std::int64_t count, auto body) {
                                          return bench_for_each(count, body, stream);
                                      }) &&
                     bench_device_memory.copy(&found, scratch->data, sizeof found);
    *checksum = found.checksum;
    if (!ran) {
        std::snprintf(result->reason, sizeof result->reason, "could not be checked: %s",
                      bench_device_error());
        return false;
    }
    return bench::tell(found, result->reason, sizeof result->reason);
}
