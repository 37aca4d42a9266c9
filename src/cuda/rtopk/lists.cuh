/* SPDX-License-Identifier: Apache-2.0
 * A warp's lists in shared memory. */
#ifndef TOPK_SRC_CUDA_RTOPK_LISTS_CUH
#define TOPK_SRC_CUDA_RTOPK_LISTS_CUH

#include "entries.cuh"

/* Of an entry the first word, which is all of it unless the key has 64 bits. */
template <typename Element> struct entry_word { typedef row_entry_t<Element> type; };
template <> struct entry_word<uint64_t> { typedef uint64_t type; };
template <typename Element> using entry_word_t = typename entry_word<Element>::type;

template <typename Element> struct warp_lists {
    simt_shared<uint16_t> positions;
    simt_shared<entry_word_t<Element>> entries;
    simt_shared<uint32_t> complements; /* the second words of entries */

    TOPK_MEMBER row_entry_t<Element> get(uint32_t slot) const {
        if constexpr (sizeof(Element) == 8)
            return wide_entry{entries[slot], complements[slot]};
        else
            return entries[slot];
    }
    TOPK_MEMBER void put(uint32_t slot, const row_entry_t<Element> &e) const {
        if constexpr (sizeof(Element) == 8) {
            entries[slot] = e.key;
            complements[slot] = e.complement;
        } else {
            entries[slot] = e;
        }
    }
};

/* How many second words there are. */
template <typename Element> TOPK_HOST_DEVICE uint32_t second_words(uint32_t entries) {
    return sizeof(Element) == 8 ? entries : 0;
}

/* The lists of `warps` warps, one behind the other. */
template <typename Element>
TOPK_HOST_DEVICE warp_lists<Element> carve_lists(simt_arena &arena, const struct rtopk_args &a,
                                                 uint32_t warps) {
    warp_lists<Element> lists;
    lists.entries = simt_carve<entry_word_t<Element>>(arena, warps * a.entries);
    lists.complements = simt_carve<uint32_t>(arena, warps * second_words<Element>(a.entries));
    lists.positions = simt_carve<uint16_t>(arena, warps * a.slots);
    return lists;
}

/* The lists of warp or team `index`. */
template <typename Element>
TOPK_DEVICE warp_lists<Element> lists_of(const warp_lists<Element> &all, const struct rtopk_args &a,
                                         uint32_t index) {
    const uint32_t second = second_words<Element>(a.entries);
    warp_lists<Element> lists;
    lists.positions = simt_shared_part(all.positions, index * a.slots, a.slots);
    lists.entries = simt_shared_part(all.entries, index * a.entries, a.entries);
    lists.complements = simt_shared_part(all.complements, index * second, second);
    return lists;
}

#endif
