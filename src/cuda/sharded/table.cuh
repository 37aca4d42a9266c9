/* SPDX-License-Identifier: Apache-2.0
 * The bins of a block, in shared memory, and which of them an element is counted in.
 *
 * What a bin holds becomes what a bin of keys holds when the block adds its bins to the row's. So an element
 * takes a few instructions only: 8 bits are counted as they are; the first round counts uncut codes
 * (codes.cuh), since cutting keeps the order of codes, and so the order of their digits; no round tells the
 * codes of zero apart from their key before its bins are added. */
#ifndef TOPK_SRC_CUDA_SHARDED_TABLE_CUH
#define TOPK_SRC_CUDA_SHARDED_TABLE_CUH

#include "../predicate/source.cuh"
#include "kernels.h"

/* A warp's atomic takes as many turns as its lanes have bins in one bank of shared memory: 3.7 of random
 * ones. To read 32 elements of 16 bits takes as long. Elements of 8 bits are counted in a table of 256 bins x
 * 32 lanes: each lane has its own counters, in a bank of its own. */
template <typename Element> struct table_shape {
    static const uint32_t BITS = 8 * sizeof(Element),
                          DIGIT = BITS <= 16 ? SHARDED_DIGIT_NARROW : SHARDED_DIGIT_WIDE,
                          DIGIT_MOST =
                              BITS <= 16 ? (uint32_t)SHARDED_DIGIT_NARROW : (uint32_t)SHARDED_DIGIT_FEW_ROWS;
    static const bool IS_RAW = BITS == 8, LISTS = BITS > 2 * DIGIT; /* there is a round between two others */
    static const uint32_t LANES = IS_RAW ? SHARDED_LANES : 1;
};

/* The words of a block's table: bins, and behind them room for what does not count, which spares a branch for
 * each element. Nobody reads that. */
struct table_size {
    uint32_t bins, words;
};

template <typename Element> TOPK_HOST_DEVICE struct table_size table_size_of(uint32_t digits) {
    typedef table_shape<Element> shape;
    const uint32_t bins = shape::IS_RAW ? 256 : digits;
    return {bins, (shape::BITS == 16 ? 2 * bins : bins + 1) * shape::LANES};
}

/* The bits that are 1 in one of some codes, and those that are 0 in one. */
template <typename Word> struct codes_found {
    Word ones, zeros;

    static TOPK_MEMBER codes_found none(void) {
        return codes_found{0, 0};
    }
    TOPK_MEMBER void take(Word code) {
        ones |= code;
        zeros |= (Word)~code;
    }
    /* Adds the codes of a warp to a row's. All lanes. */
    TOPK_MEMBER void add_to(struct sharded_row *row) const {
        const uint64_t of_warp[2] = {of_lanes(ones), of_lanes(zeros)};
        if (simt_lane() != 0)
            return;
        if ((of_warp[0] & ~simt_load_relaxed(&row->ones)) != 0)
            simt_atomic_or(&row->ones, of_warp[0]);
        if ((of_warp[1] & ~simt_load_relaxed(&row->zeros)) != 0)
            simt_atomic_or(&row->zeros, of_warp[1]);
    }

  private:
    static TOPK_MEMBER uint64_t of_lanes(uint64_t bits) {
        const uint64_t low = simt_reduce_or(SIMT_ALL_LANES, (uint32_t)bits);
        return sizeof(Word) == 4
                   ? low
                   : low | (uint64_t)simt_reduce_or(SIMT_ALL_LANES, (uint32_t)(bits >> 32)) << 32;
    }
};

/* What is counted: elements, or codes that were KEPT, whose digits above the round's are the k-th key's. */
template <typename Element, bool FIRST, bool KEPT> struct interval {
    typedef Element element;
    typedef key_word_t<Element> word;
    typedef table_shape<Element> shape;
    /* LOOKS: whether the codes that it counts are one. A first round has no instruction to spare, and narrow
     * elements have too few rounds. */
    static const bool IS_FIRST = FIRST, IS_KEPT = KEPT, LOOKS = !FIRST && shape::BITS > 16;
    static const word ONES = (word)(Element) ~(Element)0;
    const struct sharded_args &a;
    simt_shared<uint32_t> table;
    uint32_t lane, none; /* counters of a bin; the bin of what does not count */
    word low, high;
    /* Of uncut codes: what is cut to an end of all codes is in the interval with it. The others are of
     * distances from the first. */
    word first, reach, least, most, base;
    uint64_t turn; /* codes.h, for distances */

    TOPK_MEMBER interval(const struct sharded_args &args, simt_shared<uint32_t> to, uint64_t from)
        : a(args), table(to), low((word)from) {
        const word lowest = (word)a.rows.map.lowest, highest = (word)a.rows.map.highest;
        lane = simt_lane() % shape::LANES;
        none = table_size_of<Element>(a.bins).bins;
        high = low + (word)(((uint64_t)a.mask << a.shift) | (((uint64_t)1 << a.shift) - 1));
        first = !KEPT && low <= lowest ? 0 : low;
        reach = (!KEPT && high >= highest ? ONES : high) - first;
        least = (low > lowest ? low : lowest) - first;
        most = (high < highest ? high : highest) - first;
        base = low - first;
        turn = a.rows.map.turn - first;
    }
    /* How far an element's uncut code is from the first one of the interval. */
    TOPK_MEMBER word distance(word bits) const {
        struct code_map map = a.rows.map;
        map.turn = turn;
        return KEPT ? bits - first : uncut_code_of<Element>(bits, map);
    }
    TOPK_MEMBER bool holds(word bits) const {
        return FIRST || distance(bits) <= reach;
    }
    TOPK_MEMBER word code(word bits) const {
        return KEPT ? bits : code_of<Element>(bits, a.rows.map);
    }
    /* Whether the uncut codes of the interval are its codes. */
    TOPK_MEMBER bool needs_no_cut(void) const {
        return base == 0 && least == 0 && most == reach;
    }
    /* Of an element of the interval, how far its code is from `low`; of its uncut code in the first round. */
    TOPK_MEMBER word from_low(word bits) const {
        word d = distance(bits);
        if (!FIRST && !KEPT) {
            d = d > least ? d : least;
            d = (d < most ? d : most) - base;
        }
        return d;
    }
    TOPK_MEMBER uint32_t digit(word bits) const {
        return (uint32_t)(from_low(bits) >> a.shift);
    }
    /* Counts an element, if the interval holds it and it is wanted. */
    TOPK_MEMBER void count_if(bool wanted, word bits, codes_found<word> &range) const {
        const bool counts = holds(bits) & wanted;
        const word code = from_low(bits);
        if (LOOKS && counts)
            range.take(code);
        add(counts ? shape::IS_RAW ? (uint32_t)bits : (uint32_t)(code >> a.shift) : none);
    }
    TOPK_MEMBER void add(uint32_t bin) const {
        simt_atomic_add(&table[bin * shape::LANES + lane], 1u);
    }
    /* The digit that the keys of a bin's elements have. */
    TOPK_MEMBER uint32_t digit_of_keys(uint32_t bin) const {
        if (FIRST || shape::IS_RAW) {
            const word code = shape::IS_RAW ? code_of<Element>(bin, a.rows.map)
                                            : cut_code<Element>((word)bin << a.shift, a.rows.map);
            bin = (uint32_t)((word)(code - low) >> a.shift);
        }
        return bin | (uint32_t)(a.shift == 0 && (word)(low + bin) == (word)a.rows.map.zeros);
    }
};

/* All threads. */
template <typename Element>
TOPK_DEVICE void clear_table(const struct sharded_args &a, simt_shared<uint32_t> table) {
    const uint32_t words = table_size_of<Element>(a.bins).words;
    for (uint32_t i = simt_thread(); i < words; i += simt_threads())
        table[i] = 0;
    simt_block_sync();
}

/* Takes what the block has counted in a bin. */
template <uint32_t LANES> TOPK_DEVICE uint32_t take_bin(simt_shared<uint32_t> table, uint32_t bin) {
    uint32_t sum = 0;
#pragma unroll 8
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t at = bin * LANES + (lane + simt_thread()) % LANES, held = table[at];
        if (held != 0)
            table[at] = 0;
        sum += held;
    }
    return sum;
}

/* Adds the block's bins to the row's, and clears them. All threads. */
template <typename Element, typename Interval> TOPK_DEVICE void add_table(const Interval &in, int64_t row) {
    typedef table_shape<Element> shape;
    const struct sharded_args &a = in.a;
    const uint32_t bins = shape::IS_RAW ? 256 : a.mask + 1;
    simt_block_sync();
    for (uint32_t bin = simt_thread(); bin < bins; bin += simt_threads()) {
        const uint64_t sum = take_bin<shape::LANES>(in.table, bin);
        if (sum == 0 || (shape::IS_RAW && !in.holds(bin)))
            continue;
        const int64_t at = row * a.bins + in.digit_of_keys(bin);
        simt_atomic_add(&a.own[at], sum);
        simt_atomic_add(&a.counters[at], sum);
    }
    simt_block_sync();
}

#endif
