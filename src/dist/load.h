/* SPDX-License-Identifier: Apache-2.0
 * Pieces on their way to a device. A stream of the plan's own copies one into a buffer of the workspace,
 * while the run's stream selects from the one before. */
#ifndef TOPK_SRC_DIST_LOAD_H
#define TOPK_SRC_DIST_LOAD_H

#include "run.h"
#include "topk_transfer.h"

/* What a plan keeps for it. Buffers and events go in turns. On the CPU stream and events are NULL. */
struct topk_dist_load {
    topk_stream stream;
    topk_event begun;     /* a pass begins: what the run's stream did before is done */
    topk_event copied[2]; /* the piece is there */
    topk_event used[2];   /* and has been selected from */
    void *read[2];        /* on the host, where elements are read: pieces as the workspace has them */
    void *lengths;        /* and the lengths of rows, extents */
};

/* *plan->load, with all that it takes; and its end, after an error too. */
topk_status topk_dist_load_open(struct topk_dist_plan *plan);
void topk_dist_load_close(struct topk_dist_plan *plan);

/* The host's copy of input.lengths, for a rank that reads: waits for the run's stream. */
topk_status topk_dist_load_lengths(struct run *r);

/* A pass over all pieces begins. */
topk_status topk_dist_load_begin(const struct run *r);

/* Copies the piece: `length` elements of each row, which begin `stride` elements apart. The run's stream
 * waits for it. */
topk_status topk_dist_load_copy(const struct run *r, int64_t number, const void *from, int64_t stride,
                                int64_t length);

/* All work on the piece has been enqueued on the run's stream. */
topk_status topk_dist_load_used(const struct run *r, int64_t number);

/* The host waits until the piece has been copied, so that what it came from may change. */
topk_status topk_dist_load_wait(const struct run *r, int64_t number);

/* The run's stream waits for all copies: after an error, too. A status of the core's. */
topk_status topk_dist_load_end(const struct run *r);

#endif
