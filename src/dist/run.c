/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "error.h"

enum { INPUT_BYTES_FIRST = 64, OUTPUT_BYTES_FIRST = 64 };

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

static topk_status check_input(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const bool takes = p->operation == TOPK_OPERATION_SELECT_WHERE || p->operation == TOPK_OPERATION_COUNT;
    if (takes != (r->input.predicate != NULL)) {
        return takes ? topk_dist_fail(TOPK_ERROR_NULL_POINTER, "input->predicate is NULL")
                     : topk_dist_fail(TOPK_ERROR_CONTRADICTION, "input->predicate: the operation takes none");
    }
    if (!topk_dist_selects(p)) {
        return TOPK_OK;
    }
    if (p->options.map != TOPK_DIST_TABLE && r->input.indices != NULL) {
        return topk_dist_fail(TOPK_ERROR_CONTRADICTION, "input->indices, but positions have no table");
    }
    if (p->options.map == TOPK_DIST_TABLE && r->input.indices == NULL && p->longest > 0 &&
        p->problem.rows > 0) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER,
                              "input->indices is NULL: it has the table of positions");
    }
    return TOPK_OK;
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
    if (stream != NULL) {
        return topk_dist_fail(TOPK_ERROR_CONTRADICTION, "stream is not NULL: the context is on the CPU");
    }
    if (workspace == NULL && p->workspace_bytes > 0) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "workspace is NULL");
    }
    if (workspace_bytes < p->workspace_bytes) {
        return topk_dist_fail(TOPK_ERROR_WORKSPACE_TOO_SMALL, "workspace has %zu bytes: the plan needs %zu",
                              workspace_bytes, p->workspace_bytes);
    }
    (void)topk_dist_lay_out(p, workspace, &r->b);
    return TOPK_OK;
}

topk_status topk_dist_plan_run(topk_dist_plan *plan, const topk_input *input, const topk_dist_output *output,
                               void *workspace, size_t workspace_bytes, topk_stream stream) {
    struct run r = {.plan = plan};
    if (plan == NULL) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "plan is NULL");
    }
    const topk_status status = begin(&r, input, output, workspace, workspace_bytes, stream);
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
