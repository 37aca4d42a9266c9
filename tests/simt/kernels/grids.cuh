/* SPDX-License-Identifier: Apache-2.0
 * Kernels whose blocks work together through global memory. */
#ifndef TOPK_TESTS_SIMT_GRIDS_CUH
#define TOPK_TESTS_SIMT_GRIDS_CUH

#include "lookback.cuh"
#include "simt/grid.cuh"
#include "sums.cuh"

enum { BINS = 64 };

struct histogram_args {
    const uint32_t *in; /* n values, n a multiple of 4 */
    uint32_t n;
    uint32_t *partial; /* BINS counts for each block */
    uint32_t *ticket;  /* 0 before and after */
    uint32_t *out;     /* BINS counts */
};

TOPK_DEVICE void count_block(struct histogram_args args, simt_shared<uint32_t> bins) {
    for (uint32_t bin = simt_thread(); bin < BINS; bin += simt_threads())
        bins[bin] = 0;
    simt_block_sync();
    uint32_t step = simt_blocks() * simt_threads();
    for (uint32_t i = simt_block() * simt_threads() + simt_thread(); i < args.n / 4; i += step) {
        simt_u32x4 four = simt_load16(args.in + 4 * (uint64_t)i);
        simt_atomic_add(&bins[four.x % BINS], 1);
        simt_atomic_add(&bins[four.y % BINS], 1);
        simt_atomic_add(&bins[four.z % BINS], 1);
        simt_atomic_add(&bins[four.w % BINS], 1);
    }
    simt_block_sync();
}

/* True in the threads of the block that comes last, which then sees what all the others wrote. */
TOPK_DEVICE bool last_block(uint32_t *ticket, simt_shared<uint32_t> is_last) {
    simt_block_sync();
    if (simt_thread() == 0) {
        simt_fence_device();
        is_last[0] = simt_atomic_add(ticket, 1) == simt_blocks() - 1;
        simt_fence_device();
    }
    simt_block_sync();
    return is_last[0] != 0;
}

/* out = how often each value modulo BINS occurs: a histogram per block, summed by the last one. */
TOPK_KERNEL void histogram(struct histogram_args args) {
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> bins = simt_carve<uint32_t>(arena, BINS);
    simt_shared<uint32_t> is_last = simt_carve<uint32_t>(arena, 1);
    count_block(args, bins);
    for (uint32_t bin = simt_thread(); bin < BINS; bin += simt_threads())
        args.partial[simt_block() * BINS + bin] = bins[bin];
    if (!last_block(args.ticket, is_last))
        return;
    for (uint32_t bin = simt_thread(); bin < BINS; bin += simt_threads()) {
        uint32_t sum = 0;
        for (uint32_t block = 0; block < simt_blocks(); block++)
            sum += args.partial[block * BINS + bin];
        args.out[bin] = sum;
    }
    if (simt_thread() == 0)
        simt_store_relaxed(args.ticket, 0);
}

struct rounds_args {
    uint32_t *cells; /* one per block and round, and one for each block before them: 1 */
    uint32_t rounds;
};

/* Each round's cell of each block is the sum of the round before over all blocks. */
TOPK_KERNEL void grid_rounds(struct rounds_args args) {
    for (uint32_t round = 0; round < args.rounds; round++) {
        const uint32_t *before = args.cells + round * simt_blocks();
        if (simt_thread() == 0) {
            uint32_t sum = 0;
            for (uint32_t block = 0; block < simt_blocks(); block++)
                sum += before[block];
            args.cells[(round + 1) * simt_blocks() + simt_block()] = sum;
        }
        simt_grid_sync();
    }
}

struct look_back_args {
    const uint32_t *in; /* one value per thread of the grid */
    uint32_t *out;
    uint32_t *ticket; /* 0 */
    uint64_t *tiles;  /* one per block, 0 */
};

/* out = exclusive prefix sums over the whole grid, in one pass. A ticket orders the tiles, so that a block
 * waits only for blocks that have started. The flag travels with the sum in one word: no fence is needed. */
TOPK_KERNEL void look_back_scan(struct look_back_args args) {
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> sums = simt_carve<uint32_t>(arena, simt_warps());
    simt_shared<uint32_t> mine = simt_carve<uint32_t>(arena, 2);
    if (simt_thread() == 0)
        mine[0] = simt_atomic_add(args.ticket, 1);
    simt_block_sync();
    uint32_t tile = mine[0], i = tile * simt_threads() + simt_thread(), value = args.in[i];
    uint32_t before = block_exclusive_sum(value, sums);
    if (simt_thread() == simt_threads() - 1) {
        uint32_t sum = before + value;
        publish_tile(args.tiles, 1, tile, sum);
        mine[1] = (uint32_t)collect_tiles(args.tiles, 1, tile, sum);
    }
    simt_block_sync();
    args.out[i] = mine[1] + before;
}

struct distant_args {
    uint64_t *words; /* of `tiles` tiles, 0 */
    int64_t tiles;
    const int64_t *from; /* a tile for each warp */
    uint64_t *before;    /* a sum for each warp */
};

/* One block. Tile t has the sum t + 1; nobody has a prefix at first. before = the sum of all tiles before the
 * warp's. */
TOPK_KERNEL void distant_sums(struct distant_args args) {
    const struct sum_words words = sum_words_of(args.words, args.tiles);
    for (int64_t tile = simt_thread(); tile < args.tiles; tile += simt_threads())
        publish_sum(words, tile, (uint64_t)tile + 1);
    const int64_t tile = args.from[simt_warp()];
    uint64_t before = look_back(words, tile, (uint64_t)tile + 1, look_ahead(words, tile));
    if (simt_lane() == 0)
        args.before[simt_warp()] = before;
}

struct pipeline_args {
    uint32_t *cells;  /* one per block */
    uint32_t *flags;  /* one per block, 0 */
    uint32_t *ticket; /* 0 */
};

/* cells[i] = 1 + 2 + ... + (i + 1): block after block, handed on by release and acquire. */
TOPK_KERNEL void pipeline(struct pipeline_args args) {
    if (simt_thread() != 0)
        return;
    uint32_t turn = simt_atomic_add(args.ticket, 1), before = 0;
    if (turn > 0) {
        while (simt_load_acquire(&args.flags[turn - 1]) == 0)
            ;
        before = args.cells[turn - 1];
    }
    args.cells[turn] = before + turn + 1;
    simt_store_release(&args.flags[turn], 1);
}

struct relay_args {
    const uint32_t *in; /* one value per thread of the grid */
    uint32_t *out;
};

/* out = in of the block's mirror image, plus 1: a link of a chain of dependent launches. */
TOPK_KERNEL void relay(struct relay_args args) {
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> ready = simt_carve<uint32_t>(arena, 1);
    if (simt_thread() == 0)
        ready[0] = 0;
    simt_block_sync();
    if (simt_lane() == 0)
        simt_atomic_add(&ready[0], 1);
    simt_block_sync();
    simt_wait_predecessor();
    simt_allow_successor();
    uint32_t from = (simt_blocks() - 1 - simt_block()) * simt_threads() + simt_thread();
    args.out[simt_block() * simt_threads() + simt_thread()] = args.in[from] + (ready[0] == simt_warps());
}

#endif
