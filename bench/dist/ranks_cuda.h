/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks of one process that are GPUs, or share one: their memory, groups and plans, and how long they run.
 * Everything that fails ends the program. */
#ifndef BENCH_DIST_RANKS_CUDA_H
#define BENCH_DIST_RANKS_CUDA_H

#include "topk_dist.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>
#include <memory>
#include <thread>
#include <vector>

namespace ranks {

constexpr int ranks_most = 8, runs_of_graph = 20;

[[noreturn]] void stop(const char *what, const char *why);
void require(topk_status status, const char *what);
void require(cudaError_t status, const char *what);

/* Zeroed memory of a device. */
struct device_memory {
    char *data = nullptr;
    std::size_t bytes = 0;

    device_memory(int device, std::size_t wanted);
    ~device_memory();
    device_memory(const device_memory &) = delete;
    device_memory &operator=(const device_memory &) = delete;
};

using owned = std::unique_ptr<device_memory>;

owned reserve(int device, std::size_t bytes);

template <typename T> std::vector<T> fetch(const device_memory &from, std::size_t count) {
    std::vector<T> to(count);
    require(cudaMemcpy(to.data(), from.data, count * sizeof(T), cudaMemcpyDefault), "a copy");
    return to;
}

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
    int ranks = 0;
    bool one_each = false, by_nccl = false;
    std::vector<rank> all;
    std::vector<owned> buffers, flags, lists;
    void *buffer_list[ranks_most] = {};
    std::uint64_t *flag_list[ranks_most] = {}, *list_list[ranks_most] = {};
    topk_context *cpu = nullptr;
    cudaEvent_t begun = nullptr, done = nullptr;
};

/* Reads [shared | each] [RANKS] [RUNS] [peer | nccl], and opens contexts, streams and groups of the ranks.
 * Gives runs, or 0 where there are not as many GPUs, or no NCCL. */
int open(bench *b, const char *program, int argc, char **argv);
void close(bench *b);

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
/* A graph of runs_of_graph times what enqueue() puts on the rank's stream. */
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
/* A row of float32 in [0, 1), by all threads of the host. */
std::vector<float> make_row(std::int64_t n);

/* Microseconds of a run, if all ranks launch their graphs: from the first one's begin to the last one's end.
 */
double time_graphs(const bench *b, const std::vector<cudaGraphExec_t> &graphs);

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

} // namespace ranks

#endif /* BENCH_DIST_RANKS_CUDA_H */
