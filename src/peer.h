/* SPDX-License-Identifier: Apache-2.0
 * Exchanges through peer memory: what a backend does. */
#ifndef TOPK_SRC_PEER_H
#define TOPK_SRC_PEER_H

#include "context.h"
#include "topk_peer.h"

/* What becomes of the blocks that arrive. */
enum peer_result { PEER_COPIES, PEER_SUM, PEER_MOST };

/* What goes together. */
struct peer_part {
    const void *block; /* the one for rank 0 */
    size_t bytes;      /* of a block, at least 1 */
    void *out;
};

/* The runs of one call, validated. */
struct peer_run {
    const topk_context *context;
    topk_peer_group group;
    enum peer_result result;
    int root;            /* or TOPK_PEER_ALL */
    bool has_own_blocks; /* for each rank, one behind the other; else all ranks get the same */
    struct peer_part parts[TOPK_PEER_PARTS_MAX];
    int count; /* of parts, at least 1; numbers are one */
    topk_stream stream;
};

/* Sorted lists that go where they are merged. */
struct peer_lists {
    struct peer_run run;           /* moves values and indices; no parts if there is nothing to move */
    int root;                      /* or TOPK_PEER_ALL, TOPK_PEER_OWNER */
    int64_t rows, length;          /* of all ranks; slots of a list */
    int64_t first_row, block_rows; /* the first row that this rank gets; how many a rank gets, at most */
    const void *values, *indices;  /* this rank's */
    bool follows;                  /* the stream's latest work is a kernel of ours */
};

enum { PEER_SLOT_BYTES = 16 }; /* of a candidate on its way */

/* Candidates that one rank can send to another one in a run, through group->lists. */
static inline size_t peer_list_slots(const topk_peer_group *group) {
    return group->lists == NULL ? 0 : group->list_bytes / (2 * PEER_SLOT_BYTES * (size_t)group->ranks);
}

struct peering {
    topk_status (*run)(const struct peer_run *run);
    topk_status (*status)(const topk_context *context, const topk_peer_group *group, topk_peer_report *report,
                          topk_stream stream);
};

/* 0: none. */
static inline uint64_t peer_timeout_ns(const topk_peer_group *group) {
    const uint64_t ms = (uint64_t)group->timeout_ms, ns = 1000000;
    return ms > UINT64_MAX / ns ? UINT64_MAX : ms * ns;
}

/* A buffer has two halves. Each run uses one of them, by turns. */
static inline size_t peer_half_bytes(const topk_peer_group *group) {
    return group->buffer_bytes / 2 & ~(size_t)15;
}

/* Where the next block of a slot begins. */
static inline size_t peer_round_up(size_t bytes) {
    return (bytes + 15) & ~(size_t)15;
}

/* The bytes of a block that one run has room for: longer blocks go in several runs. */
static inline size_t peer_piece_bytes(const topk_peer_group *group) {
    return peer_half_bytes(group) / (size_t)group->ranks & ~(size_t)15;
}

#endif
