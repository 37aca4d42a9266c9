/* SPDX-License-Identifier: Apache-2.0
 * A warp's selection on the fly: entries wait in a queue, which is sorted and merged into the warp's list
 * when it is full (GridSelect). All lanes of the warp call each function. */
#ifndef TOPK_SRC_CUDA_SELECT_WARP_QUEUE_CUH
#define TOPK_SRC_CUDA_SELECT_WARP_QUEUE_CUH

#include "warp_list.cuh"

/* `Owner` derives from it, and has these members:
 *
 *   entry_list<TWO> queue_entries() const   where the queue lies
 *   uint32_t queue_slot(slot) const         and slot 0 to 31 of it there
 *   void merged()                           called when the list has got new entries
 *
 * and may have a merge_queue() of its own. */
template <bool TWO, typename Owner> struct warp_queue {
    uint32_t k;
    uint32_t queued; /* entries in the queue */
    warp_list<TWO> list;
    struct entry bound; /* at least k entries are at it or before it: what is not before it is no result, or
                         * is known already */

    TOPK_MEMBER void tighten(struct entry to) {
        bound = precedes<TWO>(to, bound) ? to : bound;
    }
    /* By an entry's first word. */
    TOPK_MEMBER void tighten(uint64_t first_word) {
        tighten(entry{first_word, TWO ? ~(uint64_t)0 : 0});
    }

    /* In two steps: what finds no room any more goes in once the queue has been merged. */
    TOPK_MEMBER void push_to_warp(bool is_wanted, struct entry e) {
        const uint32_t lanes = simt_ballot(SIMT_ALL_LANES, is_wanted);
        if (lanes == 0)
            return;
        const uint32_t slot = queued + simt_popc(lanes & ((1u << simt_lane()) - 1));
        const uint32_t all = queued + simt_popc(lanes);
        if (is_wanted && slot < SIMT_WARP)
            owner().queue_entries().put(owner().queue_slot(slot), e);
        simt_warp_sync(SIMT_ALL_LANES);
        queued = all;
        if (all < SIMT_WARP)
            return;
        queued = SIMT_WARP;
        owner().merge_queue();
        if (all > SIMT_WARP)
            TOPK_REACHED(REACHED_GRIDSELECT_SECOND_STEP);
        if (is_wanted && slot >= SIMT_WARP)
            owner().queue_entries().put(owner().queue_slot(slot - SIMT_WARP), e);
        simt_warp_sync(SIMT_ALL_LANES);
        queued = all - SIMT_WARP;
    }

    TOPK_MEMBER void merge_queue(void) {
        const struct entry e = simt_lane() < queued
                                   ? owner().queue_entries().get(owner().queue_slot(simt_lane()))
                                   : no_entry<TWO>();
        simt_warp_sync(SIMT_ALL_LANES);
        queued = 0;
        merge(e);
    }

    /* Merges the lanes' entries, but for those that are no longer before the bound. */
    TOPK_MEMBER void merge(struct entry e) {
        e = sort_lanes<TWO>(e);
        const uint32_t fresh = simt_popc(simt_ballot(SIMT_ALL_LANES, precedes<TWO>(e, bound)));
        if (fresh == 0) {
            TOPK_REACHED(REACHED_GRIDSELECT_NONE_FRESH);
            return;
        }
        list.merge(e, fresh, k);
        if (list.count == k)
            tighten(list.get(k - 1));
        owner().merged();
    }

  private:
    TOPK_MEMBER Owner &owner(void) {
        return static_cast<Owner &>(*this);
    }
};

#endif
