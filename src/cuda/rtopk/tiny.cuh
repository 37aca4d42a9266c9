/* SPDX-License-Identifier: Apache-2.0
 * The kernel for rows of one length that a thread sorts as a whole. */
#ifndef TOPK_SRC_CUDA_RTOPK_TINY_CUH
#define TOPK_SRC_CUDA_RTOPK_TINY_CUH

#include "../select/networks.cuh"
#include "lists.cuh"
#include "uniform.cuh"

/* The entries of the thread's row. Items beyond the row go behind all others. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void load_tiny_row(const Element *values, const struct rtopk_args &a,
                               row_entry_t<Element> (&entries)[ITEMS]) {
    typedef held_shape<Element, ITEMS> shape;
    Element items[ITEMS];
    if (a.uniform.is_full) {
        held_group groups[shape::GROUPS];
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++)
            groups[g] = load_held_group<shape::BYTES>(values + g * shape::PER);
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            items[i] = (Element)bits_of_group<Element>(groups[i / shape::PER], i % shape::PER);
    } else {
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            items[i] = simt_load_read_only(values + (i < a.uniform.length ? i : 0));
    }
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        entries[i] = row_entry<Element>::of(key_of<Element>(items[i], a.rows.map), i);
        if (i >= a.uniform.length)
            entries[i] = row_entry_t<Element>{};
    }
}

/* Lists the positions of the lane's row, which the warp then writes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_entries(const row_entry_t<Element> (&entries)[ITEMS], uint32_t k,
                              simt_shared<uint16_t> list) {
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        if (i < k)
            list[simt_lane() * k + i] = (uint16_t)row_entry<Element>::position(entries[i]);
}

template <typename Element, uint32_t ITEMS>
TOPK_DEVICE row_entry_t<Element> best_entry(const row_entry_t<Element> (&entries)[ITEMS]) {
    row_entry_t<Element> best = entries[0];
#pragma unroll
    for (uint32_t i = 1; i < ITEMS; i++)
        best = entries[i] > best ? entries[i] : best;
    return best;
}

/* The one result of a row: neighbouring lanes write to neighbouring slots. */
template <typename Element>
TOPK_DEVICE void write_best(const struct rtopk_args &a, int64_t row, const Element *values,
                            uint32_t position) {
    write_uniform<Element>(a, row * a.rows.k_max, values, simt_load_read_only(values + position), position);
}

template <typename Element, uint32_t ITEMS>
TOPK_KERNEL TOPK_BOUNDS(RTOPK_THREADS, sizeof(Element) == 8
                                           ? 6
                                           : 12) void rtopk_tiny(TOPK_CONSTANT_ARGS struct rtopk_args a) {
    if (is_called_off(a.rows))
        return;
    const served_rows s = rows_of_warp(a, SIMT_WARP);
    if (s.count == 0)
        return;
    simt_arena arena = simt_shared_arena();
    const warp_lists<Element> lists = lists_of(carve_lists<Element>(arena, a, simt_warps()), a, simt_warp());
    const bool has_row = simt_lane() < s.count, is_alone = a.uniform.k == 1;
    if (has_row) {
        const int64_t row = s.first + simt_lane();
        const Element *values = uniform_row<Element>(a, row);
        row_entry_t<Element> entries[ITEMS];
        load_tiny_row(values, a, entries);
        if (is_alone) {
            write_best(a, row, values, row_entry<Element>::position(best_entry<Element>(entries)));
        } else {
            sort_words(entries);
            list_entries<Element>(entries, a.uniform.k, lists.positions);
        }
    }
    simt_warp_sync(SIMT_ALL_LANES);
    if (!is_alone)
        write_results<Element>(a, s, lists.positions);
    if (a.uniform.has_padding)
        write_rests<Element>(a, s);
}

#endif
