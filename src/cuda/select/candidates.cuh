/* SPDX-License-Identifier: Apache-2.0
 * Candidates in a list (lists.cuh), in global or in shared memory. All of them match the predicate. */
#ifndef TOPK_SRC_CUDA_SELECT_CANDIDATES_CUH
#define TOPK_SRC_CUDA_SELECT_CANDIDATES_CUH

#include "digit.cuh"
#include "filter.cuh"
#include "lists.cuh"

/* A few for each thread. */
template <typename List, uint32_t COUNT> struct candidate_tile {
    static const uint32_t PER = 1, GROUPS = COUNT;
    key_word_t<typename List::element> elements[GROUPS];
    typename List::index positions[GROUPS];
    uint32_t count;

    TOPK_MEMBER bool valid(uint32_t group) const {
        return group < count;
    }
    TOPK_MEMBER key_word_t<typename List::element> bits(uint32_t group, uint32_t) const {
        return elements[group];
    }
    TOPK_MEMBER int64_t position(uint32_t group, uint32_t) const {
        return positions[group];
    }
};

/* The candidates from slot `first` on, of `count` in the list. */
template <uint32_t COUNT, typename List>
TOPK_DEVICE candidate_tile<List, COUNT> load_candidates(const List &list, typename List::index first,
                                                        typename List::index count) {
    candidate_tile<List, COUNT> t;
    t.count = 0;
#pragma unroll
    for (uint32_t g = 0; g < COUNT; g++) {
        typename List::index slot = first + g * simt_threads() + simt_thread();
        bool inside = slot < count;
        t.elements[g] = inside ? list.bits(slot) : 0;
        t.positions[g] = inside ? list.position(slot) : 0;
        t.count += inside;
    }
    return t;
}

/* Calls work() with the tiles that are the block's share, of COUNT candidates for each thread. */
template <uint32_t COUNT, typename List, typename Work>
TOPK_DEVICE void for_candidates(const List &list, typename List::index count, struct share share,
                                const Work &work) {
    const typename List::index step = simt_threads() * COUNT;
    for (typename List::index first = share.block * step; first < count; first += share.blocks * step)
        work(load_candidates<COUNT>(list, first, count));
}

/* Counts a digit of the candidates that are still in the range. */
template <typename Element, uint32_t COUNT = 4, typename List>
TOPK_DEVICE void count_candidates(const List &list, typename List::index count, struct share share,
                                  const code_range<Element> &range, const struct digit_counter &counter) {
    for_candidates<COUNT>(list, count, share, [&](const auto &tile) TOPK_LAMBDA {
        count_tile<Element, false>(tile, range, counter);
    });
}

/* Filters them. Out: hit_sinks or hit_queues. */
template <typename Element, typename List, typename Out>
TOPK_DEVICE void filter_candidates(const List &list, typename List::index count, struct share share,
                                   const code_range<Element> &range, Out &out) {
    for_candidates<4>(list, count, share,
                      [&](const auto &tile) TOPK_LAMBDA { filter_tile<Element>(tile, range, out); });
    drain(out);
}

/* Narrows the range by the lowest `unknown` bits of the candidates in a block's shared memory, digit by
 * digit, until it is decided. PER: bins of a thread, at least. All threads. */
template <uint32_t PER, typename Element>
TOPK_DEVICE void narrow_candidates(const shared_list<Element> &list, uint32_t count,
                                   const struct code_map &map, const struct digit_plan &plan,
                                   uint32_t unknown, const struct digit_shared &s, struct kth_range *range) {
    while (!is_decided(plan, *range, unknown)) {
        const struct digit digit = next_digit(plan, &unknown);
        const code_range<Element> before = code_range_of<Element>(map, *range);
        simt_block_sync();
        clear_bins(s.bins, digit.mask + 1);
        simt_block_sync();
        count_candidates<Element>(list, count, for_one_block(), before, digit_counter{digit, s.bins});
        (void)narrow<PER, false>(map, digit, s, range);
    }
}

#endif
