/* SPDX-License-Identifier: Apache-2.0
 *
 * topk-bench-merge: how long topk_merge() takes on a GPU, beside topk_select() over the same candidates as
 * plain rows, with their indices as payload. Each merge is checked: its values are those of the selection,
 * each candidate comes once with its own value, and results best first are in order.
 *
 * usage: topk-bench-merge [RUNS]
 *
 * Prints a table of comma-separated values: a line for each problem, device microseconds (medians). */
#include "gpu/device_cuda.h"
#include "gpu/timer_cuda.h"
#include "topk_merge.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace {

struct shape {
    std::int64_t lists, rows, length, k;
};

struct variant {
    bool sorted;
    topk_order order;
};

constexpr shape shapes[] = {{8, 64, 2048, 2048},    {16, 1, 10000, 10000}, {2, 1, 2048, 2048},
                            {8, 1, 128, 128},       {8, 4096, 32, 32},     {64, 16, 1000, 1000},
                            {8, 1, 1 << 20, 100000}};
constexpr variant variants[] = {{true, TOPK_ORDER_BEST_FIRST},
                                {false, TOPK_ORDER_ANY},
                                {false, TOPK_ORDER_BEST_FIRST},
                                {false, TOPK_ORDER_BY_POSITION}};

[[noreturn]] void stop(const char *why) {
    std::fprintf(stderr, "topk-bench-merge: %s; %s\n", why, bench_device_error());
    std::exit(1);
}

void require(bool ok, const char *what) {
    if (!ok) {
        stop(what);
    }
}

void require(topk_status status) {
    if (status != TOPK_OK) {
        stop(topk_last_error());
    }
}

template <typename T> struct device_array {
    T *data = nullptr;

    explicit device_array(std::size_t count) {
        require(bench_device_ok(cudaMalloc(&data, count * sizeof(T) + 1), "memory"), "no memory");
    }
    ~device_array() {
        (void)cudaFree(data);
    }
    device_array(const device_array &) = delete;
    device_array &operator=(const device_array &) = delete;
    void put(const std::vector<T> &from) {
        require(bench_device_ok(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyDefault),
                                "a copy"),
                "a copy");
    }
    std::vector<T> get(std::size_t count) const {
        std::vector<T> to(count);
        require(bench_device_ok(cudaMemcpy(to.data(), data, count * sizeof(T), cudaMemcpyDefault), "a copy"),
                "a copy");
        return to;
    }
};

/* All lists of a row side by side. Indices are the places that candidates had before lists were sorted. */
struct candidates {
    std::vector<float> values, by_index;
    std::vector<std::int64_t> indices;
};

candidates make(const shape &s, bool sorted) {
    const std::int64_t of_row = s.lists * s.length, all = of_row * s.rows;
    std::mt19937_64 random(1);
    std::uniform_real_distribution<float> uniform;
    candidates made;
    made.by_index.resize(static_cast<std::size_t>(all));
    std::generate(made.by_index.begin(), made.by_index.end(), [&] { return uniform(random); });
    made.indices.resize(static_cast<std::size_t>(all));
    made.values.resize(static_cast<std::size_t>(all));
    for (std::int64_t begin = 0; begin < all; begin += s.length) {
        const std::int64_t row = begin / of_row * of_row;
        const auto first = made.indices.begin() + begin, end = first + s.length;
        std::iota(first, end, begin - row);
        if (sorted) {
            const float *values = made.by_index.data() + row;
            std::sort(first, end, [values](std::int64_t a, std::int64_t b) {
                return values[a] != values[b] ? values[a] > values[b] : a < b;
            });
        }
        for (std::int64_t i = begin; i < begin + s.length; i++) {
            made.values[static_cast<std::size_t>(i)] =
                made.by_index[static_cast<std::size_t>(row + made.indices[static_cast<std::size_t>(i)])];
        }
    }
    return made;
}

/* A merge, or the selection beside it. */
struct call {
    topk_context *context;
    topk_problem problem;
    topk_input input;
    topk_lists lists;
    bool merges;
    float *values;
    std::int64_t *indices;
    void *workspace;
    std::size_t bytes;
    topk_stream stream;
};

bool enqueue(void *state, std::int64_t) {
    const call *c = static_cast<const call *>(state);
    return (c->merges ? topk_merge(c->context, &c->problem, &c->input, &c->lists, c->values, c->indices,
                                   nullptr, c->workspace, c->bytes, c->stream)
                      : topk_select(c->context, &c->problem, &c->input, c->values, c->indices, c->workspace,
                                    c->bytes, c->stream)) == TOPK_OK;
}

double time_call(bench_timer *timer, call *c, int runs) {
    bench_quartiles us;
    device_array<char> workspace(c->bytes);
    c->workspace = workspace.data;
    c->stream = timer->stream;
    for (int i = 0; i < 3; i++) {
        require(enqueue(c, 0), topk_last_error());
    }
    require(bench_device_ok(cudaStreamSynchronize(timer->stream), "a call"), "a call");
    require(bench_timer_runs(timer, {enqueue, c, false}, runs, &us), topk_last_error());
    return us.median;
}

/* Whether a row's results are `wanted`, in whatever order, each with its own value; and best first, in order.
 */
bool is_right(const shape &s, std::int64_t row, topk_order order, const candidates &made, const float *values,
              const std::int64_t *indices, std::vector<float> wanted) {
    std::vector<float> got(values, values + s.k);
    std::vector<std::int64_t> places(indices, indices + s.k);
    for (std::int64_t i = 0; i < s.k; i++) {
        const std::int64_t index = indices[i];
        if (index < 0 || index >= s.lists * s.length ||
            made.by_index[static_cast<std::size_t>(row * s.lists * s.length + index)] != values[i]) {
            return false;
        }
        const bool follows = i == 0 || order == TOPK_ORDER_ANY ||
                             (order == TOPK_ORDER_BY_POSITION ? indices[i - 1] < index
                              : values[i - 1] != values[i]    ? values[i - 1] > values[i]
                                                              : indices[i - 1] < index);
        if (!follows) {
            return false;
        }
    }
    std::sort(got.begin(), got.end());
    std::sort(wanted.begin(), wanted.end());
    std::sort(places.begin(), places.end());
    return got == wanted && std::adjacent_find(places.begin(), places.end()) == places.end();
}

bool run(topk_context *context, bench_timer *timer, const shape &s, const variant &v, int runs) {
    const candidates made = make(s, v.sorted);
    const std::size_t slots = static_cast<std::size_t>(s.rows * s.k);
    device_array<float> values(made.values.size()), merged(slots), selected(slots);
    device_array<std::int64_t> indices(made.indices.size()), merged_indices(slots), selected_indices(slots);
    values.put(made.values);
    indices.put(made.indices);
    call merge = {context,
                  TOPK_PROBLEM_INIT,
                  TOPK_INPUT_INIT,
                  TOPK_LISTS_INIT,
                  true,
                  merged.data,
                  merged_indices.data,
                  nullptr,
                  0,
                  nullptr};
    merge.problem.type = TOPK_F32;
    merge.problem.index_type = TOPK_INDEX_I64;
    merge.problem.rows = s.rows;
    merge.problem.k_max = s.k;
    merge.problem.order = v.order;
    merge.problem.length_max = s.length;
    merge.problem.row_stride = s.lists * s.length;
    merge.input.values = values.data;
    merge.input.indices = indices.data;
    merge.lists.lists = s.lists;
    merge.lists.list_stride = s.length;
    merge.lists.sorted = v.sorted ? TOPK_SORTED_BEST_FIRST : TOPK_SORTED_NOT;
    call select = merge;
    select.merges = false;
    select.values = selected.data;
    select.indices = selected_indices.data;
    select.problem.length_max = s.lists * s.length;
    require(topk_workspace_size(context, TOPK_OPERATION_MERGE, &merge.problem, &merge.bytes));
    require(topk_workspace_size(context, TOPK_OPERATION_SELECT, &select.problem, &select.bytes));
    const double merge_us = time_call(timer, &merge, runs), select_us = time_call(timer, &select, runs);
    const std::vector<float> got = merged.get(slots), wanted = selected.get(slots);
    const std::vector<std::int64_t> got_indices = merged_indices.get(slots);
    bool right = true;
    for (std::int64_t row = 0; row < s.rows; row++) {
        const std::size_t slot = static_cast<std::size_t>(row * s.k);
        right = right && is_right(s, row, v.order, made, &got[slot], &got_indices[slot],
                                  std::vector<float>(&wanted[slot], &wanted[slot] + s.k));
    }
    const char *const orders[] = {"best", "any", "position"};
    std::printf("%lld,%lld,%lld,%lld,%s,%s,%.2f,%.2f,%.3f,%zu,%s\n", static_cast<long long>(s.lists),
                static_cast<long long>(s.rows), static_cast<long long>(s.length), static_cast<long long>(s.k),
                v.sorted ? "yes" : "no", orders[v.order], merge_us, select_us, merge_us / select_us,
                merge.bytes, right ? "ok" : "FAIL");
    std::fflush(stdout);
    return right;
}

} // namespace

int main(int argc, char **argv) {
    const int runs = argc > 1 ? std::atoi(argv[1]) : 51;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    bench_timer timer = {};
    bool right = true;
    options.backend = TOPK_BACKEND_CUDA;
    if (topk_context_create(&options, &context) != TOPK_OK) {
        std::fprintf(stderr, "topk-bench-merge: %s\n", topk_last_error());
        return 77;
    }
    require(bench_timer_make(&timer), "no timer");
    std::printf("lists,rows,length,k,sorted,order,merge_us,select_us,to_select,workspace_bytes,check\n");
    for (const shape &s : shapes) {
        for (const variant &v : variants) {
            right = run(context, &timer, s, v, runs) && right;
        }
    }
    bench_timer_free(&timer);
    topk_context_destroy(context);
    return right ? 0 : 1;
}
