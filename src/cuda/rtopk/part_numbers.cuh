/* SPDX-License-Identifier: Apache-2.0
 * Rows of one length as numbers, in parts of a warp. */
#ifndef TOPK_SRC_CUDA_RTOPK_PART_NUMBERS_CUH
#define TOPK_SRC_CUDA_RTOPK_PART_NUMBERS_CUH

#include "in_order.cuh"
#include "number_range.cuh"
#include "parts.cuh"

/* A lane's hits, as with neighbours: bits ascend with positions, and so do lanes within a word, and
 * words. */
template <uint32_t ITEMS> struct number_hits {
    static const uint32_t WORDS = (ITEMS + 31) / 32;
    uint32_t words[WORDS];
};

/* Lanes have groups of 16 bytes in turns, at least as many lanes as a word has groups. */
template <typename Element, uint32_t ITEMS> struct part_numbers {
    static const uint32_t WORDS = number_hits<ITEMS>::WORDS, OF_WORD = ITEMS / WORDS;
    static const uint32_t BLOCK = ITEMS < 16 ? ITEMS : 16; /* items that are skipped together */
    typedef held_shape<Element, ITEMS> shape;
    typedef number_t<Element> number;
    lane_part part;
    uint32_t length;
    number items[ITEMS];

    TOPK_MEMBER part_numbers(const struct uniform_rows &u)
        : part(part_of_lane(u.part_shift)), length(u.length) {
    }

    /* Whether a lane has any of the items from here on. */
    TOPK_MEMBER bool has_block(uint32_t first) const {
        return first == 0 || first << part.shift < length;
    }
    /* Lanes that lie behind a row read its last group. */
    TOPK_MEMBER void load(const struct number_map &numbers, const Element *values) {
        const uint32_t last = length - shape::PER, step = shape::PER << part.shift;
        held_group groups[shape::GROUPS];
        uint32_t begin = part.lane * shape::PER;
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++, begin += step)
            groups[g] = load_held_group<shape::BYTES>(values + (begin < last ? begin : last));
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            items[i] = as_numbers<Element>{numbers}.of(
                bits_of_group<Element>(groups[i / shape::PER], i % shape::PER));
        orient_numbers<Element>(numbers, items);
    }
    /* Makes nothing of what lies behind the row. */
    TOPK_MEMBER void drop_others(void) {
        if (length == ITEMS << part.shift)
            return;
        uint32_t begin = part.lane * shape::PER;
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++, begin += shape::PER << part.shift)
#pragma unroll
            for (uint32_t i = g * shape::PER; i < (g + 1) * shape::PER; i++)
                items[i] = begin < length ? items[i] : as_numbers<Element>::nothing();
    }
    /* Of the row. High is NaN if one of its elements is. All lanes. */
    TOPK_MEMBER number_range<number> range(void) const {
        number_range<number> range = {items[0], items[0]};
#pragma unroll
        for (uint32_t i = 1; i < ITEMS; i++) {
            range.low = simt_float_min(range.low, items[i]);
            range.high = simt_float_max_or_nan(range.high, items[i]);
        }
#pragma unroll 1
        for (uint32_t s = 0; s < part.shift; s++) {
            range.low = simt_float_min(range.low, exchange(range.low, 1u << s));
            range.high = simt_float_max_or_nan(range.high, exchange(range.high, 1u << s));
        }
        return range;
    }
    /* How many of the row are at or above `low`. All lanes. */
    TOPK_MEMBER uint32_t count_from(number low) const {
        simt_tally<number> tallies[2];
#pragma unroll
        for (uint32_t first = 0; first < ITEMS; first += BLOCK) {
            if (has_block(first)) {
#pragma unroll
                for (uint32_t i = first; i < first + BLOCK; i++)
                    tallies[i % 2].add_if_at_least(items[i], low);
            }
        }
        uint32_t count = tallies[0].count() + tallies[1].count();
#pragma unroll 1
        for (uint32_t s = 0; s < part.shift; s++)
            count += exchange(count, 1u << s);
        return count;
    }
    /* All lanes. */
    TOPK_MEMBER number_hits<ITEMS> hits_from(number low) const {
        const uint32_t one = simt_unknown_one();
        number_hits<ITEMS> hits = {};
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            hits.words[i / OF_WORD] =
                simt_count_from(hits.words[i / OF_WORD], items[i], low, 1u << i % OF_WORD, one);
#pragma unroll
        for (uint32_t w = 0; w < WORDS; w++)
            hits.words[w] = hits_of_neighbours<Element, OF_WORD>(hits.words[w], part.shift);
        return hits;
    }
};

#endif
