/* SPDX-License-Identifier: Apache-2.0
 * The candidates of a row, and the best of them. One block works on a row; all of its threads call each
 * function, and have the same copy of what is known of the row. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_LIST_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_LIST_CUH

#include "../../reached.h"
#include "../select/candidates.cuh"
#include "known.cuh"

/* A row's part of a list. */
template <typename Element> struct row_list {
    typedef Element element;
    typedef int64_t index;
    Element *elements;
    int64_t *positions;
    char *payload;

    static TOPK_MEMBER row_list of(const struct accumulate_list &list, int64_t row, bool wide) {
        const int64_t first = row * list.pitch;
        return row_list{(Element *)list.elements + first, list.positions + first,
                        (char *)list.payload + first * (wide ? 8 : 4)};
    }
    TOPK_MEMBER row_list from(int64_t first, bool wide) const {
        return row_list{elements + first, positions + first, payload + first * (wide ? 8 : 4)};
    }
    TOPK_MEMBER key_word_t<Element> bits(int64_t slot) const {
        return elements[slot];
    }
    TOPK_MEMBER int64_t position(int64_t slot) const {
        return positions[slot];
    }
    /* 0 if there is none. */
    TOPK_MEMBER int64_t payload_of(int64_t slot, bool has_payload, bool wide) const {
        return !has_payload ? 0 : wide ? ((const int64_t *)payload)[slot] : ((const int32_t *)payload)[slot];
    }
    /* A plain store of the position is not for nvcc 13.0: with elements of 64 bits it takes the pointer for
     * one to local memory. tests/tree/ptx.py looks for such pointers. */
    TOPK_MEMBER void put(int64_t slot, key_word_t<Element> bits, int64_t position) const {
        elements[slot] = (Element)bits;
        simt_store_relaxed((uint64_t *)&positions[slot], (uint64_t)position);
    }
    TOPK_MEMBER void put_payload(int64_t slot, int64_t value, bool wide) const {
        if (wide)
            ((int64_t *)payload)[slot] = value;
        else
            ((int32_t *)payload)[slot] = (int32_t)value;
    }
};

struct lists_shared {
    struct digit_shared digit;
    simt_shared<uint32_t> sums; /* of scans */
    simt_shared<uint64_t> last; /* position */
};

TOPK_HOST_DEVICE struct lists_shared carve_lists(simt_arena &arena) {
    struct lists_shared m;
    m.digit = carve_digit(arena);
    m.sums = simt_carve<uint32_t>(arena, SIMT_WARP);
    m.last = simt_carve<uint64_t>(arena, 1);
    return m;
}

/* What a block knows of a row that is its own. */
template <typename Element> struct row_candidates {
    typedef key_word_t<Element> word;
    const struct accumulate_args &a;
    const struct lists_shared &m;
    row_list<Element> list;
    bool has_payload;
    struct known_row now;

    static TOPK_MEMBER row_candidates of(const struct accumulate_args &a, const struct lists_shared &m,
                                         int64_t row, bool has_payload) {
        return row_candidates{a, m, row_list<Element>::of(a.state.candidates, row, a.rows.wide_indices),
                              has_payload, known_row::of(a.state.rows[row])};
    }
    TOPK_MEMBER void store(int64_t row) const {
        if (simt_thread() == 0)
            now.store(a.state.rows[row]);
    }
    TOPK_MEMBER int64_t room(void) const {
        return room_of(a, now);
    }
    TOPK_MEMBER bool passes(word bits, int64_t position) const {
        const word key = key_of<Element>(bits, a.rows.map);
        return !now.has_bar || key > (word)now.bar_key ||
               (key == (word)now.bar_key && position <= now.bar_position);
    }

    /* Moves the first `count` entries of a list that keeps() holds for behind the row's candidates; there is
     * room for them. It may be the row's own list, if no slot is written before it has been read. */
    template <typename Keeps>
    TOPK_MEMBER void move(const row_list<Element> &from, int64_t count, const Keeps &keeps) {
        const uint32_t ITEMS = ACCUMULATE_ITEMS / 2;
        const bool wide = a.rows.wide_indices;
#pragma unroll 1
        for (int64_t first = simt_thread(); first - simt_thread() < count; first += ITEMS * simt_threads()) {
            word bits[ITEMS];
            int64_t positions[ITEMS], payload[ITEMS];
            uint32_t kept = 0, total;
#pragma unroll
            for (uint32_t i = 0; i < ITEMS; i++) {
                const int64_t slot = first + i * simt_threads();
                const bool is_there = slot < count;
                bits[i] = is_there ? from.bits(slot) : 0;
                positions[i] = is_there ? from.position(slot) : -1;
                payload[i] = is_there ? from.payload_of(slot, has_payload, wide) : 0;
            }
#pragma unroll
            for (uint32_t i = 0; i < ITEMS; i++)
                kept |= (uint32_t)(positions[i] >= 0 && keeps(bits[i], positions[i])) << i;
            int64_t to = now.count + block_scan(m.sums, simt_popc(kept), &total);
#pragma unroll
            for (uint32_t i = 0; i < ITEMS; i++) {
                if ((kept >> i & 1) == 0)
                    continue;
                list.put(to, bits[i], positions[i]);
                if (has_payload)
                    list.put_payload(to, payload[i], wide);
                to++;
            }
            now.count += total;
            simt_block_sync();
        }
    }

    /* Adds the entries that pass the bar, as many as there is room for. */
    TOPK_MEMBER void add(const row_list<Element> &from, int64_t count) {
        move(from, count, [&](word bits, int64_t position) TOPK_LAMBDA { return passes(bits, position); });
    }

    /* Keeps the best k candidates, if there are k: the last of them is the bar. */
    TOPK_MEMBER void settle(void) {
        if (now.count < now.k)
            return;
        if (now.k == 0) {
            now.count = 0;
            return;
        }
        if (now.has_bar && now.count == now.k)
            return; /* nothing has come since */
        TOPK_REACHED(REACHED_ACCUMULATE_SETTLED);
        const struct kth_range range = kth_class();
        const code_range<Element> ties = code_range_of<Element>(a.rows.map, range);
        const int64_t last = last_tie(ties, range);
        const int64_t count = now.count;
        if (simt_thread() == 0)
            m.last[0] = 0;
        simt_block_sync();
        now.count = 0;
        move(list, count, [&](word bits, int64_t position) TOPK_LAMBDA {
            const word code = ties.code(bits);
            const bool is_tie = ties.holds(code) && position <= last;
            if (is_tie)
                simt_atomic_max(&m.last[0], (uint64_t)position);
            return is_tie || ties.is_below(code);
        });
        now.has_bar = true;
        now.bar_key = key_of_code<Element>((word)range.low, a.rows.map);
        now.bar_position = (int64_t)(uint64_t)m.last[0];
    }

  private:
    /* The class of the k-th candidate. */
    TOPK_MEMBER struct kth_range kth_class(void) const {
        struct kth_range range = whole_range<Element>((uint64_t)now.k, (uint64_t)now.count);
        uint32_t unknown = 8 * sizeof(Element);
#pragma unroll 1
        while (unknown > 0) {
            const struct digit digit = next_digit({ACCUMULATE_DIGIT_BITS, false, 0}, &unknown);
            clear_bins(m.digit.bins, digit.mask + 1);
            simt_block_sync();
            count_candidates<Element, ACCUMULATE_ITEMS>(list, now.count, for_one_block(),
                                                        code_range_of<Element>(a.rows.map, range),
                                                        digit_counter{digit, m.digit.bins});
            (void)narrow<BINS_OF_THREAD, false>(a.rows.map, digit, m.digit, &range);
        }
        return range;
    }
    /* The last position of a tie that is a result: of range.need ties with the lowest positions. */
    TOPK_MEMBER int64_t last_tie(const code_range<Element> &ties, const struct kth_range &range) const {
        const uint64_t ones = ~(uint64_t)0;
        const struct code_map map = {0, 0, 0, 0, 0, 0, ones, ones};
        struct kth_range positions = {0, ones, range.need, range.candidates}; /* of complements */
        uint32_t unknown = 64;
#pragma unroll 1
        while (unknown > 0 && positions.need < positions.candidates) {
            TOPK_REACHED(REACHED_ACCUMULATE_TIES);
            const struct digit digit = next_digit({ACCUMULATE_DIGIT_BITS, false, 0}, &unknown);
            clear_bins(m.digit.bins, digit.mask + 1);
            simt_block_sync();
            for (int64_t slot = simt_thread(); slot < now.count; slot += simt_threads()) {
                const uint64_t code = ~(uint64_t)list.position(slot);
                if (ties.holds(ties.code(list.bits(slot))) && code >= positions.low && code <= positions.high)
                    simt_atomic_add(&m.digit.bins[bin_of<uint64_t>(code, digit)], 1u);
            }
            (void)narrow<BINS_OF_THREAD, false>(map, digit, m.digit, &positions);
        }
        const uint64_t last = ~positions.low;
        return last > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)last;
    }
    static const uint32_t BINS_OF_THREAD =
        ((1u << ACCUMULATE_DIGIT_BITS) + ACCUMULATE_THREADS_FEW - 1) / ACCUMULATE_THREADS_FEW;
};

#endif
