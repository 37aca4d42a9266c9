/* SPDX-License-Identifier: Apache-2.0
 * The first pass counts the first digit, of all elements or of those in the range that a sample has drawn.
 * Few are then in the range, so a tile takes few instructions for each element. */
#ifndef TOPK_SRC_CUDA_RADIK_FIRST_CUH
#define TOPK_SRC_CUDA_RADIK_FIRST_CUH

#include "state.cuh"

template <typename Element, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(RADIK_THREADS, RADIK_FIRST_BLOCKS_PER_SM) void radik_first(struct radik_args a) {
    simt_arena arena = simt_shared_arena();
    const struct pass_memory m = carve_pass(arena, a.digits.bits);
    clear_pass(m, a.digits.bits);
    simt_block_sync();
    for_tasks<Element, WHERE, TOPK_PATH(REACHED_RADIK_FIRST_NEXT_ROW)>(
        a, m, false, [&](const part_task<Element, WHERE> &t, uint64_t phase) TOPK_LAMBDA {
            if (a.target.kind == TARGET_OUTPUTS) /* who writes results of fewer matches pads more */
                pad_row<Element>(a.rows, t.part.of.row, t.r, t.part.share);
            if ((phase == RADIK_DONE || phase == RADIK_ORDERED) && t.part.share.block == 0 &&
                simt_thread() == 0)
                simt_atomic_add(a.tasks.finished, (uint64_t)1);
            if (phase != RADIK_OPEN)
                return;
            const key_digit<Element> digit = t.digit();
            const uint32_t above = count_part<false>(t, digit);
            (void)retire(t, digit, above, false);
        });
}

#endif
