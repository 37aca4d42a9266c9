/* SPDX-License-Identifier: Apache-2.0
 * Writing results, padding and k-th elements, for every type and index width. */
#ifndef TOPK_SRC_CPU_OUTPUT_H
#define TOPK_SRC_CPU_OUTPUT_H

#include <string.h>

#include "../context.h"
#include "../workspace.h"
#include "kernels/kernels.h"

/* Bits of element `at` of an array of elements that are 1, 2, 4 or 8 bytes wide. */
static inline uint64_t read_element(const void *elements, int64_t at, size_t element_bytes) {
    switch (element_bytes) {
    case 1:
        return ((const uint8_t *)elements)[at];
    case 2:
        return ((const uint16_t *)elements)[at];
    case 4:
        return ((const uint32_t *)elements)[at];
    default:
        return ((const uint64_t *)elements)[at];
    }
}

static inline void store_element(void *elements, int64_t at, size_t element_bytes, uint64_t bits) {
    switch (element_bytes) {
    case 1:
        ((uint8_t *)elements)[at] = (uint8_t)bits;
        break;
    case 2:
        ((uint16_t *)elements)[at] = (uint16_t)bits;
        break;
    case 4:
        ((uint32_t *)elements)[at] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)elements)[at] = bits;
    }
}

/* Where the elements of a row, or the candidates taken from it, are found by slot. */
struct source {
    const void *values;    /* element of each slot */
    const void *positions; /* position in the row of each slot */
    size_t position_bytes; /* 4 or 8; 0: a slot is its position, `positions` is not read */
};

/* out[i] = elements[slots[i]]. */
void topk_cpu_gather_elements(const void *elements, size_t element_bytes, const uint32_t *slots, size_t count,
                              void *out);

/* Writes the results slots[0 .. count) to slots at, at + 1, ... of the output. `row_begin` is the
 * row's first element in the input. */
void topk_cpu_write_slots(const struct call *call, int64_t at, const struct source *source, int64_t row_begin,
                          const uint32_t *slots, size_t count);

/* The same of the indices alone. */
void topk_cpu_write_indices(const struct call *call, int64_t at, const struct source *source,
                            int64_t row_begin, const uint32_t *slots, size_t count);

/* Writes one result. */
void topk_cpu_write_result(const struct call *call, int64_t at, int64_t row_begin, int64_t position);

/* Elements of one row that lie side by side, and which of them are results: `count` of them. */
struct masked {
    uint64_t *mask;
    size_t words, count;
    size_t element;   /* the first, in values */
    int64_t position; /* of that, in the row */
};

/* Writes these results, in their order, to slots at, at + 1, ... of the output. */
void topk_cpu_write_masked(const struct call *call, const struct masked *from, int64_t at);

/* Fills slots at, at + 1, ... of the output with this index and the padding value. */
void topk_cpu_fill_slots(const struct call *call, int64_t at, int64_t count, int64_t index);

/* Fills the slots of a row from `filled` to k_max. */
void topk_cpu_write_padding(const struct call *call, int64_t row, size_t filled);

/* A search for the k-th element counts from the nearer end of the row's ranking: the k-th best is the
 * (length + 1 - k)-th of the reversed order. */
struct kth_search {
    size_t k;
    bool reversed;
    const struct order *order; /* the plan's, or the reversed one */
    const struct key_map *map;
    struct order reversed_order; /* made only if the search is reversed */
    struct key_map reversed_map;
};

void topk_cpu_kth_reverse(const struct plan *plan, size_t length, struct kth_search *search);

static inline void topk_cpu_kth_search(const struct plan *plan, size_t length, size_t k,
                                       struct kth_search *search) {
    search->k = k;
    search->reversed = length >= REVERSED_ROW_MIN && length + 1 - k < k;
    search->order = &plan->order;
    search->map = &plan->map;
    if (search->reversed) {
        topk_cpu_kth_reverse(plan, length, search);
    }
}

/* Turns what was found in the order of the search into the order of the problem. */
static inline void topk_cpu_kth_found(const struct kth_search *search, size_t length, struct kth *kth) {
    if (search->reversed) {
        kth->key ^= topk_ones(topk_type_traits(search->order->type).bits);
        kth->above = length - kth->above - kth->equal;
    }
}

/* The call for one of each row's ranks alone: k is that rank, and results go to its slots. */
struct call topk_cpu_rank_call(const struct call *call, int64_t rank);

/* Results of topk_kth for a row that has a k-th element, and for one that has not. */
void topk_cpu_write_kth(const struct call *call, int64_t row, const struct kth *kth);
void topk_cpu_write_kth_padding(const struct call *call, int64_t row, int64_t k, int64_t length);

#endif
