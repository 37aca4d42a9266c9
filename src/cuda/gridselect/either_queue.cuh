/* SPDX-License-Identifier: Apache-2.0
 * A queue that is the warp's, or one for each lane. All lanes of the warp call each function. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_EITHER_QUEUE_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_EITHER_QUEUE_CUH

#include "../../reached.h"
#include "../select/block_queue.cuh"
#include "kernels.h"

TOPK_HOST_DEVICE uint32_t queue_slots(bool has_lane_queues) {
    return SIMT_WARP * (has_lane_queues ? GRIDSELECT_LANE_QUEUE : 1);
}

/* A warp's selection in registers. Functions of their own take it and return it. */
struct warp_state {
    struct entry bound;
    uint32_t queued, count;
};

/* `Base` is warp_queue or block_queue of the `Owner`, which also has
 *
 *   bool has_lane_queues() const   `queued` is then the lane's
 *   void merge_queue()             merges what waits, by merge_here() in a function of its own */
template <bool TWO, typename Owner, typename Base> struct either_queue : Base {
    /* Adds the lanes' entries where `is_wanted`. */
    TOPK_MEMBER void push(bool is_wanted, struct entry e) {
        is_wanted = is_wanted && precedes<TWO>(e, Base::bound);
        if (owner().has_lane_queues())
            push_to_lane(is_wanted, e);
        else
            Base::push_to_warp(is_wanted, e);
    }
    TOPK_MEMBER void merge_here(void) {
        const uint32_t waits = owner().has_lane_queues() ? Base::queued : simt_lane() < Base::queued;
#pragma unroll 1
        for (uint32_t i = 0; simt_any(SIMT_ALL_LANES, i < waits); i++) {
            const uint32_t slot = owner().queue_slot(i * SIMT_WARP + simt_lane());
            const struct entry e = i < waits ? owner().queue_entries().get(slot) : no_entry<TWO>();
            simt_warp_sync(SIMT_ALL_LANES);
            Base::merge(e);
        }
        Base::queued = 0;
    }
    TOPK_MEMBER struct warp_state state(void) const {
        return warp_state{Base::bound, Base::queued, Base::list.count};
    }

  private:
    TOPK_MEMBER Owner &owner(void) {
        return static_cast<Owner &>(*this);
    }
    TOPK_MEMBER void push_to_lane(bool is_wanted, struct entry e) {
        if (is_wanted)
            owner().queue_entries().put(owner().queue_slot(Base::queued++ * SIMT_WARP + simt_lane()), e);
        if (simt_any(SIMT_ALL_LANES, Base::queued == GRIDSELECT_LANE_QUEUE))
            owner().merge_queue();
    }
};

#endif
