/* SPDX-License-Identifier: Apache-2.0
 * From a threshold to results: collecting the winners in position order, sorting and writing them. */
#ifndef TOPK_SRC_CPU_WINNERS_H
#define TOPK_SRC_CPU_WINNERS_H

#include "../matcher.h"
#include "scratch.h"

#define UNCOUNTED SIZE_MAX

/* A row under way. */
struct bracket {
    const struct call *call;
    const struct kernels *kernels;
    const struct matcher *matcher; /* or NULL */
    const struct scratch *scratch;
    const struct kth_search *search; /* of kth, or NULL */
    const struct order *order;       /* of the problem, or of the search */
    const struct key_map *map;
    const struct point_map *point_map;
    const void *elements; /* of the row */
    size_t n, k;          /* k <= n; of kth in the order of the search */
    size_t eligible; /* how many elements may be selected: n; with a matcher UNCOUNTED until k has to fit */
    int64_t row;
    int64_t begin; /* of the row, in values */
};

/* True if the results of the row are sorted as lists (sort.h): no slots name them. */
static inline bool is_listed(const struct bracket *b) {
    return b->scratch->lists[0].entries != NULL && b->k >= LISTED_MIN;
}

/* The k best of the pool, whose `tiles` tiles hold `candidates` elements: those above the threshold
 * key, and the first of those equal to it. Leaves k slots of the pool in scratch->slots[0], in position
 * order. */
void topk_cpu_winners_from_pool(const struct bracket *b, size_t tiles, size_t candidates, struct threshold t);

/* All t.above candidates of the pool, and the first k - t.above elements of the row that equal t.key, whose
 * numbers the tiles of `tile_elements` hold; these are added to the pool. Results by position are merged, all
 * others have the candidates before the ties. */
void topk_cpu_winners_from_plateau(const struct bracket *b, size_t tiles, size_t tile_elements,
                                   struct threshold t);

/* Adds those elements of the row to the pool, and does no more. */
void topk_cpu_winners_add_ties(const struct bracket *b, size_t tiles, size_t tile_elements,
                               struct threshold t);

/* The k best of the row itself, likewise. Leaves slots of the row in scratch->slots[0]; of a wide row, whose
 * positions slots cannot hold, it moves the winners to the pool first. Of a listed row they are in the pool
 * alone. */
void topk_cpu_winners_from_row(const struct bracket *b, struct threshold t);

/* Sorts the slots if the order asks for it and writes the results. `source` is what slots refer to. */
void topk_cpu_winners_write(const struct bracket *b, const struct source *source);

static inline struct source pool_source(const struct scratch *scratch) {
    return (struct source){scratch->pool_values, scratch->pool_positions, scratch->position_bytes};
}

static inline struct source row_source(const struct bracket *b) {
    return b->scratch->position_bytes == 8 ? pool_source(b->scratch) : (struct source){b->elements, NULL, 0};
}

#endif
