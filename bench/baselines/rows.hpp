/* SPDX-License-Identifier: Apache-2.0
 *
 * From a task of run-time types to an algorithm for one row of compile-time types. */
#ifndef BENCH_ROWS_HPP
#define BENCH_ROWS_HPP

#include "baselines/baselines.h"

#include <cstdint>

namespace bench {

template <typename V, typename I> struct pair {
    V value;
    I index;
};

/* The order of results: the largest first, of equal ones the earlier. */
struct better {
    template <typename P> bool operator()(const P &a, const P &b) const {
        return a.value > b.value || (a.value == b.value && a.index < b.index);
    }
};

template <typename V, typename I> struct row {
    const bench_point &point;
    const V *input;
    V *values;
    I *indices;
    void *scratch;

    pair<V, I> *pairs() const {
        return static_cast<pair<V, I> *>(scratch);
    }

    /* All elements with their positions. */
    pair<V, I> *load_pairs() const {
        pair<V, I> *all = pairs();
        for (std::int64_t i = 0; i < point.n; ++i) {
            all[i] = {input[i], static_cast<I>(i)};
        }
        return all;
    }

    void store_pairs(const pair<V, I> *best) const {
        for (std::int64_t j = 0; j < point.k; ++j) {
            values[j] = best[j].value;
            indices[j] = best[j].index;
        }
    }
};

template <typename Algorithm, typename V, typename I> void run_rows(const bench_task &task) {
    const bench_point &point = *task.point;
    const int threads = bench_baseline_threads(&point, task.threads);
    const std::size_t share = bench_baseline_scratch(&point, 1);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int part = 0; part < threads; ++part) {
        for (std::int64_t r = point.rows * part / threads; r < point.rows * (part + 1) / threads; ++r) {
            V *values = static_cast<V *>(task.outputs->values);
            I *indices = static_cast<I *>(task.outputs->indices);
            Algorithm::select(
                row<V, I>{point, static_cast<const V *>(task.input) + r * point.n,
                          values ? values + r * point.k : nullptr, indices ? indices + r * point.k : nullptr,
                          static_cast<char *>(task.scratch) + share * static_cast<std::size_t>(part)});
        }
    }
}

/* Calls f with a number of the point's element type, and one of its index type. */
template <typename F> void with_types(const bench_point &point, F f) {
    const auto with_index = [&](auto value) {
        if (point.index_type == TOPK_INDEX_I64) {
            f(value, std::int64_t());
        } else {
            f(value, std::int32_t());
        }
    };
    switch (point.type) {
    case TOPK_F64:
        return with_index(double());
    case TOPK_I32:
        return with_index(std::int32_t());
    case TOPK_I64:
        return with_index(std::int64_t());
    default:
        return with_index(float());
    }
}

template <typename Algorithm> void run_task(const bench_task *task) {
    with_types(*task->point, [task](auto value, auto index) {
        run_rows<Algorithm, decltype(value), decltype(index)>(*task);
    });
}

} // namespace bench

#endif // BENCH_ROWS_HPP
