/* SPDX-License-Identifier: Apache-2.0
 *
 * topk-bench-peers-long: rows of 2^31 and 2^32 elements on several GPUs, over peer memory (topk_dist_peer.h)
 * or NCCL, beside one GPU that has the whole row, and beside a plain read of a rank's elements. Times are
 * taken as topk-bench-peers takes them, in graphs. Each problem is checked: its results are those of the CPU
 * over the whole row, bit for bit.
 *
 * usage: topk-bench-peers-long [shared | each] [RANKS] [RUNS] [peer | nccl]
 *
 * Prints a table of comma-separated values: a line for each problem, device microseconds (medians). */
#include "dist/ranks_cuda.h"
#include "gpu/session_cuda.h"
#include "measure/statistics.h"

#include <cstdio>
#include <cstring>

namespace {

using namespace ranks;

constexpr int exit_no_device = 77;

struct problem {
    topk_operation operation;
    std::int64_t whole; /* elements of the row, on all ranks together */
    std::int64_t k;
    topk_dist_destination destination; /* of a selection */
};

constexpr problem problems[] = {
    {TOPK_OPERATION_SELECT, std::int64_t(1) << 32, 1000, TOPK_DIST_EVERYWHERE},
    {TOPK_OPERATION_SELECT, std::int64_t(1) << 31, 1 << 26, TOPK_DIST_IN_PLACE},
    {TOPK_OPERATION_KTH, std::int64_t(1) << 32, std::int64_t(1) << 31, TOPK_DIST_EVERYWHERE},
};

topk_problem problem_of(const problem &p, std::int64_t n, std::int64_t base) {
    topk_problem made = TOPK_PROBLEM_INIT;
    made.type = TOPK_F32;
    made.index_type = TOPK_INDEX_I64;
    made.length_max = made.row_stride = n;
    made.k_max = p.k;
    made.index_base = base;
    made.order = p.destination == TOPK_DIST_IN_PLACE ? TOPK_ORDER_BY_POSITION : TOPK_ORDER_BEST_FIRST;
    return made;
}

/* One plan of the core, with memory for its workspace and outputs. */
struct single {
    topk_plan *plan = nullptr;
    topk_plan_properties properties = TOPK_PLAN_PROPERTIES_INIT;
    owned workspace, values, indices, better, equal;

    single(int device, topk_context *context, const problem &p, std::int64_t n) {
        topk_problem made = problem_of(p, n, 0);
        made.k_max = std::min(p.k, n);
        require(topk_plan_create(context, p.operation, &made, nullptr, &plan), "a plan");
        require(topk_plan_query(plan, &properties), "a query");
        workspace = reserve(device, properties.workspace_bytes);
        values = reserve(device, static_cast<std::size_t>(made.k_max) * sizeof(float));
        indices = reserve(device, static_cast<std::size_t>(made.k_max) * sizeof(std::int64_t));
        better = reserve(device, sizeof(std::int64_t));
        equal = reserve(device, sizeof(std::int64_t));
    }
    ~single() {
        topk_plan_destroy(plan);
    }
    single(const single &) = delete;
    single &operator=(const single &) = delete;

    void run(topk_operation operation, const void *elements, topk_stream stream) const {
        topk_input input = TOPK_INPUT_INIT;
        topk_output output = TOPK_OUTPUT_INIT;
        input.values = elements;
        output.values = values->data;
        if (operation == TOPK_OPERATION_KTH) {
            output.better = reinterpret_cast<std::int64_t *>(better->data);
            output.equal = reinterpret_cast<std::int64_t *>(equal->data);
        } else {
            output.indices = indices->data;
        }
        require(topk_plan_run(plan, &input, &output, workspace->data, workspace->bytes, stream), "a run");
    }
};

/* ---- The ranks ---- */

void make_ranks(bench *b, const problem &p, const std::vector<float> &whole) {
    const std::int64_t n = p.whole / b->ranks;
    on_ranks(b, [b, &p, &whole, n](rank &own) {
        const std::int64_t number = &own - b->all.data();
        topk_dist_options options = TOPK_DIST_OPTIONS_INIT;
        topk_problem made = problem_of(p, n, number * n);
        made.order = TOPK_ORDER_BEST_FIRST;
        options.destination = p.destination;
        require(topk_dist_plan_create(own.group, own.context, p.operation, &made, &options, &own.plan),
                "a plan of all ranks");
        require(topk_dist_plan_query(own.plan, &own.properties), "a query");
        const auto slots = static_cast<std::size_t>(std::max<std::int64_t>(own.properties.pitch, 1));
        own.elements = reserve(own.device, static_cast<std::size_t>(n) * sizeof(float));
        own.workspace = reserve(own.device, own.properties.workspace_bytes);
        own.values = reserve(own.device, slots * sizeof(float));
        own.indices = reserve(own.device, slots * sizeof(std::int64_t));
        own.own_k = reserve(own.device, sizeof(std::int64_t));
        own.before = reserve(own.device, sizeof(std::int64_t));
        require(
            cudaMemcpy(own.elements->data, whole.data() + number * n, own.elements->bytes, cudaMemcpyDefault),
            "a copy");
    });
}

/* The counts of kth lie where a selection has own_k and before. */
void run_all(const rank &own, const problem &p) {
    topk_input input = TOPK_INPUT_INIT;
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    const auto first = reinterpret_cast<std::int64_t *>(own.own_k->data);
    const auto second = reinterpret_cast<std::int64_t *>(own.before->data);
    input.values = own.elements->data;
    output.values = own.values->data;
    if (p.operation == TOPK_OPERATION_KTH) {
        output.better = first;
        output.equal = second;
    } else {
        output.indices = own.indices->data;
        if (p.destination == TOPK_DIST_IN_PLACE) {
            output.own_k = first;
            output.before = second;
        }
    }
    require(
        topk_dist_plan_run(own.plan, &input, &output, own.workspace->data, own.workspace->bytes, own.stream),
        "a run of all ranks");
}

double median_us(const bench *b, const std::vector<cudaGraphExec_t> &graphs, int runs) {
    std::vector<double> us;
    for (int i = -2; i < runs; i++) { /* the first ones warm up */
        const double each = time_graphs(b, graphs);
        if (i >= 0) {
            us.push_back(each);
        }
    }
    return bench_quartiles_of(us.data(), runs).median;
}

void end_graphs(const std::vector<cudaGraphExec_t> &graphs) {
    for (const cudaGraphExec_t &each : graphs) {
        require(cudaGraphExecDestroy(each), "a graph");
    }
}

double all_us(bench *b, const problem &p, int runs) {
    std::vector<cudaGraphExec_t> graphs(b->all.size());
    on_ranks(b, [&p](rank &own) { /* NCCL connects ranks when it first needs them */
                                  run_all(own, p);
                                  require(cudaStreamSynchronize(own.stream), "a run");
    });
    on_ranks(b, [&](rank &own) {
        graphs[static_cast<std::size_t>(&own - b->all.data())] = record(own, [&] { run_all(own, p); });
    });
    const double us = median_us(b, graphs, runs);
    end_graphs(graphs);
    return us;
}

/* Of the first rank's GPU alone, over `n` elements that lie on it. */
double single_us(const bench *b, const problem &p, const void *elements, std::int64_t n, int runs) {
    const rank &first = b->all[0];
    require(cudaSetDevice(first.device), "a device");
    const single one(first.device, first.context, p, n);
    one.run(p.operation, elements, first.stream);
    require(cudaStreamSynchronize(first.stream), "a run");
    const std::vector<cudaGraphExec_t> graphs = {
        record(first, [&] { one.run(p.operation, elements, first.stream); })};
    const double us = median_us(b, graphs, runs);
    end_graphs(graphs);
    return us;
}

/* The fastest plain read of the first rank's elements. */
double read_us(const rank &first, int runs) {
    bench_gpu_state state = {};
    bench_data subject = {};
    cudaDeviceProp device;
    subject.buffer.data = first.elements->data;
    subject.bytes = first.elements->bytes;
    subject.copies = 1;
    state.subject = &subject;
    require(cudaSetDevice(first.device), "a device");
    require(cudaGetDeviceProperties(&device, first.device), "a device");
    state.sms = device.multiProcessorCount;
    if (!bench_timer_make(&state.timer) || !bench_gpu_read_measure(&state, runs)) {
        stop("a read", "not measured");
    }
    bench_buffer_free(&state.scratch);
    bench_timer_free(&state.timer);
    return state.read_us.median;
}

/* ---- Checking ---- */

/* What ranks have in place, one behind the other, or one rank's results; compared with the CPU's. */
bool is_right(const bench *b, const problem &p, const std::vector<float> &whole) {
    const bool is_kth = p.operation == TOPK_OPERATION_KTH, in_place = p.destination == TOPK_DIST_IN_PLACE;
    const auto slots = static_cast<std::size_t>(is_kth ? 1 : p.k);
    const topk_problem made = problem_of(p, p.whole, 0);
    std::vector<float> values(slots), got_values;
    std::vector<std::int64_t> indices(slots), got_indices;
    std::int64_t better = 0, equal = 0;
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    std::size_t bytes = 0;
    input.values = whole.data();
    output.values = values.data();
    if (is_kth) {
        output.better = &better;
        output.equal = &equal;
    } else {
        output.indices = indices.data();
    }
    require(topk_workspace_size(b->cpu, p.operation, &made, &bytes), "a workspace");
    std::vector<char> workspace(bytes + 1);
    topk_plan *plan = nullptr;
    require(topk_plan_create(b->cpu, p.operation, &made, nullptr, &plan), "a plan");
    require(topk_plan_run(plan, &input, &output, workspace.data(), bytes, nullptr), "a run");
    topk_plan_destroy(plan);
    for (const rank &own : b->all) {
        const std::int64_t first = fetch<std::int64_t>(*own.own_k, 1)[0];
        const std::int64_t second = fetch<std::int64_t>(*own.before, 1)[0];
        const auto count = in_place ? static_cast<std::size_t>(first) : slots;
        const bool counts =
            !in_place || (second == static_cast<std::int64_t>(got_values.size()) && count <= slots);
        if (!counts || (is_kth && (first != better || second != equal))) {
            return false;
        }
        if (!in_place) {
            got_values.clear();
            got_indices.clear();
        }
        const auto more = fetch<float>(*own.values, count);
        got_values.insert(got_values.end(), more.begin(), more.end());
        if (!is_kth) {
            const auto positions = fetch<std::int64_t>(*own.indices, count);
            got_indices.insert(got_indices.end(), positions.begin(), positions.end());
        }
        if (!in_place && (got_values != values || (!is_kth && got_indices != indices))) {
            return false;
        }
    }
    return got_values == values && (is_kth || got_indices == indices);
}

bool measure(bench *b, const problem &p, const std::vector<float> &row, int runs) {
    const char *const destinations[] = {"everywhere", "root", "owner", "in-place"};
    const std::int64_t n = p.whole / b->ranks;
    make_ranks(b, p, row);
    const double read = read_us(b->all[0], 11), all = all_us(b, p, runs);
    const bool right = is_right(b, p, row);
    const double own = single_us(b, p, b->all[0].elements->data, n, runs);
    double one = 0;
    {
        const owned whole = reserve(b->all[0].device, static_cast<std::size_t>(p.whole) * sizeof(float));
        require(cudaMemcpy(whole->data, row.data(), whole->bytes, cudaMemcpyDefault), "a copy");
        one = single_us(b, p, whole->data, p.whole, runs);
    }
    std::printf("%s,%d,%d,%s,%lld,%lld,%s,%s,%.1f,%.1f,%.1f,%.1f,%.3f,%.3f,%s\n",
                b->by_nccl ? "nccl" : "peer", b->ranks, b->one_each ? b->ranks : 1,
                p.operation == TOPK_OPERATION_KTH ? "kth" : "select", static_cast<long long>(p.whole),
                static_cast<long long>(p.k), destinations[p.destination],
                b->all[0].properties.strategy == TOPK_DIST_GATHER ? "gather" : "histogram", read, own, one,
                all, all / read, one / all, right ? "ok" : "FAIL");
    std::fflush(stdout);
    for (rank &own_rank : b->all) {
        topk_dist_plan_destroy(own_rank.plan);
    }
    return right;
}

} // namespace

int main(int argc, char **argv) {
    bench b;
    bool right = true;
    const int runs = open(&b, "topk-bench-peers-long", argc, argv);
    if (runs == 0) {
        return exit_no_device;
    }
    std::printf(
        "transport,ranks,gpus,operation,n,k,destination,strategy,read_us,own_us,one_us,all_us,to_read,"
        "to_one,check\n");
    const std::vector<float> row = make_row(std::int64_t(1) << 32);
    for (const problem &p : problems) {
        right = measure(&b, p, row, runs) && right;
    }
    close(&b);
    return right ? 0 : 1;
}
