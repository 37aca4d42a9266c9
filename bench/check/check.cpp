/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check.h"

#include "check/keys.hpp"
#include "check/oracle.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>

namespace {

constexpr const char *fine = nullptr;

/* The results of one row, as pointers into the outputs. */
template <typename W, typename I> struct row_view {
    const bench_point &point;
    const bench::row_truth &truth;
    const W *input;
    const W *values;
    const I *indices;
};

template <typename W, typename I> const char *check_padding(const row_view<W, I> &row) {
    for (std::int64_t j = row.truth.taken; j < row.point.k; ++j) {
        if (row.indices != nullptr && row.indices[j] != -1) {
            return "index of padding";
        }
        if (row.values != nullptr &&
            row.values[j] != bench::padding_bits<W>(row.point.type, row.point.direction)) {
            return "value of padding";
        }
    }
    return fine;
}

template <typename W, typename I> const char *check_distinct(const row_view<W, I> &row) {
    std::vector<I> sorted(row.indices, row.indices + row.truth.taken);
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() ? fine : "an element twice";
}

template <typename W, typename I> const char *check_members(const row_view<W, I> &row) {
    const bench_point &point = row.point;
    std::int64_t better = 0;
    W previous = 0;
    for (std::int64_t j = 0; j < row.truth.taken; ++j) {
        const std::int64_t i = row.indices[j];
        if (i < 0 || i >= point.n) {
            return "index outside the row";
        }
        if (row.values != nullptr && row.values[j] != row.input[i]) {
            return "value is not that of the index";
        }
        const W key = bench::key_of(point.type, point.direction, row.input[i]);
        if (key < row.truth.key) {
            return "an element that is not among the best";
        }
        if (key == row.truth.key && point.ties == TOPK_TIES_LOWEST_INDEX && i > row.truth.last) {
            return "a tie that lies too late";
        }
        better += key > row.truth.key;
        if (j > 0 && point.order == TOPK_ORDER_BEST_FIRST &&
            (key > previous || (key == previous && i <= row.indices[j - 1]))) {
            return "order";
        }
        previous = key;
    }
    return better == row.truth.better ? fine : "a better element is missing";
}

/* Without indices: the values must be, in any order, those of the best. */
template <typename W, typename I> const char *check_values(const row_view<W, I> &row) {
    const bench_point &point = row.point;
    const auto to_key = [&](W bits) { return bench::key_of(point.type, point.direction, bits); };
    std::vector<W> given(static_cast<std::size_t>(row.truth.taken));
    std::transform(row.values, row.values + row.truth.taken, given.begin(), to_key);
    std::sort(given.begin(), given.end(), std::greater<W>());
    std::vector<W> right;
    for (std::int64_t i = 0; i < point.n; ++i) {
        if (to_key(row.input[i]) > row.truth.key) {
            right.push_back(to_key(row.input[i]));
        }
    }
    std::sort(right.begin(), right.end(), std::greater<W>());
    right.resize(given.size(), static_cast<W>(row.truth.key));
    return given == right ? fine : "values are not those of the best";
}

template <typename W, typename I>
const char *check_select(const bench_oracle &oracle, const bench_point &point, const W *input,
                         const bench_outputs &outputs, std::int64_t r) {
    const W *values = static_cast<const W *>(outputs.values);
    const I *indices = static_cast<const I *>(outputs.indices);
    const row_view<W, I> row = {point, oracle.rows[r], input + r * point.n,
                                values ? values + r * point.k : nullptr,
                                indices ? indices + r * point.k : nullptr};
    const char *wrong = check_padding(row);
    if (wrong == fine && indices == nullptr) {
        return check_values(row);
    }
    if (wrong == fine) {
        wrong = check_members(row);
    }
    /* Strict order has shown already that no element comes twice. */
    return wrong == fine && point.order == TOPK_ORDER_ANY ? check_distinct(row) : wrong;
}

template <typename W>
const char *check_kth(const bench_oracle &oracle, const bench_point &point, const bench_outputs &outputs,
                      std::int64_t r) {
    const W kth = static_cast<const W *>(outputs.kth)[r];
    const bench::row_truth &truth = oracle.rows[r];
    const bool exists = point.k >= 1 && point.k <= point.n;
    if (exists ? bench::key_of(point.type, point.direction, kth) != truth.key
               : kth != bench::padding_bits<W>(point.type, point.direction)) {
        return "the k-th value";
    }
    if (outputs.better != nullptr && outputs.better[r] != (point.k > point.n ? point.n : truth.better)) {
        return "count of better elements";
    }
    if (outputs.equal != nullptr && outputs.equal[r] != (exists ? truth.equal : 0)) {
        return "count of equal elements";
    }
    return fine;
}

template <typename W, typename I>
const char *check_where(const bench_oracle &oracle, const bench_point &point, const W *input,
                        const bench_outputs &outputs, std::int64_t r) {
    const I *indices = static_cast<const I *>(outputs.indices);
    const long double bound = static_cast<long double>(oracle.bound);
    std::int64_t at = outputs.offsets[r];
    if (at < 0 || at > outputs.capacity || (r == 0 && at != 0)) {
        return "offset";
    }
    for (std::int64_t i = 0; i < point.n; ++i) {
        if (bench::number_of(point.type, input[r * point.n + i]) > bound) {
            if (at == outputs.capacity || indices[at] != i) {
                return "index of a match";
            }
            ++at;
        }
    }
    return outputs.offsets[r + 1] == at ? fine : "count of matches";
}

template <typename W, typename I>
const char *check_row(const bench_oracle &oracle, const bench_point &point, const W *input,
                      const bench_outputs &outputs, std::int64_t r) {
    switch (point.operation) {
    case TOPK_OPERATION_SELECT:
        return check_select<W, I>(oracle, point, input, outputs, r);
    case TOPK_OPERATION_KTH:
        return check_kth<W>(oracle, point, outputs, r);
    default:
        return check_where<W, I>(oracle, point, input, outputs, r);
    }
}

} // namespace

bool bench_check(const bench_oracle *oracle, const bench_point *point, const void *input,
                 const bench_outputs *outputs, char *reason, std::size_t reason_bytes) {
    for (std::int64_t r = 0; r < point->rows; ++r) {
        const char *wrong = bench::with_width(point->type, [&](auto width) {
            using W = decltype(width);
            const W *elements = static_cast<const W *>(input);
            return point->index_type == TOPK_INDEX_I64
                       ? check_row<W, std::int64_t>(*oracle, *point, elements, *outputs, r)
                       : check_row<W, std::int32_t>(*oracle, *point, elements, *outputs, r);
        });
        if (wrong != fine) {
            std::snprintf(reason, reason_bytes, "row %lld: %s", static_cast<long long>(r), wrong);
            return false;
        }
    }
    return true;
}
