/* SPDX-License-Identifier: Apache-2.0
 *
 * topk-bench-peers: how long selecting over peer memory (topk_dist_peer.h) or NCCL takes, beyond the
 * selections that ranks make of their own elements. Ranks share one GPU, which NCCL does not let them, or
 * have one each. All ranks run at the same time, in graphs of many runs each; the time is from the first
 * rank's begin to the last one's end, for each run. Eager runs are enqueued by a thread for each rank, one
 * behind the other. Each problem is checked: its results are those of topk_select() on the CPU over the whole
 * rows, bit for bit.
 *
 * usage: topk-bench-peers [shared | each] [RANKS] [RUNS] [peer | nccl]
 *
 * Prints a table of comma-separated values: a line for each problem, device microseconds (medians), the
 * method of a rank's own selection and its launches. */
#include "dist/ranks_cuda.h"
#include "measure/statistics.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>

namespace {

using namespace ranks;

constexpr int exit_no_device = 77;

struct shape {
    std::int64_t rows, n, k; /* n: elements of a row on each rank */
    topk_dist_destination destination;
    topk_dist_strategy strategy;
};

constexpr shape shapes[] = {
    {1, 1 << 17, 1000, TOPK_DIST_EVERYWHERE, TOPK_DIST_AUTO},
    {1, 1 << 20, 32, TOPK_DIST_EVERYWHERE, TOPK_DIST_AUTO},
    {1, 1 << 20, 1000, TOPK_DIST_EVERYWHERE, TOPK_DIST_AUTO},
    {1, 1 << 20, 1000, TOPK_DIST_ROOT, TOPK_DIST_AUTO},
    {1, 1 << 20, 1000, TOPK_DIST_IN_PLACE, TOPK_DIST_GATHER},
    {1, 1 << 20, 1000, TOPK_DIST_IN_PLACE, TOPK_DIST_HISTOGRAM},
    {1, 1 << 24, 1000, TOPK_DIST_EVERYWHERE, TOPK_DIST_AUTO},
    {1, 1 << 24, 10000, TOPK_DIST_EVERYWHERE, TOPK_DIST_AUTO},
    {1, 1 << 24, 100000, TOPK_DIST_EVERYWHERE, TOPK_DIST_AUTO},
    {1, 1 << 24, 1 << 20, TOPK_DIST_IN_PLACE, TOPK_DIST_GATHER},
    {1, 1 << 24, 1 << 20, TOPK_DIST_IN_PLACE, TOPK_DIST_HISTOGRAM},
    {1, 1 << 28, 1000, TOPK_DIST_EVERYWHERE, TOPK_DIST_AUTO},
    {64, 1 << 14, 100, TOPK_DIST_EVERYWHERE, TOPK_DIST_AUTO},
    {64, 1 << 17, 50, TOPK_DIST_EVERYWHERE, TOPK_DIST_AUTO},
    {64, 1 << 17, 2048, TOPK_DIST_OWNER, TOPK_DIST_AUTO},
};
/* ---- A problem ---- */

topk_problem problem_of(const shape &s, int of_rank) {
    topk_problem p = TOPK_PROBLEM_INIT;
    p.type = TOPK_F32;
    p.index_type = TOPK_INDEX_I64;
    p.rows = s.rows;
    p.length_max = p.row_stride = s.n;
    p.k_max = s.k;
    p.index_base = of_rank * s.n;
    return p;
}

/* A method that needs the whole GPU cannot begin beside a rank that waits on it. */
const char *method_for(const bench *b, rank *own, topk_problem p) {
    require(topk_plan_create(own->context, TOPK_OPERATION_SELECT, &p, nullptr, &own->own_plan), "a plan");
    require(topk_plan_query(own->own_plan, &own->own_properties), "a query");
    topk_plan_destroy(own->own_plan);
    return !b->one_each && std::strcmp(own->own_properties.method, "bracket") == 0 ? "air" : nullptr;
}

void make_plans(bench *b, const shape &s) {
    on_ranks(b, [b, &s](rank &own) {
        topk_dist_options options = TOPK_DIST_OPTIONS_INIT;
        topk_problem p = problem_of(s, static_cast<int>(&own - b->all.data()));
        p.method = method_for(b, &own, p);
        options.destination = s.destination;
        options.strategy = s.strategy;
        require(topk_dist_plan_create(own.group, own.context, TOPK_OPERATION_SELECT, &p, &options, &own.plan),
                "a plan of all ranks");
        require(topk_dist_plan_query(own.plan, &own.properties), "a query");
        require(topk_plan_create(own.context, TOPK_OPERATION_SELECT, &p, nullptr, &own.own_plan), "a plan");
        require(topk_plan_query(own.own_plan, &own.own_properties), "a query");
    });
}

void make_memory(bench *b, const shape &s, const std::vector<float> &whole) {
    const std::size_t slots = static_cast<std::size_t>(s.rows * s.k), width = s.n * sizeof(float);
    for (int r = 0; r < b->ranks; r++) {
        rank &own = b->all[static_cast<std::size_t>(r)];
        own.elements = reserve(own.device, static_cast<std::size_t>(s.rows) * width);
        own.workspace =
            reserve(own.device, std::max(own.properties.workspace_bytes, own.own_properties.workspace_bytes));
        own.values = reserve(own.device, slots * sizeof(float));
        own.indices = reserve(own.device, slots * sizeof(std::int64_t));
        own.own_values = reserve(own.device, slots * sizeof(float));
        own.own_indices = reserve(own.device, slots * sizeof(std::int64_t));
        own.own_k = reserve(own.device, static_cast<std::size_t>(s.rows) * sizeof(std::int64_t));
        own.before = reserve(own.device, static_cast<std::size_t>(s.rows) * sizeof(std::int64_t));
        require(cudaMemcpy2D(own.elements->data, width, whole.data() + r * s.n,
                             width * static_cast<std::size_t>(b->ranks), width,
                             static_cast<std::size_t>(s.rows), cudaMemcpyDefault),
                "a copy");
    }
}

void run_own(const rank &own) {
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    input.values = own.elements->data;
    output.values = own.own_values->data;
    output.indices = own.own_indices->data;
    require(
        topk_plan_run(own.own_plan, &input, &output, own.workspace->data, own.workspace->bytes, own.stream),
        "a run");
}

void run_all(const rank &own, topk_dist_destination destination) {
    topk_input input = TOPK_INPUT_INIT;
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    input.values = own.elements->data;
    output.values = own.values->data;
    output.indices = own.indices->data;
    if (destination == TOPK_DIST_IN_PLACE) {
        output.own_k = reinterpret_cast<std::int64_t *>(own.own_k->data);
        output.before = reinterpret_cast<std::int64_t *>(own.before->data);
    }
    require(
        topk_dist_plan_run(own.plan, &input, &output, own.workspace->data, own.workspace->bytes, own.stream),
        "a run of all ranks");
}

/* ---- Checking ---- */

struct results {
    std::vector<float> values;
    std::vector<std::int64_t> indices;
};

results truth(const bench *b, const shape &s, const std::vector<float> &whole, topk_order order) {
    const std::size_t slots = static_cast<std::size_t>(s.rows * s.k);
    topk_problem p = problem_of(s, 0);
    topk_input input = TOPK_INPUT_INIT;
    std::size_t bytes = 0;
    results r = {std::vector<float>(slots), std::vector<std::int64_t>(slots)};
    p.length_max = p.row_stride = s.n * b->ranks;
    p.order = order;
    input.values = whole.data();
    require(topk_workspace_size(b->cpu, TOPK_OPERATION_SELECT, &p, &bytes), "a workspace");
    std::vector<char> workspace(bytes + 1);
    require(
        topk_select(b->cpu, &p, &input, r.values.data(), r.indices.data(), workspace.data(), bytes, nullptr),
        "a selection");
    return r;
}

bool is_right(const bench *b, const shape &s, const results &wanted) {
    if (s.destination == TOPK_DIST_IN_PLACE) { /* the ranks' results, one behind the other, by position */
        results got;
        for (const rank &own : b->all) {
            const auto count = static_cast<std::size_t>(fetch<std::int64_t>(*own.own_k, 1)[0]);
            if (fetch<std::int64_t>(*own.before, 1)[0] != static_cast<std::int64_t>(got.indices.size()) ||
                count > static_cast<std::size_t>(s.k)) {
                return false;
            }
            const auto values = fetch<float>(*own.values, count);
            const auto indices = fetch<std::int64_t>(*own.indices, count);
            got.values.insert(got.values.end(), values.begin(), values.end());
            got.indices.insert(got.indices.end(), indices.begin(), indices.end());
        }
        return got.values == wanted.values && got.indices == wanted.indices;
    }
    for (const rank &own : b->all) {
        const auto first = static_cast<std::size_t>(own.properties.first_row * s.k);
        const auto slots = static_cast<std::size_t>(own.properties.rows * s.k);
        const auto values = fetch<float>(*own.values, slots);
        const auto indices = fetch<std::int64_t>(*own.indices, slots);
        if (!std::equal(values.begin(), values.end(),
                        wanted.values.begin() + static_cast<std::ptrdiff_t>(first)) ||
            !std::equal(indices.begin(), indices.end(),
                        wanted.indices.begin() + static_cast<std::ptrdiff_t>(first))) {
            return false;
        }
    }
    return true;
}

void poison(const bench *b) {
    for (const rank &own : b->all) {
        require(cudaSetDevice(own.device), "a device");
        for (const device_memory *each :
             {own.values.get(), own.indices.get(), own.own_k.get(), own.before.get()}) {
            require(cudaMemset(each->data, 0x5a, each->bytes), "memory");
        }
        require(cudaDeviceSynchronize(), "memory");
    }
}

bool run(bench *b, const shape &s, int runs) {
    const char *const destinations[] = {"everywhere", "root", "owner", "in-place"};
    std::vector<float> whole(static_cast<std::size_t>(s.rows * s.n * b->ranks));
    std::mt19937 random(1);
    std::generate(whole.begin(), whole.end(), [&] { return static_cast<float>(random() >> 8) * 0x1p-24f; });
    make_plans(b, s);
    make_memory(b, s, whole);
    std::vector<cudaGraphExec_t> own_graphs(b->all.size()), all_graphs(b->all.size());
    std::vector<double> own_us, all_us, more_us, eager_us;
    const auto enqueue_own = [](const rank &own) { run_own(own); };
    const auto enqueue_all = [&s](const rank &own) { run_all(own, s.destination); };
    (void)time_eager(b, enqueue_all); /* NCCL connects ranks when it first needs them */
    on_ranks(b, [&](rank &own) {
        const auto r = static_cast<std::size_t>(&own - b->all.data());
        own_graphs[r] = record(own, [&] { run_own(own); });
        all_graphs[r] = record(own, [&] { run_all(own, s.destination); });
    });
    for (int i = 0; i < runs; i++) {
        const double own = time_eager(b, enqueue_own);
        eager_us.push_back(time_eager(b, enqueue_all) - own);
    }
    for (int i = -2; i < runs; i++) { /* the first ones warm up */
        const double own = time_graphs(b, own_graphs);
        if (i + 1 == runs) {
            poison(b);
        }
        const double all = time_graphs(b, all_graphs);
        if (i >= 0) {
            own_us.push_back(own);
            all_us.push_back(all);
            more_us.push_back(all - own);
        }
    }
    const topk_order order =
        s.destination == TOPK_DIST_IN_PLACE ? TOPK_ORDER_BY_POSITION : TOPK_ORDER_BEST_FIRST;
    const bool right = is_right(b, s, truth(b, s, whole, order));
    const rank &first = b->all[0];
    std::printf(
        "%s,%d,%d,%lld,%lld,%lld,%s,%s,%s,%lld,%.2f,%.2f,%.2f,%.2f,%s\n", b->by_nccl ? "nccl" : "peer",
        b->ranks, b->one_each ? b->ranks : 1, static_cast<long long>(s.rows), static_cast<long long>(s.n),
        static_cast<long long>(s.k), destinations[s.destination],
        first.properties.strategy == TOPK_DIST_GATHER ? "gather" : "histogram", first.own_properties.method,
        static_cast<long long>(first.own_properties.launches), bench_quartiles_of(own_us.data(), runs).median,
        bench_quartiles_of(all_us.data(), runs).median, bench_quartiles_of(more_us.data(), runs).median,
        bench_quartiles_of(eager_us.data(), runs).median, right ? "ok" : "FAIL");
    std::fflush(stdout);
    for (std::size_t r = 0; r < b->all.size(); r++) {
        rank &own = b->all[r];
        require(cudaGraphExecDestroy(own_graphs[r]), "a graph");
        require(cudaGraphExecDestroy(all_graphs[r]), "a graph");
        topk_plan_destroy(own.own_plan);
        topk_dist_plan_destroy(own.plan);
    }
    return right;
}

} // namespace

int main(int argc, char **argv) {
    bench b;
    bool right = true;
    const int runs = open(&b, "topk-bench-peers", argc, argv);
    if (runs == 0) {
        return exit_no_device;
    }
    std::printf(
        "transport,ranks,gpus,rows,n,k,destination,strategy,method,launches,own_us,all_us,more_us,more_eager_"
        "us,check\n");
    for (const shape &s : shapes) {
        right = run(&b, s, runs) && right;
    }
    close(&b);
    return right ? 0 : 1;
}
