/* SPDX-License-Identifier: Apache-2.0
 * The only door to the hardware for kernels. A kernel is written once, over the names below, and compiled
 * either by nvcc for a GPU or by a C++17 compiler against an emulation that implements the same names
 * (found on the include path as simt_emulation.h).
 *
 *   TOPK_KERNEL void count(struct count_args args)          one struct by value; templates are allowed
 *   TOPK_KERNEL TOPK_BOUNDS(512, 2) void count(...)         at most 512 threads, at least 2 blocks per SM
 *   TOPK_DEVICE uint32_t helper(...)                        inlined into kernels; TOPK_MEMBER in structs,
 *                                                           TOPK_LAMBDA behind the parameters of a lambda
 *   TOPK_NOINLINE void rare(const struct count_args &)      a function of its own. A kernel that calls it
 *                                                           declares its argument TOPK_CONSTANT_ARGS
 *
 * Blocks are one-dimensional, of whole warps; grids have two dimensions, the second for rows of a batch.
 *
 *   coordinates      simt_thread .. simt_threads, simt_lane, simt_warp .. simt_warps,
 *                    simt_block .. simt_blocks, simt_block_y .. simt_blocks_y        simt/thread.cuh
 *   block barrier    simt_block_sync, simt_block_count                               simt/thread.cuh
 *   warp             simt_warp_sync, simt_shuffle{,_up,_down,_xor}, simt_add_lane_before, simt_ballot,
 *                    simt_ballot_alike, simt_any, simt_all, simt_match_any, simt_reduce_{add,min,max} on
 *                    uint32_t and uint64_t, simt_reduce_or on uint32_t               simt/warp.cuh
 *   bits             simt_popc, simt_clz, simt_ffs on uint32_t and uint64_t          simt/bits.cuh
 *   floats           simt_float_of_bits, simt_bits_of_float, simt_float_{add,multiply,min,max,magnitude}; of
 *                    float32 alone simt_float_{of_half,divide,max_or_nan,exp2_near,reciprocal_near}
 *                                                                                    simt/float.cuh
 *   comparisons      simt_count_from, simt_unknown_one, simt_tally<T>,
 *                    simt_min_of_sum, simt_min_of_sums16                             simt/compare.cuh
 *   atomics          simt_atomic_{add,min,max,or} on uint32_t and uint64_t, relaxed, in shared or
 *                    global memory; simt_{load,store}_relaxed                        simt/atomic.cuh
 *   order            simt_fence_device, simt_load_acquire, simt_store_release,
 *                    simt_atomic_ticket                                              simt/atomic.cuh
 *   global memory    simt_load16{,_read_only}, simt_load_read_only, simt_store16,
 *                    simt_in_register, simt_global, simt_read_ahead                 simt/memory.cuh
 *   shared memory    simt_arena, simt_carve, simt_shared<T>, simt_shared_part,
 *                    simt_shared_as, simt_appender, simt_append_at                   simt/shared.cuh
 *   bulk copies      simt_mbarrier, simt_mbarrier_{init,arrive,wait}, simt_fence_bulk
 *                                                                                    simt/mbarrier.cuh
 *                    simt_bulk_copy                                                  simt/bulk.cuh
 *   clusters         simt_cluster_{rank,size,arrive,arrive_relaxed,wait,sync}, simt_remote<T>,
 *                    simt_shared_of_rank, simt_remote_{load,store} on uint32_t and uint64_t,
 *                    simt_remote_{add,max} on uint32_t                               simt/cluster.cuh
 *   grid barrier     simt_grid_{arrive,wait,sync}, in cooperative launches           simt/grid.cuh
 *   other launches   fence, loads and stores of system scope; both included apart    simt/system.cuh
 *   launches         simt_wait_predecessor, simt_allow_successor                     simt/dependent.cuh
 *   rare paths       TOPK_REACHED, which counts in the emulation
 *
 * The rules of order that both implementations keep: barriers, and in a warp simt_warp_sync, order all
 * accesses of those who meet; an mbarrier orders those before the arrivals of a phase before those after the
 * waits for it; shuffles, ballots, votes, matches and reductions hand over their values and order nothing
 * else; an atomic orders nothing by itself, only together with a fence before it (it then
 * publishes what the fence follows, but not itself) or after it (it then sees what was published). Hence a
 * word that blocks share through atomics is also read and reset by atomics, or simt_{load,store}_relaxed, as
 * long as the launch runs. What a launch writes is never read through the read-only cache or by bulk copies
 * in the same launch, nor, if it is dependent, what launches wrote that it overlaps or waits for.
 *
 * TOPK_PORTABLE compiles the path of sm_75 for every architecture, and TOPK_PORTABLE=80 that of sm_80:
 * without clusters, bulk copies but by the lanes themselves, dependent launches, and redux before sm_80. */
#ifndef TOPK_SRC_CUDA_SIMT_CUH
#define TOPK_SRC_CUDA_SIMT_CUH

#include <stddef.h>
#include <stdint.h>

enum { SIMT_WARP = 32 };
static const uint32_t SIMT_ALL_LANES = 0xffffffffu;

/* 16 bytes, moved by one instruction. */
struct alignas(16) simt_u32x4 {
    uint32_t x, y, z, w;
};

#ifdef __CUDACC__

#define TOPK_KERNEL __global__
#define TOPK_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define TOPK_DEVICE static __device__ __forceinline__
#define TOPK_NOINLINE static __device__ __noinline__
#define TOPK_CONSTANT_ARGS const __grid_constant__
#define TOPK_MEMBER __device__ __forceinline__
#define TOPK_LAMBDA __attribute__((always_inline))
#define TOPK_HOST_DEVICE static __host__ __device__ __forceinline__
#define TOPK_REACHED(path) ((void)0)
#define TOPK_PATH(path) 0

/* What the architecture has, as macros that are defined or not:
 *
 *   from 8.0 on   SIMT_HAS_REDUX, and SIMT_HAS_ASYNC_COPIES: copies of a thread that run beside it
 *   from 9.0 on   SIMT_HAS_BULK_COPIES, SIMT_HAS_CLUSTERS, SIMT_HAS_DEPENDENT_LAUNCHES
 *
 * SIMT_ARCHITECTURE is the architecture, such as 90 for sm_90; 0 in what nvcc compiles for the host. The
 * emulation does not define it: there kernels exist for all. */
#include "simt/architecture.cuh"

#include "simt/atomic.cuh"
#include "simt/bits.cuh"
#include "simt/bulk.cuh"
#include "simt/cluster.cuh"
#include "simt/compare.cuh"
#include "simt/dependent.cuh"
#include "simt/float.cuh"
#include "simt/mbarrier.cuh"
#include "simt/memory.cuh"
#include "simt/shared.cuh"
#include "simt/thread.cuh"
#include "simt/warp.cuh"

#else
#include "simt_emulation.h"
#endif

#endif
