/* SPDX-License-Identifier: Apache-2.0
 * Ranks, and what a transport does for them. All its calls are collective. */
#ifndef TOPK_SRC_DIST_GROUP_H
#define TOPK_SRC_DIST_GROUP_H

#include <stdbool.h>

#include "topk_dist_transport.h"
#include "topk_peer.h"

/* A transport never computes with elements: it moves bytes, and works on int64_t. This one moves memory of
 * the host, and its functions return when that is done; DEVICE with a sentence if ranks cannot communicate.
 */
struct transport {
    /* Each number becomes the sum, or the greatest, of all ranks' numbers. */
    topk_status (*sum)(topk_dist_group *group, int64_t *numbers, int64_t count);
    topk_status (*most)(topk_dist_group *group, int64_t *numbers, int64_t count);
    /* The block of rank r goes to `blocks` + r * bytes, on all ranks or on one. */
    topk_status (*to_all)(topk_dist_group *group, const void *block, size_t bytes, void *blocks);
    topk_status (*to_root)(topk_dist_group *group, int root, const void *block, size_t bytes, void *blocks);
    /* Block r of this rank goes to rank r, which gets one of each rank, in the order of ranks. */
    topk_status (*to_each)(topk_dist_group *group, const void *blocks, size_t bytes, void *received);
    /* The same for blocks of any lengths: bytes[r] of rank r. `blocks` has them one behind the other. All of
     * one call are at most TOPK_DIST_VARIED_BYTES. NULL: the transport has blocks of one length alone. */
    topk_status (*to_all_varied)(topk_dist_group *group, const void *block, const int64_t *bytes,
                                 void *blocks);
    topk_status (*to_root_varied)(topk_dist_group *group, int root, const void *block, const int64_t *bytes,
                                  void *blocks);
    /* sent[r] bytes go to rank r, bytes[r] come from there. */
    topk_status (*to_each_varied)(topk_dist_group *group, const void *blocks, const int64_t *sent,
                                  const int64_t *bytes, void *received);
    void (*close)(topk_dist_group *group);
    /* The block of rank `root` goes to all, in place. Block r of its `blocks` goes to `block` on rank r; but
     * the root's own stays where it is, and its `block` is not looked at. NULL without `split`. */
    topk_status (*from_root)(topk_dist_group *group, int root, void *block, size_t bytes);
    topk_status (*deal)(topk_dist_group *group, int root, const void *blocks, size_t bytes, void *block);
    /* A group of the `ranks` ranks with the same colour, where this one is number `order`; with colour -1
     * none, and *part is NULL. Also OUT_OF_MEMORY, on all ranks. NULL: the transport has no parts. */
    topk_status (*split)(topk_dist_group *group, int colour, int order, int ranks, topk_dist_group **part);
};

struct topk_dist_nodes;

#ifdef TOPK_SHRINK
enum { TOPK_DIST_VARIED_BYTES = 2000 };
#else
enum { TOPK_DIST_VARIED_BYTES = 1 << 30 };
#endif

struct topk_dist_group {
    const struct transport *transport;
    int rank, ranks;
    bool broken;                   /* a call of the transport has failed: no more are made */
    int64_t node;                  /* the same for ranks of one node, as the transport finds them: >= 0 */
    const char *undivided;         /* why the transport has no parts, if it knows */
    struct topk_dist_nodes *nodes; /* parts that plans have asked for (nodes.h) */
    topk_dist_group *whole;        /* of a part: what breaks it breaks the whole group. Else NULL */
    /* A transport that enqueues, for runs; plans are made by the other one. NULL: there is none. */
    const topk_dist_transport *on_stream;
    void *own;          /* of that one */
    bool shares_device; /* ranks may have a GPU in common */
    /* topk_peer_merge() by ranks that `own` connects: to_all, to_root or to_each of lists, and a merge, as
     * one. NULL: they come one after the other. */
    topk_status (*merge)(void *own, int root, const topk_problem *problem, const topk_peer_lists *lists,
                         const topk_output *output, void *workspace, size_t workspace_bytes,
                         topk_stream stream);
};

/* The calls of the transport, and what they leave behind if they fail. Nothing to move is no call. */
topk_status topk_dist_sum(topk_dist_group *group, int64_t *numbers, int64_t count);
topk_status topk_dist_most(topk_dist_group *group, int64_t *numbers, int64_t count);
topk_status topk_dist_to_all(topk_dist_group *group, const void *block, size_t bytes, void *blocks);
topk_status topk_dist_to_root(topk_dist_group *group, int root, const void *block, size_t bytes,
                              void *blocks);
topk_status topk_dist_to_each(topk_dist_group *group, const void *blocks, size_t bytes, void *received);
topk_status topk_dist_to_all_varied(topk_dist_group *group, const void *block, const int64_t *bytes,
                                    void *blocks);
topk_status topk_dist_to_root_varied(topk_dist_group *group, int root, const void *block,
                                     const int64_t *bytes, void *blocks);
topk_status topk_dist_to_each_varied(topk_dist_group *group, const void *blocks, const int64_t *sent,
                                     const int64_t *bytes, void *received);
topk_status topk_dist_from_root(topk_dist_group *group, int root, void *block, size_t bytes);
topk_status topk_dist_deal(topk_dist_group *group, int root, const void *blocks, size_t bytes, void *block);
topk_status topk_dist_split(topk_dist_group *group, int colour, int order, int ranks, topk_dist_group **part);

/* The machine, as a number >= 0: the same for all processes of one kernel and host name. */
int64_t topk_dist_machine(void);

/* OK, or DEVICE: the group, or the whole that it is a part of, is broken. */
topk_status topk_dist_intact(const topk_dist_group *group);

/* Breaks both. */
void topk_dist_break(topk_dist_group *group);

/* The outcome of a call of group->on_stream: OK, or DEVICE with its sentence, and the group is broken. */
topk_status topk_dist_on_stream(topk_dist_group *group, topk_status status);

/* Whether a context is on the device of a group that enqueues. */
bool topk_dist_has_context(const topk_dist_group *group, const topk_context *context);

/* What each rank has to say of a step: `status` with the last error. OK if all say OK, else on all ranks the
 * status of the first one that does not, and its text. */
topk_status topk_dist_agree(topk_dist_group *group, topk_status status);

/* The same. Where a rank that does not say OK has `breaks` all ranks break the group. */
topk_status topk_dist_agree_or_break(topk_dist_group *group, topk_status status, bool breaks);

#endif
