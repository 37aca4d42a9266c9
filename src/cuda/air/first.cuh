/* SPDX-License-Identifier: Apache-2.0
 * The first pass sees every element. */
#ifndef TOPK_SRC_CUDA_AIR_FIRST_CUH
#define TOPK_SRC_CUDA_AIR_FIRST_CUH

#include "state.cuh"

/* A multiprocessor of sm_75 has 1024 threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
static const int FIRST_BLOCKS = 2;
#else
static const int FIRST_BLOCKS = AIR_FIRST_BLOCKS_PER_SM;
#endif

/* Every row begins with all of its elements as candidates. WHERE: even if not all count. */
template <typename Element, bool WHERE>
TOPK_DEVICE struct air_state begin_row(const struct air_args &a, int64_t row, const struct row &r) {
    struct air_state state = {};
    bool beyond = !WHERE && a.target.kind == TARGET_KTH && r.wanted > r.length; /* the k-th is padding */
    state.range = whole_range<Element>((uint64_t)r.k, (uint64_t)r.length);
    bool decided = !WHERE && is_decided(a.digits, state.range, 8 * sizeof(Element));
    state.phase = r.k == 0 || beyond ? AIR_DONE : decided ? AIR_DECIDED : AIR_OPEN;
    if (simt_block() == 0 && simt_thread() == 0) {
        a.states[row].range = state.range;
        a.states[row].phase = state.phase;
        if (a.target.kind == TARGET_KTH && state.phase == AIR_DONE)
            write_kth_padding<Element>(a, row, r, WHERE ? 0 : r.length);
        else if (a.target.kind == TARGET_KTH && decided)
            write_kth_class<Element>(a, row, state.range, r.k);
    }
    return state;
}

template <typename Element, bool WHERE>
TOPK_DEVICE void first_pass(const struct air_args &a, int64_t row, const matcher<Element, WHERE> &predicate,
                            const block_shared<Element> &s) {
    struct row r = row_at(a.rows, row);
    if (predicate.none)
        r.k = 0;
    const struct air_state state = begin_row<Element, WHERE>(a, row, r);
    if (state.phase != AIR_OPEN)
        return;
    simt_block_sync(); /* the bins are clear */
    count_row<Element, true, false>(source_of(a.rows, r, predicate), among_all_blocks(),
                                    code_range_of<Element>(a.rows.map, state.range),
                                    digit_counter{a.digit, s.digit.bins});
    (void)retire<WHERE>(a, row, false, s);
}

/* WHERE, here and elsewhere: elements that do not meet the call's predicate do not count. */
template <typename Element, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(AIR_THREADS,
                        WHERE ? AIR_BLOCKS_PER_SM : FIRST_BLOCKS) void air_first(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    block_shared<Element> s = carve_block<Element>(arena, AIR_THREADS / SIMT_WARP, 0);
    clear_bins(s.digit.bins, a.digit.mask + 1);
    if (WHERE && simt_thread() == 0)
        s.digit.bins[OTHER_BIN] = 0;
    for_shared_rows<Element, WHERE, TOPK_PATH(REACHED_AIR_FIRST_NEXT_ROW)>(
        a, [&](int64_t row, const matcher<Element, WHERE> &predicate)
               TOPK_LAMBDA { first_pass(a, row, predicate, s); });
}

#endif
