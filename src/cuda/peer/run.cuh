/* SPDX-License-Identifier: Apache-2.0
 * The three steps of a run: kernels.h says why they are right. */
#ifndef TOPK_SRC_CUDA_PEER_RUN_CUH
#define TOPK_SRC_CUDA_PEER_RUN_CUH

#include "copy.cuh"
#include "wait.cuh"

/* Where the block of rank `from` lies in the buffer of rank `at`, in that run. */
TOPK_DEVICE unsigned char *peer_slot(const struct peer_args &a, uint32_t at, uint32_t from, uint64_t run) {
    return a.buffers[at] + run % 2 * a.half_bytes + from * a.slot_bytes;
}

/* How many ranks this one stores to, and gets blocks from. */
TOPK_DEVICE uint32_t peer_targets(const struct peer_args &a) {
    return a.root == TOPK_PEER_ALL ? a.ranks - 1 : (uint32_t)a.root != a.rank;
}

TOPK_DEVICE uint32_t peer_sources(const struct peer_args &a) {
    return a.root == TOPK_PEER_ALL || (uint32_t)a.root == a.rank ? a.ranks : 0;
}

/* Ranks begin with different ones, so that not all store to the same. */
TOPK_DEVICE uint32_t peer_target(const struct peer_args &a, uint32_t number) {
    return a.root == TOPK_PEER_ALL ? (a.rank + 1 + number) % a.ranks : (uint32_t)a.root;
}

TOPK_DEVICE void peer_store_to(const struct peer_args &a, uint64_t run, uint32_t target,
                               struct peer_share share) {
    unsigned char *slot = peer_slot(a, target, a.rank, run);
    for (uint32_t i = 0; i < a.count; i++) {
        const struct peer_args_part &part = a.parts[i];
        peer_copy(slot + part.at, part.block + target * part.stride, part.bytes, share);
    }
}

/* The numbers of all ranks, in the order of ranks. */
TOPK_DEVICE uint64_t peer_combine(const struct peer_args &a, uint64_t run, uint64_t number) {
    uint64_t result = 0;
    for (uint32_t rank = 0; rank < a.ranks; rank++) {
        const unsigned char *block = rank == a.rank ? a.parts[0].block : peer_slot(a, a.rank, rank, run);
        const uint64_t next = ((const uint64_t *)block)[number];
        if (a.adds)
            result += next;
        else if (rank == 0 || (int64_t)next > (int64_t)result)
            result = next;
    }
    return result;
}

TOPK_DEVICE void peer_take_numbers(const struct peer_args &a, uint64_t run, bool intact,
                                   struct peer_share share) {
    uint64_t *numbers = (uint64_t *)a.parts[0].out;
    for (uint64_t i = share.first; i < a.parts[0].bytes / sizeof *numbers; i += share.step)
        numbers[i] = intact ? peer_combine(a, run, i) : (uint64_t)-2;
}

/* The blocks of that rank, or what stands for them. */
TOPK_DEVICE void peer_take_from(const struct peer_args &a, uint64_t run, bool intact, uint32_t rank,
                                struct peer_share share) {
    for (uint32_t p = 0; p < a.count; p++) {
        const struct peer_args_part &part = a.parts[p];
        unsigned char *to = part.out + rank * part.out_stride;
        if (!intact) {
            for (uint64_t i = share.first; i < part.bytes; i += share.step)
                to[i] = 0xfe;
        } else if (rank == a.rank) {
            peer_copy(to, part.block + rank * part.stride, part.bytes, share);
        } else {
            peer_copy(to, peer_slot(a, a.rank, rank, run) + part.at, part.bytes, share);
        }
    }
}

/* Blocks share what goes to a rank; the grid's rows are the ranks. The last block that has stored sets the
 * flags. */
TOPK_KERNEL TOPK_BOUNDS(PEER_THREADS, 1) void peer_store(TOPK_CONSTANT_ARGS struct peer_args a) {
    struct peer_control *control = peer_control_of(a);
    const uint64_t run = control->runs + 1;
    bool is_last = false;
    if (control->state != 0)
        return;
    if (simt_block_y() < peer_targets(a))
        peer_store_to(a, run, peer_target(a, simt_block_y()), peer_share_of_grid());
    simt_block_sync();
    if (simt_thread() == 0) {
        simt_fence_system();
        is_last = simt_atomic_ticket(&control->ticket) + 1 == simt_blocks() * simt_blocks_y();
        if (is_last)
            simt_store_relaxed(&control->ticket, 0);
    }
    if (simt_block_count(is_last) != 0)
        peer_announce(a, run);
}

/* One block. */
TOPK_KERNEL TOPK_BOUNDS(PEER_THREADS, 1) void peer_wait(TOPK_CONSTANT_ARGS struct peer_args a) {
    struct peer_control *control = peer_control_of(a);
    const uint64_t run = control->runs + 1;
    const bool intact = control->state == 0;
    simt_block_sync(); /* all have read the state */
    if (intact)
        (void)peer_wait_for_all(a, run);
    if (simt_thread() == 0)
        control->runs = run;
}

/* The grid's rows are the ranks whose blocks are taken; numbers have one row. */
TOPK_KERNEL TOPK_BOUNDS(PEER_THREADS, 1) void peer_take(TOPK_CONSTANT_ARGS struct peer_args a) {
    struct peer_control *control = peer_control_of(a);
    const bool intact = control->state == 0;
    if (a.combines)
        peer_take_numbers(a, control->runs, intact, peer_share_of_grid());
    else
        peer_take_from(a, control->runs, intact, simt_block_y(), peer_share_of_grid());
}

/* All three steps, by one block. */
TOPK_KERNEL TOPK_BOUNDS(PEER_THREADS, 1) void peer_whole(TOPK_CONSTANT_ARGS struct peer_args a) {
    struct peer_control *control = peer_control_of(a);
    const uint64_t run = control->runs + 1;
    const struct peer_share share = peer_share_of_grid();
    bool intact = control->state == 0;
    simt_block_sync(); /* all have read the state */
    if (intact) {
        for (uint32_t i = 0; i < peer_targets(a); i++)
            peer_store_to(a, run, peer_target(a, i), share);
        simt_block_sync();
        peer_announce(a, run);
        intact = peer_wait_for_all(a, run);
    }
    if (a.combines)
        peer_take_numbers(a, run, intact, share);
    else
        for (uint32_t rank = 0; rank < peer_sources(a); rank++)
            peer_take_from(a, run, intact, rank, share);
    if (simt_thread() == 0)
        control->runs = run;
}

#endif
