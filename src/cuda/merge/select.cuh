/* SPDX-License-Identifier: Apache-2.0
 * Selecting from the candidates of a row, digit by digit, by key and then by index; the last step lists what
 * was found. Blocks take tiles of one step after another, and wait only for tiles that others have taken,
 * which are running: so nothing waits for a block that has not started. Where rows are many, one block does a
 * row. All threads of a block call each function. */
#ifndef TOPK_SRC_CUDA_MERGE_SELECT_CUH
#define TOPK_SRC_CUDA_MERGE_SELECT_CUH

#include "taker.cuh"

/* Adds 1 to the bin of each lane's digit. All lanes; some have none. */
TOPK_DEVICE void count_digit(simt_shared<uint32_t> bins, bool counts, uint32_t digit) {
    const uint32_t lanes = simt_ballot(SIMT_ALL_LANES, counts);
    if (lanes == 0)
        return;
    const uint32_t first = simt_ffs(lanes) - 1, of_first = simt_shuffle(SIMT_ALL_LANES, digit, first);
    if (simt_all(SIMT_ALL_LANES, !counts || digit == of_first)) {
        if (simt_lane() == first)
            simt_atomic_add(&bins[digit], simt_popc(lanes));
    } else if (counts) {
        simt_atomic_add(&bins[digit], 1u);
    }
}

/* Counts a digit of candidates. Returns whether an index is not allowed. */
template <typename Element>
TOPK_DEVICE bool count_items(const select_task<Element> &t, const struct merge_step &step,
                             const select_items<Element> &items) {
    const struct merge_digit d = digit_at<Element>(t.a, step.digit);
    bool is_invalid = false;
    if (d.of_index)
        TOPK_REACHED(REACHED_MERGE_INDEX_DIGITS);
#pragma unroll
    for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
        const uint64_t inverse = t.inverse(items.indices[i]), key = items.keys[i];
        const bool counts = items.indices[i] >= 0 && ((key ^ step.key) & d.known_key) == 0 &&
                            ((inverse ^ step.inverse) & d.known_inverse) == 0;
        is_invalid |= items.indices[i] < MERGE_NONE;
        count_digit(t.m.bins, counts,
                    (uint32_t)((d.of_index ? inverse : key) >> d.low) & ((1u << d.bits) - 1));
    }
    return is_invalid;
}

/* Slots for `count` results of each thread; the thread's first one. */
template <typename Element>
TOPK_DEVICE uint64_t take_slots(const select_task<Element> &t, uint32_t count, uint64_t *listed) {
    uint32_t total;
    const uint32_t before = block_scan(t.m.sums, count, &total);
    if (simt_thread() == 0)
        t.m.words[0] = t.w == nullptr ? *listed : simt_atomic_add(&t.w->listed, (uint64_t)total);
    *listed += total;
    simt_block_sync();
    return t.m.words[0] + before;
}

/* Lists the results among candidates. */
template <typename Element>
TOPK_DEVICE void list_items(const select_task<Element> &t, const struct merge_step &step,
                            const select_items<Element> &items, uint64_t *listed) {
    uint32_t chosen = 0;
#pragma unroll
    for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
        const uint64_t key = items.keys[i];
        const bool is_result =
            key > step.key || (key == step.key && t.inverse(items.indices[i]) >= step.inverse);
        chosen |= (uint32_t)(items.indices[i] >= 0 && is_result) << i;
    }
    uint64_t slot = take_slots(t, simt_popc(chosen), listed);
#pragma unroll
    for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
        if ((chosen >> i & 1) == 0)
            continue;
        const int64_t to = t.row * t.a.rows.k_max + (int64_t)slot, element = items.elements[i];
        if (slot < step.results && t.a.listed != nullptr)
            t.a.listed[to] = element;
        else if (slot < step.results)
            write_merged<Element>(t.a, to, element, candidate_bits<Element>(t.a, element), items.indices[i]);
        slot++;
    }
}

template <typename Element>
TOPK_DEVICE void pad_tile(const select_task<Element> &t, const struct merge_step &step, uint64_t tile) {
    const uint64_t slots = (uint64_t)t.a.rows.k_max, first = tile * MERGE_TILE;
    const uint64_t end = slots - first < MERGE_TILE ? slots : first + MERGE_TILE;
    uint64_t slot = first + simt_thread();
    if (slot < step.results)
        slot += (step.results - slot + MERGE_THREADS - 1) / MERGE_THREADS * MERGE_THREADS;
    pad_merged<Element>(t.a, t.row, slot, MERGE_THREADS, end,
                        step.is_invalid ? MERGE_NOT_ALLOWED : MERGE_NONE);
}

TOPK_DEVICE void clear_bins_of_block(const struct merge_select_shared &m) {
    for (uint32_t bin = simt_thread(); bin < MERGE_BINS; bin += simt_threads())
        m.bins[bin] = 0;
}

/* Moves what the block has counted to the row's bins. */
template <typename Element> TOPK_DEVICE void move_bins(const select_task<Element> &t) {
    simt_block_sync();
#pragma unroll 1
    for (uint32_t bin = simt_thread(); bin < MERGE_BINS; bin += simt_threads()) {
        const uint32_t count = t.m.bins[bin];
        if (count != 0) {
            simt_atomic_add(&t.w->bins[bin], (uint64_t)count);
            t.m.bins[bin] = 0;
        }
    }
    simt_block_sync();
}

/* What a block keeps from step to step. */
template <typename Element> struct select_work {
    select_items<Element> items; /* of its latest tile */
    uint64_t tiles;              /* in t.m.kept, if the row's are kept */
    uint64_t listed;             /* results, if the block is alone */
    bool is_invalid;             /* an index of the thread's is not allowed */
};

/* Does what a step is about with work.items. */
template <typename Element>
TOPK_DEVICE void work_on_items(const select_task<Element> &t, const struct merge_step &step,
                               select_work<Element> &work) {
    if (t.is_last(step))
        list_items(t, step, work.items, &work.listed);
    else
        work.is_invalid |= count_items(t, step, work.items);
}

/* Does the tiles of a step that the block can take. Returns how many. */
template <typename Element>
TOPK_DEVICE uint64_t work_on_taken(const select_task<Element> &t, uint32_t number,
                                   const struct merge_step &step, select_work<Element> &work) {
    const uint64_t pads = t.is_last(step) ? t.tiles_of_slots(step) : 0;
    tile_taker<Element> taker = {t, number, t.tiles_of(step), !t.keeps(), 0};
    uint64_t count = 0;
    taker.begin();
#pragma unroll 1
    for (uint64_t tile; (tile = taker.take()) < taker.tiles; count++) {
        if (t.keeps() && simt_thread() == 0)
            t.m.kept[(uint32_t)count] = (uint32_t)tile;
        if (tile < pads) {
            pad_tile(t, step, tile);
        } else {
            t.load(tile - pads, work.items);
            work_on_items(t, step, work);
        }
        if (t.w != nullptr && count % (UINT32_MAX / MERGE_TILE) == UINT32_MAX / MERGE_TILE - 1)
            move_bins(t); /* before a bin overflows */
    }
    work.tiles = count;
    return count;
}

/* Does the tiles that the block has taken in the first step, and of the last step what slots are padding. */
template <typename Element>
TOPK_DEVICE uint64_t work_on_kept(const select_task<Element> &t, uint32_t number,
                                  const struct merge_step &step, select_work<Element> &work) {
#pragma unroll 1
    for (uint32_t i = 0; i < work.tiles && (!t.is_last(step) || step.results > 0); i++) {
        if (work.tiles > 1)
            t.load(t.m.kept[i], work.items);
        work_on_items(t, step, work);
    }
    if (t.is_last(step)) {
        tile_taker<Element> taker = {t, number, t.tiles_of_slots(step), false, 0};
#pragma unroll 1
        for (uint64_t tile; taker.tiles > 0 && (tile = taker.take()) < taker.tiles;)
            pad_tile(t, step, tile);
    }
    return work.tiles;
}

/* Whether all tiles of a step are done once this block has done `done`: then it sees what others counted. */
template <typename Element>
TOPK_DEVICE bool is_last_of_step(const select_task<Element> &t, uint32_t number,
                                 const struct merge_step &step, uint64_t count) {
    if (t.w == nullptr)
        return true;
    simt_block_sync();
    if (simt_thread() == 0) {
        simt_fence_device();
        t.m.words[0] = count > 0 && simt_atomic_add(&t.w->done[number], count) + count == t.tiles_of(step);
        simt_fence_device();
    }
    simt_block_sync();
    return t.m.words[0] != 0;
}

/* A bin, counted from the greatest digit; of the row's bins it is cleared. */
template <typename Element>
TOPK_DEVICE uint64_t take_bin(const select_task<Element> &t, uint32_t bins, uint32_t from_top) {
    if (from_top >= bins)
        return 0;
    const uint32_t bin = bins - 1 - from_top;
    if (t.w == nullptr)
        return t.m.bins[bin];
    const uint64_t count = simt_load_relaxed(&t.w->bins[bin]);
    if (count != 0)
        simt_store_relaxed(&t.w->bins[bin], (uint64_t)0);
    return count;
}

/* The step behind one whose digit has been counted, in `now`. */
template <typename Element>
TOPK_DEVICE void find_digit(const select_task<Element> &t, struct merge_step step, bool is_invalid) {
    const struct merge_digit d = digit_at<Element>(t.a, step.digit);
    const uint32_t bins = 1u << d.bits, first = simt_thread() * MERGE_BINS_OF_THREAD;
    const uint32_t digits = digits_of(8 * sizeof(Element)) + digits_of(index_bits(t.a));
    uint64_t counts[MERGE_BINS_OF_THREAD], sum = 0, total;
#pragma unroll
    for (uint32_t i = 0; i < MERGE_BINS_OF_THREAD; i++)
        sum += counts[i] = take_bin(t, bins, first + i);
    uint64_t before = block_scan(simt_shared_part(t.m.words, 1, MERGE_THREADS / SIMT_WARP), sum, &total);
    if (step.digit == 0) {
        const uint64_t wanted = (uint64_t)wanted_of_row(t.a.rows, t.row);
        step.results = step.need = is_invalid ? 0 : wanted < total ? wanted : total;
    }
    if (step.need == 0 || step.need == total) { /* none, or all: key and inverse are the least */
        if (simt_thread() == 0)
            t.m.now[0] = merge_step{MERGE_STEPS, is_invalid, step.key, step.inverse, step.need, step.results};
    } else {
#pragma unroll
        for (uint32_t i = 0; i < MERGE_BINS_OF_THREAD; i++) {
            if (before < step.need && step.need <= before + counts[i]) {
                const uint64_t found = (uint64_t)(bins - 1 - first - i) << d.low, need = step.need - before;
                const bool is_found = need == counts[i] || step.digit + 1 == digits;
                t.m.now[0] = merge_step{is_found ? (uint32_t)MERGE_STEPS : step.digit + 1,
                                        false,
                                        step.key | (d.of_index ? 0 : found),
                                        step.inverse | (d.of_index ? found : 0),
                                        need,
                                        step.results};
            }
            before += counts[i];
        }
    }
    simt_block_sync();
}

/* The last block of a step: finds the next one, for all. */
template <typename Element>
TOPK_DEVICE void end_step(const select_task<Element> &t, uint32_t number, const struct merge_step &step,
                          bool is_invalid) {
    if (t.w != nullptr)
        is_invalid = simt_load_relaxed(&t.w->is_invalid) != 0;
    find_digit(t, step, is_invalid);
    if (simt_thread() != 0)
        return;
    const struct merge_step next = t.m.now[0];
    if (t.is_last(next) && t.a.counts != nullptr)
        t.a.counts[t.row] = (int64_t)next.results;
    if (t.w != nullptr) {
        t.w->steps[number + 1] = next;
        simt_store_release(&t.w->step, number + 1);
    }
}

/* Goes on to the latest step, which is behind that one. Returns its number. */
template <typename Element> TOPK_DEVICE uint32_t await_step(const select_task<Element> &t, uint32_t number) {
    if (t.w == nullptr)
        return number + 1;
    simt_block_sync();
    if (simt_thread() == 0) {
        uint32_t latest;
        do
            latest = simt_load_acquire(&t.w->step);
        while (latest <= number);
        t.m.words[0] = latest;
        t.m.now[0] = t.w->steps[latest];
    }
    simt_block_sync();
    return (uint32_t)t.m.words[0];
}

template <typename Element> TOPK_DEVICE void select_row(const select_task<Element> &t) {
    select_work<Element> work;
    uint32_t number = 0;
    work.listed = 0;
    work.is_invalid = false;
    if (simt_thread() == 0)
        t.m.now[0] = merge_step{0, false, 0, 0, 0, 0};
    for (;;) {
        if (t.w == nullptr || number == 0)
            clear_bins_of_block(t.m);
        simt_block_sync();
        const struct merge_step step = t.m.now[0];
        const bool is_kept = t.keeps() && number > 0;
        const uint64_t count =
            is_kept ? work_on_kept(t, number, step, work) : work_on_taken(t, number, step, work);
        if (t.is_last(step) || (t.keeps() && count == 0))
            return;
        const bool is_invalid = simt_block_count(work.is_invalid) > 0;
        if (t.w != nullptr) {
            move_bins(t);
            if (is_invalid && simt_thread() == 0)
                simt_atomic_or(&t.w->is_invalid, 1u);
        }
        if (is_last_of_step(t, number, step, count))
            end_step(t, number, step, is_invalid);
        number = await_step(t, number);
    }
}

template <typename Element> TOPK_KERNEL TOPK_BOUNDS(MERGE_THREADS, 2) void merge_select(struct merge_args a) {
    simt_arena arena = simt_shared_arena();
    const struct merge_select_shared m = carve_merge_select(arena);
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    if (a.has_successor)
        simt_allow_successor();
    if (!a.is_alone) {
        const int64_t row = simt_block() % (uint32_t)a.rows.rows;
        select_row(select_task<Element>{a, m, &a.states[row], row});
        return;
    }
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        if (row != simt_block()) {
            TOPK_REACHED(REACHED_MERGE_NEXT_ROW);
            simt_block_sync();
        }
        select_row(select_task<Element>{a, m, nullptr, row});
    }
}

#endif
