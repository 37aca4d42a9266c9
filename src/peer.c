/* SPDX-License-Identifier: Apache-2.0
 * The calls on peer memory: validation. The backend of the context does the rest. */
#include "peer.h"

#include "run.h"
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

size_t topk_peer_list_bytes(int ranks, int64_t candidates) {
    size_t bytes;
    if (ranks < 1 || candidates < 1) {
        return 0;
    }
    return __builtin_mul_overflow((size_t)candidates, 2 * PEER_SLOT_BYTES * (size_t)ranks, &bytes) ? SIZE_MAX
                                                                                                   : bytes;
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
    if (g->one_each < 0 || g->one_each > 1) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "group->one_each is %lld, must be 0 or 1",
                         (long long)g->one_each);
    }
    if ((uintptr_t)g->abort % sizeof *g->abort != 0) {
        return topk_fail(TOPK_ERROR_MISALIGNED, "group->abort must be a multiple of 4 bytes");
    }
    topk_status status = TOPK_OK;
    for (int r = 0; r < g->ranks && status == TOPK_OK; r++) {
        status = check_address("buffers", r, g->buffers[r]);
        status = status == TOPK_OK ? check_address("flags", r, g->flags[r]) : status;
        status = status == TOPK_OK && g->lists != NULL ? check_address("lists", r, g->lists[r]) : status;
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
    if (group->lists != NULL) {
        buffer_list_add(buffers, (struct buffer){"group->lists", group->lists[group->rank], group->list_bytes,
                                                 ALIGNMENT, true, true});
    }
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

/* Validates what a run moves; run->group has been opened. `buffers`: beside the run's own. */
static topk_status check_run(const struct peer_run *run, struct buffer_list *buffers) {
    const topk_peer_group *const g = &run->group;
    if (run->root != TOPK_PEER_ALL && (run->root < 0 || run->root >= g->ranks)) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "root is %d, must be 0 to %d, or TOPK_PEER_ALL", run->root,
                         g->ranks - 1);
    }
    if (run->count == 0) {
        return TOPK_OK;
    }
    const topk_status status = check_room(run);
    if (status != TOPK_OK) {
        return status;
    }
    buffer_list_add(buffers, (struct buffer){"group->buffers", g->buffers[g->rank], g->buffer_bytes,
                                             ALIGNMENT, true, true});
    for (int p = 0; p < run->count; p++) {
        list_part(run, &run->parts[p], buffers);
    }
    return topk_check_memory(run->context, buffers);
}

/* Validates a run that is filled in but for what it takes from the group; then has it enqueued. */
static topk_status enqueue(struct peer_run *run, const topk_peer_group *group) {
    struct buffer_list buffers;
    topk_status status = open_group(run->context, group, run->stream, &run->group, &buffers);
    status = status == TOPK_OK ? check_run(run, &buffers) : status;
    return status == TOPK_OK && run->count > 0 ? run->context->backend->peering->run(run) : status;
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

/* ---- Lists ---- */

/* Whose rows are whose. Returns how many this rank gets; rows below 0 are for the core to refuse. */
static int64_t deal_rows(struct peer_lists *l, int64_t rows) {
    const topk_peer_group *g = &l->run.group;
    l->rows = l->block_rows = rows;
    if (l->root == TOPK_PEER_OWNER && rows > 0) {
        l->block_rows = rows / g->ranks + (rows % g->ranks != 0);
        l->first_row = l->block_rows * g->rank < rows ? l->block_rows * g->rank : rows;
        return rows - l->first_row < l->block_rows ? rows - l->first_row : l->block_rows;
    }
    return l->root >= 0 && l->root != g->rank && rows > 0 ? 0 : rows;
}

/* The parts of a run that moves the lists. */
static topk_status list_moves(struct peer_lists *l, const struct plan *plan, const topk_peer_lists *lists) {
    bool overflow = false;
    int64_t slots = 0;
    overflow |= __builtin_mul_overflow(l->block_rows, l->length, &slots);
    const size_t values = topk_checked_bytes(slots, plan->element_bytes, &overflow);
    const size_t indices = topk_checked_bytes(slots, plan->index_bytes, &overflow);
    if (overflow) {
        return topk_fail(TOPK_ERROR_OVERFLOW, "the lists of %lld rows exceed 2^63 bytes", (long long)l->rows);
    }
    l->run.result = PEER_COPIES;
    l->run.has_own_blocks = l->root == TOPK_PEER_OWNER;
    l->run.root = l->root == TOPK_PEER_OWNER ? TOPK_PEER_ALL : l->root;
    l->run.parts[0] = (struct peer_part){lists->values, values, lists->all_values};
    l->run.parts[1] = (struct peer_part){lists->indices, indices, lists->all_indices};
    l->run.count = slots > 0 ? 2 : 0;
    return TOPK_OK;
}

/* Decides for the rows that this rank gets. */
static topk_status decide_lists(struct peer_lists *l, const topk_problem *problem, struct decided *decided) {
    topk_problem own;
    topk_status status = topk_read_struct(STRUCT_PROBLEM, problem, &own);
    if (status != TOPK_OK) {
        return status;
    }
    own.rows = deal_rows(l, own.rows);
    status = topk_decided_make(l->run.context, TOPK_OPERATION_MERGE, &own, decided);
    if (status != TOPK_OK) {
        return status;
    }
    l->length = own.length_max;
    return own.row_stride == 0 || own.row_stride == own.length_max
               ? TOPK_OK
               : topk_fail(
                     TOPK_ERROR_CONTRADICTION,
                     "problem->row_stride is %lld: lists of ranks lie one behind the other, of %lld slots",
                     (long long)own.row_stride, (long long)own.length_max);
}

/* What is written beside the lists: all of it must lie apart from these. */
static void list_results(const struct decided *decided, const topk_output *output, void *workspace,
                         struct buffer_list *buffers) {
    const struct plan *plan = &decided->plan;
    buffer_list_add(buffers, (struct buffer){"values", output->values,
                                             plan->output_elements * plan->element_bytes, 1, false, true});
    buffer_list_add(buffers, (struct buffer){"indices", output->indices,
                                             plan->output_elements * plan->index_bytes, 1, false, true});
    buffer_list_add(buffers, (struct buffer){"workspace", workspace, decided->chosen.decision.workspace_bytes,
                                             1, false, true});
}

/* Merges what the exchange brings, or has both done at once: that is for the method to say. */
static topk_status merge_lists(const struct peer_lists *l, const struct decided *decided,
                               const topk_peer_lists *from, const topk_output *output, void *workspace,
                               size_t workspace_bytes) {
    const int64_t extent = (int64_t)decided->plan.extent_bytes;
    topk_input input = TOPK_INPUT_INIT;
    topk_lists lists = TOPK_LISTS_INIT;
    lists.lists = l->run.group.ranks;
    lists.list_stride = l->block_rows * l->length;
    lists.sorted = (topk_sorted)from->sorted;
    input.values = from->all_values;
    input.indices = from->all_indices;
    input.k = from->k == NULL ? NULL : (const char *)from->k + l->first_row * extent;
    const struct given given = {.input = &input, .lists = &lists, .exchange = l, .output = *output};
    return topk_run_given(decided, &given, workspace, workspace_bytes, l->run.stream);
}

topk_status topk_peer_merge(topk_context *context, const topk_peer_group *group, int root,
                            const topk_problem *problem, const topk_peer_lists *lists, void *values,
                            void *indices, void *workspace, size_t workspace_bytes, topk_stream stream) {
    KEEP_ERRNO;
    struct peer_lists l = {.run = {.context = context, .stream = stream}, .root = root};
    struct decided decided;
    struct buffer_list buffers;
    topk_peer_lists read;
    topk_status status = open_group(context, group, stream, &l.run.group, &buffers);
    status = status == TOPK_OK ? topk_read_struct(STRUCT_PEER_LISTS, lists, &read) : status;
    status = status == TOPK_OK ? decide_lists(&l, problem, &decided) : status;
    if (status != TOPK_OK) {
        return status;
    }
    if (read.follows < 0 || read.follows > 1) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "lists->follows is %d, must be 0 or 1", (int)read.follows);
    }
    l.follows = read.follows != 0;
    l.values = read.values;
    l.indices = read.indices;
    const topk_output output = {.size = sizeof output, .values = values, .indices = indices};
    list_results(&decided, &output, workspace, &buffers);
    status = list_moves(&l, &decided.plan, &read);
    status = status == TOPK_OK ? check_run(&l.run, &buffers) : status;
    return status == TOPK_OK ? merge_lists(&l, &decided, &read, &output, workspace, workspace_bytes) : status;
}
