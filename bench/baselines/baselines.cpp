/* SPDX-License-Identifier: Apache-2.0 */
#include "baselines/baselines.h"

#include "baselines/algorithms.hpp"

namespace {

constexpr std::int64_t heap_k_max = 10000;

bool can_type(const bench_point *point) {
    return point->type == TOPK_F32 || point->type == TOPK_F64 || point->type == TOPK_I32 ||
           point->type == TOPK_I64;
}

bool can_select(const bench_point *point) {
    return point->operation == TOPK_OPERATION_SELECT && can_type(point) && point->direction == TOPK_LARGEST &&
           point->k >= 1 && point->k <= point->n;
}

/* Heaps lose all sense once they outgrow the caches. */
bool can_small(const bench_point *point) {
    return can_select(point) && point->k <= heap_k_max && point->k <= point->n / 2;
}

bool can_where(const bench_point *point) {
    return point->operation == TOPK_OPERATION_WHERE && (point->type == TOPK_F32 || point->type == TOPK_F64);
}

/* Every position is stored, and the next one goes over it unless it is to stay. */
template <typename V, typename I> void collect_where(const bench_task &task) {
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

void run_where(const bench_task *task) {
    bench::with_types(*task->point, [task](auto value, auto index) {
        collect_where<decltype(value), decltype(index)>(*task);
    });
}

} // namespace

const bench_baseline bench_baselines[] = {
    {"std::nth_element", false, can_select, bench::run_task<bench::nth_value>},
    {"std::nth_element+index", true, can_select, bench::run_task<bench::nth_pair>},
    {"std::partial_sort", true, can_small, bench::run_task<bench::partial_sort>},
    {"std::sort", true, can_select, bench::run_task<bench::full_sort>},
    {"heap", true, can_small, bench::run_task<bench::heap>},
    {"loop", true, can_where, run_where},
};
const int bench_baseline_count = static_cast<int>(sizeof bench_baselines / sizeof *bench_baselines);

int bench_baseline_threads(const bench_point *point, int threads) {
    const bool by_rows = point->operation == TOPK_OPERATION_SELECT && point->rows > 1;
    return !by_rows ? 1 : point->rows < threads ? static_cast<int>(point->rows) : threads;
}

std::size_t bench_baseline_scratch(const bench_point *point, int threads) {
    const std::size_t pair_bytes = sizeof(bench::pair<std::int64_t, std::int64_t>);
    return static_cast<std::size_t>(threads) * static_cast<std::size_t>(point->n) * pair_bytes;
}
