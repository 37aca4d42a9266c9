/* SPDX-License-Identifier: Apache-2.0
 * A block's shared memory. */
#ifndef TOPK_SRC_CUDA_RESIDENT_MEMORY_CUH
#define TOPK_SRC_CUDA_RESIDENT_MEMORY_CUH

#include "../codes.cuh"
#include "../select/ranked.cuh"
#include "../select/small_sort.cuh"
#include "kernels.h"
#include "team.cuh"

enum { LISTED_ENTRIES, LISTED_POSITIONS, LISTS };

template <typename Element, typename Team> struct row_memory {
    typedef key_word_t<Element> word;
    simt_shared<word> samples;    /* one of each thread; or of the row, at most as many */
    simt_shared<word> best;       /* two of each warp: codes of the row, or distances to them */
    simt_shared<word> bounds;     /* in a cluster, two of each block */
    simt_shared<uint32_t> ranks;  /* of each pivot among the samples */
    simt_shared<uint32_t> counts; /* of each warp, in two halves that take turns */
    simt_shared<uint32_t> sums;   /* in a cluster, of each block, in two halves that take turns */
    simt_shared<uint32_t> slots;  /* taken of each list */
    entry_list<entry_size<Element>::TWO> entries;
    simt_shared<uint16_t> positions; /* of results, counted from the block's first */
    struct bucket_shared buckets;    /* where a list may be too long to be ranked */
};

template <typename Element, typename Team>
TOPK_HOST_DEVICE row_memory<Element, Team> carve_row(simt_arena &arena, const struct resident_args &a,
                                                     uint32_t threads) {
    typedef key_word_t<Element> word;
    const uint32_t others = Team::IS_CLUSTER ? RESIDENT_CLUSTER_MAX : 0;
    row_memory<Element, Team> m; /* what has a constant size goes first, so that addresses are constants */
    m.ranks = simt_carve<uint32_t>(arena, SIMT_WARP);
    m.counts = simt_carve<uint32_t>(arena, 2 * SIMT_WARP);
    m.sums = simt_carve<uint32_t>(arena, 2 * others);
    m.best = simt_carve<word>(arena, 2 * SIMT_WARP);
    m.bounds = simt_carve<word>(arena, 2 * others);
    m.slots = simt_carve<uint32_t>(arena, 4); /* LISTS, and what aligns the next array */
    m.entries = carve_entries<entry_size<Element>::TWO>(arena, a.entries);
    m.samples = simt_carve<word>(arena, threads);
    m.positions = simt_carve<uint16_t>(arena, a.positions);
    if (a.has_buckets) {
        m.buckets = carve_buckets(arena);
        m.buckets.words = simt_carve<uint32_t>(arena, BUCKET_WORDS * threads);
    }
    return m;
}

template <typename Element, typename Team>
uint32_t row_shared_bytes(const struct resident_args &a, uint32_t threads) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_row<Element, Team>(arena, a, threads);
    return arena.used_bytes;
}

static_assert(RESIDENT_LIST % RANK_SLOTS == 0 && RESIDENT_RANKED <= RESIDENT_LIST && RESIDENT_LIST < 1 << 10,
              "a short list can be ranked");

/* Empties the lists, and counts of samples. All threads. */
template <typename Element, typename Team>
TOPK_DEVICE void clear_lists(const row_memory<Element, Team> &m, bool has_second = false) {
    clear_entries(m.entries, 0, has_second ? 2 * RESIDENT_LIST : RESIDENT_LIST);
    if (simt_thread() < SIMT_WARP)
        m.ranks[simt_thread()] = 0;
    if (simt_thread() < LISTS)
        m.slots[simt_thread()] = 0;
}

#endif
