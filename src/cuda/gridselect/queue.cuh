/* SPDX-License-Identifier: Apache-2.0
 * A warp's selection on the fly: entries wait in a queue, which is sorted and merged into the warp's list
 * when it is full (GridSelect). All lanes of the warp call each function.
 *
 * A bound is an entry with at least k others of the row at it or before it: what is not before the bound is
 * no result, or is known already. Warps that share a row share bounds: of each warp the entry whose rank is
 * its part of k, and the last of these. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_QUEUE_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_QUEUE_CUH

#include "../../reached.h"
#include "sizes.h"
#include "warp_list.cuh"

/* The shared memory of a block. */
template <bool TWO> struct selection_memory {
    entry_list<TWO> lists;        /* `capacity` slots for each warp */
    entry_list<TWO> queues;       /* `queue` slots for each warp */
    simt_shared<uint64_t> bounds; /* of each warp: the first word of its entry; all ones: it has none yet */
    simt_shared<uint64_t> bound;  /* that all warps know: its first word */
    simt_shared<uint32_t> counts; /* of each warp's list, when the block meets */
    entry_list<false> words;      /* for bound_of_words() */
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

template <bool TWO> struct warp_selection {
    const selection_memory<TWO> &memory;
    bool has_lane_queues;
    uint32_t k;
    uint32_t part_of_k; /* k divided by the block's warps, rounded up */
    uint32_t queued;    /* entries in the warp's queue, or in the lane's own */
    warp_list<TWO> list;
    struct entry bound;

    /* Before a barrier of the block and the first push. */
    TOPK_MEMBER void begin(uint32_t capacity, uint32_t results, struct entry first_bound) {
        k = results;
        part_of_k = (results + simt_warps() - 1) / simt_warps();
        queued = 0;
        list = warp_list<TWO>{memory.lists, simt_warp() * capacity, 0};
        bound = first_bound;
        if (simt_lane() == 0)
            simt_store_relaxed(&memory.bounds[simt_warp()], ~(uint64_t)0);
        if (simt_thread() == 0)
            simt_store_relaxed(&memory.bound[0], first_bound.high);
    }

    TOPK_MEMBER void tighten(struct entry to) {
        bound = is_before(to, bound) ? to : bound;
    }
    /* By an entry's first word. */
    TOPK_MEMBER void tighten(uint64_t first_word) {
        tighten(entry{first_word, TWO ? ~(uint64_t)0 : 0});
    }
    /* By what all warps of the block know. Returns its first word. */
    TOPK_MEMBER uint64_t tighten_by_block(void) {
        const uint64_t known = simt_load_relaxed(&memory.bound[0]);
        tighten(known);
        return known;
    }
    /* Tells all warps. */
    TOPK_MEMBER void tell_block(uint64_t first_word) const {
        if (simt_lane() == 0)
            simt_atomic_min(&memory.bound[0], first_word);
    }

    /* Adds the lanes' entries where `is_wanted`. */
    TOPK_MEMBER void push(bool is_wanted, struct entry e) {
        is_wanted = is_wanted && is_before(e, bound);
        if (has_lane_queues)
            push_to_lane(is_wanted, e);
        else
            push_to_warp(is_wanted, e);
    }

    /* Merges what still waits. */
    TOPK_MEMBER void drain(void) {
        if (has_lane_queues)
            merge_lanes();
        else
            merge_queue();
    }

  private:
    TOPK_MEMBER uint32_t queue_slot(uint32_t slot) const {
        return simt_warp() * queue_slots(has_lane_queues) + slot;
    }

    /* In two steps: what finds no room any more goes in once the queue has been merged. */
    TOPK_MEMBER void push_to_warp(bool is_wanted, struct entry e) {
        const uint32_t lanes = simt_ballot(SIMT_ALL_LANES, is_wanted);
        if (lanes == 0)
            return;
        const uint32_t slot = queued + simt_popc(lanes & ((1u << simt_lane()) - 1));
        const uint32_t all = queued + simt_popc(lanes);
        if (is_wanted && slot < SIMT_WARP)
            memory.queues.put(queue_slot(slot), e);
        simt_warp_sync(SIMT_ALL_LANES);
        queued = all;
        if (all < SIMT_WARP)
            return;
        queued = SIMT_WARP;
        merge_queue();
        if (all > SIMT_WARP)
            TOPK_REACHED(REACHED_GRIDSELECT_SECOND_STEP);
        if (is_wanted && slot >= SIMT_WARP)
            memory.queues.put(queue_slot(slot - SIMT_WARP), e);
        simt_warp_sync(SIMT_ALL_LANES);
        queued = all - SIMT_WARP;
    }

    TOPK_MEMBER void merge_queue(void) {
        const struct entry e =
            simt_lane() < queued ? memory.queues.get(queue_slot(simt_lane())) : no_entry<TWO>();
        simt_warp_sync(SIMT_ALL_LANES);
        queued = 0;
        merge(e);
    }

    TOPK_MEMBER void push_to_lane(bool is_wanted, struct entry e) {
        if (is_wanted)
            memory.queues.put(queue_slot(queued++ * SIMT_WARP + simt_lane()), e);
        if (simt_any(SIMT_ALL_LANES, queued == GRIDSELECT_LANE_QUEUE))
            merge_lanes();
    }

    TOPK_MEMBER void merge_lanes(void) {
#pragma unroll 1
        for (uint32_t i = 0; simt_any(SIMT_ALL_LANES, i < queued); i++)
            merge(i < queued ? memory.queues.get(queue_slot(i * SIMT_WARP + simt_lane())) : no_entry<TWO>());
        queued = 0;
    }

    /* Those that are still before the bound. */
    TOPK_MEMBER void merge(struct entry e) {
        e = sort_lanes<TWO>(e);
        const uint32_t fresh = simt_popc(simt_ballot(SIMT_ALL_LANES, is_before(e, bound)));
        if (fresh == 0) {
            TOPK_REACHED(REACHED_GRIDSELECT_NONE_FRESH);
            return;
        }
        list.merge(e, fresh, k);
        if (list.count == k)
            tighten(list.get(k - 1));
        if (list.count >= part_of_k)
            tell_part();
    }

    /* Tells the warp's part of the block's bound, and that bound. */
    TOPK_MEMBER void tell_part(void) {
        if (simt_lane() == 0)
            simt_atomic_min(&memory.bounds[simt_warp()], list.get(part_of_k - 1).high);
        const uint64_t of_lane =
            simt_lane() < simt_warps() ? simt_load_relaxed(&memory.bounds[simt_lane()]) : 0;
        const uint64_t last = simt_reduce_max(SIMT_ALL_LANES, of_lane);
        if (last != ~(uint64_t)0)
            tell_block(last);
        tighten_by_block();
    }
};

/* Behind all entries with this first word. */
template <bool TWO> TOPK_DEVICE struct entry behind(uint64_t first_word) {
    if (TWO)
        return entry{first_word, ~(uint64_t)0};
    return entry{first_word == ~(uint64_t)0 ? first_word : first_word + 1, 0};
}

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

/* The rank of entry i of the warp's list among all lists, or some rank from `limit` on. */
template <bool TWO>
TOPK_DEVICE uint32_t rank_in_block(const warp_selection<TWO> &s, uint32_t capacity, uint32_t i,
                                   uint32_t limit) {
    const selection_memory<TWO> &m = s.memory;
    const struct entry e = s.list.get(i);
    uint32_t rank = i;
    for (uint32_t warp = 0; warp < simt_warps() && rank < limit; warp++)
        if (warp != simt_warp())
            rank += rank_in_list(m.lists, warp * capacity, m.counts[warp], e);
    return rank;
}

/* Calls put(rank, entry) for each of the best k entries of all warps' lists together, but for those behind
 * the block's bound, and returns how many these are. All threads; between barriers. */
template <bool TWO, typename Put>
TOPK_DEVICE uint32_t rank_block(const warp_selection<TWO> &s, uint32_t capacity, const Put &put) {
    const selection_memory<TWO> &m = s.memory;
    const struct entry end = behind<TWO>(simt_load_relaxed(&m.bound[0]));
    const uint32_t count = rank_in_list(s.list.slots, s.list.first, s.list.count, end);
    if (simt_lane() == 0)
        m.counts[simt_warp()] = count;
    simt_block_sync();
    const uint32_t of_lane = simt_lane() < simt_warps() ? (uint32_t)m.counts[simt_lane()] : 0;
    const uint32_t all = simt_reduce_add(SIMT_ALL_LANES, of_lane);
    for (uint32_t i = simt_lane(); i < count; i += SIMT_WARP) {
        const uint32_t rank = rank_in_block(s, capacity, i, s.k);
        if (rank >= s.k) /* as are all behind it */
            break;
        put(rank, s.list.get(i));
    }
    return all < s.k ? all : s.k;
}

#endif
