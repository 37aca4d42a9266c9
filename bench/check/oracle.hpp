/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_ORACLE_HPP
#define BENCH_ORACLE_HPP

#include "points/point.h"

#include <cstdint>
#include <vector>

namespace bench {

/* All that decides whether a row's result is right. `taken` elements are the result, of which `better`
 * rank above the key of the last one; of the `equal` ones that have this key those up to the position
 * `last` are taken. */
struct row_truth {
    std::uint64_t key;
    std::int64_t taken, better, equal, last;
};

/* Calls f with an unsigned number of the width of the type. */
template <typename F> auto with_width(topk_type type, F f) {
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

} // namespace bench

struct bench_oracle {
    bench_point point;
    std::vector<bench::row_truth> rows; // select, kth
    double bound;                       // where
    std::int64_t matches;
};

#endif // BENCH_ORACLE_HPP
