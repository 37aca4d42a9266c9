/* SPDX-License-Identifier: Apache-2.0
 * The selections of a block's warps from the parts of a row that they read. A queue is the warp's, or each
 * lane's. All lanes of the warp call each function.
 *
 * A bound is an entry with at least k others of the row at it or before it. Warps and blocks that share a row
 * share bounds. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_QUEUE_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_QUEUE_CUH

#include "either_queue.cuh"

/* The shared memory of a block. */
template <bool TWO> struct selection_memory : block_memory<TWO> {
    simt_shared<uint32_t> k;    /* results of the row */
    entry_list<false> words;    /* of each block of a row: for bound_of_words() */
    simt_shared<uint32_t> word; /* from one thread to all */
};

/* Slots for a word of each block: in runs, a warp's lanes each. */
TOPK_HOST_DEVICE uint32_t words_of(uint32_t blocks) {
    return (blocks + SIMT_WARP - 1) / SIMT_WARP * SIMT_WARP;
}

/* For blocks of `warps` warps, in a grid with `blocks` blocks for a row. */
template <bool TWO>
TOPK_HOST_DEVICE selection_memory<TWO> carve_selection(simt_arena &arena, const struct gridselect_args &a,
                                                       uint32_t warps, uint32_t blocks) {
    selection_memory<TWO> m = {};
    m.lists = carve_entries<TWO>(arena, warps * a.capacity);
    m.queues = carve_entries<TWO>(arena, warps * queue_slots(a.has_lane_queues));
    m.bounds = simt_carve<uint64_t>(arena, warps);
    m.bound = simt_carve<uint64_t>(arena, 1);
    m.words = carve_entries<false>(arena, a.part > 0 ? words_of(blocks) : 0);
    m.counts = simt_carve<uint32_t>(arena, warps);
    m.k = simt_carve<uint32_t>(arena, 1);
    m.word = simt_carve<uint32_t>(arena, 1);
    return m;
}

template <bool TWO>
TOPK_NOINLINE struct warp_state merge_waiting(const struct gridselect_args &a, struct warp_state state);

template <bool TWO>
struct warp_selection : either_queue<TWO, warp_selection<TWO>, block_queue<TWO, warp_selection<TWO>>> {
    typedef block_queue<TWO, warp_selection<TWO>> base;
    typedef either_queue<TWO, warp_selection<TWO>, base> queue;
    const struct gridselect_args &a;
    selection_memory<TWO> memory;

    TOPK_MEMBER explicit warp_selection(const struct gridselect_args &args) : queue{}, a(args) {
        simt_arena arena = simt_shared_arena();
        memory = carve_selection<TWO>(arena, a, simt_warps(), simt_blocks());
    }
    TOPK_MEMBER warp_selection(const struct gridselect_args &args, const struct warp_state &state)
        : warp_selection(args) {
        resume(state);
    }
    /* Before a barrier of the block and the first push. */
    TOPK_MEMBER void begin_row(uint32_t results) {
        base::begin(a.capacity, results, no_entry<TWO>());
        if (simt_thread() == 0)
            memory.k[0] = results;
    }
    TOPK_MEMBER void resume(const struct warp_state &state) {
        base::bound = state.bound;
        base::k = memory.k[0];
        base::part_of_k = base::part_of(base::k);
        base::queued = state.queued;
        base::list = warp_list<TWO>{memory.lists, simt_warp() * a.capacity, state.count};
    }
    TOPK_MEMBER bool has_lane_queues(void) const {
        return a.has_lane_queues;
    }
    TOPK_MEMBER const entry_list<TWO> &queue_entries(void) const {
        return memory.queues;
    }
    TOPK_MEMBER uint32_t queue_slot(uint32_t slot) const {
        return simt_warp() * queue_slots(a.has_lane_queues) + slot;
    }

    /* Merges what waits, if anything does. */
    TOPK_MEMBER void merge_queue(void) {
        if (simt_any(SIMT_ALL_LANES, base::queued > 0))
            resume(merge_waiting<TWO>(a, queue::state()));
    }
};

/* Merges what waits. A function of its own: its code is long, and the first call of it finds the cache of
 * instructions cold. */
template <bool TWO>
TOPK_NOINLINE struct warp_state merge_waiting(const struct gridselect_args &a, struct warp_state state) {
    warp_selection<TWO> s(a, state);
    s.merge_here();
    return s.state();
}

/* ---- Words of many blocks ---- */

/* Puts the lanes' words into the slots from `first` on, sorted. */
TOPK_DEVICE void put_words(const entry_list<false> &words, uint32_t first, uint64_t of_lane) {
    words.put(first + simt_lane(), sort_lanes<false>(entry{of_lane, 0}));
}

/* How many words of the run from `first` on are below `word`; and with `up_to`, at it or below. */
TOPK_DEVICE uint32_t rank_in_run(const entry_list<false> &words, uint32_t first, uint64_t word, bool up_to) {
    uint32_t rank = 0;
#pragma unroll
    for (uint32_t step = SIMT_WARP / 2; step > 0; step /= 2) {
        const uint64_t other = words.get(first + rank + step - 1).high;
        rank += other < word || (up_to && other == word) ? step : 0;
    }
    const uint64_t other = words.get(first + rank).high;
    return rank + (other < word || (up_to && other == word));
}

/* Of the words of `blocks` blocks, the one that `needed` are not behind: a thread that finds it returns it,
 * others all ones, as all do where words of all ones are needed. All threads; one barrier before. */
TOPK_DEVICE uint64_t bound_of_words(const entry_list<false> &words, uint32_t blocks, uint32_t needed) {
    uint64_t found = ~(uint64_t)0;
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < words_of(blocks); slot += simt_threads()) {
        const uint64_t mine = words.get(slot).high;
        uint32_t before = 0, up_to = 0;
#pragma unroll 2
        for (uint32_t first = 0; first < words_of(blocks); first += SIMT_WARP) {
            before += rank_in_run(words, first, mine, false);
            up_to += rank_in_run(words, first, mine, true);
        }
        found = before < needed && up_to >= needed ? mine : found;
    }
    return found;
}

#endif
