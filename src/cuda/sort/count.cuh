/* SPDX-License-Identifier: Apache-2.0
 * How often each digit occurs in rows of many tiles: all digits of all passes in one read. */
#ifndef TOPK_SRC_CUDA_SORT_COUNT_CUH
#define TOPK_SRC_CUDA_SORT_COUNT_CUH

#include "digits.cuh"

template <typename Element> struct pass_sizes {
    static const uint32_t ITEMS = sizeof(Element) == 8 ? SORT_ITEMS_64 : SORT_ITEMS;
    static const uint32_t TILE = SORT_PASS_THREADS * ITEMS;
    static const uint32_t PASSES = 8 * sizeof(Element) / SORT_DIGIT_BITS;
    /* Of the counters in shared memory: neighbouring lanes count in different ones, as neighbours in a row
     * often have the same digit. */
    static const uint32_t COPIES = SORT_COUNT_WORDS / (PASSES * SORT_BINS);
};

template <typename Element> TOPK_HOST_DEVICE simt_shared<uint32_t> carve_count(simt_arena &arena) {
    typedef pass_sizes<Element> sizes;
    return simt_carve<uint32_t>(arena, sizes::PASSES * SORT_BINS * sizes::COPIES);
}

/* Counts the digits of a key, or of its distance from a threshold. */
template <typename Element>
TOPK_DEVICE void count_digits(simt_shared<uint32_t> counters, key_word_t<Element> key) {
    typedef pass_sizes<Element> sizes;
    const uint32_t copy = simt_lane() % sizes::COPIES;
#pragma unroll
    for (uint32_t pass = 0; pass < sizes::PASSES; pass++)
        simt_atomic_add(&counters[(pass * SORT_BINS + digit_of_key(key, pass)) * sizes::COPIES + copy], 1u);
}

/* Adds what has been counted to the counts of row `in_group`. All threads; no barrier inside. */
template <typename Element>
TOPK_DEVICE void add_counts(const struct sort_args &a, simt_shared<uint32_t> counters, int64_t in_group) {
    typedef pass_sizes<Element> sizes;
    const uint32_t bins = sizes::PASSES * SORT_BINS;
    for (uint32_t bin = simt_thread(); bin < bins; bin += SORT_THREADS) {
        uint64_t sum = 0;
        for (uint32_t copy = 0; copy < sizes::COPIES; copy++)
            sum += (uint32_t)counters[bin * sizes::COPIES + (copy + simt_lane()) % sizes::COPIES];
        if (sum != 0)
            simt_atomic_add(&a.counts[in_group * bins + bin], sum);
    }
}

/* This block's share of a list, in distances of keys from `threshold`. Returns the greatest that the thread
 * has seen. A counter overflows beyond 2^32 elements for a block, which no device has the
 * memory for. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> count_share(const struct sort_args &a, simt_shared<uint32_t> counters,
                                            const struct sort_list<Element> &l,
                                            key_word_t<Element> threshold) {
    const uint32_t ITEMS = pass_sizes<Element>::ITEMS, TILE = SORT_THREADS * ITEMS;
    const int64_t step = (int64_t)simt_blocks() * TILE;
    key_word_t<Element> range = 0;
    for (int64_t first = (int64_t)simt_block() * TILE; first < l.count; first += step) {
        Element bits[ITEMS];
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++) {
            int64_t at = first + i * SORT_THREADS + simt_thread();
            bits[i] = at < l.count ? l.element(at) : (Element)0;
        }
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            if (first + i * SORT_THREADS + simt_thread() < l.count) {
                const key_word_t<Element> distance = key_of<Element>(bits[i], a.rows.map) - threshold;
                range = distance > range ? distance : range;
                count_digits<Element>(counters, distance);
            }
    }
    return range;
}

/* The greatest distance of the row's elements from its threshold is at least `range`. All lanes. */
template <typename Element>
TOPK_DEVICE void raise_range(const struct sort_args &a, int64_t in_group, key_word_t<Element> range) {
    const uint64_t of_warp = simt_reduce_max(SIMT_ALL_LANES, range);
    if (simt_lane() == 0 && of_warp > simt_load_relaxed(&a.filter.ranges[in_group]))
        simt_atomic_max(&a.filter.ranges[in_group], of_warp);
}

template <typename Element> TOPK_KERNEL TOPK_BOUNDS(SORT_THREADS, 2) void sort_count(struct sort_args a) {
    typedef pass_sizes<Element> sizes;
    const uint32_t bins = sizes::PASSES * SORT_BINS;
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> counters = carve_count<Element>(arena);
    simt_wait_predecessor();
    simt_allow_successor();
    if (is_called_off(a.rows))
        return;
    for (int64_t in_group = simt_block_y(); in_group < a.group_rows; in_group += simt_blocks_y()) {
        for (uint32_t i = simt_thread(); i < bins * sizes::COPIES; i += SORT_THREADS)
            counters[i] = 0;
        simt_block_sync();
        if (in_group != simt_block_y())
            TOPK_REACHED(REACHED_SORT_NEXT_ROW);
        const struct sort_list<Element> l = list_of<Element>(a, in_group, row_of(a, a.first_row + in_group));
        const bool is_filtered = a.filter.starts != nullptr;
        const key_word_t<Element> threshold =
            is_filtered ? (key_word_t<Element>)a.filter.thresholds[in_group] : 0;
        const key_word_t<Element> range = count_share(a, counters, l, threshold);
        if (is_filtered)
            raise_range<Element>(a, in_group, range);
        simt_block_sync();
        add_counts<Element>(a, counters, in_group);
        simt_block_sync();
    }
}

#endif
