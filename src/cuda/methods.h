/* SPDX-License-Identifier: Apache-2.0
 * The methods of the CUDA backend, in the order in which topk_explain lists them; the last one serves
 * whatever select and kth there are. */
#ifndef TOPK_SRC_CUDA_METHODS_H
#define TOPK_SRC_CUDA_METHODS_H

#include "../method.h"

#define TOPK_CUDA_METHODS(ROW)                                                                               \
    ROW(topk_cuda_rtopk)                                                                                     \
    ROW(topk_cuda_resident)                                                                                  \
    ROW(topk_cuda_bracket)                                                                                   \
    ROW(topk_cuda_gridselect)                                                                                \
    ROW(topk_cuda_radik)                                                                                     \
    ROW(topk_cuda_air)                                                                                       \
    ROW(topk_cuda_radix)                                                                                     \
    ROW(topk_cuda_bucket)                                                                                    \
    ROW(topk_cuda_bitonic)                                                                                   \
    ROW(topk_cuda_drtopk)                                                                                    \
    ROW(topk_cuda_compact)                                                                                   \
    ROW(topk_cuda_route)                                                                                     \
    ROW(topk_cuda_groups)                                                                                    \
    ROW(topk_cuda_merge)                                                                                     \
    ROW(topk_cuda_sort)

TOPK_CUDA_METHODS(METHOD_DECLARATION)

/* accumulator.h */
extern const struct accumulators topk_cuda_accumulators;

/* sharded.h */
extern const struct sharding topk_cuda_sharding;

/* peer.h */
extern const struct peering topk_cuda_peering;

/* Enqueues a run. 0 or an error of the device, which is current. */
struct peer_run;
int topk_cuda_move(const struct peer_run *run);

/* transfer.h */
extern const struct transfers topk_cuda_transfers;

/* struct backend, decide_ranks. */
void topk_cuda_decide_ranks(const topk_context *context, const struct plan *plan, const struct method *method,
                            struct room *room, struct decision *decision);

/* As struct method, prepare. */
int topk_cuda_prepare_accumulators(const topk_context *context);
int topk_cuda_prepare_sharding(const topk_context *context);
int topk_cuda_prepare_peering(const topk_context *context);
int topk_cuda_prepare_transfers(const topk_context *context);
int topk_cuda_prepare_ranks(const topk_context *context);

#endif
