/* SPDX-License-Identifier: Apache-2.0
 * What the calls on peer memory launch. */
#include "../../peer.h"

#include <string.h>

#include "../leaf.h"
#include "../methods.h"
#include "kernels.h"

static const struct peer_kernels *const kernels = &topk_cuda_peer_kernels_8;

_Static_assert(TOPK_PEER_RANKS_MAX * sizeof(uint64_t) + sizeof(struct peer_control) <= TOPK_PEER_FLAG_BYTES,
               "what a rank keeps lies behind the flags");
_Static_assert(sizeof(struct peer_args) <= 4096, "the argument of a kernel");

static struct peer_args args_of(const struct peer_run *run) {
    const topk_peer_group *g = &run->group;
    struct peer_args args = {.rank = (uint32_t)g->rank,
                             .ranks = (uint32_t)g->ranks,
                             .root = run->root,
                             .combines = run->result != PEER_COPIES,
                             .adds = run->result == PEER_SUM,
                             .half_bytes = peer_half_bytes(g),
                             .abort = g->abort,
                             .timeout_ns = peer_timeout_ns(g)};
    memcpy(args.buffers, g->buffers, (size_t)g->ranks * sizeof *args.buffers);
    memcpy(args.flags, g->flags, (size_t)g->ranks * sizeof *args.flags);
    return args;
}

/* Blocks of each row of a grid: enough for the bytes of that row, and not more in all than run at once. */
static struct launch_grid grid_for(const struct peer_run *run, uint64_t bytes, int64_t rows) {
    const struct call call = {.stream = run->stream};
    const int64_t at_once = PEER_BLOCKS_PER_SM * (int64_t)device_of(run->context)->sms;
    const int64_t of_block = PEER_LOADS * (int64_t)sizeof(uint64_t) * 2 * PEER_THREADS;
    struct launch_grid grid = grid_of(&call, divide_up((int64_t)bytes, of_block),
                                      greatest(at_once / greatest(rows, 1), 1), PEER_THREADS);
    grid.rows = (uint32_t)greatest(rows, 1);
    return grid;
}

/* One run. */
static int launch_piece(const struct peer_run *run, const struct peer_args *args) {
    const int64_t ranks = run->group.ranks;
    const struct call call = {.stream = run->stream};
    const struct launch_grid one = grid_of(&call, 1, 1, PEER_THREADS);
    const bool to_all = run->root == TOPK_PEER_ALL, gets = to_all || run->root == run->group.rank;
    const int64_t targets = to_all ? ranks - 1 : !gets;
    if (args->slot_bytes <= PEER_SMALL_BYTES / (uint64_t)ranks) {
        return kernels->launch(PEER_WHOLE, &one, args);
    }
    struct launch_grid grid = grid_for(run, args->slot_bytes, targets);
    int error = kernels->launch(PEER_STORE, &grid, args);
    error = error != 0 ? error : kernels->launch(PEER_WAIT, &one, args);
    if (error == 0 && gets) {
        grid = grid_for(run, args->slot_bytes, run->result == PEER_COPIES ? ranks : 1);
        error = kernels->launch(PEER_TAKE, &grid, args);
    }
    return error;
}

static struct peer_args_part part_of(const struct peer_run *run, const struct peer_part *part) {
    return (struct peer_args_part){.block = part->block,
                                   .out = part->out,
                                   .bytes = part->bytes,
                                   .stride = run->has_own_blocks ? part->bytes : 0,
                                   .out_stride = part->bytes};
}

/* As many runs as the buffers make of the blocks of a part. */
static int launch_part(const struct peer_run *run, const struct peer_part *part, struct peer_args *args) {
    const size_t piece = peer_piece_bytes(&run->group);
    struct peer_args_part *const moved = &args->parts[0];
    int error = 0;
    args->count = 1;
    *moved = part_of(run, part);
    for (size_t done = 0; done < part->bytes && error == 0; done += moved->bytes) {
        moved->bytes = part->bytes - done < piece ? part->bytes - done : piece;
        args->slot_bytes = peer_round_up(moved->bytes);
        error = launch_piece(run, args);
        moved->block += moved->bytes;
        moved->out = moved->out != NULL ? moved->out + moved->bytes : NULL;
    }
    return error;
}

/* All parts in one run, where the buffers have room; else one after the other. */
int topk_cuda_move(const struct peer_run *run) {
    const size_t piece = peer_piece_bytes(&run->group);
    struct peer_args args = args_of(run);
    size_t room = piece;
    int error = 0;
    for (int p = 0; p < run->count && run->parts[p].bytes <= room; p++) {
        args.parts[p] = part_of(run, &run->parts[p]);
        args.parts[p].at = piece - room;
        room -= peer_round_up(run->parts[p].bytes);
        args.count++;
    }
    if (args.count == (uint32_t)run->count) {
        args.slot_bytes = piece - room;
        return launch_piece(run, &args);
    }
    for (int p = 0; p < run->count && error == 0; p++) {
        error = launch_part(run, &run->parts[p], &args);
    }
    return error;
}

static int move(const void *of) {
    return topk_cuda_move(of);
}

static topk_status run_on_device(const struct peer_run *run) {
    return topk_cuda_do(run->context, move, run);
}

struct copied {
    topk_stream stream;
    const struct peer_control *from;
    topk_peer_report *to;
};

static int copy_report(const void *of) {
    const struct copied *c = of;
    return topk_device_copy(c->stream, c->to, c->from, sizeof *c->to);
}

static topk_status status(const topk_context *context, const topk_peer_group *group, topk_peer_report *report,
                          topk_stream stream) {
    const struct copied copied = {
        stream, (const struct peer_control *)(group->flags[group->rank] + TOPK_PEER_RANKS_MAX), report};
    return topk_cuda_do(context, copy_report, &copied);
}

int topk_cuda_prepare_peering(const topk_context *context) {
    (void)context;
    return kernels->prepare();
}

const struct peering topk_cuda_peering = {.run = run_on_device, .status = status};
