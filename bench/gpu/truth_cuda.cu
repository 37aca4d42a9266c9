/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/truth_cuda.h"

#include "check/keys.hpp"
#include "gpu/launch_cuda.cuh"
#include "gpu/match_cuda.cuh"

#include <limits>

namespace {

using counter = unsigned long long; /* what atomics are for */

/* Counts the elements that pass a test; a worker takes every `workers`-th. */
template <typename W, typename Test> struct count_passing {
    const W *elements;
    std::int64_t count, workers;
    Test test;
    counter *total;

    __device__ void operator()(std::int64_t worker) const {
        counter passing = 0;
        for (std::int64_t i = worker; i < count; i += workers) {
            passing += test(elements[i], i);
        }
        if (passing != 0) {
            atomicAdd(total, passing);
        }
    }
};

template <typename W> struct above_key {
    topk_type type;
    W key;

    __device__ bool operator()(W bits, std::int64_t) const {
        return bench::key_of<W>(type, TOPK_LARGEST, bits) > key;
    }
};

/* The input of a point, and where counts are made. */
template <typename W> struct counting {
    const W *elements;
    std::int64_t count;
    counter *total;
    cudaStream_t stream;

    template <typename Test> bool run(Test test, std::int64_t *passing) const {
        constexpr std::int64_t busy = 1 << 18;
        const std::int64_t workers = count < busy ? count : busy;
        counter found = 0;
        const bool ok =
            bench_device_ok(cudaMemsetAsync(total, 0, sizeof *total, stream), "counting") &&
            bench_for_each(workers, count_passing<W, Test>{elements, count, workers, test, total}, stream) &&
            bench_device_ok(cudaMemcpyAsync(&found, total, sizeof found, cudaMemcpyDeviceToHost, stream),
                            "counting") &&
            bench_device_ok(cudaStreamSynchronize(stream), "counting");
        *passing = static_cast<std::int64_t>(found);
        return ok;
    }
};

/* The least key with at most `wanted` keys above it. */
template <typename W> bool find_key(const counting<W> &input, topk_type type, std::int64_t wanted, W *key) {
    W low = 0, high = static_cast<W>(~W(0));
    while (low < high) {
        const W middle = static_cast<W>(low + (high - low) / 2);
        std::int64_t above = 0;
        if (!input.run(above_key<W>{type, middle}, &above)) {
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

/* What bench::key_of() made a key of; the zero that it made one of both is +0. */
template <typename W> W bits_of_key(topk_type type, W key) {
    if (bench::is_float(type)) {
        return static_cast<W>(key & bench::sign_bit<W>() ? key ^ bench::sign_bit<W>() : ~key);
    }
    return type >= TOPK_I8 && type <= TOPK_I64 ? static_cast<W>(key ^ bench::sign_bit<W>()) : key;
}

template <typename W> topk_bound bound_of(topk_type type, W bits) {
    const long double number = bench::number_of(type, bits);
    topk_bound bound = {};
    if (bench::is_float(type)) {
        bound.type = TOPK_BOUND_F64;
        bound.value.f64 = static_cast<double>(number);
    } else if (type >= TOPK_I8 && type <= TOPK_I64) {
        bound.type = TOPK_BOUND_I64;
        bound.value.i64 = static_cast<std::int64_t>(number);
    } else {
        bound.type = TOPK_BOUND_U64;
        bound.value.u64 = static_cast<std::uint64_t>(number);
    }
    return bound;
}

bench_gpu_rule rule_of(const bench_point *point) {
    const bool by_place = point->operation == TOPK_OPERATION_SELECT_WHERE && bench_has_mask(point);
    return by_place                            ? BENCH_BY_PLACE
           : point->predicate == BENCH_AT_MOST ? BENCH_UP_TO_BOUND
                                               : BENCH_ABOVE_BOUND;
}

template <typename W>
bool find(bench_gpu_truth *truth, const bench_point *point, const void *input, bench_buffer *scratch,
          cudaStream_t stream) {
    const counting<W> counts = {static_cast<const W *>(input), point->rows * point->n,
                                static_cast<counter *>(scratch->data), stream};
    truth->rule = rule_of(point);
    truth->bound = {};
    truth->keep_percent = point->keep_percent;
    const int percent_above =
        truth->rule == BENCH_UP_TO_BOUND ? 100 - point->keep_percent : point->keep_percent;
    if (truth->rule == BENCH_BY_PLACE || percent_above >= 100) {
        truth->bound.value.f64 = -std::numeric_limits<double>::infinity();
    } else {
        W key = 0;
        const std::int64_t wanted =
            counts.count / 100 * percent_above + counts.count % 100 * percent_above / 100;
        if (!find_key(counts, point->type, wanted, &key)) {
            return false;
        }
        truth->bound = bound_of(point->type, bits_of_key(point->type, key));
    }
    return counts.run(bench_match_of(point->type, truth), &truth->matches);
}

/* One byte of a mask: `elements_each` elements, the first in the lowest bit. */
template <typename W> struct make_mask {
    const W *elements;
    std::int64_t count;
    int elements_each;
    bench_match match;
    unsigned char *mask;

    __device__ void operator()(std::int64_t at) const {
        unsigned byte = 0;
        for (int bit = 0; bit < elements_each; ++bit) {
            const std::int64_t i = at * elements_each + bit;
            byte |= i < count && match(elements[i], i) ? 1u << bit : 0;
        }
        mask[at] = static_cast<unsigned char>(byte);
    }
};

/* Calls f with an unsigned number as wide as the elements. */
template <typename F> bool with_width(topk_type type, F f) {
    switch (topk_type_size(type)) {
    case 1:
        return f(std::uint8_t());
    case 2:
        return f(std::uint16_t());
    case 4:
        return f(std::uint32_t());
    default:
        return f(std::uint64_t());
    }
}

} // namespace

bool bench_gpu_truth_find(bench_gpu_truth *truth, const bench_point *point, const void *input,
                          bench_buffer *scratch, cudaStream_t stream) {
    return bench_buffer_make(scratch, sizeof(counter)) && with_width(point->type, [&](auto width) {
               return find<decltype(width)>(truth, point, input, scratch, stream);
           });
}

bool bench_gpu_mask_make(bench_gpu_data *mask, const bench_point *point, bench_predicate kind,
                         const void *input, const bench_gpu_truth *truth, std::size_t cold_bytes,
                         cudaStream_t stream) {
    const std::int64_t count = point->rows * point->n;
    const int elements_each = kind == BENCH_BIT_MASK ? 8 : 1;
    const std::int64_t bytes = (count + elements_each - 1) / elements_each;
    return bench_gpu_data_room(mask, point, static_cast<std::size_t>(bytes), cold_bytes) &&
           with_width(point->type,
                      [&](auto width) {
                          using W = decltype(width);
                          return bench_for_each(bytes,
                                                make_mask<W>{static_cast<const W *>(input), count,
                                                             elements_each,
                                                             bench_match_of(point->type, truth),
                                                             static_cast<unsigned char *>(mask->buffer.data)},
                                                stream);
                      }) &&
           bench_gpu_data_copies(mask, stream);
}
