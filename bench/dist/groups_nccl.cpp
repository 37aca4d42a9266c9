/* SPDX-License-Identifier: Apache-2.0 */
#include "dist/groups_nccl.h"

#include "topk_dist_nccl.h"

static ncclComm_t communicators[8];

bool bench_nccl_open(int ranks) {
    return ncclCommInitAll(communicators, ranks, nullptr) == ncclSuccess;
}

topk_status bench_nccl_group(int rank, topk_context *context, topk_stream stream, topk_dist_group **group) {
    return topk_dist_group_create_nccl(communicators[rank], context, stream, group);
}
