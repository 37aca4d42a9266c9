/* SPDX-License-Identifier: Apache-2.0
 * How a call finds its state, and leaves it. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_OPEN_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_OPEN_CUH

#include "../../reached.h"
#include "../rows.cuh"
#include "kernels.h"

/* Without a branch between the loads. */
TOPK_DEVICE bool is_state_of(const struct accumulate_header *header, uint64_t problem) {
    const uint64_t magic = simt_load_relaxed(&header->magic), of = header->problem;
    return (magic == ACCUMULATE_OPEN) & (of == problem);
}

TOPK_DEVICE bool agree(uint32_t payload, uint32_t other) {
    return (payload == PAYLOAD_UNKNOWN) | (other == PAYLOAD_UNKNOWN) | (payload == other);
}

/* Whether the states are what the call says, and payload is given always or never. */
TOPK_DEVICE bool is_sound(const struct accumulate_args &a) {
    const struct accumulate_header *to = a.state.header, *from = a.other.header;
    const uint32_t payload = to->payload;
    const bool is_ours = is_state_of(to, a.problem), agrees = agree(payload, (uint32_t)a.payload);
    const bool is_open = is_ours & agrees;
    return from == nullptr ? is_open
                           : is_open && is_state_of(from, a.problem) && agree(payload, from->payload);
}

/* Leaves a state that is not sound: no later call takes it for one, but init. All blocks call this, and
 * return. */
TOPK_DEVICE void break_state(const struct accumulate_args &a) {
    struct accumulate_header *header = a.state.header;
    if (simt_block() != 0 || simt_block_y() != 0 || simt_thread() != 0)
        return;
    TOPK_REACHED(REACHED_ACCUMULATE_BROKEN);
    simt_store_relaxed(&header->magic, (uint64_t)ACCUMULATE_BROKEN);
    header->selects = header->is_open = 0;
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
    const uint32_t payload = a.other.header != nullptr ? a.other.header->payload
                             : a.has_elements          ? (uint32_t)a.payload
                                                       : (uint32_t)PAYLOAD_UNKNOWN;
    if (payload != PAYLOAD_UNKNOWN)
        header->payload = payload;
    header->selects = selects;
    header->is_open = 1;
    simt_store_relaxed(&header->rows_done, (uint64_t)0);
    if (a.ends)
        simt_store_relaxed(&header->magic, (uint64_t)ACCUMULATE_FINISHED);
}

#endif
