/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/rivals.h"

#include <algorithm>
#include <cstdint>
#include <functional>

namespace {

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
    pair<V, I> *pairs; /* scratch */

    /* The first `count` elements with their positions; returns their end. */
    pair<V, I> *load_pairs(std::int64_t count) const {
        for (std::int64_t i = 0; i < count; ++i) {
            pairs[i] = {input[i], static_cast<I>(i)};
        }
        return pairs + count;
    }
    void store_pairs() const {
        for (std::int64_t j = 0; j < point.k; ++j) {
            values[j] = pairs[j].value;
            indices[j] = pairs[j].index;
        }
    }
};

/* Values alone; the copy that keeps the input intact is part of the work. */
struct nth_value {
    template <typename V, typename I> static void select(const row<V, I> &row) {
        V *copy = reinterpret_cast<V *>(row.pairs), *best_end = copy + row.point.k;
        std::copy(row.input, row.input + row.point.n, copy);
        std::nth_element(copy, best_end - 1, copy + row.point.n, std::greater<V>());
        if (row.point.order == TOPK_ORDER_BEST_FIRST) {
            std::sort(copy, best_end, std::greater<V>());
        }
        std::copy(copy, best_end, row.values);
    }
};

/* Pairs, by one of the algorithms that put the best to the front. */
enum algorithm { nth_element, partial_sort, full_sort };
template <algorithm How> struct by_pairs {
    template <typename V, typename I> static void select(const row<V, I> &row) {
        pair<V, I> *begin = row.pairs, *end = row.load_pairs(row.point.n), *best_end = begin + row.point.k;
        if (How == nth_element) {
            std::nth_element(begin, best_end - 1, end, better());
            end = row.point.order == TOPK_ORDER_BEST_FIRST ? best_end : begin;
        }
        if (How == partial_sort) {
            std::partial_sort(begin, best_end, end, better());
        } else {
            std::sort(begin, end, better());
        }
        row.store_pairs();
    }
};

/* A heap of the best k so far, the worst of them on top; one pass, no copy of the input. */
struct heap {
    template <typename V, typename I> static void select(const row<V, I> &row) {
        pair<V, I> *begin = row.pairs, *end = row.load_pairs(row.point.k);
        std::make_heap(begin, end, better());
        for (std::int64_t i = row.point.k; i < row.point.n; ++i) {
            /* An equal element that comes later is not better. */
            if (row.input[i] > begin->value) {
                std::pop_heap(begin, end, better());
                end[-1] = {row.input[i], static_cast<I>(i)};
                std::push_heap(begin, end, better());
            }
        }
        std::sort_heap(begin, end, better());
        row.store_pairs();
    }
};

/* Every row by an algorithm for one. Rows are shared out to the threads; a single row is worked on by one, as
 * the standard library does. */
template <typename Algorithm> struct by_rows {
    template <typename V, typename I> static void run(bench_rival &rival) {
        const bench_point &point = *rival.point;
        const int threads = static_cast<int>(std::clamp<std::int64_t>(point.rows, 1, rival.threads));
        const std::size_t share = static_cast<std::size_t>(point.n) * sizeof(pair<V, I>);
        if (rival.scratch.data == nullptr) {
            rival.threads = threads;
            rival.scratch_bytes = static_cast<std::size_t>(threads) * share;
            return;
        }
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (int part = 0; part < threads; ++part) {
            void *scratch = static_cast<char *>(rival.scratch.data) + share * static_cast<std::size_t>(part);
            for (std::int64_t r = point.rows * part / threads; r < point.rows * (part + 1) / threads; ++r) {
                V *values = static_cast<V *>(rival.outputs.values);
                I *indices = static_cast<I *>(rival.outputs.indices);
                Algorithm::select(row<V, I>{point, static_cast<const V *>(rival.input) + r * point.n,
                                            values ? values + r * point.k : nullptr,
                                            indices ? indices + r * point.k : nullptr,
                                            static_cast<pair<V, I> *>(scratch)});
            }
        }
    }
};

/* where: every position is stored, and the next one goes over it unless it is to stay. */
struct loop {
    template <typename V, typename I> static void run(bench_rival &rival) {
        const bench_point &point = *rival.point;
        const V *input = static_cast<const V *>(rival.input);
        const V bound = static_cast<V>(rival.bound);
        I *indices = static_cast<I *>(rival.outputs.indices);
        std::int64_t count = 0;
        rival.threads = 1;
        for (std::int64_t r = 0; r < point.rows && rival.scratch.data != nullptr; ++r, input += point.n) {
            rival.outputs.offsets[r] = count;
            for (std::int64_t i = 0; i < point.n && count < rival.outputs.capacity; ++i) {
                indices[count] = static_cast<I>(i);
                count += input[i] > bound;
            }
        }
        rival.outputs.offsets[point.rows] = count;
    }
};

template <typename Baseline, typename V> void run_value(bench_rival &rival) {
    rival.point->index_type == TOPK_INDEX_I64 ? Baseline::template run<V, std::int64_t>(rival)
                                              : Baseline::template run<V, std::int32_t>(rival);
}

template <typename Baseline> bool run(bench_rival *rival) {
    const topk_type type = rival->point->type;
    type == TOPK_F64   ? run_value<Baseline, double>(*rival)
    : type == TOPK_I32 ? run_value<Baseline, std::int32_t>(*rival)
    : type == TOPK_I64 ? run_value<Baseline, std::int64_t>(*rival)
                       : run_value<Baseline, float>(*rival);
    return true;
}

bool can_select(const bench_point *point) {
    const topk_type type = point->type;
    return point->operation == TOPK_OPERATION_SELECT && point->direction == TOPK_LARGEST && point->k >= 1 &&
           point->k <= point->n && point->order != TOPK_ORDER_BY_POSITION &&
           (type == TOPK_F32 || type == TOPK_F64 || type == TOPK_I32 || type == TOPK_I64);
}

/* Heaps lose all sense once they outgrow the caches. */
bool can_small(const bench_point *point) {
    constexpr std::int64_t heap_k_max = 10000;
    return can_select(point) && point->k <= heap_k_max && point->k <= point->n / 2;
}

bool can_where(const bench_point *point) {
    return point->operation == TOPK_OPERATION_WHERE && (point->type == TOPK_F32 || point->type == TOPK_F64);
}

} // namespace

const bench_rival_kind bench_baselines[] = {
    {"std::nth_element", can_select, run<by_rows<nth_value>>, BENCH_RIVAL_VALUES},
    {"std::nth_element+index", can_select, run<by_rows<by_pairs<nth_element>>>, 0},
    {"std::partial_sort", can_small, run<by_rows<by_pairs<partial_sort>>>, 0},
    {"std::sort", can_select, run<by_rows<by_pairs<full_sort>>>, 0},
    {"heap", can_small, run<by_rows<heap>>, 0},
    {"loop", can_where, run<loop>, 0},
    {},
};
