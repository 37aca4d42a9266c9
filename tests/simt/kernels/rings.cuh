/* SPDX-License-Identifier: Apache-2.0
 * Kernels that stream their input through rings of bulk copies. */
#ifndef TOPK_TESTS_SIMT_RINGS_CUH
#define TOPK_TESTS_SIMT_RINGS_CUH

#include "launch.cuh"

enum { RING_SLOTS = 2, SLOT_GROUPS = 40, SLOT_WORDS = 4 * SLOT_GROUPS };

struct ring_args {
    const uint32_t *in; /* SLOT_WORDS for each chunk */
    uint32_t chunks, rounds;
    uint32_t *out; /* a sum for each chunk, in each round */
};

struct ring {
    simt_shared<simt_u32x4> groups; /* of RING_SLOTS slots */
    simt_shared<simt_mbarrier> full, empty;
};

/* `rings` of them, one after another. */
TOPK_HOST_DEVICE struct ring carve_rings(simt_arena &arena, uint32_t rings) {
    struct ring r;
    r.full = simt_carve<simt_mbarrier>(arena, rings * RING_SLOTS);
    r.empty = simt_carve<simt_mbarrier>(arena, rings * RING_SLOTS);
    r.groups = simt_carve<simt_u32x4>(arena, rings * RING_SLOTS * SLOT_GROUPS, 128);
    return r;
}

TOPK_HOST_DEVICE uint32_t ring_bytes(uint32_t rings) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_rings(arena, rings);
    return arena.used_bytes;
}

/* What the groups that fall to one of `threads` threads add up to. The last one's words are read again, as
 * smaller elements. */
TOPK_DEVICE uint32_t sum_of_slot(simt_shared<simt_u32x4> groups, uint32_t slot, uint32_t thread,
                                 uint32_t threads) {
    simt_shared<uint16_t> halves = simt_shared_as<uint16_t>(groups);
    uint32_t sum = 0;
    for (uint32_t i = slot * SLOT_GROUPS + thread; i < (slot + 1) * SLOT_GROUPS; i += threads) {
        simt_u32x4 four = groups[i];
        sum += four.x + 3 * four.y + 5 * four.z + 7 * four.w + halves[8 * i + 2];
    }
    return sum;
}

/* Each warp has a ring of its own: out[chunk] = the weighted sum of the chunk. */
TOPK_KERNEL void rings_of_warps(struct ring_args args) {
    simt_arena arena = simt_shared_arena();
    struct ring r = carve_rings(arena, simt_warps());
    const uint32_t step = simt_blocks() * simt_warps(), first = simt_warp() * RING_SLOTS;
    uint32_t chunk = simt_block() * simt_warps() + simt_warp(), next = chunk;
    if (simt_lane() == 0)
        simt_mbarrier_init(r.full, first, RING_SLOTS, 1);
    simt_warp_sync(SIMT_ALL_LANES);
    for (uint32_t slot = first; slot < first + RING_SLOTS && next < args.chunks; slot++, next += step)
        simt_bulk_copy(r.groups, slot * SLOT_GROUPS, args.in + next * SLOT_WORDS, SLOT_GROUPS, r.full, slot);
    for (uint32_t turn = 0; chunk < args.chunks; turn++, chunk += step, next += step) {
        const uint32_t slot = first + turn % RING_SLOTS;
        simt_mbarrier_wait(r.full, slot, turn / RING_SLOTS % 2);
        uint32_t sum = simt_reduce_add(SIMT_ALL_LANES, sum_of_slot(r.groups, slot, simt_lane(), SIMT_WARP));
        simt_warp_sync(SIMT_ALL_LANES);
        if (next < args.chunks)
            simt_bulk_copy(r.groups, slot * SLOT_GROUPS, args.in + next * SLOT_WORDS, SLOT_GROUPS, r.full,
                           slot);
        if (simt_lane() == 0)
            args.out[chunk] = sum;
    }
}

/* The next of the block's chunks. */
TOPK_DEVICE void fill_slot(const struct ring_args &args, const struct ring &r, uint32_t turn,
                           uint32_t chunk) {
    const uint32_t slot = turn % RING_SLOTS;
    simt_mbarrier_wait(r.empty, slot, (turn / RING_SLOTS + 1) % 2); /* the phase before the first is over */
    simt_bulk_copy(r.groups, slot * SLOT_GROUPS, args.in + chunk * SLOT_WORDS, SLOT_GROUPS, r.full, slot);
}

/* One block, whose first warp fills the slots that all warps read. Between two rounds the ring's memory holds
 * sums: out[round * chunks + chunk] = the round + the weighted sum of the chunk. */
TOPK_KERNEL void ring_of_block(struct ring_args args) {
    simt_arena arena = simt_shared_arena();
    struct ring r = carve_rings(arena, 1);
    simt_shared<uint32_t> scratch = simt_shared_as<uint32_t>(r.groups);
    uint32_t filled = 0, read = 0;
    if (simt_thread() == 0) {
        simt_mbarrier_init(r.full, 0, RING_SLOTS, 1);
        simt_mbarrier_init(r.empty, 0, RING_SLOTS, simt_warps());
    }
    simt_block_sync();
    for (uint32_t round = 0; round < args.rounds; round++) {
        for (uint32_t chunk = 0, next = 0; chunk < args.chunks; chunk++, read++) {
            for (; simt_warp() == 0 && next < args.chunks && next < chunk + RING_SLOTS; next++)
                fill_slot(args, r, filled++, next);
            simt_mbarrier_wait(r.full, read % RING_SLOTS, read / RING_SLOTS % 2);
            simt_atomic_add(&args.out[round * args.chunks + chunk],
                            sum_of_slot(r.groups, read % RING_SLOTS, simt_thread(), simt_threads()));
            simt_warp_sync(SIMT_ALL_LANES);
            if (simt_lane() == 0)
                simt_mbarrier_arrive(r.empty, read % RING_SLOTS);
        }
        simt_block_sync();
        scratch[simt_thread()] = simt_thread() < args.chunks ? round : 0;
        simt_fence_bulk();
        simt_block_sync();
        if (simt_thread() < args.chunks)
            simt_atomic_add(&args.out[round * args.chunks + simt_thread()], scratch[simt_thread()]);
        simt_block_sync();
    }
}

#endif
