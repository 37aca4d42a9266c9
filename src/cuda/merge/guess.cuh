/* SPDX-License-Identifier: Apache-2.0
 * The ends of a block's share, guessed: of even lists the entries at one position have about the same rank,
 * and their median is closest. It becomes the end, if its rank is near enough: the sum of how many entries of
 * each list are before it. Warps load what is around that position in their lists meanwhile, and mostly find
 * the number there. Else the next guess starts from the rank.
 *
 * All blocks that share a row guess the same ends. The last end is behind all results. */
#ifndef TOPK_SRC_CUDA_MERGE_GUESS_CUH
#define TOPK_SRC_CUDA_MERGE_GUESS_CUH

#include "splits.cuh"

/* An end that is looked for; the same in all threads. */
struct guessed_end {
    uint64_t rank;  /* that it should have; once it is found, that it has */
    uint64_t known; /* rank of the latest guess, which bounds of turn 0 have */
    uint32_t slack; /* that it may be away; the last end twice as far behind, and not before */
    bool is_last, is_found;

    TOPK_MEMBER bool is_near(void) const {
        return known >= rank ? known - rank <= (is_last ? 2 * slack : slack)
                             : !is_last && rank - known <= slack;
    }
};

/* Half of the bits, rounded up: about a square root. */
TOPK_DEVICE uint64_t root_of(uint64_t value) {
    return (uint64_t)1 << (65 - simt_clz(value | 1)) / 2;
}

/* Without an address, which an array in local memory would have. */
TOPK_DEVICE struct guessed_end one_of(const struct guessed_end &first, const struct guessed_end &second,
                                      bool is_second) {
    return guessed_end{is_second ? second.rank : first.rank, is_second ? second.known : first.known,
                       is_second ? second.slack : first.slack, is_second ? second.is_last : first.is_last,
                       is_second ? second.is_found : first.is_found};
}

TOPK_DEVICE uint64_t distance_of(const struct guessed_end &e) {
    return e.rank > e.known ? e.rank - e.known : e.known - e.rank;
}

/* How far entries at the rank that is looked for are from those at the latest guess. */
template <typename Element>
TOPK_DEVICE int64_t step_to(const lists_task<Element> &t, const struct guessed_end &e) {
    const uint64_t room = e.is_last ? e.slack : 0, far = 3 * root_of(distance_of(e));
    const uint64_t margin = far < room ? far : room;
    return ((int64_t)(e.rank + margin) - (int64_t)e.known) / (int64_t)t.lists;
}

/* Where the next guess looks in a list; it may be behind it. */
template <typename Element>
TOPK_DEVICE uint64_t guessed_position(const splits_shared<Element> &s, uint32_t end, uint32_t list,
                                      int64_t step) {
    const int64_t position = (int64_t)(uint64_t)s.bounds[split_slot(0, end, SPLIT_LOW, list)] + step;
    return position < 0 ? 0 : (uint64_t)position;
}

/* The median of the lists' entries, which lanes have, goes where all threads find it. One warp. */
template <typename Element>
TOPK_DEVICE void note_pivot(const lists_task<Element> &t, const splits_shared<Element> &s, uint32_t end,
                            const merge_place<Element> &place) {
    const uint32_t list = simt_lane();
    uint32_t before = 0;
#pragma unroll 1
    for (uint32_t other = 0; other < t.lists; other++) {
        const merge_place<Element> there = {simt_shuffle(SIMT_ALL_LANES, place.key, other),
                                            simt_shuffle(SIMT_ALL_LANES, place.index, other)};
        before += there.is_before(place) || (other < list && !place.is_before(there));
    }
    if (list < t.lists && before == t.lists / 2) {
        s.keys[end] = place.key;
        s.indices[end] = place.index;
    }
}

/* A search of a warp for how many entries of a list are before a pivot: between low and high. It begins with
 * entries around the guessed position: it loads every `step`-th of them before the pivot is known. */
template <typename Element> struct pivot_search {
    merge_place<Element> window[MERGE_WINDOW];
    uint64_t low, high, first;
    uint32_t step, count;

    TOPK_MEMBER void load(const lists_task<Element> &t, uint32_t list, uint64_t position, uint64_t depth) {
        const uint64_t length = (uint64_t)(int64_t)t.lengths[list], root = root_of(depth);
        step = root <= MERGE_DEVIATION ? 1 : (uint32_t)(root / 8);
        const uint64_t half = (uint64_t)(MERGE_WINDOW * SIMT_WARP / 2) * step;
        first = position > half ? position - half : 0;
        const uint64_t probes = first < length ? (length - first + step - 1) / step : 0;
        count = probes < MERGE_WINDOW * SIMT_WARP ? (uint32_t)probes : (uint32_t)(MERGE_WINDOW * SIMT_WARP);
        low = 0;
        high = length;
#pragma unroll
        for (uint32_t i = 0; i < MERGE_WINDOW; i++) {
            const uint32_t probe = i * SIMT_WARP + simt_lane();
            window[i] = {0, ~(uint64_t)0};
            if (probe < count)
                window[i] = t.place_at(list, first + (uint64_t)probe * step);
        }
    }
    /* All lanes. */
    TOPK_MEMBER void narrow_to_window(const merge_place<Element> &pivot) {
        uint32_t before = 0;
#pragma unroll
        for (uint32_t i = 0; i < MERGE_WINDOW; i++)
            before += simt_popc(simt_ballot(SIMT_ALL_LANES, window[i].is_before(pivot)));
        if (count == 0)
            return;
        low = before > 0 ? first + (uint64_t)(before - 1) * step + 1 : 0;
        high = before < count ? first + (uint64_t)before * step : high;
    }
    TOPK_MEMBER uint64_t probe(void) const {
        const uint64_t width = high - low;
        return width <= SIMT_WARP ? low + simt_lane() : low + (simt_lane() + 1) * (width / (SIMT_WARP + 1));
    }
    /* `is_before`: the entry where the lane has looked. All lanes. */
    TOPK_MEMBER void narrow(bool is_before) {
        const uint64_t at = probe();
        const uint32_t before = simt_popc(simt_ballot(SIMT_ALL_LANES, is_before));
        const uint64_t last = simt_shuffle(SIMT_ALL_LANES, at, before > 0 ? before - 1 : 0),
                       next = simt_shuffle(SIMT_ALL_LANES, at, before < SIMT_WARP ? before : SIMT_WARP - 1);
        if (high - low <= SIMT_WARP) {
            low = high = low + before;
            return;
        }
        high = before < SIMT_WARP ? next : high;
        low = before > 0 ? last + 1 : low;
    }
};

/* Of an end in a list: warps take turns at these units. */
template <typename Element> struct guess_unit {
    struct guessed_end of;
    uint32_t end, list;
    int64_t step;

    TOPK_MEMBER guess_unit(const lists_task<Element> &t, const struct guessed_end (&ends)[SPLIT_ENDS],
                           uint32_t unit)
        : of(one_of(ends[0], ends[1], unit % SPLIT_ENDS != 0)), end(unit % SPLIT_ENDS),
          list(unit / SPLIT_ENDS), step(step_to(t, of)) {
    }
    /* The entry of the lane's list where the end is guessed. */
    TOPK_MEMBER merge_place<Element> centre(const lists_task<Element> &t,
                                            const splits_shared<Element> &s) const {
        const uint64_t position = guessed_position(s, end, simt_lane(), step);
        if (of.is_found || simt_lane() >= t.lists || position >= (uint64_t)(int64_t)t.lengths[simt_lane()])
            return {0, ~(uint64_t)0};
        return t.place_at(simt_lane(), position);
    }
    TOPK_MEMBER void begin(const lists_task<Element> &t, const splits_shared<Element> &s,
                           pivot_search<Element> &search) const {
        if (!of.is_found && list < t.lists)
            search.load(t, list, guessed_position(s, end, list, step), (uint64_t)(step < 0 ? -step : step));
    }
    /* Finds how many entries of the list are before the pivot. */
    TOPK_MEMBER void finish(const lists_task<Element> &t, const splits_shared<Element> &s,
                            pivot_search<Element> &search) const {
        if (of.is_found)
            return;
        const merge_place<Element> pivot = {s.keys[end], s.indices[end]};
        search.narrow_to_window(pivot);
#pragma unroll 1
        while (search.low < search.high) {
            merge_place<Element> place = {0, ~(uint64_t)0};
            if (search.probe() < search.high)
                place = t.place_at(list, search.probe());
            search.narrow(place.is_before(pivot));
        }
        simt_warp_sync(SIMT_ALL_LANES); /* all lanes have read what this replaces */
        if (simt_lane() == 0)
            s.bounds[split_slot(0, end, SPLIT_LOW, list)] = search.low;
    }
};

/* One guess; the first calls look(warp, warps), while entries are on their way. All threads; ends with a
 * barrier. */
template <typename Element, typename Look>
TOPK_DEVICE void guess_once(const lists_task<Element> &t, const splits_shared<Element> &s,
                            const struct guessed_end (&ends)[SPLIT_ENDS], bool is_first, const Look &look) {
    const guess_unit<Element> mine(t, ends, simt_warp());
    merge_place<Element> centre = {0, ~(uint64_t)0};
    pivot_search<Element> search;
    if (simt_warp() < SPLIT_ENDS)
        centre = mine.centre(t, s);
    mine.begin(t, s, search);
    if (is_first)
        look(simt_warp(), simt_warps());
#pragma unroll 1
    for (uint32_t end = simt_warp(); end < SPLIT_ENDS; end += simt_warps()) {
        const guess_unit<Element> unit(t, ends, end);
        if (end != simt_warp())
            centre = unit.centre(t, s);
        if (!unit.of.is_found)
            note_pivot(t, s, end, centre);
    }
    simt_block_sync();
    if (mine.list < t.lists)
        mine.finish(t, s, search);
#pragma unroll 1
    for (uint32_t other = simt_warp() + simt_warps(); other < SPLIT_ENDS * t.lists; other += simt_warps()) {
        const guess_unit<Element> unit(t, ends, other);
        unit.begin(t, s, search);
        unit.finish(t, s, search);
    }
    simt_block_sync();
}

/* Guesses ends that are not found, in bounds of turn 0. A run by position has what few tiles listed, so runs
 * are too uneven to guess. All threads; ends with a barrier. */
template <typename Element, typename Look>
TOPK_DEVICE void guess_ends(const lists_task<Element> &t, const splits_shared<Element> &s,
                            struct guessed_end (&ends)[SPLIT_ENDS], const Look &look) {
#pragma unroll 1
    for (uint32_t guess = t.has_runs && t.a.by_position ? MERGE_GUESSES : 0; guess < MERGE_GUESSES; guess++) {
        guess_once(t, s, ends, guess == 0, look);
#pragma unroll
        for (uint32_t end = 0; end < SPLIT_ENDS; end++) {
            struct guessed_end &e = ends[end];
            if (e.is_found)
                continue;
            const bool is_padding = (int64_t)(uint64_t)s.indices[end] < 0;
            e.known = simt_reduce_add(SIMT_ALL_LANES,
                                      (uint64_t)s.bounds[split_slot(0, end, SPLIT_LOW, simt_lane())]);
            e.is_found = !is_padding && e.is_near();
            e.rank = e.is_found ? e.known : e.rank;
        }
        if (ends[0].is_found && ends[1].is_found)
            return;
        simt_block_sync(); /* before there is another pivot */
    }
}

#endif
