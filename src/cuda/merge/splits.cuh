/* SPDX-License-Identifier: Apache-2.0
 * Where in each of a row's sorted lists the results before a rank end. The ranks are the two ends of a
 * block's share.
 *
 * Of each list, the end lies between two positions, low and high. A level narrows them: the block loads
 * samples of what is between, in one round trip, and puts them in shared memory. Of a sample, searches among
 * the others tell how many entries are before it, at least and at most. If these are fewer than the rank at
 * most, the sample is before the end, and if they are as many at least, it is not. A warp finds the last
 * sample of the one kind, another warp the first of the other. Once all entries between are samples, low is
 * high.
 *
 * Lists that are not in order may lead to any numbers from 0 to their lengths. */
#ifndef TOPK_SRC_CUDA_MERGE_SPLITS_CUH
#define TOPK_SRC_CUDA_MERGE_SPLITS_CUH

#include "lists.cuh"

template <typename Element> struct splits_shared {
    simt_shared<uint64_t> bounds; /* of two turns: for both ends low and high of each list */
    /* Samples of one end, and behind them samples of the other. */
    simt_shared<key_word_t<Element>> keys;
    simt_shared<uint64_t> indices;
};

enum { SPLIT_LOW, SPLIT_HIGH, SPLIT_ENDS = 2 };

TOPK_DEVICE uint32_t split_slot(uint32_t level, uint32_t end, uint32_t bound, uint32_t list) {
    return ((level % 2 * SPLIT_ENDS + end) * 2 + bound) * MERGE_LISTS + list;
}

/* The samples of the lane's list. */
struct split_grid {
    uint64_t low, high;
    uint32_t shift; /* one of 1 << shift entries is a sample */
    uint32_t count, first;

    TOPK_MEMBER uint64_t position(uint32_t sample) const {
        return low + ((uint64_t)(sample + 1) << shift) - 1;
    }
    /* Entries that are before what so many samples are before, at least and at most. */
    TOPK_MEMBER uint64_t at_least(uint32_t samples) const {
        return samples == 0 ? low : position(samples - 1) + 1;
    }
    TOPK_MEMBER uint64_t at_most(uint32_t samples) const {
        return samples == count ? high : position(samples);
    }
};

/* The least shift that makes `entries` at most `most`. */
TOPK_DEVICE uint32_t shift_to(uint64_t entries, uint64_t most) {
    uint32_t shift = 0;
#pragma unroll 1
    while (entries >> shift > most)
        shift++;
    return shift;
}

/* What a level samples for an end. All lanes; a list each. *between: of all lists. */
template <typename Element>
TOPK_DEVICE struct split_grid grid_of_level(const splits_shared<Element> &s, uint32_t level, uint32_t end,
                                            uint64_t *between) {
    const uint64_t low = s.bounds[split_slot(level, end, SPLIT_LOW, simt_lane())],
                   bound = s.bounds[split_slot(level, end, SPLIT_HIGH, simt_lane())],
                   high = bound > low ? bound : low; /* of lists that are not in order it may be less */
    struct split_grid g = {low, high, 0, 0, 0};
    uint32_t all;
    *between = simt_reduce_add(SIMT_ALL_LANES, high - low);
    g.shift = shift_to(*between, MERGE_SAMPLES);
    g.count = (uint32_t)((high - low) >> g.shift);
    g.first = end * MERGE_SAMPLES + warp_scan(g.count, &all);
    return g;
}

/* The same of another lane. */
TOPK_DEVICE struct split_grid grid_of_lane(const struct split_grid &g, uint32_t lane) {
    return split_grid{simt_shuffle(SIMT_ALL_LANES, g.low, lane), simt_shuffle(SIMT_ALL_LANES, g.high, lane),
                      g.shift, simt_shuffle(SIMT_ALL_LANES, g.count, lane),
                      simt_shuffle(SIMT_ALL_LANES, g.first, lane)};
}

/* Loads the samples of a list: the warp's part of them. */
template <typename Element>
TOPK_DEVICE void load_samples(const lists_task<Element> &t, const splits_shared<Element> &s,
                              const struct split_grid &g, uint32_t list, uint32_t part, uint32_t parts) {
#pragma unroll 1
    for (uint32_t first = part * SIMT_WARP + simt_lane(); first < g.count;
         first += MERGE_ITEMS * parts * SIMT_WARP) {
        merge_place<Element> places[MERGE_ITEMS];
#pragma unroll
        for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
            const uint32_t sample = first + i * parts * SIMT_WARP;
            if (sample < g.count)
                places[i] = t.place_at(list, g.position(sample));
        }
#pragma unroll
        for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
            const uint32_t sample = first + i * parts * SIMT_WARP;
            if (sample < g.count) {
                s.keys[g.first + sample] = places[i].key;
                s.indices[g.first + sample] = places[i].index;
            }
        }
    }
}

/* Samples of a list, from `from` up to `to`, that are before a place. */
template <typename Element>
TOPK_DEVICE uint32_t samples_before(const splits_shared<Element> &s, uint32_t first, uint32_t from,
                                    uint32_t to, const merge_place<Element> &place) {
#pragma unroll 1
    while (from < to) {
        const uint32_t middle = (from + to) / 2;
        const merge_place<Element> here = {s.keys[first + middle], s.indices[first + middle]};
        if (here.is_before(place))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The sum over lanes whose numbers differ by multiples of `group`, a power of two, from none to all; the
 * lanes of a group have it. */
TOPK_DEVICE uint64_t sum_of_group(uint64_t value, uint32_t group) {
#pragma unroll 1
    for (uint32_t lanes = group / 2; lanes != 0; lanes /= 2)
        value += simt_shuffle_xor(SIMT_ALL_LANES, value, lanes);
    return value;
}

/* How many samples of the lane's list are before the end for certain, or with is_upper may be.
 * Groups of lanes try a pivot each: lane l of a group has list l. All lanes. */
template <typename Element>
TOPK_DEVICE uint32_t count_samples(const splits_shared<Element> &s, const struct split_grid &of_lane,
                                   uint32_t lists, uint64_t rank, bool is_upper) {
    uint32_t group = SIMT_WARP;
    while (group / 2 >= lists)
        group /= 2;
    const uint32_t pivots = SIMT_WARP / group, list = simt_lane() & (group - 1);
    const struct split_grid g = grid_of_lane(of_lane, list);
    uint32_t from = 0, to = g.count;
#pragma unroll 1
    for (;;) {
        /* Pivots are of the list with the most samples left. */
        const uint32_t widest = simt_reduce_max(SIMT_ALL_LANES, (to - from) << 5 | list);
        const uint32_t width = widest >> 5, own = widest & 31;
        if (width == 0)
            return from;
        const uint32_t pivot =
            simt_shuffle(SIMT_ALL_LANES, from, own) + (simt_lane() / group + 1) * width / (pivots + 1);
        const uint32_t slot = simt_shuffle(SIMT_ALL_LANES, g.first, own) + pivot;
        const merge_place<Element> place = {s.keys[slot], s.indices[slot]};
        const bool is_own = list == own;
        const uint32_t before = is_own ? pivot : samples_before(s, g.first, from, to, place);
        const uint64_t entries = sum_of_group(is_own     ? g.position(pivot)
                                              : is_upper ? g.at_least(before)
                                                         : g.at_most(before),
                                              group);
        const bool counts = !place.is_padding() && entries < rank;
        const uint32_t counted = simt_popc(simt_ballot(SIMT_ALL_LANES, counts && list == 0));
        const uint32_t low = simt_shuffle(SIMT_ALL_LANES, before + is_own, (counted - 1) * group + list),
                       high = simt_shuffle(SIMT_ALL_LANES, before, counted * group + list);
        from = counted > 0 ? low : from;
        to = counted < pivots ? high : to;
        to = to > from ? to : from; /* lists that are not in order */
    }
}

/* Narrows low, or high, of an end. All lanes. */
template <typename Element>
TOPK_DEVICE void narrow_end(const lists_task<Element> &t, const splits_shared<Element> &s,
                            const struct split_grid &g, uint32_t level, uint32_t end, uint64_t rank,
                            bool is_upper) {
    const uint32_t before = count_samples(s, g, t.lists, rank, is_upper);
    s.bounds[split_slot(level + 1, end, is_upper, simt_lane())] =
        is_upper ? g.at_most(before) : g.at_least(before);
}

/* Begins with all entries that may be before an end. One warp. */
template <typename Element>
TOPK_DEVICE void begin_split(const lists_task<Element> &t, const splits_shared<Element> &s, uint32_t end,
                             uint64_t rank) {
    const uint64_t length = (uint64_t)(int64_t)t.lengths[simt_lane()];
    s.bounds[split_slot(0, end, SPLIT_LOW, simt_lane())] = 0;
    s.bounds[split_slot(0, end, SPLIT_HIGH, simt_lane())] = length < rank ? length : rank;
}

/* Finds the ends, from the bounds of turn 0 on. All threads; begins and ends with a barrier. Returns the turn
 * whose bounds are the ends. */
template <typename Element>
TOPK_DEVICE uint32_t find_splits(const lists_task<Element> &t, const splits_shared<Element> &s,
                                 const uint64_t (&ranks)[SPLIT_ENDS]) {
    const uint32_t jobs = 2 * SPLIT_ENDS, parts = simt_warps() / (SPLIT_ENDS * t.lists);
    const uint32_t shares = parts > 0 ? parts : 1, units = SPLIT_ENDS * t.lists * shares;
    simt_block_sync();
#pragma unroll 1
    for (uint32_t level = 0; level < MERGE_LEVELS; level++) {
        uint64_t between[SPLIT_ENDS];
        const struct split_grid grids[SPLIT_ENDS] = {grid_of_level(s, level, 0, &between[0]),
                                                     grid_of_level(s, level, 1, &between[1])};
        if ((between[0] | between[1]) == 0)
            return level;
#pragma unroll 1
        for (uint32_t unit = simt_warp(); unit < units; unit += simt_warps()) {
            const uint32_t list = unit / SPLIT_ENDS % t.lists, end = unit % SPLIT_ENDS;
            load_samples(t, s, grid_of_lane(end == 0 ? grids[0] : grids[1], list), list,
                         unit / (SPLIT_ENDS * t.lists), shares);
        }
        simt_block_sync();
        for (uint32_t job = simt_warp(); job < jobs; job += simt_warps())
            narrow_end(t, s, job < 2 ? grids[0] : grids[1], level, job / 2, job < 2 ? ranks[0] : ranks[1],
                       job % 2 != 0);
        simt_block_sync();
    }
    return MERGE_LEVELS;
}

#endif
