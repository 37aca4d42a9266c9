/* SPDX-License-Identifier: Apache-2.0
 * A state of shards on the CPU. */
#ifndef TOPK_SRC_CPU_SHARDED_STATE_H
#define TOPK_SRC_CPU_SHARDED_STATE_H

#include "../../sharded.h"
#include "../../workspace.h"
#include "../kernels/kernels.h"

struct sharded_header {
    uint64_t magic;   /* of a state that was begun */
    uint64_t problem; /* fingerprint of the problem that it was begun for */
    int64_t step;     /* counts and advances so far; a count of all parts is one */
    int64_t parts;    /* counted in this round */
    int64_t selected; /* parts whose results have been written */
};

#define SHARDED_MAGIC 0x746f706b73686431u /* "topkshd1" */

/* Which elements of a unit are above the k-th, which are equal to it, and which meet the predicate. */
struct sharded_masks {
    uint64_t *above, *equal, *matches;
};

/* What a thread counts in, zeros between uses; the keys that it finds in a tile; masks of a unit. */
struct sharded_scratch {
    uint32_t *tables;
    void *keys;
    struct sharded_masks masks;
};

/* A state over its memory. What depends on the context comes last. */
struct sharded_state {
    const struct sharded *s;
    struct sharded_header *header;
    struct sharded_row *rows;
    struct sharded_written *written; /* of each row */
    int64_t *own;                    /* rows x bins: this shard's part of the counters of the round */
    char *kept;                      /* rows x capacity keys */
    char *scratch;                   /* of each thread */
    size_t scratch_bytes;
    int threads;
    size_t bytes;
};

/* Over NULL it is measured. */
struct sharded_state topk_cpu_sharded_lay_out(const struct sharded *s, void *memory);

/* Numbers of a table: the bins, and one for keys outside of the interval, in whole cache lines. */
static inline size_t topk_cpu_sharded_pitch(const struct sharded *s) {
    return (size_t)s->bins + TOPK_WORKSPACE_LINE / sizeof(uint32_t);
}

struct sharded_scratch topk_cpu_sharded_scratch(const struct sharded_state *state, int thread);

/* Counts the rows of a state that are open. */
void topk_cpu_sharded_count(const struct sharded_state *state, int round, const topk_input *input,
                            int64_t *counters);

/* Writes the results of the part: s->part, whose k_max is the pitch. */
void topk_cpu_sharded_select(const struct sharded_state *state, const topk_input *input,
                             const int64_t *before, void *values, void *indices);

#endif
