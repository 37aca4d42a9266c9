/* SPDX-License-Identifier: Apache-2.0
 * What is read of a row: its elements, or those of them that meet the call's predicate.
 *
 * A source fetches tiles and judges them, which says what of them counts: apart, so that a tile can be on its
 * way while the one before it is judged. A comparison is one test on the place of an element (keys.h). Bytes
 * or bits of a mask are fetched next to the elements, as wide as they are aligned. */
#ifndef TOPK_SRC_CUDA_AIR_SOURCE_CUH
#define TOPK_SRC_CUDA_AIR_SOURCE_CUH

#include "../tiles.cuh"
#include "kernels.h"

/* ---- All elements ---- */

/* Whether an element of a tile counts; and whether all do, in any tile of the kind. */
template <typename Tile> TOPK_DEVICE bool is_met(const Tile &, uint32_t, uint32_t) {
    return true;
}

template <typename Tile> TOPK_DEVICE bool all_met(const Tile &) {
    return true;
}

/* Calls work() with this tile, or with one that needs no branch to know what of it counts. */
template <typename Tile, typename Work> TOPK_DEVICE void by_kind(const Tile &tile, const Work &work) {
    work(tile);
}

/* What counts. WHERE: what meets the call's predicate; otherwise all. */
template <typename Element, bool WHERE> struct element_filter {
    static const bool none = false;
    static TOPK_MEMBER element_filter of(const struct air_args &) {
        return element_filter{};
    }
};

template <typename Element, bool WHERE> struct row_source {
    static const bool FILTERS = WHERE;
    typedef body_tile<Element> fetched_tile;
    const struct row_args &a;
    const struct row &r;

    TOPK_MEMBER const Element *values(void) const {
        return row_values<Element>(a, r);
    }
    TOPK_MEMBER fetched_tile fetch(const struct row_parts &parts, int64_t tile) const {
        return load_body(values(), parts, tile);
    }
    TOPK_MEMBER const body_tile<Element> &judge(const fetched_tile &tile) const {
        return tile;
    }
    TOPK_MEMBER edge_tile<Element> head(const struct row_parts &parts) const {
        return load_head(values(), parts);
    }
    TOPK_MEMBER edge_tile<Element> tail(const struct row_parts &parts) const {
        return load_tail(values(), parts);
    }
};

/* ---- Elements that meet a predicate ---- */

/* The bytes of a word that are not 0: bits 7, 15, 23 and 31. */
TOPK_DEVICE uint32_t bytes_set(uint32_t word) {
    return (word | ((word & 0x7f7f7f7fu) + 0x7f7f7f7fu)) & 0x80808080u;
}

/* Bits 0 to 7 for the bytes of two words that are not 0. */
TOPK_DEVICE uint32_t bits_of_bytes(uint32_t low, uint32_t high) {
    return (bytes_set(low) >> 7 | bytes_set(high) >> 3) * 0x01020408u >> 24;
}

/* 1 to 31 bits to the left, around. */
TOPK_DEVICE uint32_t turn_left(uint32_t word, uint32_t bits) {
    return word << bits | word >> (32 - bits);
}

/* What a lane loads of a mask for a tile of the body. Of bytes: those of its own elements. Of bits: as many,
 * but contiguous ones. GROUPS lanes side by side have those of their groups 0, those of their groups 1 and so
 * on; they trade them later. */
template <typename Element> struct mask_part {
    static const uint32_t PER = tile_shape<Element>::PER, GROUPS = tile_shape<Element>::GROUPS;
    static const uint32_t WORDS = (PER + 3) / 4; /* of the bytes of a group */
    static const uint32_t BITS = GROUPS * PER;
    uint32_t words[GROUPS * WORDS];

    /* Of the first `count` groups, from that of the lane's first element on. */
    TOPK_MEMBER void load_bytes(const uint8_t *from, uint32_t count) {
        if ((uintptr_t)from % PER == 0) {
#pragma unroll
            for (uint32_t g = 0; g < GROUPS; g++)
                if (g < count)
                    load_group(from + g * SIMT_WARP * PER, words + g * WORDS);
        } else {
#pragma unroll
            for (uint32_t g = 0; g < GROUPS; g++)
                if (g < count)
                    load_single_bytes(from + g * SIMT_WARP * PER, words + g * WORDS);
        }
    }
    TOPK_MEMBER void load_group(const uint8_t *from, uint32_t *to) const {
        if (PER == 16) {
            simt_u32x4 loaded = simt_load16_read_only(from);
            to[0] = loaded.x;
            to[1 % WORDS] = loaded.y;
            to[2 % WORDS] = loaded.z;
            to[3 % WORDS] = loaded.w;
        } else if (PER == 8) {
            uint64_t loaded = simt_load_read_only((const uint64_t *)from);
            to[0] = (uint32_t)loaded;
            to[1 % WORDS] = (uint32_t)(loaded >> 32);
        } else if (PER == 4) {
            to[0] = simt_load_read_only((const uint32_t *)from);
        } else {
            to[0] = simt_load_read_only((const uint16_t *)from);
        }
    }
    TOPK_MEMBER void load_single_bytes(const uint8_t *from, uint32_t *to) const {
#pragma unroll
        for (uint32_t i = 0; i < PER; i++)
            to[i / 4] |= (uint32_t)simt_load_read_only(from + i) << i % 4 * 8;
    }
    /* From the first of the lane's bits on, those of `count` groups, of which none need exist: all in one
     * word, or the bytes that have one of them in a word each. */
    TOPK_MEMBER void load_bits(const uint8_t *mask, int64_t first, int32_t count) {
        static_assert(BITS / 8 < GROUPS * WORDS, "the bits may begin in the middle of a byte");
        const uint8_t *from = mask + (uint64_t)first / 8;
        if (count >= (int32_t)GROUPS && ((uint32_t)(uintptr_t)mask * 8 + (uint32_t)first) % BITS == 0) {
            words[0] = BITS == 32   ? simt_load_read_only((const uint32_t *)from)
                       : BITS == 16 ? simt_load_read_only((const uint16_t *)from)
                                    : simt_load_read_only(from);
        } else if (count > 0) {
            uint32_t end = (uint32_t)first % 8 + (count < (int32_t)GROUPS ? PER * (uint32_t)count : BITS);
#pragma unroll
            for (uint32_t i = 0; i <= BITS / 8; i++)
                if (end > 8 * i)
                    words[i] = simt_load_read_only(from + i);
        }
    }
    /* Bit group * PER + element, of the lane's own elements. */
    TOPK_MEMBER uint32_t met_by_bytes(void) const {
        uint32_t met = 0;
        if (PER == 2) {
            met = bits_of_bytes(words[0] | words[1] << 16, words[2 % GROUPS] | words[3 % GROUPS] << 16);
        } else {
#pragma unroll
            for (uint32_t i = 0; i < GROUPS * WORDS; i += 2)
                met |= bits_of_bytes(words[i], words[i + 1]) << 4 * i;
        }
        return met;
    }
    /* The same: GROUPS lanes have a square of as many groups' bits each, which is transposed. `first` as
     * above; `count`: of the lane's own groups. All lanes. */
    TOPK_MEMBER uint32_t met_by_bits(int64_t first, uint32_t count) const {
        const uint32_t shift = (uint32_t)first % 8;
        uint32_t met = 0;
#pragma unroll
        for (uint32_t i = 0; i < 4 && i <= BITS / 8; i++)
            met |= words[i] << 8 * i;
        met = BITS < 32 ? met >> shift : (uint32_t)(((uint64_t)words[BITS / 8] << 32 | met) >> shift);
#pragma unroll
        for (uint32_t lanes = 1; lanes < GROUPS; lanes *= 2) {
            const uint32_t width = lanes * PER, low = 0xffffffffu / ((1u << width) + 1);
            bool upper = (simt_lane() & lanes) != 0;
            uint32_t kept = upper ? ~low : low;
            uint32_t other = simt_shuffle_xor(SIMT_ALL_LANES, met, lanes);
            met = (met & kept) | (turn_left(other, upper ? 32 - width : width) & ~kept);
        }
        return BITS < 32 || count < GROUPS ? met & ((1u << count * PER) - 1) : met;
    }
};

template <typename Element> struct element_filter<Element, true> {
    typedef key_word_t<Element> word;
    const uint8_t *mask; /* or NULL: elements are compared */
    bool bits;           /* of the mask; otherwise bytes */
    word flip;
    word begin, span; /* the arc of places that counts */
    bool none;        /* nothing does */

    /* The complement of an arc is an arc, but for that of the full circle, which is nothing. */
    static TOPK_MEMBER element_filter of(const struct air_args &a) {
        const word ones = (word)(Element) ~(Element)0;
        const struct compact_match match =
            a.filter.bounds.bounds != nullptr ? *a.found_match : a.filter.match;
        const word begin = (word)match.begin, span = (word)match.span;
        element_filter f = {
            (const uint8_t *)a.filter.mask, a.filter.bits, (word)a.filter.flip, begin, span, false};
        if (match.complement) {
            f.begin = (begin + span + 1) & ones;
            f.span = (ones - 1 - span) & ones;
            f.none = span == ones;
        }
        return f;
    }

    TOPK_MEMBER bool in_arc(word element) const {
        word negative = (word)0 - (element >> (8 * sizeof(Element) - 1));
        word turned = (element ^ (negative & flip)) - begin;
        if (sizeof(Element) < sizeof(word))
            turned &= (word)(Element) ~(Element)0;
        return turned <= span;
    }
    /* What the mask says of the element at this place in memory. */
    TOPK_MEMBER bool is_masked_in(int64_t at) const {
        if (bits)
            return (simt_load_read_only(mask + (uint64_t)at / 8) >> (uint32_t)at % 8 & 1) != 0;
        return simt_load_read_only(mask + at) != 0;
    }
};

/* ---- Tiles of them ---- */

/* A tile whose elements are compared. */
template <typename Element, typename Tile> struct compared_tile : Tile {
    element_filter<Element, true> filter;
};

/* A tile with what a mask says of it. Groups of which nothing counts are left out. */
template <typename Tile> struct masked_tile : Tile {
    uint32_t met; /* bit group * PER + element; 0 where there is no element */

    TOPK_MEMBER bool valid(uint32_t group) const {
        return (met >> group * Tile::PER & ((1u << Tile::PER) - 1)) != 0;
    }
};

/* Either. */
template <typename Element, typename Tile> struct judged_tile : Tile {
    element_filter<Element, true> filter;
    uint32_t met;
};

template <typename Element, typename Tile>
TOPK_DEVICE bool is_met(const compared_tile<Element, Tile> &tile, uint32_t group, uint32_t element) {
    return tile.filter.in_arc(tile.bits(group, element));
}

template <typename Element, typename Tile> TOPK_DEVICE bool all_met(const compared_tile<Element, Tile> &) {
    return false;
}

template <typename Tile>
TOPK_DEVICE bool is_met(const masked_tile<Tile> &tile, uint32_t group, uint32_t element) {
    return (tile.met >> (group * Tile::PER + element) & 1) != 0;
}

template <typename Tile> TOPK_DEVICE bool all_met(const masked_tile<Tile> &) {
    return false;
}

template <typename Element, typename Tile>
TOPK_DEVICE bool is_met(const judged_tile<Element, Tile> &tile, uint32_t group, uint32_t element) {
    return tile.filter.mask == nullptr ? tile.filter.in_arc(tile.bits(group, element))
                                       : (tile.met >> (group * Tile::PER + element) & 1) != 0;
}

template <typename Element, typename Tile, typename Work>
TOPK_DEVICE void by_kind(const judged_tile<Element, Tile> &tile, const Work &work) {
    if (tile.filter.mask == nullptr)
        work(compared_tile<Element, Tile>{tile, tile.filter});
    else
        work(masked_tile<Tile>{tile, tile.met});
}

/* A tile of the body on its way, and what a mask says of it. */
template <typename Element> struct fetched_with_mask {
    body_tile<Element> tile;
    mask_part<Element> mask;
};

template <typename Element> struct row_source<Element, true> {
    static const bool FILTERS = true;
    static const uint32_t PER = body_tile<Element>::PER, GROUPS = body_tile<Element>::GROUPS;
    typedef fetched_with_mask<Element> fetched_tile;
    const struct row_args &a;
    const struct row &r;
    element_filter<Element, true> filter;

    TOPK_MEMBER const Element *values(void) const {
        return row_values<Element>(a, r);
    }
    TOPK_MEMBER fetched_tile fetch(const struct row_parts &parts, int64_t tile) const {
        fetched_tile t = {};
        t.tile = load_body(values(), parts, tile);
        if (filter.mask == nullptr)
            return t;
        if (!filter.bits) {
            t.mask.load_bytes(filter.mask + (r.begin + t.tile.position0), t.tile.count);
            return t;
        }
        const uint32_t here = groups_of_warp<Element>(parts, first_group<Element>(tile));
        t.mask.load_bits(filter.mask, first_bit(t), (int32_t)here - (int32_t)(simt_lane() + groups_ahead()));
        return t;
    }
    /* Of the groups of a warp, the lane's bits begin with so many behind the first of its own. */
    TOPK_MEMBER static uint32_t groups_ahead(void) {
        return simt_lane() % GROUPS * (SIMT_WARP - 1);
    }
    TOPK_MEMBER int64_t first_bit(const fetched_tile &t) const {
        return r.begin + t.tile.position0 + groups_ahead() * PER;
    }
    /* All lanes. */
    TOPK_MEMBER judged_tile<Element, body_tile<Element>> judge(const fetched_tile &t) const {
        uint32_t met = 0;
        if (filter.mask != nullptr)
            met = filter.bits ? t.mask.met_by_bits(first_bit(t), t.tile.count) : t.mask.met_by_bytes();
        return judged_tile<Element, body_tile<Element>>{t.tile, filter, met};
    }
    /* Few elements: what a mask says of them is fetched here. */
    TOPK_MEMBER judged_tile<Element, edge_tile<Element>> judge_edge(const edge_tile<Element> &t) const {
        uint32_t met = filter.mask != nullptr && t.inside && filter.is_masked_in(r.begin + t.at);
        return judged_tile<Element, edge_tile<Element>>{t, filter, met};
    }
    TOPK_MEMBER judged_tile<Element, edge_tile<Element>> head(const struct row_parts &parts) const {
        return judge_edge(load_head(values(), parts));
    }
    TOPK_MEMBER judged_tile<Element, edge_tile<Element>> tail(const struct row_parts &parts) const {
        return judge_edge(load_tail(values(), parts));
    }
};

template <typename Element>
TOPK_DEVICE row_source<Element, false> source_of(const struct air_args &a, const struct row &r,
                                                 const element_filter<Element, false> &) {
    return row_source<Element, false>{a.rows, r};
}

template <typename Element>
TOPK_DEVICE row_source<Element, true> source_of(const struct air_args &a, const struct row &r,
                                                const element_filter<Element, true> &filter) {
    return row_source<Element, true>{a.rows, r, filter};
}

/* A row as launches after the first find it: with no more results than elements that count. */
TOPK_DEVICE struct row counted_row(const struct air_args &a, int64_t row) {
    struct row r = row_at(a.rows, row);
    if (a.matches != nullptr)
        r.k = r.k < a.matches[row] ? r.k : a.matches[row];
    return r;
}

template <bool WHERE> TOPK_DEVICE struct row counted_row(const struct air_args &a, int64_t row) {
    return WHERE ? counted_row(a, row) : row_at(a.rows, row);
}

#endif
