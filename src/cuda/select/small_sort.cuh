/* SPDX-License-Identifier: Apache-2.0
 * How one block sorts entries: in buckets, or by merging (merge_sort.cuh).
 *
 * The span between the first and the last entry is cut into buckets of equal width, as many as shared memory
 * has room for. Entries go to their buckets; an entry's slot is where its bucket begins plus how many entries
 * of the bucket are before it. The best of a row thin out away from the k-th, about as an exponential
 * distribution does, which leaves no more than about ten in any bucket. */
#ifndef TOPK_SRC_CUDA_SELECT_SMALL_SORT_CUH
#define TOPK_SRC_CUDA_SELECT_SMALL_SORT_CUH

#include "../block.cuh"
#include "merge_sort.cuh"
#include "sizes.h"

/* Words of buckets for each of a block's threads, whose number is a power of two. */
static const uint32_t BUCKET_WORDS = SELECT_BINS_MAX / SELECT_SORT_THREADS_MAX;
static_assert(SELECT_BINS_MAX % SELECT_SORT_THREADS_MAX == 0, "SELECT_BINS_MAX words are enough");

/* What sorting needs of shared memory besides the entries. */
struct bucket_shared {
    simt_shared<uint32_t> words; /* SELECT_BINS_MAX, two buckets in each, of 16 bits: what they hold; where
                                    they end; where they begin */
    simt_shared<uint64_t> ends;  /* two for each warp: its first entry and its last, as keys */
    simt_shared<uint32_t> sums;  /* of scans */
};

/* Without the words, which may be something else at other times. */
TOPK_HOST_DEVICE struct bucket_shared carve_buckets(simt_arena &arena) {
    struct bucket_shared s = {};
    s.ends = simt_carve<uint64_t>(arena, 2 * SIMT_WARP);
    s.sums = simt_carve<uint32_t>(arena, SIMT_WARP);
    return s;
}

/* Which bucket an entry belongs to: never a lower one than any entry before it. */
struct bucket_map {
    uint32_t scale; /* entries of one word: 2^(bits of a position in the row) */
    uint64_t least; /* the first entry's key */
    uint32_t shift;

    /* An entry of one word without the gap between its halves, which positions leave where rows are short:
     * entries that tie are then spread over buckets by their positions. Of two words, the first. */
    template <bool TWO> TOPK_MEMBER uint64_t key(struct entry e) const {
        return TWO ? e.high : (e.high >> 32) * scale + (uint32_t)e.high;
    }
    template <bool TWO> TOPK_MEMBER uint32_t bucket(struct entry e) const {
        return (uint32_t)((key<TWO>(e) - least) >> shift);
    }
};

/* The map onto all buckets. All threads; one barrier. */
template <bool TWO>
TOPK_DEVICE struct bucket_map map_entries(const entry_list<TWO> &list, const struct bucket_shared &s,
                                          uint32_t count, int64_t length) {
    struct bucket_map map = {TWO ? 0 : 1u << (32 - simt_clz((uint32_t)(length - 1))), 0, 0};
    uint64_t least = ~(uint64_t)0, greatest = 0;
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < count; slot += simt_threads()) {
        const uint64_t key = map.key<TWO>(list.get(slot));
        least = key < least ? key : least;
        greatest = key > greatest ? key : greatest;
    }
    least = simt_reduce_min(SIMT_ALL_LANES, least);
    greatest = simt_reduce_max(SIMT_ALL_LANES, greatest);
    if (simt_lane() == 0) {
        s.ends[simt_warp()] = least;
        s.ends[SIMT_WARP + simt_warp()] = greatest;
    }
    simt_block_sync();
    bool exists = simt_lane() < simt_warps();
    least = exists ? (uint64_t)s.ends[simt_lane()] : ~(uint64_t)0;
    greatest = exists ? (uint64_t)s.ends[SIMT_WARP + simt_lane()] : 0;
    map.least = simt_reduce_min(SIMT_ALL_LANES, least);
    greatest = simt_reduce_max(SIMT_ALL_LANES, greatest);
    uint32_t width = 64 - simt_clz(greatest - map.least);
    uint32_t wanted = 32 - simt_clz(BUCKET_WORDS * simt_threads());
    map.shift = width > wanted ? width - wanted : 0;
    return map;
}

/* Where a word is: so that neither neighbouring words nor words of neighbouring threads, each with a few in
 * a row, are in the same bank. */
TOPK_DEVICE uint32_t bucket_word(uint32_t word) {
    return word ^ (word >> 5 & 7);
}

/* Adds to a bucket's count; returns what it was. */
TOPK_DEVICE uint32_t add_to_bucket(const struct bucket_shared &s, uint32_t bucket, uint32_t number) {
    const uint32_t up = bucket % 2 * 16;
    return simt_atomic_add(&s.words[bucket_word(bucket / 2)], number << up) >> up & 0xffff;
}

/* Where a bucket begins, once place_entries() has placed all. */
TOPK_DEVICE uint32_t bucket_begin(const struct bucket_shared &s, uint32_t bucket) {
    return s.words[bucket_word(bucket / 2)] >> bucket % 2 * 16 & 0xffff;
}

/* Turns the counts of buckets into where they end. Returns whether a bucket has too many. All threads; begins
 * after a barrier and ends with one. */
TOPK_DEVICE bool end_buckets(const struct bucket_shared &s) {
    const uint32_t first = simt_thread() * BUCKET_WORDS;
    uint32_t counts[BUCKET_WORDS], sum = 0, total;
    bool is_crowded = false;
#pragma unroll
    for (uint32_t i = 0; i < BUCKET_WORDS; i++) {
        counts[i] = s.words[bucket_word(first + i)];
        sum += counts[i];
        is_crowded |= (counts[i] & 0xffff) > SELECT_BUCKET_MAX || counts[i] >> 16 > SELECT_BUCKET_MAX;
    }
    uint32_t end = block_scan(s.sums, (sum & 0xffff) + (sum >> 16), &total);
#pragma unroll
    for (uint32_t i = 0; i < BUCKET_WORDS; i++) {
        uint32_t even = end + (counts[i] & 0xffff);
        end = even + (counts[i] >> 16);
        s.words[bucket_word(first + i)] = even | end << 16;
    }
    return simt_block_count(is_crowded) > 0;
}

/* Brings `count` entries of a row of `length` elements to their buckets, in place; false: a bucket has too
 * many, as by outliers that stretch the span, and nothing is changed. All threads; between barriers. */
template <bool TWO>
TOPK_DEVICE bool place_entries(const entry_list<TWO> &list, const struct bucket_shared &s, uint32_t count,
                               int64_t length, struct bucket_map *map) {
    struct entry held[ENTRIES_PER_THREAD] = {}; /* else they would live on from row to row */
#pragma unroll
    for (uint32_t i = 0; i < BUCKET_WORDS; i++)
        s.words[i * simt_threads() + simt_thread()] = 0;
    *map = map_entries(list, s, count, length);
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < count; slot += simt_threads())
        (void)add_to_bucket(s, map->bucket<TWO>(list.get(slot)), 1);
    simt_block_sync();
    if (end_buckets(s)) {
        TOPK_REACHED(REACHED_SELECT_CROWDED);
        return false;
    }
    take_entries(list, count, held);
    simt_block_sync();
    for_own_slots(count, [&](uint32_t j, uint32_t) TOPK_LAMBDA {
        const uint32_t minus_one = ~0u;
        list.put(add_to_bucket(s, map->bucket<TWO>(held[j]), minus_one) - 1, held[j]);
    });
    simt_block_sync();
    return true;
}

/* The rank of one of `count` placed entries. */
template <bool TWO>
TOPK_DEVICE uint32_t rank_of_placed(const entry_list<TWO> &list, const struct bucket_shared &s,
                                    const struct bucket_map &map, uint32_t count, const struct entry &e) {
    const uint32_t bucket = map.bucket<TWO>(e), begin = bucket_begin(s, bucket);
    const uint32_t buckets = 2 * BUCKET_WORDS * simt_threads();
    const uint32_t end = bucket + 1 < buckets ? bucket_begin(s, bucket + 1) : count;
    uint32_t rank = begin;
#pragma unroll 1
    for (uint32_t other = begin; other < end; other++)
        rank += is_before(list.get(other), e);
    return rank;
}

/* Calls work(rank, entry) for `count` entries of a row of `length` elements: their ranks come from buckets,
 * or from merging where they are few or a bucket has too many. All are different; a list has room for
 * merged_size(count), at most ENTRIES_PER_THREAD for each thread. All threads, after a barrier; the list
 * changes. */
template <bool TWO, typename Work>
TOPK_DEVICE void for_sorted(const entry_list<TWO> &list, const struct bucket_shared &s, uint32_t count,
                            int64_t length, const Work &work) {
    struct bucket_map map = {};
    const bool are_placed = count > SELECT_MERGE_MAX && place_entries(list, s, count, length, &map);
    if (!are_placed)
        sort_by_merging(list, count);
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < count; slot += simt_threads()) {
        const struct entry e = list.get(slot);
        work(are_placed ? rank_of_placed(list, s, map, count, e) : slot, e);
    }
}

/* Sorts them, ascending. All threads; between barriers. */
template <bool TWO>
TOPK_DEVICE void sort_entries(const entry_list<TWO> &list, const struct bucket_shared &s, uint32_t count,
                              int64_t length) {
    struct entry held[ENTRIES_PER_THREAD] = {};
    uint32_t to[ENTRIES_PER_THREAD] = {};
    struct bucket_map map;
    if (count <= SELECT_MERGE_MAX || !place_entries(list, s, count, length, &map)) {
        sort_by_merging(list, count);
        return;
    }
    take_entries(list, count, held);
    for_own_slots(count, [&](uint32_t j, uint32_t)
                             TOPK_LAMBDA { to[j] = rank_of_placed(list, s, map, count, held[j]); });
    simt_block_sync();
    put_entries(list, count, held, to);
    simt_block_sync();
}

#endif
