/* SPDX-License-Identifier: Apache-2.0
 * Entries (key, position) in the registers of a warp, and their sort: best first, ties by lowest position. */
#ifndef TOPK_SRC_CUDA_RTOPK_ENTRIES_CUH
#define TOPK_SRC_CUDA_RTOPK_ENTRIES_CUH

#include "../select/held.cuh"
#include "kernels.h"

/* An entry is one number, the key above the complement of the position: the greater one goes first. Zero is
 * behind all. Positions are below 2^16 - 1. */
template <typename Element> struct row_entry {
    typedef uint32_t type;
    static TOPK_MEMBER type of(uint32_t key, uint32_t position) {
        return key << 16 | (0xffff - position);
    }
    static TOPK_MEMBER uint32_t key(type e) {
        return e >> 16;
    }
    static TOPK_MEMBER uint32_t position(type e) {
        return 0xffff - (e & 0xffff);
    }
};

template <> struct row_entry<uint32_t> {
    typedef uint64_t type;
    static TOPK_MEMBER type of(uint32_t key, uint32_t position) {
        return (uint64_t)key << 32 | ~position;
    }
    static TOPK_MEMBER uint32_t key(type e) {
        return (uint32_t)(e >> 32);
    }
    static TOPK_MEMBER uint32_t position(type e) {
        return ~(uint32_t)e;
    }
};

/* With keys of 64 bits it has two words. */
struct wide_entry {
    uint64_t key;
    uint32_t complement;
    TOPK_MEMBER bool operator>(const wide_entry &other) const {
        return key != other.key ? key > other.key : complement > other.complement;
    }
};

template <> struct row_entry<uint64_t> {
    typedef wide_entry type;
    static TOPK_MEMBER type of(uint64_t key, uint32_t position) {
        return wide_entry{key, ~position};
    }
    static TOPK_MEMBER uint64_t key(const type &e) {
        return e.key;
    }
    static TOPK_MEMBER uint32_t position(const type &e) {
        return ~e.complement;
    }
};

template <typename Element> using row_entry_t = typename row_entry<Element>::type;

template <typename Entry> TOPK_DEVICE Entry exchange(Entry e, uint32_t lanes) {
    return simt_shuffle_xor(SIMT_ALL_LANES, e, lanes);
}

TOPK_DEVICE wide_entry exchange(const wide_entry &e, uint32_t lanes) {
    return wide_entry{simt_shuffle_xor(SIMT_ALL_LANES, e.key, lanes),
                      simt_shuffle_xor(SIMT_ALL_LANES, e.complement, lanes)};
}

template <typename Entry> TOPK_DEVICE Entry better_of(const Entry &a, const Entry &b) {
    return a > b ? a : b;
}

template <typename Entry> TOPK_DEVICE Entry worse_of(const Entry &a, const Entry &b) {
    return a > b ? b : a;
}

/* Compares with the lane whose number differs in `lanes`: of the two, the lower lane keeps the better entry.
 */
template <typename Entry> TOPK_DEVICE Entry compare_lanes(const Entry &e, uint32_t lanes, bool is_upper) {
    const Entry other = exchange(e, lanes);
    return (other > e) != is_upper ? other : e;
}

TOPK_DEVICE uint32_t compare_lanes(uint32_t e, uint32_t lanes, bool is_upper) {
    const uint32_t other = exchange(e, lanes);
    return is_upper ? worse_of(e, other) : better_of(e, other);
}

/* Sorts a sequence over the lanes that ascends and descends once at most. */
template <typename Entry> TOPK_DEVICE Entry merge_lanes(Entry e) {
#pragma unroll
    for (uint32_t lanes = SIMT_WARP / 2; lanes != 0; lanes /= 2)
        e = compare_lanes(e, lanes, (simt_lane() & lanes) != 0);
    return e;
}

/* Sorts one entry of each lane. Merges run against the mirror image, so all of them have one direction. */
template <typename Entry> TOPK_DEVICE Entry sort_lanes(Entry e) {
#pragma unroll
    for (uint32_t run = 2; run <= SIMT_WARP; run *= 2) {
        e = compare_lanes(e, run - 1, (simt_lane() & run / 2) != 0);
#pragma unroll
        for (uint32_t lanes = run / 4; lanes != 0; lanes /= 2)
            e = compare_lanes(e, lanes, (simt_lane() & lanes) != 0);
    }
    return e;
}

/* Sorts two entries of each lane: first those in `first`, then those in `second`. */
template <typename Entry> TOPK_DEVICE void sort_pairs(Entry *first, Entry *second) {
    const Entry a = sort_lanes(*first), b = exchange(sort_lanes(*second), SIMT_WARP - 1);
    *first = merge_lanes(better_of(a, b));
    *second = merge_lanes(worse_of(a, b));
}

#endif
