/* SPDX-License-Identifier: Apache-2.0
 * Contexts of the CPU backend. */
#include "backend.h"

#include <stdlib.h>

#include "../context.h"
#include "../status.h"
#include "driver_cuda.h"
#include "kernels/kernels.h"
#include "methods.h"
#include "team.h"

static topk_status status(void) {
    return TOPK_OK;
}

static topk_status open_context(const topk_context_options *options, topk_context *context) {
    if (options->device != 0) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "options->device is %d, the CPU is device 0",
                         options->device);
    }
    const topk_status status = topk_cpu_kernels_choose(context);
    if (status != TOPK_OK) {
        return status;
    }
    const int threads = options->threads != 0 ? options->threads : topk_cpu_team_default_threads(THREADS_MAX);
    if (!topk_cpu_driver_find(context)) {
        return topk_fail(TOPK_ERROR_OUT_OF_MEMORY, "cannot allocate what a context keeps of CUDA's driver");
    }
    if (!topk_cpu_team_start(context, threads)) {
        topk_cpu_driver_leave(context);
        return topk_fail(TOPK_ERROR_OUT_OF_MEMORY, "cannot allocate a team of %d threads", threads);
    }
    return TOPK_OK;
}

static void close_context(topk_context *context) {
    topk_cpu_driver_leave(context);
    topk_cpu_team_end(context);
}

/* Errors of this backend are statuses. */
static topk_status run(const struct call *call) {
    return (topk_status)call->decision->run(call);
}

static topk_status allocate(const topk_context *context, size_t bytes, void **memory) {
    (void)context;
    *memory = malloc(bytes);
    return *memory != NULL
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_OUT_OF_MEMORY, "cannot allocate a workspace of %zu bytes", bytes);
}

static topk_status release(const topk_context *context, void *memory) {
    (void)context;
    free(memory);
    return TOPK_OK;
}

static const struct method *const methods[] = {TOPK_CPU_METHODS(METHOD_ADDRESS)};
enum { METHODS = sizeof methods / sizeof methods[0] };
_Static_assert(sizeof methods <= METHODS_MAX * sizeof methods[0], "the chooser has room for all");

const struct backend topk_cpu_backend = {
    .name = "cpu",
    .kind = TOPK_BACKEND_CPU,
    .accumulators = &topk_cpu_accumulators,
    .sharding = &topk_cpu_sharding,
    .transfers = &topk_cpu_transfers,
    .methods = methods,
    .method_count = METHODS,
    .status = status,
    .open = open_context,
    .close = close_context,
    .run = run,
    .check_memory = topk_cpu_check_memory,
    .allocate = allocate,
    .release = release,
};
