/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of topk_dist.h that communicate by NCCL, 2.14 or later. */
#ifndef TOPK_DIST_NCCL_H
#define TOPK_DIST_NCCL_H

#include <nccl.h>

#include "topk_dist.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Creates a group of the ranks of a communicator. `context` is on this rank's GPU, which is the
 * communicator's. While a plan is made ranks agree by work on `stream`; runs of plans may take other streams,
 * if the caller orders them. Ranks may be threads of one process: each has its own communicator, and a thread
 * that waits for no other rank's. Nothing is sent yet, but a communicator that is still being made is waited
 * for, for ever if a rank never comes to make it: a caller that has a limit asks ncclCommGetAsyncError()
 * first. On failure *group is NULL.
 *
 * The communicator stays the caller's, who ends it after the group. From the group's first plan to its end
 * the order of all work with it must be the same on all ranks, as NCCL asks. No call with the group may be
 * within a ncclGroupStart() of the caller.
 *
 * A run of a plan enqueues, and a graph can capture it. All such graphs must be destroyed before the
 * communicator, which waits for that. A communicator may be a non-blocking one (ncclConfig_t): calls wait on
 * the host until NCCL has enqueued the work.
 *
 * A plan by nodes (TOPK_DIST_GATHER_NODES) has the communicator split, by NCCL 2.18 or later: the group keeps
 * the parts, and topk_dist_group_destroy() ends them, collectively. Graphs of such plans must be destroyed
 * before the group.
 *
 * NULL_POINTER; UNSUPPORTED for a context on the CPU; CONTRADICTION for a communicator of another GPU;
 * OUT_OF_MEMORY; DEVICE: NCCL failed. Each rank finds them alone. */
TOPK_API topk_status topk_dist_group_create_nccl(ncclComm_t communicator, topk_context *context,
                                                 topk_stream stream, topk_dist_group **group);

/* Ends the group's communicator, and its parts, by ncclCommAbort(): the caller must not use or end it any
 * more. What waits on the GPU for another rank stops, and so does what is enqueued behind it; results of such
 * runs are not to be used. All further calls that communicate are DEVICE; the group and its plans remain to
 * be destroyed.
 *
 * For any thread, while another one waits in topk_dist_plan_create(), or for the stream of a run: so a rank
 * whose fellow is gone goes on. Only a call into NCCL is waited for, which with a blocking communicator may
 * itself wait for other ranks, the first time that it needs them. Where ranks may go, let it be a
 * non-blocking one. After a plan or run that is DEVICE call it before anything else is destroyed. Not
 * collective.
 *
 * NULL_POINTER, UNSUPPORTED for a group of another transport, DEVICE: NCCL failed. */
TOPK_API topk_status topk_dist_group_abort_nccl(topk_dist_group *group);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_DIST_NCCL_H */
