/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "elements.h"
#include "random.h"

enum { POISON = 0xdd };

run_result run_fail(const char *format, ...) {
    va_list arguments;
    fputs("    ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return RUN_FAILED;
}

bool wants_values(const instance *i) {
    return i->source->value[DIM_OUTPUTS] == OUTPUTS_BOTH || i->source->value[DIM_OUTPUTS] == OUTPUTS_VALUES;
}

bool wants_indices(const instance *i) {
    return i->source->value[DIM_OUTPUTS] == OUTPUTS_BOTH || i->source->value[DIM_OUTPUTS] == OUTPUTS_INDICES;
}

static guarded dirty_workspace(const test_case *c, size_t bytes) {
    static const long offsets[] = {0, 1, 3, GUARDED_AT_END};
    static const unsigned char contents[] = {0x00, 0xff, 0xa5};
    int64_t level = c->value[DIM_WORKSPACE];
    guarded workspace = guarded_allocate(bytes, offsets[level]);
    if (level < 3) {
        guarded_fill(&workspace, contents[level]);
        return workspace;
    }
    random_state random = {c->seed};
    for (size_t b = 0; b < bytes; b++) {
        ((unsigned char *)workspace.data)[b] = (unsigned char)random_bits(&random);
    }
    return workspace;
}

/* The workspace that the problem asks for; with a limit of half of that, if the method can do with it. */
static topk_status workspace_bytes(const topk_context *context, topk_operation operation, const test_case *c,
                                   topk_problem *problem, size_t *bytes) {
    size_t limited;
    topk_status status = topk_workspace_size(context, operation, problem, bytes);
    if (status != TOPK_OK || c->value[DIM_LIMIT] != LIMIT_HALF || *bytes <= 1) {
        return status;
    }
    problem->workspace_limit = *bytes / 2;
    status = topk_workspace_size(context, operation, problem, &limited);
    if (status == TOPK_ERROR_METHOD_CANNOT) {
        problem->workspace_limit = 0;
        return TOPK_OK;
    }
    *bytes = limited;
    return status;
}

run_result run_prepare(topk_context *context, topk_operation operation, const instance *i, const char *method,
                       run_setup *setup) {
    size_t bytes = 0;
    setup->problem = i->problem;
    setup->problem.method = method;
    topk_status status = workspace_bytes(context, operation, i->source, &setup->problem, &bytes);
    if (status == TOPK_ERROR_METHOD_CANNOT && method != NULL) {
        return RUN_CANNOT;
    }
    if (status != TOPK_OK) {
        return run_fail("topk_workspace_size: %s: %s", topk_status_string(status), topk_last_error());
    }
    if (setup->problem.workspace_limit != 0 && bytes > setup->problem.workspace_limit) {
        return run_fail("workspace of %zu bytes exceeds the limit of %zu", bytes,
                        setup->problem.workspace_limit);
    }
    setup->workspace = dirty_workspace(i->source, bytes);
    return RUN_PASSED;
}

guarded run_output(bool wanted, int64_t count, size_t element_bytes) {
    guarded output = {NULL, 0, NULL, 0};
    if (wanted) {
        output = guarded_allocate((size_t)count * element_bytes, GUARDED_AT_END);
        guarded_fill(&output, POISON);
    }
    return output;
}

uint64_t run_output_bits(topk_type type, const guarded *output, int64_t i) {
    return element_get_bits(type, output->data, i);
}

run_result run_finish(const instance *i, run_setup *setup, topk_status status, run_result judged,
                      guarded *outputs, int output_count) {
    if (status != TOPK_OK) {
        judged = run_fail("%s: %s", topk_status_string(status), topk_last_error());
    }
    if (!guarded_intact(&setup->workspace)) {
        judged = run_fail("wrote outside of the %zu bytes of workspace", setup->workspace.bytes);
    }
    if (!instance_intact(i)) {
        judged = run_fail("wrote next to an input");
    }
    guarded_free(&setup->workspace);
    for (int o = 0; o < output_count; o++) {
        if (outputs[o].map != NULL && !guarded_intact(&outputs[o])) {
            judged = run_fail("wrote outside of output %d", o);
        }
        guarded_free(&outputs[o]);
    }
    return judged;
}
