/* SPDX-License-Identifier: Apache-2.0
 * The accumulator: the k best so far as a sorted list for each row. A chunk is selected from, and its
 * list is merged in; both lists are sorted by key and then position, so chunks may come in any order.
 * A push costs one selection from the chunk and, if any of it enters, O(k). */
#include <string.h>

#include "context.h"
#include "status.h"
#include "subcall.h"

struct header {
    uint64_t magic;   /* STATE_MAGIC while chunks may be pushed */
    uint64_t problem; /* fingerprint of the problem it was initialised for */
    enum { PAYLOAD_UNKNOWN, PAYLOAD_NONE, PAYLOAD_GIVEN } payload;
};

#define STATE_MAGIC 0x746f706b61636375u /* "topkaccu" */

/* Sorted lists, k_max slots each. */
struct lists {
    char *values;
    int64_t *positions; /* in the stream, without index_base */
    char *payload;
};

struct state {
    struct header *header;
    int64_t *counts; /* of each row */
    struct lists best;
    char *chunk_values; /* results of one chunk, chunk_k slots for each row */
    int64_t *chunk_positions;
    int64_t *lengths; /* of the chunk's rows */
    size_t bytes;
};

struct accumulator {
    struct plan plan;      /* of the whole */
    struct subcall select; /* from one chunk, whose lengths are in the state */
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
    if (!context->backend->has_accumulators) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "the %s backend has no accumulators",
                         context->backend->name);
    }
    const topk_status status = topk_plan_make(TOPK_OPERATION_SELECT, problem, &a->plan);
    if (status != TOPK_OK) {
        return status;
    }
    const topk_problem *p = &a->plan.problem;
    if (p->shape != TOPK_SHAPE_STRIDED) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "an accumulator takes strided rows only");
    }
    if (a->plan.approximate) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "an accumulator is exact: it takes no approximation");
    }
    topk_problem chunk = *p;
    chunk.k_max = p->k_max < p->length_max ? p->k_max : p->length_max;
    chunk.index_type = TOPK_INDEX_I64;
    chunk.extent_type = TOPK_INDEX_I64;
    chunk.index_base = 0;
    chunk.order = TOPK_ORDER_BEST_FIRST;
    chunk.ties = TOPK_TIES_LOWEST_INDEX;
    return topk_subcall_choose(context, TOPK_OPERATION_SELECT, &chunk, &a->select);
}

static struct state lay_out(struct accumulator *a, void *memory) {
    const struct plan *plan = &a->plan;
    const size_t rows = (size_t)plan->problem.rows, slots = plan->output_elements;
    const size_t chunk_slots = a->select.plan.output_elements;
    struct arena arena = arena_over(memory);
    struct state s;
    s.header = arena_take(&arena, 1, sizeof *s.header);
    s.counts = arena_take(&arena, rows, sizeof *s.counts);
    s.best.values = arena_take(&arena, slots, plan->element_bytes);
    s.best.positions = arena_take(&arena, slots, sizeof *s.best.positions);
    s.best.payload = arena_take(&arena, slots, plan->index_bytes);
    s.chunk_values = arena_take(&arena, chunk_slots, plan->element_bytes);
    s.chunk_positions = arena_take(&arena, chunk_slots, sizeof *s.chunk_positions);
    s.lengths = arena_take(&arena, rows, sizeof *s.lengths);
    topk_subcall_take(&a->select, &arena);
    s.bytes = arena_bytes(&arena);
    return s;
}

/* Validates problem and state memory; *s is laid out over it. */
static topk_status open_state(const topk_context *context, const topk_problem *problem, void *memory,
                              size_t bytes, topk_stream stream, struct accumulator *a, struct state *s) {
    topk_status status = accumulator_make(context, problem, a);
    if (status != TOPK_OK || (status = topk_check_stream(context, stream)) != TOPK_OK) {
        return status;
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
    struct state s = {0};
    const topk_status status = open_state(context, problem, state, state_bytes, stream, &a, &s);
    if (status != TOPK_OK) {
        return status;
    }
    *s.header = (struct header){STATE_MAGIC, fingerprint(&a.plan.problem), PAYLOAD_UNKNOWN};
    if (s.counts != NULL) {
        memset(s.counts, 0, (size_t)a.plan.problem.rows * sizeof *s.counts);
    }
    topk_gaps_release(state, s.bytes);
    return TOPK_OK;
}

/* ---- Merging ---- */

static uint64_t key_at(const struct plan *plan, const char *values, size_t at) {
    uint64_t bits = 0;
    memcpy(&bits, values + at * plan->element_bytes, plan->element_bytes); /* little endian */
    return topk_key_encode(bits, plan->element_bits, &plan->map);
}

/* Merging one row's results of a chunk into its list. */
struct merge {
    const struct plan *plan;
    struct lists list;              /* of this row */
    const char *chunk_values;       /* of this row */
    const int64_t *chunk_positions; /* of this row, from 0 */
    const char *chunk_payload;      /* of this row by position, or NULL */
    int64_t base;
};

/* Result `fresh` of the chunk ranks before result `held` of the list. */
static bool ranks_before(const struct merge *m, int64_t fresh, int64_t held) {
    const uint64_t new_key = key_at(m->plan, m->chunk_values, (size_t)fresh);
    const uint64_t old_key = key_at(m->plan, m->list.values, (size_t)held);
    return new_key != old_key ? new_key > old_key
                              : m->base + m->chunk_positions[fresh] < m->list.positions[held];
}

static void move_place(const struct merge *m, size_t to, size_t from) {
    const size_t bytes = m->plan->element_bytes, index = m->plan->index_bytes;
    memcpy(m->list.values + to * bytes, m->list.values + from * bytes, bytes);
    memcpy(m->list.payload + to * index, m->list.payload + from * index, index);
    m->list.positions[to] = m->list.positions[from];
}

static void put_result(const struct merge *m, size_t to, size_t from) {
    const size_t bytes = m->plan->element_bytes, index = m->plan->index_bytes;
    const size_t position = (size_t)m->chunk_positions[from];
    memcpy(m->list.values + to * bytes, m->chunk_values + from * bytes, bytes);
    m->list.positions[to] = m->base + m->chunk_positions[from];
    if (m->chunk_payload != NULL) {
        memcpy(m->list.payload + to * index, m->chunk_payload + position * index, index);
    }
}

/* Merges `fresh` results into a list of `held`; returns its new length. What stays and what enters
 * is found from the front, and moved from the back, so that the list is its own destination. */
static int64_t merge_row(const struct merge *m, int64_t held, int64_t fresh) {
    const int64_t k = m->plan->problem.k_max;
    if (held == k && !ranks_before(m, 0, held - 1)) {
        return held;
    }
    int64_t stay = 0, enter = 0;
    while (stay + enter < k && (stay < held || enter < fresh)) {
        if (stay == held || (enter < fresh && ranks_before(m, enter, stay))) {
            enter++;
        } else {
            stay++;
        }
    }
    const int64_t length = stay + enter;
    while (enter > 0) {
        const size_t to = (size_t)(stay + enter - 1);
        if (stay > 0 && ranks_before(m, enter - 1, stay - 1)) {
            move_place(m, to, (size_t)--stay);
        } else {
            put_result(m, to, (size_t)--enter);
        }
    }
    return length;
}

static void merge_chunk(const struct accumulator *a, const struct state *s, const topk_input *chunk,
                        int64_t base) {
    const struct plan *plan = &a->plan;
    const topk_problem *p = &plan->problem;
    const int64_t chunk_k = a->select.plan.problem.k_max;
    for (int64_t row = 0; row < p->rows; row++) {
        const size_t first = (size_t)(row * p->k_max), chunk_first = (size_t)(row * chunk_k);
        const size_t element = (size_t)(row * p->row_stride);
        const int64_t fresh = s->lengths[row] < chunk_k ? s->lengths[row] : chunk_k;
        const struct merge m = {
            .plan = plan,
            .list = {s->best.values + first * plan->element_bytes, s->best.positions + first,
                     s->best.payload + first * plan->index_bytes},
            .chunk_values = s->chunk_values + chunk_first * plan->element_bytes,
            .chunk_positions = s->chunk_positions + chunk_first,
            .chunk_payload =
                chunk->indices == NULL ? NULL : (const char *)chunk->indices + element * plan->index_bytes,
            .base = base,
        };
        if (fresh > 0) {
            s->counts[row] = merge_row(&m, s->counts[row], fresh);
        }
    }
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
    const struct call outer = {.context = context, .input = *chunk};
    struct call call = topk_subcall_call(&a->select, &outer);
    call.input.lengths = s->lengths;
    call.input.indices = NULL;
    call.values = s->chunk_values;
    call.indices = s->chunk_positions;
    (void)context->backend->run(a->select.method, &call);
}

/* With an open state. */
static topk_status push_chunk(const topk_context *context, const struct accumulator *a, const struct state *s,
                              void *memory, const topk_input *chunk, int64_t length, int64_t base) {
    topk_input input;
    struct buffer buffers[INPUT_BUFFERS + 1];
    topk_status status = check_state(a, s);
    if (status != TOPK_OK || (status = check_chunk(a, chunk, length, &input, buffers)) != TOPK_OK ||
        (status = check_push(a, s, &input, length, base)) != TOPK_OK) {
        return status;
    }
    buffers[INPUT_BUFFERS] = (struct buffer){"state", memory, s->bytes, 1, true, true};
    status = topk_check_buffers(buffers, INPUT_BUFFERS + 1);
    if (status != TOPK_OK || length == 0 || a->plan.output_elements == 0) {
        return status;
    }
    select_chunk(context, a, s, &input, length);
    s->header->payload = input.indices != NULL ? PAYLOAD_GIVEN : PAYLOAD_NONE;
    merge_chunk(a, s, &input, base);
    return TOPK_OK;
}

topk_status topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                  size_t state_bytes, const topk_input *chunk, int64_t length, int64_t base,
                                  topk_stream stream) {
    struct accumulator a;
    struct state s = {0};
    topk_status status = open_state(context, problem, state, state_bytes, stream, &a, &s);
    if (status == TOPK_OK) {
        status = push_chunk(context, &a, &s, state, chunk, length, base);
        topk_gaps_release(state, s.bytes);
    }
    return status;
}

/* ---- Results ---- */

static void write_row(const struct accumulator *a, const struct state *s, int64_t row, char *values,
                      char *indices) {
    const struct plan *plan = &a->plan;
    const struct lists *best = &s->best;
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

/* With an open state. */
static topk_status write_rows(const struct accumulator *a, const struct state *s, void *memory, void *values,
                              void *indices) {
    const struct plan *plan = &a->plan;
    const struct buffer buffers[] = {
        {"values", values, plan->output_elements * plan->element_bytes, plan->element_bytes, false, true},
        {"indices", indices, plan->output_elements * plan->index_bytes, plan->index_bytes, false, true},
        {"state", memory, s->bytes, 1, true, true},
    };
    topk_status status = check_state(a, s);
    if (status != TOPK_OK || (status = topk_check_buffers(buffers, 3)) != TOPK_OK) {
        return status;
    }
    for (int64_t row = 0; row < plan->problem.rows; row++) {
        write_row(a, s, row, values, indices);
    }
    return TOPK_OK;
}

topk_status topk_accumulator_peek(topk_context *context, const topk_problem *problem, void *state,
                                  size_t state_bytes, void *values, void *indices, topk_stream stream) {
    struct accumulator a;
    struct state s = {0};
    topk_status status = open_state(context, problem, state, state_bytes, stream, &a, &s);
    if (status == TOPK_OK) {
        status = write_rows(&a, &s, state, values, indices);
        topk_gaps_release(state, s.bytes);
    }
    return status;
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
