/* SPDX-License-Identifier: Apache-2.0
 * Counting whole tiles of narrow elements. One instruction each for the code, the digit and the test of an
 * element would take longer than to read it, so words of two or four elements are worked on at once. */
#ifndef TOPK_SRC_CUDA_SHARDED_NARROW_CUH
#define TOPK_SRC_CUDA_SHARDED_NARROW_CUH

#include "table.cuh"

/* Elements of 8 bits are counted as they are. */
template <typename Interval> struct bytes_counter {
    const Interval &in;

    TOPK_MEMBER bytes_counter(const Interval &of) : in(of) {
    }
    TOPK_MEMBER bool is_able(void) const {
        return true;
    }
    TOPK_MEMBER void count(uint32_t one, uint32_t other) const {
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            in.add(one >> 8 * i & 0xff);
            in.add(other >> 8 * i & 0xff);
        }
    }
};

/* Elements of 16 bits are two of a word. */
template <typename Interval> struct halves_counter {
    const Interval &in;
    uint32_t keep, always, negative, turn, turn_negative; /* codes.h */
    uint32_t mask, low, above;                            /* of the digit; of the interval */

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
    TOPK_MEMBER void count_pair(uint32_t pair) const {
        const uint32_t digits = pair >> in.a.shift & mask, others = (pair ^ low) & above;
        if (Interval::IS_FIRST || (others & 0xffff) == 0)
            in.add(digits & 0xffff);
        if (Interval::IS_FIRST || others >> 16 == 0)
            in.add(digits >> 16);
    }
};

template <typename Counter, typename Element>
TOPK_DEVICE void count_words(const Counter &counter, const body_tile<Element> &tile) {
#pragma unroll
    for (uint32_t g = 0; g < body_tile<Element>::GROUPS; g++) {
        if (!tile.valid(g))
            continue;
        counter.count(tile.raw[g].x, tile.raw[g].y);
        counter.count(tile.raw[g].z, tile.raw[g].w);
    }
}

#endif
