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

/* One for each operation. */
void topk_cpu_compact_where(struct job *job);
void topk_cpu_compact_count(struct job *job);
void topk_cpu_compact_mask(struct job *job);

#endif
