/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of topk_dist.h between GPUs of one machine, by peer memory (topk_peer.h). */
#ifndef TOPK_DIST_PEER_H
#define TOPK_DIST_PEER_H

#include "topk_dist.h"
#include "topk_peer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Creates a group of the ranks of a peer group, each with a GPU, or several with one. It copies *peer and the
 * lists of addresses. From then on flags and buffers serve this group alone, and stay mapped until it ends on
 * all ranks. A buffer should have room for a rank's longest list of a plan, which goes in several runs else
 * (topk_peer_buffer_bytes()). `context` is on this rank's GPU. While a plan is made ranks agree by work on
 * `stream`; runs of plans may take other streams, if the caller orders them. If ranks share a GPU
 * each has a stream of its own, which waits for no other: not the default stream. On failure *group is NULL.
 *
 * A run of a plan enqueues, and a graph can capture it. It waits on the GPU for the other ranks, for up to
 * peer->timeout_ms and while peer->abort is 0. If it gives up, indices that it writes are -2, and so are the
 * numbers of kth and count; in IN_PLACE `before` is, and no other output counts. Then and later
 * topk_peer_status() tells why, with the same flags; a plan is DEVICE.
 *
 * NULL_POINTER, OUT_OF_MEMORY, and as topk_peer_status(): each rank finds them alone. */
TOPK_API topk_status topk_dist_group_create_peer(const topk_peer_group *peer, topk_context *context,
                                                 topk_stream stream, topk_dist_group **group);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_DIST_PEER_H */
