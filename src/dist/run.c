/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <inttypes.h>

#include "error.h"

enum { INPUT_BYTES_FIRST = 64, OUTPUT_BYTES_FIRST = 64, SOURCE_BYTES_FIRST = 48 };

static topk_status check_aligned(const char *name, const void *array, size_t bytes) {
    return (uintptr_t)array % bytes == 0
               ? TOPK_OK
               : topk_dist_fail(TOPK_ERROR_MISALIGNED, "output->%s is not aligned to %zu bytes", name, bytes);
}

/* Outputs that the operation does not have, or in another type. */
static topk_status check_output(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const size_t value = topk_type_size(p->problem.type),
                 index = topk_dist_integer_bytes(p->problem.index_type);
    const topk_dist_output *o = &r->output;
    const bool selects = topk_dist_selects(p), is_placed = topk_dist_is_placed(p);
    const struct {
        const char *name;
        const void *array;
        size_t bytes;
        bool has;
    } outputs[] = {
        {"values", o->values, value, p->operation != TOPK_OPERATION_COUNT},
        {"indices", o->indices, index, selects},
        {"own_k", o->own_k, sizeof(int64_t), is_placed},
        {"before", o->before, sizeof(int64_t), is_placed},
        {"better", o->better, sizeof(int64_t), p->operation == TOPK_OPERATION_KTH},
        {"equal", o->equal, sizeof(int64_t), p->operation == TOPK_OPERATION_KTH},
        {"counts", o->counts, sizeof(int64_t), p->operation == TOPK_OPERATION_COUNT},
    };
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        if (outputs[i].array != NULL && !outputs[i].has) {
            return topk_dist_fail(TOPK_ERROR_CONTRADICTION, "output->%s: the plan writes none",
                                  outputs[i].name);
        }
        const topk_status status = check_aligned(outputs[i].name, outputs[i].array, outputs[i].bytes);
        if (status != TOPK_OK) {
            return status;
        }
    }
    return p->operation == TOPK_OPERATION_COUNT && o->counts == NULL && p->problem.rows > 0
               ? topk_dist_fail(TOPK_ERROR_NULL_POINTER, "output->counts is NULL")
               : TOPK_OK;
}

/* The input of a run with a source. */
static topk_status check_streamed(const topk_input *input, size_t extent) {
    if (input->values != NULL || input->indices != NULL || input->begins != NULL || input->ends != NULL ||
        input->offsets != NULL) {
        return topk_dist_fail(TOPK_ERROR_CONTRADICTION,
                              "input has values, indices, begins, ends or offsets beside a source");
    }
    if (input->predicate != NULL &&
        (input->predicate->kind == TOPK_BYTE_MASK || input->predicate->kind == TOPK_BIT_MASK)) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED, "elements that come in pieces have no mask");
    }
    return (uintptr_t)input->lengths % extent == 0
               ? TOPK_OK
               : topk_dist_fail(TOPK_ERROR_MISALIGNED, "input->lengths is not aligned to %zu bytes", extent);
}

static topk_status check_input(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const bool takes = p->operation == TOPK_OPERATION_SELECT_WHERE || p->operation == TOPK_OPERATION_COUNT;
    if (takes != (r->input.predicate != NULL)) {
        return takes ? topk_dist_fail(TOPK_ERROR_NULL_POINTER, "input->predicate is NULL")
                     : topk_dist_fail(TOPK_ERROR_CONTRADICTION, "input->predicate: the operation takes none");
    }
    if (takes && r->input.predicate->kind == TOPK_AT_LEAST) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED,
                              "input->predicate is AT_LEAST, which ranks do not take");
    }
    if (topk_dist_is_streamed(p)) {
        return check_streamed(&r->input, topk_dist_integer_bytes(p->problem.extent_type));
    }
    if (!topk_dist_selects(p)) {
        return TOPK_OK;
    }
    if (p->options.map != TOPK_DIST_TABLE && r->input.indices != NULL) {
        return topk_dist_fail(TOPK_ERROR_CONTRADICTION, "input->indices, but positions have no table");
    }
    if (topk_dist_has_table(p) && r->input.indices == NULL) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER,
                              "input->indices is NULL: it has the table of positions");
    }
    if (p->options.map == TOPK_DIST_TABLE &&
        (uintptr_t)r->input.indices % topk_dist_integer_bytes(p->problem.index_type) != 0) {
        return topk_dist_fail(TOPK_ERROR_MISALIGNED, "input->indices is not aligned to its integers");
    }
    return TOPK_OK;
}

static topk_status check_part(const struct topk_dist_plan *p, int64_t number, const topk_dist_part *part) {
    if (part->values == NULL && part->length > 0 && p->problem.rows > 0) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "source->parts[%" PRId64 "].values is NULL", number);
    }
    int64_t reach; /* from the first row to the last, if elements had 8 bytes */
    if (p->problem.rows > 1 && (__builtin_mul_overflow(p->problem.rows - 1, part->row_stride, &reach) ||
                                __builtin_mul_overflow(reach, 8, &reach))) {
        return topk_dist_fail(TOPK_ERROR_OVERFLOW,
                              "source->parts[%" PRId64 "] exceeds 2^63 bytes: its row_stride is %" PRId64,
                              number, part->row_stride);
    }
    return (uintptr_t)part->values % topk_type_size(p->problem.type) == 0
               ? TOPK_OK
               : topk_dist_fail(TOPK_ERROR_MISALIGNED,
                                "source->parts[%" PRId64 "].values is not aligned to its elements", number);
}

static topk_status check_parts(const struct topk_dist_plan *p, const topk_dist_source *s) {
    int64_t length = 0;
    for (int64_t part = 0; part < s->parts_count; part++) {
        const topk_dist_part *const at = &s->parts[part];
        if (at->length < 0 || at->row_stride < 0 || __builtin_add_overflow(length, at->length, &length)) {
            return topk_dist_fail(TOPK_ERROR_OUT_OF_RANGE,
                                  "source->parts[%" PRId64 "] has the length %" PRId64
                                  " and the stride %" PRId64,
                                  part, at->length, at->row_stride);
        }
        const topk_status status = check_part(p, part, at);
        if (status != TOPK_OK) {
            return status;
        }
    }
    return length == s->length ? TOPK_OK
                               : topk_dist_fail(TOPK_ERROR_CONTRADICTION,
                                                "source->length is %" PRId64 ", but its parts have %" PRId64,
                                                s->length, length);
}

static topk_status check_source(struct run *r, bool is_given, const topk_dist_source *source) {
    const struct topk_dist_plan *p = r->plan;
    topk_dist_source *const s = &r->source;
    if (is_given != topk_dist_is_streamed(p)) {
        return topk_dist_fail(TOPK_ERROR_CONTRADICTION, "options->origin of the plan is %d: a run takes %s",
                              (int)p->options.origin, is_given ? "no source" : "a source");
    }
    if (!is_given) {
        return TOPK_OK;
    }
    const topk_status status = topk_dist_read_struct("source", source, SOURCE_BYTES_FIRST, sizeof *s, s);
    if (status != TOPK_OK) {
        return status;
    }
    const bool reads = topk_dist_reads(p);
    if (reads != (s->read != NULL) || (reads && (s->parts != NULL || s->parts_count != 0))) {
        return topk_dist_fail(TOPK_ERROR_CONTRADICTION,
                              "source: options->origin of the plan asks for %s alone",
                              reads ? "read" : "parts");
    }
    if (s->length < 0 || s->length > p->longest || s->parts_count < 0) {
        return topk_dist_fail(TOPK_ERROR_OUT_OF_RANGE,
                              "source->length is %" PRId64 " of %" PRId64 ", in %" PRId64 " parts", s->length,
                              p->longest, s->parts_count);
    }
    if (s->parts == NULL && s->parts_count > 0) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "source->parts is NULL");
    }
    return reads ? TOPK_OK : check_parts(p, s);
}

static topk_status begin(struct run *r, const topk_input *input, const topk_dist_output *output,
                         void *workspace, size_t workspace_bytes, topk_stream stream) {
    const struct topk_dist_plan *p = r->plan;
    topk_status status = topk_dist_read_struct("input", input, INPUT_BYTES_FIRST, sizeof r->input, &r->input);
    if (status == TOPK_OK) {
        status = topk_dist_read_struct("output", output, OUTPUT_BYTES_FIRST, sizeof r->output, &r->output);
    }
    status = status == TOPK_OK ? check_output(r) : status;
    status = status == TOPK_OK ? check_input(r) : status;
    if (status != TOPK_OK) {
        return status;
    }
    if (stream != NULL && p->backend == TOPK_BACKEND_CPU) {
        return topk_dist_fail(TOPK_ERROR_CONTRADICTION, "stream is not NULL: the context is on the CPU");
    }
    if (workspace == NULL && p->workspace_bytes > 0) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "workspace is NULL");
    }
    if (workspace_bytes < p->workspace_bytes) {
        return topk_dist_fail(TOPK_ERROR_WORKSPACE_TOO_SMALL, "workspace has %zu bytes: the plan needs %zu",
                              workspace_bytes, p->workspace_bytes);
    }
    r->stream = stream;
    r->lengths = p->on_device ? NULL : r->input.lengths;
    (void)topk_dist_lay_out(p, workspace, &r->b);
    return p->on_device ? TOPK_OK : topk_dist_check_table(r);
}

static topk_status run(topk_dist_plan *plan, bool is_given, const topk_dist_source *source,
                       const topk_input *input, const topk_dist_output *output, void *workspace,
                       size_t workspace_bytes, topk_stream stream) {
    struct failure failure = {.status = TOPK_OK};
    struct run r = {.plan = plan, .failure = &failure};
    topk_status status = check_source(&r, is_given, source);
    status = status == TOPK_OK ? begin(&r, input, output, workspace, workspace_bytes, stream) : status;
    if (plan->on_device) {
        return topk_dist_run_on_device(&r, status);
    }
    switch (plan->operation) {
    case TOPK_OPERATION_KTH:
        return topk_dist_run_kth(&r, status);
    case TOPK_OPERATION_COUNT:
        return topk_dist_run_count(&r, status);
    default:
        return plan->strategy == TOPK_DIST_HISTOGRAM ? topk_dist_run_histogram(&r, status)
                                                     : topk_dist_run_gather(&r, status);
    }
}

topk_status topk_dist_plan_run(topk_dist_plan *plan, const topk_input *input, const topk_dist_output *output,
                               void *workspace, size_t workspace_bytes, topk_stream stream) {
    return plan == NULL ? topk_dist_fail(TOPK_ERROR_NULL_POINTER, "plan is NULL")
                        : run(plan, false, NULL, input, output, workspace, workspace_bytes, stream);
}

topk_status topk_dist_plan_run_source(topk_dist_plan *plan, const topk_dist_source *source,
                                      const topk_input *input, const topk_dist_output *output,
                                      void *workspace, size_t workspace_bytes, topk_stream stream) {
    return plan == NULL ? topk_dist_fail(TOPK_ERROR_NULL_POINTER, "plan is NULL")
                        : run(plan, true, source, input, output, workspace, workspace_bytes, stream);
}
