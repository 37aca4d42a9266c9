/* SPDX-License-Identifier: Apache-2.0
 * How ranks tell each other where they are, and wait: kernels.h says why that is right. */
#ifndef TOPK_SRC_CUDA_PEER_WAIT_CUH
#define TOPK_SRC_CUDA_PEER_WAIT_CUH

#include "../simt/system.cuh"
#include "kernels.h"

/* Args: struct peer_args, or another one with rank, ranks, flags, abort and timeout_ns. */
template <typename Args> TOPK_DEVICE struct peer_control *peer_control_of(const Args &a) {
    return (struct peer_control *)(a.flags[a.rank] + TOPK_PEER_RANKS_MAX);
}

/* Sets this rank's flag at all others. By all threads of a block, after a barrier behind all that the flag
 * publishes. */
TOPK_DEVICE void peer_announce(const struct peer_args &a, uint64_t value) {
    if (simt_thread() < a.ranks)
        simt_fence_system();
    for (uint32_t to = simt_thread(); to < a.ranks; to += simt_threads())
        if (to != a.rank)
            simt_store_release_system(&a.flags[to][a.rank], value);
}

/* Why a wait that began then ends without what it is for: an outcome; or 0. */
template <typename Args> TOPK_DEVICE uint32_t peer_why_end(const Args &a, uint64_t begun) {
    const uint64_t waited = simt_nanoseconds() - begun;
    if (a.abort != nullptr && simt_load_acquire_system(a.abort) != 0)
        return TOPK_PEER_ABORTED;
    if (a.timeout_ns != 0 && waited >= a.timeout_ns)
        return TOPK_PEER_TIMED_OUT;
    if (simt_load_relaxed(&peer_control_of(a)->state) != 0)
        return TOPK_PEER_LEFT; /* another thread has said why */
    return TOPK_PEER_INTACT;
}

/* How a wait ends: 0, or an outcome. */
TOPK_DEVICE uint32_t peer_wait_for(const struct peer_args &a, uint32_t rank, uint64_t run) {
    const uint64_t *flag = &a.flags[a.rank][rank], begun = simt_nanoseconds();
    while (true) {
        for (uint32_t looks = 0; looks < PEER_LOOKS; looks++) {
            const uint64_t seen = simt_load_acquire_system(flag);
            if (seen >= run)
                return seen == PEER_GONE ? TOPK_PEER_LEFT : TOPK_PEER_INTACT;
        }
        const uint32_t outcome = peer_why_end(a, begun);
        if (outcome != TOPK_PEER_INTACT)
            return outcome;
    }
}

/* By one block. Whether the run is intact; if not, all ranks are told. */
TOPK_DEVICE bool peer_wait_for_all(const struct peer_args &a, uint64_t run) {
    struct peer_control *control = peer_control_of(a);
    bool failed = false;
    for (uint32_t rank = simt_thread(); rank < a.ranks; rank += simt_threads()) {
        const uint32_t outcome = rank == a.rank ? (uint32_t)TOPK_PEER_INTACT : peer_wait_for(a, rank, run);
        if (outcome != TOPK_PEER_INTACT) {
            (void)simt_atomic_max(&control->state, (uint64_t)outcome << 32 | rank);
            failed = true;
        }
    }
    if (simt_block_count(failed) == 0)
        return true;
    peer_announce(a, PEER_GONE);
    return false;
}

#endif
