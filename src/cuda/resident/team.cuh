/* SPDX-License-Identifier: Apache-2.0
 * The blocks that hold a row together: one, or a cluster. What they do together is the same code for both.
 *
 * Blocks of a cluster write to the shared memory of each other, and read their own alone. So whatever one
 * writes to another is read after the next sync_team(), and no block has to stay when it has nothing more to
 * do.
 */
#ifndef TOPK_SRC_CUDA_RESIDENT_TEAM_CUH
#define TOPK_SRC_CUDA_RESIDENT_TEAM_CUH

#include "../select/entries.cuh"
#include "../select/share.cuh"
#include "sizes.h"

/* One block. POSITIONS: of a kernel that writes results by position. That is one of its own, since what it
 * does takes registers that other orders have a use for. */
template <bool POSITIONS> struct block_team_of {
    static const bool IS_CLUSTER = false, BY_POSITION = POSITIONS;
    static const uint32_t SAMPLE_LANES = 4; /* the most lanes that share a sample */

    static TOPK_MEMBER uint32_t rank(void) {
        return 0;
    }
    static TOPK_MEMBER uint32_t blocks(void) {
        return 1;
    }
    /* Each of these two has its wait(), after which all blocks have come to it: they have begun, and they
     * have done what they wrote to others before arrive(). There is a barrier of the block in arrive(). All
     * threads.
     */
    static TOPK_MEMBER void begin(void) {
    }
    static TOPK_MEMBER void arrive(void) {
        simt_block_sync();
    }
    static TOPK_MEMBER void wait(void) {
    }
};

/* A cluster, of a power of two of blocks. */
template <bool POSITIONS> struct cluster_team_of {
    static const bool IS_CLUSTER = true, BY_POSITION = POSITIONS;
    static const uint32_t SAMPLE_LANES = SIMT_WARP;

    static TOPK_MEMBER uint32_t rank(void) {
        return simt_cluster_rank();
    }
    static TOPK_MEMBER uint32_t blocks(void) {
        return simt_cluster_size();
    }
    static TOPK_MEMBER void begin(void) {
        simt_cluster_arrive_relaxed();
    }
    /* The fence of an arrival waits for all that the multiprocessor has under way, and each warp that makes
     * one pays for it. One is enough: it publishes what its warp has met, which is all that the block wrote.
     */
    static TOPK_MEMBER void arrive(void) {
        simt_block_sync();
        simt_warp() == 0 ? simt_cluster_arrive() : simt_cluster_arrive_relaxed();
    }
    static TOPK_MEMBER void wait(void) {
        simt_cluster_wait();
    }
};

typedef block_team_of<false> block_team;
typedef cluster_team_of<false> cluster_team;

/* arrive() and wait(). */
template <typename Team> TOPK_DEVICE void sync_team(void) {
    Team::arrive();
    Team::wait();
}

/* Number of the warp in the team, and how many warps it has. */
template <typename Team> TOPK_DEVICE uint32_t warp_of_team(void) {
    return Team::rank() * simt_warps() + simt_warp();
}

template <typename Team> TOPK_DEVICE uint32_t warps_of_team(void) {
    return Team::blocks() * simt_warps();
}

/* The block's number in its team, and how many blocks that has. */
template <typename Team> TOPK_DEVICE struct share share_of_team(void) {
    return share{Team::rank(), Team::blocks()};
}

/* Puts a value into an array of some block. */
template <typename Team, typename Value>
TOPK_DEVICE void put_in_block(const simt_shared<Value> &array, uint32_t block, uint32_t slot, Value value) {
    if constexpr (Team::IS_CLUSTER)
        simt_remote_store(simt_shared_of_rank(array, block), slot, value);
    else
        array[slot] = value;
}

/* Puts an entry into the list of the first block. */
template <typename Team, bool TWO>
TOPK_DEVICE void put_in_first(const entry_list<TWO> &list, uint32_t slot, struct entry e) {
    if constexpr (Team::IS_CLUSTER) {
        simt_remote_store(simt_shared_of_rank(list.high, 0), slot, e.high);
        if (TWO)
            simt_remote_store(simt_shared_of_rank(list.low, 0), slot, e.low);
    } else {
        list.put(slot, e);
    }
}

#endif
