/* SPDX-License-Identifier: Apache-2.0 */
#include "instance.h"

#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "generators.h"

static int64_t budget = 1 << 18;

void instance_set_budget(int64_t elements) {
    budget = elements;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t row_stride(int64_t shape, int64_t n, random_state *random) {
    switch (shape) {
    case SHAPE_GAPS:
        return n + 1 + random_below(random, 9);
    case SHAPE_OVERLAPPING:
        return larger(1, n / 3);
    default:
        return random_below(random, 2) == 0 ? 0 : n;
    }
}

/* Whether length_max says nothing: rows end where they end. */
static bool is_loose(const test_case *c) {
    return c->value[DIM_LENGTHS] == LENGTHS_LOOSE &&
           (c->value[DIM_SHAPE] == SHAPE_SPANS || c->value[DIM_SHAPE] == SHAPE_CSR);
}

static void build_problem(const test_case *c, instance *out, random_state *random) {
    static const topk_shape shapes[] = {TOPK_SHAPE_STRIDED, TOPK_SHAPE_STRIDED, TOPK_SHAPE_STRIDED,
                                        TOPK_SHAPE_SPANS, TOPK_SHAPE_CSR};
    topk_problem *p = &out->problem;
    int64_t n = c->value[DIM_SIZE];
    *p = (topk_problem)TOPK_PROBLEM_INIT;
    p->type = (topk_type)(c->value[DIM_TYPE] + 1);
    p->index_type = (topk_index_type)c->value[DIM_INDEX];
    p->extent_type = (topk_index_type)c->value[DIM_EXTENT];
    p->direction = (topk_direction)c->value[DIM_DIRECTION];
    p->rank = (topk_rank)c->value[DIM_RANK];
    p->ties = (topk_ties)c->value[DIM_TIES];
    p->order = (topk_order)c->value[DIM_ORDER];
    p->nan = (topk_nan)c->value[DIM_NAN];
    p->shape = shapes[c->value[DIM_SHAPE]];
    p->length_max = n;
    p->k_max = case_k(c, n);
    p->rows = rows_within_budget(budget, c->value[DIM_ROWS], n, p->k_max);
    if (p->shape == TOPK_SHAPE_STRIDED) {
        p->row_stride = row_stride(c->value[DIM_SHAPE], n, random);
        out->elements = p->rows == 0 ? 0 : (p->rows - 1) * (p->row_stride != 0 ? p->row_stride : n) + n;
    } else {
        p->elements_max = out->elements = p->rows * n + random_below(random, 4);
    }
    if (c->value[DIM_BASE] != 0) {
        int64_t limit = p->index_type == TOPK_INDEX_I32 ? INT32_MAX : INT64_MAX;
        p->index_base = c->value[DIM_BASE] == 1 ? 1 : limit - (is_loose(c) ? out->elements : n);
    }
}

/* Every stretch of length_max elements is one row's worth of data. */
static void build_values(instance *out, random_state *random) {
    const test_case *c = out->source;
    topk_type type = out->problem.type;
    size_t size = oracle_type_size(type);
    int64_t n = out->problem.length_max;
    guarded *values = &out->buffers[BUFFER_VALUES], *indices = &out->buffers[BUFFER_INDICES];
    *values = build_buffer(c, out->elements, size);
    for (int64_t start = 0; start < out->elements; start += larger(1, n)) {
        int64_t count = n > 0 && n < out->elements - start ? n : out->elements - start;
        generate(&generators[c->value[DIM_DATA]], type, (char *)values->data + (size_t)start * size, count,
                 random);
    }
    bool omitted = out->elements == 0 && random_below(random, 2) == 0;
    out->input.values = omitted ? NULL : values->data;
    if (c->value[DIM_PAYLOAD] != 0) {
        *indices = build_buffer(c, out->elements, instance_index_bytes(&out->problem));
        for (int64_t e = 0; e < out->elements; e++) {
            int64_t payload = instance_payload(&out->problem, e);
            if (out->problem.index_type == TOPK_INDEX_I32) {
                ((int32_t *)indices->data)[e] = (int32_t)payload;
            } else {
                ((int64_t *)indices->data)[e] = payload;
            }
        }
        out->input.indices = indices->data;
    }
}

static void build_approximation(instance *out) {
    const case_approximation approximation = case_approximate(out->source);
    out->approximate = out->problem;
    out->approximate.max_iterations = approximation.max_iterations;
    out->approximate.epsilon = approximation.epsilon;
    out->approximate.epsilon_relative = approximation.epsilon_relative;
}

static void build_rankings(instance *out) {
    size_t size = oracle_type_size(out->problem.type);
    int64_t total = 0;
    out->rows = calloc((size_t)out->problem.rows + 1, sizeof *out->rows);
    for (int64_t r = 0; out->rows != NULL && r < out->problem.rows; r++) {
        out->rows[r].extent = oracle_resolve_row(&out->problem, &out->input, r);
        total += out->rows[r].extent.length;
    }
    out->entry_count = total;
    out->entries = malloc((2 * (size_t)total + 1) * sizeof *out->entries);
    out->matches = malloc((size_t)total + 1);
    if (out->rows == NULL || out->entries == NULL || out->matches == NULL) {
        abort();
    }
    oracle_entry *next = out->entries;
    for (int64_t r = 0; r < out->problem.rows; r++) {
        const oracle_row *extent = &out->rows[r].extent;
        out->rows[r].ranking = next;
        if (extent->length > 0) {
            oracle_rank(&out->problem, (const char *)out->input.values + (size_t)extent->first * size,
                        extent->length, next);
        }
        next += extent->length;
    }
}

static void find_matches(instance *i) {
    oracle_entry *next = i->entries + i->entry_count;
    bool *is_match = i->matches;
    for (int64_t r = 0; r < i->problem.rows; r++) {
        instance_row *row = &i->rows[r];
        row->is_match = is_match;
        for (int64_t e = row->extent.first; e < row->extent.first + row->extent.length; e++) {
            *is_match++ = i->predicate.kind == TOPK_AT_LEAST
                              ? oracle_at_least(&i->problem, &i->input, &i->predicate, r, e)
                              : oracle_matches(i->problem.type, &i->input, &i->predicate, e);
        }
        row->matching = next;
        row->matches = oracle_keep(row->ranking, row->extent.length, row->is_match, row->matching);
        next += row->matches;
    }
}

static void protect(instance *out) {
    for (int b = 0; b < INSTANCE_BUFFERS; b++) {
        if (out->buffers[b].map != NULL) {
            guarded_make_read_only(&out->buffers[b]);
            guarded_hide_slack(&out->buffers[b], true);
        }
    }
}

static void send_inputs(instance *i) {
    for (int b = 0; b < INSTANCE_BUFFERS; b++) {
        const guarded *buffer = &i->buffers[b];
        if (buffer->map != NULL) {
            i->copies[b] = device_input(buffer->data, buffer->bytes);
        }
    }
    if (i->predicate.bounds != NULL) {
        i->copies[COPIED_BOUNDS] = device_input(i->bounds, sizeof i->bounds);
    }
}

void instance_match(instance *i) {
    find_matches(i);
    send_inputs(i);
}

void instance_build(const test_case *c, instance *out) {
    random_state random = {c->seed};
    *out = (instance){.source = c, .input = TOPK_INPUT_INIT, .predicate = TOPK_PREDICATE_INIT};
    build_problem(c, out, &random);
    build_values(out, &random);
    build_extents(out, &random);
    build_row_k(out, &random);
    if (is_loose(c)) {
        out->problem.length_max = INT64_MAX;
    }
    build_predicate(out, &random);
    build_approximation(out);
    build_ranks(out, budget);
    build_routing(out, budget);
    build_merging(out, budget);
    build_grouping(out, budget);
    protect(out);
    build_rankings(out);
    instance_match(out);
}

void instance_free(instance *i) {
    for (int b = 0; b < COPIED_BUFFERS; b++) {
        device_free(&i->copies[b]);
    }
    for (int b = 0; b < INSTANCE_BUFFERS; b++) {
        guarded_free(&i->buffers[b]);
    }
    free(i->rows);
    free(i->entries);
    free(i->matches);
}

/* Multiplication by an odd number is one to one modulo a power of two. */
static const uint64_t payload_factor = UINT64_C(0x9e3779b97f4a7c15);
static const uint64_t payload_offset = 12345;

int64_t instance_payload(const topk_problem *problem, int64_t element) {
    uint64_t payload = (uint64_t)element * payload_factor + payload_offset;
    return problem->index_type == TOPK_INDEX_I32 ? (int32_t)(uint32_t)payload : (int64_t)payload;
}

static int64_t element_of_payload(const topk_problem *problem, int64_t payload) {
    uint64_t inverse = payload_factor; /* right in 3 bits; each Newton step doubles that */
    for (int bits = 3; bits < 64; bits *= 2) {
        inverse *= 2 - payload_factor * inverse;
    }
    uint64_t element = ((uint64_t)payload - payload_offset) * inverse;
    return problem->index_type == TOPK_INDEX_I32 ? (int64_t)(uint32_t)element : (int64_t)element;
}

int64_t instance_index(const instance *i, const instance_row *row, int64_t position) {
    return i->input.indices != NULL ? instance_payload(&i->problem, row->extent.first + position)
                                    : i->problem.index_base + position;
}

int64_t instance_position(const instance *i, const instance_row *row, int64_t index) {
    int64_t position = i->input.indices != NULL ? element_of_payload(&i->problem, index) - row->extent.first
                                                : index - i->problem.index_base;
    return position >= 0 && position < row->extent.length ? position : -1;
}

size_t instance_index_bytes(const topk_problem *problem) {
    return problem->index_type == TOPK_INDEX_I32 ? sizeof(int32_t) : sizeof(int64_t);
}

int64_t instance_read_index(const topk_problem *problem, const void *indices, int64_t i) {
    return problem->index_type == TOPK_INDEX_I32 ? ((const int32_t *)indices)[i]
                                                 : ((const int64_t *)indices)[i];
}

static const void *on_device(const instance *i, const void *pointer) {
    for (int b = 0; pointer != NULL && b < INSTANCE_BUFFERS; b++) {
        if (pointer == i->buffers[b].data) {
            return i->copies[b].data;
        }
    }
    return pointer;
}

topk_input instance_input(const instance *i) {
    topk_input input = i->input;
    input.values = on_device(i, input.values);
    input.indices = on_device(i, input.indices);
    input.lengths = on_device(i, input.lengths);
    input.begins = on_device(i, input.begins);
    input.ends = on_device(i, input.ends);
    input.offsets = on_device(i, input.offsets);
    input.k = on_device(i, input.k);
    return input;
}

topk_predicate instance_predicate(const instance *i) {
    topk_predicate predicate = i->predicate;
    predicate.mask = on_device(i, predicate.mask);
    predicate.threshold = on_device(i, predicate.threshold);
    if (predicate.bounds == i->bounds && i->copies[COPIED_BOUNDS].data != NULL) {
        predicate.bounds = i->copies[COPIED_BOUNDS].data;
    }
    return predicate;
}

topk_routing instance_routing(const instance *i) {
    topk_routing routing = i->routing;
    routing.bias = on_device(i, routing.bias);
    return routing;
}

const void *instance_ranks_k(const instance *i) {
    return on_device(i, i->ranks_k);
}

int64_t instance_rank(const instance *i, int64_t row, int64_t rank) {
    const int64_t at = row * i->ranks.k_stride + rank, most = i->ranks.k_max;
    const int64_t k = i->ranks.extent_type == TOPK_INDEX_I32 ? ((const int32_t *)i->ranks_k)[at]
                                                             : ((const int64_t *)i->ranks_k)[at];
    return k < 0 ? 0 : k > most ? most : k;
}

const void *instance_logits(const instance *i) {
    return on_device(i, i->logits);
}

topk_lists instance_lists(const instance *i) {
    topk_lists lists = i->lists;
    lists.payload = on_device(i, lists.payload);
    return lists;
}

topk_input instance_merge_input(const instance *i) {
    topk_input input = i->merge_input;
    input.values = on_device(i, input.values);
    input.indices = on_device(i, input.indices);
    input.lengths = on_device(i, input.lengths);
    input.k = on_device(i, input.k);
    return input;
}

topk_input instance_by_input(const instance *i) {
    topk_input input = i->by_input;
    input.values = on_device(i, input.values);
    input.groups = on_device(i, input.groups);
    input.indices = on_device(i, input.indices);
    input.k = on_device(i, input.k);
    return input;
}

bool instance_intact(const instance *i) {
    for (int b = 0; b < INSTANCE_BUFFERS; b++) {
        const guarded *buffer = &i->buffers[b];
        if (buffer->map != NULL && !(guarded_intact(buffer) && device_intact(&i->copies[b]) &&
                                     device_unchanged(&i->copies[b], buffer->data))) {
            return false;
        }
    }
    return true;
}
