/* SPDX-License-Identifier: Apache-2.0
 * The first pass counts the first digit, of all elements or of those in the range that a sample has drawn.
 * Few are then in the range, so a tile takes few instructions for each element. */
#ifndef TOPK_SRC_CUDA_RADIK_FIRST_CUH
#define TOPK_SRC_CUDA_RADIK_FIRST_CUH

#include "state.cuh"

/* Counts a digit of the elements that match and lie in the range, and adds to *above those beyond. */
template <typename Element, bool WHERE, typename Tile>
TOPK_DEVICE void count_tile_between(const part_task<Element, WHERE> &t, const Tile &of_any_kind,
                                    const key_digit<Element> &digit, key_word_t<Element> low,
                                    key_word_t<Element> span, uint32_t *above) {
    typedef key_word_t<Element> word;
    branch_once(of_any_kind, [&](const auto &tile) TOPK_LAMBDA {
        const struct code_map &map = t.a.rows.map;
#pragma unroll
        for (uint32_t g = 0; g < Tile::GROUPS; g++) {
            bool any = false;
            uint32_t beyond = 0;
#pragma unroll
            for (uint32_t e = 0; e < Tile::PER; e++) {
                const word code = uncut_code_of<Element>(tile.bits(g, e), map);
                any |= code - low <= span;
                beyond += code > low + span && is_match(tile, g, e);
            }
            *above += tile.valid(g) ? beyond : 0;
            if (!any || !tile.valid(g))
                continue;
#pragma unroll
            for (uint32_t e = 0; e < Tile::PER; e++) {
                const word code = uncut_code_of<Element>(tile.bits(g, e), map);
                if (code - low <= span && is_match(tile, g, e))
                    t.count(digit.bin(key_of<Element>(tile.bits(g, e), map)));
            }
        }
    });
}

/* Counts a digit of the part's elements in the range, and `above` those beyond. Ends of a range of codes that
 * are not cut hold all of a class. */
template <bool BACKWARD, typename Element, bool WHERE>
TOPK_DEVICE uint64_t count_part(const part_task<Element, WHERE> &t, const key_digit<Element> &digit) {
    typedef key_word_t<Element> word;
    const struct code_map &map = t.a.rows.map;
    const struct kth_range &range = t.state.range;
    const word low = range.low <= map.lowest ? 0 : first_code<Element>(range, map),
               high =
                   range.high >= map.highest ? (word)(Element) ~(Element)0 : last_code<Element>(range, map);
    uint32_t above = 0;
    for_part_tiles<Element, BACKWARD>(t.source, t.part, t.a.pads, [&](const auto &tile) TOPK_LAMBDA {
        count_tile_between(t, tile, digit, low, (word)(high - low), &above);
    });
    return above;
}

/* Adds up what the threads have found above a range. All threads; a barrier must follow. */
template <typename Element, bool WHERE>
TOPK_DEVICE void add_above(const part_task<Element, WHERE> &t, uint32_t of_thread) {
    const uint64_t of_warp = simt_reduce_add(SIMT_ALL_LANES, (uint64_t)of_thread);
    if (simt_lane() == 0 && of_warp != 0)
        simt_atomic_add(&t.m.above[0], of_warp);
}

/* What all kernels that read rows do with a block's part of one: work(task). */
template <typename Element, bool WHERE, typename Work>
TOPK_DEVICE void for_tasks(const struct radik_args &a, const pass_memory<Element> &m, const Work &work) {
    const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
    for_own_parts<Element>(a, [&](const struct row_part &part) TOPK_LAMBDA {
        struct row r = row_at(a.rows, part.of.row);
        const struct radik_state state = read_state(&a.states[part.of.state]);
        r.k = r.k < state.matches ? r.k : state.matches;
        work(part_task<Element, WHERE>{a, m, part, r, source_of(a.rows, r, predicate), state});
    });
}

template <typename Element> TOPK_DEVICE pass_memory<Element> begin_pass(const struct radik_args &a) {
    simt_arena arena = simt_shared_arena();
    const pass_memory<Element> m = carve_pass<Element>(arena, a.digits.bits);
    clear_bins(m.digit.bins, 1u << a.digits.bits);
    if (simt_thread() == 0) {
        m.above[0] = 0;
        m.buffer.held[0] = 0;
    }
    simt_block_sync();
    return m;
}

template <typename Element, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(RADIK_THREADS, RADIK_BLOCKS_PER_SM) void radik_first(struct radik_args a) {
    const pass_memory<Element> m = begin_pass<Element>(a);
    for_tasks<Element, WHERE>(a, m, [&](const part_task<Element, WHERE> &t) TOPK_LAMBDA {
        if (t.state.phase != RADIK_OPEN)
            return;
        const key_digit<Element> digit = t.digit();
        add_above(t, count_part<false>(t, digit));
        (void)retire(t, digit, false);
    });
}

#endif
