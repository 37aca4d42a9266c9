/* SPDX-License-Identifier: Apache-2.0
 * Groups over NCCL of ranks that are GPUs 0, 1, 2, ... of this process. */
#ifndef BENCH_DIST_GROUPS_NCCL_H
#define BENCH_DIST_GROUPS_NCCL_H

#include "topk_dist.h"

/* Communicators of `ranks` ranks, at most 8; false if NCCL makes none. */
bool bench_nccl_open(int ranks);

topk_status bench_nccl_group(int rank, topk_context *context, topk_stream stream, topk_dist_group **group);

#endif /* BENCH_DIST_GROUPS_NCCL_H */
