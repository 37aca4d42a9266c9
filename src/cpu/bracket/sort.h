/* SPDX-License-Identifier: Apache-2.0
 * Many results of a row, put in order and written by a team. */
#ifndef TOPK_SRC_CPU_SORT_H
#define TOPK_SRC_CPU_SORT_H

#include "winners.h"

/* Where the results lie, in the order of their positions: first what the tiles list in the pool, then `rest`
 * more, which end with the array. There may be more than k of them; the worst are left out. */
struct results {
    const void *values;
    const uint32_t *positions; /* NULL: a result's slot is where it lies in `values` */
    const struct tile *tiles;
    size_t tile_count, listed, rest;
    struct source source; /* of slots, when all is sorted */
};

/* From one key to another. */
struct key_span {
    uint64_t low, high;
};

/* True if `entries` results are sorted at once: then no span is asked for. */
bool topk_cpu_sorts_at_once(const struct bracket *b, size_t entries);

/* Sorts the results and writes the first b->k. Most keys should lie within the span, which only changes how
 * long it takes. */
void topk_cpu_sort_results(const struct bracket *b, const struct results *results, struct key_span span);

#endif
