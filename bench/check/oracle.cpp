/* SPDX-License-Identifier: Apache-2.0 */
#include "check/oracle.hpp"

#include "check/check.h"
#include "check/keys.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <new>

namespace {

template <typename W>
bench::row_truth judge_row(const bench_point &point, const W *row, std::vector<W> &keys) {
    const std::int64_t taken = std::min(point.k, point.n);
    if (taken == 0) {
        return {0, 0, 0, 0, -1};
    }
    for (std::int64_t i = 0; i < point.n; ++i) {
        keys[i] = bench::key_of(point.type, point.direction, row[i]);
    }
    std::nth_element(keys.begin(), keys.begin() + (taken - 1), keys.end(), std::greater<W>());
    const W key = keys[taken - 1];
    bench::row_truth truth = {key, taken, 0, 0, -1};
    truth.better = std::count_if(keys.begin(), keys.end(), [key](W other) { return other > key; });
    for (std::int64_t i = 0; i < point.n; ++i) {
        if (bench::key_of(point.type, point.direction, row[i]) == key &&
            ++truth.equal == taken - truth.better) {
            truth.last = i;
        }
    }
    return truth;
}

template <typename W> void judge_rows(bench_oracle &oracle, const W *input) {
    const bench_point &point = oracle.point;
    std::vector<W> keys(static_cast<std::size_t>(point.n));
    for (std::int64_t row = 0; row < point.rows; ++row) {
        oracle.rows.push_back(judge_row(point, input + row * point.n, keys));
    }
}

/* The bound that about keep_percent of the elements exceed, from a sample. */
template <typename W> double choose_bound(const bench_point &point, const W *input) {
    const std::int64_t elements = point.rows * point.n;
    if (point.keep_percent >= 100 || elements == 0) {
        return -std::numeric_limits<double>::infinity();
    }
    const std::int64_t step = std::max<std::int64_t>(1, point.keep_percent == 0 ? 1 : elements >> 18);
    std::vector<double> sample;
    for (std::int64_t i = 0; i < elements; i += step) {
        sample.push_back(static_cast<double>(bench::number_of(point.type, input[i])));
    }
    const auto place = sample.begin() + static_cast<std::ptrdiff_t>(sample.size()) * point.keep_percent / 100;
    std::nth_element(sample.begin(), place, sample.end(), std::greater<double>());
    return *place;
}

} // namespace

bench_oracle *bench_oracle_make(const bench_point *point, const void *input) try {
    bench_oracle *oracle = new bench_oracle{*point, {}, 0.0, 0};
    bench::with_width(point->type, [&](auto width) {
        using W = decltype(width);
        const W *elements = static_cast<const W *>(input);
        if (point->operation != TOPK_OPERATION_WHERE) {
            judge_rows(*oracle, elements);
            return;
        }
        oracle->bound = choose_bound(*point, elements);
        oracle->matches = std::count_if(elements, elements + point->rows * point->n, [&](W bits) {
            return bench::number_of(point->type, bits) > static_cast<long double>(oracle->bound);
        });
    });
    return oracle;
} catch (const std::bad_alloc &) {
    return nullptr;
}

void bench_oracle_free(bench_oracle *oracle) {
    delete oracle;
}

bool bench_oracle_serves(const bench_oracle *oracle, const bench_point *point) {
    const bench_point &mine = oracle->point;
    const bool where = point->operation == TOPK_OPERATION_WHERE;
    return mine.type == point->type && mine.distribution == point->distribution && mine.rows == point->rows &&
           mine.n == point->n && mine.k == point->k && mine.direction == point->direction &&
           where == (mine.operation == TOPK_OPERATION_WHERE) && mine.keep_percent == point->keep_percent;
}

double bench_oracle_bound(const bench_oracle *oracle) {
    return oracle->bound;
}

std::int64_t bench_oracle_matches(const bench_oracle *oracle) {
    return oracle->matches;
}
