/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include <stdlib.h>
#include <unistd.h>

#include "choose.h"
#include "cpu/backend.h"
#include "cuda/backend.h"
#include "status.h"
#include "structs.h"
#include "threads.h"
#include "topk_advanced.h"

/* In the order in which TOPK_BACKEND_AUTO tries them. The last one is always there. */
static const struct backend *const backends[] = {&topk_cuda_backend, &topk_cpu_backend};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

topk_status topk_check_stream(const topk_context *context, topk_stream stream) {
    return stream == NULL || context->backend->has_streams
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_CONTRADICTION, "stream must be NULL: the %s backend has no streams",
                           context->backend->name);
}

topk_status topk_check_memory(const topk_context *context, const struct buffer_list *buffers) {
    const topk_status status = topk_check_buffers(buffers);
    return status != TOPK_OK || context->driver == NULL ? status
                                                        : context->backend->check_memory(context, buffers);
}

static topk_status find_backend(topk_backend kind, const struct backend **found) {
    for (size_t i = 0; i < BACKENDS; i++) {
        if (backends[i]->kind == kind) {
            *found = backends[i];
            return TOPK_OK;
        }
    }
    return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "backend is %d, must be 0 to %d", (int)kind, BACKENDS);
}

topk_status topk_backend_status(topk_backend kind) {
    KEEP_ERRNO;
    const struct backend *backend = backends[BACKENDS - 1];
    const topk_status status = kind == TOPK_BACKEND_AUTO ? TOPK_OK : find_backend(kind, &backend);
    return status != TOPK_OK ? status : backend->status();
}

/* Of several methods of that name the context's own backend's is meant. */
static topk_status read_environment(topk_context *context) {
    const char *name = getenv("TOPK_METHOD");
    if (name == NULL || *name == '\0') {
        return TOPK_OK;
    }
    context->preferred = topk_find_method(context->backend, name);
    for (size_t i = 0; i < BACKENDS && context->preferred == NULL; i++) {
        context->preferred = topk_find_method(backends[i], name);
    }
    return context->preferred != NULL
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_UNKNOWN_METHOD, "TOPK_METHOD: no backend has a method '%s'", name);
}

/* A system that refuses to give randomness leaves 0, a seed like any other but for being known. */
static uint64_t draw_seed(void) {
    uint64_t seed = 0;
    return getentropy(&seed, sizeof seed) == 0 ? seed : 0;
}

static topk_status open_backend(const topk_context_options *options, const struct backend *backend,
                                topk_context *context) {
    const topk_status status = backend->open(options, context);
    context->backend = status == TOPK_OK ? backend : NULL;
    return status;
}

/* The first that is available. */
static topk_status open_any(const topk_context_options *options, topk_context *context) {
    topk_status status = TOPK_ERROR_BACKEND_UNAVAILABLE;
    for (size_t i = 0; i < BACKENDS && status == TOPK_ERROR_BACKEND_UNAVAILABLE; i++) {
        status = open_backend(options, backends[i], context);
    }
    return status;
}

static topk_status fill_context(const topk_context_options *options, topk_context *context) {
    const bool any = options->backend == TOPK_BACKEND_AUTO;
    const struct backend *backend = NULL;
    topk_status status = any ? TOPK_OK : find_backend(options->backend, &backend);
    if (status != TOPK_OK) {
        return status;
    }
    if (options->threads < 0 || options->threads > THREADS_MAX) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "options->threads is %d, must be 0 to %d", options->threads,
                         THREADS_MAX);
    }
    context->process = getpid();
    context->device = options->device;
    context->seed = options->seed != 0 ? options->seed : draw_seed();
    status = any ? open_any(options, context) : open_backend(options, backend, context);
    return status != TOPK_OK ? status : read_environment(context);
}

void topk_context_destroy(topk_context *context) {
    KEEP_ERRNO;
    if (context != NULL) {
        if (context->backend != NULL) {
            context->backend->close(context);
        }
        free(context);
    }
}

topk_status topk_context_create(const topk_context_options *options, topk_context **context) {
    KEEP_ERRNO;
    topk_context_options known = TOPK_CONTEXT_OPTIONS_INIT;
    topk_status status;
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    *context = NULL;
    if (options != NULL && (status = topk_read_struct(STRUCT_CONTEXT_OPTIONS, options, &known)) != TOPK_OK) {
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
    KEEP_ERRNO;
    topk_context_properties known = TOPK_CONTEXT_PROPERTIES_INIT;
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    const topk_status status = topk_read_struct(STRUCT_CONTEXT_PROPERTIES, properties, &known);
    if (status != TOPK_OK) {
        return status;
    }
    known.backend = context->backend->kind;
    known.device = context->device;
    known.threads = topk_context_threads(context);
    known.features = context->features;
    topk_write_struct(STRUCT_CONTEXT_PROPERTIES, &known, properties);
    return TOPK_OK;
}
