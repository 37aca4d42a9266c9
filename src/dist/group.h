/* SPDX-License-Identifier: Apache-2.0
 * Ranks, and what a transport does for them. All its calls are collective. */
#ifndef TOPK_SRC_DIST_GROUP_H
#define TOPK_SRC_DIST_GROUP_H

#include <stdbool.h>

#include "topk_dist.h"

/* A transport never computes with elements: it moves bytes, and works on int64_t. Its functions return DEVICE
 * with a sentence if ranks cannot communicate. */
struct transport {
    /* Each number becomes the sum, or the greatest, of all ranks' numbers. */
    topk_status (*sum)(topk_dist_group *group, int64_t *numbers, int64_t count);
    topk_status (*most)(topk_dist_group *group, int64_t *numbers, int64_t count);
    /* The block of rank r goes to `blocks` + r * bytes, on all ranks or on one. */
    topk_status (*to_all)(topk_dist_group *group, const void *block, size_t bytes, void *blocks);
    topk_status (*to_root)(topk_dist_group *group, int root, const void *block, size_t bytes, void *blocks);
    /* Block r of this rank goes to rank r, which gets one of each rank, in the order of ranks. */
    topk_status (*to_each)(topk_dist_group *group, const void *blocks, size_t bytes, void *received);
    void (*close)(topk_dist_group *group);
};

struct topk_dist_group {
    const struct transport *transport;
    int rank, ranks;
    bool broken; /* a call of the transport has failed: no more are made */
};

/* The calls of the transport, and what they leave behind if they fail. Nothing to move is no call. */
topk_status topk_dist_sum(topk_dist_group *group, int64_t *numbers, int64_t count);
topk_status topk_dist_most(topk_dist_group *group, int64_t *numbers, int64_t count);
topk_status topk_dist_to_all(topk_dist_group *group, const void *block, size_t bytes, void *blocks);
topk_status topk_dist_to_root(topk_dist_group *group, int root, const void *block, size_t bytes,
                              void *blocks);
topk_status topk_dist_to_each(topk_dist_group *group, const void *blocks, size_t bytes, void *received);

/* What each rank has to say of a step: `status` with the last error. OK if all say OK, else on all ranks the
 * status of the first one that does not, and its text. */
topk_status topk_dist_agree(topk_dist_group *group, topk_status status);

#endif
