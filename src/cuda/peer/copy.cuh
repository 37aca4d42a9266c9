/* SPDX-License-Identifier: Apache-2.0
 * Copies of bytes, shared by the threads of a grid. */
#ifndef TOPK_SRC_CUDA_PEER_COPY_CUH
#define TOPK_SRC_CUDA_PEER_COPY_CUH

#include "../simt.cuh"
#include "sizes.h"

/* What a thread has of the work: items first, first + step, ... */
struct peer_share {
    uint64_t first, step;
};

/* Of what the blocks of a row of the grid do together. */
TOPK_DEVICE struct peer_share peer_share_of_grid(void) {
    return {(uint64_t)simt_block() * simt_threads() + simt_thread(),
            (uint64_t)simt_blocks() * simt_threads()};
}

TOPK_DEVICE simt_u32x4 peer_load16(const unsigned char *from, bool is_aligned) {
    const uint32_t *words = (const uint32_t *)from;
    return is_aligned ? simt_load16(from) : simt_u32x4{words[0], words[1], words[2], words[3]};
}

/* `to` is a multiple of 16, `from` one of 4. The loads come first: the compiler has to
 * take stores for stores to the loaded addresses. */
TOPK_DEVICE void peer_copy_groups(unsigned char *to, const unsigned char *from, uint64_t groups,
                                  struct peer_share share) {
    const bool is_aligned = (uintptr_t)from % sizeof(simt_u32x4) == 0;
    for (uint64_t i = share.first; i < groups; i += PEER_LOADS * share.step) {
        simt_u32x4 loaded[PEER_LOADS];
        for (uint32_t j = 0; j < PEER_LOADS; j++)
            if (i + j * share.step < groups)
                loaded[j] = peer_load16(from + (i + j * share.step) * sizeof loaded[j], is_aligned);
        for (uint32_t j = 0; j < PEER_LOADS; j++)
            if (i + j * share.step < groups)
                simt_store16(to + (i + j * share.step) * sizeof loaded[j], loaded[j]);
    }
}

TOPK_DEVICE void peer_copy(unsigned char *to, const unsigned char *from, uint64_t bytes,
                           struct peer_share share) {
    uint64_t done = 0;
    if ((uintptr_t)to % sizeof(simt_u32x4) == 0 && (uintptr_t)from % sizeof(uint32_t) == 0) {
        done = bytes & ~(uint64_t)(sizeof(simt_u32x4) - 1);
        peer_copy_groups(to, from, done / sizeof(simt_u32x4), share);
    } else if (((uintptr_t)to | (uintptr_t)from) % sizeof(uint32_t) == 0) {
        done = bytes & ~(uint64_t)(sizeof(uint32_t) - 1);
        for (uint64_t i = share.first; i < done / sizeof(uint32_t); i += share.step)
            ((uint32_t *)to)[i] = ((const uint32_t *)from)[i];
    }
    for (uint64_t i = done + share.first; i < bytes; i += share.step)
        to[i] = from[i];
}

#endif
