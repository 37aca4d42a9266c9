/* SPDX-License-Identifier: Apache-2.0
 *
 * For CUDA kernels of your own:
 *
 *   compaction   a bit for each element in, ordered positions out: the loop of topk_where()
 *   the queue    values in, the k best out: what gridselect selects with, a method of topk_select()
 *
 * The header needs no library to link with. It takes nvcc with C++17 (CUDA 12.8 or later) and compute
 * capability 7.5 or later. Nothing in it allocates or synchronises.
 *
 * All names are in namespace topk_device, but for macros: TOPK_KERNEL, TOPK_BOUNDS, TOPK_DEVICE,
 * TOPK_NOINLINE, TOPK_CONSTANT_ARGS, TOPK_MEMBER, TOPK_LAMBDA, TOPK_HOST_DEVICE, TOPK_REACHED,
 * SIMT_HAS_BULK_COPIES, SIMT_HAS_CLUSTERS, SIMT_HAS_DEPENDENT_LAUNCHES, SIMT_HAS_REDUX, SIMT_REMOTE, and
 * TOPK_SRC_CUDA_*, which guard the files of topk_device/. The interface is what is described here; other
 * names may change with any version.
 *
 * ==== Compaction ====
 *
 * A kernel goes through n elements once, a tile at a time. You say how a thread loads its part of a tile,
 * which of its elements are hits, and what to write for them; run_tiles() does the rest: it ranks the hits of
 * each tile, adds the counts of the tiles before it, and hands you the hits' offsets in the tile, in input
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
 * examples/columns_cuda.cu is a whole program.
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
 * The same hits come out in the same order on every run.
 *
 * ==== The queue ====
 *
 * A warp keeps the k best of the values that its lanes push, with their indices: a queue of 32 takes what
 * comes before the k-th best so far; when it is full it is sorted and merged into a sorted list. So a kernel
 * can select from what it computes without writing it to memory.
 *
 *   typedef topk_device::best_of_warp<topk_device::smallest_floats, uint32_t> nearest;
 *
 *   __global__ void my_kernel(uint32_t n, uint32_t k, uint32_t *indices) {        a warp for each block
 *       topk_device::simt_arena arena = topk_device::simt_shared_arena();
 *       const nearest::memory_type memory = topk_device::carve_best<nearest>(arena, 1, k);
 *       nearest best(memory, 0);
 *       best.begin(k);
 *       for (uint32_t first = 0; first < n; first += 32) {
 *           const uint32_t i = first + topk_device::simt_lane();
 *           const float value = i < n ? compute(i) : 0;
 *           best.push(i < n && best.wants(value), value, i);
 *       }
 *       best.finish();
 *       for (uint32_t rank = topk_device::simt_lane(); rank < best.count(); rank += 32)
 *           indices[rank] = best.index_at(rank);
 *   }
 *
 *   my_kernel<<<1, 32, topk_device::best_shared_bytes<nearest>(1, k), stream>>>(...);
 *
 * examples/neighbours_cuda.cu is a whole program: the distances of nearest neighbours by tensor cores, with a
 * list for each query. After GridSelect: Zhang, Naruse, Li and Wang, Parallel Top-K Algorithms on GPU: A
 * Comprehensive Study and New Methods (SC 2023).
 *
 * ---- Two kinds ----
 *
 *   best_of_warp<Order, Index>    Each list belongs to one warp at a time. A warp may have many lists and go
 *                                 from one to another.
 *   best_of_block<Order, Index>   All warps of a block select from the same elements. Each has a list, the
 *                                 warps tell each other bounds, and finish() ranks their lists together.
 *
 * Order says what is best:
 *
 *   smallest_floats   float, the smallest first
 *   largest_floats    float, the largest first
 *   float_order<LARGEST, NAN_FIRST>
 *       The two above have NAN_FIRST = false: NaN ranks behind all numbers, as with TOPK_NAN_LAST. With true
 *       it ranks before them: float_order<true, true> is largest with TOPK_NAN_AS_LARGEST.
 *
 * -0.0 equals +0.0, all NaN are equal, infinities and denormals are numbers like all others. Of equal values
 * the one with the lower index is better. A zero comes out as +0.0, NaN as the quiet NaN 0x7fc00000; all
 * other values come out bit for bit. An order of your own has the members of float_order: `value`, rank_of(),
 * value_of(), may_precede() and no_bound(); a rank is below 2^32 - 1.
 *
 * Index is uint32_t, or int64_t from 0 on. No index is pushed twice into the same selection.
 *
 * ---- The launch ----
 *
 *   k          1 to 2048, and what shared memory holds; alike in all warps that share a selection. A merge
 *              takes the longer the longer the list is.
 *   threads    whole warps, in one dimension.
 *   shared     best_shared_bytes<Best>(lists, k) of dynamic shared memory. For best_of_block, `lists` is the
 *              number of its warps. A list takes 8 * k + 268 bytes, with int64_t twice as many. Above 48 KiB
 *              the kernel needs cudaFuncAttributeMaxDynamicSharedMemorySize.
 *   registers  39 for the kernel above, 38 for one with best_of_block and int64_t (sm_90); 44 and 48 (sm_75).
 *
 * The results depend on the values and indices that are pushed, and on nothing else: they are the same on
 * every run. If n values come in random order, about k * (1 + ln(n / k)) of them come before the bound and
 * are merged, 32 at a time. The others cost a comparison each. Values that get ever better are all merged.
 *
 * ---- Several blocks ----
 *
 * Blocks that share a selection each write their k best. A second step selects from these: another kernel
 * that pushes them, as in examples/neighbours_cuda.cu; or topk_select() with the indices as payload, where
 * blocks with lower indices come first, since it decides ties by position. While they run, such blocks may
 * tell each other bounds: saved_word() and tighten_saved() make and take them. */
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

#include "topk_device/select/best.cuh"
#include "topk_device/tile_loop.cuh"

/* ---- From topk_device/, for both ----
 *
 * simt_arena simt_shared_arena()
 *     The block's dynamic shared memory, from its start. An `extern __shared__` array would lie over it.
 *
 * simt_shared<T> simt_carve<T>(simt_arena &arena, uint32_t count)
 *     An array of your own, behind what has been carved before. The launch adds its bytes, and up to 15 for
 *     its alignment.
 *
 * struct simt_shared<T>
 *     An array in shared memory: array[i] is a T &.
 *
 * uint32_t simt_thread(), simt_warp(), simt_lane()
 *     The thread in its block, its warp in the block, and the thread in its warp, each from 0.
 *
 * struct simt_mbarrier
 * void simt_mbarrier_init(simt_shared<simt_mbarrier> barriers, uint32_t first, uint32_t count,
 *                         uint32_t arrivals)
 * void simt_mbarrier_arrive(simt_shared<simt_mbarrier> barriers, uint32_t index)
 * void simt_mbarrier_wait(simt_shared<simt_mbarrier> barriers, uint32_t index, uint32_t parity)
 *     Barriers for warps that work at their own pace, on every GPU that the header serves. One thread makes
 *     `count` of them, before a __syncthreads(). A phase ends after `arrivals` of them, then the next one
 *     begins. A wait returns when the phase of that parity has ended: 0, 1, 0 and so on; at once for parity 1
 *     in the first phase. It sees what others did before they arrived. No thread may fall two phases behind.
 *
 * ---- For compaction ----
 *
 * template <typename Tiles> struct tile_loop_shape
 *     WORKERS and SIZE, as above.
 *
 * void run_tiles(const Tiles &how, const tile_sequence &sequence, const tile_shared &shared)
 *     All of it. All threads of all blocks.
 *
 * tile_shared carve_tiles<Tiles>(simt_arena &arena)
 *     What run_tiles() needs of the block's shared memory.
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
 *             out[base + j] = in[(size_t)tile * SIZE + offsets[j]];
 *
 * ---- For the queue ----
 *
 * Best is best_of_warp<Order, Index> or best_of_block<Order, Index>, and `value` is Order::value. All lanes
 * of a warp call each function; where it says so all threads of the block, or each lane for itself.
 *
 * Best::memory_type carve_best<Best>(simt_arena &arena, uint32_t lists, uint32_t k)
 *     Lists 0 to lists - 1 with room for k results each. They hold nothing yet. What it returns must outlive
 *     the objects that are made over it.
 *
 * best_of_warp(const memory_type &memory, uint32_t list)
 *     Goes to a list. begin() or resume() comes next.
 * void begin(uint32_t k)
 *     Empties the list. Its k is at most the one given to carve_best().
 * void save() const
 *     Leaves the list: what is pushed afterwards is lost, unless another save() follows.
 * void resume(uint32_t k)
 *     Returns to a list that was saved, with the k that it began with. Another warp may do so behind a
 *     __syncthreads().
 *
 * best_of_block(const memory_type &memory)
 * void begin(uint32_t k)
 *     Empties the lists. All threads; block barriers are inside.
 * void listen()
 *     Learns what other warps have found, once in a tile, say. That saves pushes, and changes no result.
 *
 * value bound_value() const
 *     What values are compared with: the k-th best so far, or better. NaN: there is no bound yet. Each lane
 *     for itself.
 * bool wants(value v) const
 *     Compares v with bound_value(). False only if v is certainly no result; true for an equal value, too,
 *     since that may have the lower index. Each lane for itself.
 * void push(bool is_candidate, value v, Index index)
 *     Adds the lanes' values where is_candidate. It drops what does not come before the bound, so wants()
 *     saves time and nothing else.
 *
 * void finish()
 *     Of best_of_warp: merges what waits in the queue. More may be pushed afterwards.
 * uint32_t count() const, value value_at(uint32_t rank) const, Index index_at(uint32_t rank) const
 *     The results, sorted best first; there are fewer than k if fewer values were pushed. Each lane for
 *     itself.
 * uint32_t finish(put)
 *     Of best_of_block: calls put(rank, value, index) once for each result, in some thread. Returns their
 *     number. All threads; block barriers are inside, the last one behind all calls.
 *
 * The following are for lists of best_of_warp that are saved.
 *
 * void push_saved<Best>(const Best::memory_type &memory, uint32_t k, bool is_candidate, uint32_t list,
 *                       value v, Index index)
 *     Each lane pushes to a list of its own choice, where is_candidate. All lanes, with the same k; no other
 *     warp has these lists meanwhile. Best where a warp has many lists and few candidates for each.
 *
 * Each lane may call those below for a list of its own, with a __syncwarp() before and after.
 *
 * value saved_bound<Best>(const Best::memory_type &memory, uint32_t list)
 *     The list's bound_value().
 * uint64_t saved_word<Best>(const Best::memory_type &memory, uint32_t list, uint32_t rank)
 *     The list's result of a rank, from 0, as a word. Words ascend from the best on. All ones: the list has
 *     no such result yet, not counting what waits in the queue.
 * void tighten_saved<Best>(const Best::memory_type &memory, uint32_t list, uint64_t word)
 *     The list drops what comes behind the word. At least k values that lists hold have words up to it. If m
 *     lists have parts of the elements, the last of their words of rank ceil(k / m) - 1 is such a word. A
 *     list may then end with fewer than k results, but the k best of all m lists together are right. */

/* Dynamic shared memory for a kernel that runs such tiles. Host. */
template <typename Tiles> static inline uint32_t tile_shared_bytes(void) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_tiles<Tiles>(arena);
    return arena.used_bytes;
}

/* Dynamic shared memory for a kernel that carves such lists. Host. */
template <typename Best> static inline uint32_t best_shared_bytes(uint32_t lists, uint32_t k) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_best<Best>(arena, lists, k);
    return arena.used_bytes;
}

/* Words of a line of memory, which the counter of tiles has for itself. */
static const uint32_t TILE_STATE_LINE = 16;

/* Bytes of the state of `tiles` tiles: about 8.5 for each. Host. */
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
