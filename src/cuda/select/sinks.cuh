/* SPDX-License-Identifier: Apache-2.0
 * What hits lead to. A warp takes slots of a sink, all at once, and puts its hits there:
 *
 *   uint64_t take(count)                the first of `count` slots. All lanes
 *   void put(slot, bits, position)
 *   bool is_full()                      no hit is needed any more, as far as the warp knows
 *   bool has_all(winners)               neither this sink nor that of the winners needs any. All lanes
 *   HAS_LIMIT                           whether that can be */
#ifndef TOPK_SRC_CUDA_SELECT_SINKS_CUH
#define TOPK_SRC_CUDA_SELECT_SINKS_CUH

#include "histogram.cuh"

/* Counters of the slots taken: in global memory, and in shared memory. The first is asked less often. */
struct global_slots {
    static const uint32_t PATIENCE = 8;
    uint64_t *taken;

    TOPK_MEMBER uint64_t add(uint64_t count) const {
        return simt_atomic_add(taken, count);
    }
    TOPK_MEMBER uint64_t read(void) const {
        return simt_load_relaxed(taken);
    }
};

struct shared_slots {
    static const uint32_t PATIENCE = 1;
    simt_shared<uint64_t> counters;
    uint32_t counter;

    TOPK_MEMBER uint64_t add(uint64_t count) const {
        return simt_atomic_add(&counters[counter], count);
    }
    TOPK_MEMBER uint64_t read(void) const {
        return simt_atomic_add(&counters[counter], (uint64_t)0);
    }
};

/* Takes `count` slots for the warp. All lanes. */
template <typename Slots> TOPK_DEVICE uint64_t take_slots(const Slots &slots, uint32_t count) {
    uint64_t first = 0;
    if (simt_lane() == 0)
        first = slots.add(count);
    return simt_shuffle(SIMT_ALL_LANES, first, 0);
}

/* Results in any order, in slots `first` to first + limit - 1 of a target: more of them are dropped. */
template <typename Element, typename Target, typename Slots> struct result_sink {
    static const bool HAS_LIMIT = true;
    Target target;
    Slots slots;
    uint64_t first, limit;
    bool full;
    uint32_t asked;

    TOPK_MEMBER uint64_t take(uint32_t count) {
        uint64_t slot = take_slots(slots, count);
        full = slot + count >= limit;
        return slot;
    }
    TOPK_MEMBER void put(uint64_t slot, key_word_t<Element> bits, int64_t position) const {
        if (slot < limit)
            target.put(first + slot, bits, position);
    }
    TOPK_MEMBER bool is_full(void) const {
        return full;
    }
    template <typename Winners> TOPK_MEMBER bool has_all(const Winners &winners) {
        return full && asked++ % Slots::PATIENCE == 0 && winners.ask();
    }
    /* Asks the counter whether all warps together have filled it. All lanes. */
    TOPK_MEMBER bool ask(void) const {
        uint64_t taken = simt_lane() == 0 ? slots.read() : 0;
        return simt_shuffle(SIMT_ALL_LANES, taken, 0) >= limit;
    }
};

template <typename Element, typename Target, typename Slots>
TOPK_DEVICE result_sink<Element, Target, Slots> result_sink_of(const Target &target, const Slots &slots,
                                                               uint64_t first, uint64_t limit) {
    return result_sink<Element, Target, Slots>{target, slots, first, limit, false, 0};
}

/* Candidates on their way to a list, which has room for all. */
template <typename List, typename Slots> struct candidate_sink {
    static const bool HAS_LIMIT = false;
    typedef key_word_t<typename List::element> word;
    List list;
    Slots slots;

    TOPK_MEMBER uint64_t take(uint32_t count) const {
        return take_slots(slots, count);
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

/* The same; counts a digit of them on the way. */
template <typename List, typename Slots> struct counting_sink : candidate_sink<List, Slots> {
    typedef candidate_sink<List, Slots> base;
    const struct code_map &map;
    struct digit_counter counter;

    TOPK_MEMBER void put(uint64_t slot, typename base::word bits, int64_t position) const {
        base::put(slot, bits, position);
        counter.count<typename List::element>(code_of<typename List::element>(bits, map));
    }
};

#endif
