/* SPDX-License-Identifier: Apache-2.0
 * Contexts of the CUDA backend. */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>

#include "../status.h"
#include "leaf.h"
#include "methods.h"
#include "ordering/ordering.h"
#include "predicate/args.h"

static const struct method *const methods[] = {TOPK_CUDA_METHODS(METHOD_ADDRESS)};
enum { METHODS = sizeof methods / sizeof methods[0] };
_Static_assert(sizeof methods <= METHODS_MAX * sizeof methods[0], "the chooser has room for all");

static topk_status unavailable(const char *what, int error) {
    return topk_fail(TOPK_ERROR_BACKEND_UNAVAILABLE, "%s: %s", what, topk_device_error(error));
}

/* The oldest device that the kernels are compiled for. */
enum { MAJOR_MIN = 7, MINOR_MIN = 5 };

static bool is_recent(int major, int minor) {
    return major * 10 + minor >= MAJOR_MIN * 10 + MINOR_MIN;
}

static topk_status check_capability(int ordinal) {
    int major = 0, minor = 0;
    const int error = topk_device_capability(ordinal, &major, &minor);
    if (error != 0) {
        return unavailable("the CUDA device does not answer", error);
    }
    return is_recent(major, minor) ? TOPK_OK
                                   : topk_fail(TOPK_ERROR_BACKEND_UNAVAILABLE,
                                               "CUDA device %d has compute capability %d.%d, %d.%d is needed",
                                               ordinal, major, minor, MAJOR_MIN, MINOR_MIN);
}

/* If no device will do, the reason is the first one's. */
static topk_status check_any(void) {
    int count = 0;
    const int error = topk_device_count(&count);
    if (error != 0) {
        return unavailable("no CUDA device", error);
    }
    for (int ordinal = 0; ordinal < count; ordinal++) {
        int major = 0, minor = 0;
        if (topk_device_capability(ordinal, &major, &minor) == 0 && is_recent(major, minor)) {
            return TOPK_OK;
        }
    }
    return count > 0 ? check_capability(0) : topk_fail(TOPK_ERROR_BACKEND_UNAVAILABLE, "no CUDA device");
}

static topk_status cuda_status(void) {
    const int waiting = topk_device_waiting_error();
    const topk_status status = check_any();
    topk_device_forget_error(waiting);
    return status;
}

static void close_context(topk_context *context) {
    struct cuda_leaf *leaf = context->leaf;
    topk_device_close(&leaf->handle);
    free(leaf);
    context->leaf = NULL;
}

/* With the context's device current. */
static topk_status prepare(topk_context *context, struct cuda_leaf *leaf) {
    struct device_info *device = &leaf->device;
    int error = topk_device_query(context->device, device);
    if (error != 0) {
        return unavailable("the CUDA device does not answer", error);
    }
    device->dependent_launch = topk_device_knows_dependent_launches();
    for (int i = 0; i < METHODS && error == 0; i++) {
        error = methods[i]->prepare == NULL ? 0 : methods[i]->prepare(context);
    }
    error = error != 0 ? error : topk_cuda_prepare_ordering(context);
    error = error != 0 ? error : topk_cuda_prepare_accumulators(context);
    error = error != 0 ? error : topk_cuda_prepare_sharding(context);
    error = error != 0 ? error : topk_cuda_prepare_peering(context);
    error = error != 0 ? error : topk_cuda_prepare_transfers(context);
    error = error != 0 ? error : topk_cuda_prepare_ranks(context);
    if (error != 0) {
        return unavailable("the kernels of this build cannot be loaded", error);
    }
    (void)snprintf(leaf->features, sizeof leaf->features, "%s, sm_%d%d, %d SMs", device->name, device->major,
                   device->minor, device->sms);
    context->features = leaf->features;
    return TOPK_OK;
}

/* With a leaf that is zero. */
static topk_status open_leaf(topk_context *context) {
    struct cuda_leaf *leaf = context->leaf;
    int error = topk_device_open(context->device, &leaf->handle);
    error = error != 0 ? error : topk_device_enter(&leaf->handle);
    if (error != 0) {
        return unavailable("the CUDA device does not answer", error);
    }
    const topk_status status = prepare(context, leaf);
    (void)topk_device_leave(&leaf->handle);
    return status;
}

static topk_status open_device(topk_context *context) {
    int count = 0;
    const int error = topk_device_count(&count);
    topk_status status;
    if (error != 0 || count == 0) {
        return check_any();
    }
    if (context->device < 0 || context->device >= count) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "options->device is %d, there are %d CUDA devices",
                         context->device, count);
    }
    if ((status = check_capability(context->device)) != TOPK_OK) {
        return status;
    }
    context->threads = 1;
    context->leaf = calloc(1, sizeof(struct cuda_leaf));
    if (context->leaf == NULL) {
        return topk_fail(TOPK_ERROR_OUT_OF_MEMORY, "cannot allocate %zu bytes", sizeof(struct cuda_leaf));
    }
    if ((status = open_leaf(context)) != TOPK_OK) {
        close_context(context);
    }
    return status;
}

static topk_status open_context(const topk_context_options *options, topk_context *context) {
    const int waiting = topk_device_waiting_error();
    const topk_status status = open_device(context);
    (void)options; /* the device is the context's */
    topk_device_forget_error(waiting);
    return status;
}

const struct backend topk_cuda_backend = {
    .name = "cuda",
    .kind = TOPK_BACKEND_CUDA,
    .has_streams = true,
    .accumulators = &topk_cuda_accumulators,
    .sharding = &topk_cuda_sharding,
    .peering = &topk_cuda_peering,
    .transfers = &topk_cuda_transfers,
    .methods = methods,
    .method_count = METHODS,
    .status = cuda_status,
    .open = open_context,
    .close = close_context,
    .decide_ranks = topk_cuda_decide_ranks,
    .check_predicate = topk_cuda_check_predicate,
    .run = topk_cuda_run,
    .allocate = topk_cuda_allocate,
    .release = topk_cuda_release,
};
