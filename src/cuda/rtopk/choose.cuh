/* SPDX-License-Identifier: Apache-2.0
 * The results of a row among its listed candidates, one or two for each lane. Lists ascend by position among
 * elements that tie, so ties go by slot. */
#ifndef TOPK_SRC_CUDA_RTOPK_CHOOSE_CUH
#define TOPK_SRC_CUDA_RTOPK_CHOOSE_CUH

#include "candidates.cuh"
#include "results.cuh"
#include "uniform.cuh"

/* A row of a problem whose rows are all alike. */
template <typename Element> struct uniform_task {
    const struct rtopk_args &a;
    const Element *values;
    int64_t first_slot;         /* of its results in the outputs */
    uint32_t left;              /* the row's indices begin here */
    simt_shared<uint16_t> list; /* indices of candidates */

    TOPK_MEMBER uint32_t position(uint32_t slot) const {
        return (uint32_t)(uint16_t)list[slot] - left;
    }
    TOPK_MEMBER Element element(uint32_t position) const {
        return simt_load_read_only(values + position);
    }
    TOPK_MEMBER void write(uint32_t slot, Element bits, uint32_t position) const {
        write_uniform(a, first_slot + slot, values, bits, position);
    }
};

/* The lane's candidates of a row, in slots lane and 32 + lane. */
template <typename Element, uint32_t EACH> struct few_candidates {
    typedef key_word_t<Element> word;
    word words[EACH]; /* word_of() */
    uint32_t positions[EACH];
    Element bits[EACH];
    uint32_t count;
    uint32_t threshold;
    uint32_t span; /* how far words may lie above the threshold */

    TOPK_MEMBER bool exists(uint32_t e) const {
        return e * SIMT_WARP + simt_lane() < count;
    }
    /* How far a word's upper 32 bits lie above the threshold; 0 if there is no candidate. */
    TOPK_MEMBER uint32_t above(uint32_t e) const {
        const uint32_t lead =
            sizeof(Element) == 8 ? (uint32_t)((uint64_t)words[e] >> 32) : (uint32_t)words[e];
        return exists(e) ? lead - threshold : 0;
    }
};

template <typename Element, uint32_t EACH>
TOPK_DEVICE few_candidates<Element, EACH> load_candidates(const uniform_task<Element> &t,
                                                          const struct lead_search &s) {
    const struct lead_map &map = t.a.uniform.map;
    few_candidates<Element, EACH> c;
    c.count = s.count;
    c.threshold = s.threshold;
    c.span = (s.greatest < map.highest ? s.greatest : map.highest) + map.unit - s.threshold;
#pragma unroll
    for (uint32_t e = 0; e < EACH; e++) {
        c.positions[e] = 0;
        c.words[e] = 0;
        c.bits[e] = 0;
        if (c.exists(e)) {
            c.positions[e] = t.position(e * SIMT_WARP + simt_lane());
            c.bits[e] = t.element(c.positions[e]);
            c.words[e] = word_of<Element>(c.bits[e], t.a.rows.map, map);
        }
    }
    return c;
}

/* ---- Results in any order ---- */

/* Of a row's hits: those of the first 32 slots, then of the others. */
template <uint32_t EACH> struct slot_hits { uint32_t masks[EACH]; };

template <uint32_t EACH> TOPK_DEVICE uint32_t count_slots(const slot_hits<EACH> &hits) {
    return simt_popc(hits.masks[0]) + (EACH > 1 ? simt_popc(hits.masks[EACH - 1]) : 0);
}

/* Takes the worst `surplus` ties off the hits. `all_tie`: keys of ties are equal. All lanes. */
template <typename Element, uint32_t EACH>
TOPK_DEVICE void drop_surplus(const few_candidates<Element, EACH> &c, slot_hits<EACH> ties, bool all_tie,
                              uint32_t surplus, slot_hits<EACH> *hits) {
    typedef key_word_t<Element> word;
    TOPK_REACHED(REACHED_RTOPK_SURPLUS);
    for (; surplus > 0; surplus--) {
        slot_hits<EACH> worst = ties;
        if (!all_tie) {
            word least = ~(word)0;
#pragma unroll
            for (uint32_t e = 0; e < EACH; e++)
                least = (ties.masks[e] >> simt_lane() & 1) != 0 && c.words[e] < least ? c.words[e] : least;
            least = simt_reduce_min(SIMT_ALL_LANES, least);
#pragma unroll
            for (uint32_t e = 0; e < EACH; e++)
                worst.masks[e] = simt_ballot(SIMT_ALL_LANES,
                                             (ties.masks[e] >> simt_lane() & 1) != 0 && c.words[e] == least);
        }
        const uint32_t last = worst.masks[EACH - 1] != 0 ? EACH - 1 : 0;
#pragma unroll
        for (uint32_t e = 0; e < EACH; e++) {
            const uint32_t bit = e == last ? 1u << (31 - simt_clz(worst.masks[e])) : 0;
            ties.masks[e] &= ~bit;
            hits->masks[e] &= ~bit;
        }
    }
}

/* Writes the hits, in the order of their slots. */
template <typename Element, uint32_t EACH>
TOPK_DEVICE void write_hits(const uniform_task<Element> &t, const few_candidates<Element, EACH> &c,
                            const slot_hits<EACH> &hits) {
    const uint32_t lower = (1u << simt_lane()) - 1;
    uint32_t slot = 0;
#pragma unroll
    for (uint32_t e = 0; e < EACH; e++) {
        if ((hits.masks[e] >> simt_lane() & 1) != 0)
            t.write(slot + simt_popc(hits.masks[e] & lower), c.bits[e], c.positions[e]);
        slot += simt_popc(hits.masks[e]);
    }
}

/* Writes the candidates whose ranks, of the highest bits of their words, are at or above `kth`, but k only.
 */
template <typename Element, uint32_t EACH>
TOPK_DEVICE void write_from(const uniform_task<Element> &t, const few_candidates<Element, EACH> &c,
                            uint32_t k, const uint32_t (&ranks)[EACH], uint32_t kth, bool all_tie) {
    slot_hits<EACH> hits, ties;
#pragma unroll
    for (uint32_t e = 0; e < EACH; e++) {
        hits.masks[e] = simt_ballot(SIMT_ALL_LANES, c.exists(e) && ranks[e] >= kth);
        ties.masks[e] = simt_ballot(SIMT_ALL_LANES, c.exists(e) && ranks[e] == kth);
    }
    const uint32_t count = count_slots(hits);
    if (count > k)
        drop_surplus(c, ties, all_tie, count - k, &hits);
    write_hits(t, c, hits);
}

/* Writes the k best of few more candidates. All lanes. */
template <typename Element>
TOPK_DEVICE void write_nearly_all(const uniform_task<Element> &t, const few_candidates<Element, 1> &c,
                                  uint32_t k) {
    slot_hits<1> hits = {c.count == SIMT_WARP ? ~0u : (1u << c.count) - 1};
    if (c.count > k)
        drop_surplus(c, hits, false, c.count - k, &hits);
    write_hits(t, c, hits);
}

template <typename Element> TOPK_DEVICE bool all_tie(uint32_t shift) {
    return sizeof(Element) < 8 && shift == 0;
}

/* One row of up to 32 candidates. All lanes. */
template <typename Element>
TOPK_DEVICE void write_any(const uniform_task<Element> &t, const few_candidates<Element, 1> &c, uint32_t k) {
    const uint32_t words[1] = {c.above(0)};
    const uint32_t sorted = sort_lanes(words[0]);
    write_from(t, c, k, words, simt_shuffle(SIMT_ALL_LANES, sorted, k - 1), all_tie<Element>(0));
}

/* Two rows of up to 32 candidates. All lanes. */
template <typename Element>
TOPK_DEVICE void write_any_of_two(const uniform_task<Element> &first, const few_candidates<Element, 1> &a,
                                  const uniform_task<Element> &second, const few_candidates<Element, 1> &b,
                                  uint32_t k) {
    if (a.count + b.count <= 2 * k + RTOPK_FEW_SURPLUS) {
        TOPK_REACHED(REACHED_RTOPK_NEARLY_ALL);
        write_nearly_all(first, a, k);
        write_nearly_all(second, b, k);
        return;
    }
    const uint32_t shift_a = shift_to_fit(a.span, 16), shift_b = shift_to_fit(b.span, 16);
    const uint32_t words_a[1] = {a.above(0) >> shift_a}, words_b[1] = {b.above(0) >> shift_b};
    const uint32_t both = simt_shuffle(SIMT_ALL_LANES, sort_halves(words_a[0] | words_b[0] << 16), k - 1);
    write_from(first, a, k, words_a, both & 0xffff, all_tie<Element>(shift_a));
    write_from(second, b, k, words_b, both >> 16, all_tie<Element>(shift_b));
}

/* One row of up to 64 candidates. The second ones ascend as the first ones descend, so that the better one of
 * each lane is of the best 32. All lanes. */
template <typename Element>
TOPK_DEVICE void write_any(const uniform_task<Element> &t, const few_candidates<Element, 2> &c, uint32_t k) {
    const uint32_t shift = shift_to_fit(c.span, 16);
    const uint32_t words[2] = {c.above(0) >> shift, c.above(1) >> shift};
    const uint32_t sorted = sort_halves(words[0] | ~words[1] << 16);
    const uint32_t first = sorted & 0xffff, second = ~sorted >> 16;
    const uint32_t best = merge_lanes(first > second ? first : second);
    write_from(t, c, k, words, simt_shuffle(SIMT_ALL_LANES, best, k - 1), all_tie<Element>(shift));
}

/* ---- Sorted results ---- */

/* A word for each candidate that sorts as key and slot do, as far as its bits reach: the span's highest bits,
 * then the complement of the slot. */
template <uint32_t EACH> struct slot_words {
    static const uint32_t SLOT_BITS = EACH > 1 ? 6 : 5, SLOTS = EACH * SIMT_WARP;

    static TOPK_MEMBER uint32_t of(uint32_t span, uint32_t slot) {
        return span << SLOT_BITS | (SLOTS - 1 - slot);
    }
    static TOPK_MEMBER uint32_t slot(uint32_t word) {
        return SLOTS - 1 - word % SLOTS;
    }
};

/* Puts the candidates in the order of results; returns false if words do not tell the order of the first k.
 * *sorted: the lane's word, of the best 32. All lanes. */
template <typename Element, uint32_t EACH>
TOPK_DEVICE bool sort_candidates(const few_candidates<Element, EACH> &c, uint32_t k, uint32_t *sorted) {
    typedef slot_words<EACH> format;
    const uint32_t shift = shift_to_fit(c.span, 32 - format::SLOT_BITS);
    uint32_t words[EACH], next = 0;
#pragma unroll
    for (uint32_t e = 0; e < EACH; e++) {
        const uint32_t word = format::of(c.above(e) >> shift, e * SIMT_WARP + simt_lane());
        words[e] = sort_lanes(c.exists(e) ? word : 0);
    }
    *sorted = words[0];
    if constexpr (EACH > 1) {
        const uint32_t second = exchange(words[1], SIMT_WARP - 1);
        *sorted = merge_lanes(better_of(words[0], second));
        next = simt_reduce_max(SIMT_ALL_LANES, worse_of(words[0], second));
    }
    if (all_tie<Element>(shift))
        return true;
    const uint32_t other = simt_shuffle(SIMT_ALL_LANES, *sorted, simt_lane() + 1);
    next = simt_lane() == SIMT_WARP - 1 ? next : other;
    const bool unclear = simt_lane() < k && simt_lane() + 1 < c.count && (*sorted ^ next) < format::SLOTS;
    return !simt_any(SIMT_ALL_LANES, unclear);
}

/* Writes the k best of a row, best first; false if it could not tell their order. All lanes. */
template <typename Element, uint32_t EACH>
TOPK_DEVICE bool write_in_order(const uniform_task<Element> &t, const few_candidates<Element, EACH> &c,
                                uint32_t k) {
    uint32_t sorted;
    if (!sort_candidates(c, k, &sorted)) {
        TOPK_REACHED(REACHED_RTOPK_UNCLEAR);
        return false;
    }
    if (simt_lane() < k) {
        const uint32_t position = t.position(slot_words<EACH>::slot(sorted));
        t.write(simt_lane(), t.element(position), position);
    }
    return true;
}

/* Writes the results of a row from its candidates, EACH for each lane; returns whether it could. All lanes.
 */
template <typename Element, uint32_t EACH>
TOPK_DEVICE bool write_row(const uniform_task<Element> &t, const struct lead_search &s) {
    const few_candidates<Element, EACH> c = load_candidates<Element, EACH>(t, s);
    if (t.a.is_sorted)
        return write_in_order(t, c, t.a.uniform.k);
    write_any(t, c, t.a.uniform.k);
    return true;
}

#endif
