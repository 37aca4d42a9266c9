/* SPDX-License-Identifier: Apache-2.0
 *
 * Selection with the algorithms of the C++ standard library, one row each. */
#ifndef BENCH_ALGORITHMS_HPP
#define BENCH_ALGORITHMS_HPP

#include "baselines/rows.hpp"

#include <algorithm>
#include <functional>

namespace bench {

/* Values alone; the copy that keeps the input intact is part of the work. */
struct nth_value {
    template <typename V, typename I> static void select(const row<V, I> &row) {
        V *copy = static_cast<V *>(row.scratch);
        std::copy(row.input, row.input + row.point.n, copy);
        std::nth_element(copy, copy + (row.point.k - 1), copy + row.point.n, std::greater<V>());
        if (row.point.order == TOPK_ORDER_BEST_FIRST) {
            std::sort(copy, copy + row.point.k, std::greater<V>());
        }
        std::copy(copy, copy + row.point.k, row.values);
    }
};

struct nth_pair {
    template <typename V, typename I> static void select(const row<V, I> &row) {
        pair<V, I> *all = row.load_pairs();
        std::nth_element(all, all + (row.point.k - 1), all + row.point.n, better());
        if (row.point.order == TOPK_ORDER_BEST_FIRST) {
            std::sort(all, all + row.point.k, better());
        }
        row.store_pairs(all);
    }
};

struct partial_sort {
    template <typename V, typename I> static void select(const row<V, I> &row) {
        pair<V, I> *all = row.load_pairs();
        std::partial_sort(all, all + row.point.k, all + row.point.n, better());
        row.store_pairs(all);
    }
};

struct full_sort {
    template <typename V, typename I> static void select(const row<V, I> &row) {
        pair<V, I> *all = row.load_pairs();
        std::sort(all, all + row.point.n, better());
        row.store_pairs(all);
    }
};

/* A heap of the best k so far, the worst of them on top; one pass, no copy of the input. */
struct heap {
    template <typename V, typename I> static void select(const row<V, I> &row) {
        pair<V, I> *begin = row.pairs();
        pair<V, I> *end = begin + row.point.k;
        for (std::int64_t i = 0; i < row.point.k; ++i) {
            begin[i] = {row.input[i], static_cast<I>(i)};
        }
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
        row.store_pairs(begin);
    }
};

} // namespace bench

#endif // BENCH_ALGORITHMS_HPP
