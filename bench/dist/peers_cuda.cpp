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
#ifdef BENCH_HAS_NCCL
#include "dist/groups_nccl.h"
#endif
#include "gpu/device_cuda.h"
#include "measure/statistics.h"
#include "topk_dist_peer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int ranks_most = 8, runs_of_graph = 20, runs_most = 1001, exit_no_device = 77;
constexpr std::int64_t timeout_ms = 20000;

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

[[noreturn]] void stop(const char *what, const char *why) {
    std::fprintf(stderr, "topk-bench-peers: %s: %s\n", what, why);
    std::exit(1);
}

void require(topk_status status, const char *what) {
    if (status != TOPK_OK) {
        stop(what, topk_last_error()[0] != '\0' ? topk_last_error() : topk_dist_last_error());
    }
}

void require(cudaError_t status, const char *what) {
    if (!bench_device_ok(status, what)) {
        stop(what, bench_device_error());
    }
}

/* ---- Memory ---- */

/* Zeroed memory of a device. */
struct device_memory {
    char *data = nullptr;
    std::size_t bytes = 0;

    device_memory(int device, std::size_t wanted) : bytes(wanted) {
        require(cudaSetDevice(device), "a device");
        require(cudaMalloc(&data, bytes + 16), "memory");
        require(cudaMemset(data, 0, bytes + 16), "memory");
        require(cudaDeviceSynchronize(), "memory");
    }
    ~device_memory() {
        (void)cudaFree(data);
    }
    device_memory(const device_memory &) = delete;
    device_memory &operator=(const device_memory &) = delete;
};

using owned = std::unique_ptr<device_memory>;

owned reserve(int device, std::size_t bytes) {
    return owned(new device_memory(device, bytes));
}

template <typename T> std::vector<T> fetch(const device_memory &from, std::size_t count) {
    std::vector<T> to(count);
    require(cudaMemcpy(to.data(), from.data, count * sizeof(T), cudaMemcpyDefault), "a copy");
    return to;
}

/* ---- Ranks ---- */

struct rank {
    int device = 0;
    topk_context *context = nullptr;
    topk_dist_group *group = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t ended = nullptr;
    owned elements, workspace, values, indices, own_values, own_indices, own_k, before;
    topk_dist_plan *plan = nullptr;
    topk_dist_properties properties = TOPK_DIST_PROPERTIES_INIT;
    topk_plan *own_plan = nullptr;
    topk_plan_properties own_properties = TOPK_PLAN_PROPERTIES_INIT;
};

struct bench {
    int ranks;
    bool one_each, by_nccl;
    std::vector<rank> all;
    std::vector<owned> buffers, flags;
    void *buffer_list[ranks_most];
    std::uint64_t *flag_list[ranks_most];
    topk_context *cpu;
    cudaEvent_t begun, done;
};

constexpr std::size_t list_bytes_most = std::size_t(1) << 24;

void reach(int from, int to) {
    if (from != to) {
        require(cudaSetDevice(from), "a device");
        require(cudaDeviceEnablePeerAccess(to, 0), "peer access");
    }
}

void open(bench *b) {
    const std::size_t bytes = topk_peer_buffer_bytes(b->ranks, list_bytes_most);
    b->all.resize(static_cast<std::size_t>(b->ranks));
    for (int r = 0; r < b->ranks; r++) {
        for (int other = 0; other < b->ranks && b->one_each; other++) {
            reach(r, other);
        }
        b->all[static_cast<std::size_t>(r)].device = b->one_each ? r : 0;
    }
    for (int r = 0; r < b->ranks; r++) {
        rank &own = b->all[static_cast<std::size_t>(r)];
        topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
        options.backend = TOPK_BACKEND_CUDA;
        options.device = own.device;
        require(topk_context_create(&options, &own.context), "a context");
        b->buffers.push_back(reserve(own.device, bytes));
        b->flags.push_back(reserve(own.device, TOPK_PEER_FLAG_BYTES));
        b->buffer_list[r] = b->buffers.back()->data;
        b->flag_list[r] = reinterpret_cast<std::uint64_t *>(b->flags.back()->data);
        require(cudaStreamCreateWithFlags(&own.stream, cudaStreamNonBlocking), "a stream");
        require(cudaEventCreateWithFlags(&own.ended, cudaEventDisableTiming), "an event");
    }
#ifdef BENCH_HAS_NCCL
    if (b->by_nccl) {
        if (!bench_nccl_open(b->ranks)) {
            stop("NCCL", "no communicators");
        }
        for (int r = 0; r < b->ranks; r++) {
            rank &own = b->all[static_cast<std::size_t>(r)];
            require(bench_nccl_group(r, own.context, own.stream, &own.group), "a group");
        }
        return;
    }
#endif
    for (int r = 0; r < b->ranks; r++) {
        rank &own = b->all[static_cast<std::size_t>(r)];
        topk_peer_group peer = TOPK_PEER_GROUP_INIT;
        peer.rank = r;
        peer.ranks = b->ranks;
        peer.buffers = b->buffer_list;
        peer.flags = b->flag_list;
        peer.buffer_bytes = bytes;
        peer.timeout_ms = timeout_ms;
        require(topk_dist_group_create_peer(&peer, own.context, own.stream, &own.group), "a group");
    }
}

/* work(rank), by a thread for each rank. */
template <typename Work> void on_ranks(bench *b, Work work) {
    std::vector<std::thread> threads;
    for (rank &own : b->all) {
        threads.emplace_back([&own, &work] {
            require(cudaSetDevice(own.device), "a device");
            work(own);
        });
    }
    for (std::thread &each : threads) {
        each.join();
    }
}

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

template <typename F> cudaGraphExec_t record(const rank &own, F enqueue) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    require(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeThreadLocal), "a capture");
    for (int i = 0; i < runs_of_graph; i++) {
        enqueue();
    }
    require(cudaStreamEndCapture(own.stream, &graph), "a capture");
    require(cudaGraphInstantiate(&executable, graph, 0), "a graph");
    require(cudaGraphDestroy(graph), "a graph");
    require(cudaGraphUpload(executable, own.stream), "a graph");
    require(cudaStreamSynchronize(own.stream), "a graph");
    return executable;
}

/* Microseconds of a run, if all ranks launch their graphs. */
double time_graphs(const bench *b, const std::vector<cudaGraphExec_t> &graphs) {
    const cudaStream_t first = b->all[0].stream;
    float ms = 0;
    require(cudaSetDevice(b->all[0].device), "a device");
    require(cudaEventRecord(b->begun, first), "an event");
    for (std::size_t r = 0; r < graphs.size(); r++) {
        const rank &own = b->all[r];
        require(cudaSetDevice(own.device), "a device");
        require(cudaStreamWaitEvent(own.stream, b->begun, 0), "an event");
        require(cudaGraphLaunch(graphs[r], own.stream), "a launch");
        require(cudaEventRecord(own.ended, own.stream), "an event");
    }
    require(cudaSetDevice(b->all[0].device), "a device");
    for (const rank &own : b->all) {
        require(cudaStreamWaitEvent(first, own.ended, 0), "an event");
    }
    require(cudaEventRecord(b->done, first), "an event");
    require(cudaStreamSynchronize(first), "a run");
    require(cudaEventElapsedTime(&ms, b->begun, b->done), "a time");
    return 1000.0 * static_cast<double>(ms) / runs_of_graph;
}

/* Microseconds of a run, if a thread for each rank enqueues them one behind the other. */
template <typename F> double time_eager(bench *b, F enqueue) {
    std::vector<double> us(b->all.size());
    on_ranks(b, [b, &us, &enqueue](rank &own) {
        const auto begun = std::chrono::steady_clock::now();
        for (int i = 0; i < runs_of_graph; i++) {
            enqueue(own);
        }
        require(cudaStreamSynchronize(own.stream), "a run");
        const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begun;
        us[static_cast<std::size_t>(&own - b->all.data())] = time.count() / runs_of_graph;
    });
    return *std::max_element(us.begin(), us.end());
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

void close(bench *b) {
    for (rank &own : b->all) {
        topk_dist_group_destroy(own.group);
        topk_context_destroy(own.context);
    }
    topk_context_destroy(b->cpu);
}

} // namespace

int main(int argc, char **argv) {
    bench b = {};
    b.one_each = argc > 1 && std::strcmp(argv[1], "each") == 0;
    b.ranks = argc > 2 ? std::atoi(argv[2]) : 2;
    const int runs = argc > 3 ? std::atoi(argv[3]) : 21;
    int devices = 0;
    bool right = true;
    b.by_nccl = argc > 4 && std::strcmp(argv[4], "nccl") == 0;
    if (b.ranks < 1 || b.ranks > ranks_most || runs < 1 || runs > runs_most || (b.by_nccl && !b.one_each)) {
        stop("arguments",
             "[shared | each] [RANKS, 1 to 8] [RUNS, 1 to 1001] [peer | nccl]; nccl with each alone");
    }
#ifndef BENCH_HAS_NCCL
    if (b.by_nccl) {
        std::fprintf(stderr, "topk-bench-peers: built without NCCL\n");
        return exit_no_device;
    }
#endif
    if (topk_backend_status(TOPK_BACKEND_CUDA) != TOPK_OK || cudaGetDeviceCount(&devices) != cudaSuccess ||
        (b.one_each && devices < b.ranks)) {
        std::fprintf(stderr, "topk-bench-peers: there are not as many GPUs\n");
        return exit_no_device;
    }
    require(topk_context_create(nullptr, &b.cpu), "a context");
    open(&b);
    require(cudaSetDevice(0), "a device");
    require(cudaEventCreate(&b.begun), "an event");
    require(cudaEventCreate(&b.done), "an event");
    std::printf(
        "transport,ranks,gpus,rows,n,k,destination,strategy,method,launches,own_us,all_us,more_us,more_eager_"
        "us,check\n");
    for (const shape &s : shapes) {
        right = run(&b, s, runs) && right;
    }
    close(&b);
    return right ? 0 : 1;
}
