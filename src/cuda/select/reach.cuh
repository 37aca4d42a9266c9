/* SPDX-License-Identifier: Apache-2.0
 * Which elements reach a threshold: all from some class on, up to the best that a comparison matches. */
#ifndef TOPK_SRC_CUDA_SELECT_REACH_CUH
#define TOPK_SRC_CUDA_SELECT_REACH_CUH

#include "../predicate/matcher.cuh"
#include "../tiles.cuh"

enum reach_test {
    REACH_ARC,  /* the bits lie in an arc */
    REACH_ARCS, /* the bits lie in one of two arcs: each sign has one */
    REACH_CODES /* the codes tell: signs do not count, or more is different than a turn */
};

/* How near elements come to each of two arcs of bits. Of elements of 32 bits, how far behind its beginning
 * the nearest is; of 16 bits the same, for each half of the words. Of 64 bits and two arcs, the same for
 * upper words: so some may be taken for near that are not. Of others, not 0 if one is in the arc. */
struct nearness {
    uint32_t of[2];
};

template <typename Element> struct reach {
    typedef key_word_t<Element> word;
    static const uint32_t TOP = 8 * sizeof(Element) - 1;
    static const bool IS_ORDERED = sizeof(Element) == 2 || sizeof(Element) == 4;
    const struct code_map &map;
    word low, best; /* the first uncut code of the class, and the last one that counts */
    enum reach_test kind;
    /* Each arc has the bits from `begin` to begin + span. Arcs of 8 bits stand four times in a word, arcs
     * of 16 bits twice. Two arcs of 64 bits have upper words alone. Where nearness is a distance, which an
     * addition finds, the negative of `begin` is kept. */
    word begin[2], span[2];

    static TOPK_MEMBER reach of(const struct code_map &map, word key, word best) {
        reach r = {map, 0, best, REACH_CODES, {0, 0}, {0, 0}};
        r.begin_at(key);
        return r;
    }
    TOPK_MEMBER void begin_at(word key) {
        const word ones = (word)(Element) ~(Element)0, half = (word)1 << TOP,
                   flip = (word)map.negative & ones;
        low = uncut_class_first<Element>(class_first<Element>(key, map), map);
        best = best > low ? best : low;
        const word first =
            (map.always == 0 ? low - (word)map.turn : (word)map.turn + (ones - best)) & ones; /* points */
        const word last = (first + (best - low)) & ones;
        const bool begins_high = flip != 0 && first >= half, ends_high = flip != 0 && last >= half;
        kind = begins_high == ends_high ? REACH_ARC : REACH_ARCS;
        if (!codes_follow_points<Element>(map))
            kind = REACH_CODES;
        /* bits descend where points ascend from one half on */
        const word above = first ^ flip, below = last ^ flip;
        if (begins_high == ends_high) {
            make_arc(0, begins_high ? below : first, begins_high ? above : last);
            return;
        }
        make_arc(0, begins_high ? half : first, begins_high ? above : half - 1);
        make_arc(1, begins_high ? 0 : below, begins_high ? last : ones);
    }

    template <enum reach_test TEST> static TOPK_MEMBER struct nearness far(void) {
        const uint32_t none = IS_ORDERED || (sizeof(Element) == 8 && TEST == REACH_ARCS) ? ~0u : 0;
        return nearness{{none, none}};
    }
    /* How near a group of 16 bytes comes, if it is nearer than what has been seen. TEST: an arc, or arcs. */
    template <enum reach_test TEST>
    TOPK_MEMBER void approach(struct nearness *seen, const simt_u32x4 &group) const {
#pragma unroll
        for (uint32_t arc = 0; arc < (TEST == REACH_ARCS ? 2 : 1); arc++) {
            uint32_t &of = seen->of[arc];
            if (sizeof(Element) == 8 && TEST == REACH_ARCS) {
                of = simt_min_of_sum(group.y, (uint32_t)begin[arc], of);
                of = simt_min_of_sum(group.w, (uint32_t)begin[arc], of);
                continue;
            }
            if (sizeof(Element) == 8) {
                of |= is_in_arc(group.x | (uint64_t)group.y << 32, arc);
                of |= is_in_arc(group.z | (uint64_t)group.w << 32, arc);
                continue;
            }
            of = nearer(group.x, arc, of);
            of = nearer(group.y, arc, of);
            of = nearer(group.z, arc, of);
            of = nearer(group.w, arc, of);
        }
    }
    template <enum reach_test TEST> TOPK_MEMBER bool is_near(const struct nearness &seen) const {
        if (sizeof(Element) == 8 && TEST == REACH_ARCS)
            return seen.of[0] <= (uint32_t)span[0] || seen.of[1] <= (uint32_t)span[1];
        return is_within(seen.of[0], span[0]) || (TEST == REACH_ARCS && is_within(seen.of[1], span[1]));
    }
    /* Whether an element of a group may reach the threshold. TEST: r.kind. */
    template <enum reach_test TEST> TOPK_MEMBER bool any(const simt_u32x4 &group) const {
        if (TEST == REACH_CODES)
            return hits(group) != 0;
        struct nearness seen = far<TEST>();
        approach<TEST>(&seen, group);
        return is_near<TEST>(seen);
    }

    /* The elements of a group that reach the threshold, as bits, where these lie in an arc, or in arcs
     * (TEST). */
    template <enum reach_test TEST> TOPK_MEMBER uint32_t in_arcs(const simt_u32x4 &group) const {
        const uint32_t PER = 16 / sizeof(Element);
        static_assert(sizeof(Element) == 4, "a word has one element");
        const body_tile<Element> tile = {{group}, 1, 0};
        uint32_t found = 0;
#pragma unroll
        for (uint32_t e = 0; e < PER; e++) {
            bool is_in = (uint32_t)tile.bits(0, e) + (uint32_t)begin[0] <= (uint32_t)span[0];
            if (TEST == REACH_ARCS)
                is_in |= (uint32_t)tile.bits(0, e) + (uint32_t)begin[1] <= (uint32_t)span[1];
            found |= (uint32_t)is_in << e;
        }
        return found;
    }

    /* The elements of a group that reach the threshold, as bits. */
    TOPK_MEMBER uint32_t hits(const simt_u32x4 &group) const {
        const uint32_t PER = 16 / sizeof(Element);
        const body_tile<Element> tile = {{group}, 1, 0};
        uint32_t hits = 0;
#pragma unroll
        for (uint32_t e = 0; e < PER; e++)
            hits |= (uint32_t)(uncut_code_of<Element>(tile.bits(0, e), map) - low <= best - low) << e;
        return hits;
    }

  private:
    TOPK_MEMBER void make_arc(uint32_t arc, word from, word to) {
        const word ones = (word)(Element) ~(Element)0;
        const word copies = sizeof(Element) == 1 ? 0x01010101u : sizeof(Element) == 2 ? 0x10001u : 1u;
        if (sizeof(Element) == 8 && kind == REACH_ARCS) {
            begin[arc] = 0 - (uint32_t)((uint64_t)from >> 32);
            span[arc] = (uint32_t)((uint64_t)to >> 32) - (uint32_t)((uint64_t)from >> 32);
            return;
        }
        begin[arc] = from * copies;
        span[arc] = ((to - from) & ones) * copies;
        if (IS_ORDERED) /* what is added to an element */
            begin[arc] = ((0 - from) & ones) * copies;
    }
    TOPK_MEMBER bool is_in_arc(uint64_t bits, uint32_t arc) const {
        return bits - begin[arc] <= span[arc];
    }
    TOPK_MEMBER uint32_t nearer(uint32_t bits, uint32_t arc, uint32_t of) const {
        const uint32_t begins = (uint32_t)begin[arc];
        if (sizeof(Element) == 1)
            return of | bytes_in_arc(bits, begins, (uint32_t)span[arc]);
        return sizeof(Element) == 2 ? simt_min_of_sums16(bits, begins, of)
                                    : simt_min_of_sum(bits, begins, of);
    }
    static TOPK_MEMBER bool is_within(uint32_t of, word span) {
        const uint32_t most = (uint32_t)span;
        if (!IS_ORDERED)
            return of != 0;
        return sizeof(Element) == 2 ? (of & 0xffff) <= (most & 0xffff) || of >> 16 <= most >> 16 : of <= most;
    }
};

/* The best uncut code of the elements that a comparison matches, or a better one. Codes ascend or descend
 * with the bits of either sign, but for the step from the best code to the worst. So the best match is the
 * best of all codes, or lies at an end of the arc or of a sign. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> best_code_of_matches(const matcher<Element, true> &match,
                                                     const struct code_map &map) {
    typedef key_word_t<Element> word;
    const word ones = (word)(Element) ~(Element)0, half = (word)1 << (8 * sizeof(Element) - 1);
    const word flip = (word)map.negative & ones;
    if (match.mask != nullptr || !codes_follow_points<Element>(map))
        return ones;
    const word point = (map.always == 0 ? ones - (word)map.turn : (word)map.turn) & ones;
    word best = 0;
    const auto consider = [&](word bits) TOPK_LAMBDA {
        const word code = uncut_code_of<Element>(bits, map);
        best = match.in_arc(bits) && code > best ? code : best;
    };
    const auto consider_point = [&](word p) TOPK_LAMBDA { consider(p >= half ? p ^ match.flip : p); };
    consider(point >= half ? point ^ flip : point); /* of the best code */
    consider_point(match.begin & ones);
    consider_point((match.begin + match.span) & ones);
    consider(0);
    consider(half - 1);
    consider(half);
    consider(ones);
    return best;
}

/* The elements of one class. */
template <typename Element> struct tie_class {
    typedef key_word_t<Element> word;
    const struct code_map &map;
    word first, span; /* of its uncut codes */

    static TOPK_MEMBER tie_class of(const struct code_map &map, word key) {
        const word first = uncut_class_first<Element>(class_first<Element>(key, map), map);
        return tie_class{map, first, uncut_class_last<Element>(first, map) - first};
    }
    TOPK_MEMBER bool holds(word bits) const {
        return uncut_code_of<Element>(bits, map) - first <= span;
    }
    /* The matches of a group, as bits. */
    TOPK_MEMBER uint32_t among(const simt_u32x4 &group) const {
        const uint32_t PER = 16 / sizeof(Element);
        const body_tile<Element> tile = {{group}, 1, 0};
        uint32_t ties = 0;
#pragma unroll
        for (uint32_t e = 0; e < PER; e++)
            ties |= (uint32_t)holds(tile.bits(0, e)) << e;
        return ties;
    }
};

#endif
