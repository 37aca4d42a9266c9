/* SPDX-License-Identifier: Apache-2.0
 * topk_device.cuh takes no name of the global namespace: here they are somebody else's. It is compiled beside
 * another file that includes it. */
enum { SIMT_WARP = 1, NO_TILE, TILE_SUM, LOOK_BACK_BUNDLE, MANY_HITS };
struct simt_arena;
struct tile_sequence;
struct sum_words;
struct ranked_bits;
struct simt_u32x4;
struct entry;
struct smallest_floats;
struct largest_floats;
template <typename T> struct simt_shared;
template <typename T> struct warp_queue;
template <typename T> struct best_of_warp;
int run_tiles, look_back, look_back_words, low_bits, write_positions, warp_scan_inclusive, simt_thread,
    draw_tile, carve_best, no_entry, sort_lanes, is_before, behind;

#include <topk_device.cuh>

namespace {

/* The least of a struct for run_tiles(): it counts, and its tiles are as large as can be. */
struct counted {
    static const uint32_t THREADS = 64, ITEMS = 32;
    struct raw {
        uint32_t word;
    };
    const uint32_t *words;
    uint64_t *found;

    __device__ void load(uint32_t tile, raw &to) const {
        to.word = words[tile * 32 + topk_device::simt_thread()];
    }
    __device__ uint32_t hits(uint32_t, const raw &from) const {
        return from.word;
    }
    __device__ void write(uint32_t, topk_device::simt_shared<uint16_t>, uint64_t base, uint32_t count) const {
        *found = base + count;
    }
    __device__ bool lists() const {
        return false;
    }
};

static_assert(topk_device::tile_loop_shape<counted>::SIZE == 1024, "one warp of workers");

} // namespace

__global__ void count_bits(counted how, void *state, uint32_t tiles) {
    topk_device::simt_arena arena = topk_device::simt_shared_arena();
    topk_device::run_tiles(how, topk_device::tile_sequence_of(state, tiles),
                           topk_device::carve_tiles<counted>(arena));
}

size_t bytes_to_count_bits(uint32_t tiles) {
    return topk_device::tile_state_bytes(tiles) + topk_device::tile_shared_bytes<counted>();
}

/* The two kinds of selections on the fly: the positions of the k smallest numbers, by a warp and by a block.
 */
typedef topk_device::best_of_warp<topk_device::smallest_floats, uint32_t> of_warp;
typedef topk_device::best_of_block<topk_device::float_order<true, true>, int64_t> of_block;

__global__ void best_by_warp(const float *values, uint32_t n, uint32_t k, uint32_t *indices,
                             float *best_values) {
    topk_device::simt_arena arena = topk_device::simt_shared_arena();
    const of_warp::memory_type memory = topk_device::carve_best<of_warp>(arena, 2, k);
    of_warp best(memory, 1);
    best.begin(k);
    for (uint32_t first = 0; first < n; first += 32) {
        const uint32_t i = first + topk_device::simt_lane();
        const float value = i < n ? values[i] : 0;
        best.push(i < n && best.wants(value), value, i);
    }
    best.save();
    if (threadIdx.x == 0)
        topk_device::tighten_saved<of_warp>(memory, 1, topk_device::saved_word<of_warp>(memory, 1, k - 1));
    __syncwarp();
    topk_device::push_saved<of_warp>(memory, k, threadIdx.x % 32 < n, 1, values[0], n);
    best.resume(k);
    best.finish();
    for (uint32_t rank = topk_device::simt_lane(); rank < best.count(); rank += 32) {
        indices[rank] = best.index_at(rank);
        best_values[rank] =
            best.value_at(rank) + topk_device::saved_bound<of_warp>(memory, 1) + best.bound_value();
    }
}

__global__ void best_by_block(const float *values, int64_t n, uint32_t k, int64_t *indices, uint32_t *count) {
    topk_device::simt_arena arena = topk_device::simt_shared_arena();
    const of_block::memory_type memory = topk_device::carve_best<of_block>(arena, blockDim.x / 32, k);
    of_block best(memory);
    best.begin(k);
    for (int64_t first = topk_device::simt_warp() * 32; first < n; first += blockDim.x) {
        const int64_t i = first + topk_device::simt_lane();
        const float value = i < n ? values[i] : 0;
        best.listen();
        best.push(i < n && best.wants(value), value, i);
    }
    const uint32_t all = best.finish([&](uint32_t rank, float, int64_t index) { indices[rank] = index; });
    if (threadIdx.x == 0)
        *count = all;
}

size_t bytes_of_best(uint32_t k) {
    return topk_device::best_shared_bytes<of_warp>(2, k) + topk_device::best_shared_bytes<of_block>(8, k);
}
