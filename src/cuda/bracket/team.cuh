/* SPDX-License-Identifier: Apache-2.0
 * What the blocks of a row tell each other: bins, and candidates. A block that is alone tells itself. */
#ifndef TOPK_SRC_CUDA_BRACKET_TEAM_CUH
#define TOPK_SRC_CUDA_BRACKET_TEAM_CUH

#include "../simt/grid.cuh"
#include "bins.cuh"

/* How often the blocks of a row have met. Bins of three turns are in use: those that are added to, those that
 * may still be read, and those that are being cleared. */
struct team_turn {
    uint32_t meetings;

    TOPK_MEMBER uint32_t bins(void) const {
        return meetings % BRACKET_TURNS;
    }
};

/* Begins to clear what the blocks of a row share: nobody waits yet. All threads of all blocks. */
template <typename Task> TOPK_DEVICE simt_grid_arrival begin_team(const Task &t) {
    if (!t.arrives())
        return simt_grid_arrival();
    if (t.is_alone())
        return simt_grid_arrive();
    uint64_t *const state = (uint64_t *)t.state();
    const uint32_t words = sizeof(struct bracket_state) / sizeof *state;
    for (uint32_t i = t.share.block * simt_threads() + simt_thread(); i < words;
         i += t.share.blocks * simt_threads())
        simt_store_relaxed(&state[i], (uint64_t)0);
    return simt_grid_arrive();
}

/* All blocks have begun, and what they share is clear. All threads of all blocks. */
template <typename Task> TOPK_DEVICE void await_team(const Task &t, simt_grid_arrival begun) {
    if (t.arrives())
        simt_grid_wait(begun);
}

/* The blocks of the row meet; they then see what all did before. All threads. */
template <typename Task> TOPK_DEVICE void meet_team(const Task &t, struct team_turn *turn) {
    turn->meetings++;
    simt_block_sync();
    if (t.is_alone())
        return;
    if (simt_thread() == 0) {
        const uint32_t all = turn->meetings * t.share.blocks;
        uint32_t *arrivals = &t.state()->arrivals;
        simt_fence_device();
        simt_atomic_add(arrivals, 1u);
        while (simt_load_acquire(arrivals) < all)
            ;
    }
    simt_warp_sync(SIMT_ALL_LANES); /* a barrier for lanes that have parted is code in another place */
    simt_block_sync();
}

TOPK_DEVICE void clear_turn(struct bracket_bins *bins) {
    for (uint32_t bin = simt_thread(); bin < SELECT_BINS_MAX; bin += simt_threads())
        simt_store_relaxed(&bins->bins[bin], 0u);
    if (simt_thread() == 0) {
        simt_store_relaxed(&bins->is_short, 0u);
        simt_store_relaxed(&bins->beyond_least, (uint64_t)0);
        simt_store_relaxed(&bins->greatest, (uint64_t)0);
    }
}

/* Clears the bins of the turn after this one: before each meeting but a row's first two, whose bins and the
 * next ones are clear. All threads. */
template <typename Task> TOPK_DEVICE void clear_next_turn(const Task &t, const struct team_turn &turn) {
    if (!t.is_alone() && t.leads())
        clear_turn(&t.state()->turns[(turn.bins() + 1) % BRACKET_TURNS]);
}

/* Adds the block's bins to the row's, and clears them. All threads, after a barrier. */
template <typename Element, typename Shape>
TOPK_DEVICE void tell_bins(const bracket_task<Element, Shape> &t, const struct team_turn &turn) {
    if (t.is_alone() || simt_thread() >= SELECT_BINS_MAX / 4)
        return;
    uint32_t *const to = &t.state()->turns[turn.bins()].bins[4 * simt_thread()];
    const simt_u32x4 held = take_quad(t.m.quads, simt_thread());
    if (held.x != 0)
        simt_atomic_add(&to[0], held.x);
    if (held.y != 0)
        simt_atomic_add(&to[1], held.y);
    if (held.z != 0)
        simt_atomic_add(&to[2], held.z);
    if (held.w != 0)
        simt_atomic_add(&to[3], held.w);
}

/* Four bins of the row. A block that is alone clears them. */
template <typename Element, typename Shape>
TOPK_DEVICE simt_u32x4 hear_quad(const bracket_task<Element, Shape> &t, uint32_t bins, uint32_t quad) {
    if (t.is_alone())
        return take_quad(t.m.quads, quad);
    const uint32_t *from = &t.state()->turns[bins].bins[4 * quad];
    return simt_u32x4{simt_load_relaxed(from), simt_load_relaxed(from + 1), simt_load_relaxed(from + 2),
                      simt_load_relaxed(from + 3)};
}

/* Makes the row's bins the block's, once the team has met. All threads. */
template <typename Element, typename Shape>
TOPK_DEVICE void hear_bins(const bracket_task<Element, Shape> &t, uint32_t bins) {
    if (t.is_alone())
        return;
    if (simt_thread() < SELECT_BINS_MAX / 4)
        t.m.quads[simt_thread()] = hear_quad(t, bins, simt_thread());
    simt_block_sync();
}

#endif
