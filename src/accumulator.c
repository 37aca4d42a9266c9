/* SPDX-License-Identifier: Apache-2.0
 * The accumulator. A chunk of up to k_max elements in each row joins the candidates of the rows as it is; of
 * a longer one, or with a predicate, it is the k_max best. What is kept of them: candidates.h. */
#include <string.h>

#include "candidates.h"
#include "status.h"

struct header {
    uint64_t magic;   /* STATE_MAGIC while chunks may be pushed */
    uint64_t problem; /* fingerprint of the problem it was initialised for */
    enum { PAYLOAD_UNKNOWN, PAYLOAD_NONE, PAYLOAD_GIVEN } payload;
};

#define STATE_MAGIC 0x746f706b61636332u /* "topkacc2" */

/* A problem's accumulator, and its state in memory. */
struct accumulator {
    struct plan plan;                    /* of the streams */
    struct subcall select, select_where; /* from one chunk */
    struct candidates candidates;
    struct header *header;
    size_t kept_bytes; /* of the state, without the scratch */
    size_t bytes;
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
    chunk.order = TOPK_ORDER_ANY;
    chunk.ties = TOPK_TIES_LOWEST_INDEX;
    topk_status chosen = topk_subcall_choose(context, TOPK_OPERATION_SELECT, &chunk, &a->select);
    if (chosen == TOPK_OK) {
        chosen = topk_subcall_choose(context, TOPK_OPERATION_SELECT_WHERE, &chunk, &a->select_where);
    }
    return chosen != TOPK_OK ? chosen : topk_candidates_make(context, &a->plan, &a->candidates);
}

/* The best of a chunk, over the scratch. */
struct chunk_results {
    char *values;
    int64_t *places;
    size_t bytes;
};

static struct chunk_results lay_out_chunk(struct subcall *inner, void *scratch) {
    struct arena arena = {scratch, 0};
    struct chunk_results results;
    topk_subcall_take(inner, &arena);
    results.values = arena_take(&arena, inner->plan.output_elements, inner->plan.element_bytes);
    results.places = arena_take(&arena, inner->plan.output_elements, sizeof *results.places);
    results.bytes = arena.used;
    return results;
}

static size_t scratch_bytes(struct accumulator *a) {
    const size_t each[] = {lay_out_chunk(&a->select, NULL).bytes, lay_out_chunk(&a->select_where, NULL).bytes,
                           topk_candidates_scratch_bytes(&a->candidates)};
    size_t most = 0;
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        most = each[i] > most ? each[i] : most;
    }
    return most;
}

/* What another state is read for. Over NULL it is measured. */
static struct arena lay_out_kept(struct accumulator *a, void *memory) {
    struct arena arena = arena_over(memory);
    a->header = arena_take(&arena, 1, sizeof *a->header);
    topk_candidates_take(&a->candidates, &arena);
    a->kept_bytes = arena_bytes(&arena);
    return arena;
}

static void lay_out(struct accumulator *a, void *memory) {
    struct arena arena = lay_out_kept(a, memory);
    a->candidates.scratch = arena_take(&arena, 1, scratch_bytes(a));
    a->bytes = arena_bytes(&arena);
}

static topk_status check_memory(const char *name, const void *memory, size_t bytes, size_t needed) {
    if (memory == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "%s is NULL", name);
    }
    if (bytes < needed) {
        return topk_fail(TOPK_ERROR_WORKSPACE_TOO_SMALL, "the %s has %zu bytes, this accumulator needs %zu",
                         name, bytes, needed);
    }
    return TOPK_OK;
}

/* Validates the problem and memory for a state, over which *a is laid out. */
static topk_status open_memory(const topk_context *context, const topk_problem *problem, void *memory,
                               size_t bytes, topk_stream stream, struct accumulator *a) {
    topk_status status = accumulator_make(context, problem, a);
    if (status != TOPK_OK || (status = topk_check_stream(context, stream)) != TOPK_OK) {
        return status;
    }
    lay_out(a, NULL);
    status = check_memory("state", memory, bytes, a->bytes);
    if (status == TOPK_OK) {
        lay_out(a, memory);
    }
    return status;
}

/* Whether chunks may be pushed. */
static topk_status check_header(const struct accumulator *a) {
    if (a->header->magic != STATE_MAGIC) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "the accumulator was not initialised, or is finished");
    }
    if (a->header->problem != fingerprint(&a->plan.problem)) {
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
    lay_out(&a, NULL);
    if (a.bytes == SIZE_MAX) {
        return topk_fail(TOPK_ERROR_OVERFLOW, "the state exceeds the address space");
    }
    *bytes = a.bytes;
    return TOPK_OK;
}

topk_status topk_accumulator_init(topk_context *context, const topk_problem *problem, void *state,
                                  size_t state_bytes, topk_stream stream) {
    struct accumulator a;
    const topk_status status = open_memory(context, problem, state, state_bytes, stream, &a);
    if (status != TOPK_OK) {
        return status;
    }
    *a.header = (struct header){STATE_MAGIC, fingerprint(&a.plan.problem), PAYLOAD_UNKNOWN};
    topk_candidates_clear(&a.candidates);
    topk_gaps_release(state, a.bytes);
    return TOPK_OK;
}

/* ---- Pushing ---- */

static topk_status check_push(const struct accumulator *a, const topk_input *chunk, int64_t length,
                              int64_t base) {
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
    if (a->header->payload != PAYLOAD_UNKNOWN &&
        (a->header->payload == PAYLOAD_GIVEN) != (chunk->indices != NULL)) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "either all chunks carry indices or none does");
    }
    return TOPK_OK;
}

enum { BUFFERS_MAX = INPUT_BUFFERS + PREDICATE_BUFFERS + 1 };

/* The buffers of a chunk of `length` elements in each row; returns how many in *count. */
static topk_status check_chunk(const struct accumulator *a, const topk_input *chunk,
                               const topk_predicate *predicate, int64_t length, topk_input *input,
                               struct buffer *buffers, size_t *count) {
    struct plan plan;
    topk_problem problem = a->plan.problem;
    problem.length_max = length < 0 || length > problem.length_max ? problem.length_max : length;
    topk_status status = topk_plan_make(TOPK_OPERATION_SELECT, &problem, &plan);
    if (status != TOPK_OK || (status = topk_check_input(&plan, chunk, true, input, buffers)) != TOPK_OK) {
        return status;
    }
    *count = INPUT_BUFFERS;
    if (predicate != NULL) {
        topk_list_predicate(&plan, predicate, buffers + *count);
        *count += PREDICATE_BUFFERS;
    }
    return TOPK_OK;
}

/* The least k that chunks gave is the row's. */
static void limit_ks(const struct accumulator *a, const topk_input *chunk) {
    for (int64_t row = 0; row < a->plan.problem.rows; row++) {
        struct candidate_row *r = &a->candidates.rows[row];
        const int64_t k = plan_row_k(&a->plan, chunk, row);
        r->k = k < r->k ? k : r->k;
    }
}

static int64_t row_length(const struct accumulator *a, const topk_input *chunk, int64_t length, int64_t row) {
    return chunk->lengths == NULL
               ? length
               : clamp_extent(read_extent(chunk->lengths, row, a->plan.problem.extent_type), length);
}

/* A row's payload in a chunk, or NULL. */
static const char *row_payload(const struct accumulator *a, const topk_input *chunk, int64_t row) {
    const size_t first = (size_t)(row * a->plan.problem.row_stride);
    return chunk->indices == NULL ? NULL : (const char *)chunk->indices + first * a->plan.index_bytes;
}

/* All of a chunk. */
static void append_chunk(const struct accumulator *a, const topk_input *chunk, int64_t length, int64_t base) {
    for (int64_t row = 0; row < a->plan.problem.rows; row++) {
        const size_t first = (size_t)(row * a->plan.problem.row_stride);
        const struct arrivals arrivals = {.values =
                                              (const char *)chunk->values + first * a->plan.element_bytes,
                                          .base = base,
                                          .payload = row_payload(a, chunk, row)};
        topk_candidates_append(&a->candidates, row, &arrivals, row_length(a, chunk, length, row));
    }
}

/* The best of a chunk that match. */
static void append_best(struct accumulator *a, const topk_input *chunk, const topk_predicate *predicate,
                        int64_t length, int64_t base) {
    struct candidates *c = &a->candidates;
    struct subcall *inner = predicate == NULL ? &a->select : &a->select_where;
    const struct chunk_results results = lay_out_chunk(inner, c->scratch);
    const size_t k = (size_t)inner->plan.problem.k_max;
    for (int64_t row = 0; row < a->plan.problem.rows; row++) {
        c->lengths[row] = row_length(a, chunk, length, row);
        c->ks[row] = c->rows[row].k;
    }
    const struct call outer = {.context = c->context, .input = *chunk, .predicate = predicate};
    struct call call = topk_subcall_call(inner, &outer);
    call.input.lengths = c->lengths;
    call.input.k = c->ks;
    call.input.indices = NULL;
    call.values = results.values;
    call.indices = results.places;
    (void)c->context->backend->run(inner->method, &call);
    for (int64_t row = 0; row < a->plan.problem.rows; row++) {
        const size_t first = (size_t)row * k;
        const int64_t *places = results.places + first;
        int64_t count = 0;
        while ((size_t)count < k && places[count] >= 0) {
            count++;
        }
        const struct arrivals arrivals = {.values = results.values + first * a->plan.element_bytes,
                                          .places = places,
                                          .base = base,
                                          .payload = row_payload(a, chunk, row),
                                          .payload_at = places};
        topk_candidates_append(c, row, &arrivals, count);
    }
}

static void take_chunk(struct accumulator *a, const topk_input *chunk, const topk_predicate *predicate,
                       int64_t length, int64_t base) {
    const int64_t k_max = a->plan.problem.k_max;
    topk_candidates_make_room(&a->candidates, length < k_max ? length : k_max);
    if (predicate == NULL && length <= k_max) {
        append_chunk(a, chunk, length, base);
    } else {
        append_best(a, chunk, predicate, length, base);
    }
}

/* Into an open state. */
static topk_status push_chunk(struct accumulator *a, void *memory, const topk_input *chunk,
                              const topk_predicate *predicate, int64_t length, int64_t base) {
    topk_input input;
    struct buffer buffers[BUFFERS_MAX];
    size_t count = 0;
    topk_status status = check_header(a);
    if (status != TOPK_OK ||
        (status = check_chunk(a, chunk, predicate, length, &input, buffers, &count)) != TOPK_OK ||
        (status = check_push(a, &input, length, base)) != TOPK_OK) {
        return status;
    }
    buffers[count] = (struct buffer){"state", memory, a->bytes, 1, true, true};
    status = topk_check_buffers(buffers, count + 1);
    if (status != TOPK_OK || a->plan.output_elements == 0) {
        return status;
    }
    limit_ks(a, &input);
    if (length > 0) {
        a->header->payload = input.indices != NULL ? PAYLOAD_GIVEN : PAYLOAD_NONE;
        take_chunk(a, &input, predicate, length, base);
    }
    return TOPK_OK;
}

topk_status topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                  size_t state_bytes, const topk_input *chunk, int64_t length, int64_t base,
                                  topk_stream stream) {
    struct accumulator a;
    topk_status status = open_memory(context, problem, state, state_bytes, stream, &a);
    if (status == TOPK_OK) {
        status = push_chunk(&a, state, chunk, NULL, length, base);
        topk_gaps_release(state, a.bytes);
    }
    return status;
}

topk_status topk_accumulator_push_where(topk_context *context, const topk_problem *problem, void *state,
                                        size_t state_bytes, const topk_input *chunk,
                                        const topk_predicate *predicate, int64_t length, int64_t base,
                                        topk_stream stream) {
    struct accumulator a;
    topk_predicate copy;
    topk_status status = topk_check_predicate(predicate, &copy);
    if (status != TOPK_OK ||
        (status = open_memory(context, problem, state, state_bytes, stream, &a)) != TOPK_OK) {
        return status;
    }
    status = push_chunk(&a, state, chunk, &copy, length, base);
    topk_gaps_release(state, a.bytes);
    return status;
}

/* ---- Merging ---- */

static topk_status check_merge(const struct accumulator *to, const void *memory,
                               const struct accumulator *from, const void *other) {
    const struct buffer buffers[] = {
        {"state", memory, to->bytes, 1, true, true},
        {"other", other, from->kept_bytes, 1, true, false},
    };
    topk_status status = topk_check_buffers(buffers, 2);
    if (status != TOPK_OK || (status = check_header(to)) != TOPK_OK ||
        (status = check_header(from)) != TOPK_OK) {
        return status;
    }
    return to->header->payload == PAYLOAD_UNKNOWN || from->header->payload == PAYLOAD_UNKNOWN ||
                   to->header->payload == from->header->payload
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_BAD_STATE, "either both accumulators carry indices or none does");
}

/* Candidates first, first + 1, ... of each row, k_max of them at most. Returns whether there were any. */
static bool append_candidates(struct accumulator *to, const struct accumulator *from, int64_t first) {
    const struct candidates *c = &from->candidates;
    const int64_t k_max = to->plan.problem.k_max;
    bool any = false;
    topk_candidates_make_room(&to->candidates, k_max);
    for (int64_t row = 0; row < to->plan.problem.rows; row++) {
        const size_t at = (size_t)row * c->room + (size_t)first;
        const int64_t left = c->rows[row].count - first;
        const struct arrivals arrivals = {.values = c->values + at * to->plan.element_bytes,
                                          .places = c->positions + at,
                                          .payload = from->header->payload == PAYLOAD_GIVEN
                                                         ? c->payload + at * to->plan.index_bytes
                                                         : NULL};
        if (left > 0) {
            topk_candidates_append(&to->candidates, row, &arrivals, left < k_max ? left : k_max);
            any = true;
        }
    }
    return any;
}

/* With open states. */
static void merge(struct accumulator *to, const struct accumulator *from) {
    for (int64_t row = 0; row < to->plan.problem.rows; row++) {
        struct candidate_row *r = &to->candidates.rows[row];
        const int64_t k = from->candidates.rows[row].k;
        r->k = k < r->k ? k : r->k;
    }
    for (int64_t first = 0; append_candidates(to, from, first); first += to->plan.problem.k_max) {
    }
    if (to->header->payload == PAYLOAD_UNKNOWN) {
        to->header->payload = from->header->payload;
    }
}

topk_status topk_accumulator_merge(topk_context *context, const topk_problem *problem, void *state,
                                   size_t state_bytes, const void *other, size_t other_bytes,
                                   topk_stream stream) {
    struct accumulator to, from;
    topk_status status = open_memory(context, problem, state, state_bytes, stream, &to);
    if (status != TOPK_OK) {
        return status;
    }
    status = check_memory("other state", other, other_bytes, to.kept_bytes);
    if (status == TOPK_OK) {
        from = to;
        lay_out_kept(&from, (void *)(uintptr_t)other);
        status = check_merge(&to, state, &from, other);
        if (status == TOPK_OK && to.plan.output_elements > 0) {
            merge(&to, &from);
        }
        topk_gaps_release((void *)(uintptr_t)other, from.kept_bytes);
    }
    topk_gaps_release(state, to.bytes);
    return status;
}

/* ---- Results ---- */

/* Of an open state. */
static topk_status write_results(struct accumulator *a, void *memory, void *values, void *indices) {
    const struct plan *plan = &a->plan;
    const struct buffer buffers[] = {
        {"values", values, plan->output_elements * plan->element_bytes, plan->element_bytes, false, true},
        {"indices", indices, plan->output_elements * plan->index_bytes, plan->index_bytes, false, true},
        {"state", memory, a->bytes, 1, true, true},
    };
    topk_status status = check_header(a);
    if (status != TOPK_OK || (status = topk_check_buffers(buffers, 3)) != TOPK_OK ||
        plan->output_elements == 0) {
        return status;
    }
    topk_candidates_write(&a->candidates, a->header->payload == PAYLOAD_GIVEN, values, indices);
    return TOPK_OK;
}

topk_status topk_accumulator_peek(topk_context *context, const topk_problem *problem, void *state,
                                  size_t state_bytes, void *values, void *indices, topk_stream stream) {
    struct accumulator a;
    topk_status status = open_memory(context, problem, state, state_bytes, stream, &a);
    if (status == TOPK_OK) {
        status = write_results(&a, state, values, indices);
        topk_gaps_release(state, a.bytes);
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
