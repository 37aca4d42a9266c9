/* SPDX-License-Identifier: Apache-2.0
 * The accumulator: the k best so far as a sorted list for each row. A chunk is selected from, and its
 * list is merged in; both lists are sorted by key and then position, so chunks may come in any order.
 * A push costs one selection from the chunk and, if any of it enters, O(k). */
#include <string.h>

#include "choose.h"
#include "status.h"
#include "workspace.h"

struct header {
    uint64_t magic;   /* STATE_MAGIC while chunks may be pushed */
    uint64_t problem; /* fingerprint of the problem it was initialised for */
    int32_t current;  /* which of the two lists holds the best so far */
    enum { PAYLOAD_UNKNOWN, PAYLOAD_NONE, PAYLOAD_GIVEN } payload;
};

#define STATE_MAGIC 0x746f706b61636375u /* "topkaccu" */

/* The lists of all rows, k_max places each. */
struct lists {
    char *values;
    int64_t *positions; /* in the stream, without index_base */
    char *payload;
};

struct state {
    struct header *header;
    int64_t *counts; /* of each row, the same in both lists once a push is done */
    struct lists best[2];
    char *chunk_values; /* results of one chunk, chunk_k places for each row */
    int64_t *chunk_positions;
    int64_t *lengths; /* of the chunk's rows */
    void *workspace;
    size_t bytes;
};

struct accumulator {
    struct plan plan;        /* of the whole */
    struct plan chunk;       /* of selecting from one chunk, whose lengths are in the state */
    struct candidate chosen; /* method for it */
};

static uint64_t hash_field(uint64_t hash, uint64_t field) {
    return (hash ^ field) * 0x100000001b3u;
}

/* FNV-1a over everything that the layout of a state and the order of elements depend on. */
static uint64_t fingerprint(const topk_problem *p) {
    const uint64_t fields[] = {(uint64_t)p->type,       (uint64_t)p->index_type, (uint64_t)p->direction,
                               (uint64_t)p->rank,       (uint64_t)p->nan,        (uint64_t)p->rows,
                               (uint64_t)p->length_max, (uint64_t)p->k_max,      (uint64_t)p->index_base};
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        hash = hash_field(hash, fields[i]);
    }
    return hash;
}

static topk_status accumulator_make(const topk_context *context, const topk_problem *problem,
                                    struct accumulator *a) {
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    const topk_status status = topk_plan_make(TOPK_OPERATION_SELECT, problem, &a->plan);
    if (status != TOPK_OK) {
        return status;
    }
    const topk_problem *p = &a->plan.problem;
    if (p->shape != TOPK_SHAPE_STRIDED) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "an accumulator takes strided rows only");
    }
    topk_problem chunk = *p;
    chunk.k_max = p->k_max < p->length_max ? p->k_max : p->length_max;
    chunk.index_type = TOPK_INDEX_I64;
    chunk.extent_type = TOPK_INDEX_I64;
    chunk.index_base = 0;
    chunk.order = TOPK_ORDER_BEST_FIRST;
    chunk.ties = TOPK_TIES_LOWEST_INDEX;
    return topk_prepare(context, TOPK_OPERATION_SELECT, &chunk, &a->chunk, &a->chosen);
}

static struct state lay_out(const struct accumulator *a, void *memory) {
    const struct plan *plan = &a->plan;
    const size_t rows = (size_t)plan->problem.rows, places = plan->output_elements;
    const size_t chunk_places = a->chunk.output_elements;
    struct arena arena = arena_over(memory);
    struct state s;
    s.header = arena_take(&arena, 1, sizeof *s.header);
    s.counts = arena_take(&arena, rows, sizeof *s.counts);
    for (int i = 0; i < 2; i++) {
        s.best[i].values = arena_take(&arena, places, plan->element_bytes);
        s.best[i].positions = arena_take(&arena, places, sizeof *s.best[i].positions);
        s.best[i].payload = arena_take(&arena, places, plan->index_bytes);
    }
    s.chunk_values = arena_take(&arena, chunk_places, plan->element_bytes);
    s.chunk_positions = arena_take(&arena, chunk_places, sizeof *s.chunk_positions);
    s.lengths = arena_take(&arena, rows, sizeof *s.lengths);
    s.workspace = arena_take(&arena, 1, a->chosen.workspace_bytes);
    s.bytes = arena_bytes(&arena);
    return s;
}

/* Validates problem and state memory; *s is laid out over it. */
static topk_status open_state(const topk_context *context, const topk_problem *problem, void *memory,
                              size_t bytes, topk_stream stream, struct accumulator *a, struct state *s) {
    const topk_status status = accumulator_make(context, problem, a);
    if (status != TOPK_OK) {
        return status;
    }
    if (stream != NULL) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "stream must be NULL on the CPU");
    }
    if (memory == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "state is NULL");
    }
    const size_t needed = lay_out(a, NULL).bytes;
    if (bytes < needed) {
        return topk_fail(TOPK_ERROR_WORKSPACE_TOO_SMALL,
                         "the state has %zu bytes, this accumulator needs %zu", bytes, needed);
    }
    *s = lay_out(a, memory);
    return TOPK_OK;
}

static topk_status check_state(const struct accumulator *a, const struct state *s) {
    if (s->header->magic != STATE_MAGIC) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "the accumulator was not initialised, or is finished");
    }
    if (s->header->problem != fingerprint(&a->plan.problem)) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "the accumulator was initialised for another problem");
    }
    return TOPK_OK;
}

topk_status topk_accumulator_size(const topk_context *context, const topk_problem *problem, size_t *bytes) {
    struct accumulator a;
    if (bytes == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "bytes is NULL");
    }
    const topk_status status = accumulator_make(context, problem, &a);
    if (status != TOPK_OK) {
        return status;
    }
    const size_t needed = lay_out(&a, NULL).bytes;
    if (needed == SIZE_MAX) {
        return topk_fail(TOPK_ERROR_OVERFLOW, "the state exceeds the address space");
    }
    *bytes = needed;
    return TOPK_OK;
}

topk_status topk_accumulator_init(topk_context *context, const topk_problem *problem, void *state,
                                  size_t state_bytes, topk_stream stream) {
    struct accumulator a;
    struct state s;
    const topk_status status = open_state(context, problem, state, state_bytes, stream, &a, &s);
    if (status != TOPK_OK) {
        return status;
    }
    *s.header = (struct header){STATE_MAGIC, fingerprint(&a.plan.problem), 0, PAYLOAD_UNKNOWN};
    if (s.counts != NULL) {
        memset(s.counts, 0, (size_t)a.plan.problem.rows * sizeof *s.counts);
    }
    return TOPK_OK;
}

/* ---- Merging ---- */

static uint64_t key_at(const struct plan *plan, const char *values, size_t at) {
    uint64_t bits = 0;
    memcpy(&bits, values + at * plan->element_bytes, plan->element_bytes); /* little endian */
    return topk_key_encode(bits, plan->element_bits, &plan->map);
}

struct merge {
    const struct plan *plan;
    const struct lists *from;
    struct lists *to;
    const char *chunk_values;       /* of this row */
    const int64_t *chunk_positions; /* of this row, from 0 */
    const char *chunk_payload;      /* of this row by position, or NULL */
    int64_t base;
};

static void put_from_list(const struct merge *m, size_t to, size_t from) {
    const size_t bytes = m->plan->element_bytes, index = m->plan->index_bytes;
    memcpy(m->to->values + to * bytes, m->from->values + from * bytes, bytes);
    memcpy(m->to->payload + to * index, m->from->payload + from * index, index);
    m->to->positions[to] = m->from->positions[from];
}

static void put_from_chunk(const struct merge *m, size_t to, size_t from) {
    const size_t bytes = m->plan->element_bytes, index = m->plan->index_bytes;
    memcpy(m->to->values + to * bytes, m->chunk_values + from * bytes, bytes);
    m->to->positions[to] = m->base + m->chunk_positions[from];
    if (m->chunk_payload != NULL) {
        memcpy(m->to->payload + to * index, m->chunk_payload + (size_t)m->chunk_positions[from] * index,
               index);
    }
}

/* Merges `held` places of the list at `first` with `fresh` results of the chunk; returns how many. */
static int64_t merge_row(const struct merge *m, size_t first, int64_t held, int64_t fresh) {
    int64_t i = 0, j = 0, count = 0;
    for (; count < m->plan->problem.k_max && (i < held || j < fresh); count++) {
        bool chunk_first = i == held;
        if (i < held && j < fresh) {
            const uint64_t old_key = key_at(m->plan, m->from->values, first + (size_t)i);
            const uint64_t new_key = key_at(m->plan, m->chunk_values, (size_t)j);
            const int64_t old_position = m->from->positions[first + (size_t)i];
            chunk_first =
                new_key != old_key ? new_key > old_key : m->base + m->chunk_positions[j] < old_position;
        }
        if (chunk_first) {
            put_from_chunk(m, first + (size_t)count, (size_t)j++);
        } else {
            put_from_list(m, first + (size_t)count, first + (size_t)i++);
        }
    }
    return count;
}

static void merge_chunk(const struct accumulator *a, struct state *s, const topk_input *chunk, int64_t base) {
    const struct plan *plan = &a->plan;
    const topk_problem *p = &plan->problem;
    const int64_t chunk_k = a->chunk.problem.k_max;
    for (int64_t row = 0; row < p->rows; row++) {
        const size_t chunk_first = (size_t)(row * chunk_k);
        const struct merge m = {
            .plan = plan,
            .from = &s->best[s->header->current],
            .to = &s->best[1 - s->header->current],
            .chunk_values = s->chunk_values + chunk_first * plan->element_bytes,
            .chunk_positions = s->chunk_positions + chunk_first,
            .chunk_payload = chunk->indices == NULL ? NULL
                                                    : (const char *)chunk->indices +
                                                          (size_t)(row * p->row_stride) * plan->index_bytes,
            .base = base,
        };
        s->counts[row] = merge_row(&m, (size_t)(row * p->k_max), s->counts[row],
                                   s->lengths[row] < chunk_k ? s->lengths[row] : chunk_k);
    }
    s->header->current = 1 - s->header->current;
}

static topk_status check_push(const struct accumulator *a, const struct state *s, const topk_input *chunk,
                              int64_t length, int64_t base) {
    const topk_problem *p = &a->plan.problem;
    int64_t end;
    if (length < 0 || length > p->length_max) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "length is %lld, must be 0 to length_max = %lld",
                         (long long)length, (long long)p->length_max);
    }
    if (base < 0) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "base is %lld, must not be negative", (long long)base);
    }
    if (__builtin_add_overflow(base, length, &end) || __builtin_add_overflow(end, p->index_base, &end)) {
        return topk_fail(TOPK_ERROR_OVERFLOW, "base plus length overflows 64 bits");
    }
    if (p->index_type == TOPK_INDEX_I32 && end > INT32_MAX) {
        return topk_fail(TOPK_ERROR_INDEX_TOO_NARROW,
                         "length %lld plus base %lld exceeds 2^31 - 1: use TOPK_INDEX_I64", (long long)length,
                         (long long)(end - length));
    }
    if (chunk->k != NULL) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "chunk->k must be NULL: k is fixed at k_max");
    }
    if (s->header->payload != PAYLOAD_UNKNOWN &&
        (s->header->payload == PAYLOAD_GIVEN) != (chunk->indices != NULL)) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "either all chunks carry indices or none does");
    }
    return TOPK_OK;
}

/* The buffers of a chunk of `length` elements in each row. */
static topk_status check_chunk(const struct accumulator *a, const topk_input *chunk, int64_t length,
                               topk_input *input, struct buffer *buffers) {
    struct plan plan;
    topk_problem problem = a->plan.problem;
    problem.length_max = length < 0 || length > problem.length_max ? problem.length_max : length;
    const topk_status status = topk_plan_make(TOPK_OPERATION_SELECT, &problem, &plan);
    return status != TOPK_OK ? status : topk_check_input(&plan, chunk, true, input, buffers);
}

static void select_chunk(const topk_context *context, const struct accumulator *a, const struct state *s,
                         const topk_input *chunk, int64_t length) {
    const topk_problem *p = &a->plan.problem;
    for (int64_t row = 0; row < p->rows; row++) {
        s->lengths[row] = chunk->lengths == NULL
                              ? length
                              : clamp_extent(read_extent(chunk->lengths, row, p->extent_type), length);
    }
    struct call call = {.context = context,
                        .plan = &a->chunk,
                        .input = *chunk,
                        .workspace = s->workspace,
                        .values = s->chunk_values,
                        .indices = s->chunk_positions};
    call.input.lengths = s->lengths;
    call.input.indices = NULL;
    (void)a->chosen.method->run(&call);
}

topk_status topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                  size_t state_bytes, const topk_input *chunk, int64_t length, int64_t base,
                                  topk_stream stream) {
    struct accumulator a;
    struct state s;
    topk_input input;
    struct buffer buffers[INPUT_BUFFERS + 1];
    topk_status status = open_state(context, problem, state, state_bytes, stream, &a, &s);
    if (status != TOPK_OK || (status = check_state(&a, &s)) != TOPK_OK ||
        (status = check_chunk(&a, chunk, length, &input, buffers)) != TOPK_OK ||
        (status = check_push(&a, &s, &input, length, base)) != TOPK_OK) {
        return status;
    }
    buffers[INPUT_BUFFERS] = (struct buffer){"state", state, s.bytes, 1, true, true};
    status = topk_check_buffers(buffers, INPUT_BUFFERS + 1);
    if (status != TOPK_OK || length == 0 || a.plan.output_elements == 0) {
        return status;
    }
    select_chunk(context, &a, &s, &input, length);
    s.header->payload = input.indices != NULL ? PAYLOAD_GIVEN : PAYLOAD_NONE;
    merge_chunk(&a, &s, &input, base);
    return TOPK_OK;
}

/* ---- Results ---- */

static void write_row(const struct accumulator *a, const struct state *s, int64_t row, char *values,
                      char *indices) {
    const struct plan *plan = &a->plan;
    const struct lists *best = &s->best[s->header->current];
    const size_t bytes = plan->element_bytes, index = plan->index_bytes;
    const int64_t none = -1;
    for (int64_t i = 0; i < plan->problem.k_max; i++) {
        const size_t at = (size_t)(row * plan->problem.k_max + i);
        const bool held = i < s->counts[row];
        if (values != NULL) {
            memcpy(values + at * bytes, held ? best->values + at * bytes : (const char *)&plan->padding,
                   bytes);
        }
        if (indices != NULL) {
            const int64_t position = held ? best->positions[at] + plan->problem.index_base : none;
            const bool payload = held && s->header->payload == PAYLOAD_GIVEN;
            memcpy(indices + at * index, payload ? best->payload + at * index : (const char *)&position,
                   index);
        }
    }
}

topk_status topk_accumulator_peek(topk_context *context, const topk_problem *problem, void *state,
                                  size_t state_bytes, void *values, void *indices, topk_stream stream) {
    struct accumulator a;
    struct state s;
    topk_status status = open_state(context, problem, state, state_bytes, stream, &a, &s);
    if (status != TOPK_OK || (status = check_state(&a, &s)) != TOPK_OK) {
        return status;
    }
    const struct plan *plan = &a.plan;
    const struct buffer buffers[] = {
        {"values", values, plan->output_elements * plan->element_bytes, plan->element_bytes, false, true},
        {"indices", indices, plan->output_elements * plan->index_bytes, plan->index_bytes, false, true},
        {"state", state, s.bytes, 1, true, true},
    };
    if ((status = topk_check_buffers(buffers, 3)) != TOPK_OK) {
        return status;
    }
    for (int64_t row = 0; row < plan->problem.rows; row++) {
        write_row(&a, &s, row, values, indices);
    }
    return TOPK_OK;
}

topk_status topk_accumulator_finish(topk_context *context, const topk_problem *problem, void *state,
                                    size_t state_bytes, void *values, void *indices, topk_stream stream) {
    const topk_status status =
        topk_accumulator_peek(context, problem, state, state_bytes, values, indices, stream);
    if (status == TOPK_OK) {
        ((struct header *)(void *)arena_over(state).base)->magic = 0;
    }
    return status;
}
