/* SPDX-License-Identifier: Apache-2.0
 * A pair of thresholds, from samples of the row: the k-th element lies between them with a high probability.
 * A first sample, the same for all blocks, tells a wide pair. Where too much lies between that, a larger one
 * tells a closer pair: each block draws a part of it, and they add up what they found. */
#ifndef TOPK_SRC_CUDA_BRACKET_PAIR_CUH
#define TOPK_SRC_CUDA_BRACKET_PAIR_CUH

#include "kth_bin.cuh"

/* Keys, both of candidates. */
template <typename Element> struct threshold_pair {
    key_word_t<Element> low, high;
    uint32_t scale;  /* of bins: the class of `low` has one, all others have 2^scale keys */
    bool is_plateau; /* many samples are of the class of `low` */

    static const uint32_t BETTER = SELECT_BINS_MAX - 1; /* the bin of what is better than `high` */

    static TOPK_MEMBER threshold_pair of(key_word_t<Element> low, key_word_t<Element> high, bool is_plateau) {
        const key_word_t<Element> greatest = high > low ? high - low - 1 : 0;
        const uint32_t bits = 8 * sizeof greatest - simt_clz(greatest);
        uint32_t scale = bits > SELECT_DIGIT_BITS_MAX ? bits - SELECT_DIGIT_BITS_MAX : 0;
        scale += (greatest >> scale) + 1 >= BETTER ? 1 : 0;
        return threshold_pair{low, high, scale, is_plateau};
    }
    TOPK_MEMBER uint32_t bin_of(key_word_t<Element> key) const {
        return key == low ? 0 : (uint32_t)((key - low - 1) >> scale) + 1;
    }
    /* The bin that holds the k-th element. */
    TOPK_MEMBER kth_bin<Element> bin(const struct ranked_bin &found) const {
        typedef key_word_t<Element> word;
        const word first = low + (found.bin == 0 ? (word)0 : ((word)(found.bin - 1) << scale) + 1);
        const word last = first + (found.bin == 0 ? (word)0 : ((word)1 << scale) - 1);
        return kth_bin<Element>{first,     last >= first && last < high ? last : high, 0, ~0u, found.before,
                                found.held};
    }
};

/* Adds what lanes have counted to a bin. All lanes. */
TOPK_DEVICE void add_of_warp(simt_shared<uint32_t> bins, uint32_t bin, uint32_t count) {
    const uint32_t sum = simt_reduce_add(SIMT_ALL_LANES, count);
    if (simt_lane() == 0 && sum != 0)
        simt_atomic_add(&bins[bin], sum);
}

/* A sample in the ring, so that the code for it is short. It has at most Shape::STAGED groups of a thread. */
template <typename Element, typename Shape> struct staged_sample {
    const bracket_task<Element, Shape> &t;
    struct code_map map; /* in registers */

    TOPK_MEMBER void draw(void) const {
        const struct row_parts parts = parts_of(t.values(), t.r.length);
#pragma unroll 4
        for (uint32_t g = 0; g < t.groups; g++)
            t.m.ring[g * simt_threads() + simt_thread()] =
                simt_load16_read_only(t.values() + position_of_group(t, parts, g));
    }
    /* Calls work() with the key of each of the thread's samples. */
    template <typename Work> TOPK_MEMBER void for_each(const Work &work) const {
#pragma unroll 1
        for (uint32_t g = 0; g < t.groups; g++) {
            const body_tile<Element> tile = {{t.m.ring[g * simt_threads() + simt_thread()]}, 1, 0};
#pragma unroll 2
            for (uint32_t e = 0; e < body_tile<Element>::PER; e++)
                work(key_of<Element>(tile.bits(0, e), map));
        }
    }
};

/* A pair as far below and above the k-th element as a single threshold is below it. All threads, with cleared
 * bins. */
template <typename Element, typename Shape>
TOPK_DEVICE threshold_pair<Element> pair_of(const bracket_task<Element, Shape> &t) {
    typedef key_word_t<Element> word;
    typedef threshold_pair<Element> pair;
    const word ones = (word)(Element) ~(Element)0;
    const struct code_map &map = t.a.rows.map;
    const uint32_t size = sample_size(t);
    if (size == 0)
        return pair::of(cut_code<Element>(0, map), cut_code<Element>(ones, map), false);
    const uint32_t rank = rank_of_threshold(t, size);
    const uint32_t mean = (uint32_t)simt_float_divide((float)size * (float)t.r.k, (float)t.r.length);
    const uint32_t margin = rank - mean, more = margin / 4;
    const uint32_t upper = mean > margin + more ? mean - margin - more : 0;
    const staged_sample<Element, Shape> samples = {t, map};
    word greatest = 0;
    row_threshold<Element> low = {0, 0, false};
    samples.draw();
    samples.for_each([&](word key) TOPK_LAMBDA { greatest = key > greatest ? key : greatest; });
    const number_ends<word> ends = ends_of_block<word>(t.m.ends, (word)0, greatest);
    word high = ends.greatest;
#pragma unroll 1
    for (uint32_t wanted = rank <= size ? rank : upper; wanted != 0; wanted = wanted == rank ? upper : 0) {
        const row_threshold<Element> found = key_at_rank(t.m, samples, wanted, more, (word)0, ends.greatest,
                                                         [](uint32_t) TOPK_LAMBDA { return false; });
        if (wanted == rank)
            low = found;
        else /* a class with many elements may have the k-th, too */
            high = found.key > low.key && !found.is_plateau ? found.key - 1 : found.key;
    }
    /* the edge of a bin may lie where codes are of NaN alone, whose key is another */
    return pair::of(cut_code<Element>(low.key, map), cut_code<Element>(high, map), low.is_plateau);
}

/* Counts what the block's part of the larger sample has: pieces of some groups, each from a stretch of the
 * row's body. All threads, with cleared bins. */
template <typename Element, typename Shape>
TOPK_DEVICE void count_pieces(const bracket_task<Element, Shape> &t, const threshold_pair<Element> &pair,
                              const struct row_parts &parts, uint32_t stretches) {
    typedef key_word_t<Element> word;
    const uint32_t PER = sample_shape<Element>::PER, PIECE = BRACKET_PIECE, AT_ONCE = 4;
    const uint32_t step = simt_threads() / PIECE * t.share.blocks;
    const struct code_map map = t.a.rows.map;
    uint32_t better = 0;
#pragma unroll 1
    for (uint32_t first = simt_thread() / PIECE * t.share.blocks + t.share.block; first < stretches;
         first += AT_ONCE * step) {
        simt_u32x4 raw[AT_ONCE];
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            const uint32_t stretch = first + i * step < stretches ? first + i * step : first;
            const uint32_t random = hash_of(stretch ^ (uint32_t)t.a.seed) ^ (uint32_t)(t.a.seed >> 32);
            const uint32_t piece = stretch * (BRACKET_STRETCH / PIECE) + random % (BRACKET_STRETCH / PIECE);
            raw[i] = simt_load16_read_only(t.values() + parts.head +
                                           (piece * PIECE + simt_thread() % PIECE) * PER);
        }
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            const body_tile<Element> tile = {{raw[i]}, 1, 0};
            if (first + i * step >= stretches)
                continue;
#pragma unroll 2
            for (uint32_t e = 0; e < PER; e++) {
                const word key = key_of<Element>(tile.bits(0, e), map);
                better += key > pair.high;
                if (key >= pair.low && key <= pair.high)
                    simt_atomic_add(&t.m.digit.bins[pair.bin_of(key)], 1u);
            }
        }
    }
    add_of_warp(t.m.digit.bins, threshold_pair<Element>::BETTER, better);
    simt_block_sync();
}

/* The pair that the larger sample tells, within another. *expected: elements of the row between the two. All
 * threads of all blocks that share the row, with cleared bins, which are clear afterwards. */
template <typename Element, typename Shape>
TOPK_DEVICE threshold_pair<Element> closer_pair(const bracket_task<Element, Shape> &t,
                                                const threshold_pair<Element> &wide, struct team_turn *turn,
                                                float *expected) {
    typedef threshold_pair<Element> pair;
    const struct row_parts parts = parts_of(t.values(), t.r.length);
    const uint32_t stretches = (uint32_t)(parts.groups / BRACKET_STRETCH), now = turn->bins();
    count_pieces(t, wide, parts, stretches);
    if (turn->meetings >= BRACKET_TURNS - 1)
        clear_next_turn(t, *turn);
    tell_bins(t, *turn);
    meet_team(t, turn);
    const float share = simt_float_divide((float)t.r.k, (float)t.r.length);
    const float mean = (float)(stretches * BRACKET_PIECE * sample_shape<Element>::PER) * share;
    const float margin = .5f * BRACKET_HALF_DEVIATIONS * root_of(mean - mean * share) + 1;
    const uint32_t lower = (uint32_t)(mean + margin), upper = mean > margin ? (uint32_t)(mean - margin) : 0;
    struct ranked_bin at_lower = row_bin_of_rank(t, now, lower), at_upper = {0, 0, 0, 0};
    pair closer = wide;
    if (upper != 0)
        at_upper = row_bin_of_rank(t, now, upper);
    if (upper < at_upper.total && at_upper.bin != pair::BETTER)
        closer.high = wide.bin(at_upper).last;
    else
        at_upper.before = at_upper.held; /* these are better than `high` */
    if (lower < at_lower.total && at_lower.bin != pair::BETTER) {
        const kth_bin<Element> bin = wide.bin(at_lower);
        closer.low = bin.first;
        closer.is_plateau = bin.is_class() && (float)bin.held > margin;
    } else {
        at_lower.before = at_lower.total;
        at_lower.held = 0;
    }
    const uint32_t listed = at_lower.before + (closer.is_plateau ? 0 : at_lower.held) - at_upper.before;
    *expected = (float)listed * (BRACKET_STRETCH / BRACKET_PIECE);
    return pair::of(closer.low, closer.high, closer.is_plateau);
}

/* The pair that a row is read with: pages have room for what is expected between the two, unless the sample
 * can not tell more. The same. */
template <typename Element, typename Shape>
TOPK_DEVICE threshold_pair<Element> closest_pair(const bracket_task<Element, Shape> &t,
                                                 const threshold_pair<Element> &wide,
                                                 struct team_turn *turn) {
    threshold_pair<Element> pair = wide;
    const float room = (float)(t.share.blocks * Shape::PAGE);
    float expected = room + 1;
#pragma unroll 1
    for (uint32_t round = 0; round < BRACKET_SAMPLE_ROUNDS && expected > room && pair.low < pair.high;
         round++)
        pair = closer_pair(t, pair, turn, &expected);
    return pair;
}

#endif
