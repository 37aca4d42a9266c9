/* SPDX-License-Identifier: Apache-2.0
 * The best elements that a thread has seen of a subrange. */
#ifndef TOPK_SRC_CUDA_DRTOPK_BEST_CUH
#define TOPK_SRC_CUDA_DRTOPK_BEST_CUH

#include "subranges.cuh"

/* The first `count` of at most BETA, the best first; of equal keys the one that came first. */
template <typename Element, uint32_t BETA> struct best_seen {
    typedef key_word_t<Element> word;
    word keys[BETA];
    uint32_t offsets[BETA];
    uint32_t count;

    static TOPK_MEMBER best_seen none(void) {
        best_seen best;
#pragma unroll
        for (uint32_t b = 0; b < BETA; b++) {
            best.keys[b] = 0;
            best.offsets[b] = 0;
        }
        best.count = 0;
        return best;
    }
    /* Elements come in the order of offsets. */
    TOPK_MEMBER void see(word key, uint32_t offset) {
        bool before = BETA - 1 >= count || key > keys[BETA - 1];
#pragma unroll
        for (uint32_t b = BETA - 1; b > 0; b--) {
            const bool before_next = b - 1 >= count || key > keys[b - 1];
            keys[b] = before_next ? keys[b - 1] : before ? key : keys[b];
            offsets[b] = before_next ? offsets[b - 1] : before ? offset : offsets[b];
            before = before_next;
        }
        keys[0] = before ? key : keys[0];
        offsets[0] = before ? offset : offsets[0];
        count = count < BETA ? count + 1 : BETA;
    }
    TOPK_MEMBER void drop_first(void) {
#pragma unroll
        for (uint32_t b = 1; b < BETA; b++) {
            keys[b - 1] = keys[b];
            offsets[b - 1] = offsets[b];
        }
        count--;
    }
};

#endif
