/* SPDX-License-Identifier: Apache-2.0 */
#include "dist/ranks_cuda.h"

#ifdef BENCH_HAS_NCCL
#include "dist/groups_nccl.h"
#endif
#include "gpu/device_cuda.h"
#include "topk_dist_peer.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ranks {

namespace {

constexpr int runs_most = 1001;
constexpr std::int64_t timeout_ms = 20000;
constexpr std::size_t list_bytes_most = std::size_t(1) << 24, list_slots = std::size_t(1) << 17;

const char *program_name = "";

} // namespace

void stop(const char *what, const char *why) {
    std::fprintf(stderr, "%s: %s: %s\n", program_name, what, why);
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

device_memory::device_memory(int device, std::size_t wanted) : bytes(wanted) {
    require(cudaSetDevice(device), "a device");
    require(cudaMalloc(&data, bytes + 16), "memory");
    require(cudaMemset(data, 0, bytes + 16), "memory");
    require(cudaDeviceSynchronize(), "memory");
}

device_memory::~device_memory() {
    (void)cudaFree(data);
}

owned reserve(int device, std::size_t bytes) {
    return owned(new device_memory(device, bytes));
}

namespace {

void reach(int from, int to) {
    if (from != to) {
        require(cudaSetDevice(from), "a device");
        require(cudaDeviceEnablePeerAccess(to, 0), "peer access");
    }
}

void open_groups(bench *b) {
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
        b->lists.push_back(reserve(own.device, topk_peer_list_bytes(b->ranks, list_slots)));
        b->buffer_list[r] = b->buffers.back()->data;
        b->flag_list[r] = reinterpret_cast<std::uint64_t *>(b->flags.back()->data);
        b->list_list[r] = reinterpret_cast<std::uint64_t *>(b->lists.back()->data);
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
        peer.lists = b->list_list;
        peer.list_bytes = topk_peer_list_bytes(b->ranks, list_slots);
        peer.one_each = b->one_each;
        require(topk_dist_group_create_peer(&peer, own.context, own.stream, &own.group), "a group");
    }
}

} // namespace

int open(bench *b, const char *program, int argc, char **argv) {
    const int runs = argc > 3 ? std::atoi(argv[3]) : 21;
    int devices = 0;
    program_name = program;
    b->one_each = argc > 1 && std::strcmp(argv[1], "each") == 0;
    b->ranks = argc > 2 ? std::atoi(argv[2]) : 2;
    b->by_nccl = argc > 4 && std::strcmp(argv[4], "nccl") == 0;
    if (b->ranks < 1 || b->ranks > ranks_most || runs < 1 || runs > runs_most ||
        (b->by_nccl && !b->one_each)) {
        stop("arguments",
             "[shared | each] [RANKS, 1 to 8] [RUNS, 1 to 1001] [peer | nccl]; nccl with each alone");
    }
#ifndef BENCH_HAS_NCCL
    if (b->by_nccl) {
        std::fprintf(stderr, "%s: built without NCCL\n", program);
        return 0;
    }
#endif
    if (topk_backend_status(TOPK_BACKEND_CUDA) != TOPK_OK || cudaGetDeviceCount(&devices) != cudaSuccess ||
        (b->one_each && devices < b->ranks)) {
        std::fprintf(stderr, "%s: there are not as many GPUs\n", program);
        return 0;
    }
    require(topk_context_create(nullptr, &b->cpu), "a context");
    open_groups(b);
    require(cudaSetDevice(0), "a device");
    require(cudaEventCreate(&b->begun), "an event");
    require(cudaEventCreate(&b->done), "an event");
    return runs;
}

void close(bench *b) {
    for (rank &own : b->all) {
        topk_dist_group_destroy(own.group);
        topk_context_destroy(own.context);
    }
    topk_context_destroy(b->cpu);
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

std::vector<float> make_row(std::int64_t n) {
    std::vector<float> row(static_cast<std::size_t>(n));
    const auto threads = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    std::vector<std::thread> team;
    for (std::int64_t t = 0; t < threads; t++) {
        team.emplace_back([&row, n, t, threads] {
            for (std::int64_t i = n / threads * t, end = t + 1 < threads ? n / threads * (t + 1) : n; i < end;
                 i++) {
                std::uint64_t x = static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15;
                x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
                x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
                row[static_cast<std::size_t>(i)] = static_cast<float>((x ^ (x >> 31)) >> 40) * 0x1p-24f;
            }
        });
    }
    for (std::thread &each : team) {
        each.join();
    }
    return row;
}

} // namespace ranks
