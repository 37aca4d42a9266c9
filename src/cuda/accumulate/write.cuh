/* SPDX-License-Identifier: Apache-2.0
 * What begins a state; and what moves one word for each slot of rows. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_WRITE_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_WRITE_CUH

#include "list.cuh"
#include "open.cuh"

/* Calls work(row, slot) for the thread's slots; each row has `slots`. */
template <typename Work>
TOPK_DEVICE void for_slots(const struct row_args &rows, int64_t slots, const Work &work) {
    const int64_t step = (int64_t)simt_blocks() * simt_threads();
    for (int64_t at = (int64_t)simt_block() * simt_threads() + simt_thread(); at < rows.rows * slots;
         at += step)
        work(at / slots, at % slots);
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_LIST_THREADS, 1) void accumulate_init(struct accumulate_args a) {
    if (simt_block() == 0 && simt_thread() == 0)
        *a.state.header = accumulate_header{ACCUMULATE_OPEN, a.problem, PAYLOAD_UNKNOWN, 0, 0, 0, 0};
    for_slots(a.rows, 1, [&](int64_t row, int64_t) TOPK_LAMBDA {
        a.state.rows[row] = accumulate_row{0, (uint64_t)a.rows.k_max, 0, 0, 0, 0, 0, 0};
    });
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_LIST_THREADS, 1) void accumulate_carry(struct accumulate_args a) {
    if (a.state.header->selects == 0)
        return;
    TOPK_REACHED(REACHED_ACCUMULATE_CARRIED);
    const bool wide = a.rows.wide_indices;
    for_slots(a.rows, a.state.best.pitch, [&](int64_t row, int64_t slot) TOPK_LAMBDA {
        const row_list<Element> best = row_list<Element>::of(a.state.best, row, wide);
        const int64_t position = best.position(slot) - a.base;
        if (position >= 0)
            best.put_payload(slot, read_extent(a.rows.payload, row * a.rows.row_stride + position, wide),
                             wide);
    });
}

/* Elements in the order of `places`. */
template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_LIST_THREADS, 1) void accumulate_arrange(struct accumulate_args a) {
    if (a.state.header->is_open == 0)
        return;
    for_slots(a.rows, a.rows.k_max, [&](int64_t row, int64_t slot) TOPK_LAMBDA {
        const int64_t at = row * a.rows.k_max + slot;
        const row_list<Element> list = row_list<Element>::of(a.state.candidates, row, a.rows.wide_indices);
        if (slot < a.state.lengths[row])
            ((Element *)a.arranged)[at] = (Element)list.bits(a.places[at]);
    });
}

/* The index of the result in slot `at`. */
template <typename Element>
TOPK_DEVICE int64_t index_of_result(const struct accumulate_args &a, int64_t row, int64_t at) {
    const bool wide = a.rows.wide_indices, has_payload = a.state.header->payload == PAYLOAD_GIVEN;
    const row_list<Element> list = row_list<Element>::of(a.state.candidates, row, wide);
    const int64_t first = row * a.rows.k_max;
    const int64_t sorted = a.sorted != nullptr                          ? a.sorted[at]
                           : at - first < (int64_t)a.state.lengths[row] ? at - first
                                                                        : -1;
    if (sorted < 0)
        return -1;
    const int64_t slot = a.places[first + sorted];
    return has_payload ? list.payload_of(slot, true, wide) : list.position(slot) + a.rows.index_base;
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_LIST_THREADS, 1) void accumulate_write(struct accumulate_args a) {
    const bool is_open = a.state.header->is_open != 0;
    for_slots(a.rows, a.rows.k_max, [&](int64_t row, int64_t slot) TOPK_LAMBDA {
        const int64_t at = row * a.rows.k_max + slot;
        const int64_t index = is_open ? index_of_result<Element>(a, row, at) : ACCUMULATE_NO_INDEX;
        if (!is_open && a.rows.out_values != nullptr)
            ((Element *)a.rows.out_values)[at] = (Element)a.rows.padding;
        if (is_open && a.sorted == nullptr && a.rows.out_values != nullptr)
            ((Element *)a.rows.out_values)[at] =
                slot < a.state.lengths[row] ? ((const Element *)a.arranged)[at] : (Element)a.rows.padding;
        if (a.rows.out_indices != nullptr && a.rows.wide_indices)
            ((int64_t *)a.rows.out_indices)[at] = index;
        if (a.rows.out_indices != nullptr && !a.rows.wide_indices)
            ((int32_t *)a.rows.out_indices)[at] = (int32_t)index;
    });
}

#endif
