/* SPDX-License-Identifier: Apache-2.0
 * The passes after the first one. Once the candidates fit their buffer, a pass over the input writes what is
 * above them and buffers them; from then on the buffer takes the input's place. The last block to buffer a
 * few candidates does all the rest. Rows that need no digit more have their results written. */
#ifndef TOPK_SRC_CUDA_RADIK_NEXT_CUH
#define TOPK_SRC_CUDA_RADIK_NEXT_CUH

#include "write_buffer.cuh"

/* Shared memory of a pass that filters. Ways: warp_ways or block_ways. */
template <typename Element, typename Ways> struct next_memory {
    struct pass_memory pass;
    Ways ways;
    shared_list<Element> candidates; /* that the last block finishes */
};

/* The ways of a kernel: MANY results go through the write buffer. */
template <typename Element, bool MANY> struct chosen_ways { typedef warp_ways<Element> type; };
template <typename Element> struct chosen_ways<Element, true> { typedef block_ways<Element> type; };
template <typename Element, bool MANY> using ways_of = typename chosen_ways<Element, MANY>::type;

template <typename Element, bool MANY>
TOPK_HOST_DEVICE next_memory<Element, ways_of<Element, MANY>> carve_next(simt_arena &arena, uint32_t bits) {
    next_memory<Element, ways_of<Element, MANY>> m;
    m.pass = carve_pass(arena, bits);
    if constexpr (MANY)
        m.ways = carve_block_ways<Element>(arena);
    else
        m.ways = carve_warp_ways<Element>(arena);
    m.candidates = carve_list<Element>(arena, RADIK_FINISH_CANDIDATES);
    return m;
}

/* Filters the part's elements, or the block's share of what is buffered. All threads. */
template <typename Element, bool WHERE, typename Ways>
TOPK_DEVICE void filter_part(const part_task<Element, WHERE> &t, Ways &ways, outlet<Element, WHERE> &to) {
    const uncut_range<Element> range = t.range();
    if (t.buffered >= 0) {
        TOPK_REACHED(REACHED_RADIK_WRITTEN_FROM_BUFFER);
        for_candidates<4>(t.buffer(), t.buffered, t.part.share,
                          [&](const auto &tile) TOPK_LAMBDA { ways.filter(to, range, tile); });
    } else {
        ways.begin(t.part.first * tile_elements<Element>());
        for_part_tiles<Element, true>(t.source, t.part, t.a.pads,
                                      [&](const auto &tile) TOPK_LAMBDA { ways.filter(to, range, tile); });
    }
    ways.drain(to);
}

/* Counts the next digit of the buffered candidates. */
template <typename Element, bool WHERE>
TOPK_DEVICE void count_buffered(const part_task<Element, WHERE> &t, const key_digit<Element> &digit) {
    const uncut_range<Element> range = t.range();
    for_candidates<4>(t.buffer(), t.buffered, t.part.share, [&](const auto &tile) TOPK_LAMBDA {
#pragma unroll 1
        for (uint32_t g = 0; g < 4; g++) {
            const key_word_t<Element> bits = bits_of_item<Element>(tile, g);
            if (tile.valid(g) && range.holds(range.code(bits)))
                t.count(digit, bits);
        }
    });
}

/* The last block to buffer a row's few candidates narrows the range by the digits that are missing, and
 * writes the results, unless they have to go in the order of positions. All threads. */
template <typename Element, bool WHERE>
TOPK_DEVICE void finish_row(const part_task<Element, WHERE> &t, const shared_list<Element> &list) {
    struct radik_state *state = t.state();
    struct kth_range range = state->range;
    const uint32_t count = (uint32_t)t.known.candidates;
    const global_list<Element> buffer = t.buffer();
    for (uint32_t i = simt_thread(); i < count; i += simt_threads())
        list.put(i, buffer.bits(i), buffer.position(i));
    simt_block_sync();
    while (!is_decided(t.a.digits, range)) {
        const uncut_range<Element> codes = uncut_range<Element>::of(range, t.a.rows.map);
        narrow_keys(key_digit<Element>::even(range, t.a.digits.bits), t.a.digits.bits, t.m.digit, &range,
                    [&](const auto &work) TOPK_LAMBDA {
                        for (uint32_t i = simt_thread(); i < count; i += simt_threads())
                            if (codes.holds(codes.code(list.bits(i))))
                                work(key_of<Element>(list.bits(i), t.a.rows.map));
                    });
    }
    const struct result_plan plan = plan_results(t.a.target, range, t.r.k);
    const bool is_kth = t.a.target.kind == TARGET_KTH, is_left = plan.in_order && !is_kth;
    TOPK_REACHED(is_left ? REACHED_RADIK_FINISH_LEFT : REACHED_RADIK_FINISH);
    simt_block_sync(); /* all threads have read the range */
    if (simt_thread() == 0 && (state->phase == RADIK_OPEN || state->phase == RADIK_DECIDED)) {
        state->range = range;
        end_row(t, is_left ? RADIK_ORDERED : RADIK_DONE);
        if (is_kth)
            t.write_kth_class(range);
    }
    if (is_left || is_kth)
        return;
    const uncut_range<Element> codes = uncut_range<Element>::of(range, t.a.rows.map);
    const outlet<Element, WHERE> to = {t, plan.winners, plan.ties, false, {}, false};
    for (uint32_t i = simt_thread(); i < count; i += simt_threads()) {
        const key_word_t<Element> bits = list.bits(i), code = codes.code(bits);
        if (codes.is_hit(code))
            to.put(codes.is_below(code), simt_atomic_add(to.counter(codes.is_below(code)), (uint64_t)1), bits,
                   list.position(i));
    }
}

/* Where hits of an open row go whose candidates are buffered, and hits of a row that needs no digit more. */
template <typename Element, bool WHERE>
TOPK_DEVICE outlet<Element, WHERE> outlet_of(const part_task<Element, WHERE> &t, bool is_open,
                                             const struct result_plan &plan) {
    const bool writes =
        !t.a.target.in_order && (t.a.target.kind == TARGET_OUTPUTS || t.a.target.kind == TARGET_ENTRIES);
    return outlet<Element, WHERE>{
        t, writes ? plan.winners : 0, is_open ? 0 : plan.ties, is_open, t.digit(), false};
}

template <typename Element, bool WHERE, typename Memory>
TOPK_DEVICE void next_of_row(const part_task<Element, WHERE> &t, uint64_t phase, Memory &m) {
    const bool is_open = phase == RADIK_OPEN;
    const bool fits = t.known.candidates <= (uint64_t)(t.part.of.tiles * t.a.tile_capacity);
    const bool buffers = is_open && t.buffered < 0 && fits;
    const struct result_plan plan = plan_results(t.a.target, t.known, t.r.k);
    uint32_t above = 0;
    if (buffers || !is_open) {
        if (buffers)
            TOPK_REACHED(REACHED_RADIK_BUFFERED);
        outlet<Element, WHERE> to = outlet_of(t, is_open, plan);
        filter_part(t, m.ways, to);
    } else if (t.buffered >= 0) {
        TOPK_REACHED(REACHED_RADIK_FROM_BUFFER);
        count_buffered(t, t.digit());
    } else {
        TOPK_REACHED(REACHED_RADIK_NO_BUFFER);
        above = count_part<true>(t, t.digit());
    }
    if (!is_open) {
        if (WHERE && t.a.target.kind == TARGET_OUTPUTS) /* fewer results than the first pass knew of */
            pad_row<Element>(t.a.rows, t.part.of.row, t.r, t.part.share);
        if (last_of_part(t.part, &t.state()->retired, t.m.flag) && simt_thread() == 0)
            end_row(t, RADIK_DONE);
        return;
    }
    if (retire(t, t.digit(), above, buffers) && buffers && !t.a.candidates.wide &&
        t.known.candidates <= RADIK_FINISH_CANDIDATES)
        finish_row(t, m.candidates);
}

/* MANY: results may be many, and go through the write buffer. */
template <typename Element, bool WHERE, bool MANY>
TOPK_KERNEL TOPK_BOUNDS(RADIK_THREADS, RADIK_BLOCKS_PER_SM) void radik_next(struct radik_args a) {
    simt_arena arena = simt_shared_arena();
    next_memory<Element, ways_of<Element, MANY>> m = carve_next<Element, MANY>(arena, a.digits.bits);
    clear_pass(m.pass, a.digits.bits);
    m.ways.clear();
    simt_block_sync();
    for_tasks<Element, WHERE, TOPK_PATH(REACHED_RADIK_NEXT_ROW)>(
        a, m.pass, true, [&](const part_task<Element, WHERE> &t, uint64_t phase) TOPK_LAMBDA {
            if (phase == RADIK_OPEN || phase == RADIK_DECIDED)
                next_of_row(t, phase, m);
        });
}

#endif
