/* SPDX-License-Identifier: Apache-2.0
 * The calls that move data: validation. The backend of the context does the rest. */
#include "transfer.h"

#include "context.h"
#include "status.h"
#include "structs.h"

static topk_status check_context(const topk_context *context, topk_stream stream) {
    return context == NULL ? topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL")
                           : topk_check_stream(context, stream);
}

topk_status topk_copy(const topk_context *context, void *to, const void *from, size_t bytes,
                      topk_stream stream) {
    KEEP_ERRNO;
    const topk_status status = check_context(context, stream);
    if (status != TOPK_OK || bytes == 0) {
        return status;
    }
    if (to == NULL || from == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "%s is NULL", to == NULL ? "to" : "from");
    }
    const uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;
    if (a < b ? b - a < bytes : a - b < bytes) {
        return topk_fail(TOPK_ERROR_OVERLAP, "to and from overlap");
    }
    return context->backend->transfers->copy(context, to, from, bytes, stream);
}

/* From the first row's begin to the last one's end. */
static size_t span_of(int64_t rows, size_t pitch, size_t row_bytes, bool *overflow) {
    size_t bytes;
    *overflow |= __builtin_mul_overflow((size_t)(rows - 1), pitch, &bytes) ||
                 __builtin_add_overflow(bytes, row_bytes, &bytes);
    return bytes;
}

topk_status topk_copy_rows(const topk_context *context, void *to, size_t to_pitch, const void *from,
                           size_t from_pitch, size_t row_bytes, int64_t rows, topk_stream stream) {
    KEEP_ERRNO;
    const struct copied_rows copied = {to, from, to_pitch, from_pitch, row_bytes, rows};
    bool overflow = false;
    topk_status status = check_context(context, stream);
    if (status != TOPK_OK) {
        return status;
    }
    if (rows < 0 || (rows > 1 && to_pitch < row_bytes)) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "rows are %lld of %zu bytes, %zu apart", (long long)rows,
                         row_bytes, to_pitch);
    }
    if (rows == 0 || row_bytes == 0) {
        return TOPK_OK;
    }
    if (to == NULL || from == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "%s is NULL", to == NULL ? "to" : "from");
    }
    const size_t to_bytes = span_of(rows, to_pitch, row_bytes, &overflow),
                 from_bytes = span_of(rows, from_pitch, row_bytes, &overflow);
    const uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;
    if (overflow) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "rows reach beyond all memory");
    }
    if (a < b ? b - a < to_bytes : a - b < from_bytes) {
        return topk_fail(TOPK_ERROR_OVERLAP, "to and from overlap");
    }
    return context->backend->transfers->copy_rows(context, &copied, stream);
}

topk_status topk_fill(const topk_context *context, void *to, int byte, size_t bytes, topk_stream stream) {
    KEEP_ERRNO;
    const topk_status status = check_context(context, stream);
    if (status != TOPK_OK || bytes == 0) {
        return status;
    }
    return to == NULL ? topk_fail(TOPK_ERROR_NULL_POINTER, "to is NULL")
                      : context->backend->transfers->fill(context, to, byte, bytes, stream);
}

topk_status topk_wait(const topk_context *context, topk_stream stream) {
    KEEP_ERRNO;
    const topk_status status = check_context(context, stream);
    return status != TOPK_OK ? status : context->backend->transfers->wait(context, stream);
}

/* ---- Streams and events ---- */

static topk_status check_named(const topk_context *context, const char *name, const void *pointer) {
    return context == NULL || pointer == NULL
               ? topk_fail(TOPK_ERROR_NULL_POINTER, "%s is NULL", context == NULL ? "context" : name)
               : TOPK_OK;
}

/* A backend without streams has no events either. */
static topk_status check_event(const topk_context *context, topk_event event, topk_stream stream) {
    const topk_status status = check_context(context, stream);
    if (status != TOPK_OK) {
        return status;
    }
    const bool has_events = context->backend->transfers->streams != NULL;
    return has_events == (event != NULL)
               ? TOPK_OK
               : topk_fail(has_events ? TOPK_ERROR_NULL_POINTER : TOPK_ERROR_CONTRADICTION, "event is %sNULL",
                           has_events ? "" : "not ");
}

topk_status topk_stream_create(const topk_context *context, topk_stream *stream) {
    KEEP_ERRNO;
    const topk_status status = check_named(context, "stream", (const void *)stream);
    if (status != TOPK_OK) {
        return status;
    }
    *stream = NULL;
    const struct stream_calls *const streams = context->backend->transfers->streams;
    return streams == NULL ? TOPK_OK : streams->create_stream(context, stream);
}

topk_status topk_stream_destroy(const topk_context *context, topk_stream stream) {
    KEEP_ERRNO;
    const topk_status status = check_context(context, stream);
    return status != TOPK_OK || stream == NULL
               ? status
               : context->backend->transfers->streams->destroy_stream(context, stream);
}

topk_status topk_event_create(const topk_context *context, topk_event *event) {
    KEEP_ERRNO;
    const topk_status status = check_named(context, "event", (const void *)event);
    if (status != TOPK_OK) {
        return status;
    }
    *event = NULL;
    const struct stream_calls *const streams = context->backend->transfers->streams;
    return streams == NULL ? TOPK_OK : streams->create_event(context, event);
}

topk_status topk_event_destroy(const topk_context *context, topk_event event) {
    KEEP_ERRNO;
    if (context != NULL && event == NULL) {
        return TOPK_OK;
    }
    const topk_status status = check_event(context, event, NULL);
    return status != TOPK_OK ? status : context->backend->transfers->streams->destroy_event(context, event);
}

topk_status topk_event_record(const topk_context *context, topk_event event, topk_stream stream) {
    KEEP_ERRNO;
    const topk_status status = check_event(context, event, stream);
    return status != TOPK_OK || event == NULL
               ? status
               : context->backend->transfers->streams->record(context, event, stream);
}

topk_status topk_event_await(const topk_context *context, topk_event event, topk_stream stream) {
    KEEP_ERRNO;
    const topk_status status = check_event(context, event, stream);
    return status != TOPK_OK || event == NULL
               ? status
               : context->backend->transfers->streams->await(context, event, stream);
}

topk_status topk_event_wait(const topk_context *context, topk_event event) {
    KEEP_ERRNO;
    const topk_status status = check_event(context, event, NULL);
    return status != TOPK_OK || event == NULL
               ? status
               : context->backend->transfers->streams->wait_event(context, event);
}

/* ---- Memory ---- */

static topk_status check_kind(const topk_context *context, topk_memory memory_kind) {
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    return memory_kind == TOPK_MEMORY_DEVICE || memory_kind == TOPK_MEMORY_HOST
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "memory_kind is %d, must be 0 or 1", (int)memory_kind);
}

topk_status topk_memory_allocate(const topk_context *context, topk_memory memory_kind, size_t bytes,
                                 void **memory) {
    KEEP_ERRNO;
    if (memory == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "memory is NULL");
    }
    *memory = NULL;
    const topk_status status = check_kind(context, memory_kind);
    if (status != TOPK_OK) {
        return status;
    }
    if (bytes == 0) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "bytes is 0");
    }
    return memory_kind == TOPK_MEMORY_HOST
               ? context->backend->transfers->allocate_host(context, bytes, memory)
               : context->backend->allocate(context, bytes, memory);
}

topk_status topk_memory_release(const topk_context *context, topk_memory memory_kind, void *memory) {
    KEEP_ERRNO;
    const topk_status status = check_kind(context, memory_kind);
    if (status != TOPK_OK || memory == NULL) {
        return status;
    }
    return memory_kind == TOPK_MEMORY_HOST ? context->backend->transfers->release_host(context, memory)
                                           : context->backend->release(context, memory);
}

/* ---- Positions ---- */

static size_t bytes_of(topk_index_type type) {
    return type == TOPK_INDEX_I32 ? sizeof(int32_t) : sizeof(int64_t);
}

static bool is_index_type(topk_index_type type) {
    return type == TOPK_INDEX_I32 || type == TOPK_INDEX_I64;
}

static topk_status check_numbers(const topk_context *context, const topk_renumbering *r, const void *from,
                                 void *to) {
    const size_t from_bytes = bytes_of(r->from_type), to_bytes = bytes_of(r->to_type);
    struct buffer_list buffers = {.count = 0};
    if (!is_index_type(r->from_type) || !is_index_type(r->to_type)) {
        return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "from_type is %d, to_type %d", (int)r->from_type,
                         (int)r->to_type);
    }
    if (r->count < 0 || r->count > INT64_MAX / 8) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "count is %lld", (long long)r->count);
    }
    if (to != from || r->from_type != r->to_type) {
        buffer_list_add(
            &buffers, (struct buffer){"from", from, (size_t)r->count * from_bytes, from_bytes, true, false});
    }
    buffer_list_add(&buffers, (struct buffer){"to", to, (size_t)r->count * to_bytes, to_bytes, true, true});
    return topk_check_memory(context, &buffers);
}

topk_status topk_renumber(const topk_context *context, const topk_renumbering *renumbering, const void *from,
                          void *to, topk_stream stream) {
    KEEP_ERRNO;
    topk_renumbering own;
    topk_status status = check_context(context, stream);
    status = status == TOPK_OK ? topk_read_struct(STRUCT_RENUMBERING, renumbering, &own) : status;
    status = status == TOPK_OK ? check_numbers(context, &own, from, to) : status;
    return status != TOPK_OK || own.count == 0
               ? status
               : context->backend->transfers->renumber(context, &own, from, to, stream);
}

topk_status topk_add(const topk_context *context, int64_t count, const int64_t *from, int64_t *to,
                     topk_stream stream) {
    KEEP_ERRNO;
    struct buffer_list buffers = {.count = 0};
    const size_t bytes = (size_t)count * sizeof *to;
    topk_status status = check_context(context, stream);
    if (status != TOPK_OK) {
        return status;
    }
    if (count < 0 || count > INT64_MAX / 8) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "count is %lld", (long long)count);
    }
    buffer_list_add(&buffers, (struct buffer){"from", from, bytes, sizeof *from, true, false});
    buffer_list_add(&buffers, (struct buffer){"to", to, bytes, sizeof *to, true, true});
    status = topk_check_memory(context, &buffers);
    return status != TOPK_OK || count == 0
               ? status
               : context->backend->transfers->add(context, count, from, to, stream);
}

/* ---- Rows whose positions do not ascend ---- */

static topk_status read_rows(const topk_problem *problem, const topk_input *input, struct plan *plan,
                             topk_input *own) {
    topk_problem read = TOPK_PROBLEM_INIT;
    topk_status status = topk_read_struct(STRUCT_PROBLEM, problem, &read);
    status = status == TOPK_OK ? topk_plan_make(TOPK_OPERATION_KTH, &read, plan) : status;
    status = status == TOPK_OK ? topk_read_struct(STRUCT_INPUT, input, own) : status;
    own->values = own->k = NULL;
    return status;
}

topk_status topk_find_descents(const topk_context *context, const topk_problem *problem,
                               const topk_input *input, int64_t *places, topk_stream stream) {
    KEEP_ERRNO;
    struct plan plan;
    topk_input own = TOPK_INPUT_INIT;
    struct buffer_list buffers = {.count = 0};
    topk_status status = check_context(context, stream);
    status = status == TOPK_OK ? read_rows(problem, input, &plan, &own) : status;
    status = status == TOPK_OK ? topk_check_input(&plan, &own, false, &buffers) : status;
    if (status != TOPK_OK) {
        return status;
    }
    if (own.indices == NULL && plan.input_elements > 0) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "input->indices is NULL");
    }
    const size_t bytes = (size_t)plan.problem.rows * sizeof *places;
    buffer_list_add(&buffers, (struct buffer){"places", places, bytes, sizeof *places, true, true});
    status = topk_check_memory(context, &buffers);
    return status != TOPK_OK || plan.problem.rows == 0
               ? status
               : context->backend->transfers->find_descents(context, &plan, &own, places, stream);
}

static topk_status check_breaking(const topk_context *context, const struct breaking *b) {
    const int64_t most = INT64_MAX / 8;
    struct buffer_list buffers = {.count = 0};
    if (!is_index_type(b->from_type) || !is_index_type(b->to_type)) {
        return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "from_type is %d, to_type %d", (int)b->from_type,
                         (int)b->to_type);
    }
    if (b->rows < 0 || b->from_pitch < 0 || b->to_pitch < 0 ||
        (b->rows > 0 && (b->from_pitch > most / b->rows || b->to_pitch > most / b->rows))) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "rows are %lld, of %lld and %lld numbers",
                         (long long)b->rows, (long long)b->from_pitch, (long long)b->to_pitch);
    }
    const size_t rows = (size_t)b->rows, from = bytes_of(b->from_type), to = bytes_of(b->to_type);
    buffer_list_add(&buffers,
                    (struct buffer){"from", b->from, rows * (size_t)b->from_pitch * from, from, true, false});
    buffer_list_add(&buffers, (struct buffer){"to", b->to, rows * (size_t)b->to_pitch * to, to, true, true});
    return topk_check_memory(context, &buffers);
}

topk_status topk_break_rows(const topk_context *context, int64_t rows, topk_index_type from_type,
                            const void *from, int64_t from_pitch, topk_index_type to_type, void *to,
                            int64_t to_pitch, topk_stream stream) {
    KEEP_ERRNO;
    const struct breaking breaking = {rows, from_pitch, to_pitch, from_type, to_type, from, to};
    topk_status status = check_context(context, stream);
    status = status == TOPK_OK ? check_breaking(context, &breaking) : status;
    return status != TOPK_OK || rows == 0 || from_pitch == 0 || to_pitch == 0
               ? status
               : context->backend->transfers->break_rows(context, &breaking, stream);
}
