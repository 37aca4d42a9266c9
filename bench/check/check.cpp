/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check.h"

#include "check/passes.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <new>
#include <vector>

namespace {

/* Makes the element that the right share of all exceeds the bound, by a sample. */
template <typename W> void choose_bound(bench_truth &truth, const bench_point &point, const W *input) {
    const std::int64_t elements = point.rows * point.n, percent = bench::percent_above(truth);
    const std::int64_t step = std::max<std::int64_t>(1, percent == 0 ? 1 : elements >> 18);
    std::vector<W> sample;
    for (std::int64_t e = 0; e < elements && percent < 100; e += step) {
        if (!bench::is_nan(point.type, input[e])) {
            sample.push_back(bench::ascending_key(point.type, input[e]));
        }
    }
    if (sample.empty()) {
        return bench::set_no_bound<W>(truth, point.type);
    }
    const auto chosen = sample.begin() + static_cast<std::ptrdiff_t>(sample.size()) * percent / 100;
    std::nth_element(sample.begin(), chosen, sample.end(), std::greater<W>());
    bench::set_bound(truth, point.type, *chosen);
}

template <typename Body> bool for_each(std::int64_t count, Body body) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
        body(i);
    }
    return true;
}

} // namespace

bool bench_truth_find(bench_truth *truth, const bench_point *point, const void *input) try {
    const std::int64_t elements = bench_has_predicate(point) ? point->rows * point->n : 0;
    *truth = bench::truth_of(*point);
    bench::with_width(point->type, [&](auto width) {
        using W = decltype(width);
        const W *const in = static_cast<const W *>(input);
        choose_bound(*truth, *point, in);
        for (std::int64_t e = 0; e < elements; ++e) {
            truth->matches += bench::matches(*truth, point->type, in[e], e);
        }
    });
    return true;
} catch (const std::bad_alloc &) {
    return false;
}

bool bench_check(const bench_truth *truth, const bench_point *point, const void *input, const void *mask,
                 const bench_outputs *outputs, char *reason, std::size_t reason_bytes) {
    constexpr std::int64_t busy = 256;
    void *const memory = std::calloc(1, bench::layout(*point).bytes);
    if (memory == nullptr) {
        std::snprintf(reason, reason_bytes, "out of memory");
        return false;
    }
    bench::run_check(*point, *outputs, *truth, input, mask, memory, busy,
                     [](std::int64_t count, auto body) { return for_each(count, body); });
    const bool right = bench::tell(*static_cast<const bench::verdict *>(memory), reason, reason_bytes);
    std::free(memory);
    return right;
}
