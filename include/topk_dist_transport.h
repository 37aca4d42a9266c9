/* SPDX-License-Identifier: Apache-2.0
 *
 * Transports of one's own for topk_dist.h: how ranks move data that lies on their GPUs, by whatever
 * connects them. topk_dist_peer.h has one ready.
 *
 * Such a transport never waits. Its functions enqueue their work on a stream, as kernels are, so a run of a
 * plan returns when its work is enqueued, and a CUDA graph can capture it if it can capture the transport's
 * work. They move bytes and add integers; they never look at elements. */
#ifndef TOPK_DIST_TRANSPORT_H
#define TOPK_DIST_TRANSPORT_H

#include "topk_dist.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a transport does. All but `check` and `error` are collective: each rank calls them in the same order,
 * with the same count, bytes and root. A part of the ranks calls them with an `own` that `split` has made.
 * Arrays lie on the device of the group's context, and are aligned to 8 bytes; what is read and what is
 * written do not overlap. The work is enqueued on `stream`, behind what that has, and what comes after it
 * there finds it done. `bytes` and `count` are at least 1. Any status but TOPK_OK breaks the group. Start
 * from TOPK_DIST_TRANSPORT_INIT. */
typedef struct topk_dist_transport {
    size_t size; /* sizeof(topk_dist_transport) */
    /* Each of `count` numbers becomes the sum of all ranks' numbers. */
    topk_status (*sum)(void *own, int64_t *numbers, int64_t count, topk_stream stream);
    /* The block of rank r, of `bytes`, goes to blocks + r * bytes: on all ranks; or on rank `root` alone, and
     * `blocks` is not looked at on the others. */
    topk_status (*to_all)(void *own, const void *block, size_t bytes, void *blocks, topk_stream stream);
    topk_status (*to_root)(void *own, int root, const void *block, size_t bytes, void *blocks,
                           topk_stream stream);
    /* Block r of this rank, of `bytes`, goes to rank r, which gets one of each rank, in the order of ranks.
     */
    topk_status (*to_each)(void *own, const void *blocks, size_t bytes, void *received, topk_stream stream);
    /* Whether all went well that was enqueued on `stream`. Called while a plan is made, by the host, which
     * has waited for the stream. Not collective; it may wait. NULL: it always did. */
    topk_status (*check)(void *own, topk_stream stream);
    /* A sentence on the latest failure, for topk_dist_last_error(). NULL: there are none. */
    const char *(*error)(void *own);
    /* Ends `own` with the group, collectively. NULL: there is nothing to end. */
    void (*close)(void *own);
    /* What moves of blocks do between these two may be enqueued as one, at the latest by end(). Such calls
     * are of one function, have the same root, and need nothing that another of them brings. After one that
     * fails only error() and close() are called. Both, or NULL. */
    topk_status (*begin)(void *own);
    topk_status (*end)(void *own, topk_stream stream);
    /* For plans that merge lists by nodes (TOPK_DIST_GATHER_NODES): these three, or NULL.
     * `split` makes parts of the ranks: those that give the same colour are one, and `order` is the rank's
     * number there, from 0 on. *part is what the functions of this struct get as `own` for it, and `close`
     * ends it, before the whole. A rank that gives the colour -1 is in no part, and leaves *part as it is.
     * Called while a plan is made, twice for each new division into nodes. It may wait, also for `stream`. */
    topk_status (*split)(void *own, int colour, int order, topk_stream stream, void **part);
    /* All ranks get the block of rank `root`, of `bytes`. */
    topk_status (*from_root)(void *own, int root, void *block, size_t bytes, topk_stream stream);
    /* Block r of rank `root`, of `bytes`, goes to `block` on rank r, where `blocks` is not looked at; but the
     * root's own stays where it is, and its `block` is not looked at. */
    topk_status (*deal)(void *own, int root, const void *blocks, size_t bytes, void *block,
                        topk_stream stream);
} topk_dist_transport;

#define TOPK_DIST_TRANSPORT_INIT                                                                             \
    { sizeof(topk_dist_transport), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* Creates a group of `ranks` ranks; the caller is number `rank`. It copies *transport, and passes
 * `own` on to its functions. `context` says where arrays lie: plans of the group are made with it, or with
 * another context of the same backend and device; it must outlive the group. While a plan is made ranks
 * agree by work on `stream`, a stream of that device: if ranks share a GPU each has its own, which waits
 * for no other. Nothing is sent yet. On failure *group is NULL, and `own` stays the caller's. Each rank finds
 * errors alone: the others may wait for it.
 *
 * NULL_POINTER (also for a function that is missing, of those that come together too), STRUCT_SIZE,
 * OUT_OF_RANGE for rank and ranks, OUT_OF_MEMORY, DEVICE. */
TOPK_API topk_status topk_dist_group_create(const topk_dist_transport *transport, void *own,
                                            topk_context *context, int rank, int ranks, topk_stream stream,
                                            topk_dist_group **group);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_DIST_TRANSPORT_H */
