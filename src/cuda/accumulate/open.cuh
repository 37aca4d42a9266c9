/* SPDX-License-Identifier: Apache-2.0
 * How a call finds its state, and leaves it. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_OPEN_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_OPEN_CUH

#include "../../reached.h"
#include "../rows.cuh"
#include "known.cuh"

TOPK_DEVICE bool agree(uint32_t payload, uint32_t other) {
    return (payload == PAYLOAD_UNKNOWN) | (other == PAYLOAD_UNKNOWN) | (payload == other);
}

/* A copy of what the first words of a state say. */
struct known_header {
    uint64_t magic, problem;
    uint32_t payload, selects;

    static TOPK_MEMBER known_header of(const struct accumulate_header *at) {
        known_header now;
        now.magic = simt_load_relaxed(&at->magic);
        now.problem = simt_load_relaxed(&at->problem);
        now.payload = simt_load_relaxed(&at->payload);
        now.selects = simt_load_relaxed(&at->selects);
        return now;
    }
    /* From words that lanes have loaded: see load_known(). */
    static TOPK_MEMBER known_header of_words(simt_shared<uint64_t> words) {
        return known_header{words[KNOWN_OF_ROW], words[KNOWN_OF_ROW + 1], (uint32_t)words[KNOWN_OF_ROW + 2],
                            (uint32_t)words[KNOWN_OF_ROW + 3]};
    }
    /* Whether it is open, of that problem, and such a payload is given always or never. Without a branch. */
    TOPK_MEMBER bool takes(uint64_t of_problem, uint32_t of_payload) const {
        return (magic == ACCUMULATE_OPEN) & (problem == of_problem) & agree(payload, of_payload);
    }
    /* Whether what was selected from the chunk before waits to be added. */
    TOPK_MEMBER bool waits(const struct accumulate_args &a) const {
        return a.state.ways_out == nullptr && selects != 0;
    }
};

/* Whether the states are what the call says. */
TOPK_DEVICE bool is_sound(const struct accumulate_args &a) {
    const struct known_header to = known_header::of(a.state.header);
    const bool is_open = to.takes(a.problem, (uint32_t)a.payload);
    return a.other.header == nullptr
               ? is_open
               : is_open && known_header::of(a.other.header).takes(a.problem, to.payload);
}

/* Leaves a state that is not sound: no later call takes it for one, but init. All blocks call this, and
 * return. */
TOPK_DEVICE void break_state(const struct accumulate_args &a) {
    struct accumulate_header *header = a.state.header;
    if (simt_block() != 0 || simt_block_y() != 0 || simt_thread() != 0)
        return;
    TOPK_REACHED(REACHED_ACCUMULATE_BROKEN);
    simt_store_relaxed(&header->magic, (uint64_t)ACCUMULATE_BROKEN);
    simt_store_relaxed(&header->selects, 0u);
    header->is_open = 0;
}

/* Whether all rows are done once this block has done `rows` more of them: then it sees what other blocks
 * wrote. One thread, which has met its block. */
TOPK_DEVICE bool is_last_of_rows(const struct accumulate_args &a, uint64_t rows) {
    if (rows == (uint64_t)a.rows.rows)
        return true;
    if (rows == 0)
        return false;
    simt_fence_device();
    const uint64_t before = simt_atomic_add(&a.state.header->rows_done, rows);
    simt_fence_device();
    return before + rows == (uint64_t)a.rows.rows;
}

/* What the last block of a call leaves. One thread. */
TOPK_DEVICE void leave_state(const struct accumulate_args &a, uint32_t selects) {
    struct accumulate_header *header = a.state.header;
    const uint32_t payload = a.other.header != nullptr ? a.other.header->payload : (uint32_t)a.payload;
    if (payload != PAYLOAD_UNKNOWN)
        simt_store_relaxed(&header->payload, payload);
    simt_store_relaxed(&header->selects, selects);
    header->is_open = 1;
    simt_store_relaxed(&header->rows_done, (uint64_t)0);
    if (a.ends)
        simt_store_relaxed(&header->magic, (uint64_t)ACCUMULATE_FINISHED);
}

#endif
