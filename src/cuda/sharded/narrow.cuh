/* SPDX-License-Identifier: Apache-2.0
 * Counting whole tiles of narrow elements. One instruction each for the code, the digit and the test of an
 * element would take longer than to read it, so words of two or four elements are worked on at once. */
#ifndef TOPK_SRC_CUDA_SHARDED_NARROW_CUH
#define TOPK_SRC_CUDA_SHARDED_NARROW_CUH

#include "../simt/bytes.cuh"
#include "table.cuh"

/* Elements of 8 bits are counted as they are. A counter's place in bytes is element * 128 + lane * 4: two
 * bytes that one instruction puts together. */
template <typename Interval> struct bytes_counter {
    static const bool HAS_LANES = Interval::shape::LANES == SIMT_WARP;
    const Interval &in;

    TOPK_MEMBER bytes_counter(const Interval &of) : in(of) {
    }
    TOPK_MEMBER bool is_able(void) const {
        return true;
    }
    TOPK_MEMBER void count(uint32_t one, uint32_t other) const {
        count_word(one);
        count_word(other);
    }

  private:
    TOPK_MEMBER void count_word(uint32_t elements) const {
        const uint32_t lower = (elements << 7 & 0x80808080) | in.lane * 0x04040404,
                       upper = elements >> 1 & 0x7f7f7f7f;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++)
            if (HAS_LANES)
                simt_atomic_add(simt_shared_at(in.table, simt_byte_pair(lower, upper, i)), 1u);
            else
                in.add(elements >> 8 * i & 0xff);
    }
};

/* Elements of 16 bits are two of a word. */
template <typename Interval> struct halves_counter {
    const Interval &in;
    uint32_t keep, always, negative, turn, turn_negative; /* codes.h */
    uint32_t mask, unit, low, above;                      /* of digits; of the interval */

    static TOPK_MEMBER uint32_t both(uint64_t half) {
        return (uint32_t)(half & 0xffff) * 0x10001;
    }
    TOPK_MEMBER halves_counter(const Interval &of) : in(of) {
        const struct code_map &map = in.a.rows.map;
        keep = both(map.keep);
        always = both(map.always);
        negative = both(map.negative);
        turn = both(map.turn);
        turn_negative = turn ^ both(map.turn + map.add);
        mask = both(in.a.mask);
        unit = both(in.a.mask + 1);
        low = both(in.low);
        above = both(~(in.high - in.low));
    }
    /* Codes that need no cut differ from the interval's above its digits, or are in it. */
    TOPK_MEMBER bool is_able(void) const {
        return Interval::IS_FIRST || in.needs_no_cut();
    }
    TOPK_MEMBER uint32_t uncut(uint32_t pair) const {
        const uint32_t negatives = simt_signs<2>(pair);
        return simt_min_of_sums16((pair & keep) ^ (negatives & negative) ^ always,
                                  turn ^ (negatives & turn_negative), ~0u);
    }
    TOPK_MEMBER void count(uint32_t one, uint32_t other) const {
        count_pair(uncut(one));
        count_pair(uncut(other));
    }

  private:
    /* Elements outside of the interval go to bins behind the digits' bins. */
    TOPK_MEMBER void count_pair(uint32_t pair) const {
        uint32_t bins = pair >> in.a.shift & mask;
        if (!Interval::IS_FIRST)
            bins |= simt_min_of_sums16((pair ^ low) & above, 0, unit);
        in.add(bins & 0xffff);
        in.add(bins >> 16);
    }
};

template <typename Counter> TOPK_DEVICE void count_group(const Counter &counter, const simt_u32x4 &group) {
    counter.count(group.x, group.y);
    counter.count(group.z, group.w);
}

/* A whole tile is counted without a test for each group. */
template <typename Counter, typename Element>
TOPK_DEVICE void count_words(const Counter &counter, const body_tile<Element> &tile) {
    const uint32_t groups = body_tile<Element>::GROUPS;
    if (tile.count == groups) {
#pragma unroll
        for (uint32_t g = 0; g < groups; g++)
            count_group(counter, tile.raw[g]);
    } else {
#pragma unroll
        for (uint32_t g = 0; g < groups; g++)
            if (tile.valid(g))
                count_group(counter, tile.raw[g]);
    }
}

#endif
