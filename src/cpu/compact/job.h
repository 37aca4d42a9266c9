/* SPDX-License-Identifier: Apache-2.0
 * What the operations of the method have in common: threads draw units and make the masks of their
 * pieces. */
#ifndef TOPK_SRC_CPU_COMPACT_JOB_H
#define TOPK_SRC_CPU_COMPACT_JOB_H

#include "../matcher.h"
#include "units.h"

/* A thread's own. */
struct unit_masks {
    uint64_t mask[UNIT_WORDS];
    uint32_t counts[PIECES_MAX];
};

struct job {
    const struct call *call;
    struct matcher matcher;
    struct units units;
    struct unit_masks *masks; /* one for each thread */
    int threads;
};

/* Makes the mask of a piece; returns how many of its elements match. */
static inline size_t mask_piece(const struct job *job, const struct piece *piece, uint64_t *mask) {
    struct matcher own;
    return topk_cpu_matcher_mask(topk_cpu_matcher_at(job->call, &job->matcher, piece->row, &own),
                                 piece->element, (size_t)piece->count, mask);
}

/* One for each operation. */
void topk_cpu_compact_where(struct job *job);
void topk_cpu_compact_count(struct job *job);
void topk_cpu_compact_mask(struct job *job);

#endif
