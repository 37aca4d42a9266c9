/* SPDX-License-Identifier: Apache-2.0
 * The way out of a chunk that a row has no room for: blocks find out what the best of it are, digit by digit,
 * and list them. A block takes part once it knows that there is no room; blocks take tiles, and wait for
 * nothing but tiles that others have taken, which are running. All threads of a block call each function. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_WAY_OUT_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_WAY_OUT_CUH

#include "gate.cuh"

/* The k-th of a chunk is looked for in a step's range. */
template <typename Element, typename Source> struct way_out_task {
    const struct accumulate_args &a;
    const struct row &r;
    const Source &source;
    struct accumulate_way_out &w;
    const struct digit_shared &m;
    int64_t row;
    struct row_parts parts;
    uint32_t position_bits;

    /* Tiles of the body, and one of what is before and after it. */
    TOPK_MEMBER uint64_t tiles(void) const {
        return (uint64_t)tiles_of<Element>(parts) + 1;
    }
    TOPK_MEMBER struct way_step first_step(void) const {
        const int64_t k = a.state.rows[row].k < r.wanted ? a.state.rows[row].k : r.wanted;
        uint32_t unknown = 8 * sizeof(Element);
        const struct digit digit = next_digit({SELECT_DIGIT_BITS_MAX, false}, &unknown);
        return way_step{WAY_CODES, unknown, digit, whole_range<Element>((uint64_t)k, 0), {0, 0, 0, 0}};
    }
    TOPK_MEMBER uint64_t complement(int64_t position) const {
        return (((uint64_t)1 << position_bits) - 1) - (uint64_t)position;
    }

    /* The next tile of a step; at least tiles() if there is none left. */
    TOPK_MEMBER uint64_t take(uint32_t step) const {
        simt_block_sync();
        if (simt_thread() == 0)
            m.found[0] = simt_atomic_add(&w.taken[step], (uint64_t)1);
        simt_block_sync();
        return m.found[0];
    }
    template <typename Tile>
    TOPK_MEMBER void count_positions(const Tile &tile, const struct way_step &step) const {
        const key_word_t<Element> key = (key_word_t<Element>)step.range.low;
        uint32_t ties = items_from<Element>(tile, a.rows.map, key, true) &
                        ~items_from<Element>(tile, a.rows.map, key, false);
#pragma unroll 1
        for (; ties != 0; ties &= ties - 1) {
            const uint32_t item = simt_ffs(ties) - 1;
            const uint64_t code = complement(tile.position(item / Tile::PER, item % Tile::PER));
            if (code - step.positions.low <= step.positions.high - step.positions.low)
                simt_atomic_add(&m.bins[bin_of<uint64_t>(code, step.digit)], 1u);
        }
    }
    TOPK_MEMBER row_gate<Element> gate_of(const struct way_step &step) const {
        const bool wide = a.rows.wide_indices;
        return row_gate<Element>{a,
                                 r,
                                 row_list<Element>::of(a.state.best, row, wide),
                                 a.state.best.pitch,
                                 (key_word_t<Element>)step.range.low,
                                 (int64_t)step.positions.need,
                                 &w.listed,
                                 true,
                                 false};
    }

    /* Does the block's share of a step; returns how many tiles this was. */
    TOPK_MEMBER uint64_t work_on(uint32_t number, const struct way_step &step) const {
        const row_gate<Element> gate = gate_of(step);
        const code_range<Element> range = code_range_of<Element>(a.rows.map, step.range);
        uint64_t count = 0;
        clear_bins(m.bins, step.digit.mask + 1);
#pragma unroll 1
        for (uint64_t at; (at = take(number)) < tiles(); count++)
            with_share(at, [&](const auto &tile) TOPK_LAMBDA {
                if (step.kind == WAY_CODES)
                    count_tile<Element, false>(tile, range, digit_counter{step.digit, m.bins});
                else if (step.kind == WAY_POSITIONS)
                    count_positions(tile, step);
                else
                    (void)gate.add(tile);
            });
        simt_block_sync();
        if (step.kind != WAY_LIST)
            move_bins(m.bins, step.digit.mask + 1, w.bins);
        return count;
    }
    /* Whether all tiles of a step are done once this block has done so many: then it sees what others
     * counted. */
    TOPK_MEMBER bool is_last(uint32_t number, uint64_t count) const {
        simt_block_sync();
        if (simt_thread() == 0) {
            simt_fence_device();
            m.found[0] = simt_atomic_add(&w.done[number], count) + count == tiles() && count > 0;
            simt_fence_device();
        }
        simt_block_sync();
        return m.found[0] != 0;
    }

    /* What follows from a step's counts. The block that was last. */
    TOPK_MEMBER struct way_step step_behind(const struct way_step &step) const {
        if (step.kind == WAY_LIST)
            return way_step{WAY_DONE, 0, {0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
        struct way_step next = step;
        const uint64_t total = narrow_by_all(step.kind == WAY_CODES ? a.rows.map : plain_map(), step.digit,
                                             step.kind == WAY_CODES ? &next.range : &next.positions);
        const uint64_t need = first_step().range.need, room = (uint64_t)a.state.best.pitch;
        const bool are_codes = step.kind == WAY_CODES;
        const uint64_t winners = need - next.range.need;
        const uint64_t listed =
            are_codes ? winners + next.range.candidates
                      : winners + step.range.need - next.positions.need + next.positions.candidates;
        if (are_codes && step.range.candidates == 0 && total <= room) {
            TOPK_REACHED(REACHED_ACCUMULATE_FEW_MATCHES);
            return list_from(next, 0, INT64_MAX);
        }
        if (listed <= room)
            return list_from(next, next.range.low,
                             are_codes ? INT64_MAX : (int64_t)complement((int64_t)next.positions.low) + 1);
        if (next.unknown == 0) {
            TOPK_REACHED(REACHED_ACCUMULATE_PLATEAU);
            next.kind = WAY_POSITIONS;
            next.unknown = position_bits;
            next.positions = kth_range{0, ((uint64_t)1 << position_bits) - 1, next.range.need, 0};
        }
        next.digit = next_digit({SELECT_DIGIT_BITS_MAX, false}, &next.unknown);
        return next;
    }
    TOPK_MEMBER void publish(uint32_t number, const struct way_step &next) const {
        if (simt_thread() == 0)
            w.steps[number + 1] = next;
        simt_block_sync();
        if (simt_thread() == 0)
            simt_store_release(&w.step, number + 1);
    }
    /* The number of the step behind that one, once there is one. */
    TOPK_MEMBER uint32_t await(uint32_t number) const {
        simt_block_sync();
        if (simt_thread() == 0) {
            uint32_t now;
            do
                now = simt_load_acquire(&w.step);
            while (now <= number);
            m.found[0] = now;
        }
        simt_block_sync();
        return (uint32_t)m.found[0];
    }

  private:
    /* Calls work(tile) with the block's part of the step's tile `at`. */
    template <typename Work> TOPK_MEMBER void with_share(uint64_t at, const Work &work) const {
        if (at + 1 < tiles())
            work(source.test(source.fetch(parts, (int64_t)at)));
        else if (simt_warp() == 0 && parts.head + parts.tail > 0)
            with_edges<Element>(source, parts, work);
    }
    static TOPK_MEMBER struct code_map plain_map(void) {
        return code_map{0, 0, 0, 0, 0, 0, ~(uint64_t)0, ~(uint64_t)0};
    }
    static TOPK_MEMBER struct way_step list_from(const struct way_step &step, uint64_t low, int64_t tie_end) {
        return way_step{WAY_LIST, 0, step.digit, {low, low, 0, 0}, {0, 0, (uint64_t)tie_end, 0}};
    }
    /* Narrows a range by the digit that all blocks have counted, clears the counters, and returns their sum.
     */
    TOPK_MEMBER uint64_t narrow_by_all(const struct code_map &map, struct digit digit,
                                       struct kth_range *range) const {
        const uint32_t PER = (SELECT_BINS_MAX + ACCUMULATE_THREADS_FEW - 1) / ACCUMULATE_THREADS_FEW;
        const auto bins = [&](uint32_t bin) TOPK_LAMBDA { return simt_load_relaxed(&w.bins[bin]); };
        const uint64_t total = find_digit<PER, true>(bins, map, digit, *range, m.sums,
                                                     [&](const struct kth_range &found) TOPK_LAMBDA {
                                                         m.found[0] = found.low;
                                                         m.found[1] = found.high;
                                                         m.found[2] = found.need;
                                                         m.found[3] = found.candidates;
                                                     });
        simt_block_sync();
        if (total > 0)
            *range = kth_range{m.found[0], m.found[1], m.found[2], m.found[3]};
        for (uint32_t bin = simt_thread(); bin <= digit.mask; bin += simt_threads())
            simt_store_relaxed(&w.bins[bin], (uint64_t)0);
        return total;
    }
};

/* Takes part until the best of the row's chunk are listed. */
template <typename Element, typename Args> TOPK_NOINLINE void take_way_out(const Args &args, int64_t row) {
    const struct accumulate_args &a = rows_of(args);
    simt_arena arena = simt_shared_arena();
    const struct list_memory m = carve_lists(arena);
    const struct row r = row_at(a.rows, row);
    const auto source = source_of<Element>(a.rows, r, matcher_of<Element>(args));
    const way_out_task<Element, decltype(source)> t = {a,
                                                       r,
                                                       source,
                                                       a.state.ways_out[row],
                                                       m.digit,
                                                       row,
                                                       parts_of(source.values(), r.length),
                                                       64 - simt_clz((uint64_t)r.length)};
    uint32_t number = 0;
    struct way_step step = t.first_step();
    TOPK_REACHED(REACHED_ACCUMULATE_WAY_OUT);
    while (step.kind != WAY_DONE) {
        const uint64_t count = t.work_on(number, step);
        if (t.is_last(number, count))
            t.publish(number, t.step_behind(step));
        number = t.await(number);
        step = t.w.steps[number];
    }
}

/* How many are listed, once all blocks are done with a row. Makes all words 0. */
TOPK_DEVICE int64_t leave_way_out(struct accumulate_way_out &w) {
    const uint64_t listed = simt_load_relaxed(&w.listed);
    simt_block_sync();
    for (uint32_t i = simt_thread(); i < ACCUMULATE_STEPS; i += simt_threads()) {
        simt_store_relaxed(&w.taken[i], (uint64_t)0);
        simt_store_relaxed(&w.done[i], (uint64_t)0);
    }
    if (simt_thread() == 0) {
        simt_store_relaxed(&w.listed, (uint64_t)0);
        simt_store_relaxed(&w.step, 0u);
    }
    return (int64_t)listed;
}

#endif
