/* SPDX-License-Identifier: Apache-2.0
 * topk_device.cuh takes no name of the global namespace: here they are somebody else's. It is compiled beside
 * another file that includes it. */
enum { SIMT_WARP = 1, NO_TILE, TILE_SUM, LOOK_BACK_BUNDLE, MANY_HITS };
struct simt_arena;
struct tile_sequence;
struct sum_words;
struct ranked_bits;
struct simt_u32x4;
template <typename T> struct simt_shared;
int run_tiles, look_back, look_back_words, low_bits, write_positions, warp_scan_inclusive, simt_thread,
    draw_tile;

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
