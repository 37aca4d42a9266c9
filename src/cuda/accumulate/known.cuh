/* SPDX-License-Identifier: Apache-2.0
 * What a block knows of a row of the state, and what blocks that share a row tell each other. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_KNOWN_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_KNOWN_CUH

#include "../rows.cuh"
#include "kernels.h"

/* A copy of what a row's words say. Threads that load it together have the same one. */
struct known_row {
    int64_t count, k;
    uint64_t bar_key;
    int64_t bar_position;
    bool has_bar;
    uint64_t placed;

    /* word(i): the i-th of the row's words. */
    template <typename Word> static TOPK_MEMBER known_row of_words(const Word &word) {
        known_row now;
        now.count = (int64_t)word(0);
        now.k = (int64_t)word(1);
        now.bar_key = word(2);
        now.bar_position = (int64_t)word(3);
        now.has_bar = word(4) != 0;
        now.placed = word(5);
        return now;
    }
    static TOPK_MEMBER known_row of(const struct accumulate_row &at) {
        return of_words([&](uint32_t i) TOPK_LAMBDA { return simt_load_relaxed(&at.count + i); });
    }
    /* One thread. */
    TOPK_MEMBER void store(struct accumulate_row &to) const {
        simt_store_relaxed(&to.count, (uint64_t)count);
        simt_store_relaxed(&to.k, (uint64_t)k);
        simt_store_relaxed(&to.bar_key, bar_key);
        simt_store_relaxed(&to.bar_position, (uint64_t)bar_position);
        simt_store_relaxed(&to.has_bar, (uint64_t)has_bar);
        simt_store_relaxed(&to.placed, placed);
    }
};

/* What a block knows of the state and a row, in shared memory: for the state and the row's words one warp's
 * lanes load one each, for all warps. */
enum { KNOWN_OF_ROW = 6, KNOWN_OF_STATE = KNOWN_OF_ROW + 4, KNOWN_WORDS = KNOWN_OF_STATE + 3 };

/* The lane's word of the state. */
TOPK_DEVICE uint64_t load_known(const struct accumulate_header *header, const struct accumulate_row *row) {
    const uint32_t lane = simt_lane();
    const uint64_t *words = lane < KNOWN_OF_ROW ? &row->count + lane : &header->magic + (lane - KNOWN_OF_ROW);
    const uint32_t *halves = lane == KNOWN_OF_ROW + 2 ? &header->payload : &header->selects;
    if (lane < KNOWN_OF_ROW + 2)
        return simt_load_relaxed(words);
    return lane < KNOWN_OF_STATE ? simt_load_relaxed(halves) : 0;
}

/* Before a barrier of the block; `of_lane` is that word. All threads. */
TOPK_DEVICE void put_known(simt_shared<uint64_t> known, uint64_t of_lane, const struct row &r) {
    if (simt_thread() < KNOWN_OF_STATE)
        known[simt_lane()] = of_lane;
    if (simt_thread() != 0)
        return;
    known[KNOWN_OF_STATE] = (uint64_t)r.begin;
    known[KNOWN_OF_STATE + 1] = (uint64_t)r.length;
    known[KNOWN_OF_STATE + 2] = (uint64_t)r.wanted;
}

TOPK_DEVICE struct known_row row_in_state(simt_shared<uint64_t> known) {
    return known_row::of_words([&](uint32_t i) TOPK_LAMBDA { return (uint64_t)known[i]; });
}

TOPK_DEVICE struct row row_of_chunk(simt_shared<uint64_t> known) {
    const int64_t length = (int64_t)(uint64_t)known[KNOWN_OF_STATE + 1];
    const int64_t wanted = (int64_t)(uint64_t)known[KNOWN_OF_STATE + 2];
    return {(int64_t)(uint64_t)known[KNOWN_OF_STATE], length, wanted < length ? wanted : length, wanted};
}

/* Of a row, in one word: slots behind its candidates that blocks have taken, perhaps more than there are; how
 * many of its blocks are done with it; and how many of these have found no room. */
struct taken_slots {
    static const uint64_t BLOCK = (uint64_t)1 << 40, FULL = (uint64_t)1 << 52;
    uint64_t word;

    TOPK_MEMBER uint64_t slots(void) const {
        return word % BLOCK;
    }
    TOPK_MEMBER uint64_t blocks(void) const {
        return word % FULL / BLOCK;
    }
    TOPK_MEMBER bool is_full(void) const {
        return word >= FULL;
    }
};

/* Slots behind a row's candidates, without those for what blocks hold back. */
TOPK_DEVICE int64_t room_of(const struct accumulate_args &a, const struct known_row &now) {
    return a.state.candidates.pitch - a.state.reserve - now.count;
}

#endif
