/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream compaction inside CUDA kernels of your own: a bit for each element in, ordered positions out.
 *
 * A kernel goes through n elements once, a tile at a time. You say how a thread loads its part of a tile,
 * which of its elements are hits, and what to write for them; run_tiles() does the rest: it ranks the hits of
 * each tile, adds up those of the tiles before it, and hands you the hits' offsets in the tile, in input
 * order. It is the loop that topk_where() itself runs on GPUs, at the speed of memory. The predicate is code:
 * it may look at several columns, decode, or look up.
 *
 *   struct my_tiles { ... };                                              see "Tiles" below
 *
 *   __global__ void __launch_bounds__(my_tiles::THREADS, 1)
 *       my_kernel(my_tiles how, void *state, uint32_t tiles) {
 *       topk_device::simt_arena arena = topk_device::simt_shared_arena();
 *       topk_device::run_tiles(how, topk_device::tile_sequence_of(state, tiles),
 *                              topk_device::carve_tiles<my_tiles>(arena));
 *   }
 *
 *   cudaMemsetAsync(state, 0, topk_device::tile_state_bytes(tiles), stream);
 *   my_kernel<<<blocks, my_tiles::THREADS, topk_device::tile_shared_bytes<my_tiles>(), stream>>>(...);
 *
 * examples/columns_cuda.cu is a whole program. The header needs no library to link with. It takes nvcc with
 * C++17 (CUDA 12.8 or later) and compute capability 7.5 or later.
 *
 * All names are in namespace topk_device, but for macros: TOPK_KERNEL, TOPK_BOUNDS, TOPK_DEVICE, TOPK_MEMBER,
 * TOPK_HOST_DEVICE, SIMT_HAS_CLUSTERS, SIMT_HAS_DEPENDENT_LAUNCHES, SIMT_HAS_REDUX, and TOPK_SRC_CUDA_*,
 * which guard the files of topk_device/. The interface is what is described here; other names may change with
 * any version.
 *
 * After Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back (2016), and
 * Bakunas-Milanowski, Rego, Sang and Yu, A Fast Parallel Selection Algorithm on GPUs (2015).
 *
 * ---- Tiles ----
 *
 * The last warp of a block looks back over earlier tiles; the other THREADS - 32 threads are the workers. A
 * tile has SIZE = ITEMS * WORKERS elements, tile t from element t * SIZE on. Your struct has these members,
 * and others as it likes; it is passed by reference:
 *
 *   static const uint32_t THREADS
 *       of a block: a multiple of 32, 64 to 1024.
 *   static const uint32_t ITEMS
 *       elements of a tile for each worker, 1 to 32; SIZE is at most 2^16.
 *   struct raw
 *       what a worker loads of a tile; raw{} makes an empty one. It should stay in registers, so that only
 *       constants may index its arrays.
 *   __device__ void load(uint32_t tile, raw &to) const
 *       Workers. The loads are in flight while an earlier tile is finished, as long as load() does not use
 *       their results: take even the bytes of a loaded word apart in hits().
 *   __device__ uint32_t hits(uint32_t tile, const raw &from) const
 *       Workers, all lanes of a warp, so that gather_bits() and other warp operations are allowed. Bit i says
 *       whether element simt_thread() * ITEMS + i of the tile is a hit: not if it lies beyond the last
 *       element. Bits from ITEMS on are 0.
 *   __device__ void write(uint32_t tile, simt_shared<uint16_t> offsets, uint64_t base, uint32_t count) const
 *       Workers. Once for each tile: it has `count` hits, 0 to SIZE, and all tiles before it have `base`.
 *       Hit j, 0 <= j < count, is element offsets[j] of the tile, in ascending order, and its result belongs
 *       at base + j; leave out what exceeds your capacity. `offsets` is shared memory, valid during the
 *       call. The last tile's base + count is the number of all hits.
 *   __device__ bool lists() const
 *       whether write() wants the offsets, alike in all threads of the launch. If not, hits are only counted:
 *       write() gets base and count, and `offsets` holds nothing.
 *
 * load(), hits() and write() contain no block barrier. Blocks write their tiles at the same time.
 *
 * ---- The launch ----
 *
 *   tiles      ceil(n / SIZE), 0 to 2^32 - 1. With 0, write() is never called.
 *   blocks     any number; as many as the device holds at once is best. Tiles are drawn in order, by a
 *              counter, and a tile waits only for tiles that were drawn before it, by blocks that run. So no
 *              launch deadlocks, however few of its blocks are resident.
 *   threads    THREADS, in one dimension. All of them call run_tiles(), once.
 *   registers  At most 64 for each of 1024 threads, which __launch_bounds__(THREADS, 1) grants. Where they do
 *              not suffice (-Xptxas -v reports spills) take fewer ITEMS.
 *   shared     tile_shared_bytes<Tiles>() of dynamic shared memory: about 4 * SIZE + 512. Above 48 KiB the
 *              kernel needs cudaFuncAttributeMaxDynamicSharedMemorySize. After run_tiles() and a
 *              __syncthreads() it may be used for something else.
 *   state      tile_state_bytes(tiles) of global memory, the caller's, aligned to 8 bytes: all zero before
 *              each launch, and meanwhile its own. The cudaMemsetAsync() may be captured in a graph with the
 *              kernel.
 *
 * Nothing is allocated, and nothing synchronised. The same hits come out in the same order on every run. */
#ifndef TOPK_DEVICE_CUH
#define TOPK_DEVICE_CUH

#ifndef __CUDACC__
#error "topk_device.cuh is for CUDA C++: compile with nvcc"
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 750
#error "topk_device.cuh needs compute capability 7.5 or later"
#endif

/* What the files of topk_device/ include, before they do so inside of the namespace. */
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

namespace topk_device {

#include "topk_device/tile_loop.cuh"

/* ---- From topk_device/ ----
 *
 * template <typename Tiles> struct tile_loop_shape
 *     WORKERS and SIZE, as above.
 *
 * void run_tiles(const Tiles &how, const tile_sequence &sequence, const tile_shared &shared)
 *     All of it. All threads of all blocks.
 *
 * simt_arena simt_shared_arena()
 * tile_shared carve_tiles<Tiles>(simt_arena &arena)
 * simt_shared<T> simt_carve<T>(simt_arena &arena, uint32_t count)
 *     The block's dynamic shared memory, from its start; what run_tiles() needs of it; and behind that an
 *     array of your own, whose bytes the launch then adds (and up to 15 for its alignment). An
 *     `extern __shared__` array would lie over them.
 *
 * struct simt_shared<T>
 *     An array in shared memory: array[i] is a T &.
 *
 * uint32_t simt_thread(), simt_warp(), simt_lane()
 *     The thread in its block, its warp in the block, and the thread in its warp, each from 0.
 *
 * uint32_t gather_bits<PER, GROUPS>(uint32_t bits)
 *     For wide loads in which neighbouring lanes read neighbouring memory. ITEMS is PER * GROUPS. The
 *     elements of a warp begin at offset simt_warp() * 32 * ITEMS of the tile; group g of a lane is the PER
 *     elements that begin (g * 32 + simt_lane()) * PER behind that. Takes a lane's bits, g * PER + j for
 *     element j of group g, and returns the bits that hits() is to return. GROUPS is a power of two; all
 *     lanes of a warp.
 *
 * uint32_t low_bits(uint32_t count)
 *     The lowest `count` of 32 bits; all for 32 and above.
 *
 * void write_positions<THREADS>(Index *to, simt_shared<uint16_t> offsets, Index origin, uint32_t count)
 *     to[j] = origin + offsets[j] for j < count, by the first THREADS threads, in whole lines of memory;
 * Index is int32_t or int64_t. In write() THREADS is WORKERS, to = out + base, origin = tile * SIZE. Anything
 *     else that belongs to hits takes a loop:
 *
 *         for (uint32_t j = simt_thread(); j < count; j += WORKERS)
 *             out[base + j] = in[(size_t)tile * SIZE + offsets[j]]; */

/* Dynamic shared memory for a kernel that runs such tiles. Host. */
template <typename Tiles> static inline uint32_t tile_shared_bytes(void) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_tiles<Tiles>(arena);
    return arena.used_bytes;
}

/* Words of a line of memory, which the counter of tiles has for itself. */
static const uint32_t TILE_STATE_LINE = 16;

/* Bytes of the state of so many tiles: about 8.5 for each. Host. */
static inline size_t tile_state_bytes(uint32_t tiles) {
    return (TILE_STATE_LINE + (size_t)look_back_words(tiles)) * sizeof(uint64_t);
}

/* The tiles of a launch, over a state that was zero before it. Both are alike in all threads. */
TOPK_DEVICE tile_sequence tile_sequence_of(void *state, uint32_t tiles) {
    uint64_t *words = (uint64_t *)state;
    return tile_sequence{words, sum_words_of(words + TILE_STATE_LINE, tiles), tiles};
}

} // namespace topk_device

#endif
