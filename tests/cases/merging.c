/* SPDX-License-Identifier: Apache-2.0
 *
 * A problem of merging for each case: lists that were selected from parts of a row, or that hold anything.
 * What no dimension says is drawn from a random state of its own, so that the rest of a case is what it would
 * be without. */
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "generators.h"
#include "merge.h"

enum { CANDIDATES_MOST = 4096, NEVER_READ = -9 };

/* How indices come about. */
enum { INDEX_PLACE, INDEX_REVERSED, INDEX_SCATTERED, INDEX_KINDS };

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t index_at(const topk_problem *p, const void *indices, int64_t at) {
    return p->index_type == TOPK_INDEX_I32 ? ((const int32_t *)indices)[at] : ((const int64_t *)indices)[at];
}

static int64_t row_stride_of(const topk_problem *p) {
    return p->row_stride != 0 ? p->row_stride : p->length_max;
}

static void build_problem(instance *out, int64_t budget, random_state *random) {
    static const int64_t counts[] = {1, 2, 3, 5, 8, 16, 33, 40};
    const test_case *c = out->source;
    topk_problem *p = &out->merge;
    topk_lists *lists = &out->lists;
    *p = out->problem;
    *lists = (topk_lists)TOPK_LISTS_INIT;
    lists->lists =
        random_below(random, 16) == 0 ? 0 : counts[random_below(random, sizeof counts / sizeof counts[0])];
    lists->sorted = (topk_sorted)random_below(random, 2);
    const int64_t all = smaller(smaller(c->value[DIM_SIZE], budget), CANDIDATES_MOST);
    const int64_t of_list = all / (lists->lists + 1);
    p->shape = TOPK_SHAPE_STRIDED;
    p->elements_max = 0;
    p->length_max = c->value[DIM_SIZE] == 0 ? 0 : of_list + 1;
    p->k_max = smaller(case_k(c, p->length_max * (random_below(random, 2) == 0 ? 1 : lists->lists)),
                       3 * CANDIDATES_MOST);
    p->rows = rows_within_budget(budget, c->value[DIM_ROWS], p->length_max * (lists->lists + 1), p->k_max);
    p->index_base = p->index_base > 1 ? 1 : p->index_base;
    switch (random_below(random, 4)) {
    case 0:
        p->row_stride = p->length_max + 1 + random_below(random, 9);
        break;
    case 1: /* the lists of a row side by side */
        p->row_stride = lists->lists * p->length_max;
        lists->list_stride = p->length_max;
        break;
    case 2:
        p->row_stride = p->length_max;
        lists->list_stride = p->rows * p->length_max + 1 + random_below(random, 9);
        break;
    default:
        p->row_stride = 0;
    }
}

static void put_integer(topk_index_type type, void *array, int64_t at, int64_t value) {
    if (type == TOPK_INDEX_I32) {
        ((int32_t *)array)[at] = (int32_t)value;
    } else {
        ((int64_t *)array)[at] = value;
    }
}

/* No two numbers below `count` get the same. */
static int64_t index_of(const topk_problem *p, int64_t kind, int64_t number, int64_t count) {
    const uint64_t scattered = (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15);
    switch (kind) {
    case INDEX_PLACE:
        return number;
    case INDEX_REVERSED:
        return count - 1 - number;
    default:
        return (int64_t)(scattered & (p->index_type == TOPK_INDEX_I32 ? INT32_MAX : INT64_MAX));
    }
}

/* Lengths beyond the capacity and below 0 count as those. */
static void build_list_extents(instance *out, random_state *random) {
    const topk_problem *p = &out->merge;
    const size_t bytes = p->extent_type == TOPK_INDEX_I32 ? 4 : 8;
    const int64_t lengths = out->lists.lists * p->rows;
    if (random_below(random, 2) == 0) {
        out->buffers[BUFFER_LIST_LENGTHS] = build_buffer(out->source, lengths, bytes);
        out->merge_input.lengths = out->buffers[BUFFER_LIST_LENGTHS].data;
        for (int64_t i = 0; i < lengths; i++) {
            put_integer(p->extent_type, out->buffers[BUFFER_LIST_LENGTHS].data, i,
                        random_below(random, p->length_max + 3) - 1);
        }
    }
    if (random_below(random, 3) == 0) {
        out->buffers[BUFFER_LIST_K] = build_buffer(out->source, p->rows, bytes);
        out->merge_input.k = out->buffers[BUFFER_LIST_K].data;
        for (int64_t row = 0; row < p->rows; row++) {
            put_integer(p->extent_type, out->buffers[BUFFER_LIST_K].data, row,
                        random_below(random, smaller(p->k_max, 2 * CANDIDATES_MOST) + 3) - 1);
        }
    }
}

static int64_t list_length(const instance *out, int64_t list, int64_t row) {
    const topk_problem *p = &out->merge;
    const void *lengths = out->merge_input.lengths;
    const int64_t at = list * p->rows + row;
    if (lengths == NULL) {
        return p->length_max;
    }
    const int64_t given =
        p->extent_type == TOPK_INDEX_I32 ? ((const int32_t *)lengths)[at] : ((const int64_t *)lengths)[at];
    return given < 0 ? 0 : smaller(given, p->length_max);
}

/* Puts the candidates of a list in order, padding last. */
static void sort_list(instance *out, int64_t begin, int64_t length, oracle_candidate *room) {
    const topk_problem *p = &out->merge;
    const size_t size = oracle_type_size(p->type);
    char *const values = out->buffers[BUFFER_LIST_VALUES].data;
    void *const indices = out->buffers[BUFFER_LIST_INDICES].data;
    uint64_t bits[CANDIDATES_MOST + 1];
    int64_t count = 0;
    for (int64_t i = 0; i < length; i++) {
        const int64_t index = index_at(p, indices, begin + i);
        bits[i] = element_get_bits(p->type, values, begin + i);
        if (index >= 0) {
            room[count++] =
                (oracle_candidate){oracle_decode(p->type, values + (size_t)(begin + i) * size), index, i};
        }
    }
    oracle_sort_candidates(p, room, count);
    for (int64_t i = 0; i < length; i++) {
        put_integer(p->index_type, indices, begin + i, i < count ? room[i].index : -1);
        if (i < count) {
            memcpy(values + (size_t)(begin + i) * size, &bits[room[i].element], size);
        }
    }
}

static void build_row(instance *out, int64_t row, random_state *random, oracle_candidate *room) {
    const topk_problem *p = &out->merge;
    const int64_t stride = oracle_list_stride(p, &out->lists), all = out->lists.lists * p->length_max;
    const int64_t kind = random_below(random, INDEX_KINDS), padded = random_below(random, 3);
    void *const indices = out->buffers[BUFFER_LIST_INDICES].data;
    for (int64_t list = 0; list < out->lists.lists; list++) {
        const int64_t begin = list * stride + row * row_stride_of(p), length = list_length(out, list, row);
        for (int64_t i = 0; i < p->length_max; i++) {
            const bool none = padded > 0 && random_below(random, padded == 1 ? 16 : 2) == 0;
            const int64_t index = index_of(p, kind, list * p->length_max + i, all);
            put_integer(p->index_type, indices, begin + i, i >= length ? NEVER_READ : none ? -1 : index);
        }
        if (out->lists.sorted == TOPK_SORTED_BEST_FIRST) {
            sort_list(out, begin, length, room);
        }
    }
    if (all > 0 && random_below(random, 12) == 0) { /* perhaps behind the end of its list */
        static const int64_t odd[] = {-2, -3, INT32_MIN};
        const int64_t list = random_below(random, out->lists.lists);
        put_integer(p->index_type, indices,
                    list * stride + row * row_stride_of(p) + random_below(random, p->length_max),
                    odd[random_below(random, 3)]);
    }
}

static void build_candidates(instance *out, random_state *random) {
    const topk_problem *p = &out->merge;
    const size_t size = oracle_type_size(p->type);
    const int64_t lists = out->lists.lists, n = p->length_max;
    const int64_t stride = oracle_list_stride(p, &out->lists);
    const int64_t elements = lists == 0 || p->rows == 0 || n == 0
                                 ? 0
                                 : (lists - 1) * stride + (p->rows - 1) * row_stride_of(p) + n;
    oracle_candidate *room = malloc(((size_t)n + 1) * sizeof *room);
    guarded *values = &out->buffers[BUFFER_LIST_VALUES], *indices = &out->buffers[BUFFER_LIST_INDICES];
    if (room == NULL) {
        abort();
    }
    *values = build_buffer(out->source, elements, size);
    *indices = build_buffer(out->source, elements, p->index_type == TOPK_INDEX_I32 ? 4 : 8);
    for (int64_t start = 0; start < elements; start += n) {
        generate(&generators[out->source->value[DIM_DATA]], p->type,
                 (char *)values->data + (size_t)start * size, smaller(n, elements - start), random);
    }
    for (int64_t i = 0; i < elements; i++) {
        put_integer(p->index_type, indices->data, i, NEVER_READ);
    }
    out->merge_input.values = values->data;
    out->merge_input.indices = indices->data;
    for (int64_t row = 0; row < p->rows && elements > 0; row++) {
        build_row(out, row, random, room);
    }
    free(room);
    static const int64_t payloads[] = {0, 1, 2, 4, 8, 16};
    out->lists.payload_bytes = payloads[random_below(random, 6)];
    const size_t payload_bytes = (size_t)out->lists.payload_bytes;
    if (payload_bytes > 0) {
        out->buffers[BUFFER_LIST_PAYLOAD] = build_buffer(out->source, elements, payload_bytes);
        unsigned char *payload = out->buffers[BUFFER_LIST_PAYLOAD].data;
        out->lists.payload = payload;
        for (size_t i = 0; i < (size_t)elements * payload_bytes; i++) {
            payload[i] = (unsigned char)random_bits(random);
        }
    }
}

void build_merging(instance *out, int64_t budget) {
    random_state random = {out->source->seed ^ UINT64_C(0x6d65726765)};
    out->merge_input = (topk_input)TOPK_INPUT_INIT;
    build_problem(out, budget, &random);
    build_list_extents(out, &random);
    build_candidates(out, &random);
}
