/* SPDX-License-Identifier: Apache-2.0
 * Hits on their way out of a warp. Each warp collects them in shared memory until it has 32, which it then
 * writes together: one atomic takes their places, and neighbouring lanes write neighbouring places. No other
 * warp is waited for. */
#ifndef TOPK_SRC_CUDA_AIR_QUEUE_CUH
#define TOPK_SRC_CUDA_AIR_QUEUE_CUH

#include "../block.cuh"
#include "../codes.cuh"

enum { QUEUE_PLACES = 2 * SIMT_WARP };

/* The queues of all warps of a block. */
template <typename Element> struct queue_memory {
    simt_shared<key_word_t<Element>> bits;
    simt_shared<uint64_t> positions;
};

template <typename Element>
TOPK_HOST_DEVICE queue_memory<Element> carve_queue(simt_arena &arena, uint32_t warps) {
    queue_memory<Element> m;
    m.positions = simt_carve<uint64_t>(arena, warps * QUEUE_PLACES);
    m.bits = simt_carve<key_word_t<Element>>(arena, warps * QUEUE_PLACES);
    return m;
}

/* One warp's. */
template <typename Element> struct hit_queue {
    queue_memory<Element> memory;
    uint32_t count; /* the same in all lanes */
};

/* Sends the first `count` hits to sink.put(lane's turn, bits, position), after sink.take(count) in all lanes.
 */
template <typename Element, typename Sink>
TOPK_DEVICE void flush_queue(const hit_queue<Element> &q, uint32_t count, Sink &sink) {
    uint32_t at = simt_warp() * QUEUE_PLACES + simt_lane();
    uint64_t first = sink.take(count);
    if (simt_lane() < count)
        sink.put(first + simt_lane(), q.memory.bits[at], (int64_t)(uint64_t)q.memory.positions[at]);
    simt_warp_sync(SIMT_ALL_LANES);
}

/* Adds the elements of those lanes that hit. All lanes. */
template <typename Element, typename Sink>
TOPK_DEVICE void push_hits(hit_queue<Element> &q, bool hit, key_word_t<Element> bits, int64_t position,
                           Sink &sink) {
    uint32_t lanes = simt_ballot(SIMT_ALL_LANES, hit);
    if (lanes == 0)
        return;
    uint32_t base = simt_warp() * QUEUE_PLACES;
    if (hit) {
        uint32_t at = base + q.count + simt_popc(lanes & ((1u << simt_lane()) - 1));
        q.memory.bits[at] = bits;
        q.memory.positions[at] = (uint64_t)position;
    }
    q.count += simt_popc(lanes);
    simt_warp_sync(SIMT_ALL_LANES);
    if (q.count < SIMT_WARP)
        return;
    flush_queue(q, SIMT_WARP, sink);
    q.count -= SIMT_WARP;
    if (simt_lane() < q.count) {
        uint32_t at = base + simt_lane();
        q.memory.bits[at] = (key_word_t<Element>)q.memory.bits[at + SIMT_WARP];
        q.memory.positions[at] = (uint64_t)q.memory.positions[at + SIMT_WARP];
    }
    simt_warp_sync(SIMT_ALL_LANES);
}

/* What is left. */
template <typename Element, typename Sink> TOPK_DEVICE void drain_queue(hit_queue<Element> &q, Sink &sink) {
    if (q.count > 0)
        flush_queue(q, q.count, sink);
    q.count = 0;
}

/* Takes `count` places of a counter, in shared or global memory, for the warp. All lanes. */
template <typename Counter> TOPK_DEVICE uint64_t take_places(Counter counter, uint32_t count) {
    uint64_t first = 0;
    if (simt_lane() == 0)
        first = simt_atomic_add(counter, (uint64_t)count);
    return simt_shuffle(SIMT_ALL_LANES, first, 0);
}

#endif
