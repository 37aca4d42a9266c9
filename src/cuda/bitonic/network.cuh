/* SPDX-License-Identifier: Apache-2.0
 * Bitonic networks over entries in a block's shared memory. No data changes what they cost.
 *
 * A step compares entries at a distance, a power of two. Three steps are done at once: a thread takes eight
 * entries into registers. */
#ifndef TOPK_SRC_CUDA_BITONIC_NETWORK_CUH
#define TOPK_SRC_CUDA_BITONIC_NETWORK_CUH

#include "../select/entries.cuh"

static const uint32_t STEPS_AT_ONCE = 3;

/* Entries at any distance that is a power of two are in different banks: after 16 of them one place is left
 * out. */
template <bool TWO> struct padded_list {
    entry_list<TWO> places;

    TOPK_MEMBER struct entry get(uint32_t slot) const {
        return places.get(slot + slot / 16);
    }
    TOPK_MEMBER void put(uint32_t slot, struct entry e) const {
        places.put(slot + slot / 16, e);
    }
};

template <bool TWO> TOPK_HOST_DEVICE padded_list<TWO> carve_padded(simt_arena &arena, uint32_t entries) {
    return padded_list<TWO>{carve_entries<TWO>(arena, entries + entries / 16)};
}

/* Runs of 2^size_log2 entries, which begin 2^spacing_log2 slots after one another. */
struct runs {
    uint32_t first, count; /* the first one's number, and how many */
    uint32_t size_log2, spacing_log2;

    /* Of the entry with that number among all in these runs. */
    TOPK_MEMBER uint32_t slot(uint32_t number) const {
        const uint32_t in_run = number & ((1u << size_log2) - 1);
        return ((first + (number >> size_log2)) << spacing_log2) + in_run;
    }
    TOPK_MEMBER uint32_t entries(void) const {
        return count << size_log2;
    }
};

/* What comes after every entry. */
TOPK_DEVICE struct entry no_entry(void) {
    return entry{~(uint64_t)0, ~(uint64_t)0};
}

/* An entry as the list gives it back: without a second word where entries have one. */
template <bool TWO> TOPK_DEVICE struct entry as_stored(struct entry e) {
    return entry{e.high, TWO ? e.low : 0};
}

TOPK_DEVICE void order_two(struct entry *a, struct entry *b, bool descends) {
    if (is_before(*b, *a) != descends) {
        const struct entry other = *a;
        *a = *b;
        *b = other;
    }
}

/* The steps of distances 2^(STEPS - 1) to 1 among entries of a thread. */
template <uint32_t STEPS> TOPK_DEVICE void merge_held(struct entry (&held)[1 << STEPS], bool descends) {
#pragma unroll
    for (uint32_t distance = 1u << STEPS >> 1; distance > 0; distance /= 2)
#pragma unroll
        for (uint32_t i = 0; i < 1u << STEPS; i++)
            if ((i & distance) == 0)
                order_two(&held[i], &held[i | distance], descends);
}

/* STEPS steps, the last of distance 2^distance_log2. Where an entry's number in its run has the bit `turn`,
 * entries descend. All threads; ends with a barrier. */
template <uint32_t STEPS, bool TWO>
TOPK_DEVICE void merge_steps(const padded_list<TWO> &list, const struct runs &runs, uint32_t distance_log2,
                             uint32_t turn) {
    const uint32_t groups = runs.entries() >> STEPS;
    for (uint32_t group = simt_thread(); group < groups; group += simt_threads()) {
        const uint32_t low = group & ((1u << distance_log2) - 1);
        const uint32_t number = ((group - low) << STEPS) + low, slot = runs.slot(number);
        struct entry held[1 << STEPS];
#pragma unroll
        for (uint32_t i = 0; i < 1u << STEPS; i++)
            held[i] = list.get(slot + (i << distance_log2));
        merge_held<STEPS>(held, (number & turn) != 0);
#pragma unroll
        for (uint32_t i = 0; i < 1u << STEPS; i++)
            list.put(slot + (i << distance_log2), held[i]);
    }
    simt_block_sync();
}

/* Sorts parts of 2^size_log2 entries that ascend and then descend, or the reverse. All threads; between
 * barriers. */
template <bool TWO>
TOPK_DEVICE void merge_runs(const padded_list<TWO> &list, const struct runs &runs, uint32_t size_log2,
                            uint32_t turn) {
    uint32_t left = size_log2;
    for (; left >= STEPS_AT_ONCE; left -= STEPS_AT_ONCE)
        merge_steps<STEPS_AT_ONCE>(list, runs, left - STEPS_AT_ONCE, turn);
    if (left == 2)
        merge_steps<2>(list, runs, 0, turn);
    else if (left == 1)
        merge_steps<1>(list, runs, 0, turn);
}

/* Sorts parts of 2^STEPS_AT_ONCE entries, by turns ascending and descending. */
template <bool TWO> TOPK_DEVICE void sort_eights(const padded_list<TWO> &list, const struct runs &runs) {
    const uint32_t EIGHT = 1u << STEPS_AT_ONCE;
    for (uint32_t group = simt_thread(); group < runs.entries() / EIGHT; group += simt_threads()) {
        const uint32_t slot = runs.slot(group * EIGHT);
        struct entry held[EIGHT];
#pragma unroll
        for (uint32_t i = 0; i < EIGHT; i++)
            held[i] = list.get(slot + i);
#pragma unroll
        for (uint32_t size = 2; size <= EIGHT; size *= 2)
#pragma unroll
            for (uint32_t distance = size / 2; distance > 0; distance /= 2)
#pragma unroll
                for (uint32_t i = 0; i < EIGHT; i++)
                    if ((i & distance) == 0)
                        order_two(&held[i], &held[i | distance],
                                  size < EIGHT ? (i & size) != 0 : group % 2 != 0);
#pragma unroll
        for (uint32_t i = 0; i < EIGHT; i++)
            list.put(slot + i, held[i]);
    }
    simt_block_sync();
}

/* Sorts whole runs, ascending. All threads; between barriers. */
template <bool TWO> TOPK_DEVICE void sort_runs(const padded_list<TWO> &list, const struct runs &runs) {
    sort_eights(list, runs);
    for (uint32_t size_log2 = STEPS_AT_ONCE + 1; size_log2 <= runs.size_log2; size_log2++)
        merge_runs(list, runs, size_log2, size_log2 < runs.size_log2 ? 1u << size_log2 : 0);
}

/* Keeps the better half of each two sorted runs that follow one another, sorted, in place of the first, until
 * one is left. runs->count: a power of two. All threads; between barriers. */
template <bool TWO> TOPK_DEVICE void halve_runs(const padded_list<TWO> &list, struct runs runs) {
    const uint32_t last = (1u << runs.size_log2) - 1;
    while (runs.count > 1) {
        const uint32_t second = 1u << runs.spacing_log2;
        runs.count /= 2;
        runs.spacing_log2++;
        for (uint32_t i = simt_thread(); i < runs.entries(); i += simt_threads()) {
            const uint32_t slot = runs.slot(i), in_run = i & last;
            const struct entry a = list.get(slot), b = list.get(slot - in_run + second + (last - in_run));
            if (is_before(b, a))
                list.put(slot, b);
        }
        simt_block_sync();
        merge_runs(list, runs, runs.size_log2, 0);
    }
}

#endif
