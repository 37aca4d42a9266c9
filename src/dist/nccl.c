/* SPDX-License-Identifier: Apache-2.0
 *
 * The transport over NCCL. Blocks of one rank, and one of each, are pairs of ncclSend() and ncclRecv(), which
 * every version has. A lock keeps the communicator from being aborted within a call. */
#include "topk_dist_nccl.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "group.h"
#include "topk_advanced.h"

enum { TEXT_BYTES = 400 };

struct nccl {
    ncclComm_t communicator; /* the caller's; not there once it was aborted */
    int rank, ranks;
    bool aborted; /* under the lock, as all calls with the communicator */
    bool is_open; /* between begin() and end(), which hold the lock: calls join NCCL's group */
    pthread_mutex_t lock;
    char text[TEXT_BYTES]; /* of the latest failure */
};

static topk_status fail(struct nccl *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

static topk_status fail(struct nccl *n, const char *format, ...) {
    int at = 0; /* behind the rank, if that is known */
    if (n->ranks > 0) {
        at = snprintf(n->text, sizeof n->text, "rank %d of %d: ", n->rank, n->ranks);
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(n->text + at, sizeof n->text - (size_t)at, format, arguments);
    va_end(arguments);
    return TOPK_ERROR_DEVICE;
}

static topk_status refuse_aborted(struct nccl *n) {
    return fail(n, "the communicator was aborted");
}

/* OK, or DEVICE with NCCL's own words: the kind of error, and what NCCL last wrote about one. */
static topk_status outcome(struct nccl *n, ncclResult_t result, const char *what) {
    if (result == ncclSuccess) {
        return TOPK_OK;
    }
    const char *const more = ncclGetLastError(n->communicator);
    return fail(n, "%s: %s%s%s", what, ncclGetErrorString(result), more != NULL && *more != '\0' ? ": " : "",
                more != NULL ? more : "");
}

/* Ends a call that began with the lock: of a non-blocking communicator, once the work is enqueued. The lock
 * is free in between, so that it can be aborted. */
static topk_status ended(struct nccl *n, ncclResult_t result, const char *what) {
    while (result == ncclInProgress) {
        pthread_mutex_unlock(&n->lock);
        sched_yield();
        pthread_mutex_lock(&n->lock);
        if (n->aborted) {
            break;
        }
        const ncclResult_t asked = ncclCommGetAsyncError(n->communicator, &result);
        result = asked != ncclSuccess ? asked : result;
    }
    const topk_status status = n->aborted ? refuse_aborted(n) : outcome(n, result, what);
    pthread_mutex_unlock(&n->lock);
    return status;
}

/* Takes the lock, which ended() gives back. */
static bool begun(struct nccl *n) {
    pthread_mutex_lock(&n->lock);
    if (!n->aborted) {
        return true;
    }
    (void)refuse_aborted(n);
    pthread_mutex_unlock(&n->lock);
    return false;
}

static topk_status sum(void *own, int64_t *numbers, int64_t count, topk_stream stream) {
    struct nccl *const n = own;
    return begun(n) ? ended(n,
                            ncclAllReduce(numbers, numbers, (size_t)count, ncclInt64, ncclSum,
                                          n->communicator, stream),
                            "ncclAllReduce")
                    : TOPK_ERROR_DEVICE;
}

/* ---- Groups of NCCL's calls, which are enqueued with the last one ---- */

/* Takes the lock, which stays with the group. */
static topk_status open_group(struct nccl *n) {
    if (!begun(n)) {
        return TOPK_ERROR_DEVICE;
    }
    const ncclResult_t result = ncclGroupStart();
    n->is_open = result == ncclSuccess;
    return n->is_open ? TOPK_OK : ended(n, result, "ncclGroupStart");
}

static topk_status close_group(struct nccl *n) {
    n->is_open = false;
    return ended(n, ncclGroupEnd(), "ncclGroupEnd");
}

/* A call within a group. Of a non-blocking communicator it may say that it is in progress. One that fails
 * ends the group, which would stay open. */
static topk_status joined(struct nccl *n, ncclResult_t result, const char *what) {
    if (result == ncclSuccess || result == ncclInProgress) {
        return TOPK_OK;
    }
    n->is_open = false;
    (void)ncclGroupEnd();
    return ended(n, result, what);
}

static topk_status begin(void *own) {
    return open_group(own);
}

static topk_status finish(void *own, topk_stream stream) {
    (void)stream;
    return close_group(own);
}

static topk_status to_all(void *own, const void *block, size_t bytes, void *blocks, topk_stream stream) {
    struct nccl *const n = own;
    const bool joins = n->is_open;
    if (!joins && !begun(n)) {
        return TOPK_ERROR_DEVICE;
    }
    const ncclResult_t result = ncclAllGather(block, blocks, bytes, ncclUint8, n->communicator, stream);
    return joins ? joined(n, result, "ncclAllGather") : ended(n, result, "ncclAllGather");
}

/* Blocks that this rank sends to the ranks [to, to_end), block_step bytes from one to the next, and receives
 * from [from, from_end) into blocks one behind the other. */
struct pairs {
    const char *sent;
    size_t block_step, bytes;
    int to, to_end, from, from_end;
    char *received;
};

static topk_status exchange(struct nccl *n, const struct pairs *p, topk_stream stream) {
    const bool joins = n->is_open;
    topk_status status = joins ? TOPK_OK : open_group(n);
    for (int r = p->to; r < p->to_end && status == TOPK_OK; r++) {
        const char *const block = p->sent + (size_t)(r - p->to) * p->block_step;
        status = joined(n, ncclSend(block, p->bytes, ncclUint8, r, n->communicator, stream), "ncclSend");
    }
    for (int r = p->from; r < p->from_end && status == TOPK_OK; r++) {
        status = joined(
            n, ncclRecv(p->received + (size_t)r * p->bytes, p->bytes, ncclUint8, r, n->communicator, stream),
            "ncclRecv");
    }
    return status == TOPK_OK && !joins ? close_group(n) : status;
}

static topk_status to_root(void *own, int root, const void *block, size_t bytes, void *blocks,
                           topk_stream stream) {
    struct nccl *const n = own;
    const struct pairs p = {.sent = block,
                            .bytes = bytes,
                            .to = root,
                            .to_end = root + 1,
                            .from_end = n->rank == root ? n->ranks : 0,
                            .received = blocks};
    return exchange(n, &p, stream);
}

static topk_status to_each(void *own, const void *blocks, size_t bytes, void *received, topk_stream stream) {
    struct nccl *const n = own;
    const struct pairs p = {.sent = blocks,
                            .block_step = bytes,
                            .bytes = bytes,
                            .to_end = n->ranks,
                            .from_end = n->ranks,
                            .received = received};
    return exchange(n, &p, stream);
}

/* What has failed on the GPU, or on the way to other ranks. */
static topk_status check(void *own, topk_stream stream) {
    struct nccl *const n = own;
    ncclResult_t state = ncclSuccess;
    (void)stream;
    if (!begun(n)) {
        return TOPK_ERROR_DEVICE;
    }
    const ncclResult_t asked = ncclCommGetAsyncError(n->communicator, &state);
    return ended(n, asked != ncclSuccess ? asked : state, "NCCL");
}

static const char *error(void *own) {
    return ((struct nccl *)own)->text;
}

static void end(void *own) {
    struct nccl *const n = own;
    pthread_mutex_destroy(&n->lock);
    free(n);
}

/* Whose communicator it is. */
static topk_status ask(struct nccl *n, int *device) {
    topk_status status = check(n, NULL); /* waits for one that is being made */
    if (status != TOPK_OK || !begun(n)) {
        return TOPK_ERROR_DEVICE;
    }
    const char *what = "ncclCommCount";
    int ranks = 0, rank = 0;
    ncclResult_t result = ncclCommCount(n->communicator, &ranks);
    if (result == ncclSuccess) {
        what = "ncclCommUserRank";
        result = ncclCommUserRank(n->communicator, &rank);
    }
    if (result == ncclSuccess) { /* from now on texts begin with them */
        n->ranks = ranks;
        n->rank = rank;
    }
    if (result == ncclSuccess) {
        what = "ncclCommCuDevice";
        result = ncclCommCuDevice(n->communicator, device);
    }
    return ended(n, result, what);
}

static topk_status open_nccl(struct nccl *n, const topk_context *context) {
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    int device = 0;
    const topk_status status = topk_dist_of_core(topk_context_query(context, &properties));
    if (status != TOPK_OK) {
        return status;
    }
    if (properties.backend != TOPK_BACKEND_CUDA) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED, "NCCL connects GPUs, and the context is on the CPU");
    }
    if (ask(n, &device) != TOPK_OK) {
        return topk_dist_fail(TOPK_ERROR_DEVICE, "%s", n->text);
    }
    return device == properties.device
               ? TOPK_OK
               : topk_dist_fail(TOPK_ERROR_CONTRADICTION,
                                "the communicator is of GPU %d, and the context of GPU %d", device,
                                properties.device);
}

topk_status topk_dist_group_create_nccl(ncclComm_t communicator, topk_context *context, topk_stream stream,
                                        topk_dist_group **group) {
    topk_dist_transport transport = TOPK_DIST_TRANSPORT_INIT;
    if (group == NULL) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "group is NULL");
    }
    *group = NULL;
    if (communicator == NULL || context == NULL) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "%s is NULL",
                              communicator == NULL ? "communicator" : "context");
    }
    struct nccl *const n = calloc(1, sizeof *n);
    if (n == NULL) {
        return topk_dist_fail(TOPK_ERROR_OUT_OF_MEMORY, "no memory for a group");
    }
    n->communicator = communicator;
    pthread_mutex_init(&n->lock, NULL);
    transport.sum = sum;
    transport.to_all = to_all;
    transport.to_root = to_root;
    transport.to_each = to_each;
    transport.check = check;
    transport.error = error;
    transport.close = end;
    transport.begin = begin;
    transport.end = finish;
    topk_status status = open_nccl(n, context);
    if (status == TOPK_OK) {
        status = topk_dist_group_create(&transport, n, context, n->rank, n->ranks, stream, group);
    }
    if (status != TOPK_OK) {
        end(n);
    }
    return status;
}

topk_status topk_dist_group_abort_nccl(topk_dist_group *group) {
    if (group == NULL) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "group is NULL");
    }
    if (group->on_stream == NULL || group->on_stream->sum != sum) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED, "the group is not over NCCL");
    }
    struct nccl *const n = group->own;
    ncclResult_t result = ncclSuccess;
    pthread_mutex_lock(&n->lock);
    if (!n->aborted) {
        n->aborted = true;
        result = ncclCommAbort(n->communicator);
    }
    pthread_mutex_unlock(&n->lock);
    return result == ncclSuccess || result == ncclInProgress
               ? TOPK_OK
               : topk_dist_fail(TOPK_ERROR_DEVICE, "ncclCommAbort: %s", ncclGetErrorString(result));
}
