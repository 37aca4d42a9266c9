/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/input_cuda.h"

#include "check/keys.hpp"
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

using counter = unsigned long long; /* what atomics are for */

/* Counts the elements that match; a worker takes every `workers`-th. */
template <typename W> struct count_matches {
    const W *elements;
    std::int64_t count, workers;
    topk_type type;
    bench_truth truth;
    counter *total;

    __device__ void operator()(std::int64_t worker) const {
        counter found = 0;
        for (std::int64_t e = worker; e < count; e += workers) {
            found += bench::matches(truth, type, elements[e], e);
        }
        if (found != 0) {
            atomicAdd(total, found);
        }
    }
};

/* The input of a point, and where counts are made. */
template <typename W> struct counting {
    const W *elements;
    std::int64_t count;
    topk_type type;
    counter *total;
    cudaStream_t stream;

    bool run(const bench_truth &truth, std::int64_t *matches) const {
        constexpr std::int64_t busy = 1 << 18;
        const std::int64_t workers = count < busy ? count : busy;
        const count_matches<W> body = {elements, count, workers, type, truth, total};
        counter found = 0;
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
               return find(truth, counting<W>{static_cast<const W *>(input), point->rows * point->n,
                                              point->type, static_cast<counter *>(scratch->data), stream});
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
