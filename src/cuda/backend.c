/* SPDX-License-Identifier: Apache-2.0
 * Contexts of the CUDA backend, and its method table. */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>

#include "../status.h"
#include "air/air.h"
#include "compact/compact.h"
#include "leaf.h"
#include "sort/sort.h"

enum {
    SELECTS = OPERATION_BIT(TOPK_OPERATION_SELECT) | OPERATION_BIT(TOPK_OPERATION_KTH),
};

static const struct method methods[] = {
    {"air", SELECTS | OPERATION_BIT(TOPK_OPERATION_SELECT_WHERE), topk_air_knobs, topk_air_refuse,
     topk_air_cost_us, topk_air_workspace_bytes, topk_air_run},
    {"compact",
     OPERATION_BIT(TOPK_OPERATION_WHERE) | OPERATION_BIT(TOPK_OPERATION_COUNT) |
         OPERATION_BIT(TOPK_OPERATION_MASK),
     topk_cuda_compact_knobs, topk_cuda_compact_refuse, topk_cuda_compact_cost_us,
     topk_cuda_compact_workspace_bytes, topk_cuda_compact_run},
    {"sort", SELECTS, NULL, topk_sort_refuse, topk_sort_cost_us, topk_sort_workspace_bytes, topk_sort_run},
};

const struct backend topk_cuda_backend = {"cuda", methods, sizeof methods / sizeof methods[0]};

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

topk_status topk_cuda_status(void) {
    const int waiting = topk_device_waiting_error();
    const topk_status status = check_any();
    topk_device_forget_error(waiting);
    return status;
}

/* With the context's device current. */
static topk_status probe(topk_context *context, struct cuda_leaf *leaf) {
    struct device_info *device = &leaf->device;
    int error = topk_device_query(context->device, device);
    if (error != 0) {
        return unavailable("the CUDA device does not answer", error);
    }
    device->dependent_launch = topk_device_knows_dependent_launches();
    if ((error = topk_air_prepare(device)) != 0 || (error = topk_sort_prepare()) != 0 ||
        (error = topk_cuda_compact_prepare(device)) != 0) {
        return unavailable("the kernels of this build cannot be loaded", error);
    }
    (void)snprintf(leaf->features, sizeof leaf->features, "%s, sm_%d%d, %d SMs", device->name, device->major,
                   device->minor, device->sms);
    context->features = leaf->features;
    return TOPK_OK;
}

static topk_status open_device(topk_context *context) {
    int count = 0;
    int error = topk_device_count(&count);
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
    struct cuda_leaf *leaf = calloc(1, sizeof *leaf);
    if (leaf == NULL) {
        return topk_fail(TOPK_ERROR_OUT_OF_MEMORY, "cannot allocate %zu bytes", sizeof *leaf);
    }
    context->leaf = leaf;
    if ((error = topk_device_open(context->device, &leaf->handle)) != 0 ||
        (error = topk_device_enter(&leaf->handle)) != 0) {
        return unavailable("the CUDA device does not answer", error);
    }
    status = probe(context, leaf);
    (void)topk_device_leave(&leaf->handle);
    return status;
}

topk_status topk_cuda_probe(topk_context *context) {
    const int waiting = topk_device_waiting_error();
    const topk_status status = open_device(context);
    topk_device_forget_error(waiting);
    return status;
}

void topk_cuda_close(topk_context *context) {
    struct cuda_leaf *leaf = context->leaf;
    topk_device_close(&leaf->handle);
    free(leaf);
}

topk_status topk_cuda_run(const struct call *call, int (*enqueue)(const struct call *call)) {
    const struct device_handle *handle = &((const struct cuda_leaf *)call->context->leaf)->handle;
    const int waiting = topk_device_waiting_error();
    int error = topk_device_enter(handle);
    if (error == 0) {
        error = enqueue(call);
        const int left = topk_device_leave(handle);
        error = error != 0 ? error : left;
    }
    if (error == 0) {
        return TOPK_OK;
    }
    topk_device_forget_error(waiting);
    return topk_fail(TOPK_ERROR_DEVICE, "CUDA error %d: %s", error, topk_device_error(error));
}
