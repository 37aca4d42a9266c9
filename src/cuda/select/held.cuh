/* SPDX-License-Identifier: Apache-2.0
 * A row in the registers of a team, a warp or a block: ITEMS words for each thread, codes or what else a map
 * makes of elements.
 *
 * Threads read groups of 16 bytes, or of as many as hold ITEMS elements. Groups begin at a multiple of their
 * size, so the first one may begin with elements to the left of the row: `left` of them, which take part in
 * indices and in nothing else. Index i of a row is position i - left. In the order of warp, group, lane and
 * item indices ascend. */
#ifndef TOPK_SRC_CUDA_SELECT_HELD_CUH
#define TOPK_SRC_CUDA_SELECT_HELD_CUH

#include "../rows.cuh"
#include "team.cuh"

/* How the lanes of a warp share its part of a row. */
template <typename Element, uint32_t ITEMS> struct held_shape {
    static const uint32_t PER = ITEMS * sizeof(Element) < 16 ? ITEMS : 16 / sizeof(Element);
    static const uint32_t GROUPS = ITEMS / PER;
    static const uint32_t GROUPS_SHIFT = GROUPS == 1    ? 0
                                         : GROUPS == 2  ? 1
                                         : GROUPS == 4  ? 2
                                         : GROUPS == 8  ? 3
                                         : GROUPS == 16 ? 4
                                                        : 5;
    static const uint32_t BYTES = PER * sizeof(Element);
    static const uint32_t STEP = SIMT_WARP * PER; /* from one group of a thread to its next */
    static const uint32_t PER_SHIFT = PER == 1 ? 0 : PER == 2 ? 1 : PER == 4 ? 2 : PER == 8 ? 3 : 4;
};

template <typename Element, uint32_t ITEMS, uint32_t WARPS = 1, typename Word = key_word_t<Element>>
struct held_row {
    static_assert(ITEMS <= 32, "the hits of a thread are bits of a word");
    typedef held_shape<Element, ITEMS> shape;
    Word items[ITEMS];
    uint32_t left, end; /* indices of the row: left to end - 1 */
    uint32_t matches;   /* of the thread: clear bits of items that take no part */
    uint32_t count;     /* elements of the row that take part */

    /* Of the thread's item. */
    TOPK_MEMBER uint32_t index(uint32_t item) const {
        const uint32_t group = row_team<WARPS>::warp() * shape::GROUPS + item / shape::PER;
        return (group * SIMT_WARP + simt_lane()) * shape::PER + item % shape::PER;
    }
    TOPK_MEMBER bool in_row(uint32_t item) const {
        return index(item) >= left && index(item) < end;
    }
    /* Whether it is an element that takes part. */
    TOPK_MEMBER bool holds(uint32_t item) const {
        return in_row(item) && (matches >> item & 1) != 0;
    }
    /* The thread's items that are elements of the row. */
    TOPK_MEMBER uint32_t filled(void) const {
        uint32_t bits = 0;
        if (in_row(0) && in_row(ITEMS - 1)) /* the first one and the last */
            return ~0u >> (32 - ITEMS);
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            bits |= in_row(i) ? 1u << i : 0;
        return bits;
    }
    /* The thread's items that take part. */
    TOPK_MEMBER uint32_t holding(void) const {
        return filled() & matches;
    }
    /* Whether all items of the warp lie behind the row. */
    TOPK_MEMBER bool is_warp_behind(void) const {
        return WARPS > 1 && row_team<WARPS>::warp() * ITEMS * SIMT_WARP >= end;
    }
    /* Elements from the thread's first index to the row's end: less than 0 behind the row. */
    TOPK_MEMBER int32_t remaining(void) const {
        return (int32_t)(end - index(0));
    }
};

/* ---- Words of elements ---- */

/* A map, which makes words of elements. If it FILTERS it also says which elements take part: allowed() by
 * their positions, all of a thread at once, and takes() by their bits. What takes no part, or is not of the
 * row, has code 0: no count of codes at or above a greater code sees it. */
template <typename Element> struct as_codes {
    typedef key_word_t<Element> word;
    static const bool FILTERS = false;
    const struct code_map &map;

    TOPK_MEMBER word of(key_word_t<Element> bits) const {
        return code_of<Element>(bits, map);
    }
    static TOPK_MEMBER word nothing(void) {
        return 0;
    }
};

/* ---- Loads ---- */

/* One group: four words at most. */
struct held_group {
    uint32_t words[4];
};

template <uint32_t BYTES> TOPK_DEVICE held_group load_held_group(const void *from) {
    held_group group = {};
    if (BYTES == 16) {
        const simt_u32x4 loaded = simt_load16_read_only(from);
        group = held_group{{loaded.x, loaded.y, loaded.z, loaded.w}};
    } else if (BYTES == 8) {
        const uint64_t loaded = simt_load_read_only((const uint64_t *)from);
        group = held_group{{(uint32_t)loaded, (uint32_t)(loaded >> 32), 0, 0}};
    } else if (BYTES == 4) {
        group.words[0] = simt_load_read_only((const uint32_t *)from);
    } else {
        group.words[0] = simt_load_read_only((const uint16_t *)from);
    }
    return group;
}

template <typename Element>
TOPK_DEVICE key_word_t<Element> bits_of_group(const held_group &group, uint32_t item) {
    const uint32_t byte = item * (uint32_t)sizeof(Element);
    if (sizeof(Element) == 8)
        return (key_word_t<Element>)(group.words[byte / 4] | (uint64_t)group.words[byte / 4 + 1] << 32);
    return (Element)(group.words[byte / 4] >> byte % 4 * 8);
}

/* The word of an element, if it exists and takes part; else clears `bit` of *matches if it exists. */
template <typename Element, typename Map>
TOPK_DEVICE typename Map::word word_of(const Map &map, key_word_t<Element> bits, bool exists, uint32_t bit,
                                       uint32_t *matches) {
    const typename Map::word word = map.of(bits); /* in any case: without a branch */
    if constexpr (Map::FILTERS) {
        *matches &= exists && !map.takes(bits) ? ~bit : ~0u;
        exists = exists && (*matches & bit) != 0;
    }
    return exists ? word : Map::nothing();
}

/* The groups of a thread as they are in memory. */
template <typename Element, uint32_t ITEMS> struct raw_row {
    held_group groups[held_shape<Element, ITEMS>::GROUPS];
};

/* Whether a group of the thread ends within the row. ALL: the warp's groups all do. */
template <bool ALL, typename Held> TOPK_DEVICE bool is_whole_group(const Held &held, uint32_t group) {
    typedef typename Held::shape shape;
    return ALL || (int32_t)(group * shape::STEP + shape::PER) <= held.remaining();
}

/* Loads whole groups that end within the row. */
template <bool ALL, typename Element, uint32_t ITEMS, uint32_t WARPS, typename Word>
TOPK_DEVICE void load_groups(const Element *first, const held_row<Element, ITEMS, WARPS, Word> &held,
                             raw_row<Element, ITEMS> *raw) {
    typedef held_shape<Element, ITEMS> shape;
    const Element *from = first + held.index(0);
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++)
        if (is_whole_group<ALL>(held, g))
            raw->groups[g] = load_held_group<shape::BYTES>(from + g * shape::STEP);
}

/* Makes words of them, once they are LOADED; all other items are nothing. */
template <bool LOADED, bool ALL, typename Element, uint32_t ITEMS, uint32_t WARPS, typename Map>
TOPK_DEVICE void take_groups(const Element *first, raw_row<Element, ITEMS> raw, const Map &map,
                             held_row<Element, ITEMS, WARPS, typename Map::word> *held) {
    typedef held_shape<Element, ITEMS> shape;
    if (!LOADED)
        load_groups<ALL>(first, *held, &raw);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const key_word_t<Element> bits = bits_of_group<Element>(raw.groups[i / shape::PER], i % shape::PER);
        held->items[i] =
            word_of<Element>(map, bits, is_whole_group<ALL>(*held, i / shape::PER), 1u << i, &held->matches);
    }
}

/* Leaves out what is left of the row. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS, typename Map>
TOPK_DEVICE void drop_left(const Map &, held_row<Element, ITEMS, WARPS, typename Map::word> *held) {
#pragma unroll
    for (uint32_t i = 0; i < held_shape<Element, ITEMS>::PER; i++)
        held->items[i] = held->index(i) < held->left ? Map::nothing() : held->items[i];
}

/* Loads what take_groups() has left out: a part of the row's last group, which one thread
 * has. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS, typename Map>
TOPK_DEVICE void load_last_group(const Element *first, const Map &map,
                                 held_row<Element, ITEMS, WARPS, typename Map::word> *held) {
    typedef held_shape<Element, ITEMS> shape;
    const int32_t remaining = held->remaining();
    const uint32_t group = (uint32_t)remaining / shape::STEP, count = (uint32_t)remaining % shape::STEP;
    const uint32_t index = held->index(0) + group * shape::STEP;
    typename Map::word items[shape::PER];
    if (remaining < 0 || count >= shape::PER || (WARPS > 1 && group >= shape::GROUPS))
        return;
#pragma unroll
    for (uint32_t i = 0; i < shape::PER; i++) {
        const bool exists = i < count && index + i >= held->left;
        const Element bits = exists ? simt_load_read_only(first + index + i) : (Element)0;
        items[i] = word_of<Element>(map, bits, exists, 1u << (group * shape::PER + i), &held->matches);
    }
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        held->items[i] = i / shape::PER == group ? items[i % shape::PER] : held->items[i];
}

/* Loads all elements one by one. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS, typename Map>
TOPK_DEVICE void load_items(const Element *first, const Map &map,
                            held_row<Element, ITEMS, WARPS, typename Map::word> *held) {
    typedef held_shape<Element, ITEMS> shape;
    const Element *from = first + held->index(0);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const bool exists = held->in_row(i);
        const Element *element = from + i / shape::PER * shape::STEP + i % shape::PER;
        held->items[i] = word_of<Element>(map, exists ? simt_load_read_only(element) : (Element)0, exists,
                                          1u << i, &held->matches);
    }
}

struct nothing_meanwhile {
    static const bool WORKS = false;
    TOPK_MEMBER void operator()(void) const {
    }
};

/* Whether a row's loads are on their way while something else is done: registers then hold its groups, too.
 */
template <typename Element, uint32_t ITEMS, typename Map, typename Meanwhile> struct early_loads {
    static const bool FIT = ITEMS * sizeof(Element) <= 64 || (sizeof(Element) < 8 && !Map::FILTERS);
    static const bool ARE = Meanwhile::WORKS && FIT;
};

/* Brings a row into registers, as words of the map: at most ITEMS elements for each thread of the team. Calls
 * meanwhile(), where registers allow it once the loads are on their way. All threads. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS, typename Map,
          typename Meanwhile = nothing_meanwhile>
TOPK_DEVICE held_row<Element, ITEMS, WARPS, typename Map::word>
hold_row_as(const struct row_args &a, const struct row &r, const Map &map,
            const Meanwhile &meanwhile = Meanwhile{}) {
    typedef held_shape<Element, ITEMS> shape;
    const bool LOADED = early_loads<Element, ITEMS, Map, Meanwhile>::ARE;
    const Element *values = row_values<Element>(a, r);
    const uint32_t length = (uint32_t)r.length;
    held_row<Element, ITEMS, WARPS, typename Map::word> held;
    raw_row<Element, ITEMS> raw = {};
    held.left = (uint32_t)((uintptr_t)values % shape::BYTES / sizeof(Element));
    const bool is_grouped = held.left + length <= WARPS * SIMT_WARP * ITEMS;
    held.left = is_grouped ? held.left : 0;
    held.end = held.left + length;
    held.matches = ~0u;
    held.count = length; /* count_matches() */
    const Element *first = values - held.left;
    const bool is_whole =
        is_grouped && simt_all(SIMT_ALL_LANES, is_whole_group<false>(held, shape::GROUPS - 1));
    if (LOADED && is_whole)
        load_groups<true>(first, held, &raw);
    else if (LOADED && is_grouped)
        load_groups<false>(first, held, &raw);
    meanwhile();
    if constexpr (Map::FILTERS)
        held.matches = map.allowed(held);
    if (!is_grouped) {
        TOPK_REACHED(REACHED_SELECT_SINGLE_LOADS);
        load_items(first, map, &held);
        return held;
    }
    if (is_whole)
        take_groups<LOADED, true>(first, raw, map, &held);
    else
        take_groups<LOADED, false>(first, raw, map, &held);
    if (held.left != 0)
        drop_left(map, &held);
    if (held.end % shape::PER != 0)
        load_last_group(first, map, &held);
    return held;
}

/* How many elements take part, where the map FILTERS. All threads. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS, typename Word>
TOPK_DEVICE void count_matches(row_team<WARPS> &team, held_row<Element, ITEMS, WARPS, Word> *held) {
    held->count = team.reduce_add(simt_popc(held->matches));
}

/* As codes. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS = 1>
TOPK_DEVICE held_row<Element, ITEMS, WARPS> hold_row(const struct row_args &a, const struct row &r) {
    return hold_row_as<Element, ITEMS, WARPS>(a, r, as_codes<Element>{a.map});
}

/* ---- Hits of a thread: a bit for each item ---- */

/* At or above `low`, which is not 0, the code of what takes no part. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE uint32_t hits_of_pivot(const held_row<Element, ITEMS, WARPS> &held, key_word_t<Element> low) {
    uint32_t hits = 0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        hits = simt_count_from(hits, held.items[i], low, 1u << i);
    return hits;
}

template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE uint32_t hits_from(const held_row<Element, ITEMS, WARPS> &held, key_word_t<Element> low) {
    return low == 0 ? held.holding() : hits_of_pivot(held, low);
}

/* How many codes of the row are at or above `low`. All threads. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE uint32_t count_from(const held_row<Element, ITEMS, WARPS> &held, key_word_t<Element> low,
                                row_team<WARPS> &team) {
    simt_tally<key_word_t<Element>> tally;
    if (low == 0)
        return held.count;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        tally.add_if_at_least(held.items[i], low);
    return team.reduce_add(tally.count());
}

template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t count_from(const held_row<Element, ITEMS> &held, key_word_t<Element> low) {
    row_team<1> warp;
    return count_from(held, low, warp);
}

#endif
