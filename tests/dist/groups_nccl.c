/* SPDX-License-Identifier: Apache-2.0 */
#include "groups_nccl.h"

#include <sched.h>
#include <stdlib.h>

#include "check.h"

bool groups_block = true;

static ncclUniqueId id;
static ncclComm_t communicators[JOBS_RANKS_MOST];
static bool is_aborted[JOBS_RANKS_MOST];

static void must(ncclResult_t result, const char *what) {
    if (result != ncclSuccess && result != ncclInProgress) {
        fprintf(stderr, "%s: %s\n", what, ncclGetErrorString(result));
        exit(3);
    }
}

/* A non-blocking communicator may still be being made. */
static void *open_group(void *argument) {
    rank *const own = argument;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = groups_block;
    ranks_enter(own->number);
    must(ncclCommInitRankConfig(&communicators[own->number], rank_count, id, own->number, &config),
         "ncclCommInitRankConfig");
    is_aborted[own->number] = false;
    if (!CHECK_STATUS(TOPK_OK, topk_dist_group_create_nccl(communicators[own->number], own->context,
                                                           ranks_stream(own->number), &own->group))) {
        fprintf(stderr, "rank %d: %s\n", own->number, topk_dist_last_error());
        exit(3);
    }
    return NULL;
}

static void *close_group(void *argument) {
    rank *const own = argument;
    const ncclComm_t communicator = communicators[own->number];
    ncclResult_t state = ncclSuccess;
    ranks_enter(own->number);
    topk_dist_group_destroy(own->group);
    if (is_aborted[own->number]) {
        return NULL;
    }
    if (!groups_block) {
        must(ncclCommFinalize(communicator), "ncclCommFinalize");
        while (ncclCommGetAsyncError(communicator, &state) == ncclSuccess && state == ncclInProgress) {
            sched_yield();
        }
    }
    must(ncclCommDestroy(communicator), "ncclCommDestroy");
    return NULL;
}

void groups_open(void) {
    must(ncclGetUniqueId(&id), "ncclGetUniqueId");
    on_ranks(0, open_group);
}

void groups_close(void) {
    on_ranks(0, close_group);
}

ncclComm_t groups_communicator(int r) {
    return communicators[r];
}

void groups_abort(int r) {
    is_aborted[r] = true;
    CHECK_STATUS(TOPK_OK, topk_dist_group_abort_nccl(ranks[r].group));
}
