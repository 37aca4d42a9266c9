/* SPDX-License-Identifier: Apache-2.0
 *
 * WarpSelect and BlockSelect, which GridSelect's paper compares it with: a warp for each row, or a block of
 * four warps, and each warp keeps the best of a part of the row. Results come best first, equal ones in any
 * order. */
#include "baselines/warp_list_cuda.cuh"
#include "gpu/launch_cuda.cuh"
#include "gpu/rivals_cuda.h"

namespace {

using bench_warp::lanes;

constexpr int warps_of_block = 4;
/* Loads that a lane issues before it looks at the first: one at a time waits for the memory each time. */
constexpr int loads_ahead = 4;
/* From this number of rows on WarpSelect has as many warps in a block as BlockSelect. Fewer rows are spread
 * over all multiprocessors. */
constexpr std::int64_t rows_of_large_blocks = 4096;
/* What takes a second and more is left out: elements of a row for each warp that reads it. */
constexpr std::int64_t elements_of_warp_max = std::int64_t{1} << 28;

struct selection {
    const float *input;
    std::int64_t rows, n;
    int k;
    float *values;
    std::int32_t *indices;
};

/* Thread `thread` of `threads`, which are whole warps, adds its elements of a row. */
template <typename List>
__device__ __forceinline__ void read_row(List &list, const selection &s, std::int64_t row, int thread,
                                         int threads) {
    const float *const elements = s.input + row * s.n;
    for (std::int64_t begin = 0; begin < s.n; begin += threads * loads_ahead) {
        float values[loads_ahead];
#pragma unroll
        for (int a = 0; a < loads_ahead; ++a) {
            const std::int64_t i = begin + a * threads + thread;
            values[a] = i < s.n ? elements[i] : -INFINITY;
        }
        /* One copy of what adding takes: it is long. */
#pragma unroll 1
        for (int a = 0; a < loads_ahead; ++a) {
            list.add(values[0], static_cast<std::int32_t>(begin + a * threads + thread), s.k);
#pragma unroll
            for (int next = 1; next < loads_ahead; ++next) {
                values[next - 1] = values[next];
            }
        }
    }
    list.merge_queues(s.k);
}

template <int Registers, int Queued>
__global__ void __launch_bounds__(warps_of_block *lanes) warp_select(selection s) {
    const int warp = static_cast<int>(threadIdx.x) / lanes, warps = static_cast<int>(blockDim.x) / lanes;
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + warp;
    if (row >= s.rows) {
        return; /* the whole warp */
    }
    bench_warp::list<Registers, Queued> list;
    list.clear();
    read_row(list, s, row, bench_warp::lane(), lanes);
    list.write(s.k, s.values + row * s.k, s.indices + row * s.k);
}

/* The upper half of the warps hands its lists to the lower half, until there is one list. */
template <int Registers, int Queued>
__global__ void __launch_bounds__(warps_of_block *lanes) block_select(selection s) {
    using list_of_warp = bench_warp::list<Registers, Queued>;
    __shared__ float values[warps_of_block / 2][list_of_warp::room];
    __shared__ std::int32_t positions[warps_of_block / 2][list_of_warp::room];
    const std::int64_t row = blockIdx.x;
    const int warp = static_cast<int>(threadIdx.x) / lanes;
    list_of_warp list;
    list.clear();
    read_row(list, s, row, static_cast<int>(threadIdx.x), warps_of_block * lanes);
    for (int half = warps_of_block / 2; half > 0; half /= 2) {
        if (warp >= half && warp < 2 * half) {
            list.write(list_of_warp::room, values[warp - half], positions[warp - half]);
        }
        __syncthreads();
        if (warp < half) {
            list.merge_list(values[warp], positions[warp]);
        }
        __syncthreads();
    }
    if (warp == 0) {
        list.write(s.k, s.values + row * s.k, s.indices + row * s.k);
    }
}

/* The kernels for a k up to k_max. */
struct instance {
    int k_max;
    void (*by_warps)(selection);
    void (*by_blocks)(selection);
};

template <int Registers, int Queued> constexpr instance instance_of() {
    return {Registers * lanes, warp_select<Registers, Queued>, block_select<Registers, Queued>};
}

/* The lengths of the queues are the paper's, for k up to 1024. */
const instance instances[] = {instance_of<1, 2>(), instance_of<2, 3>(),  instance_of<4, 3>(),
                              instance_of<8, 4>(), instance_of<16, 8>(), instance_of<32, 8>(),
                              instance_of<64, 8>()};
constexpr int k_most = 64 * lanes;

const instance &instance_for(std::int64_t k) {
    const instance *found = instances;
    while (found->k_max < k) {
        ++found;
    }
    return *found;
}

template <int WarpsOfRow> bool can(const bench_point *point) {
    return bench_can_select(point) && point->order == TOPK_ORDER_ANY && point->ties == TOPK_TIES_ANY &&
           point->k <= k_most && point->rows <= INT32_MAX && point->n <= WarpsOfRow * elements_of_warp_max;
}

bool run(bench_rival *rival, bool by_warps) {
    const bench_task call(rival);
    const instance &kernels = instance_for(call.k);
    const selection s = {call.input, call.rows, call.n, static_cast<int>(call.k), call.values, call.indices};
    const int warps = by_warps && call.rows < rows_of_large_blocks ? 1 : warps_of_block;
    const std::int64_t blocks = by_warps ? (call.rows + warps - 1) / warps : call.rows;
    rival->threads = warps * lanes;
    return call.scratch == nullptr ||
           bench_launch(by_warps ? kernels.by_warps : kernels.by_blocks, static_cast<unsigned>(blocks),
                        static_cast<unsigned>(warps * lanes), call.stream, s);
}

bool run_warp_select(bench_rival *rival) {
    return run(rival, true);
}

bool run_block_select(bench_rival *rival) {
    return run(rival, false);
}

} // namespace

const bench_rival_kind bench_device_selections[] = {
    {"WarpSelect", can<1>, run_warp_select, BENCH_RIVAL_NUMBERS},
    {"BlockSelect", can<warps_of_block>, run_block_select, BENCH_RIVAL_NUMBERS},
    {},
};
