/* SPDX-License-Identifier: Apache-2.0
 * Rows that fit into one block: sorted in shared memory by their keys. A pair is a key and a slot of
 * the list, of 16 bits: the results are fetched again from there. */
#ifndef TOPK_SRC_CUDA_SORT_ROW_CUH
#define TOPK_SRC_CUDA_SORT_ROW_CUH

#include "kth.cuh"

static_assert(SORT_ROW_THREADS * SORT_ROW_ITEMS <= 1 << 16, "slots have 16 bits");

/* The same memory holds the counters while a pass ranks, and the pairs between passes. */
template <typename Element> struct sort_row_shared {
    struct rank_shared digits;
    simt_shared<Element> keys; /* complements */
    simt_shared<uint16_t> slots;
};

template <typename Element>
TOPK_HOST_DEVICE struct sort_row_shared<Element> carve_row(simt_arena &arena, uint32_t threads) {
    struct sort_row_shared<Element> s = {};
    s.digits = carve_digits(arena);
    simt_arena turns = arena;
    s.digits.counters = simt_carve<uint32_t>(turns, threads / SIMT_WARP * SORT_BINS);
    s.keys = simt_carve<Element>(arena, threads *SORT_ROW_ITEMS);
    s.slots = simt_carve<uint16_t>(arena, threads *SORT_ROW_ITEMS);
    if (arena.used_bytes < turns.used_bytes)
        arena.used_bytes = turns.used_bytes;
    return s;
}

template <typename Element>
struct shared_keys {
    simt_shared<Element> complements;

    TOPK_MEMBER Element key(int64_t at) const {
        return (Element) ~(Element)complements[(uint32_t)at];
    }
};

/* One pass over the pairs; the first takes them from the list. Begins after a barrier and ends with one. */
template <typename Element>
TOPK_DEVICE void row_pass(const struct sort_args &a, const struct sort_row_shared<Element> &s,
                          const struct sort_list<Element> &l, uint32_t pass) {
    const uint32_t count = (uint32_t)l.count, mine = count_of_warp<SORT_ROW_ITEMS>(count);
    const uint32_t first = simt_warp() * SIMT_WARP * SORT_ROW_ITEMS + simt_lane();
    key_word_t<Element> keys[SORT_ROW_ITEMS];
    uint32_t slots[SORT_ROW_ITEMS], to[SORT_ROW_ITEMS];
#pragma unroll
    for (uint32_t i = 0; i < SORT_ROW_ITEMS; i++) {
        uint32_t at = first + i * SIMT_WARP;
        keys[i] = (Element) ~(Element)0;
        slots[i] = at;
        if (at < count && pass == 0)
            keys[i] = (Element)~key_of<Element>(l.element(at), a.rows.map);
        if (at < count && pass != 0) {
            keys[i] = (Element)s.keys[at];
            slots[i] = (uint16_t)s.slots[at];
        }
        to[i] = (uint32_t)(keys[i] >> pass * SORT_DIGIT_BITS) & (SORT_BINS - 1);
    }
    simt_block_sync();
    rank_tile(s.digits, count, to, [](uint32_t, uint32_t) TOPK_LAMBDA {});
#pragma unroll
    for (uint32_t i = 0; i < SORT_ROW_ITEMS; i++) {
        if (i * SIMT_WARP + simt_lane() < mine) {
            s.keys[to[i]] = (Element)keys[i];
            s.slots[to[i]] = (uint16_t)slots[i];
        }
    }
    simt_block_sync();
}

template <typename Element> TOPK_KERNEL TOPK_BOUNDS(SORT_ROW_THREADS, 1) void sort_row(struct sort_args a) {
    simt_arena arena = simt_shared_arena();
    struct sort_row_shared<Element> s = carve_row<Element>(arena, simt_threads());
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        if (row != simt_block())
            TOPK_REACHED(REACHED_SORT_NEXT_LIST);
        struct row r = row_of(a, row);
        struct sort_list<Element> l = list_of<Element>(a, row, r);
        for (uint32_t pass = 0; pass < 8 * sizeof(Element) / SORT_DIGIT_BITS; pass++)
            row_pass(a, s, l, pass);
        if (a.is_kth) {
            if (simt_thread() == 0)
                write_kth_class<Element>(a, row, r, shared_keys<Element>{s.keys});
        } else {
            for (int64_t slot = simt_thread(); slot < a.rows.k_max; slot += simt_threads()) {
                if (slot < r.k) {
                    uint32_t at = (uint16_t)s.slots[(uint32_t)slot];
                    write_result<Element>(a.rows, row, r, slot, l.element(at), (int64_t)l.position(at));
                } else {
                    write_padding<Element>(a.rows, row, slot);
                }
            }
        }
        simt_block_sync();
    }
}

#endif
