/* SPDX-License-Identifier: Apache-2.0
 * The calls on peer memory: validation. The backend of the context does the rest. */
#include "peer.h"

#include "status.h"
#include "structs.h"

enum { ALIGNMENT = 16 };

_Static_assert(sizeof(topk_peer_report) == 16, "the kernels write one");

/* What all ranks' blocks take in a half, or SIZE_MAX. */
static size_t half_bytes_for(int ranks, size_t block_bytes) {
    size_t each, all;
    return __builtin_add_overflow(block_bytes, ALIGNMENT - 1, &each) ||
                   __builtin_mul_overflow(each & ~(size_t)(ALIGNMENT - 1), (size_t)ranks, &all)
               ? SIZE_MAX
               : all;
}

size_t topk_peer_buffer_bytes(int ranks, size_t block_bytes) {
    if (ranks < 1) {
        return 0;
    }
    const size_t half = half_bytes_for(ranks, block_bytes);
    return half > SIZE_MAX / 2 ? SIZE_MAX : 2 * half;
}

static topk_status check_address(const char *name, int rank, const void *address) {
    if (address == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "group->%s[%d] is NULL", name, rank);
    }
    return (uintptr_t)address % ALIGNMENT == 0
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_MISALIGNED, "group->%s[%d] must be a multiple of %d bytes", name, rank,
                           ALIGNMENT);
}

static topk_status check_group(const topk_peer_group *g) {
    if (g->ranks < 1 || g->ranks > TOPK_PEER_RANKS_MAX) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "group->ranks is %d, must be 1 to %d", g->ranks,
                         TOPK_PEER_RANKS_MAX);
    }
    if (g->rank < 0 || g->rank >= g->ranks) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "group->rank is %d, must be 0 to %d", g->rank,
                         g->ranks - 1);
    }
    if (g->timeout_ms < 0) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "group->timeout_ms is %lld, must be 0 or more",
                         (long long)g->timeout_ms);
    }
    if (g->buffers == NULL || g->flags == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "group->%s is NULL",
                         g->buffers == NULL ? "buffers" : "flags");
    }
    if ((uintptr_t)g->abort % sizeof *g->abort != 0) {
        return topk_fail(TOPK_ERROR_MISALIGNED, "group->abort must be a multiple of 4 bytes");
    }
    topk_status status = TOPK_OK;
    for (int r = 0; r < g->ranks && status == TOPK_OK; r++) {
        status = check_address("buffers", r, g->buffers[r]);
        status = status == TOPK_OK ? check_address("flags", r, g->flags[r]) : status;
    }
    return status;
}

/* Validates what all calls have, and begins the list of buffers with this rank's flags. */
static topk_status open_group(const topk_context *context, const topk_peer_group *caller, topk_stream stream,
                              topk_peer_group *group, struct buffer_list *buffers) {
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    topk_status status = topk_read_struct(STRUCT_PEER_GROUP, caller, group);
    if (status != TOPK_OK || (status = check_group(group)) != TOPK_OK ||
        (status = topk_check_stream(context, stream)) != TOPK_OK) {
        return status;
    }
    if (context->backend->peering == NULL) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "the %s backend has no peer memory", context->backend->name);
    }
    buffers->count = 0;
    buffer_list_add(buffers, (struct buffer){"group->flags", group->flags[group->rank], TOPK_PEER_FLAG_BYTES,
                                             ALIGNMENT, true, true});
    return TOPK_OK;
}

topk_status topk_peer_status(topk_context *context, const topk_peer_group *group, topk_peer_report *report,
                             topk_stream stream) {
    KEEP_ERRNO;
    topk_peer_group g;
    struct buffer_list buffers;
    topk_status status = open_group(context, group, stream, &g, &buffers);
    if (status != TOPK_OK) {
        return status;
    }
    buffer_list_add(&buffers, (struct buffer){"report", report, sizeof *report, sizeof(int64_t), true, true});
    status = topk_check_memory(context, &buffers);
    return status != TOPK_OK ? status : context->backend->peering->status(context, &g, report, stream);
}

/* Each run moves something. */
static topk_status check_room(const struct peer_run *run) {
    const topk_peer_group *g = &run->group;
    for (int p = 0; p < run->count; p++) {
        if (run->parts[p].bytes > PTRDIFF_MAX / (size_t)g->ranks) {
            return topk_fail(TOPK_ERROR_OVERFLOW, "the blocks of all ranks exceed 2^63 bytes");
        }
    }
    return peer_piece_bytes(g) > 0
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_WORKSPACE_TOO_SMALL,
                           "group->buffer_bytes is %zu, %d ranks need buffers of at least %zu bytes",
                           g->buffer_bytes, g->ranks, topk_peer_buffer_bytes(g->ranks, 1));
}

static void list_part(const struct peer_run *run, const struct peer_part *part, struct buffer_list *buffers) {
    const bool gets = run->root == TOPK_PEER_ALL || run->root == run->group.rank;
    const size_t all = part->bytes * (size_t)run->group.ranks;
    if (run->result != PEER_COPIES) {
        buffer_list_add(buffers,
                        (struct buffer){"numbers", part->out, part->bytes, sizeof(int64_t), true, true});
        return;
    }
    buffer_list_add(buffers, (struct buffer){run->has_own_blocks ? "blocks" : "block", part->block,
                                             run->has_own_blocks ? all : part->bytes, 1, true, false});
    buffer_list_add(buffers, (struct buffer){run->has_own_blocks ? "received" : "blocks", part->out,
                                             gets ? all : 0, 1, true, true});
}

/* Validates a run that is filled in but for what it takes from the group; then has it enqueued. */
static topk_status enqueue(struct peer_run *run, const topk_peer_group *group) {
    struct buffer_list buffers;
    topk_peer_group *const g = &run->group;
    topk_status status = open_group(run->context, group, run->stream, g, &buffers);
    if (status != TOPK_OK) {
        return status;
    }
    if (run->root != TOPK_PEER_ALL && (run->root < 0 || run->root >= g->ranks)) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "root is %d, must be 0 to %d, or TOPK_PEER_ALL", run->root,
                         g->ranks - 1);
    }
    if (run->count == 0) {
        return TOPK_OK;
    }
    if ((status = check_room(run)) != TOPK_OK) {
        return status;
    }
    buffer_list_add(&buffers, (struct buffer){"group->buffers", g->buffers[g->rank], g->buffer_bytes,
                                              ALIGNMENT, true, true});
    for (int p = 0; p < run->count; p++) {
        list_part(run, &run->parts[p], &buffers);
    }
    status = topk_check_memory(run->context, &buffers);
    return status != TOPK_OK ? status : run->context->backend->peering->run(run);
}

/* A part without bytes does not count. */
static topk_status move(topk_context *context, const topk_peer_group *group, int root, bool has_own_blocks,
                        const topk_peer_part *parts, int count, topk_stream stream) {
    struct peer_run run = {.context = context,
                           .result = PEER_COPIES,
                           .root = root,
                           .has_own_blocks = has_own_blocks,
                           .stream = stream};
    if (count < 0 || count > TOPK_PEER_PARTS_MAX) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "count is %d, must be 0 to %d", count, TOPK_PEER_PARTS_MAX);
    }
    if (parts == NULL && count > 0) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "parts is NULL");
    }
    for (int p = 0; p < count; p++) {
        if (parts[p].bytes > 0) {
            run.parts[run.count++] = (struct peer_part){parts[p].block, parts[p].bytes, parts[p].blocks};
        }
    }
    return enqueue(&run, group);
}

topk_status topk_peer_gather(topk_context *context, const topk_peer_group *group, int root, const void *block,
                             size_t bytes, void *blocks, topk_stream stream) {
    KEEP_ERRNO;
    return move(context, group, root, false, &(topk_peer_part){block, bytes, blocks}, 1, stream);
}

topk_status topk_peer_exchange(topk_context *context, const topk_peer_group *group, const void *blocks,
                               size_t bytes, void *received, topk_stream stream) {
    KEEP_ERRNO;
    return move(context, group, TOPK_PEER_ALL, true, &(topk_peer_part){blocks, bytes, received}, 1, stream);
}

topk_status topk_peer_gather_parts(topk_context *context, const topk_peer_group *group, int root,
                                   const topk_peer_part *parts, int count, topk_stream stream) {
    KEEP_ERRNO;
    return move(context, group, root, false, parts, count, stream);
}

topk_status topk_peer_exchange_parts(topk_context *context, const topk_peer_group *group,
                                     const topk_peer_part *parts, int count, topk_stream stream) {
    KEEP_ERRNO;
    return move(context, group, TOPK_PEER_ALL, true, parts, count, stream);
}

static topk_status combine(topk_context *context, const topk_peer_group *group, enum peer_result result,
                           int64_t *numbers, int64_t count, topk_stream stream) {
    bool overflow = false;
    if (count < 0) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "count is %lld, must be 0 or more", (long long)count);
    }
    const size_t bytes = topk_checked_bytes(count, sizeof *numbers, &overflow);
    if (overflow) {
        return topk_fail(TOPK_ERROR_OVERFLOW, "the numbers exceed 2^63 bytes");
    }
    return enqueue(&(struct peer_run){.context = context,
                                      .result = result,
                                      .root = TOPK_PEER_ALL,
                                      .parts = {{numbers, bytes, numbers}},
                                      .count = bytes > 0,
                                      .stream = stream},
                   group);
}

topk_status topk_peer_sum(topk_context *context, const topk_peer_group *group, int64_t *numbers,
                          int64_t count, topk_stream stream) {
    KEEP_ERRNO;
    return combine(context, group, PEER_SUM, numbers, count, stream);
}

topk_status topk_peer_most(topk_context *context, const topk_peer_group *group, int64_t *numbers,
                           int64_t count, topk_stream stream) {
    KEEP_ERRNO;
    return combine(context, group, PEER_MOST, numbers, count, stream);
}
