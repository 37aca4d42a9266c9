/* SPDX-License-Identifier: Apache-2.0
 * Which digits the next count of a long row lists. A sample of the row tells about where in the interval the
 * k-th is: what is far from there need not be listed. Where the k-th then is outside of this window, the
 * round after it reads the row again, so results never depend on the sample. */
#ifndef TOPK_SRC_CUDA_SHARDED_WINDOW_CUH
#define TOPK_SRC_CUDA_SHARDED_WINDOW_CUH

#include "advance.cuh"

struct window_shared {
    simt_shared<uint32_t> table, scratch;
    simt_shared<uint32_t> digits,
        samples; /* the last one of the window and the first; samples before each end */
};

template <typename Element> TOPK_HOST_DEVICE window_shared carve_window(simt_arena &arena, uint32_t bins) {
    window_shared s;
    s.table = simt_carve<uint32_t>(arena, table_size_of<Element>(bins).words);
    s.scratch = simt_carve<uint32_t>(arena, SIMT_WARP);
    s.digits = simt_carve<uint32_t>(arena, 2);
    s.samples = simt_carve<uint32_t>(arena, 2);
    return s;
}

/* Counts the interval's part of a sample: pieces of neighbours, one from each stretch of the row. */
template <typename Element, typename Interval>
TOPK_DEVICE void count_sample(const struct sharded_args &a, const Interval &in, const struct row &r) {
    const uint32_t PIECE = SHARDED_PIECE_BYTES / sizeof(Element), PIECES = SHARDED_SAMPLE / PIECE;
    const matcher<Element, true> predicate = matcher<Element, true>::of(a.predicate);
    const int64_t stretch = r.length / PIECES;
    const uint32_t room = (uint32_t)clamp_extent(stretch - PIECE + 1, UINT32_MAX);
#pragma unroll 8
    for (uint32_t i = simt_thread(); i < SHARDED_SAMPLE; i += simt_threads()) {
        const uint32_t piece = i / PIECE, random = (piece + 1) * 2654435761u;
        const int64_t at = r.begin + piece * stretch + (int64_t)((uint64_t)random * room >> 32) + i % PIECE;
        const Element bits = simt_load_read_only((const Element *)a.rows.values + at);
        bool wanted = true;
        if (a.predicate.is_given)
            wanted = predicate.mask != nullptr ? predicate.is_masked_in(at)
                                               : !predicate.none && predicate.in_arc(bits);
        in.count_if(wanted, bits);
    }
}

/* The least number whose square is above another's. */
TOPK_DEVICE uint32_t root_above(uint32_t square) {
    uint32_t root = 0;
    for (uint32_t bit = 1u << 15; bit != 0; bit /= 2)
        if ((root | bit) * (root | bit) <= square)
            root |= bit;
    return root + 1;
}

/* Takes the window where the list becomes much shorter by it, or has room only then. */
TOPK_DEVICE void take_window(const struct sharded_args &a, struct sharded_row *state, const window_shared &s,
                             uint32_t total) {
    const uint32_t listed = s.samples[1] - s.samples[0];
    const int64_t end = state->kept_begin, expected = (state->own / total + 1) * listed;
    const bool serves =
        state->target >= 0 ? listed <= total / 2 : expected <= (a.capacity - end) / SHARDED_WINDOW_ROOM;
    if (!serves)
        return;
    TOPK_REACHED(REACHED_SHARDED_CUDA_WINDOW);
    if (state->target < 0)
        TOPK_REACHED(REACHED_SHARDED_CUDA_WINDOW_ALONE);
    state->target = end;
    state->list_first = s.digits[1];
    state->list_last = s.digits[0] < a.mask ? s.digits[0] : UINT32_MAX;
}

/* All threads, with the sample in the table. */
template <typename Element>
TOPK_DEVICE void window_of_sample(const struct sharded_args &a, struct sharded_row *state,
                                  const window_shared &s) {
    const struct bin_run run = bins_of_thread(a);
    uint32_t of_run = 0, total;
    for (uint32_t i = 0; i < run.count; i++)
        of_run += s.table[run.bin(a, i)];
    const uint32_t before = block_scan(s.scratch, of_run, &total);
    if (total < SHARDED_SAMPLE_LEAST)
        return;
    const float share = simt_float_divide((float)(state->k - state->better), (float)state->equal);
    const uint32_t mean = share < 1 ? (uint32_t)(share * (float)total) : total;
    const uint32_t variance = (uint32_t)((uint64_t)mean * (total - mean) / total);
    const uint32_t margin = SHARDED_WINDOW_DEVIATIONS * root_above(variance) + SHARDED_WINDOW_MORE;
    const uint32_t ends[2] = {mean > margin ? mean - margin : 0, mean + margin};
    if (simt_thread() == 0) {
        s.digits[0] = a.mask;
        s.digits[1] = s.samples[0] = 0;
        s.samples[1] = total;
    }
    simt_block_sync();
#pragma unroll
    for (uint32_t end = 0; end < 2; end++) {
        if (ends[end] == 0 || ends[end] < before || ends[end] >= before + of_run)
            continue;
        uint32_t i = 0, passed = before;
        for (; passed + s.table[run.bin(a, i)] <= ends[end]; i++)
            passed += s.table[run.bin(a, i)];
        s.digits[end] = run.bin(a, i);
        s.samples[end] = end == 0 ? passed : passed + s.table[run.bin(a, i)];
    }
    simt_block_sync();
    if (simt_thread() == 0)
        take_window(a, state, s, total);
}

template <typename Element>
TOPK_DEVICE void window_row(const struct sharded_args &a, const window_shared &s, int64_t row) {
    struct sharded_row *state = &a.states[row];
    const struct row r = row_at(a.rows, row);
    if (!state->open || state->own <= state->length / SHARDED_SAMPLED_SHARE || state->kept > 0 ||
        r.length < SHARDED_SAMPLED_LENGTH)
        return;
    clear_table<Element>(a, s.table);
    const interval<Element, false, false> in(a, s.table, state->low);
    count_sample<Element>(a, in, r);
    simt_block_sync();
    window_of_sample<Element>(a, state, s);
}

/* Before a count that lists: a block for each row. */
template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(SHARDED_THREADS, 1) void sharded_window(struct sharded_args a) {
    simt_arena arena = simt_shared_arena();
    const window_shared s = carve_window<Element>(arena, a.bins);
    if (!table_shape<Element>::LISTS || !is_begun(a))
        return;
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        window_row<Element>(a, s, row);
        simt_block_sync();
    }
}

#endif
