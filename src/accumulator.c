/* SPDX-License-Identifier: Apache-2.0
 * The accumulator's calls: validation, of all that the host knows. The backend of the context does the rest.
 */
#include "accumulator.h"

#include "choose.h"
#include "predicate.h"
#include "status.h"
#include "topk_accumulator.h"

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

/* ---- Choice ---- */

/* Rows one behind the other choose the method, and what workspace it takes, whatever the pitch of the chunk:
 * a state's size follows from what all calls on it have in common. Should that not do, the state is larger.
 */
static topk_status choose_packed(struct accumulator *a, topk_operation operation, const topk_problem *chunk,
                                 struct subcall *inner) {
    const size_t used = a->room.used;
    topk_problem packed = *chunk;
    packed.row_stride = 0;
    topk_status status = topk_subcall_choose(a->context, operation, &packed, &a->room, inner);
    if (status != TOPK_OK || chunk->rows <= 1 || chunk->row_stride == chunk->length_max) {
        return status;
    }
    const size_t most = inner->decision.workspace_bytes;
    packed.row_stride = chunk->row_stride;
    packed.workspace_limit = most > 0 ? most : 1;
    a->room.used = used;
    status = topk_plan_make(operation, &packed, &inner->plan);
    if (status != TOPK_OK) {
        return status;
    }
    topk_decide(a->context, &inner->plan, inner->method, &a->room, &inner->decision);
    if (inner->decision.cannot == NULL && inner->decision.workspace_bytes <= most) {
        inner->decision.workspace_bytes = most;
        return TOPK_OK;
    }
    a->room.used = used;
    return topk_subcall_choose(a->context, operation, chunk, &a->room, inner);
}

/* The best of one chunk, by the method that the problem names. */
static topk_status choose_of_chunk(struct accumulator *a) {
    const topk_problem *p = &a->plan.problem;
    topk_problem chunk = *p;
    chunk.k_max = p->k_max < p->length_max ? p->k_max : p->length_max;
    chunk.index_type = TOPK_INDEX_I64;
    chunk.extent_type = TOPK_INDEX_I64;
    chunk.index_base = 0;
    chunk.order = TOPK_ORDER_ANY;
    chunk.ties = TOPK_TIES_LOWEST_INDEX;
    const topk_status status = choose_packed(a, TOPK_OPERATION_SELECT, &chunk, &a->select);
    return status != TOPK_OK ? status
                             : choose_packed(a, TOPK_OPERATION_SELECT_WHERE, &chunk, &a->select_where);
}

static topk_status make(const topk_context *context, const topk_problem *problem, struct accumulator *a) {
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    const struct accumulators *backend = context->backend->accumulators;
    topk_status status = topk_plan_make(TOPK_OPERATION_SELECT, problem, &a->plan);
    if (status != TOPK_OK) {
        return status;
    }
    if (a->plan.problem.shape != TOPK_SHAPE_STRIDED) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "an accumulator takes strided rows only");
    }
    if (a->plan.approximate) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "an accumulator is exact: it takes no approximation");
    }
    a->context = context;
    a->room.used = 0;
    a->problem = fingerprint(&a->plan.problem);
    if ((status = choose_of_chunk(a)) != TOPK_OK || (status = backend->choose(a)) != TOPK_OK) {
        return status;
    }
    backend->measure(a);
    return TOPK_OK;
}

static topk_status check_bytes(const char *name, const void *memory, size_t bytes, size_t needed) {
    if (memory == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "%s is NULL", name);
    }
    if (bytes < needed) {
        return topk_fail(TOPK_ERROR_WORKSPACE_TOO_SMALL, "the %s has %zu bytes, this accumulator needs %zu",
                         name, bytes, needed);
    }
    return TOPK_OK;
}

/* Validates the problem and memory for a state. */
static topk_status open_memory(const topk_context *context, const topk_problem *problem, void *memory,
                               size_t bytes, topk_stream stream, struct accumulator *a) {
    topk_status status = make(context, problem, a);
    if (status != TOPK_OK || (status = topk_check_stream(context, stream)) != TOPK_OK) {
        return status;
    }
    a->memory = memory;
    a->stream = stream;
    return check_bytes("state", memory, bytes, a->bytes);
}

static const struct accumulators *backend_of(const struct accumulator *a) {
    return a->context->backend->accumulators;
}

topk_status topk_accumulator_size(const topk_context *context, const topk_problem *problem, size_t *bytes) {
    KEEP_ERRNO;
    struct accumulator a;
    if (bytes == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "bytes is NULL");
    }
    const topk_status status = make(context, problem, &a);
    if (status != TOPK_OK) {
        return status;
    }
    if (a.bytes == SIZE_MAX) {
        return topk_fail(TOPK_ERROR_OVERFLOW, "the state exceeds the address space");
    }
    *bytes = a.bytes;
    return TOPK_OK;
}

topk_status topk_accumulator_init(topk_context *context, const topk_problem *problem, void *state,
                                  size_t state_bytes, topk_stream stream) {
    KEEP_ERRNO;
    struct accumulator a;
    topk_status status = open_memory(context, problem, state, state_bytes, stream, &a);
    if (status != TOPK_OK) {
        return status;
    }
    const struct buffer_list buffers = {1, {{"state", state, a.bytes, 1, true, true}}};
    status = topk_check_memory(context, &buffers);
    if (status == TOPK_OK) {
        status = backend_of(&a)->init(&a);
        topk_gaps_release(state, a.bytes);
    }
    return status;
}

/* ---- Pushing ---- */

static topk_status check_range(const struct accumulator *a, int64_t length, int64_t base) {
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
    return p->index_type == TOPK_INDEX_I32 && end > INT32_MAX
               ? topk_fail(TOPK_ERROR_INDEX_TOO_NARROW,
                           "length %lld plus base %lld exceeds 2^31 - 1: use TOPK_INDEX_I64",
                           (long long)length, (long long)(end - length))
               : TOPK_OK;
}

/* Adds the buffers of a chunk. */
static topk_status check_input(const struct accumulator *a, const topk_input *input,
                               const topk_predicate *predicate, struct chunk *chunk,
                               struct buffer_list *buffers) {
    struct plan plan;
    topk_problem problem = a->plan.problem;
    const int64_t length = chunk->length;
    problem.length_max = length < 0 || length > problem.length_max ? problem.length_max : length;
    topk_status status = topk_plan_make(TOPK_OPERATION_SELECT, &problem, &plan);
    if (status != TOPK_OK || (status = topk_read_input(input, &chunk->input)) != TOPK_OK ||
        (status = topk_check_input(&plan, &chunk->input, true, buffers)) != TOPK_OK) {
        return status;
    }
    return predicate == NULL ? TOPK_OK : topk_list_predicate(&plan, predicate, buffers);
}

static topk_status push(topk_context *context, const topk_problem *problem, void *state, size_t state_bytes,
                        const topk_input *input, struct chunk *chunk, topk_stream stream) {
    struct accumulator a;
    struct buffer_list buffers;
    buffers.count = 0;
    topk_status status = open_memory(context, problem, state, state_bytes, stream, &a);
    if (status != TOPK_OK ||
        (status = check_input(&a, input, chunk->predicate, chunk, &buffers)) != TOPK_OK ||
        (status = check_range(&a, chunk->length, chunk->base)) != TOPK_OK) {
        return status;
    }
    buffer_list_add(&buffers, (struct buffer){"state", state, a.bytes, 1, true, true});
    status = topk_check_memory(context, &buffers);
    if (status == TOPK_OK) {
        status = backend_of(&a)->push(&a, chunk);
        topk_gaps_release(state, a.bytes);
    }
    return status;
}

topk_status topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                  size_t state_bytes, const topk_input *chunk, int64_t length, int64_t base,
                                  topk_stream stream) {
    KEEP_ERRNO;
    struct chunk all = {.length = length, .base = base};
    return push(context, problem, state, state_bytes, chunk, &all, stream);
}

topk_status topk_accumulator_push_where(topk_context *context, const topk_problem *problem, void *state,
                                        size_t state_bytes, const topk_input *chunk,
                                        const topk_predicate *predicate, int64_t length, int64_t base,
                                        topk_stream stream) {
    KEEP_ERRNO;
    topk_predicate copy;
    topk_status status = topk_check_predicate(predicate, &copy);
    status = status != TOPK_OK ? status : topk_refuse_at_least(&copy, "accumulators");
    struct chunk matches = {.predicate = &copy, .length = length, .base = base};
    return status != TOPK_OK ? status : push(context, problem, state, state_bytes, chunk, &matches, stream);
}

/* ---- Merging ---- */

static topk_status check_merge(const struct accumulator *a, const void *other, size_t other_bytes) {
    const struct buffer_list buffers = {
        2, {{"state", a->memory, a->bytes, 1, true, true}, {"other", other, a->kept_bytes, 1, true, false}}};
    const topk_status status = check_bytes("other state", other, other_bytes, a->kept_bytes);
    return status != TOPK_OK ? status : topk_check_memory(a->context, &buffers);
}

topk_status topk_accumulator_merge(topk_context *context, const topk_problem *problem, void *state,
                                   size_t state_bytes, const void *other, size_t other_bytes,
                                   topk_stream stream) {
    KEEP_ERRNO;
    struct accumulator a;
    topk_status status = open_memory(context, problem, state, state_bytes, stream, &a);
    if (status != TOPK_OK || (status = check_merge(&a, other, other_bytes)) != TOPK_OK) {
        return status;
    }
    status = backend_of(&a)->merge(&a, (void *)(uintptr_t)other);
    topk_gaps_release((void *)(uintptr_t)other, a.kept_bytes);
    topk_gaps_release(state, a.bytes);
    return status;
}

/* ---- Results ---- */

static topk_status write_results(topk_context *context, const topk_problem *problem, void *state,
                                 size_t state_bytes, void *values, void *indices, bool ends,
                                 topk_stream stream) {
    struct accumulator a;
    topk_status status = open_memory(context, problem, state, state_bytes, stream, &a);
    if (status != TOPK_OK) {
        return status;
    }
    const struct plan *plan = &a.plan;
    struct buffer_list buffers;
    buffers.count = 0;
    buffer_list_add(&buffers, (struct buffer){"values", values, plan->output_elements * plan->element_bytes,
                                              plan->element_bytes, false, true});
    buffer_list_add(&buffers, (struct buffer){"indices", indices, plan->output_elements * plan->index_bytes,
                                              plan->index_bytes, false, true});
    buffer_list_add(&buffers, (struct buffer){"state", state, a.bytes, 1, true, true});
    status = topk_check_memory(context, &buffers);
    if (status == TOPK_OK) {
        status = backend_of(&a)->write(&a, values, indices, ends);
        topk_gaps_release(state, a.bytes);
    }
    return status;
}

topk_status topk_accumulator_peek(topk_context *context, const topk_problem *problem, void *state,
                                  size_t state_bytes, void *values, void *indices, topk_stream stream) {
    KEEP_ERRNO;
    return write_results(context, problem, state, state_bytes, values, indices, false, stream);
}

topk_status topk_accumulator_finish(topk_context *context, const topk_problem *problem, void *state,
                                    size_t state_bytes, void *values, void *indices, topk_stream stream) {
    KEEP_ERRNO;
    return write_results(context, problem, state, state_bytes, values, indices, true, stream);
}

/* ---- Bars ---- */

static topk_status open_bars(topk_context *context, const topk_problem *problem, void *state,
                             size_t state_bytes, const void *values, const int64_t *positions, bool reads,
                             topk_stream stream, struct accumulator *a) {
    topk_status status = open_memory(context, problem, state, state_bytes, stream, a);
    if (status != TOPK_OK) {
        return status;
    }
    if (backend_of(a)->bar == NULL) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "bars of accumulators are told and raised on the CPU alone");
    }
    const size_t rows = (size_t)a->plan.problem.rows, bytes = a->plan.element_bytes;
    struct buffer_list buffers;
    buffers.count = 0;
    buffer_list_add(&buffers, (struct buffer){"values", values, rows * bytes, bytes, reads, !reads});
    buffer_list_add(&buffers, (struct buffer){"positions", positions, rows * sizeof *positions,
                                              sizeof *positions, reads, !reads});
    buffer_list_add(&buffers, (struct buffer){"state", state, a->bytes, 1, true, true});
    return topk_check_memory(context, &buffers);
}

topk_status topk_accumulator_bar(topk_context *context, const topk_problem *problem, void *state,
                                 size_t state_bytes, void *values, int64_t *positions, topk_stream stream) {
    KEEP_ERRNO;
    struct accumulator a;
    topk_status status =
        open_bars(context, problem, state, state_bytes, values, positions, false, stream, &a);
    if (status == TOPK_OK) {
        status = backend_of(&a)->bar(&a, values, positions);
        topk_gaps_release(state, a.bytes);
    }
    return status;
}

topk_status topk_accumulator_raise(topk_context *context, const topk_problem *problem, void *state,
                                   size_t state_bytes, const void *values, const int64_t *positions,
                                   topk_stream stream) {
    KEEP_ERRNO;
    struct accumulator a;
    topk_status status = open_bars(context, problem, state, state_bytes, values, positions, true, stream, &a);
    if (status == TOPK_OK) {
        status = backend_of(&a)->raise(&a, values, positions);
        topk_gaps_release(state, a.bytes);
    }
    return status;
}

/* ---- Bytes ---- */

topk_status topk_accumulator_export_size(const topk_context *context, const topk_problem *problem,
                                         size_t *bytes) {
    KEEP_ERRNO;
    struct accumulator a;
    if (bytes == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "bytes is NULL");
    }
    const topk_status status = make(context, problem, &a);
    if (status != TOPK_OK) {
        return status;
    }
    const size_t needed = topk_exported_of(&a.plan).bytes;
    if (needed == SIZE_MAX) {
        return topk_fail(TOPK_ERROR_OVERFLOW, "the bytes exceed the address space");
    }
    *bytes = needed;
    return TOPK_OK;
}

topk_status topk_accumulator_export(topk_context *context, const topk_problem *problem, void *state,
                                    size_t state_bytes, void *bytes, size_t capacity, topk_stream stream) {
    KEEP_ERRNO;
    struct accumulator a;
    topk_status status = open_memory(context, problem, state, state_bytes, stream, &a);
    if (status != TOPK_OK) {
        return status;
    }
    const size_t needed = topk_exported_of(&a.plan).bytes;
    const struct buffer_list buffers = {
        2, {{"bytes", bytes, needed, 1, false, true}, {"state", state, a.bytes, 1, true, true}}};
    if (bytes == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "bytes is NULL");
    }
    if (capacity < needed) {
        return topk_fail(TOPK_ERROR_WORKSPACE_TOO_SMALL, "capacity is %zu, this accumulator takes %zu bytes",
                         capacity, needed);
    }
    status = topk_check_memory(context, &buffers);
    if (status == TOPK_OK) {
        status = backend_of(&a)->export_bytes(&a, bytes);
        topk_gaps_release(state, a.bytes);
    }
    return status;
}

topk_status topk_accumulator_import(topk_context *context, const topk_problem *problem, void *state,
                                    size_t state_bytes, const void *bytes, size_t size, topk_stream stream) {
    KEEP_ERRNO;
    struct accumulator a;
    topk_status status = open_memory(context, problem, state, state_bytes, stream, &a);
    if (status != TOPK_OK) {
        return status;
    }
    const size_t wanted = topk_exported_of(&a.plan).bytes, read = size < wanted ? size : wanted;
    const struct buffer_list buffers = {
        2, {{"bytes", bytes, read, 1, false, false}, {"state", state, a.bytes, 1, true, true}}};
    if (bytes == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "bytes is NULL");
    }
    status = topk_check_memory(context, &buffers);
    if (status == TOPK_OK) {
        status = backend_of(&a)->import_bytes(&a, bytes, size);
        topk_gaps_release(state, a.bytes);
    }
    return status;
}
