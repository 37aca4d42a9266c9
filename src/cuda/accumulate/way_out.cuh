/* SPDX-License-Identifier: Apache-2.0
 * The way out of a chunk that a row has no room for: blocks find out what the best of it are, digit by digit,
 * and list them. A sample tells first where about the k-th is: mostly what comes before that are enough and
 * not too many. A block takes part once it knows that there is no room; blocks take runs of tiles, and wait
 * for nothing but runs that others have taken, which are running. All threads of a block call each function.
 */
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
    simt_shared<struct way_step> now; /* the step that the block works on */
    int64_t row;
    struct row_parts parts;
    uint32_t position_bits;

    /* Groups of the sample. */
    TOPK_MEMBER uint64_t sampled(void) const {
        return (uint64_t)parts.groups / ACCUMULATE_SAMPLED;
    }
    /* Runs of a step: of tiles of the body, and one of what is before and behind it; or of the sample. */
    TOPK_MEMBER uint64_t runs(const struct way_step &step) const {
        return step.kind == WAY_SAMPLE ? (sampled() + simt_threads() - 1) / simt_threads()
                                       : runs_of_body() + 1;
    }
    /* Results that the chunk may have. */
    TOPK_MEMBER uint64_t needed(void) const {
        const int64_t of_state = (int64_t)simt_load_relaxed(&a.state.rows[row].k);
        return (uint64_t)(of_state < r.wanted ? of_state : r.wanted);
    }
    TOPK_MEMBER struct way_step first_step(enum way_step_kind kind, uint64_t need) const {
        uint32_t unknown = 8 * sizeof(Element);
        const struct digit digit = next_digit({SELECT_DIGIT_BITS_MAX, false, 0}, &unknown);
        return way_step{kind, unknown, digit, false, whole_range<Element>(need, 0), {0, 0, 0, 0}};
    }
    /* Of all elements. */
    TOPK_MEMBER struct way_step codes_step(void) const {
        return first_step(WAY_CODES, needed());
    }
    /* Which of the sample the range ends with. */
    TOPK_MEMBER uint64_t needed_of_sample(void) const {
        const uint64_t expected = needed() / ACCUMULATE_SAMPLED;
        uint64_t root = 0;
        for (uint64_t bit = 1 << 15; bit != 0; bit /= 2)
            root += (root + bit) * (root + bit) <= expected ? bit : 0;
        const uint64_t need = expected + ACCUMULATE_DEVIATIONS * (root + 1);
        return need > 0 ? need : 1;
    }
    /* Whether there is room for what the sample stands for, with a quarter to spare. */
    TOPK_MEMBER bool has_room_for(uint64_t of_sample) const {
        return 4 * ACCUMULATE_SAMPLED * of_sample <= 3 * (uint64_t)a.state.best.pitch;
    }
    TOPK_MEMBER struct way_step opening_step(void) const {
        const uint64_t need = needed_of_sample();
        return sampled() >= ACCUMULATE_SAMPLE && has_room_for(need) ? first_step(WAY_SAMPLE, need)
                                                                    : codes_step();
    }
    TOPK_MEMBER uint64_t complement(int64_t position) const {
        return (((uint64_t)1 << position_bits) - 1) - (uint64_t)position;
    }

    /* The next run of a step; at least runs() if there is none left. */
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
    /* Lists what of a tile is in the range or above. There is room, unless that was a guess. */
    template <typename Tile> TOPK_MEMBER void list(const Tile &tile, const struct way_step &step) const {
        const row_gate<Element> gate = {a, (key_word_t<Element>)step.range.low, (int64_t)step.positions.need};
        const free_slots<Element> best = {a, r, row_list<Element>::of(a.state.best, row, a.rows.wide_indices),
                                          a.state.best.pitch, &w.listed};
        (void)best.put(
            gate.items_of(tile), [&](uint32_t item) TOPK_LAMBDA { return bits_of_item<Element>(tile, item); },
            [&](uint32_t item) TOPK_LAMBDA { return tile.position(item / Tile::PER, item % Tile::PER); });
    }

    /* Does what a step is about with a tile, whose share the block has. */
    template <typename Tile>
    TOPK_MEMBER void work_on_tile(const Tile &tile, const struct way_step &step,
                                  const code_range<Element> &range) const {
        if (step.kind == WAY_LIST)
            list(tile, step);
        else if (step.kind == WAY_POSITIONS)
            count_positions(tile, step);
        else
            count_tile<Element, false>(tile, range, digit_counter{step.digit, m.bins});
    }
    /* Does the block's share of a step; returns how many runs this was. */
    TOPK_MEMBER uint64_t work_on(uint32_t number) const {
        const struct way_step step = now[0];
        const code_range<Element> range = code_range_of<Element>(a.rows.map, step.range);
        const auto work = [&](const auto &tile) TOPK_LAMBDA { work_on_tile(tile, step, range); };
        uint64_t count = 0;
        clear_bins(m.bins, step.digit.mask + 1);
#pragma unroll 1
        for (uint64_t at; (at = take(number)) < runs(step); count++) {
            if (step.kind == WAY_SAMPLE)
                with_sample(at, work);
            else
                with_run(at, work);
        }
        simt_block_sync();
        if (step.kind != WAY_LIST)
            move_bins(m.bins, step.digit.mask + 1, w.bins);
        return count;
    }
    /* Whether all runs of a step are done once this block has done its own: then it sees what others
     * counted. */
    TOPK_MEMBER bool is_last(uint32_t number, uint64_t count) const {
        simt_block_sync();
        if (simt_thread() == 0) {
            simt_fence_device();
            m.found[0] = simt_atomic_add(&w.done[number], count) + count == runs(now[0]) && count > 0;
            simt_fence_device();
        }
        simt_block_sync();
        return m.found[0] != 0;
    }

    /* What follows from a step. The block that was last. */
    TOPK_MEMBER struct way_step step_behind(const struct way_step &step) const {
        return step.kind == WAY_LIST     ? step_behind_list(step)
               : step.kind == WAY_SAMPLE ? step_behind_sample(step)
                                         : step_behind_counts(step);
    }
    TOPK_MEMBER void publish(uint32_t number, const struct way_step &next) const {
        if (simt_thread() == 0)
            w.steps[number + 1] = next;
        simt_block_sync();
        if (simt_thread() == 0)
            simt_store_release(&w.step, number + 1);
    }
    /* Begins with the first step. */
    TOPK_MEMBER void begin(void) const {
        const struct way_step step = opening_step();
        if (simt_thread() == 0)
            now[0] = step;
        simt_block_sync();
    }
    TOPK_MEMBER bool is_going_on(void) const {
        const struct way_step step = now[0];
        return step.kind != WAY_DONE;
    }
    /* Goes on to the step behind that one, once there is one. Returns its number. */
    TOPK_MEMBER uint32_t await(uint32_t number) const {
        simt_block_sync();
        if (simt_thread() == 0) {
            uint32_t latest;
            do
                latest = simt_load_acquire(&w.step);
            while (latest <= number);
            m.found[0] = latest;
            now[0] = w.steps[latest];
        }
        simt_block_sync();
        return (uint32_t)m.found[0];
    }

  private:
    TOPK_MEMBER uint64_t runs_of_body(void) const {
        return ((uint64_t)tiles_of<Element>(parts) + ACCUMULATE_RUN - 1) / ACCUMULATE_RUN;
    }
    /* Calls work(tile) with the block's part of each tile of a run. The next tile is on its way meanwhile. */
    template <typename Work> TOPK_MEMBER void with_run(uint64_t at, const Work &work) const {
        const int64_t first = (int64_t)at * ACCUMULATE_RUN, all = tiles_of<Element>(parts);
        const int64_t end = first + ACCUMULATE_RUN < all ? first + ACCUMULATE_RUN : all;
        if (at == runs_of_body()) {
            if (simt_warp() == 0 && parts.head + parts.tail > 0)
                with_edges<Element>(source, parts, work);
            return;
        }
        auto here = source.fetch(parts, first);
#pragma unroll 1
        for (int64_t tile = first; tile < end; tile++) {
            const auto next = source.fetch(parts, tile + 1 < end ? tile + 1 : tile);
            work(source.test(here));
            here = next;
        }
    }
    /* Calls work(tile) with one group of the sample for each thread: of every ACCUMULATE_SAMPLED groups one.
     */
    template <typename Work> TOPK_MEMBER void with_sample(uint64_t at, const Work &work) const {
        const uint64_t number = at * simt_threads() + simt_thread();
        const int64_t group = (int64_t)(number * ACCUMULATE_SAMPLED +
                                        ((uint32_t)number * 0x9e3779b1u >> 16) % ACCUMULATE_SAMPLED);
        body_tile<Element> tile = {};
        tile.count = number < sampled();
        tile.position0 = parts.head + group * body_tile<Element>::PER;
        if (tile.count != 0)
            tile.raw[0] = simt_load16_read_only(source.values() + tile.position0);
        if constexpr (Source::WHERE) {
            uint32_t matches = 0;
            for (uint32_t e = 0; tile.count != 0 && source.predicate.mask != nullptr && e < tile.PER; e++)
                matches |= (uint32_t)source.predicate.is_masked_in(r.begin + tile.position(0, e)) << e;
            work(tested_tile<Element, body_tile<Element>>{tile, source.predicate, matches});
        } else {
            work(tile);
        }
    }
    TOPK_MEMBER struct way_step step_behind_list(const struct way_step &step) const {
        const uint64_t listed = simt_load_relaxed(&w.listed);
        const bool is_enough = listed >= needed() || step.range.low == 0;
        if (!step.is_guess || (is_enough && listed <= (uint64_t)a.state.best.pitch))
            return way_step{WAY_DONE, 0, {0, 0}, false, {0, 0, 0, 0}, {0, 0, 0, 0}};
        TOPK_REACHED(REACHED_ACCUMULATE_MISSED);
        if (simt_thread() == 0)
            simt_store_relaxed(&w.listed, (uint64_t)0);
        return codes_step();
    }
    TOPK_MEMBER struct way_step step_behind_sample(const struct way_step &step) const {
        struct way_step next = step;
        const uint64_t need = needed_of_sample();
        const uint64_t total = narrow_by_all(a.rows.map, step.digit, &next.range);
        const bool are_few = step.range.candidates == 0 && total < need;
        const uint64_t of_sample = are_few ? total : need - next.range.need + next.range.candidates;
        if (has_room_for(of_sample)) {
            TOPK_REACHED(REACHED_ACCUMULATE_SAMPLED);
            return list_from(next, are_few ? 0 : next.range.low, INT64_MAX, true);
        }
        if (are_few || next.unknown == 0)
            return codes_step();
        next.digit = next_digit({SELECT_DIGIT_BITS_MAX, false, 0}, &next.unknown);
        return next;
    }
    TOPK_MEMBER struct way_step step_behind_counts(const struct way_step &step) const {
        struct way_step next = step;
        const uint64_t total = narrow_by_all(step.kind == WAY_CODES ? a.rows.map : plain_map(), step.digit,
                                             step.kind == WAY_CODES ? &next.range : &next.positions);
        const uint64_t need = needed(), room = (uint64_t)a.state.best.pitch;
        const bool are_codes = step.kind == WAY_CODES;
        const uint64_t winners = need - next.range.need;
        const uint64_t listed =
            are_codes ? winners + next.range.candidates
                      : winners + step.range.need - next.positions.need + next.positions.candidates;
        if (are_codes && step.range.candidates == 0 && total <= room) {
            TOPK_REACHED(REACHED_ACCUMULATE_FEW_MATCHES);
            return list_from(next, 0, INT64_MAX, false);
        }
        if (listed <= room)
            return list_from(next, next.range.low,
                             are_codes ? INT64_MAX : (int64_t)complement((int64_t)next.positions.low) + 1,
                             false);
        if (next.unknown == 0) {
            TOPK_REACHED(REACHED_ACCUMULATE_PLATEAU);
            next.kind = WAY_POSITIONS;
            next.unknown = position_bits;
            next.positions = kth_range{0, ((uint64_t)1 << position_bits) - 1, next.range.need, 0};
        }
        next.digit = next_digit({SELECT_DIGIT_BITS_MAX, false, 0}, &next.unknown);
        return next;
    }
    static TOPK_MEMBER struct code_map plain_map(void) {
        return code_map{0, 0, 0, 0, 0, 0, ~(uint64_t)0, ~(uint64_t)0};
    }
    static TOPK_MEMBER struct way_step list_from(const struct way_step &step, uint64_t low, int64_t tie_end,
                                                 bool is_guess) {
        return way_step{WAY_LIST, 0, step.digit, is_guess, {low, low, 0, 0}, {0, 0, (uint64_t)tie_end, 0}};
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

/* Calls work(task) with the task of a row. */
template <typename Element, typename Args, typename Work>
TOPK_DEVICE void with_task(const Args &args, int64_t row, const Work &work) {
    const struct accumulate_args &a = rows_of(args);
    const push_memory<Element> m = memory_of_push<Element>();
    const struct row r = row_at(a.rows, row);
    const auto source = source_of<Element>(a.rows, r, matcher_of<Element>(args));
    const struct row_parts parts = parts_of(source.values(), r.length);
    work(way_out_task<Element, decltype(source)>{a, r, source, a.state.ways_out[row], m.lists.digit, m.step,
                                                 row, parts, 64 - simt_clz((uint64_t)r.length)});
}

/* Tells all blocks what follows from a step. The block that was last. A function of its own: the one that
 * reads has the registers. */
template <typename Element, typename Args>
TOPK_NOINLINE void tell_next_step(const Args &args, int64_t row, uint32_t number) {
    with_task<Element>(args, row, [&](const auto &task) TOPK_LAMBDA {
        task.publish(number, task.step_behind(task.now[0]));
    });
}

/* Takes part until the best of the row's chunk are listed. */
template <typename Element, typename Args> TOPK_NOINLINE void take_way_out(const Args &args, int64_t row) {
    TOPK_REACHED(REACHED_ACCUMULATE_WAY_OUT);
    with_task<Element>(args, row, [&](const auto &task) TOPK_LAMBDA {
        task.begin();
        for (uint32_t number = 0; task.is_going_on(); number = task.await(number)) {
            const uint64_t count = task.work_on(number);
            if (task.is_last(number, count))
                tell_next_step<Element>(args, row, number);
        }
    });
}

#endif
