/* SPDX-License-Identifier: Apache-2.0
 * All but counting: beginning a state, picking the bin with the k-th, results. */
#ifndef TOPK_SRC_CUDA_SHARDED_ADVANCE_CUH
#define TOPK_SRC_CUDA_SHARDED_ADVANCE_CUH

#include "count.cuh"

/* The call has no rows, and k alone. */
TOPK_DEVICE int64_t k_of(const struct row_args &a, int64_t row) {
    return a.k == nullptr ? a.k_max : clamp_extent(read_extent(a.k, row, a.wide_extents), a.k_max);
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(SHARDED_ROW_THREADS, 1) void sharded_begin(struct sharded_args a) {
    const int64_t thread = (int64_t)simt_block() * simt_threads() + simt_thread();
    if (thread == 0)
        *a.header = sharded_header{SHARDED_MAGIC, a.problem};
    for (int64_t row = thread; row < a.rows.rows; row += (int64_t)simt_blocks() * simt_threads())
        a.states[row] = sharded_row_begin(k_of(a.rows, row), 8 * sizeof(Element));
}

/* The bins of a thread, from the best one on. */
struct bin_run {
    uint32_t first, count;
    TOPK_MEMBER uint32_t bin(const struct sharded_args &a, uint32_t i) const {
        return a.mask - (first + i);
    }
};

TOPK_DEVICE struct bin_run bins_of_thread(const struct sharded_args &a) {
    const uint32_t each = (a.mask + simt_threads()) / simt_threads(), first = simt_thread() * each;
    const uint32_t left = first <= a.mask ? a.mask + 1 - first : 0;
    return {first, left < each ? left : each};
}

/* Elements of one code need not be read again: what is left of the shard is all of them, or none. */
TOPK_DEVICE void find_alone(struct sharded_row *state) {
    if ((state->ones | state->zeros) != 0 && (state->ones & state->zeros) == 0) {
        state->is_alone = 1;
        state->alone = state->low + state->ones;
    }
    state->ones = state->zeros = 0;
}

/* One thread has the bin of the k-th: it narrows the row down. `better`, `own`: in the bins before its own.
 */
TOPK_DEVICE void narrow_row(const struct sharded_args &a, int64_t row, const struct bin_run &run,
                            uint64_t need, uint64_t better, uint64_t own) {
    struct sharded_row state = a.states[row];
    find_alone(&state);
    const uint64_t *sums = a.sums + row * a.bins, *owns = a.own + row * a.bins;
    uint32_t i = 0;
    for (; i + 1 < run.count && better + sums[run.bin(a, i)] < need; i++) {
        better += sums[run.bin(a, i)];
        own += owns[run.bin(a, i)];
    }
    const uint32_t bin = run.bin(a, i);
    state.low |= (uint64_t)bin << a.shift;
    state.bits_left = a.shift;
    state.better += (int64_t)better;
    state.own_better += (int64_t)own;
    state.equal = (int64_t)sums[bin];
    state.own = (int64_t)owns[bin];
    sharded_row_plan(&state, a.capacity, !a.keeps || state.is_alone);
    a.states[row] = state;
}

/* Most counters of many rows are clear, and to read one is not to write it back. */
TOPK_DEVICE void clear(uint64_t *counter) {
    if (*counter != 0)
        *counter = 0;
}

TOPK_DEVICE void advance_row(const struct sharded_args &a, int64_t row, simt_shared<uint64_t> scratch) {
    const struct bin_run run = bins_of_thread(a);
    uint64_t of_all = 0, of_own = 0, total, own_total;
    bool negative = false;
    for (uint32_t i = 0; i < run.count; i++) {
        const uint64_t sum = a.sums[row * a.bins + run.bin(a, i)];
        negative |= (int64_t)sum < 0;
        of_all += sum;
        of_own += a.own[row * a.bins + run.bin(a, i)];
    }
    struct sharded_row *state = &a.states[row];
    const bool open = state->open != 0;
    const int64_t k = state->k;
    const uint64_t need = (uint64_t)(k - state->better);
    const uint64_t before = block_scan(scratch, of_all, &total);
    simt_block_sync();
    const uint64_t own_before = block_scan(scratch, of_own, &own_total);
    const bool is_broken = simt_block_count(negative) != 0; /* and all have read the state */
    if (is_broken) {
        if (simt_thread() == 0)
            sharded_row_break(state);
    } else if (a.is_first && open && (uint64_t)k > total) {
        if (simt_thread() == 0) {
            state->open = state->own = 0;
            state->better = (int64_t)total;
            state->own_better = (int64_t)own_total;
        }
    } else if (open) {
        const bool is_last = run.count > 0 && run.first + run.count == a.mask + 1;
        if (run.count > 0 && before < need && (need <= before + of_all || is_last))
            narrow_row(a, row, run, need, before, own_before);
    }
    simt_block_sync();
    for (uint32_t bin = simt_thread(); bin < a.bins; bin += simt_threads()) {
        clear(&a.own[row * a.bins + bin]);
        clear(&a.counters[row * a.bins + bin]);
    }
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(SHARDED_ADVANCE_THREADS, 1) void sharded_advance(struct sharded_args a) {
    simt_arena arena = simt_shared_arena();
    const simt_shared<uint64_t> scratch = simt_carve<uint64_t>(arena, SIMT_WARP);
    if (!is_begun(a))
        return;
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        advance_row(a, row, scratch);
        simt_block_sync();
    }
}

TOPK_DEVICE void store(int64_t *array, int64_t row, int64_t number) {
    if (array != nullptr)
        array[row] = number;
}

template <typename Element>
TOPK_DEVICE void write_row(const struct sharded_args &a, int64_t row, bool begun) {
    const int64_t broken = -2 /* or not known yet */, before = a.before == nullptr ? 0 : a.before[row];
    struct sharded_row state = {};
    if (begun)
        state = a.states[row];
    const int64_t known = begun && !sharded_row_is_broken(&state) ? sharded_row_known(&state) : broken;
    const bool all = known == 2;
    if (a.kth != nullptr)
        ((Element *)a.kth)[row] =
            (Element)(all && state.open ? decode_key(a.decode, state.low) : a.rows.padding);
    store(a.better, row, all ? state.better : broken);
    store(a.equal, row, all ? (state.open ? state.equal : 0) : broken);
    store(a.own_better, row, all ? state.own_better : broken);
    store(a.own_equal, row, all ? state.own : broken);
    store(a.own_k, row, known == 1 || (all && before >= 0) ? sharded_row_own_k(&state, before) : broken);
    store(a.after, row, all && before >= 0 ? before + state.own : broken);
    store(a.known, row, known);
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(SHARDED_ROW_THREADS, 1) void sharded_result(struct sharded_args a) {
    const bool begun = is_begun(a);
    const int64_t thread = (int64_t)simt_block() * simt_threads() + simt_thread();
    for (int64_t row = thread; row < a.rows.rows; row += (int64_t)simt_blocks() * simt_threads())
        write_row<Element>(a, row, begun);
}

#endif
