/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "choose.h"
#include "cpu/backend.h"
#include "cuda/backend.h"
#include "status.h"

enum { THREADS_MAX = 1024 };

/* The process that created the first context; set once. */
static _Atomic pid_t first_process;

int topk_context_threads(const topk_context *context) {
    return context->threads > 1 && getpid() != atomic_load(&first_process) ? 1 : context->threads;
}

topk_status topk_backend_status(topk_backend backend) {
    switch (backend) {
    case TOPK_BACKEND_AUTO:
    case TOPK_BACKEND_CPU:
        return TOPK_OK;
    case TOPK_BACKEND_CUDA:
        return topk_cuda_status();
    }
    return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "backend is %d, must be 0 to 2", (int)backend);
}

static topk_status read_environment(topk_context *context) {
    const struct backend *const backends[] = {context->backend, &topk_cpu_backend, &topk_cuda_backend};
    const char *name = getenv("TOPK_METHOD");
    if (name == NULL || *name == '\0') {
        return TOPK_OK;
    }
    for (size_t i = 0; i < sizeof backends / sizeof backends[0] && context->preferred == NULL; i++) {
        context->preferred = topk_find_method(backends[i], name);
    }
    return context->preferred != NULL
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_UNKNOWN_METHOD, "TOPK_METHOD: no backend has a method '%s'", name);
}

static topk_status open_cuda(topk_context *context) {
    context->kind = TOPK_BACKEND_CUDA;
    context->backend = &topk_cuda_backend;
    context->threads = 1;
    return topk_cuda_probe(context);
}

static topk_status open_cpu(const topk_context_options *options, topk_context *context) {
    context->kind = TOPK_BACKEND_CPU;
    context->backend = &topk_cpu_backend;
    if (options->device != 0) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "options->device is %d, the CPU is device 0",
                         options->device);
    }
    pid_t none = 0;
    (void)atomic_compare_exchange_strong(&first_process, &none, getpid());
    context->threads = options->threads != 0 ? options->threads : topk_cpu_default_threads(THREADS_MAX);
    return topk_cpu_probe(context);
}

/* A system that refuses to give randomness leaves 0, a seed like any other but for being known. */
static uint64_t draw_seed(void) {
    uint64_t seed = 0;
    return getentropy(&seed, sizeof seed) == 0 ? seed : 0;
}

static topk_status fill_context(const topk_context_options *options, topk_context *context) {
    topk_status status = TOPK_OK;
    /* Of CUDA's devices the one that is named counts. */
    if (options->backend != TOPK_BACKEND_CUDA &&
        (status = topk_backend_status(options->backend)) != TOPK_OK) {
        return status;
    }
    if (options->threads < 0 || options->threads > THREADS_MAX) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "options->threads is %d, must be 0 to %d", options->threads,
                         THREADS_MAX);
    }
    context->device = options->device;
    context->seed = options->seed != 0 ? options->seed : draw_seed();
    if (options->backend != TOPK_BACKEND_CPU) {
        status = open_cuda(context);
    }
    if (options->backend == TOPK_BACKEND_CPU ||
        (options->backend == TOPK_BACKEND_AUTO && status == TOPK_ERROR_BACKEND_UNAVAILABLE)) {
        status = open_cpu(options, context);
    }
    return status != TOPK_OK ? status : read_environment(context);
}

void topk_context_destroy(topk_context *context) {
    if (context != NULL) {
        if (context->leaf != NULL) {
            topk_cuda_close(context);
        }
        free(context);
    }
}

topk_status topk_context_create(const topk_context_options *options, topk_context **context) {
    topk_context_options known = TOPK_CONTEXT_OPTIONS_INIT;
    topk_status status;
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    *context = NULL;
    if (options != NULL && (status = topk_copy_struct(options, sizeof known, &known, "options")) != TOPK_OK) {
        return status;
    }
    topk_context *created = calloc(1, sizeof *created);
    if (created == NULL) {
        return topk_fail(TOPK_ERROR_OUT_OF_MEMORY, "cannot allocate a context of %zu bytes", sizeof *created);
    }
    status = fill_context(&known, created);
    if (status != TOPK_OK) {
        topk_context_destroy(created);
        return status;
    }
    *context = created;
    return TOPK_OK;
}

topk_status topk_context_query(const topk_context *context, topk_context_properties *properties) {
    topk_context_properties known = TOPK_CONTEXT_PROPERTIES_INIT;
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    const topk_status status = topk_copy_struct(properties, sizeof known, &known, "properties");
    if (status != TOPK_OK) {
        return status;
    }
    properties->backend = context->kind;
    properties->device = context->device;
    properties->threads = topk_context_threads(context);
    properties->features = context->features;
    return TOPK_OK;
}
