/* SPDX-License-Identifier: Apache-2.0
 * The transport over peer memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "group.h"
#include "topk_dist_peer.h"
#include "topk_transfer.h"

enum { TEXT_BYTES = 160, PEER_BYTES_FIRST = 56 };

struct peer {
    topk_peer_group group; /* with the lists below */
    topk_context *context;
    topk_peer_report *report, *seen; /* on the device, and on the host */
    /* What is enqueued together: between begin() and end(). */
    topk_peer_part parts[TOPK_PEER_PARTS_MAX];
    int count, root;
    bool is_open, is_exchange;
    char text[TEXT_BYTES]; /* of the latest failure */
    void *buffers[TOPK_PEER_RANKS_MAX];
    uint64_t *flags[TOPK_PEER_RANKS_MAX], *lists[TOPK_PEER_RANKS_MAX];
};

/* Keeps the core's sentence. */
static topk_status ended(struct peer *p, topk_status status) {
    if (status != TOPK_OK) {
        snprintf(p->text, sizeof p->text, "%s", topk_last_error());
    }
    return status;
}

static topk_status sum(void *own, int64_t *numbers, int64_t count, topk_stream stream) {
    struct peer *const p = own;
    return ended(p, topk_peer_sum(p->context, &p->group, numbers, count, stream));
}

static topk_status flush(struct peer *p, topk_stream stream) {
    const int count = p->count;
    p->count = 0;
    return ended(p, p->is_exchange
                        ? topk_peer_exchange_parts(p->context, &p->group, p->parts, count, stream)
                        : topk_peer_gather_parts(p->context, &p->group, p->root, p->parts, count, stream));
}

static topk_status move(struct peer *p, bool is_exchange, int root, topk_peer_part part, topk_stream stream) {
    topk_status status = TOPK_OK;
    if (p->count == TOPK_PEER_PARTS_MAX ||
        (p->count > 0 && (p->is_exchange != is_exchange || p->root != root))) {
        status = flush(p, stream);
    }
    p->parts[p->count++] = part;
    p->is_exchange = is_exchange;
    p->root = root;
    return status == TOPK_OK && !p->is_open ? flush(p, stream) : status;
}

static topk_status begin(void *own) {
    struct peer *const p = own;
    p->is_open = true;
    p->count = 0;
    return TOPK_OK;
}

static topk_status finish(void *own, topk_stream stream) {
    struct peer *const p = own;
    p->is_open = false;
    return flush(p, stream);
}

static topk_status to_root(void *own, int root, const void *block, size_t bytes, void *blocks,
                           topk_stream stream) {
    return move(own, false, root, (topk_peer_part){block, bytes, blocks}, stream);
}

static topk_status to_all(void *own, const void *block, size_t bytes, void *blocks, topk_stream stream) {
    return to_root(own, TOPK_PEER_ALL, block, bytes, blocks, stream);
}

static topk_status to_each(void *own, const void *blocks, size_t bytes, void *received, topk_stream stream) {
    return move(own, true, TOPK_PEER_ALL, (topk_peer_part){blocks, bytes, received}, stream);
}

static topk_status merge(void *own, int root, const topk_problem *problem, const topk_peer_lists *lists,
                         const topk_output *output, void *workspace, size_t workspace_bytes,
                         topk_stream stream) {
    struct peer *const p = own;
    return ended(p, topk_peer_merge(p->context, &p->group, root, problem, lists, output->values,
                                    output->indices, workspace, workspace_bytes, stream));
}

static const char *outcome_text(int32_t outcome) {
    return outcome == TOPK_PEER_TIMED_OUT ? "did not come in time"
           : outcome == TOPK_PEER_ABORTED ? "was missing when the abort word was set"
                                          : "has left the group";
}

static topk_status check(void *own, topk_stream stream) {
    struct peer *const p = own;
    topk_status status = topk_peer_status(p->context, &p->group, p->report, stream);
    if (status == TOPK_OK) {
        status = topk_copy(p->context, p->seen, p->report, sizeof *p->seen, stream);
    }
    status = status == TOPK_OK ? topk_wait(p->context, stream) : status;
    if (status != TOPK_OK || p->seen->outcome == TOPK_PEER_INTACT) {
        return ended(p, status);
    }
    snprintf(p->text, sizeof p->text, "rank %d %s", (int)p->seen->rank, outcome_text(p->seen->outcome));
    return TOPK_ERROR_DEVICE;
}

static const char *error(void *own) {
    return ((struct peer *)own)->text;
}

static void end(void *own) {
    struct peer *const p = own;
    (void)topk_memory_release(p->context, TOPK_MEMORY_DEVICE, p->report);
    (void)topk_memory_release(p->context, TOPK_MEMORY_HOST, p->seen);
    free(p);
}

static topk_status allocate(struct peer *p) {
    void *report = NULL, *seen = NULL;
    topk_status status = topk_memory_allocate(p->context, TOPK_MEMORY_DEVICE, sizeof *p->report, &report);
    if (status == TOPK_OK) {
        status = topk_memory_allocate(p->context, TOPK_MEMORY_HOST, sizeof *p->seen, &seen);
    }
    p->report = report;
    p->seen = seen;
    return status;
}

/* Copies the caller's group; that its numbers and addresses are right is for the core to say. */
static topk_status copy_group(struct peer *p, const topk_peer_group *caller) {
    const topk_status status =
        topk_dist_read_struct("peer", caller, PEER_BYTES_FIRST, sizeof p->group, &p->group);
    const int ranks = p->group.ranks;
    if (status != TOPK_OK || p->group.buffers == NULL || p->group.flags == NULL || ranks < 1 ||
        ranks > TOPK_PEER_RANKS_MAX) {
        return status;
    }
    memcpy(p->buffers, p->group.buffers, (size_t)ranks * sizeof *p->buffers);
    memcpy(p->flags, p->group.flags, (size_t)ranks * sizeof *p->flags);
    p->group.buffers = p->buffers;
    p->group.flags = p->flags;
    if (p->group.lists != NULL) {
        memcpy(p->lists, p->group.lists, (size_t)ranks * sizeof *p->lists);
        p->group.lists = p->lists;
    }
    return TOPK_OK;
}

static topk_status open_peer(struct peer *p, const topk_peer_group *caller, topk_stream stream) {
    topk_status status = copy_group(p, caller);
    if (status != TOPK_OK) {
        return status;
    }
    status = allocate(p);
    if (status == TOPK_OK) {
        status = topk_peer_status(p->context, &p->group, p->report, stream);
    }
    status = status == TOPK_OK ? topk_wait(p->context, stream) : status;
    return topk_dist_of_core(status);
}

topk_status topk_dist_group_create_peer(const topk_peer_group *peer, topk_context *context,
                                        topk_stream stream, topk_dist_group **group) {
    topk_dist_transport transport = TOPK_DIST_TRANSPORT_INIT;
    if (group == NULL || context == NULL) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "%s is NULL", group == NULL ? "group" : "context");
    }
    *group = NULL;
    struct peer *const p = calloc(1, sizeof *p);
    if (p == NULL) {
        return topk_dist_fail(TOPK_ERROR_OUT_OF_MEMORY, "no memory for a group");
    }
    p->context = context;
    transport.sum = sum;
    transport.to_all = to_all;
    transport.to_root = to_root;
    transport.to_each = to_each;
    transport.check = check;
    transport.error = error;
    transport.close = end;
    transport.begin = begin;
    transport.end = finish;
    topk_status status = open_peer(p, peer, stream);
    if (status == TOPK_OK) {
        status = topk_dist_group_create(&transport, p, context, p->group.rank, p->group.ranks, stream, group);
    }
    if (status != TOPK_OK) {
        end(p);
        return status;
    }
    (*group)->merge = merge;
    (*group)->shares_device = p->group.ranks > 1 && p->group.one_each == 0;
    (*group)->undivided = "peer memory is of one machine";
    return TOPK_OK;
}
