/* SPDX-License-Identifier: Apache-2.0
 * The nearest of many vectors to each query on a GPU: distances by tensor cores, fused with their selection
 * by a kernel of one's own over topk_device.cuh (neighbours/fused.cuh). Its time is printed beside that of
 * cuBLAS, which writes all distances, and topk_select(), which reads them.
 *
 * usage: neighbours_cuda [--check] [--f16] [VECTORS DIMENSIONS QUERIES K]...
 *
 * Without numbers 10^6 vectors of 128 dimensions and 1000 queries, k = 10 and then 100. Numbers are bfloat16,
 * or half with --f16; at most 128 dimensions. With --check the kernel writes its distances out; a sort on the
 * host selects from them and must find the same, and distances in float64 tell their error.
 *
 * Without a GPU the program exits with 77. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include <cuda_runtime.h>

#include "neighbours/fused.cuh"
#include "neighbours/rival.cuh"

namespace {

enum { SKIPPED = 77, RUNS = 15, BLOCK_QUERIES_MAX = WARPS_MAX * 32 };

struct sizes {
    uint32_t vectors, dimensions, queries, k;
};

uint32_t round_up(uint32_t count, uint32_t to) {
    return (count + to - 1) / to * to;
}

/* ---- Data ---- */

/* Makes vectors of DIMENSIONS. Dimensions from `dimensions` on and vectors from `count` on are 0. */
template <typename Number>
__global__ void fill(Number *to, uint32_t padded, uint32_t count, uint32_t dimensions, uint32_t seed) {
    for (size_t at = blockIdx.x * blockDim.x + threadIdx.x; at < (size_t)padded * DIMENSIONS;
         at += gridDim.x * blockDim.x) {
        const uint32_t vector = (uint32_t)(at / DIMENSIONS), dimension = (uint32_t)(at % DIMENSIONS);
        const uint32_t original = vector % 8 == 7 ? vector - 5 : vector; /* some are the same */
        float sum = -2;
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t x = (original * DIMENSIONS + dimension) * 4 + i + seed;
            x = (x ^ x >> 16) * 0x7feb352du;
            x = (x ^ x >> 15) * 0x846ca68bu;
            sum += (float)(x >> 8) * (1.0f / (1 << 24));
        }
        to[at] = vector < count && dimension < dimensions ? Number(sum * 1.7320508f) : Number(0.0f);
    }
}

/* |b|^2 / 2 of each vector; infinity from vector `count` on. */
template <typename Number>
__global__ void compute_half_norms(const Number *vectors, uint32_t padded, uint32_t count,
                                   float *half_norms) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < padded; i += gridDim.x * blockDim.x) {
        float sum = 0;
        for (uint32_t d = 0; d < DIMENSIONS; d++)
            sum += (float)vectors[(size_t)i * DIMENSIONS + d] * (float)vectors[(size_t)i * DIMENSIONS + d];
        half_norms[i] = i < count ? sum / 2 : __int_as_float(0x7f800000);
    }
}

template <typename Number> struct data {
    struct sizes sizes;
    Number *vectors, *queries;
    float *half_norms;

    explicit data(const struct sizes &of) : sizes(of) {
        const uint32_t rows = round_up(of.vectors, TILE), block = round_up(of.queries, BLOCK_QUERIES_MAX);
        vectors = on_device<Number>((size_t)rows * DIMENSIONS);
        queries = on_device<Number>((size_t)block * DIMENSIONS);
        half_norms = on_device<float>(rows);
        fill<<<1024, 256>>>(vectors, rows, of.vectors, of.dimensions, 0);
        fill<<<1024, 256>>>(queries, block, of.queries, of.dimensions, 0x5bd1e995);
        compute_half_norms<<<1024, 256>>>(vectors, rows, of.vectors, half_norms);
        require(cudaDeviceSynchronize());
    }
    ~data() {
        require(cudaFree(vectors));
        require(cudaFree(queries));
        require(cudaFree(half_norms));
    }
    data(const data &) = delete;
};

/* ---- The fused search ---- */

template <typename Number> using kernel_t = void (*)(neighbours_args<Number>);

/* How the work is divided. */
template <typename Number> struct launch_shape {
    uint32_t groups, warps, stages, blocks, slices, tiles, shared_bytes;
    kernel_t<Number> kernel;

    uint32_t threads() const {
        return 32 * (warps + 1);
    }
    uint32_t block_queries() const {
        return 16 * groups * warps;
    }
};

/* With as many stages as `room` bytes of shared memory hold, if that are two at least. */
template <typename Number, uint32_t GROUPS, bool WRITES>
launch_shape<Number> shape_with(uint32_t warps, uint32_t k, uint32_t room) {
    launch_shape<Number> shape = {
        GROUPS, warps, STAGES_MAX + 1, 0, 0, 0, 0, find_neighbours<Number, GROUPS, WRITES>};
    do {
        topk_device::simt_arena arena = topk_device::simt_measuring_arena();
        shape.stages--;
        (void)carve_neighbours<GROUPS>(arena, warps, shape.stages, k);
        shape.shared_bytes = arena.used_bytes;
    } while (shape.stages > 2 && shape.shared_bytes > room);
    return shape;
}

/* The most queries for a block that shared memory has room for, and that are not too many; then as many
 * slices as the device holds at once. Without a kernel if there is no room for the least block. */
template <typename Number, bool WRITES> launch_shape<Number> shape_of(const sizes &s, uint32_t queries) {
    int sms, room, per_sm;
    require(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    require(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    launch_shape<Number> shape = shape_with<Number, 2, WRITES>(WARPS_MAX, s.k, (uint32_t)room);
    for (uint32_t warps = WARPS_MAX;
         shape.shared_bytes > (uint32_t)room || shape.block_queries() / 2 >= queries; warps /= 2) {
        if (warps == 0)
            break;
        shape = shape_with<Number, 1, WRITES>(warps, s.k, (uint32_t)room);
    }
    if (shape.shared_bytes > (uint32_t)room) {
        shape.kernel = nullptr;
        return shape;
    }
    require(cudaFuncSetAttribute(shape.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 (int)shape.shared_bytes));
    require(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, shape.kernel, (int)shape.threads(),
                                                          shape.shared_bytes));
    const uint32_t tiles = (s.vectors + TILE - 1) / TILE, resident = (uint32_t)(sms * per_sm);
    shape.blocks = (queries + shape.block_queries() - 1) / shape.block_queries();
    const uint32_t slices =
        std::min({std::max(resident / shape.blocks, 1u), (tiles + 3) / 4, (uint32_t)SLICES_MAX});
    shape.tiles = (tiles + slices - 1) / slices;
    shape.slices = (tiles + shape.tiles - 1) / shape.tiles;
    return shape;
}

/* A search for some of the queries, and all that it needs. */
template <typename Number> struct search {
    launch_shape<Number> shape;
    neighbours_args<Number> args;
    float *distances; /* of each query k */
    uint32_t *indices;

    search(const data<Number> &d, const launch_shape<Number> &with, uint32_t first, uint32_t queries,
           float *written)
        : shape(with) {
        const size_t lists = (size_t)queries * shape.slices;
        args = {d.vectors,
                d.half_norms,
                d.queries + (size_t)first * DIMENSIONS,
                d.sizes.vectors,
                queries,
                d.sizes.k,
                shape.tiles,
                shape.stages,
                on_device<unsigned long long>(lists),
                on_device<float>(lists * d.sizes.k),
                on_device<uint32_t>(lists * d.sizes.k),
                on_device<uint32_t>(lists),
                written};
        distances = on_device<float>((size_t)queries * d.sizes.k);
        indices = on_device<uint32_t>((size_t)queries * d.sizes.k);
    }
    ~search() {
        for (void *memory : {(void *)args.told, (void *)args.distances, (void *)args.indices,
                             (void *)args.found, (void *)distances, (void *)indices})
            require(cudaFree(memory));
    }
    search(const search &) = delete;

    void enqueue(cudaStream_t stream) const {
        const uint32_t warps = 4, shared_bytes = topk_device::best_shared_bytes<nearest>(warps, args.k);
        require(cudaMemsetAsync(args.told, 0xff, sizeof *args.told * args.queried * shape.slices, stream));
        shape.kernel<<<dim3(shape.blocks, shape.slices), shape.threads(), shape.shared_bytes, stream>>>(args);
        require(cudaGetLastError());
        join_slices<<<(args.queried + warps - 1) / warps, 32 * warps, shared_bytes, stream>>>(
            args.distances, args.indices, args.found, shape.slices, args.queried, args.k, distances, indices);
        require(cudaGetLastError());
    }
};

/* ---- The check ---- */

/* The largest difference between a distance and the same in float64, as the bits of a double. */
template <typename Number>
__global__ void compare_with_float64(neighbours_args<Number> a, unsigned long long *largest) {
    double worst = 0;
    for (uint32_t vector = blockIdx.x * blockDim.x + threadIdx.x; vector < a.count;
         vector += gridDim.x * blockDim.x) {
        const Number *b = a.vectors + (size_t)vector * DIMENSIONS,
                     *q = a.queries + (size_t)blockIdx.y * DIMENSIONS;
        double exact = 0;
        for (uint32_t d = 0; d < DIMENSIONS; d++)
            exact += (double)(float)b[d] * (0.5 * (double)(float)b[d] - (double)(float)q[d]);
        worst = fmax(worst, fabs(exact - (double)a.written[(size_t)blockIdx.y * a.count + vector]));
    }
    atomicMax(largest, (unsigned long long)__double_as_longlong(worst));
}

/* The k nearest by their distances, by a sort. */
std::vector<uint32_t> sorted_nearest(const float *distances, const sizes &s) {
    std::vector<uint32_t> order(s.vectors);
    std::iota(order.begin(), order.end(), 0);
    const uint32_t k = std::min(s.k, s.vectors);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](uint32_t a, uint32_t b) {
        return distances[a] != distances[b] ? distances[a] < distances[b] : a < b;
    });
    order.resize(k);
    return order;
}

void check_query(const float *written, const sizes &s, uint32_t query, const float *distances,
                 const uint32_t *indices) {
    const std::vector<uint32_t> expected = sorted_nearest(written, s);
    for (size_t rank = 0; rank < expected.size(); rank++)
        if (indices[rank] != expected[rank] || !(distances[rank] == written[expected[rank]])) {
            (void)fprintf(stderr, "neighbours_cuda: query %u, rank %zu: vector %u at %g, not %u at %g\n",
                          query, rank, indices[rank], (double)distances[rank], expected[rank],
                          (double)written[expected[rank]]);
            exit(EXIT_FAILURE);
        }
}

/* The results of the search that writes no distances against what one that does has written. */
template <typename Number>
void check(const data<Number> &d, const search<Number> &found, cudaStream_t stream) {
    const sizes &s = d.sizes;
    const uint32_t chunk = std::min(s.queries, (uint32_t)BLOCK_QUERIES_MAX);
    float *written = on_device<float>((size_t)chunk * s.vectors);
    unsigned long long *largest = on_device<unsigned long long>(1), bits;
    const std::vector<float> distances = to_host(found.distances, (size_t)s.queries * s.k);
    const std::vector<uint32_t> indices = to_host(found.indices, (size_t)s.queries * s.k);
    require(cudaMemset(largest, 0, sizeof *largest));
    for (uint32_t first = 0; first < s.queries; first += chunk) {
        const uint32_t queries = std::min(chunk, s.queries - first);
        const search<Number> part(d, shape_of<Number, true>(s, queries), first, queries, written);
        part.enqueue(stream);
        compare_with_float64<<<dim3(128, queries), 256, 0, stream>>>(part.args, largest);
        require(cudaStreamSynchronize(stream));
        const std::vector<float> all = to_host(written, (size_t)queries * s.vectors);
        for (uint32_t q = 0; q < queries; q++)
            check_query(&all[(size_t)q * s.vectors], s, first + q, &distances[(size_t)(first + q) * s.k],
                        &indices[(size_t)(first + q) * s.k]);
    }
    require(cudaMemcpy(&bits, largest, sizeof bits, cudaMemcpyDeviceToHost));
    double error;
    memcpy(&error, &bits, sizeof error);
    (void)printf("exact for the kernel's distances, which differ from float64 by at most %.3g\n", error);
    require(cudaFree(written));
    require(cudaFree(largest));
}

/* ---- Times ---- */

/* The median of several runs, in milliseconds. All are enqueued at once, so that the device never waits. */
double time_of(const std::function<void()> &enqueue, cudaStream_t stream) {
    std::vector<cudaEvent_t> events(RUNS + 1);
    std::vector<float> milliseconds(RUNS);
    for (cudaEvent_t &event : events)
        require(cudaEventCreate(&event));
    for (int run = 0; run <= RUNS; run++) {
        enqueue(); /* the first is not timed */
        require(cudaEventRecord(events[run], stream));
    }
    require(cudaStreamSynchronize(stream));
    for (int run = 0; run < RUNS; run++)
        require(cudaEventElapsedTime(&milliseconds[run], events[run], events[run + 1]));
    for (cudaEvent_t event : events)
        require(cudaEventDestroy(event));
    std::nth_element(milliseconds.begin(), milliseconds.begin() + RUNS / 2, milliseconds.end());
    return milliseconds[RUNS / 2];
}

template <typename Number>
void measure(const data<Number> &d, const search<Number> &found, cudaStream_t stream) {
    const sizes &s = d.sizes;
    const double fused = time_of([&] { found.enqueue(stream); }, stream);
    const double operations = 2.0 * s.vectors * s.dimensions * s.queries;
    (void)printf("fused %.3f ms, %.0f TFLOP/s; %u blocks of %u queries, %u slices\n", fused,
                 operations / fused * 1e-9, found.shape.blocks, found.shape.block_queries(),
                 found.shape.slices);
    const rival<Number> other(d.vectors, d.half_norms, d.queries, s.vectors, s.queries, s.k);
    if (!other.exists()) {
        (void)printf("no cuBLAS to compare with\n");
        return;
    }
    const double product = time_of([&] { other.enqueue_distances(stream); }, stream);
    const double both = time_of([&] { other.enqueue(stream); }, stream);
    (void)printf("cuBLAS and topk_select %.3f ms, cuBLAS alone %.3f ms: fused is %.2f times as fast\n", both,
                 product, both / fused);
    if (!other.is_alike()) {
        (void)printf("cuBLAS alone takes no |b|^2 / 2 into account\n");
        return;
    }
    const std::vector<uint32_t> mine = to_host(found.indices, (size_t)s.queries * s.k);
    const std::vector<int32_t> others = other.results();
    size_t alike = 0;
    for (size_t i = 0; i < mine.size(); i++)
        alike += (int64_t)mine[i] == others[i];
    (void)printf("%.3f %% of the results are alike; cuBLAS rounds otherwise\n",
                 100.0 * (double)alike / (double)mine.size());
}

template <typename Number> void demonstrate(const sizes &s, bool checks, cudaStream_t stream) {
    (void)printf("%u vectors of %u dimensions, %u queries, k = %u: ", s.vectors, s.dimensions, s.queries,
                 s.k);
    const launch_shape<Number> shape = shape_of<Number, false>(s, s.queries);
    if (shape.kernel == nullptr) {
        (void)printf("this GPU's shared memory has no room for lists of k\n");
        return;
    }
    const data<Number> d(s);
    const search<Number> fused(d, shape, 0, s.queries, nullptr);
    fused.enqueue(stream);
    require(cudaStreamSynchronize(stream));
    if (checks)
        check(d, fused, stream);
    else
        measure(d, fused, stream);
}

} // namespace

int main(int argc, char **argv) {
    int devices = 0, first = 1;
    bool checks = false, is_half = false;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        (void)fprintf(stderr, "skipped: no GPU\n");
        return SKIPPED;
    }
    for (; first < argc && argv[first][0] == '-'; first++) {
        checks |= strcmp(argv[first], "--check") == 0;
        is_half |= strcmp(argv[first], "--f16") == 0;
    }
    std::vector<sizes> all;
    for (int i = first; i + 3 < argc; i += 4)
        all.push_back({(uint32_t)strtoul(argv[i], nullptr, 10), (uint32_t)strtoul(argv[i + 1], nullptr, 10),
                       (uint32_t)strtoul(argv[i + 2], nullptr, 10),
                       (uint32_t)strtoul(argv[i + 3], nullptr, 10)});
    if (first == argc)
        all = {{1000000, 128, 1000, 10}, {1000000, 128, 1000, 100}};
    cudaStream_t stream;
    require(cudaStreamCreate(&stream));
    for (const sizes &s : all) {
        if (s.vectors == 0 || s.dimensions == 0 || s.dimensions > DIMENSIONS || s.queries == 0 || s.k == 0)
            fail("usage: neighbours_cuda [--check] [--f16] [VECTORS DIMENSIONS QUERIES K]...");
        if (is_half)
            demonstrate<__half>(s, checks, stream);
        else
            demonstrate<__nv_bfloat16>(s, checks, stream);
    }
    require(cudaStreamDestroy(stream));
    return EXIT_SUCCESS;
}
