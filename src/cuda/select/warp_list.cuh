/* SPDX-License-Identifier: Apache-2.0
 * The best entries that a warp has found, sorted, in shared memory. All lanes of the warp call each function
 * with the same list. */
#ifndef TOPK_SRC_CUDA_SELECT_WARP_LIST_CUH
#define TOPK_SRC_CUDA_SELECT_WARP_LIST_CUH

#include "entries.cuh"

/* Behind every entry. */
template <bool TWO> TOPK_DEVICE struct entry no_entry(void) {
    return entry{~(uint64_t)0, TWO ? ~(uint64_t)0 : 0};
}

template <bool TWO> TOPK_DEVICE struct entry shuffle_entry(struct entry e, uint32_t lane) {
    return entry{simt_shuffle(SIMT_ALL_LANES, e.high, lane),
                 TWO ? simt_shuffle(SIMT_ALL_LANES, e.low, lane) : 0};
}

/* is_before(), where entries of one word have one instruction less than they would. */
template <bool TWO> TOPK_DEVICE bool precedes(const struct entry &a, const struct entry &b) {
    return TWO ? is_before(a, b) : a.high < b.high;
}

/* The earlier of the entries that this lane and lane ^ lanes have, or the later one. */
template <bool TWO>
TOPK_DEVICE struct entry exchange(const struct entry &e, uint32_t lanes, bool wants_later) {
    const struct entry other = {simt_shuffle_xor(SIMT_ALL_LANES, e.high, lanes),
                                TWO ? simt_shuffle_xor(SIMT_ALL_LANES, e.low, lanes) : 0};
    return precedes<TWO>(other, e) != wants_later ? other : e;
}

/* Sorts the lanes' entries by a bitonic network, ascending. Sorted parts are merged from both ends, so that
 * the lane's bits alone tell which entry it keeps: five predicates, which all stay in registers. */
template <bool TWO> TOPK_DEVICE struct entry sort_lanes(struct entry e) {
#pragma unroll
    for (uint32_t size = 2; size <= SIMT_WARP; size *= 2) {
#pragma unroll
        for (uint32_t distance = size / 2; distance > 0; distance /= 2)
            e = exchange<TWO>(e, distance == size / 2 ? size - 1 : distance, (simt_lane() & distance) != 0);
    }
    return e;
}

/* The greatest power of two that is at most `count`; 0: there is none. */
TOPK_DEVICE uint32_t power_within(uint32_t count) {
    return count == 0 ? 0 : 1u << (31 - simt_clz(count));
}

/* How many of the `count` sorted entries from `first` on are before `e`. */
template <bool TWO>
TOPK_DEVICE uint32_t rank_in_list(const entry_list<TWO> &list, uint32_t first, uint32_t count,
                                  struct entry e) {
    uint32_t rank = 0;
#pragma unroll 1
    for (uint32_t step = power_within(count); step > 0; step /= 2) {
        const uint32_t next = simt_min_of_sum(rank, step, count);
        rank = precedes<TWO>(list.get(first + next - 1), e) ? next : rank;
    }
    return rank;
}

template <bool TWO> struct warp_list {
    entry_list<TWO> slots;
    uint32_t first; /* the warp's first slot */
    uint32_t count;

    TOPK_MEMBER struct entry get(uint32_t rank) const {
        return slots.get(first + rank);
    }

    /* Merges with the lanes' entries, which are sorted, the first `fresh` of them, and keeps the best `k`. */
    TOPK_MEMBER void merge(struct entry e, uint32_t fresh, uint32_t k) {
        const uint32_t after = count + fresh < k ? count + fresh : k;
        if (k <= SIMT_WARP)
            merge_in_lanes(simt_lane() < fresh ? e : no_entry<TWO>(), after);
        else
            merge_in_slots(e, fresh, after);
        simt_warp_sync(SIMT_ALL_LANES);
        count = after;
    }

  private:
    /* Of a list of no more entries than lanes. */
    TOPK_MEMBER void merge_in_lanes(struct entry e, uint32_t after) {
        const struct entry mine = simt_lane() < count ? get(simt_lane()) : no_entry<TWO>();
        const struct entry other = shuffle_entry<TWO>(e, SIMT_WARP - 1 - simt_lane());
        e = precedes<TWO>(other, mine) ? other : mine;
#pragma unroll
        for (uint32_t distance = SIMT_WARP / 2; distance > 0; distance /= 2)
            e = exchange<TWO>(e, distance, (simt_lane() & distance) != 0);
        if (simt_lane() < after)
            slots.put(first + simt_lane(), e);
    }

    /* Entries of the list move towards its end, to make room for the fresh ones. This goes by 32 slots at a
     * time, the last slots first. */
    TOPK_MEMBER void merge_in_slots(struct entry e, uint32_t fresh, uint32_t after) {
        const uint32_t none = ~0u;
        const uint32_t slot =
            simt_lane() < fresh ? rank_in_list(slots, first, count, e) + simt_lane() : none; /* of e */
        const uint32_t least = simt_shuffle(SIMT_ALL_LANES, slot, 0);
        const uint32_t moved = least < count ? after : 0;
#pragma unroll 1
        for (uint32_t end = (moved + SIMT_WARP - 1) / SIMT_WARP * SIMT_WARP; end > least; end -= SIMT_WARP) {
            const uint32_t begin = end - SIMT_WARP, to = begin + simt_lane();
            const uint32_t taken =
                simt_reduce_or(SIMT_ALL_LANES, slot - begin < SIMT_WARP ? 1u << (slot - begin) : 0);
            const uint32_t before = simt_popc(simt_ballot(SIMT_ALL_LANES, slot < begin)) +
                                    simt_popc(taken & ((1u << simt_lane()) - 1));
            const bool moves = (taken >> simt_lane() & 1) == 0 && to < after;
            const struct entry other = moves ? get(to - before) : no_entry<TWO>();
            simt_warp_sync(SIMT_ALL_LANES);
            if (moves)
                slots.put(first + to, other);
        }
        if (slot < after)
            slots.put(first + slot, e);
    }
};

#endif
