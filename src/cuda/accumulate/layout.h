/* SPDX-License-Identifier: Apache-2.0
 * What an accumulator on a GPU chooses, and where everything lies in its state. Over NULL it is measured. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_LAYOUT_H
#define TOPK_SRC_CUDA_ACCUMULATE_LAYOUT_H

#include "../../accumulator.h"
#include "kernels.h"

/* Places of candidates by their position, and the k best of them. */
/* And of rows that are settled apart, the best of all candidates. */
enum { SORTED, BEST, KEPT };

struct layout {
    struct accumulate_state state;
    size_t kept_bytes;
    void *scratch;
    size_t bytes;
};

/* What a push needs besides, over the scratch. */
struct push_scratch {
    struct match *match; /* of bounds that the device reads */
    void *selection;     /* its workspace */
    void *merge;         /* of what settles rows */
    uint64_t *bars;
    size_t bytes;
};

/* And results. */
struct write_scratch {
    void *selections[2]; /* workspaces: SORTED, BEST */
    int64_t *positions, *places, *sorted;
    void *arranged;
    size_t bytes;
};

/* Chooses of_candidates[]. */
topk_status topk_cuda_accumulate_choose(struct accumulator *a);
void topk_cuda_accumulate_measure(struct accumulator *a);

/* Whether a selection finds the best of a chunk. */
bool topk_cuda_accumulate_selects(const struct accumulator *a);

/* Whether launches of their own settle rows. */
bool topk_cuda_accumulate_is_apart(const struct accumulator *a);

/* Blocks that share a row of a chunk, at most. */
int64_t topk_cuda_accumulate_blocks_of_row(const struct accumulator *a);

/* What another state is read for. */
struct accumulate_state topk_cuda_accumulate_take(struct arena *arena, const struct accumulator *a);

struct layout topk_cuda_accumulate_layout(const struct accumulator *a, void *memory);

struct push_scratch topk_cuda_accumulate_push_scratch(const struct accumulator *a,
                                                      const struct subcall *inner, void *scratch);
struct write_scratch topk_cuda_accumulate_write_scratch(const struct accumulator *a, void *scratch);

#endif
