/* SPDX-License-Identifier: Apache-2.0
 * Hits on their way out of a warp. Each warp collects them in shared memory until it has 32. Then one atomic
 * takes their slots, and neighbouring lanes write neighbouring slots. No warp waits for another. */
#ifndef TOPK_SRC_CUDA_SELECT_QUEUE_CUH
#define TOPK_SRC_CUDA_SELECT_QUEUE_CUH

#include "../codes.cuh"

enum { QUEUE_SLOTS = 2 * SIMT_WARP };

/* The queues of all warps of a block. */
template <typename Element> struct queue_memory {
    simt_shared<key_word_t<Element>> bits;
    simt_shared<uint64_t> positions;
};

template <typename Element>
TOPK_HOST_DEVICE queue_memory<Element> carve_queue(simt_arena &arena, uint32_t warps) {
    queue_memory<Element> m;
    m.positions = simt_carve<uint64_t>(arena, warps * QUEUE_SLOTS);
    m.bits = simt_carve<key_word_t<Element>>(arena, warps * QUEUE_SLOTS);
    return m;
}

/* One warp's. */
template <typename Element> struct hit_queue {
    queue_memory<Element> memory;
    uint32_t count; /* the same in all lanes */
};

/* Takes `count` slots of the sink and sends it the first `count` hits. All lanes. */
template <typename Element, typename Sink>
TOPK_DEVICE void flush_queue(const hit_queue<Element> &q, uint32_t count, Sink &sink) {
    uint32_t slot = simt_warp() * QUEUE_SLOTS + simt_lane();
    uint64_t first = sink.take(count);
    if (simt_lane() < count)
        sink.put(first + simt_lane(), q.memory.bits[slot], (int64_t)(uint64_t)q.memory.positions[slot]);
    simt_warp_sync(SIMT_ALL_LANES);
}

/* Adds the elements of the lanes that have a hit. All lanes. */
template <typename Element, typename Sink>
TOPK_DEVICE void push_hits(hit_queue<Element> &q, bool hit, key_word_t<Element> bits, int64_t position,
                           Sink &sink) {
    uint32_t lanes = simt_ballot(SIMT_ALL_LANES, hit);
    if (lanes == 0)
        return;
    uint32_t base = simt_warp() * QUEUE_SLOTS;
    if (hit) {
        uint32_t slot = base + q.count + simt_popc(lanes & ((1u << simt_lane()) - 1));
        q.memory.bits[slot] = bits;
        q.memory.positions[slot] = (uint64_t)position;
    }
    q.count += simt_popc(lanes);
    simt_warp_sync(SIMT_ALL_LANES);
    if (q.count < SIMT_WARP)
        return;
    flush_queue(q, SIMT_WARP, sink);
    q.count -= SIMT_WARP;
    if (simt_lane() < q.count) {
        uint32_t slot = base + simt_lane();
        q.memory.bits[slot] = (key_word_t<Element>)q.memory.bits[slot + SIMT_WARP];
        q.memory.positions[slot] = (uint64_t)q.memory.positions[slot + SIMT_WARP];
    }
    simt_warp_sync(SIMT_ALL_LANES);
}

/* Sends the hits that remain. All lanes. */
template <typename Element, typename Sink> TOPK_DEVICE void drain_queue(hit_queue<Element> &q, Sink &sink) {
    if (q.count > 0)
        flush_queue(q, q.count, sink);
    q.count = 0;
}

#endif
