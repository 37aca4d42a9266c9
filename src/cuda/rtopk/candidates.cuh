/* SPDX-License-Identifier: Apache-2.0
 * A threshold that few leads of a row reach, at least k, and the list of these candidates by position. */
#ifndef TOPK_SRC_CUDA_RTOPK_CANDIDATES_CUH
#define TOPK_SRC_CUDA_RTOPK_CANDIDATES_CUH

#include "entries.cuh"
#include "leads.cuh"

/* The search in a row. The same for all lanes. */
struct lead_search {
    uint32_t greatest;  /* lead of the row */
    uint32_t threshold; /* candidates have leads at or above it; it divides no class. 0: none is known */
    uint32_t count;     /* of candidates */
};

/* ---- Thresholds ---- */

/* Sorts both halves of a word over the lanes at once, each of them descending. */
TOPK_DEVICE uint32_t sort_halves(uint32_t word) {
#pragma unroll
    for (uint32_t run = 2; run <= SIMT_WARP; run *= 2) {
#pragma unroll
        for (uint32_t lanes = run - 1; lanes != 0; lanes = lanes == run - 1 ? run / 4 : lanes / 2) {
            const uint32_t bit = lanes == run - 1 ? run / 2 : lanes;
            const uint32_t other = exchange(word, lanes);
            word = simt_pick_halves(word, other, (simt_lane() & bit) != 0);
        }
    }
    return word;
}

/* How far a word up to `span` must go down to have no more than `bits` bits. */
TOPK_DEVICE uint32_t shift_to_fit(uint32_t span, uint32_t bits) {
    const uint32_t zeros = simt_clz(span);
    return zeros < 32 - bits ? 32 - bits - zeros : 0;
}

/* The best of `best` and the lane's leads in a group. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t best_of_group(const lead_row<Element, ITEMS> &row, uint32_t group, uint32_t best) {
    typedef held_shape<Element, ITEMS> shape;
#pragma unroll
    for (uint32_t i = group * shape::PER; i < (group + 1) * shape::PER; i++)
        best = row.leads[i] > best ? row.leads[i] : best;
    return best;
}

/* The threshold of each row is the best lead of a lane; that of `rank` others may be better. Two rows are
 * sorted at once, by 16 bits of each lead. */
template <typename Element, uint32_t ITEMS, uint32_t ROWS>
TOPK_DEVICE void find_thresholds(const lead_row<Element, ITEMS> (&rows)[ROWS], const struct uniform_rows &u,
                                 struct lead_search (&searches)[ROWS]) {
    uint32_t word = 0, shift[ROWS], least[ROWS];
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++) {
        uint32_t best = 0;
#pragma unroll
        for (uint32_t g = 0; g < lead_row<Element, ITEMS>::shape::GROUPS; g++)
            if (rows[r].is_used(u, g))
                best = best_of_group(rows[r], g, best);
        searches[r].greatest = simt_reduce_max(SIMT_ALL_LANES, best);
        least[r] = simt_reduce_min(SIMT_ALL_LANES, best - 1) + 1; /* of lanes that have elements */
        best = best > least[r] ? best - least[r] : 0;
        shift[r] = ROWS == 1 ? 0 : shift_to_fit(searches[r].greatest - least[r], 16);
        word |= best >> shift[r] << (r * 16);
    }
    word = simt_shuffle(SIMT_ALL_LANES, ROWS == 1 ? sort_lanes(word) : sort_halves(word), u.rank);
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++) {
        const uint32_t above = ROWS == 1 ? word : r == 0 ? word & 0xffff : word >> 16;
        searches[r].threshold = class_begin(least[r] + (above << shift[r]), u.map);
    }
}

/* ---- Counts and lists ---- */

/* How many hits a lane has in each group of each row, side by side in words. No sum over the lanes exceeds
 * its bits. */
template <typename Element, uint32_t ITEMS, uint32_t ROWS> struct hit_counts {
    typedef held_shape<Element, ITEMS> shape;
    static const uint32_t BITS = SIMT_WARP * shape::PER < 256 ? 8 : 16, MASK = (1u << BITS) - 1;
    static const uint32_t PER_WORD = 32 / BITS;
    static const uint32_t WORDS = (ROWS * shape::GROUPS + PER_WORD - 1) / PER_WORD;
    uint32_t words[WORDS];

    TOPK_MEMBER void add_from(uint32_t r, uint32_t item, uint32_t lead, uint32_t low) {
        const uint32_t field = r * shape::GROUPS + item / shape::PER;
        uint32_t &word = words[field / PER_WORD];
        word = simt_count_from(word, lead, low, 1u << field % PER_WORD * BITS);
    }
    TOPK_MEMBER uint32_t get(uint32_t r, uint32_t group) const {
        const uint32_t field = r * shape::GROUPS + group;
        return words[field / PER_WORD] >> field % PER_WORD * BITS & MASK;
    }
    /* Of all groups of a row. */
    TOPK_MEMBER uint32_t sum(uint32_t r) const {
        uint32_t total = 0;
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++)
            total += get(r, g);
        return total;
    }
};

/* Turns counts into how many hits lower lanes have; *totals are the sums over all lanes. All lanes. */
template <typename Counts> TOPK_DEVICE void scan_counts(Counts *counts, Counts *totals) {
#pragma unroll
    for (uint32_t w = 0; w < Counts::WORDS; w++)
        counts->words[w] = warp_scan(counts->words[w], &totals->words[w]);
}

/* Lists the indices of a row's candidates by position; if they may be too many, the first of them. `before`:
 * counts of lower lanes. */
template <bool MANY, typename Element, uint32_t ITEMS, uint32_t ROWS>
TOPK_DEVICE void list_candidates(const lead_row<Element, ITEMS> &row, uint32_t r,
                                 const struct uniform_rows &u, uint32_t threshold,
                                 const hit_counts<Element, ITEMS, ROWS> &before,
                                 const hit_counts<Element, ITEMS, ROWS> &totals, simt_shared<uint16_t> list) {
    typedef held_shape<Element, ITEMS> shape;
    uint32_t first = 0;
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++) {
        const uint32_t slot = first + before.get(r, g);
        if (row.is_used(u, g) && (!MANY || slot < RTOPK_FEW)) {
            simt_appender to = simt_append_at(list, slot);
#pragma unroll
            for (uint32_t i = g * shape::PER; i < (g + 1) * shape::PER; i++)
                to.append_above(row.leads[i], threshold - 1, (uint16_t)row.index(i));
        }
        first += totals.get(r, g);
    }
}

/* Counts the candidates of all rows: by lane, and in searches. All lanes. */
template <typename Element, uint32_t ITEMS, uint32_t ROWS>
TOPK_DEVICE void count_candidates(const lead_row<Element, ITEMS> (&rows)[ROWS], const struct uniform_rows &u,
                                  struct lead_search (&searches)[ROWS],
                                  hit_counts<Element, ITEMS, ROWS> *before,
                                  hit_counts<Element, ITEMS, ROWS> *totals) {
    typedef held_shape<Element, ITEMS> shape;
    *before = {};
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++) {
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++)
            if (rows[r].is_used(u, g)) {
#pragma unroll
                for (uint32_t i = g * shape::PER; i < (g + 1) * shape::PER; i++)
                    before->add_from(r, i, rows[r].leads[i], searches[r].threshold);
            }
    }
    scan_counts(before, totals);
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++)
        searches[r].count = totals->sum(r);
}

/* What the list of a row is. */
enum listing {
    LIST_FAILED,
    LIST_CANDIDATES,
    LIST_RESULTS /* in their order */
};

/* Lists the candidates of a row that may have many. All lanes. */
template <typename Element, uint32_t ITEMS, uint32_t ROWS>
TOPK_DEVICE enum listing
list_many(const lead_row<Element, ITEMS> &row, uint32_t r, const struct uniform_rows &u,
          const hit_counts<Element, ITEMS, ROWS> &before, const hit_counts<Element, ITEMS, ROWS> &totals,
          const struct lead_search &s, simt_shared<uint16_t> list) {
    if (s.threshold == 0 || s.count < u.k)
        return LIST_FAILED;
    if (s.count <= RTOPK_FEW) {
        list_candidates<false>(row, r, u, s.threshold, before, totals, list);
        return LIST_CANDIDATES;
    }
    if (sizeof(Element) == 8 || class_end(s.threshold, u.map) < s.greatest)
        return LIST_FAILED;
    TOPK_REACHED(REACHED_RTOPK_BEST_TIE);
    list_candidates<true>(row, r, u, s.threshold, before, totals, list);
    return LIST_RESULTS;
}

/* ---- A row with too many candidates ---- */

template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t count_leads(const lead_row<Element, ITEMS> &row, uint32_t low) {
    uint32_t count = 0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        count = simt_count_from(count, row.leads[i], low, 1);
    return simt_reduce_add(SIMT_ALL_LANES, count);
}

/* Lists the indices of elements with leads from `low` to `high`, by position, from slot `first` up to
 * `end` - 1. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_between(const lead_row<Element, ITEMS> &row, uint32_t low, uint32_t high,
                              uint32_t first, uint32_t end, simt_shared<uint16_t> list) {
    typedef held_shape<Element, ITEMS> shape;
    hit_counts<Element, ITEMS, 1> counts = {}, totals;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        counts.add_from(0, i, row.leads[i] <= high ? row.leads[i] : 0, low);
    scan_counts(&counts, &totals);
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++) {
        uint32_t slot = first + counts.get(0, g);
#pragma unroll
        for (uint32_t i = g * shape::PER; i < (g + 1) * shape::PER; i++)
            if (row.leads[i] >= low && row.leads[i] <= high && slot < end)
                list[slot++] = (uint16_t)row.index(i);
        first += totals.get(0, g);
    }
}

/* Raises the threshold by interpolation until few are candidates; returns whether they are. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE bool raise_threshold(const lead_row<Element, ITEMS> &row, const struct uniform_rows &u,
                                 struct lead_search *s) {
    uint32_t high = s->greatest, above = 0;
    const uint32_t wanted = (u.k + RTOPK_FEW) / 2;
    for (uint32_t guess = 0; guess < RTOPK_RAISES && s->count > RTOPK_FEW; guess++) {
        const float share = (float)(s->count - wanted) / (float)(s->count - above);
        const uint32_t pivot =
            class_begin(s->threshold + (uint32_t)((float)(high - s->threshold) * share), u.map);
        if (pivot <= s->threshold)
            break;
        const uint32_t count = count_leads(row, pivot);
        if (count >= u.k) {
            s->threshold = pivot;
            s->count = count;
        } else {
            high = pivot - 1;
            above = count;
        }
    }
    return s->count <= RTOPK_FEW;
}

/* Lists the candidates of a row where too many reach the threshold; returns whether it could. Where the k-th
 * is on a plateau the results themselves are the candidates: what is better, then the first ties. All lanes.
 */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE bool list_crowded(const lead_row<Element, ITEMS> &row, const struct uniform_rows &u,
                              struct lead_search *s, simt_shared<uint16_t> list) {
    const uint32_t last = class_end(s->threshold, u.map);
    const uint32_t winners = last == ~0u ? 0 : count_leads(row, last + 1);
    if (winners >= u.k) {
        s->threshold = class_begin(last + 1, u.map);
        s->count = winners;
        if (!raise_threshold(row, u, s))
            return false;
        list_between(row, s->threshold, ~0u, 0, RTOPK_FEW, list);
        return true;
    }
    if (sizeof(Element) == 8)
        return false;
    TOPK_REACHED(REACHED_RTOPK_PLATEAU);
    if (winners > 0)
        list_between(row, last + 1, ~0u, 0, winners, list);
    list_between(row, s->threshold, last, winners, u.k, list);
    s->count = u.k;
    return true;
}

#endif
