/* SPDX-License-Identifier: Apache-2.0
 * Lists, the digits of their elements, and the rank of each element of a tile by its digit.
 *
 * Elements are in the order of warp, item and lane, so that loads are coalesced: item i of a thread is
 * element (warp * ITEMS + i) * 32 + lane of the tile. */
#ifndef TOPK_SRC_CUDA_SORT_DIGITS_CUH
#define TOPK_SRC_CUDA_SORT_DIGITS_CUH

#include "../block.cuh"
#include "../rows.cuh"
#include "kernels.h"

/* A row and how many of its elements are asked for. */
TOPK_DEVICE struct row row_of(const struct sort_args &a, int64_t row) {
    struct row r = row_at(a.rows, row);
    if (a.found_counts != nullptr)
        r.k = r.k < a.found_counts[row] ? r.k : a.found_counts[row];
    return r;
}

/* A digit of the complement of a key, or of its distance from a threshold: sorts ascend, and the best come
 * first. */
template <typename Word> TOPK_DEVICE uint32_t digit_of_key(Word key, uint32_t pass) {
    return (uint32_t)(~key >> pass * SORT_DIGIT_BITS) & (SORT_BINS - 1);
}

template <typename Element>
TOPK_DEVICE uint32_t digit_of_pass(const struct sort_args &a, key_word_t<Element> bits,
                                   key_word_t<Element> threshold, uint32_t pass) {
    return digit_of_key((key_word_t<Element>)(key_of<Element>(bits, a.rows.map) - threshold), pass);
}

/* The list of one row that is sorted. Read by plain loads: launches that depend on one another write and read
 * the same lists, which the read-only cache must not see. */
template <typename Element> struct sort_list {
    const Element *elements;
    const void *positions;
    int64_t count;
    bool wide;

    TOPK_MEMBER Element element(int64_t at) const {
        return elements[at];
    }
    TOPK_MEMBER uint64_t position(int64_t at) const {
        if (positions == nullptr)
            return (uint64_t)at;
        return wide ? ((const uint64_t *)positions)[at] : ((const uint32_t *)positions)[at];
    }
};

/* Where the list of row `in_group` begins. */
TOPK_DEVICE int64_t start_of_list(const struct sort_args &a, const struct sort_lists &lists,
                                  int64_t in_group) {
    return a.filter.starts != nullptr ? (int64_t)a.filter.starts[in_group] : in_group * lists.pitch;
}

/* Of row `in_group`, which is r. */
TOPK_DEVICE int64_t count_of_list(const struct sort_args &a, int64_t in_group, const struct row &r) {
    if (a.filter.starts != nullptr)
        return (int64_t)(a.filter.starts[in_group + 1] - a.filter.starts[in_group]);
    return a.is_found ? r.k : r.length;
}

/* Row `in_group` of the group, which is r. */
template <typename Element>
TOPK_DEVICE struct sort_list<Element> list_of(const struct sort_args &a, int64_t in_group,
                                              const struct row &r) {
    const int64_t start = start_of_list(a, a.from, in_group);
    struct sort_list<Element> l = {
        row_values<Element>(a.rows, r), nullptr, count_of_list(a, in_group, r), a.wide
    };
    if (a.from.elements != nullptr)
        l.elements = (const Element *)a.from.elements + start;
    if (a.from.positions != nullptr)
        l.positions = (const char *)a.from.positions + start * (a.wide ? 8 : 4);
    return l;
}

/* ---- Ranks ---- */

/* Shared memory for ranking. */
struct rank_shared {
    simt_shared<uint32_t>
        counters; /* SORT_BINS for each warp: of its items so far; then, of the warps before it */
    simt_shared<uint32_t> offsets; /* SORT_BINS + 1: elements of the tile with a lower digit */
    simt_shared<uint32_t> scratch; /* one for each warp */
};

/* Without the counters, which may share their memory with something else. */
TOPK_HOST_DEVICE struct rank_shared carve_digits(simt_arena &arena) {
    struct rank_shared s = {};
    s.offsets = simt_carve<uint32_t>(arena, SORT_BINS + 1);
    s.scratch = simt_carve<uint32_t>(arena, SIMT_WARP);
    return s;
}

/* Elements of the tile that belong to this warp, if the tile has `count`. */
template <uint32_t ITEMS> TOPK_DEVICE uint32_t count_of_warp(uint32_t count) {
    uint32_t first = simt_warp() * SIMT_WARP * ITEMS;
    uint32_t remaining = count > first ? count - first : 0;
    return remaining < SIMT_WARP * ITEMS ? remaining : SIMT_WARP * ITEMS;
}

/* The lanes with the same digit. All lanes. One ballot for each bit is faster than simt_match_any, whose time
 * grows with the number of different values. */
TOPK_DEVICE uint32_t same_digit(uint32_t digit) {
    uint32_t same = SIMT_ALL_LANES;
#pragma unroll
    for (uint32_t bit = 0; bit < SORT_DIGIT_BITS; bit++)
        same &= simt_ballot_alike(digit & 1u << bit);
    return same;
}

/* ranks[i], the digit of item i, becomes digit + SORT_BINS x its rank among the elements of the warp that
 * have this digit. The warp has `count` elements; what is beyond has the greatest digit. All threads; no
 * barrier. */
template <uint32_t ITEMS>
TOPK_DEVICE void rank_items(simt_shared<uint32_t> counters, uint32_t count, uint32_t (&ranks)[ITEMS]) {
    const uint32_t first = simt_warp() * SORT_BINS, lane = simt_lane(), lower = (1u << lane) - 1;
    for (uint32_t digit = lane; digit < SORT_BINS; digit += SIMT_WARP)
        counters[first + digit] = 0;
    simt_warp_sync(SIMT_ALL_LANES);
    if (count == 0)
        return;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t same = same_digit(ranks[i]), nearer = simt_popc(same & lower);
        const uint32_t before = counters[first + ranks[i]];
        simt_warp_sync(SIMT_ALL_LANES);
        if (nearer == 0)
            counters[first + ranks[i]] = before + simt_popc(same);
        simt_warp_sync(SIMT_ALL_LANES);
        ranks[i] += (before + nearer) * SORT_BINS;
    }
}

/* The sum of a digit's counts of warps. */
TOPK_DEVICE uint32_t count_of_digit(simt_shared<uint32_t> counters, uint32_t digit) {
    uint32_t sum = 0;
#pragma unroll 4
    for (uint32_t warp = 0; warp < simt_warps(); warp++)
        sum += counters[warp * SORT_BINS + digit];
    return sum;
}

/* A digit's counts of warps become sums over the warps before, from `sum` on. Several are read before
 * any is written, so that reads need not wait for each other. */
TOPK_DEVICE void scan_warps(simt_shared<uint32_t> counters, uint32_t digit, uint32_t sum) {
    const uint32_t BATCH = 4, warps = simt_warps();
    for (uint32_t first = 0; first < warps; first += BATCH) {
        uint32_t counts[BATCH];
#pragma unroll
        for (uint32_t i = 0; i < BATCH; i++)
            counts[i] = first + i < warps ? (uint32_t)counters[(first + i) * SORT_BINS + digit] : 0;
#pragma unroll
        for (uint32_t i = 0; i < BATCH; i++) {
            if (first + i < warps)
                counters[(first + i) * SORT_BINS + digit] = sum;
            sum += counts[i];
        }
    }
}

/* Turns the counts of warps into slots: sums over the lower digits and over the warps before. The tile
 * has `count` elements. All threads; begins and ends with a barrier. */
TOPK_DEVICE void scan_digits(const struct rank_shared &s, uint32_t count) {
    uint32_t lower = 0;
    simt_block_sync();
    for (uint32_t first = 0; first < SORT_BINS; first += simt_threads()) {
        uint32_t digit = first + simt_thread(), total;
        uint32_t sum = digit < SORT_BINS ? count_of_digit(s.counters, digit) : 0;
        uint32_t before = block_scan(s.scratch, sum, &total);
        if (digit < SORT_BINS) {
            s.offsets[digit] = lower + before;
            scan_warps(s.counters, digit, lower + before);
        }
        lower += total;
        if (first + simt_threads() < SORT_BINS)
            simt_block_sync();
    }
    if (simt_thread() == 0)
        s.offsets[SORT_BINS] = count;
    simt_block_sync();
}

/* Ranks a tile of `count` elements: slots[i], the digit of item i, becomes its slot in the sorted tile; then
 * tell(i, digit). What is beyond the tile's elements has the greatest digit. All threads; afterwards the
 * counters may be overwritten. */
template <uint32_t ITEMS, typename Tell>
TOPK_DEVICE void rank_tile(const struct rank_shared &s, uint32_t count, uint32_t (&slots)[ITEMS],
                           const Tell &tell) {
    const uint32_t first = simt_warp() * SORT_BINS;
    rank_items(s.counters, count_of_warp<ITEMS>(count), slots);
    scan_digits(s, count);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t digit = slots[i] % SORT_BINS;
        slots[i] = slots[i] / SORT_BINS + s.counters[first + digit];
        tell(i, digit);
    }
    simt_block_sync();
}

#endif
