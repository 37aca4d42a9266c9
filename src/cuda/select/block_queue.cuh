/* SPDX-License-Identifier: Apache-2.0
 * The queues of a block's warps that select from the same elements. They share a bound: each warp tells the
 * entry whose rank is its part of k, and the last of these is the bound. */
#ifndef TOPK_SRC_CUDA_SELECT_BLOCK_QUEUE_CUH
#define TOPK_SRC_CUDA_SELECT_BLOCK_QUEUE_CUH

#include "warp_queue.cuh"

/* The shared memory of a block. */
template <bool TWO> struct block_memory {
    entry_list<TWO> lists;        /* `capacity` slots for each warp */
    entry_list<TWO> queues;       /* slots for each warp */
    simt_shared<uint64_t> bounds; /* of each warp: the first word of its entry; all ones: it has none yet */
    simt_shared<uint64_t> bound;  /* that all warps know: its first word */
    simt_shared<uint32_t> counts; /* of each warp's list, when the block meets */
};

/* `Owner` as for warp_queue, but for merged(); and it has a member `memory`, as above or derived from it. */
template <bool TWO, typename Owner> struct block_queue : warp_queue<TWO, Owner> {
    typedef warp_queue<TWO, Owner> base;
    uint32_t part_of_k; /* k divided by the block's warps, rounded up */

    static TOPK_MEMBER uint32_t part_of(uint32_t results) {
        return (results + simt_warps() - 1) / simt_warps();
    }
    /* Before a barrier of the block and the first push. */
    TOPK_MEMBER void begin(uint32_t capacity, uint32_t results, struct entry first_bound) {
        base::k = results;
        part_of_k = part_of(results);
        base::queued = 0;
        base::list = warp_list<TWO>{memory().lists, simt_warp() * capacity, 0};
        base::bound = first_bound;
        if (simt_lane() == 0)
            simt_store_relaxed(&memory().bounds[simt_warp()], ~(uint64_t)0);
        if (simt_thread() == 0)
            simt_store_relaxed(&memory().bound[0], first_bound.high);
    }

    /* The first word of the bound that all warps of the block know. */
    TOPK_MEMBER uint64_t known_by_block(void) const {
        return simt_load_relaxed(&memory().bound[0]);
    }
    TOPK_MEMBER void tighten_by_block(void) {
        base::tighten(known_by_block());
    }
    /* Tells all warps. */
    TOPK_MEMBER void tell_block(uint64_t first_word) const {
        if (simt_lane() == 0)
            simt_atomic_min(&memory().bound[0], first_word);
    }

    TOPK_MEMBER void merged(void) {
        if (base::list.count >= part_of_k)
            tell_part();
    }

  private:
    /* Tells the warp's part of the block's bound, and that bound. */
    TOPK_MEMBER void tell_part(void) {
        if (simt_lane() == 0)
            simt_atomic_min(&memory().bounds[simt_warp()], base::list.get(part_of_k - 1).high);
        const uint64_t of_lane =
            simt_lane() < simt_warps() ? simt_load_relaxed(&memory().bounds[simt_lane()]) : 0;
        const uint64_t last = simt_reduce_max(SIMT_ALL_LANES, of_lane);
        if (last != ~(uint64_t)0)
            tell_block(last);
        tighten_by_block();
    }

    TOPK_MEMBER const auto &memory(void) const {
        return static_cast<const Owner *>(this)->memory;
    }
};

/* Behind all entries with this first word. */
template <bool TWO> TOPK_DEVICE struct entry behind(uint64_t first_word) {
    if (TWO)
        return entry{first_word, ~(uint64_t)0};
    return entry{first_word == ~(uint64_t)0 ? first_word : first_word + 1, 0};
}

/* The rank of entry i of the warp's list among the lists of all warps, or some rank from `limit` on. */
template <bool TWO>
TOPK_DEVICE uint32_t rank_in_block(const block_memory<TWO> &m, const warp_list<TWO> &list, uint32_t capacity,
                                   uint32_t i, uint32_t limit) {
    const struct entry e = list.get(i);
    uint32_t rank = i;
#pragma unroll 1
    for (uint32_t warp = 0; warp < simt_warps() && rank < limit; warp++)
        if (warp != simt_warp())
            rank += rank_in_list(m.lists, warp * capacity, m.counts[warp], e);
    return rank;
}

/* How many entries the warp's list has that are not behind the block's bound; and tells all warps. Of these
 * entries the best k are the block's, and it returns their number. All threads; one barrier before, and one
 * inside. */
template <bool TWO>
TOPK_DEVICE uint32_t count_block(const block_memory<TWO> &m, const warp_list<TWO> &list, uint32_t k) {
    const struct entry end = behind<TWO>(simt_load_relaxed(&m.bound[0]));
    if (simt_lane() == 0)
        m.counts[simt_warp()] = rank_in_list(list.slots, list.first, list.count, end);
    simt_block_sync();
    const uint32_t of_lane = simt_lane() < simt_warps() ? (uint32_t)m.counts[simt_lane()] : 0;
    const uint32_t all = simt_reduce_add(SIMT_ALL_LANES, of_lane);
    return all < k ? all : k;
}

/* Calls put(rank, entry) for each of the block's entries, which have been counted. All threads; a barrier
 * follows. */
template <bool TWO, typename Put>
TOPK_DEVICE void rank_counted(const block_memory<TWO> &m, const warp_list<TWO> &list, uint32_t k,
                              uint32_t capacity, const Put &put) {
    const uint32_t count = m.counts[simt_warp()];
#pragma unroll 1
    for (uint32_t i = simt_lane(); i < count; i += SIMT_WARP) {
        const uint32_t rank = rank_in_block(m, list, capacity, i, k);
        if (rank >= k) /* as are all behind it */
            break;
        put(rank, list.get(i));
    }
}

/* Both. */
template <bool TWO, typename Put>
TOPK_DEVICE uint32_t rank_block(const block_memory<TWO> &m, const warp_list<TWO> &list, uint32_t k,
                                uint32_t capacity, const Put &put) {
    const uint32_t count = count_block(m, list, k);
    rank_counted(m, list, k, capacity, put);
    return count;
}

#endif
