/* SPDX-License-Identifier: Apache-2.0
 * A ring of a warp's own in shared memory: bulk copies fill its slots in turn, and the warp works on one
 * while the others are on their way. Warps do not wait for each other. */
#ifndef TOPK_SRC_CUDA_SELECT_RING_CUH
#define TOPK_SRC_CUDA_SELECT_RING_CUH

#include "../simt.cuh"

/* What a warp has copied into its ring and taken out of it since the launch began. */
struct ring_turns {
    uint32_t copied, taken;
};

/* The rings of a block, each of SLOTS slots of CHUNK groups of 16 bytes. */
template <uint32_t CHUNK, uint32_t SLOTS> struct warp_rings {
    static const uint32_t SLOTS_OF_WARP = SLOTS, GROUPS_OF_WARP = SLOTS * CHUNK;
    simt_shared<simt_u32x4> groups;
    simt_shared<simt_mbarrier> barriers; /* of each slot */

    /* Makes the warp's ring, once in a launch. All lanes. */
    TOPK_MEMBER void make(void) const {
        if (simt_lane() == 0)
            simt_mbarrier_init(barriers, simt_warp() * SLOTS, SLOTS, 1);
        simt_warp_sync(SIMT_ALL_LANES);
    }
    /* Begins to copy `count` groups, at least one, into the next slot. All lanes, which have left what is
     * there. */
    TOPK_MEMBER void copy(struct ring_turns *turns, const simt_u32x4 *from, uint32_t count) const {
        const uint32_t slot = slot_of(turns->copied++);
        simt_bulk_copy(groups, slot * CHUNK, from, count, barriers, slot);
    }
    /* Waits for the next slot, and returns its first group. All lanes. */
    TOPK_MEMBER uint32_t take(struct ring_turns *turns) const {
        const uint32_t turn = turns->taken++, slot = slot_of(turn);
        simt_mbarrier_wait(barriers, slot, turn / SLOTS % 2);
        return slot * CHUNK;
    }

  private:
    /* Among the block's. */
    static TOPK_MEMBER uint32_t slot_of(uint32_t turn) {
        return simt_warp() * SLOTS + turn % SLOTS;
    }
};

/* The rings of so many warps; Rings is a type of warp_rings. */
template <typename Rings> TOPK_HOST_DEVICE Rings carve_rings(simt_arena &arena, uint32_t warps) {
    Rings r;
    r.groups = simt_carve<simt_u32x4>(arena, warps * Rings::GROUPS_OF_WARP, 128);
    r.barriers = simt_carve<simt_mbarrier>(arena, warps * Rings::SLOTS_OF_WARP);
    return r;
}

#endif
