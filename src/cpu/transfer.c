/* SPDX-License-Identifier: Apache-2.0
 * Moving data where the device is the host. */
#include "../transfer.h"

#include <stdlib.h>
#include <string.h>

#include "../status.h"
#include "methods.h"

static topk_status copy(const topk_context *context, void *to, const void *from, size_t bytes,
                        topk_stream stream) {
    (void)context, (void)stream;
    memcpy(to, from, bytes);
    return TOPK_OK;
}

static topk_status fill(const topk_context *context, void *to, int byte, size_t bytes, topk_stream stream) {
    (void)context, (void)stream;
    memset(to, byte, bytes);
    return TOPK_OK;
}

static topk_status wait_for(const topk_context *context, topk_stream stream) {
    (void)context, (void)stream;
    return TOPK_OK;
}

static topk_status allocate_host(const topk_context *context, size_t bytes, void **memory) {
    (void)context;
    *memory = malloc(bytes);
    return *memory != NULL ? TOPK_OK
                           : topk_fail(TOPK_ERROR_OUT_OF_MEMORY, "cannot allocate %zu bytes", bytes);
}

static topk_status release_host(const topk_context *context, void *memory) {
    (void)context;
    free(memory);
    return TOPK_OK;
}

/* By unsigned arithmetic: what does not fit is the caller's. */
static int64_t renumbered(const topk_renumbering *r, int64_t number) {
    return number < 0 ? number : (int64_t)((uint64_t)number * (uint64_t)r->factor + (uint64_t)r->addend);
}

static topk_status renumber(const topk_context *context, const topk_renumbering *r, const void *from,
                            void *to, topk_stream stream) {
    (void)context, (void)stream;
    for (int64_t i = 0; i < r->count; i++) {
        const int64_t number =
            r->from_type == TOPK_INDEX_I32 ? ((const int32_t *)from)[i] : ((const int64_t *)from)[i];
        if (r->to_type == TOPK_INDEX_I32) {
            ((int32_t *)to)[i] = (int32_t)renumbered(r, number);
        } else {
            ((int64_t *)to)[i] = renumbered(r, number);
        }
    }
    return TOPK_OK;
}

const struct transfers topk_cpu_transfers = {.copy = copy,
                                             .fill = fill,
                                             .wait = wait_for,
                                             .allocate_host = allocate_host,
                                             .release_host = release_host,
                                             .renumber = renumber};
