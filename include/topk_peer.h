/* SPDX-License-Identifier: Apache-2.0
 *
 * Exchanges between the GPUs of one machine through peer memory: each rank's kernels store right into buffers
 * of the other ranks. For candidates of topk_merge.h and counters of topk_sharded.h, or any other bytes.
 *
 * Each rank has a context, a stream, and two pieces of memory on its GPU that all ranks can reach: a buffer
 * and an array of flags. The caller allocates them and maps them on every rank's GPU, as an allocator of
 * symmetric memory does: in one process by cudaDeviceEnablePeerAccess(), between processes by handles of
 * cudaIpcGetMemHandle() or cuMemExportToShareableHandle(). Only loads and stores are used, no multicast.
 *
 *   void *buffers[4];                  // buffers[r]: rank r's buffer, at its address in this process
 *   uint64_t *flags[4];                // flags[r]: rank r's flags, likewise
 *   topk_peer_group group = TOPK_PEER_GROUP_INIT;
 *   group.rank = rank, group.ranks = 4, group.buffers = buffers, group.flags = flags;
 *   group.buffer_bytes = bytes, group.timeout_ms = 1000;
 *   topk_peer_part parts[2] = {{own_values, values_bytes, all_values},
 *                              {own_indices, indices_bytes, all_indices}};
 *   topk_peer_gather_parts(context, &group, TOPK_PEER_ALL, parts, 2, stream);
 *   topk_merge(context, &problem, &input, &lists_of_ranks, values, indices, ..., stream);
 *
 * A call enqueues a run on the stream and waits for nothing. A call whose blocks are too long for the buffers
 * enqueues several runs. It can be captured in a graph. All ranks make
 * the same calls, in the same order, with the same sizes and roots; replays of a graph count as calls. Runs
 * of a group come one after another on each rank, on one stream or on streams that the caller orders.
 *
 * topk_peer_merge() does what the last two calls do, and in one launch where lists are short.
 *
 * A rank's GPU waits for all other ranks in each run, by a kernel of one block. Ranks may share a GPU if they
 * are of one process and each has a stream of its own that waits for no other, so not the default stream, and
 * no more of them than the GPU has queues for streams (CUDA_DEVICE_MAX_CONNECTIONS, 8 by default). A kernel
 * of a rank that waits takes a block's room on one multiprocessor. So on a shared GPU no rank may need a
 * whole GPU to go on: cooperative launches do, which of libtopk the method `bracket` makes. There name other
 * methods (topk_advanced.h), or have all ranks' selections end before a rank exchanges. */
#ifndef TOPK_PEER_H
#define TOPK_PEER_H

#include "topk.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TOPK_PEER_RANKS_MAX = 128,
    TOPK_PEER_FLAG_BYTES = 1280, /* of each rank's array of flags */
    TOPK_PEER_ALL = -1,          /* in place of a root: all ranks */
    TOPK_PEER_OWNER = -2,        /* in topk_peer_merge(): of each row another one */
    TOPK_PEER_PARTS_MAX = 4      /* pieces of memory that go together */
};

/* A group as one of its ranks sees it. Calls read it, and the two lists of addresses, before they return.
 * Start from TOPK_PEER_GROUP_INIT.
 *
 * The flags keep what the library knows from run to run: how many runs there were, which run of each rank has
 * arrived, whether the group is broken. They belong to one group. The caller zeroes them before its first
 * run, on all ranks before any rank's first run begins, and never writes to them again. The buffers may hold
 * garbage. They, too, serve one group alone: another one once the runs of all ranks have ended. All of it
 * must stay mapped until then. */
typedef struct topk_peer_group {
    size_t size;            /* sizeof(topk_peer_group) */
    int rank, ranks;        /* this rank, from 0 on, and how many there are: 1 to TOPK_PEER_RANKS_MAX */
    void *const *buffers;   /* of each rank, as this rank's GPU sees it: a multiple of 16 */
    uint64_t *const *flags; /* TOPK_PEER_FLAG_BYTES of each rank, likewise: a multiple of 16 */
    size_t buffer_bytes;    /* of each buffer, the same on all ranks: see topk_peer_buffer_bytes() */
    const uint32_t *abort;  /* a word that this GPU can read, such as pinned memory of the host. While it is
                               not 0 a run fails instead of waiting. NULL: none */
    int64_t timeout_ms;     /* how long a run may wait for the other ranks; 0: for ever */
    /* For topk_peer_merge(): list_bytes of each rank, as this rank's GPU sees them, a multiple of 16. They
     * are zeroed when the flags are, and belong to the group as these do. list_bytes is the same on all
     * ranks: see topk_peer_list_bytes(). NULL: lists go through the buffers. */
    uint64_t *const *lists;
    size_t list_bytes;
    int64_t one_each; /* 1: each rank has a GPU of its own, so that as many blocks as it holds may wait at
                         once. 0: they may share one. The same on all ranks */
} topk_peer_group;

#define TOPK_PEER_GROUP_INIT                                                                                 \
    { sizeof(topk_peer_group), 0, 1, NULL, NULL, 0, NULL, 0, NULL, 0, 0 }

/* How large buffers must be for blocks of up to `block_bytes` from each of `ranks` ranks to go in one run:
 * the blocks of all ranks, twice, each a multiple of 16. With smaller buffers longer blocks go in several
 * runs; the least is topk_peer_buffer_bytes(ranks, 1). SIZE_MAX if that exceeds the address space, 0 for a
 * number of ranks below 1. */
TOPK_API size_t topk_peer_buffer_bytes(int ranks, size_t block_bytes);

/* How large group->lists must be for lists of up to `candidates` from each rank to each other one, all rows
 * together. SIZE_MAX if that exceeds the address space, 0 for a number of ranks or candidates below 1. */
TOPK_API size_t topk_peer_list_bytes(int ranks, int64_t candidates);

/* Why a group is broken. */
typedef enum topk_peer_outcome {
    TOPK_PEER_INTACT = 0,
    TOPK_PEER_LEFT = 1,      /* another rank's run has failed: that rank told this one */
    TOPK_PEER_TIMED_OUT = 2, /* a rank's part did not arrive within timeout_ms */
    TOPK_PEER_ABORTED = 3    /* the abort word was not 0 while a rank's part was missing */
} topk_peer_outcome;

/* What a rank's flags tell. */
typedef struct topk_peer_report {
    int64_t runs;    /* that have ended on this rank, failed ones included */
    int32_t rank;    /* that was missing or has left, if the group is broken: one of them */
    int32_t outcome; /* topk_peer_outcome */
} topk_peer_report;

/* Enqueues a copy of what the flags tell to *report, which is memory of this GPU.
 *
 * A run fails where a part is missing for too long, where the abort word is set meanwhile, or where another
 * rank says that its run has failed. Then the group is broken on this rank for good, and it tells all other
 * ranks: their runs fail at the latest one run later. Every further run of a broken group fails at once and
 * stores nothing to other ranks. A run that fails fills its results: of topk_peer_gather() and
 * topk_peer_exchange() with bytes 0xfe, so that an index among them is negative and topk_merge() makes -2 of
 * the row; of topk_peer_sum() and topk_peer_most() with -2; of topk_peer_merge() indices are -2. To go on
 * the caller waits until no rank has runs under way, and zeroes all flags and lists.
 *
 * NULL_POINTER, MISALIGNED, STRUCT_SIZE, OUT_OF_RANGE, UNSUPPORTED for contexts of the CPU, DEVICE. */
TOPK_API topk_status topk_peer_status(topk_context *context, const topk_peer_group *group,
                                      topk_peer_report *report, topk_stream stream);

/* Brings a block from each rank to all ranks, or to `root` alone.
 *
 * block    `bytes` of this rank, of any alignment; 16-byte loads serve multiples of 16, 4-byte loads
 *          multiples of 4
 * blocks   ranks x `bytes`: the block of rank r at r * bytes. Not written, and may be NULL, on ranks that
 *          are not the root
 *
 * `root` and `bytes` are the same on all ranks. No bytes are no run. Ranks that are not the root wait
 * for the others as well: so none is ever more than one run ahead.
 *
 * Statuses as topk_peer_status(), and: OUT_OF_RANGE for a root that is no rank, OVERLAP, OVERFLOW,
 * CONTRADICTION for a stream of a CPU's context, WORKSPACE_TOO_SMALL for buffers below the least. A call
 * that a rank makes and that is refused is no run: other ranks wait for it until their time is up. */
TOPK_API topk_status topk_peer_gather(topk_context *context, const topk_peer_group *group, int root,
                                      const void *block, size_t bytes, void *blocks, topk_stream stream);

/* Brings block r of each rank to rank r: of `blocks`, ranks x `bytes`, to `received`, likewise, where the
 * block of rank r lies at r * bytes. All else as topk_peer_gather(). */
TOPK_API topk_status topk_peer_exchange(topk_context *context, const topk_peer_group *group,
                                        const void *blocks, size_t bytes, void *received, topk_stream stream);

/* Several pieces of memory that go together, such as the values and the indices of a list: */
typedef struct topk_peer_part {
    const void *block; /* or `blocks` of an exchange: what this rank has */
    size_t bytes;      /* of a block, the same on all ranks; may be 0 */
    void *blocks;      /* or `received`: where it goes */
} topk_peer_part;

/* As topk_peer_gather() and topk_peer_exchange() of each part, and in one run if the buffers have room for a
 * block of each part at once, every one rounded up to a multiple of 16. OUT_OF_RANGE for `count` not in 0 to
 * TOPK_PEER_PARTS_MAX. */
TOPK_API topk_status topk_peer_gather_parts(topk_context *context, const topk_peer_group *group, int root,
                                            const topk_peer_part *parts, int count, topk_stream stream);
TOPK_API topk_status topk_peer_exchange_parts(topk_context *context, const topk_peer_group *group,
                                              const topk_peer_part *parts, int count, topk_stream stream);

/* Lists of all ranks, and what becomes of them. Start from TOPK_PEER_LISTS_INIT. */
typedef struct topk_peer_lists {
    size_t size;                  /* sizeof(topk_peer_lists) */
    const void *values, *indices; /* of this rank: rows x length_max, padded as results of topk_select() are.
                                     For owners room for ranks x ceil(rows / ranks) rows */
    void *all_values, *all_indices; /* room for the lists of all ranks, of the rows that one rank gets: ranks
                                       x that many rows x length_max. Garbage afterwards. NULL on ranks that
                                       are not the root */
    const void *k;                  /* results of each row: extents, of all rows; NULL: k_max */
    int32_t sorted;                 /* topk_sorted of topk_merge.h, the same on all ranks */
    int32_t follows;                /* 1: the stream's latest work is a call of libtopk that has enqueued a
                                       kernel, so that this launch may overlap its end */
} topk_peer_lists;

#define TOPK_PEER_LISTS_INIT                                                                                 \
    { sizeof(topk_peer_lists), NULL, NULL, NULL, NULL, NULL, 0, 0 }

/* Brings the lists of all ranks together and merges them: as topk_peer_gather_parts() or
 * topk_peer_exchange_parts() of values and indices and topk_merge() of what they bring, bit for bit.
 *
 * root               TOPK_PEER_ALL: all ranks get all rows. A rank: that one gets them. TOPK_PEER_OWNER: row
 *                    r goes to rank r / ceil(rows / ranks)
 * problem            of topk_merge(), for all rows: `length_max` slots of a list, `k_max` results;
 *                    row_stride 0. The same on all ranks
 * values, indices    of the rows that this rank gets: k_max slots each. NULL where that is none, or where
 *                    they are not wanted
 * workspace          topk_workspace_size(context, TOPK_OPERATION_MERGE, ...) of the problem with these rows
 *
 * It is one launch where group->lists has room, lists are sorted, best first, and short (at most 4096
 * candidates of a row in all), there are up to 32 ranks and 256 rows, elements have at most 32 bits, and
 * either one_each is 1 or all rows together have no more candidates than that. Else the lists go through the
 * buffers. All ranks must come to the same: GPUs of a group have as much shared memory for a block.
 *
 * Lists of no slots are no run. Statuses as topk_peer_gather_parts() and topk_merge(), and CONTRADICTION for
 * a row_stride that is not length_max. */
TOPK_API topk_status topk_peer_merge(topk_context *context, const topk_peer_group *group, int root,
                                     const topk_problem *problem, const topk_peer_lists *lists, void *values,
                                     void *indices, void *workspace, size_t workspace_bytes,
                                     topk_stream stream);

/* Each of `count` numbers becomes the sum of all ranks' numbers, added in the order of ranks modulo 2^64; or
 * the greatest of them. `count` is the same on all ranks, 0 is no run. OUT_OF_RANGE for a negative count; all
 * else as topk_peer_gather() for blocks of 8 * count bytes. */
TOPK_API topk_status topk_peer_sum(topk_context *context, const topk_peer_group *group, int64_t *numbers,
                                   int64_t count, topk_stream stream);
TOPK_API topk_status topk_peer_most(topk_context *context, const topk_peer_group *group, int64_t *numbers,
                                    int64_t count, topk_stream stream);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_PEER_H */
