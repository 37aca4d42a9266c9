/* SPDX-License-Identifier: Apache-2.0 */
#include "baselines/baselines.h"

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

struct nth_pair {
    template <typename V, typename I> static void select(const row<V, I> &row) {
        pair<V, I> *end = row.load_pairs(row.point.n), *best_end = row.pairs + row.point.k;
        std::nth_element(row.pairs, best_end - 1, end, better());
        if (row.point.order == TOPK_ORDER_BEST_FIRST) {
            std::sort(row.pairs, best_end, better());
        }
        row.store_pairs();
    }
};

struct partial_sort {
    template <typename V, typename I> static void select(const row<V, I> &row) {
        pair<V, I> *end = row.load_pairs(row.point.n);
        std::partial_sort(row.pairs, row.pairs + row.point.k, end, better());
        row.store_pairs();
    }
};

struct full_sort {
    template <typename V, typename I> static void select(const row<V, I> &row) {
        pair<V, I> *end = row.load_pairs(row.point.n);
        std::sort(row.pairs, end, better());
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

/* Every row by an algorithm for one. */
template <typename Algorithm> struct by_rows {
    template <typename V, typename I> static void run(const bench_task &task) {
        const bench_point &point = *task.point;
        const int threads = bench_baseline_threads(&point, task.threads);
        const std::size_t share = bench_baseline_scratch(&point, 1);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (int part = 0; part < threads; ++part) {
            void *scratch = static_cast<char *>(task.scratch) + share * static_cast<std::size_t>(part);
            for (std::int64_t r = point.rows * part / threads; r < point.rows * (part + 1) / threads; ++r) {
                V *values = static_cast<V *>(task.outputs->values);
                I *indices = static_cast<I *>(task.outputs->indices);
                Algorithm::select(row<V, I>{point, static_cast<const V *>(task.input) + r * point.n,
                                            values ? values + r * point.k : nullptr,
                                            indices ? indices + r * point.k : nullptr,
                                            static_cast<pair<V, I> *>(scratch)});
            }
        }
    }
};

/* where: every position is stored, and the next one goes over it unless it is to stay. */
struct loop {
    template <typename V, typename I> static void run(const bench_task &task) {
        const V *input = static_cast<const V *>(task.input);
        const V bound = static_cast<V>(task.bound);
        I *indices = static_cast<I *>(task.outputs->indices);
        std::int64_t count = 0;
        for (std::int64_t r = 0; r < task.point->rows; ++r, input += task.point->n) {
            task.outputs->offsets[r] = count;
            for (std::int64_t i = 0; i < task.point->n && count < task.outputs->capacity; ++i) {
                indices[count] = static_cast<I>(i);
                count += input[i] > bound;
            }
        }
        task.outputs->offsets[task.point->rows] = count;
    }
};

template <typename Baseline, typename V> void run_value(const bench_task *task) {
    return task->point->index_type == TOPK_INDEX_I64 ? Baseline::template run<V, std::int64_t>(*task)
                                                     : Baseline::template run<V, std::int32_t>(*task);
}

template <typename Baseline> void run(const bench_task *task) {
    switch (task->point->type) {
    case TOPK_F64:
        return run_value<Baseline, double>(task);
    case TOPK_I32:
        return run_value<Baseline, std::int32_t>(task);
    case TOPK_I64:
        return run_value<Baseline, std::int64_t>(task);
    default:
        return run_value<Baseline, float>(task);
    }
}

bool can_select(const bench_point *point) {
    const topk_type type = point->type;
    return point->operation == TOPK_OPERATION_SELECT && point->direction == TOPK_LARGEST && point->k >= 1 &&
           point->k <= point->n &&
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

const bench_baseline bench_baselines[] = {
    {"std::nth_element", false, can_select, run<by_rows<nth_value>>},
    {"std::nth_element+index", true, can_select, run<by_rows<nth_pair>>},
    {"std::partial_sort", true, can_small, run<by_rows<partial_sort>>},
    {"std::sort", true, can_select, run<by_rows<full_sort>>},
    {"heap", true, can_small, run<by_rows<heap>>},
    {"loop", true, can_where, run<loop>},
};
const int bench_baseline_count = static_cast<int>(sizeof bench_baselines / sizeof *bench_baselines);

int bench_baseline_threads(const bench_point *point, int threads) {
    const bool by_rows = point->operation == TOPK_OPERATION_SELECT && point->rows > 1;
    return !by_rows ? 1 : point->rows < threads ? static_cast<int>(point->rows) : threads;
}

std::size_t bench_baseline_scratch(const bench_point *point, int threads) {
    const std::size_t pair_bytes = sizeof(pair<std::int64_t, std::int64_t>);
    return static_cast<std::size_t>(threads) * static_cast<std::size_t>(point->n) * pair_bytes;
}
