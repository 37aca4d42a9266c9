/* SPDX-License-Identifier: Apache-2.0
 * A row's results, from lists in shared memory to the outputs. */
#ifndef TOPK_SRC_CUDA_RESIDENT_RESULTS_CUH
#define TOPK_SRC_CUDA_RESIDENT_RESULTS_CUH

#include "../select/merge_sort.cuh"
#include "../select/sorted_results.cuh"
#include "bracket.cuh"
#include "collect.cuh"
#include "ranked.cuh"

static_assert((int)ENTRIES_PER_THREAD == (int)RESIDENT_ENTRIES_PER_THREAD, "the host counts threads by it");

/* Where a block's row comes from and goes to. */
template <typename Element> struct row_task {
    static const bool TWO = entry_size<Element>::TWO;
    const struct resident_args &a;
    const row_memory<Element> &memory;
    int64_t row;
    struct row r;

    TOPK_MEMBER Element element(uint32_t position) const {
        return simt_load_read_only(row_values<Element>(a.rows, r) + position);
    }
    TOPK_MEMBER void write(uint32_t slot, Element element, uint32_t position) const {
        write_result<Element>(a.rows, row, r, slot, element, position);
    }
};

/* ---- Results ---- */

/* Writes the results at the positions in slots `begin` to `end` - 1. All threads. */
template <typename Element>
TOPK_DEVICE void write_positions_of(const row_task<Element> &t, uint32_t begin, uint32_t end) {
    const simt_shared<uint16_t> &positions = t.memory.positions;
    in_batches<Element, RESULT_BATCH>(
        begin, end, [&](uint32_t slot) TOPK_LAMBDA { return t.element((uint16_t)positions[slot]); },
        [&](uint32_t slot, Element element)
            TOPK_LAMBDA { t.write(slot, element, (uint16_t)positions[slot]); });
}

/* Writes what is best of the first `count` entries to slots `first` to k - 1, best first. All threads, after
 * a barrier. */
template <typename Element>
TOPK_DEVICE void write_ranked_entries(const row_task<Element> &t, uint32_t count, uint32_t first) {
    struct result {
        Element element;
        uint32_t position;
    };
    const uint32_t k = (uint32_t)t.r.k;
    for_ranked(
        t.memory.entries, count,
        [&](const struct entry &e, bool exists) TOPK_LAMBDA {
            const uint32_t position = (uint32_t)entry_position(row_task<Element>::TWO, e);
            return result{exists ? t.element(position) : (Element)0, position};
        },
        [&](const result &result, uint32_t rank) TOPK_LAMBDA {
            if (first + rank < k)
                t.write(first + rank, result.element, result.position);
        });
}

/* The same from slot 0 on, for any number of entries. */
template <typename Element>
TOPK_DEVICE void write_sorted_entries(const row_task<Element> &t, uint32_t count) {
    const bool TWO = row_task<Element>::TWO;
    const entry_list<TWO> &list = t.memory.entries;
    if (count <= RESIDENT_RANKED) {
        write_ranked_entries(t, count, 0);
        return;
    }
    TOPK_REACHED(REACHED_RESIDENT_MERGED);
    sort_by_merging(list, count);
    const auto position = [&](uint32_t slot)
                              TOPK_LAMBDA { return (uint32_t)entry_position(TWO, list.get(slot)); };
    in_batches<Element, RESULT_BATCH>(
        0, count < t.r.k ? count : (uint32_t)t.r.k,
        [&](uint32_t slot) TOPK_LAMBDA { return t.element(position(slot)); },
        [&](uint32_t slot, Element element) TOPK_LAMBDA { t.write(slot, element, position(slot)); });
}

/* Writes the k best of a row. All threads; the lists are empty. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void write_best(const row_task<Element> &t, const row_part<Element, ITEMS> &part,
                            const code_bracket<Element> &b, uint32_t *half) {
    const uint32_t k = (uint32_t)t.r.k;
    const bool is_exact = b.count == k, has_ties = !is_exact && b.is_closed(part.map),
               is_sorted = t.a.is_sorted;
    const uint32_t winners = is_exact ? b.all : b.winners, certain = is_exact ? k : b.above;
    if (is_sorted)
        list_entries(part, has_ties ? winners : b.all, t.memory, t.a.entries);
    else
        list_positions(part, winners, t.memory);
    if (has_ties) {
        TOPK_REACHED(REACHED_RESIDENT_TIES);
        list_ties(part, b.all & ~winners, certain, k, t.memory, half);
    } else if (!is_sorted) {
        list_entries(part, b.all & ~winners, t.memory, t.a.entries);
    }
    simt_block_sync();
    if (has_ties || !is_sorted)
        write_positions_of(t, is_sorted ? certain : 0, has_ties ? k : certain);
    if (is_sorted)
        write_sorted_entries(t, has_ties ? certain : b.count);
    else if (!has_ties)
        write_ranked_entries(t, b.count - certain, certain);
}

/* ---- The k-th class ---- */

/* Writes the class of the `need`-th best of the first `count` entries. `above` elements are better than all
 * of them. All threads, after a barrier. */
template <typename Element>
TOPK_DEVICE void write_class_of_entries(const row_task<Element> &t, uint32_t count, uint32_t need,
                                        uint32_t above) {
    for_standings(t.memory.entries, count, [&](uint64_t key, const struct standing &s) TOPK_LAMBDA {
        if (s.before == need - 1)
            write_kth<Element>(t.a.kth, t.row, decode_key(t.a.decode, key), above + s.better, s.equal);
    });
}

/* Writes the k-th class of a row. All threads; the lists are empty. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void write_class(const row_task<Element> &t, const row_part<Element, ITEMS> &part,
                             const code_bracket<Element> &b) {
    if (b.is_closed(part.map)) {
        if (simt_thread() == 0)
            write_kth<Element>(t.a.kth, t.row, decode_key(t.a.decode, cut_code<Element>(b.low, part.map)),
                               b.above, b.candidates());
        return;
    }
    list_entries(part, b.all & ~b.winners, t.memory, t.a.entries);
    simt_block_sync();
    write_class_of_entries(t, b.candidates(), (uint32_t)t.r.k - b.above, b.above);
}

/* The class of a row that has no k-th element. */
template <typename Element> TOPK_DEVICE void write_no_class(const row_task<Element> &t) {
    if (simt_thread() == 0)
        write_kth<Element>(t.a.kth, t.row, t.a.rows.padding, t.r.wanted == 0 ? 0 : t.r.length, 0);
}

#endif
