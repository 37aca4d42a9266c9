/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check.h"

#include "check/passes.hpp"
#include "check/truth.hpp"

namespace {

struct host {
    const bench_memory *memory = &bench_host_memory;
    std::int64_t busy = 256;

    template <typename Body> bool for_each(std::int64_t count, Body body) const {
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < count; ++i) {
            body(i);
        }
        return true;
    }
};

} // namespace

bool bench_truth_find(bench_truth *truth, const bench_point *point, const void *input) {
    bench_buffer scratch = {};
    const bool found =
        !bench_has_predicate(point) || bench::find_truth(host(), truth, *point, input, &scratch);
    bench_buffer_free(&scratch);
    return found;
}

bool bench_check(const bench_truth *truth, const bench_point *point, const void *input, const void *mask,
                 const bench_outputs *outputs, char *reason, std::size_t reason_bytes) {
    bench_buffer scratch = {};
    bench::verdict found = {};
    const bool ran = bench::run_check(host(), *point, *outputs, *truth, input, mask, &scratch, &found);
    bench_buffer_free(&scratch);
    if (!ran) {
        std::snprintf(reason, reason_bytes, "out of memory");
    }
    return ran && bench::tell(found, reason, reason_bytes);
}
