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

/* The rings of a block, each of SLOTS slots of CHUNK groups of 16 bytes. With SLOTS == 0 the launch gives
 * their number, a power of two, and with CHUNK == 0 their groups. */
template <uint32_t CHUNK, uint32_t SLOTS> struct warp_rings {
    static const uint32_t SLOTS_OF_WARP = SLOTS, GROUPS_OF_SLOT = CHUNK, GROUPS_OF_WARP = SLOTS * CHUNK;
    uint32_t given, given_chunk;
    simt_shared<simt_u32x4> groups;
    simt_shared<simt_mbarrier> barriers; /* of each slot */

    /* Makes the warp's ring, once in a launch. All lanes. */
    TOPK_MEMBER void make(void) const {
        if (simt_lane() == 0)
            simt_mbarrier_init(barriers, simt_warp() * slots(), slots(), 1);
        simt_warp_sync(SIMT_ALL_LANES);
    }
    /* Begins to copy `count` groups, at least one, into the next slot, behind its first `lead` groups. All
     * lanes, which have left what is there. */
    TOPK_MEMBER void copy(struct ring_turns *turns, const simt_u32x4 *from, uint32_t count,
                          uint32_t lead = 0) const {
        const uint32_t slot = slot_of(turns->copied++);
        simt_bulk_copy(groups, slot * chunk() + lead, from, count, barriers, slot);
    }
    /* The same without any groups. All lanes. */
    TOPK_MEMBER void copy_nothing(struct ring_turns *turns) const {
        const uint32_t slot = slot_of(turns->copied++);
        if (simt_lane() == 0)
            simt_mbarrier_arrive(barriers, slot);
    }
    /* Waits for the next slot, and returns its first group. All lanes. */
    TOPK_MEMBER uint32_t take(struct ring_turns *turns) const {
        const uint32_t turn = turns->taken++, slot = slot_of(turn);
        simt_mbarrier_wait(barriers, slot, SLOTS != 0 ? turn / slots() % 2 : (turn & given) != 0);
        return slot * chunk();
    }

  private:
    TOPK_MEMBER uint32_t chunk(void) const {
        return CHUNK != 0 ? CHUNK : given_chunk;
    }
    TOPK_MEMBER uint32_t slots(void) const {
        return SLOTS != 0 ? SLOTS : given;
    }
    /* Among the block's. */
    TOPK_MEMBER uint32_t slot_of(uint32_t turn) const {
        return simt_warp() * slots() + (SLOTS != 0 ? turn % slots() : turn & (given - 1));
    }
};

/* The rings of `warps` warps; Rings is a type of warp_rings. */
template <typename Rings>
TOPK_HOST_DEVICE Rings carve_rings(simt_arena &arena, uint32_t warps, uint32_t given = 0,
                                   uint32_t given_chunk = 0) {
    const uint32_t slots = warps * (Rings::SLOTS_OF_WARP != 0 ? Rings::SLOTS_OF_WARP : given);
    Rings r;
    r.given = given;
    r.given_chunk = given_chunk;
    r.groups = simt_carve<simt_u32x4>(
        arena, slots * (Rings::GROUPS_OF_SLOT != 0 ? Rings::GROUPS_OF_SLOT : given_chunk), 128);
    r.barriers = simt_carve<simt_mbarrier>(arena, slots);
    return r;
}

#endif
