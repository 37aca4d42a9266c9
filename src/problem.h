/* SPDX-License-Identifier: Apache-2.0
 * A problem after validation: what the caller asked for, with everything derived from it once. */
#ifndef TOPK_SRC_PROBLEM_H
#define TOPK_SRC_PROBLEM_H

#include <stddef.h>

#include "keys.h"
#include "operations.h"
#include "topk.h"
#include "tuning.h"

struct plan {
    /* A copy. row_stride is resolved; length_max is what rows can hold: at most elements_max, where there is
     * one. method and tuning are still the caller's. */
    topk_problem problem;
    topk_operation operation;
    bool approximate; /* max_iterations, epsilon or epsilon_relative is set */
    struct order order;
    struct key_map map;
    struct point_map point_map;
    unsigned element_bits;
    size_t element_bytes;
    size_t index_bytes;
    size_t extent_bytes;
    size_t input_elements;  /* elements that rows can reach in values */
    size_t output_elements; /* rows x k_max; 0 unless the k best are written */
    int64_t ranks;          /* of each row: 1 unless problem.ranks says more */
    int64_t k_pitch;        /* entries of input.k from one row to the next: 1 without problem.ranks */
    size_t k_entries;       /* of input.k */
    uint64_t padding;       /* bits of the padding value */
    /* Of kth inside another call: it may find, in place of the k-th key, a bound that the k best reach and at
     * most this number of elements besides. Then `better` counts the elements above a range of keys that
     * begins with the bound, and `equal` the elements in it. */
    uint64_t surplus;
};

/* One row of the input at run time. */
struct row_extent {
    int64_t begin;  /* first element in values */
    int64_t length; /* elements, 0 to length_max */
};

/* Validates `problem` for `operation` and fills *plan. */
topk_status topk_plan_make(topk_operation operation, const topk_problem *problem, struct plan *plan);

/* A buffer of a call, for validation. */
struct buffer {
    const char *name;
    const void *data;
    size_t bytes;
    size_t alignment; /* a power of two */
    bool required;    /* if it has any bytes */
    bool output;
};

/* The buffers of a call that it touches, or would. */
enum { BUFFERS_MAX = 20 };
struct buffer_list {
    size_t count;
    struct buffer list[BUFFERS_MAX];
};

static inline void buffer_list_add(struct buffer_list *buffers, struct buffer buffer) {
    if ((buffer.data != NULL || buffer.required) && buffer.bytes > 0) {
        buffers->list[buffers->count++] = buffer;
    }
}

/* NULL, misaligned and overlapping buffers. */
topk_status topk_check_buffers(const struct buffer_list *buffers);

/* Copies an input that a caller gives. A predicate, a routing and lists in it must be NULL. */
topk_status topk_read_input(const topk_input *caller, topk_input *input);

/* Adds the buffers of an input, and checks that the arrays fit the shape. */
topk_status topk_check_input(const struct plan *plan, const topk_input *input, bool values_required,
                             struct buffer_list *buffers);

/* Bytes of count elements; *overflow is set, and never cleared, if they exceed 2^63 - 1. */
size_t topk_checked_bytes(int64_t count, size_t element_bytes, bool *overflow);

/* The workspace that a method may ask for while another can serve (CONTRACT.md 7.2); it saturates. */
static inline size_t plan_workspace_bound(const struct plan *plan) {
    size_t slots, bound; /* topk_kth() counts, though it writes no slots: it may have to keep them */
    if (__builtin_mul_overflow((size_t)plan->problem.rows, (size_t)plan->problem.k_max, &slots) ||
        __builtin_mul_overflow(slots, (size_t)24, &bound) ||
        __builtin_add_overflow(bound, plan->input_elements * plan->element_bytes / 8 + (32u << 20), &bound)) {
        return SIZE_MAX;
    }
    return bound;
}

/* What a method keeps to where it can do with less workspace. */
static inline size_t plan_workspace_limit(const struct plan *plan) {
    const size_t bound = plan_workspace_bound(plan), limit = plan->problem.workspace_limit;
    return limit != 0 && limit < bound ? limit : bound;
}

/* ---- Extents at run time (CONTRACT.md 3.4) ---- */

static inline int64_t read_extent(const void *array, int64_t at, topk_index_type type) {
    return type == TOPK_INDEX_I32 ? ((const int32_t *)array)[at] : ((const int64_t *)array)[at];
}

static inline int64_t clamp_extent(int64_t value, int64_t limit) {
    return value < 0 ? 0 : value > limit ? limit : value;
}

static inline struct row_extent plan_row(const struct plan *plan, const topk_input *input, int64_t row) {
    const topk_problem *p = &plan->problem;
    struct row_extent extent;
    int64_t end;
    if (p->shape == TOPK_SHAPE_STRIDED) {
        extent.begin = row * p->row_stride;
        extent.length = input->lengths == NULL
                            ? p->length_max
                            : clamp_extent(read_extent(input->lengths, row, p->extent_type), p->length_max);
        return extent;
    }
    if (p->shape == TOPK_SHAPE_SPANS) {
        extent.begin = read_extent(input->begins, row, p->extent_type);
        end = read_extent(input->ends, row, p->extent_type);
    } else {
        extent.begin = read_extent(input->offsets, row, p->extent_type);
        end = read_extent(input->offsets, row + 1, p->extent_type);
    }
    extent.begin = clamp_extent(extent.begin, p->elements_max);
    extent.length = clamp_extent(clamp_extent(end, p->elements_max) - extent.begin, p->length_max);
    return extent;
}

/* Of a row with several ranks this is the first; input->k may point to another one (topk_cpu_rank_call()). */
static inline int64_t plan_row_k(const struct plan *plan, const topk_input *input, int64_t row) {
    const topk_problem *p = &plan->problem;
    return input->k == NULL
               ? p->k_max
               : clamp_extent(read_extent(input->k, row * plan->k_pitch, p->extent_type), p->k_max);
}

#endif
