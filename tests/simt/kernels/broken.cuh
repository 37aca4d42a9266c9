/* SPDX-License-Identifier: Apache-2.0
 * Kernels with one mistake each, which `mended` takes out. */
#ifndef TOPK_TESTS_SIMT_BROKEN_CUH
#define TOPK_TESTS_SIMT_BROKEN_CUH

#include "launch.cuh"
#include "simt/grid.cuh"

enum { DATA_WORDS = 256 };

struct broken_args {
    bool mended;
    uint32_t *data; /* DATA_WORDS, one for each thread of the grid */
    uint32_t *word; /* one, 0 */
    uint32_t *out;  /* as many */
};

TOPK_DEVICE uint32_t grid_thread(void) {
    return simt_block() * simt_threads() + simt_thread();
}

/* The other thread of a pair in the block. */
TOPK_DEVICE uint32_t grid_partner(void) {
    return grid_thread() ^ 1;
}

TOPK_DEVICE uint32_t sum_of_data(const uint32_t *data) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < simt_blocks() * simt_threads(); i++)
        sum += data[i];
    return sum;
}

/* Thread 0 takes the ticket when the other threads may not have written. */
TOPK_KERNEL void ticket_without_barrier(struct broken_args args) {
    args.data[grid_thread()] = 1;
    if (args.mended)
        simt_block_sync();
    if (simt_thread() == 0) {
        simt_fence_device();
        bool last = simt_atomic_add(args.word, 1) == simt_blocks() - 1;
        simt_fence_device();
        if (last)
            args.out[0] = sum_of_data(args.data);
    }
}

TOPK_DEVICE void take_ticket(struct broken_args args, bool before, bool after) {
    args.data[grid_thread()] = 1;
    simt_block_sync();
    if (simt_thread() == 0) {
        if (before)
            simt_fence_device();
        bool last = simt_atomic_add(args.word, 1) == simt_blocks() - 1;
        if (after)
            simt_fence_device();
        if (last)
            args.out[0] = sum_of_data(args.data);
    }
}

TOPK_KERNEL void ticket_without_release(struct broken_args args) {
    take_ticket(args, args.mended, true);
}

TOPK_KERNEL void ticket_without_acquire(struct broken_args args) {
    take_ticket(args, true, args.mended);
}

/* What is written after the fence is not published by it. */
TOPK_KERNEL void write_after_fence(struct broken_args args) {
    if (simt_block() == 0 && simt_thread() == 0) {
        if (args.mended)
            args.data[0] = 7;
        simt_fence_device();
        if (!args.mended)
            args.data[0] = 7;
        simt_store_relaxed(args.word, 1);
    }
    if (simt_block() == 1 && simt_thread() == 0 && simt_load_acquire(args.word) == 1)
        args.out[0] = args.data[0];
}

/* One thread reads the count that another sets to zero for the next round. */
TOPK_KERNEL void zero_while_read(struct broken_args args) {
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> count = simt_carve<uint32_t>(arena, 1);
    if (simt_thread() == 0)
        count[0] = 0;
    simt_block_sync();
    for (uint32_t round = 0; round < 2; round++) {
        simt_atomic_add(&count[0], 1);
        simt_block_sync();
        args.out[grid_thread()] = count[0];
        if (args.mended)
            simt_block_sync();
        if (simt_thread() == simt_threads() - 1)
            count[0] = 0;
        simt_block_sync();
    }
}

enum { CANDIDATES = 16 };

/* More candidates than the buffer holds. */
TOPK_KERNEL void candidate_overflow(struct broken_args args) {
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> count = simt_carve<uint32_t>(arena, 1);
    simt_shared<uint32_t> candidates = simt_carve<uint32_t>(arena, CANDIDATES);
    if (simt_thread() == 0)
        count[0] = 0;
    simt_block_sync();
    uint32_t slot = simt_atomic_add(&count[0], 1);
    if (!args.mended || slot < CANDIDATES)
        candidates[slot] = simt_thread();
}

/* More arrays than the launch gives bytes. */
TOPK_KERNEL void arena_overflow(struct broken_args args) {
    simt_arena arena = simt_shared_arena();
    simt_carve<uint32_t>(arena, CANDIDATES);
    simt_shared<uint32_t> last = simt_carve<uint32_t>(arena, args.mended ? 1 : 2);
    if (simt_thread() == 0)
        last[0] = 1;
}

/* A lane reads what its neighbour wrote, after an operation of the warp that orders nothing. */
template <typename Operation>
TOPK_DEVICE void read_after(const struct broken_args &args, Operation operation) {
    args.data[grid_thread()] = 1;
    operation();
    if (args.mended)
        simt_warp_sync(SIMT_ALL_LANES);
    args.out[grid_thread()] = args.data[grid_partner()];
}

TOPK_KERNEL void read_after_shuffle(struct broken_args args) {
    read_after(args, [] { simt_shuffle_xor(SIMT_ALL_LANES, simt_lane(), 1); });
}

TOPK_KERNEL void read_after_ballot(struct broken_args args) {
    read_after(args, [] { simt_ballot(SIMT_ALL_LANES, true); });
}

TOPK_KERNEL void read_after_vote(struct broken_args args) {
    read_after(args, [] { simt_all(SIMT_ALL_LANES, true); });
}

TOPK_KERNEL void read_after_match(struct broken_args args) {
    read_after(args, [] { simt_match_any(SIMT_ALL_LANES, simt_lane()); });
}

TOPK_KERNEL void read_after_reduction(struct broken_args args) {
    read_after(args, [] { simt_reduce_add(SIMT_ALL_LANES, simt_lane()); });
}

/* A lane zeroes a count that the others have read before a ballot. */
TOPK_KERNEL void write_after_ballot(struct broken_args args) {
    const uint32_t first = grid_thread() - simt_lane();
    args.out[grid_thread()] = args.data[first];
    simt_ballot(SIMT_ALL_LANES, true);
    if (args.mended)
        simt_warp_sync(SIMT_ALL_LANES);
    if (simt_lane() == 0)
        args.data[first] = 0;
}

TOPK_KERNEL void mask_without_caller(struct broken_args args) {
    uint32_t mask = args.mended ? SIMT_ALL_LANES : 0xffffu;
    args.out[grid_thread()] = simt_ballot(mask, true);
}

TOPK_KERNEL void mask_of_returned_lane(struct broken_args args) {
    if (simt_lane() >= 20)
        return;
    uint32_t mask = args.mended ? (1u << 20) - 1 : SIMT_ALL_LANES;
    args.out[grid_thread()] = simt_ballot(mask, true);
}

/* The lanes of one warp on two lines, and each line waits for all. */
TOPK_KERNEL void mask_of_diverged_lane(struct broken_args args) {
    uint32_t low = 0xffffu;
    if (simt_lane() < 16)
        args.out[grid_thread()] = simt_ballot(args.mended ? low : SIMT_ALL_LANES, true);
    else
        args.out[grid_thread()] = simt_reduce_add(args.mended ? ~low : SIMT_ALL_LANES, 1);
}

TOPK_KERNEL void shuffle_from_outside(struct broken_args args) {
    uint32_t low = 0xffffu;
    if (simt_lane() < 16)
        args.out[grid_thread()] = simt_shuffle(low, simt_lane(), args.mended ? 15 : 16);
}

TOPK_KERNEL void barrier_of_returned_threads(struct broken_args args) {
    if (!args.mended && simt_thread() >= 40)
        return;
    simt_block_sync();
}

TOPK_KERNEL void barrier_in_branches(struct broken_args args) {
    if (args.mended)
        simt_block_sync();
    else if (simt_thread() < 40)
        simt_block_sync();
    else
        simt_block_sync();
}

/* A lane waits at the block barrier while the rest of its warp waits for it. */
TOPK_KERNEL void barrier_against_warp(struct broken_args args) {
    if (args.mended || simt_lane() != 5)
        simt_warp_sync(SIMT_ALL_LANES);
    simt_block_sync();
}

/* Every block waits for all: fine if the launch is cooperative. */
TOPK_KERNEL void spin_barrier(struct broken_args) {
    simt_grid_sync();
}

/* Block 0 reads what block 1 of its cluster holds, unless that has ended by then. */
TOPK_KERNEL void cluster_block_ended(struct broken_args args) {
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> value = simt_carve<uint32_t>(arena, 1);
    if (simt_thread() == 0)
        value[0] = simt_block();
    simt_cluster_sync();
    if (simt_cluster_rank() == 0)
        args.out[grid_thread()] = simt_remote_load(simt_shared_of_rank(value, 1), 0);
    if (args.mended)
        simt_cluster_sync();
}

/* A count that nobody set to zero. */
TOPK_KERNEL void read_before_write(struct broken_args args) {
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> count = simt_carve<uint32_t>(arena, 1);
    if (args.mended && simt_thread() == 0)
        count[0] = 0;
    simt_block_sync();
    simt_atomic_add(&count[0], 1);
}

/* The launch before a dependent one. */
TOPK_KERNEL void predecessor(struct broken_args args) {
    simt_allow_successor();
    args.data[grid_thread()] = 1;
}

TOPK_KERNEL void atomic_before_wait(struct broken_args args) {
    if (args.mended)
        simt_wait_predecessor();
    simt_atomic_add(args.word, 1);
    simt_wait_predecessor();
}

/* Plain accesses are seen as races with what came before. */
TOPK_KERNEL void read_before_wait(struct broken_args args) {
    if (args.mended)
        simt_wait_predecessor();
    uint32_t value = args.data[grid_thread()];
    simt_wait_predecessor();
    args.out[grid_thread()] = value;
}

/* The launch after this one would not wait for the one before it. */
TOPK_KERNEL void return_without_wait(struct broken_args args) {
    if (!args.mended && simt_block() == 3)
        return;
    simt_wait_predecessor();
}

/* The cache may hold what was there before the write, whatever comes between. */
TOPK_KERNEL void read_only_after_write(struct broken_args args) {
    args.data[grid_thread()] = 1;
    simt_block_sync();
    const uint32_t *from = args.data + grid_partner();
    args.out[grid_thread()] = args.mended ? *from : simt_load_read_only(from);
}

TOPK_KERNEL void write_after_read_only(struct broken_args args) {
    const uint32_t *from = args.data + grid_thread() / 4 * 4;
    args.out[grid_thread()] = args.mended ? simt_load16(from).w : simt_load16_read_only(from).w;
    simt_block_sync();
    args.data[grid_partner()] = 1;
}

TOPK_KERNEL void read_only_of_predecessor(struct broken_args args) {
    simt_wait_predecessor();
    const uint32_t *from = args.data + grid_partner();
    args.out[grid_thread()] = args.mended ? *from : simt_load_read_only(from);
}

/* A warp that polls by plain loads keeps the one that it waits for from running. */
TOPK_KERNEL void poll_by_plain_loads(struct broken_args args) {
    if (simt_lane() != 0 || simt_block() != 0)
        return;
    uint32_t *ask = args.word, *answer = args.data;
    if (simt_warp() == 1) {
        while (simt_load_relaxed(ask) != 1)
            ;
        simt_store_relaxed(answer, 1);
        return;
    }
    simt_store_relaxed(ask, 1);
    while ((args.mended ? simt_load_relaxed(answer) : *(volatile uint32_t *)answer) == 0)
        ;
}

TOPK_KERNEL void global_overflow(struct broken_args args) {
    args.out[grid_thread() + !args.mended] = 1;
}

TOPK_KERNEL void misaligned_load(struct broken_args args) {
    args.out[grid_thread()] = simt_load16(args.data + (args.mended ? 4 : 1)).x;
}

#endif
