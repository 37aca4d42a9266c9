/* SPDX-License-Identifier: Apache-2.0
 *
 * The transport over NCCL. Blocks of one rank, and one of each, are pairs of ncclSend() and ncclRecv(), which
 * every version has. A lock keeps communicators from being aborted within a call: one for all parts of a
 * group, which are aborted together. */
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

/* NCCL can divide communicators from 2.18 on: this library is compiled with one, and may run with another. */
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 18, 0)
#define HAS_SPLIT 1
#pragma weak ncclCommSplit
#else
#define HAS_SPLIT 0
#endif

/* A group, or a part of it: `whole` is itself, or the group. */
struct nccl {
    ncclComm_t communicator; /* a group's is the caller's; not there once it was aborted */
    int rank, ranks;
    bool is_open; /* between begin() and end(), which hold the lock: calls join NCCL's group */
    struct nccl *whole;
    /* All below are the whole's. */
    struct nccl *parts; /* one after another, by `next` */
    struct nccl *next;
    bool aborted; /* under the lock, as `parts` and all calls with communicators */
    bool failed;
    pthread_mutex_t lock;
    char text[TEXT_BYTES]; /* of the latest failure */
};

static topk_status fail(struct nccl *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

static topk_status fail(struct nccl *n, const char *format, ...) {
    struct nccl *const w = n->whole;
    int at = 0; /* behind the rank, if that is known */
    if (w->ranks > 0) {
        at = snprintf(w->text, sizeof w->text, "rank %d of %d: ", w->rank, w->ranks);
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(w->text + at, sizeof w->text - (size_t)at, format, arguments);
    va_end(arguments);
    w->failed = true;
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

/* Under the lock: waits for a call of a non-blocking communicator. The lock is free in between, so that it
 * can be aborted. */
static topk_status waited(struct nccl *n, ncclResult_t result, const char *what) {
    struct nccl *const w = n->whole;
    while (result == ncclInProgress && !w->aborted) {
        pthread_mutex_unlock(&w->lock);
        sched_yield();
        pthread_mutex_lock(&w->lock);
        if (w->aborted) {
            break;
        }
        const ncclResult_t asked = ncclCommGetAsyncError(n->communicator, &result);
        result = asked != ncclSuccess ? asked : result;
    }
    return w->aborted ? refuse_aborted(n) : outcome(n, result, what);
}

/* Ends a call that began with the lock: of a non-blocking communicator, once the work is enqueued. */
static topk_status ended(struct nccl *n, ncclResult_t result, const char *what) {
    const topk_status status = waited(n, result, what);
    pthread_mutex_unlock(&n->whole->lock);
    return status;
}

/* Takes the lock, which ended() gives back. */
static bool begun(struct nccl *n) {
    struct nccl *const w = n->whole;
    pthread_mutex_lock(&w->lock);
    if (!w->aborted) {
        return true;
    }
    (void)refuse_aborted(n);
    pthread_mutex_unlock(&w->lock);
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

/* Blocks that this rank sends to the ranks [to, to_end) but for one, block_step bytes from one to the next,
 * and receives from [from, from_end) into blocks one behind the other. */
struct pairs {
    const char *sent;
    size_t block_step, bytes;
    int to, to_end, from, from_end;
    int but; /* -1: to all of them */
    char *received;
};

static topk_status exchange(struct nccl *n, const struct pairs *p, topk_stream stream) {
    const bool joins = n->is_open;
    topk_status status = joins ? TOPK_OK : open_group(n);
    for (int r = p->to; r < p->to_end && status == TOPK_OK; r++) {
        const char *const block = p->sent + (size_t)(r - p->to) * p->block_step;
        status = r == p->but ? TOPK_OK
                             : joined(n, ncclSend(block, p->bytes, ncclUint8, r, n->communicator, stream),
                                      "ncclSend");
    }
    for (int r = p->from; r < p->from_end && status == TOPK_OK; r++) {
        char *const block = p->received + (size_t)(r - p->from) * p->bytes;
        status = joined(n, ncclRecv(block, p->bytes, ncclUint8, r, n->communicator, stream), "ncclRecv");
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
                            .but = -1,
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
                            .but = -1,
                            .received = received};
    return exchange(n, &p, stream);
}

static topk_status from_root(void *own, int root, void *block, size_t bytes, topk_stream stream) {
    struct nccl *const n = own;
    const bool joins = n->is_open;
    if (!joins && !begun(n)) {
        return TOPK_ERROR_DEVICE;
    }
    const ncclResult_t result = ncclBroadcast(block, block, bytes, ncclUint8, root, n->communicator, stream);
    return joins ? joined(n, result, "ncclBroadcast") : ended(n, result, "ncclBroadcast");
}

static topk_status deal(void *own, int root, const void *blocks, size_t bytes, void *block,
                        topk_stream stream) {
    struct nccl *const n = own;
    const bool is_root = n->rank == root;
    const struct pairs p = {.sent = blocks,
                            .block_step = bytes,
                            .bytes = bytes,
                            .to_end = is_root ? n->ranks : 0,
                            .from = root,
                            .from_end = is_root ? root : root + 1,
                            .but = root,
                            .received = block};
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
    return ((struct nccl *)own)->whole->text;
}

/* ---- Parts ---- */

/* Under the lock: how many ranks there are, and which one this is. */
static ncclResult_t count_ranks(struct nccl *n, const char **what) {
    int ranks = 0, rank = 0;
    *what = "ncclCommCount";
    ncclResult_t result = ncclCommCount(n->communicator, &ranks);
    if (result == ncclSuccess) {
        *what = "ncclCommUserRank";
        result = ncclCommUserRank(n->communicator, &rank);
    }
    if (result == ncclSuccess) { /* from now on texts begin with the whole's */
        n->ranks = ranks;
        n->rank = rank;
    }
    return result;
}

/* Under the lock: ends a part's communicator, unless that was aborted. Ranks that have failed wait for none.
 */
static void end_part(struct nccl *part) {
    struct nccl *const w = part->whole;
    if (part->communicator != NULL && !w->aborted && !w->failed) {
        (void)waited(part, ncclCommFinalize(part->communicator), "ncclCommFinalize");
    }
    if (part->communicator != NULL && !w->aborted) {
        (void)(w->failed ? ncclCommAbort(part->communicator) : ncclCommDestroy(part->communicator));
    }
    struct nccl **at = &w->parts;
    while (*at != part) {
        at = &(*at)->next;
    }
    *at = part->next;
    free(part);
}

static void end(void *own) {
    struct nccl *const n = own, *const w = n->whole;
    pthread_mutex_lock(&w->lock);
    if (n != w) {
        end_part(n);
    }
    while (n == w && w->parts != NULL) { /* that could not be made */
        end_part(w->parts);
    }
    pthread_mutex_unlock(&w->lock);
    if (n == w) {
        pthread_mutex_destroy(&w->lock);
        free(w);
    }
}

#if HAS_SPLIT
/* Of a non-blocking communicator that one is waited for, and then the new one, which is still being made. */
static topk_status make_part(struct nccl *n, int colour, int order, struct nccl *part) {
    const char *what = "ncclCommGetAsyncError";
    ncclResult_t state = ncclSuccess, result;
    result = ncclCommSplit(n->communicator, colour, order, &part->communicator, NULL);
    /* It may be in progress though it says that it succeeded: NCCL 2.28 does so. */
    topk_status status = waited(n, result == ncclSuccess ? ncclInProgress : result, "ncclCommSplit");
    if (status != TOPK_OK || part->communicator == NULL) {
        return status;
    }
    result = ncclCommGetAsyncError(part->communicator, &state);
    status = waited(part, result == ncclSuccess ? state : result, "ncclCommSplit");
    return status == TOPK_OK ? outcome(part, count_ranks(part, &what), what) : status;
}

/* What is aborted meanwhile ends with the group, as what fails: NCCL may still write to it. */
static topk_status split(void *own, int colour, int order, topk_stream stream, void **part) {
    struct nccl *const n = own, *const made = calloc(1, sizeof *made);
    (void)stream;
    if (made == NULL) {
        return fail(n, "no memory for a part of the group");
    }
    if (!begun(n)) {
        free(made);
        return TOPK_ERROR_DEVICE;
    }
    made->whole = n->whole;
    made->next = n->whole->parts;
    n->whole->parts = made;
    const topk_status status = make_part(n, colour < 0 ? NCCL_SPLIT_NOCOLOR : colour, order, made);
    if (status == TOPK_OK && made->communicator == NULL) {
        end_part(made);
    } else if (status == TOPK_OK) {
        *part = made;
    }
    pthread_mutex_unlock(&n->whole->lock);
    return status;
}
#endif

/* False, for an older NCCL. */
static bool add_parts(topk_dist_transport *transport) {
#if HAS_SPLIT
    if (ncclCommSplit != NULL) {
        transport->split = split;
        transport->from_root = from_root;
        transport->deal = deal;
    }
#endif
    return transport->split != NULL;
}

/* ---- Groups ---- */

/* Whose communicator it is. */
static topk_status ask(struct nccl *n, int *device) {
    topk_status status = check(n, NULL); /* waits for one that is being made */
    if (status != TOPK_OK || !begun(n)) {
        return TOPK_ERROR_DEVICE;
    }
    const char *what;
    ncclResult_t result = count_ranks(n, &what);
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
    n->whole = n;
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
    const bool divides = add_parts(&transport);
    topk_status status = open_nccl(n, context);
    if (status == TOPK_OK) {
        status = topk_dist_group_create(&transport, n, context, n->rank, n->ranks, stream, group);
    }
    if (status != TOPK_OK) {
        end(n);
    } else if (!divides) {
        (*group)->undivided = "NCCL is older than 2.18, and cannot divide a communicator";
    }
    return status;
}

/* Each end waits for what is enqueued, also behind work of another communicator: in a group of NCCL's calls
 * all are told to stop before one is waited for. */
static ncclResult_t abort_all(struct nccl *n) {
    if (n->parts == NULL) {
        return ncclCommAbort(n->communicator);
    }
    ncclResult_t result = ncclGroupStart();
    if (result != ncclSuccess) {
        return result;
    }
    result = ncclCommAbort(n->communicator);
    for (struct nccl *part = n->parts; part != NULL; part = part->next) {
        const ncclResult_t other =
            part->communicator != NULL ? ncclCommAbort(part->communicator) : ncclSuccess;
        result = result == ncclSuccess ? other : result;
    }
    const ncclResult_t ended = ncclGroupEnd();
    return result == ncclSuccess || result == ncclInProgress ? ended : result;
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
        result = abort_all(n);
    }
    pthread_mutex_unlock(&n->lock);
    return result == ncclSuccess || result == ncclInProgress
               ? TOPK_OK
               : topk_dist_fail(TOPK_ERROR_DEVICE, "ncclCommAbort: %s", ncclGetErrorString(result));
}
