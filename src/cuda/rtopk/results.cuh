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
    /* The entry of a result, in the order that results go in; from `count` on nothing. By position all have
     * one key. */
    TOPK_MEMBER row_entry_t<Element> result_entry(uint32_t slot, uint32_t count) const {
        if (!a.by_position)
            return entry(slot, count);
        return slot < count ? row_entry<Element>::of(1, (uint16_t)lists.positions[slot])
                            : row_entry_t<Element>{};
    }
    /* The entry of a candidate; from `count` on nothing. */
    TOPK_MEMBER row_entry_t<Element> entry(uint32_t slot, uint32_t count) const {
        row_entry_t<Element> e = {};
        if (slot < count)
            e = entry_at((uint16_t)lists.positions[slot]);
        return e;
    }
    TOPK_MEMBER row_entry_t<Element> entry_at(uint32_t position) const {
        return row_entry<Element>::of(key_of<Element>(element(position), a.rows.map), position);
    }
};

/* ---- Results in any order ---- */

template <typename Element, uint32_t WARPS>
TOPK_DEVICE void write_unsorted(const row_task<Element> &t, uint32_t k, const row_team<WARPS> &team) {
    for (uint32_t slot = team.thread(); slot < k; slot += team.THREADS)
        t.write(slot, (uint16_t)t.lists.positions[slot]);
}

/* ---- Results of few candidates, in registers ---- */

/* The lane's; of nothing where there is none. */
template <typename Element> struct few_entries { row_entry_t<Element> first, second; };

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

/* Sorts one word of each lane, or two. */
template <typename Word> TOPK_DEVICE void sort_words(Word *first, Word *second, bool has_pairs) {
    if (has_pairs)
        sort_pairs(first, second);
    else
        *first = sort_lanes(*first);
}

/* The lane's of the first `count` listed elements, at most RTOPK_FEW. */
template <typename Element>
TOPK_DEVICE few_entries<Element> few_listed(const row_task<Element> &t, uint32_t count) {
    few_entries<Element> few = {t.entry(simt_lane(), count), {}};
    if (count > SIMT_WARP) {
        TOPK_REACHED(REACHED_RTOPK_PAIRS);
        few.second = t.entry(SIMT_WARP + simt_lane(), count);
    }
    return few;
}

/* Sorts `count` candidates, whose codes lie between b.low and b.greatest. All lanes. */
template <typename Element, uint32_t POSITIONS>
TOPK_DEVICE few_entries<Element> sort_few(few_entries<Element> few, const warp_bracket<Element> &b,
                                          uint32_t count) {
    typedef near_entry<Element, POSITIONS> near;
    const bool has_pairs = count > SIMT_WARP;
    if (near::fits(b.low, b.greatest)) {
        TOPK_REACHED(REACHED_RTOPK_NEAR);
        typename near::word first = near::of(few.first, b.low, simt_lane() < count);
        typename near::word second = near::of(few.second, b.low, SIMT_WARP + simt_lane() < count);
        sort_words(&first, &second, has_pairs);
        few = few_entries<Element>{near::entry(first, b.low), near::entry(second, b.low)};
    } else {
        sort_words(&few.first, &few.second, has_pairs);
    }
    return few;
}

template <typename Element>
TOPK_DEVICE void write_few(const row_task<Element> &t, const few_entries<Element> &few, uint32_t k) {
    if (simt_lane() < k)
        t.write(simt_lane(), row_entry<Element>::position(few.first));
    if (SIMT_WARP + simt_lane() < k)
        t.write(SIMT_WARP + simt_lane(), row_entry<Element>::position(few.second));
}

/* The same by position: sorts the results of the lane, complements of positions or 0 where there is none. All
 * lanes. */
template <typename Element>
TOPK_DEVICE void write_few_by_position(const row_task<Element> &t, uint32_t first, uint32_t second,
                                       uint32_t k) {
    sort_words(&first, &second, k > SIMT_WARP);
    if (simt_lane() < k)
        t.write(simt_lane(), ~first);
    if (SIMT_WARP + simt_lane() < k)
        t.write(SIMT_WARP + simt_lane(), ~second);
}

/* The entry of lane `lane`. All lanes. */
template <typename Entry> TOPK_DEVICE Entry entry_of_lane(const Entry &e, uint32_t lane) {
    if constexpr (sizeof(Entry) > 8)
        return Entry{simt_shuffle(SIMT_ALL_LANES, e.key, lane),
                     simt_shuffle(SIMT_ALL_LANES, e.complement, lane)};
    else
        return simt_shuffle(SIMT_ALL_LANES, e, lane);
}

/* Writes the k best of candidates that are listed by position, and `sorted` best first. All lanes. */
template <typename Element>
TOPK_DEVICE void write_best_of_few(const row_task<Element> &t, const few_entries<Element> &listed,
                                   const few_entries<Element> &sorted, uint32_t k) {
    const row_entry_t<Element> kth =
        entry_of_lane(k <= SIMT_WARP ? sorted.first : sorted.second, (k - 1) % SIMT_WARP);
    const bool has_first = !(kth > listed.first), has_second = !(kth > listed.second);
    const uint32_t firsts = simt_ballot(SIMT_ALL_LANES, has_first);
    const uint32_t seconds = simt_ballot(SIMT_ALL_LANES, has_second);
    const uint32_t lower = (1u << simt_lane()) - 1;
    if (has_first)
        t.write(simt_popc(firsts & lower), row_entry<Element>::position(listed.first));
    if (has_second)
        t.write(simt_popc(firsts) + simt_popc(seconds & lower), row_entry<Element>::position(listed.second));
}

/* The results at the first k positions of the list, at most RTOPK_FEW. */
template <typename Element> TOPK_DEVICE void write_few_listed(const row_task<Element> &t, uint32_t k) {
    const uint32_t second = SIMT_WARP + simt_lane();
    write_few_by_position(t, simt_lane() < k ? ~(uint32_t)(uint16_t)t.lists.positions[simt_lane()] : 0,
                          second < k ? ~(uint32_t)(uint16_t)t.lists.positions[second] : 0, k);
}

/* ---- Results of many, sorted in shared memory ---- */

/* The list of positions as one of entries, for which there is no other room. */
template <typename Element> struct listed_entries {
    static const uint16_t NOTHING = 0xffff;
    const row_task<Element> &t;

    TOPK_MEMBER row_entry_t<Element> get(uint32_t slot) const {
        const uint32_t position = (uint16_t)t.lists.positions[slot];
        return position != NOTHING ? t.entry_at(position) : row_entry_t<Element>{};
    }
    TOPK_MEMBER void put(uint32_t slot, const row_entry_t<Element> &e) const {
        t.lists.positions[slot] = (uint16_t)row_entry<Element>::position(e);
    }
};

template <typename List> TOPK_DEVICE void compare_slots(const List &l, uint32_t lower, uint32_t upper) {
    const auto a = l.get(lower), b = l.get(upper);
    if (b > a) {
        l.put(lower, b);
        l.put(upper, a);
    }
}

/* The lower slot of pair i, of slots whose numbers differ in one bit. */
TOPK_DEVICE uint32_t lower_slot(uint32_t i, uint32_t bit) {
    return 2 * i - (i & (bit - 1));
}

/* Sorts the first `count` entries, a power of two. Between synchronisations of the team. */
template <typename List, uint32_t WARPS>
TOPK_DEVICE void sort_slots(const List &l, uint32_t count, const row_team<WARPS> &team) {
    for (uint32_t run = 2; run <= count; run *= 2) {
        for (uint32_t i = team.thread(); i < count / 2; i += team.THREADS) {
            const uint32_t lower = lower_slot(i, run / 2);
            compare_slots(l, lower, lower ^ (run - 1));
        }
        team.sync();
        for (uint32_t distance = run / 4; distance != 0; distance /= 2) {
            for (uint32_t i = team.thread(); i < count / 2; i += team.THREADS) {
                const uint32_t lower = lower_slot(i, distance);
                compare_slots(l, lower, lower + distance);
            }
            team.sync();
        }
    }
}

/* Sorts the k results at hand in the list and writes them. */
template <typename Element, typename List, uint32_t WARPS>
TOPK_DEVICE void write_sorted(const row_task<Element> &t, uint32_t k, const List &list,
                              const row_team<WARPS> &team) {
    uint32_t count = 2 * RTOPK_FEW;
    TOPK_REACHED(REACHED_RTOPK_MANY);
    while (count < k)
        count *= 2;
    for (uint32_t slot = team.thread(); slot < count; slot += team.THREADS)
        list.put(slot, t.result_entry(slot, k));
    team.sync();
    sort_slots(list, count, team);
    for (uint32_t slot = team.thread(); slot < k; slot += team.THREADS)
        t.write(slot, row_entry<Element>::position(list.get(slot)));
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
TOPK_DEVICE void write_class_of_few(const row_task<Element> &t, const few_entries<Element> &few, uint32_t k,
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

/* From the row itself, or its candidates: the bracket is closed, or the k-th is the least element in it. All
 * lanes. */
template <typename Element, typename Codes>
TOPK_DEVICE void write_class_of(const row_task<Element> &t, const Codes &held,
                                const warp_bracket<Element> &b) {
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
