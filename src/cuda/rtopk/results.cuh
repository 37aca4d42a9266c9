/* SPDX-License-Identifier: Apache-2.0
 * A row's results, from positions in shared memory to the outputs. */
#ifndef TOPK_SRC_CUDA_RTOPK_RESULTS_CUH
#define TOPK_SRC_CUDA_RTOPK_RESULTS_CUH

#include "collect.cuh"

/* Where a warp's row comes from and goes to. */
template <typename Element> struct row_task {
    const struct rtopk_args &a;
    int64_t row;
    struct row r;
    const warp_lists<Element> &lists;

    TOPK_MEMBER Element element(uint32_t position) const {
        return simt_load_read_only(row_values<Element>(a.rows, r) + position);
    }
    TOPK_MEMBER void write(uint32_t slot, uint32_t position) const {
        write_result<Element>(a.rows, row, r, slot, element(position), position);
    }
    /* The entry of a candidate; from `count` on nothing. */
    TOPK_MEMBER row_entry_t<Element> entry(uint32_t slot, uint32_t count) const {
        row_entry_t<Element> e = {};
        if (slot < count) {
            const uint32_t position = (uint16_t)lists.positions[slot];
            e = row_entry<Element>::of(key_of<Element>(element(position), a.rows.map), position);
        }
        return e;
    }
};

/* ---- Results in any order ---- */

template <typename Element> TOPK_DEVICE void write_unsorted(const row_task<Element> &t, uint32_t k) {
    for (uint32_t slot = simt_lane(); slot < k; slot += SIMT_WARP)
        t.write(slot, (uint16_t)t.lists.positions[slot]);
}

/* ---- Results of few candidates, in registers ---- */

template <typename Element> struct sorted_few { row_entry_t<Element> first, second; };

/* Candidates whose keys differ in few bits: the key above the least one and the position share a word, which
 * is exchanged in half the instructions. POSITIONS: a power of two, above all positions. */
template <typename Element, uint32_t POSITIONS> struct near_entry {
    typedef key_word_t<Element> word;

    static TOPK_MEMBER bool fits(word low, word greatest) {
        return sizeof(Element) >= 4 && greatest - low < ~(word)0 / POSITIONS;
    }
    static TOPK_MEMBER word of(const row_entry_t<Element> &e, word low, bool exists) {
        const word key = (row_entry<Element>::key(e) - low) * POSITIONS;
        return exists ? key + (POSITIONS - 1 - row_entry<Element>::position(e)) : 0;
    }
    static TOPK_MEMBER row_entry_t<Element> entry(word e, word low) {
        return row_entry<Element>::of(low + e / POSITIONS, POSITIONS - 1 - (uint32_t)(e % POSITIONS));
    }
};

/* Sorts up to RTOPK_FEW candidates, whose codes lie between b.low and b.greatest. All lanes. */
template <typename Element, uint32_t POSITIONS>
TOPK_DEVICE sorted_few<Element> sort_few(const row_task<Element> &t, const code_bracket<Element> &b,
                                         uint32_t count) {
    typedef near_entry<Element, POSITIONS> near;
    sorted_few<Element> few = {t.entry(simt_lane(), count), {}};
    if (count > SIMT_WARP) {
        TOPK_REACHED(REACHED_RTOPK_PAIRS);
        few.second = t.entry(SIMT_WARP + simt_lane(), count);
        sort_pairs(&few.first, &few.second);
    } else if (near::fits(b.low, b.greatest)) {
        TOPK_REACHED(REACHED_RTOPK_NEAR);
        few.first = near::entry(sort_lanes(near::of(few.first, b.low, simt_lane() < count)), b.low);
    } else {
        few.first = sort_lanes(few.first);
    }
    return few;
}

template <typename Element>
TOPK_DEVICE void write_few(const row_task<Element> &t, const sorted_few<Element> &few, uint32_t k) {
    if (simt_lane() < k)
        t.write(simt_lane(), row_entry<Element>::position(few.first));
    if (SIMT_WARP + simt_lane() < k)
        t.write(SIMT_WARP + simt_lane(), row_entry<Element>::position(few.second));
}

/* ---- Results of many, sorted in shared memory ---- */

template <typename Element>
TOPK_DEVICE void compare_slots(const warp_lists<Element> &l, uint32_t lower, uint32_t upper) {
    const row_entry_t<Element> a = l.get(lower), b = l.get(upper);
    if (b > a) {
        l.put(lower, b);
        l.put(upper, a);
    }
}

/* Sorts the first `count` entries, a power of two. Between synchronisations of the warp. */
template <typename Element> TOPK_DEVICE void sort_slots(const warp_lists<Element> &l, uint32_t count) {
    for (uint32_t run = 2; run <= count; run *= 2) {
        for (uint32_t i = simt_lane(); i < count / 2; i += SIMT_WARP) {
            const uint32_t lower = i / (run / 2) * run + i % (run / 2);
            compare_slots(l, lower, lower ^ (run - 1));
        }
        simt_warp_sync(SIMT_ALL_LANES);
        for (uint32_t distance = run / 4; distance != 0; distance /= 2) {
            for (uint32_t i = simt_lane(); i < count / 2; i += SIMT_WARP) {
                const uint32_t lower = i / distance * 2 * distance + i % distance;
                compare_slots(l, lower, lower + distance);
            }
            simt_warp_sync(SIMT_ALL_LANES);
        }
    }
}

/* Sorts the k results at hand and writes them. */
template <typename Element> TOPK_DEVICE void write_sorted(const row_task<Element> &t, uint32_t k) {
    uint32_t count = 2 * RTOPK_FEW;
    TOPK_REACHED(REACHED_RTOPK_MANY);
    while (count < k)
        count *= 2;
    for (uint32_t slot = simt_lane(); slot < count; slot += SIMT_WARP)
        t.lists.put(slot, t.entry(slot, k));
    simt_warp_sync(SIMT_ALL_LANES);
    sort_slots(t.lists, count);
    for (uint32_t slot = simt_lane(); slot < k; slot += SIMT_WARP)
        t.write(slot, row_entry<Element>::position(t.lists.get(slot)));
}

/* ---- The k-th class ---- */

/* One lane writes the class of code `code`. */
template <typename Element>
TOPK_DEVICE void write_class(const row_task<Element> &t, key_word_t<Element> code, uint32_t better,
                             uint32_t equal) {
    if (simt_lane() == 0)
        write_kth<Element>(t.a.kth, t.row, decode_key(t.a.decode, code), better, equal);
}

/* From candidates in the order of their results. All lanes. */
template <typename Element>
TOPK_DEVICE void write_class_of_few(const row_task<Element> &t, const sorted_few<Element> &few, uint32_t k,
                                    uint32_t count) {
    typedef key_word_t<Element> word;
    const word first = row_entry<Element>::key(few.first), second = row_entry<Element>::key(few.second);
    const word kth = simt_shuffle(SIMT_ALL_LANES, k <= SIMT_WARP ? first : second, (k - 1) % SIMT_WARP);
    const bool has_first = simt_lane() < count, has_second = SIMT_WARP + simt_lane() < count;
    const uint32_t better = simt_popc(simt_ballot(SIMT_ALL_LANES, has_first && first > kth)) +
                            simt_popc(simt_ballot(SIMT_ALL_LANES, has_second && second > kth));
    const uint32_t equal = simt_popc(simt_ballot(SIMT_ALL_LANES, has_first && first == kth)) +
                           simt_popc(simt_ballot(SIMT_ALL_LANES, has_second && second == kth));
    write_class(t, kth, better, equal);
}

/* From the row itself: the bracket is closed, or the k-th is the least element in it. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void write_class_of_row(const row_task<Element> &t, const held_row<Element, ITEMS> &held,
                                    const code_bracket<Element> &b) {
    typedef key_word_t<Element> word;
    uint32_t better = b.above;
    word code = b.low;
    if (!b.is_closed(t.a.rows.map)) {
        code = least_from(held, b.low);
        const word last = class_last<Element>(code, t.a.rows.map);
        better = last < b.high ? count_from(held, (word)(last + 1)) : b.above;
    }
    write_class(t, code, better, b.count - better);
}

#endif
