/* SPDX-License-Identifier: Apache-2.0
 * Counting a digit of a row. A block counts its tiles in shared memory, and adds what it has to the counters
 * at the end of the row. What is to be kept goes through columns of each lane: queue.cuh. */
#ifndef TOPK_SRC_CUDA_SHARDED_COUNT_CUH
#define TOPK_SRC_CUDA_SHARDED_COUNT_CUH

#include "../select/share.cuh"
#include "narrow.cuh"
#include "queue.cuh"

template <typename Element> struct count_shared {
    simt_shared<uint32_t> table;
    simt_shared<Element> columns; /* of each warp; only where something can be kept */
};

template <typename Element>
TOPK_HOST_DEVICE count_shared<Element> carve_count(simt_arena &arena, uint32_t bins, bool lists) {
    typedef table_shape<Element> shape;
    const uint32_t warps = SHARDED_THREADS / SIMT_WARP, most = 64 << 10; /* what each GPU has for a block */
    static_assert(!shape::LISTS || ((1u << shape::DIGIT_MOST) + 1) * sizeof(uint32_t) +
                                           warps * element_queue<Element>::SIZE * sizeof(Element) <=
                                       most,
                  "bins and columns are too many");
    count_shared<Element> s;
    s.table = simt_carve<uint32_t>(arena, table_size_of<Element>(bins).words);
    s.columns = simt_carve<Element>(arena, lists ? warps * element_queue<Element>::SIZE : 0);
    return s;
}

TOPK_DEVICE bool is_begun(const struct sharded_args &a) {
    return a.header->magic == SHARDED_MAGIC && a.header->problem == a.problem;
}

/* What was kept, as a source like a row (predicate/source.cuh). */
template <typename Element> struct kept_source {
    typedef body_tile<Element> fetched_tile;
    const Element *list;
    struct {
        int64_t length;
    } r;
    TOPK_MEMBER const Element *values(void) const {
        return list;
    }
    TOPK_MEMBER fetched_tile fetch(const struct row_parts &parts, int64_t tile) const {
        return load_body(list, parts, tile);
    }
    TOPK_MEMBER const fetched_tile &test(const fetched_tile &tile) const {
        return tile;
    }
    TOPK_MEMBER edge_tile<Element> head(const struct row_parts &parts) const {
        return load_head(list, parts);
    }
    TOPK_MEMBER edge_tile<Element> tail(const struct row_parts &parts) const {
        return load_tail(list, parts);
    }
};

/* ---- Tiles ---- */

/* Any tile: each element by itself. */
template <typename Element, typename Interval, typename Tile>
TOPK_DEVICE void count_singly(const Interval &in, codes_found<typename Interval::word> &range,
                              const Tile &of_any_kind) {
    branch_once(of_any_kind, [&](const auto &tile) TOPK_LAMBDA {
#pragma unroll
        for (uint32_t g = 0; g < Tile::GROUPS; g++) {
            if (!tile.valid(g))
                continue;
#pragma unroll
            for (uint32_t e = 0; e < Tile::PER; e++)
                in.count_if(is_match(tile, g, e), tile.bits(g, e), range);
        }
    });
}

/* Words of narrow elements, where nothing but the interval decides which count. */
template <typename Element, typename Interval, typename Tile>
TOPK_DEVICE void count_tile(const Interval &in, codes_found<typename Interval::word> &range,
                            const Tile &tile) {
    count_singly<Element>(in, range, tile);
}

template <typename Element, bool FIRST>
TOPK_DEVICE void count_tile(const interval<Element, FIRST, false> &in, codes_found<uint32_t> &,
                            const body_tile<uint8_t> &tile) {
    count_words(bytes_counter<interval<Element, FIRST, false>>(in), tile);
}

template <typename Element, bool FIRST>
TOPK_DEVICE void count_tile(const interval<Element, FIRST, false> &in, codes_found<uint32_t> &range,
                            const body_tile<uint16_t> &tile) {
    const halves_counter<interval<Element, FIRST, false>> counter(in);
    if (counter.is_able())
        count_words(counter, tile);
    else
        count_singly<Element>(in, range, tile);
}

/* ---- Rows ---- */

/* Calls work() with the tiles of this block. */
template <typename Element, bool FIRST, typename Interval, typename Source, typename Work>
TOPK_DEVICE void count_tiles(const Interval &in, const Source &source, int64_t row, const Work &work) {
    int64_t run = 0;
    for_tiles<Element, !FIRST>(
        source, among_all_blocks(), [] { return false; },
        [&](const auto &tile) TOPK_LAMBDA {
            work(tile);
            if (++run == SHARDED_RUN_TILES) {
                TOPK_REACHED(REACHED_SHARDED_CUDA_RUN);
                add_table<Element>(in, row);
                run = 0;
            }
        });
}

template <typename Element, bool FIRST, typename Interval, typename Source>
TOPK_DEVICE void count_elements(const Interval &in, const code_list<Element> &list,
                                const count_shared<Element> &s, const Source &source, int64_t row) {
    if (!FIRST && table_shape<Element>::LISTS && list.slots != nullptr) {
        element_queue<Element> queue = element_queue<Element>::of(list, s.columns);
        const bits_arc<Interval> arc = bits_arc<Interval>::of(in);
        count_tiles<Element, FIRST>(in, source, row, [&](const auto &of_any_kind) TOPK_LAMBDA {
            branch_once(of_any_kind, [&](const auto &tile) TOPK_LAMBDA {
                if (Interval::IS_KEPT || arc.exists)
                    queue.take(in, arc, tile);
                else
                    queue.take(in, in, tile);
            });
        });
        queue.finish(in);
    } else {
        codes_found<typename Interval::word> range = codes_found<typename Interval::word>::none();
        count_tiles<Element, FIRST>(
            in, source, row, [&](const auto &tile) TOPK_LAMBDA { count_tile<Element>(in, range, tile); });
        if (Interval::LOOKS)
            range.add_to(&in.a.states[row]);
    }
    add_table<Element>(in, row);
}

/* All that is left of the row has one code. One thread. */
template <typename Element>
TOPK_DEVICE void count_alone(const struct sharded_args &a, const count_shared<Element> &s, int64_t row) {
    const struct sharded_row &state = a.states[row];
    if (a.is_later_part || simt_block() != 0 || simt_thread() != 0)
        return;
    TOPK_REACHED(REACHED_SHARDED_CUDA_ALONE);
    const interval<Element, false, true> in(a, s.table, state.low);
    const int64_t at = row * a.bins + in.digit_of_keys(in.digit((key_word_t<Element>)state.alone));
    simt_atomic_add(&a.own[at], (uint64_t)state.own);
    simt_atomic_add(&a.counters[at], (uint64_t)state.own);
}

/* FIRST: for the first round alone. WHERE: elements that do not meet the call's predicate do not count. */
template <typename Element, bool FIRST, bool WHERE>
TOPK_DEVICE void count_row(const struct sharded_args &a, const matcher<Element, WHERE> &predicate,
                           const count_shared<Element> &s, int64_t row) {
    struct sharded_row *state = &a.states[row];
    if (state->own == 0)
        return;
    if (!FIRST && state->is_alone) {
        count_alone<Element>(a, s, row);
        return;
    }
    Element *of_row = (Element *)a.kept + row * a.capacity;
    const int64_t target = a.lists ? state->target : -1, kept = state->kept;
    const code_list<Element> list = {target >= 0 ? of_row + target : nullptr, a.capacity - target,
                                     a.is_later_part ? 0 : a.capacity - target - state->own,
                                     (uint64_t *)&state->filled};
    if (!FIRST && kept > 0) {
        if (a.is_later_part)
            return;
        TOPK_REACHED(REACHED_SHARDED_CUDA_KEPT);
        const interval<Element, FIRST, true> in(a, s.table, state->low);
        count_elements<Element, FIRST>(in, list, s, kept_source<Element>{of_row + state->kept_begin, {kept}},
                                       row);
    } else {
        if (!a.is_first)
            TOPK_REACHED(REACHED_SHARDED_CUDA_AGAIN);
        struct row r = row_at(a.rows, row);
        const interval<Element, FIRST, false> in(a, s.table, state->low);
        if (a.is_first && simt_block() == 0 && simt_thread() == 0)
            state->length += r.length;
        r.length = predicate.none ? 0 : r.length;
        count_elements<Element, FIRST>(in, list, s, source_of(a.rows, r, predicate), row);
    }
}

template <typename Element, bool FIRST, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(SHARDED_THREADS,
                        FIRST ? SHARDED_FIRST_BLOCKS_PER_SM
                              : SHARDED_BLOCKS_PER_SM) void sharded_count(struct sharded_args a) {
    simt_arena arena = simt_shared_arena();
    const count_shared<Element> s = carve_count<Element>(arena, a.bins, a.lists);
    clear_table<Element>(a, s.table);
    if (!is_begun(a))
        return;
    const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        if (row != simt_block_y())
            TOPK_REACHED(REACHED_SHARDED_CUDA_NEXT_ROW);
        count_row<Element, FIRST, WHERE>(a, predicate, s, row);
    }
}

#endif
