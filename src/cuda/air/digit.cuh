/* SPDX-License-Identifier: Apache-2.0
 * Histograms of a digit, and the digit of the k-th key. */
#ifndef TOPK_SRC_CUDA_AIR_DIGIT_CUH
#define TOPK_SRC_CUDA_AIR_DIGIT_CUH

#include "../predicate/source.cuh"
#include "kernels.h"

/* A row as launches after the first find it: with no more results than matches. */
TOPK_DEVICE struct row counted_row(const struct air_args &a, int64_t row) {
    struct row r = row_at(a.rows, row);
    if (a.matches != nullptr)
        r.k = r.k < a.matches[row] ? r.k : a.matches[row];
    return r;
}

template <bool WHERE> TOPK_DEVICE struct row counted_row(const struct air_args &a, int64_t row) {
    return WHERE ? counted_row(a, row) : row_at(a.rows, row);
}

/* The range of codes (codes.h) that the k-th element's lies in, in registers. */
template <typename Element> struct key_range {
    key_word_t<Element> low, span; /* low to low + span */

    TOPK_MEMBER bool holds(key_word_t<Element> code) const {
        return code - low <= span;
    }
    TOPK_MEMBER bool below(key_word_t<Element> code) const {
        return code > low + span;
    }
};

template <typename Element> TOPK_DEVICE key_range<Element> range_of(uint64_t low, uint64_t high) {
    typedef key_word_t<Element> word;
    return key_range<Element>{(word)low, (word)(high - low)};
}

TOPK_DEVICE uint64_t all_codes(uint32_t width) {
    return ~(uint64_t)0 >> (64 - width);
}

/* A digit of codes. */
struct digit {
    uint32_t shift, mask;
};

TOPK_DEVICE struct digit digit_of(const struct air_args &a) {
    return digit{a.shift, (1u << a.this_digit) - 1};
}

TOPK_DEVICE void clear_bins(simt_shared<uint32_t> bins, uint32_t count) {
    for (uint32_t bin = simt_thread(); bin < count; bin += simt_threads())
        bins[bin] = 0;
}

template <typename Element> TOPK_DEVICE uint32_t bin_of(key_word_t<Element> code, struct digit digit) {
    return (uint32_t)(code >> digit.shift) & digit.mask;
}

template <typename Element>
TOPK_DEVICE void count_digit(key_word_t<Element> code, struct digit digit, simt_shared<uint32_t> bins) {
    simt_atomic_add(&bins[bin_of<Element>(code, digit)], 1u);
}

/* Counts the elements that do not match, which saves a branch for each. Nobody reads it. */
static const uint32_t OTHER_BIN = AIR_BINS_MAX;

/* Counts the digits of the matching elements of a tile whose codes lie in the range; if ALL, all codes do. */
template <typename Element, bool ALL, typename Tile>
TOPK_DEVICE void count_tile(const Tile &of_any_kind, const struct code_map &map, key_range<Element> range,
                            struct digit digit, simt_shared<uint32_t> bins) {
    branch_once(of_any_kind, [&](const auto &tile) {
#pragma unroll
        for (uint32_t g = 0; g < Tile::GROUPS; g++) {
            if (!tile.valid(g))
                continue;
#pragma unroll
            for (uint32_t e = 0; e < Tile::PER; e++) {
                key_word_t<Element> code = code_of<Element>(tile.bits(g, e), map);
                if (ALL && !all_match(tile))
                    simt_atomic_add(&bins[is_match(tile, g, e) ? bin_of<Element>(code, digit) : OTHER_BIN],
                                    1u);
                else if ((ALL || range.holds(code)) && is_match(tile, g, e))
                    count_digit<Element>(code, digit, bins);
            }
        }
    });
}

/* Counts this block's part of a row. AHEAD: a tile is loaded while the one before it is counted, which takes
 * registers and helps where a multiprocessor has few warps. */
template <typename Element, bool ALL, bool AHEAD, typename Source>
TOPK_DEVICE void count_row(const Source &source, uint32_t block, uint32_t blocks, const struct code_map &map,
                           key_range<Element> range, struct digit digit, simt_shared<uint32_t> bins) {
    struct row_parts parts = parts_of(source.values(), source.r.length);
    int64_t tiles = tiles_of<Element>(parts);
    typename Source::fetched_tile fetched = source.fetch(parts, AHEAD ? block : tiles);
    for (int64_t tile = block; tile < tiles; tile += blocks) {
        typename Source::fetched_tile now = AHEAD ? fetched : source.fetch(parts, tile);
        if (AHEAD)
            fetched = source.fetch(parts, tile + blocks);
        count_tile<Element, ALL>(source.test(now), map, range, digit, bins);
    }
    if (block == 0 && parts.head + parts.tail > 0) {
        count_tile<Element, ALL>(source.head(parts), map, range, digit, bins);
        count_tile<Element, ALL>(source.tail(parts), map, range, digit, bins);
    }
}

/* What is found in a histogram: the digit of the best elements that together are `need` or more. */
struct found_digit {
    uint32_t digit;
    uint32_t more;   /* 1: the digit after it is of the same class */
    uint64_t better; /* elements with better digits */
    uint64_t equal;  /* elements with this digit, or these */
    uint64_t need;   /* as asked for, or as many as there are */
};

/* The bin of the lesser of the two codes of zero, if this digit tells them apart; else a number that no bin
 * has. */
TOPK_DEVICE uint32_t bin_of_zeros(const struct code_map &map, uint64_t low, struct digit digit) {
    bool here = digit.shift == 0 && map.zeros >= low && map.zeros - low < digit.mask;
    return here ? (uint32_t)(map.zeros - low) : 1u << 31;
}

/* Finds it and calls then.found() in one thread; returns how much the histogram holds. `bins` has count(bin).
 * PER: bins of a thread, at least. LIMIT: if there is less than `need`, that is enough, and if there is
 * nothing, nothing is found; otherwise there is at least need > 0. All threads; as block_scan(). */
template <uint32_t PER, bool LIMIT, typename Bins, typename Then>
TOPK_DEVICE uint64_t find_digit(const Bins &bins, uint32_t count, uint32_t zeros, uint64_t need,
                                simt_shared<uint64_t> scratch, const Then &then) {
    uint64_t counts[PER], sum = 0, total;
    uint32_t best = count - 1 - simt_thread() * PER; /* the thread's; wraps where it has none */
#pragma unroll
    for (uint32_t i = 0; i < PER; i++) {
        counts[i] = best - i < count ? bins.count(best - i) : 0;
        sum += counts[i];
    }
    uint64_t better = block_scan(scratch, sum, &total);
    if (LIMIT && need > total)
        need = total;
    if (better >= need || better + sum < need)
        return total;
    uint32_t bin = best;
    uint64_t equal = counts[0];
#pragma unroll
    for (uint32_t i = 1; i < PER; i++) {
        if (better + equal < need) {
            better += equal;
            equal = counts[i];
            bin = best - i;
        }
    }
    if (bin == zeros)
        then.found(found_digit{bin, 1, better - bins.count(bin + 1), equal + bins.count(bin + 1), need});
    else if (bin == zeros + 1)
        then.found(found_digit{zeros, 1, better, equal + bins.count(zeros), need});
    else
        then.found(found_digit{bin, 0, better, equal, need});
    return total;
}

#endif
