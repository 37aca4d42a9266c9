/* SPDX-License-Identifier: Apache-2.0
 *
 * topk-bench-reload: rows whose elements lie in pinned memory of the host, and come to the GPU piece by piece
 * (TOPK_DIST_PARTS), over peer memory or NCCL; beside copying the same pieces alone. A GPU has room for two
 * pieces and what is kept of them. Ranks share one GPU or have one each, and run at the same time; times are
 * the host's, from the common begin to the last rank's end. `passes` is how often all elements are copied,
 * `transfer_us` what copying them so often takes alone. Each problem is checked: its results are those of the
 * CPU over the whole row, bit for bit.
 *
 * usage: topk-bench-reload [shared | each] [RANKS] [RUNS] [peer | nccl]
 *
 * Prints a table of comma-separated values: a line for each problem, microseconds (medians). */
#include "dist/ranks_cuda.h"
#include "measure/statistics.h"

#include <cstdio>
#include <cstring>

namespace {

using namespace ranks;

constexpr int exit_no_device = 77;
constexpr std::int64_t elements = std::int64_t(1) << 30; /* of the row, on all ranks together */

struct problem {
    topk_operation operation;
    std::int64_t k;
    int pieces; /* of the rank's elements */
};

constexpr problem problems[] = {
    {TOPK_OPERATION_SELECT, 1000, 16},    {TOPK_OPERATION_SELECT, 1000, 4},
    {TOPK_OPERATION_SELECT, 1 << 20, 16}, {TOPK_OPERATION_SELECT, 1 << 20, 4},
    {TOPK_OPERATION_KTH, 1 << 20, 16},
};

/* A rank's elements on the host, and where pieces of them are copied when that alone is timed. */
struct shard {
    float *pinned = nullptr;
    std::int64_t n = 0, piece = 0;
    owned landing[2];
};

topk_problem problem_of(const problem &p, std::int64_t n, std::int64_t base) {
    topk_problem made = TOPK_PROBLEM_INIT;
    made.type = TOPK_F32;
    made.index_type = TOPK_INDEX_I64;
    made.length_max = n;
    made.k_max = p.k;
    made.index_base = base;
    return made;
}

/* ---- The ranks ---- */

std::vector<shard> make_shards(bench *b, const std::vector<float> &whole) {
    std::vector<shard> shards(b->all.size());
    on_ranks(b, [&](rank &own) {
        const auto number = static_cast<std::size_t>(&own - b->all.data());
        shard &s = shards[number];
        s.n = elements / b->ranks;
        const std::size_t bytes = static_cast<std::size_t>(s.n) * sizeof(float);
        require(cudaHostAlloc(reinterpret_cast<void **>(&s.pinned), bytes, cudaHostAllocDefault),
                "pinned memory");
        std::memcpy(s.pinned, whole.data() + number * static_cast<std::size_t>(s.n), bytes);
    });
    return shards;
}

void make_ranks(bench *b, const problem &p, std::vector<shard> &shards) {
    on_ranks(b, [&](rank &own) {
        const std::int64_t number = &own - b->all.data();
        shard &s = shards[static_cast<std::size_t>(number)];
        topk_dist_options options = TOPK_DIST_OPTIONS_INIT;
        const topk_problem made = problem_of(p, s.n, number * s.n);
        s.piece = s.n / p.pieces;
        options.origin = TOPK_DIST_PARTS;
        options.piece = s.piece;
        options.strategy = TOPK_DIST_GATHER;
        require(topk_dist_plan_create(own.group, own.context, p.operation, &made, &options, &own.plan),
                "a plan of all ranks");
        require(topk_dist_plan_query(own.plan, &own.properties), "a query");
        const auto slots = static_cast<std::size_t>(p.k);
        own.workspace = reserve(own.device, own.properties.workspace_bytes);
        own.values = reserve(own.device, slots * sizeof(float));
        own.indices = reserve(own.device, slots * sizeof(std::int64_t));
        own.own_k = reserve(own.device, sizeof(std::int64_t));
        own.before = reserve(own.device, sizeof(std::int64_t));
        for (owned &each : s.landing) {
            each = reserve(own.device, static_cast<std::size_t>(s.piece) * sizeof(float));
        }
    });
}

/* The counts of kth lie where a selection has own_k and before. */
void run_all(const rank &own, const problem &p, const shard &s) {
    topk_input input = TOPK_INPUT_INIT;
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    topk_dist_source source = TOPK_DIST_SOURCE_INIT;
    const topk_dist_part part = {s.pinned, s.n, 0};
    source.length = s.n;
    source.parts = &part;
    source.parts_count = 1;
    output.values = own.values->data;
    if (p.operation == TOPK_OPERATION_KTH) {
        output.better = reinterpret_cast<std::int64_t *>(own.own_k->data);
        output.equal = reinterpret_cast<std::int64_t *>(own.before->data);
    } else {
        output.indices = own.indices->data;
    }
    require(topk_dist_plan_run_source(own.plan, &source, &input, &output, own.workspace->data,
                                      own.workspace->bytes, own.stream),
            "a run of all ranks");
}

void copy_all(const rank &own, const shard &s) {
    for (std::int64_t first = 0; first < s.n; first += s.piece) {
        const auto bytes = static_cast<std::size_t>(std::min(s.piece, s.n - first)) * sizeof(float);
        require(cudaMemcpyAsync(s.landing[first / s.piece % 2]->data, s.pinned + first, bytes,
                                cudaMemcpyDefault, own.stream),
                "a copy");
    }
}

/* Of all ranks at once. */
template <typename F> double time_us(bench *b, int runs, F enqueue) {
    std::vector<double> us;
    for (int i = -1; i < runs; i++) { /* the first one warms up */
        const auto begun = std::chrono::steady_clock::now();
        on_ranks(b, [&](rank &own) {
            enqueue(own);
            require(cudaStreamSynchronize(own.stream), "a run");
        });
        const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begun;
        if (i >= 0) {
            us.push_back(time.count());
        }
    }
    return bench_quartiles_of(us.data(), runs).median;
}

/* ---- Checking ---- */

struct results {
    std::vector<float> values;
    std::vector<std::int64_t> indices;
    std::int64_t better = 0, equal = 0;
};

results truth(const bench *b, const problem &p, const std::vector<float> &whole) {
    const bool is_kth = p.operation == TOPK_OPERATION_KTH;
    const auto slots = static_cast<std::size_t>(is_kth ? 1 : p.k);
    const topk_problem made = problem_of(p, elements, 0);
    results r;
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    std::size_t bytes = 0;
    r.values.resize(slots);
    r.indices.resize(is_kth ? 0 : slots);
    input.values = whole.data();
    output.values = r.values.data();
    output.indices = is_kth ? nullptr : r.indices.data();
    output.better = is_kth ? &r.better : nullptr;
    output.equal = is_kth ? &r.equal : nullptr;
    require(topk_workspace_size(b->cpu, p.operation, &made, &bytes), "a workspace");
    std::vector<char> workspace(bytes + 1);
    require(topk_run(b->cpu, p.operation, &made, &input, &output, workspace.data(), bytes, nullptr), "a run");
    return r;
}

bool is_right(const bench *b, const problem &p, const results &wanted) {
    for (const rank &own : b->all) {
        const bool values = fetch<float>(*own.values, wanted.values.size()) == wanted.values;
        const bool others = p.operation == TOPK_OPERATION_KTH
                                ? fetch<std::int64_t>(*own.own_k, 1)[0] == wanted.better &&
                                      fetch<std::int64_t>(*own.before, 1)[0] == wanted.equal
                                : fetch<std::int64_t>(*own.indices, wanted.indices.size()) == wanted.indices;
        if (!values || !others) {
            return false;
        }
    }
    return true;
}

bool measure(bench *b, const problem &p, std::vector<shard> &shards, const std::vector<float> &whole,
             int runs) {
    const int passes = p.operation == TOPK_OPERATION_KTH ? 3 : 1; /* rounds of a type of 32 bits */
    make_ranks(b, p, shards);
    const auto of = [&](const rank &own) -> const shard & {
        return shards[static_cast<std::size_t>(&own - b->all.data())];
    };
    const double transfer = passes * time_us(b, runs, [&](rank &own) { copy_all(own, of(own)); });
    const double run = time_us(b, runs, [&](rank &own) { run_all(own, p, of(own)); });
    const bool right = is_right(b, p, truth(b, p, whole));
    std::printf("%s,%d,%d,%s,%lld,%lld,%d,%.1f,%d,%.1f,%.1f,%.3f,%s\n", b->by_nccl ? "nccl" : "peer",
                b->ranks, b->one_each ? b->ranks : 1, p.operation == TOPK_OPERATION_KTH ? "kth" : "select",
                static_cast<long long>(elements), static_cast<long long>(p.k), p.pieces,
                static_cast<double>(b->all[0].properties.workspace_bytes) / (1 << 20), passes, transfer, run,
                run / transfer, right ? "ok" : "FAIL");
    std::fflush(stdout);
    for (rank &own : b->all) {
        topk_dist_plan_destroy(own.plan);
    }
    return right;
}

} // namespace

int main(int argc, char **argv) {
    bench b;
    bool right = true;
    const int runs = open(&b, "topk-bench-reload", argc, argv);
    if (runs == 0) {
        return exit_no_device;
    }
    std::printf(
        "transport,ranks,gpus,operation,n,k,pieces,workspace_mib,passes,transfer_us,run_us,ratio,check\n");
    const std::vector<float> row = make_row(elements);
    std::vector<shard> shards = make_shards(&b, row);
    for (const problem &p : problems) {
        right = measure(&b, p, shards, row, runs) && right;
    }
    for (shard &each : shards) {
        require(cudaFreeHost(each.pinned), "pinned memory");
    }
    close(&b);
    return right ? 0 : 1;
}
