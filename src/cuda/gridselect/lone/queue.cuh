/* SPDX-License-Identifier: Apache-2.0
 * The selection of a warp that has a row of its own. It shares nothing with other warps. All lanes of the
 * warp call each function. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_LONE_QUEUE_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_LONE_QUEUE_CUH

#include "../either_queue.cuh"

/* What a warp's slots are for: first its list, then its queue. */
struct lone_slots {
    uint32_t of_list;
    bool has_lane_queues;
};

TOPK_HOST_DEVICE uint32_t slots_of_warp(const struct lone_slots &slots) {
    return slots.of_list + queue_slots(slots.has_lane_queues);
}

/* They lie where shared memory begins: a warp's first slot is all that tells where its own are. */
template <bool TWO>
TOPK_HOST_DEVICE entry_list<TWO> carve_lone_slots(simt_arena &arena, const struct lone_slots &slots,
                                                  uint32_t warps) {
    return carve_entries<TWO>(arena, warps * slots_of_warp(slots));
}

template <bool TWO>
TOPK_NOINLINE struct warp_state merge_lone(struct lone_slots slots, uint32_t k, struct warp_state state);

template <bool TWO>
struct lone_selection : either_queue<TWO, lone_selection<TWO>, warp_queue<TWO, lone_selection<TWO>>> {
    typedef warp_queue<TWO, lone_selection<TWO>> base;
    typedef either_queue<TWO, lone_selection<TWO>, base> queue;
    struct lone_slots slots;

    TOPK_MEMBER explicit lone_selection(const struct lone_slots &of_warp) : queue{}, slots(of_warp) {
        simt_arena arena = simt_shared_arena();
        base::list.slots = carve_lone_slots<TWO>(arena, slots, simt_warps());
        base::list.first = simt_warp() * slots_of_warp(slots);
    }
    TOPK_MEMBER void begin_row(uint32_t results) {
        base::k = results;
        resume(warp_state{no_entry<TWO>(), 0, 0});
    }
    TOPK_MEMBER void resume(const struct warp_state &state) {
        base::bound = state.bound;
        base::queued = state.queued;
        base::list.count = state.count;
    }
    /* Merges what waits, if anything does. */
    TOPK_MEMBER void merge_queue(void) {
        if (simt_any(SIMT_ALL_LANES, base::queued > 0))
            resume(merge_lone<TWO>(slots, base::k, queue::state()));
    }

    /* For the queue. */
    TOPK_MEMBER bool has_lane_queues(void) const {
        return slots.has_lane_queues;
    }
    TOPK_MEMBER const entry_list<TWO> &queue_entries(void) const {
        return base::list.slots;
    }
    TOPK_MEMBER uint32_t queue_slot(uint32_t slot) const {
        return base::list.first + slots.of_list + slot;
    }
    TOPK_MEMBER void merged(void) {
    }
};

/* Merges what waits. A function of its own, as merge_waiting() is. */
template <bool TWO>
TOPK_NOINLINE struct warp_state merge_lone(struct lone_slots slots, uint32_t k, struct warp_state state) {
    lone_selection<TWO> s(slots);
    s.k = k;
    s.resume(state);
    s.merge_here();
    return s.state();
}

#endif
