/* SPDX-License-Identifier: Apache-2.0
 * What hits lead to. A warp takes slots of a sink, all at once, and puts its hits there:
 *
 *   uint64_t take(count)                the first of `count` slots. All lanes
 *   void put(slot, bits, position)
 *   bool is_full()                      no hit is needed any more, as far as the warp knows
 *   bool has_all(winners)               neither this sink nor the winners' needs any. All lanes
 *   HAS_LIMIT                           whether that can be */
#ifndef TOPK_SRC_CUDA_SELECT_SINKS_CUH
#define TOPK_SRC_CUDA_SELECT_SINKS_CUH

#include "histogram.cuh"

/* Takes `count` slots for the warp. `counter` points to global or shared memory. All lanes. */
template <typename Counter> TOPK_DEVICE uint64_t take_slots(Counter counter, uint32_t count) {
    uint64_t first = 0;
    if (simt_lane() == 0)
        first = simt_atomic_add(counter, (uint64_t)count);
    return simt_shuffle(SIMT_ALL_LANES, first, 0);
}

/* Results in any order, in slots `first` to first + limit - 1 of a target: more of them are dropped. */
template <typename Target, typename Counter> struct result_sink {
    static const bool HAS_LIMIT = true;
    Target target;
    Counter counter; /* of slots taken */
    uint64_t first, limit;
    bool full = false;
    uint32_t asked = 0;

    TOPK_MEMBER uint64_t take(uint32_t count) {
        uint64_t slot = limit == 0 ? 0 : take_slots(counter, count);
        full = slot + count >= limit;
        return slot;
    }
    TOPK_MEMBER void put(uint64_t slot, typename Target::word bits, int64_t position) const {
        if (slot < limit)
            target.put(first + slot, bits, position);
    }
    TOPK_MEMBER bool is_full(void) const {
        return full;
    }
    template <typename Winners> TOPK_MEMBER bool has_all(const Winners &winners) {
        return full && asked++ % Target::PATIENCE == 0 && winners.ask();
    }
    /* Asks the counter whether all warps together have filled it. All lanes. */
    TOPK_MEMBER bool ask(void) const {
        uint64_t taken = simt_lane() == 0 ? Target::read(counter) : 0;
        return simt_shuffle(SIMT_ALL_LANES, taken, 0) >= limit;
    }
};

template <typename Target, typename Counter>
result_sink(Target, Counter, uint64_t, uint64_t) -> result_sink<Target, Counter>;

/* Candidates on their way to a list, which has room for all. */
template <typename List, typename Counter> struct candidate_sink {
    static const bool HAS_LIMIT = false;
    typedef typename List::element element;
    typedef key_word_t<element> word;
    List list;
    Counter counter; /* of slots taken */

    TOPK_MEMBER uint64_t take(uint32_t count) const {
        return take_slots(counter, count);
    }
    TOPK_MEMBER void put(uint64_t slot, word bits, int64_t position) const {
        list.put(slot, bits, position);
    }
    TOPK_MEMBER bool is_full(void) const {
        return false;
    }
    template <typename Winners> TOPK_MEMBER bool has_all(const Winners &) const {
        return false;
    }
};

template <typename List, typename Counter> candidate_sink(List, Counter) -> candidate_sink<List, Counter>;

/* The same; counts a digit of them on the way. */
template <typename Sink> struct counting_sink : Sink {
    const struct code_map &map;
    struct digit_counter digits;

    TOPK_MEMBER void put(uint64_t slot, typename Sink::word bits, int64_t position) const {
        Sink::put(slot, bits, position);
        digits.count<typename Sink::element>(code_of<typename Sink::element>(bits, map));
    }
};

#endif
