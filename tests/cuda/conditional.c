/* SPDX-License-Identifier: Apache-2.0
 *
 * Each call of an operation in which elements rank runs as calls inside other ones do (src/subcall.h): on a
 * condition that the device holds. It runs twice. While the condition is 0, it must leave the outputs alone
 * and do nothing to its workspace but clear it. Then the condition is 1, and the results are the caller's,
 * who compares them as ever. Each run launches no more kernels than its decision says.
 *
 * Linked into a program over cases in place of topk_cuda_run(): every method runs like that, under all the
 * options, types and shapes of the list. Memory must be the host's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulated_device.h"
#include "gaps.h"
#include "method.h"

topk_status __real_topk_cuda_run(const struct call *call);
topk_status __wrap_topk_cuda_run(const struct call *call);

enum { OUTPUTS = 5, UNTOUCHED = 0xb7 }; /* what gaps hold, too */

typedef struct output {
    void *data;
    size_t bytes;
    void *before;
} output;

static void stop(const char *why, const struct call *call) {
    const char *const method = call->plan->problem.method;
    fprintf(stderr, "%s, on a condition, %s\n", method != NULL ? method : "default", why);
    abort();
}

static void copy_outputs(const struct call *call, output *outputs) {
    const struct plan *plan = call->plan;
    const size_t rows = (size_t)(plan->problem.rows * plan->ranks),
                 values = plan->operation == TOPK_OPERATION_KTH ? rows : plan->output_elements;
    const output all[OUTPUTS] = {{call->values, values * plan->element_bytes, NULL},
                                 {call->indices, values * plan->index_bytes, NULL},
                                 {call->weights, values * sizeof *call->weights, NULL},
                                 {call->better, rows * sizeof *call->better, NULL},
                                 {call->equal, rows * sizeof *call->equal, NULL}};
    for (int i = 0; i < OUTPUTS; i++) {
        outputs[i] = all[i];
        outputs[i].bytes = all[i].data == NULL ? 0 : all[i].bytes;
        outputs[i].before = malloc(outputs[i].bytes + 1);
        if (outputs[i].before == NULL) {
            abort();
        }
        if (outputs[i].bytes > 0) {
            memcpy(outputs[i].before, outputs[i].data, outputs[i].bytes);
        }
    }
}

static void check_outputs(const struct call *call, output *outputs) {
    for (int i = 0; i < OUTPUTS; i++) {
        if (outputs[i].bytes > 0 && memcmp(outputs[i].before, outputs[i].data, outputs[i].bytes) != 0) {
            stop("writes to its outputs", call);
        }
        free(outputs[i].before);
    }
}

static void check_workspace(const struct call *call, const unsigned char *workspace, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        if (workspace[i] != UNTOUCHED && workspace[i] != 0) {
            stop("writes to its workspace", call);
        }
    }
}

static topk_status run_counted(const struct call *call) {
    const uint64_t before = emulated_launches();
    const topk_status status = __real_topk_cuda_run(call);
    const uint64_t launches = emulated_launches() - before;
    if (launches > (uint64_t)call->decision->launches) {
        stop("launches more kernels than it has decided", call);
    }
    return status;
}

static topk_status run_called_off(struct call call) {
    const uint32_t condition = 0;
    const size_t bytes = call.decision->workspace_bytes;
    output outputs[OUTPUTS];
    if (call.workspace != NULL) {
        memset(call.workspace, UNTOUCHED, bytes);
    }
    copy_outputs(&call, outputs);
    call.condition = &condition;
    const topk_status status = run_counted(&call);
    topk_gaps_release(call.workspace, bytes);
    check_outputs(&call, outputs);
    check_workspace(&call, call.workspace, bytes);
    return status;
}

topk_status __wrap_topk_cuda_run(const struct call *outer) {
    const uint32_t condition = 1;
    if (!operation_ranks(outer->plan->operation)) {
        return run_counted(outer);
    }
    struct call call = *outer;
    const topk_status status = run_called_off(call);
    call.condition = &condition;
    return status != TOPK_OK ? status : run_counted(&call);
}
