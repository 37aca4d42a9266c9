/* SPDX-License-Identifier: Apache-2.0
 * Collectives on memory of a plan's device, in the order of the run's stream. */
#ifndef TOPK_SRC_DIST_MOVE_H
#define TOPK_SRC_DIST_MOVE_H

#include "run.h"

/* As the functions of struct transport, on the device. A transport that enqueues gets the calls as they are.
 * Another one waits for the stream, and moves memory of the host: the blocks are copied there and back; or
 * the caller has said that it takes pointers of the device (options.device_pointers). Nothing to move is no
 * call. */
topk_status topk_dist_move_sum(const struct run *r, int64_t *numbers, int64_t count);
/* What moves between these two may be enqueued as one: no move needs what another brings. */
topk_status topk_dist_move_begin(topk_dist_group *group);
topk_status topk_dist_move_end(const struct run *r, topk_dist_group *group);

/* `group`: the plan's, or a part of it. */
topk_status topk_dist_move_to_all(const struct run *r, topk_dist_group *group, const void *block,
                                  size_t bytes, void *blocks);
topk_status topk_dist_move_to_root(const struct run *r, topk_dist_group *group, int root, const void *block,
                                   size_t bytes, void *blocks);
topk_status topk_dist_move_to_each(const struct run *r, topk_dist_group *group, const void *blocks,
                                   size_t bytes, void *received);
topk_status topk_dist_move_from_root(const struct run *r, topk_dist_group *group, int root, void *block,
                                     size_t bytes);
topk_status topk_dist_move_deal(const struct run *r, topk_dist_group *group, int root, const void *blocks,
                                size_t bytes, void *block);

/* The lists of all ranks meet and are merged to *output, at once; if the group does both. */
topk_status topk_dist_move_and_merge(const struct run *r, const topk_output *output);

/* Memory of the host that this takes, at most, in a run of the plan; SIZE_MAX: more than there is. */
size_t topk_dist_staging_bytes(const struct topk_dist_plan *plan);

#endif
