/* SPDX-License-Identifier: Apache-2.0
 * The selections of a block's warps from the parts of a row that they read. A queue is the warp's, or each
 * lane's. All lanes of the warp call each function.
 *
 * A bound is an entry with at least k others of the row at it or before it. Warps and blocks that share a row
 * share bounds. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_QUEUE_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_QUEUE_CUH

#include "../../reached.h"
#include "../select/block_queue.cuh"
#include "sizes.h"

/* The shared memory of a block. */
template <bool TWO> struct selection_memory : block_memory<TWO> {
    entry_list<false> words; /* for bound_of_words() */
    simt_shared<uint32_t> flag;
};

TOPK_HOST_DEVICE uint32_t queue_slots(bool has_lane_queues) {
    return SIMT_WARP * (has_lane_queues ? GRIDSELECT_LANE_QUEUE : 1);
}

template <bool TWO>
TOPK_HOST_DEVICE selection_memory<TWO> carve_selection(simt_arena &arena, uint32_t warps, uint32_t capacity,
                                                       uint32_t queue, uint32_t words) {
    selection_memory<TWO> m = {};
    m.lists = carve_entries<TWO>(arena, warps * capacity);
    m.queues = carve_entries<TWO>(arena, warps * queue);
    m.bounds = simt_carve<uint64_t>(arena, warps);
    m.bound = simt_carve<uint64_t>(arena, 1);
    m.words = carve_entries<false>(arena, words);
    m.counts = simt_carve<uint32_t>(arena, warps);
    m.flag = simt_carve<uint32_t>(arena, 1);
    return m;
}

template <bool TWO> struct warp_selection : block_queue<TWO, warp_selection<TWO>> {
    typedef block_queue<TWO, warp_selection<TWO>> base;
    const selection_memory<TWO> &memory;
    bool has_lane_queues; /* `queued` is then the lane's */

    TOPK_MEMBER warp_selection(const selection_memory<TWO> &of_block, bool of_lanes)
        : base{}, memory(of_block), has_lane_queues(of_lanes) {
    }

    TOPK_MEMBER const entry_list<TWO> &queue_entries(void) const {
        return memory.queues;
    }
    TOPK_MEMBER uint32_t queue_slot(uint32_t slot) const {
        return simt_warp() * queue_slots(has_lane_queues) + slot;
    }

    /* Adds the lanes' entries where `is_wanted`. */
    TOPK_MEMBER void push(bool is_wanted, struct entry e) {
        is_wanted = is_wanted && is_before(e, base::bound);
        if (has_lane_queues)
            push_to_lane(is_wanted, e);
        else
            base::push_to_warp(is_wanted, e);
    }

    /* Merges what still waits. */
    TOPK_MEMBER void drain(void) {
        if (has_lane_queues)
            merge_lanes();
        else
            base::merge_queue();
    }

  private:
    TOPK_MEMBER void push_to_lane(bool is_wanted, struct entry e) {
        if (is_wanted)
            memory.queues.put(queue_slot(base::queued++ * SIMT_WARP + simt_lane()), e);
        if (simt_any(SIMT_ALL_LANES, base::queued == GRIDSELECT_LANE_QUEUE))
            merge_lanes();
    }

    TOPK_MEMBER void merge_lanes(void) {
#pragma unroll 1
        for (uint32_t i = 0; simt_any(SIMT_ALL_LANES, i < base::queued); i++)
            base::merge(i < base::queued ? memory.queues.get(queue_slot(i * SIMT_WARP + simt_lane()))
                                         : no_entry<TWO>());
        base::queued = 0;
    }
};

/* Puts the lanes' words into the slots from `first` on, sorted; those from `count` on do not exist. */
TOPK_DEVICE void put_words(const entry_list<false> &words, uint32_t first, uint32_t count, uint64_t of_lane) {
    const struct entry sorted =
        sort_lanes<false>(entry{first + simt_lane() < count ? of_lane : ~(uint64_t)0, 0});
    if (first + simt_lane() < count)
        words.put(first + simt_lane(), sorted);
}

/* Of `count` words that put_words() has put, the one that `needed` are not behind: a thread that finds it
 * returns it, others all ones, as all do where words of all ones are needed. All threads; one barrier before.
 */
TOPK_DEVICE uint64_t bound_of_words(const entry_list<false> &words, uint32_t count, uint32_t needed) {
    uint64_t found = ~(uint64_t)0;
    for (uint32_t slot = simt_thread(); slot < count; slot += simt_threads()) {
        const struct entry mine = words.get(slot), next = {mine.high + 1, 0};
        uint32_t before = 0, up_to = 0;
        for (uint32_t first = 0; first < count && before < needed; first += SIMT_WARP) {
            const uint32_t left = count - first, run = left < SIMT_WARP ? left : (uint32_t)SIMT_WARP;
            before += rank_in_list(words, first, run, mine);
            up_to += rank_in_list(words, first, run, next);
        }
        found = before < needed && up_to >= needed ? mine.high : found;
    }
    return found;
}

#endif
