/* SPDX-License-Identifier: Apache-2.0
 *
 * libtopk_dist over NCCL: random problems, what a group refuses, and a rank that never comes.
 *
 * Arguments: how many problems; `each` where each rank has a GPU of its own; else counts of ranks. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "groups_nccl.h"
#include "topk_dist_transport.h"

/* ---- What is refused ---- */

static topk_status no_sum(void *own, int64_t *numbers, int64_t count, topk_stream stream) {
    (void)own, (void)numbers, (void)count, (void)stream;
    return TOPK_ERROR_DEVICE;
}

static topk_status no_move(void *own, const void *from, size_t bytes, void *to, topk_stream stream) {
    (void)own, (void)from, (void)bytes, (void)to, (void)stream;
    return TOPK_ERROR_DEVICE;
}

static topk_status no_root(void *own, int root, const void *from, size_t bytes, void *to,
                           topk_stream stream) {
    (void)root;
    return no_move(own, from, bytes, to, stream);
}

static void check_other_transport(topk_context *context) {
    topk_dist_transport transport = TOPK_DIST_TRANSPORT_INIT;
    topk_dist_group *group;
    transport.sum = no_sum;
    transport.to_all = transport.to_each = no_move;
    transport.to_root = no_root;
    CHECK_STATUS(TOPK_OK, topk_dist_group_create(&transport, NULL, context, 0, 1, NULL, &group));
    CHECK_STATUS(TOPK_ERROR_UNSUPPORTED, topk_dist_group_abort_nccl(group));
    topk_dist_group_destroy(group);
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_abort_nccl(NULL));
}

static void check_refused(bool one_each) {
    topk_dist_group *group = NULL;
    jobs_open(1, one_each);
    const ncclComm_t communicator = groups_communicator(0);
    topk_context *const context = ranks[0].context;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_create_nccl(communicator, context, NULL, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_create_nccl(communicator, NULL, NULL, &group));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_create_nccl(NULL, context, NULL, &group));
    CHECK_STATUS(TOPK_ERROR_UNSUPPORTED,
                 topk_dist_group_create_nccl(communicator, jobs_alone(), NULL, &group));
    CHECK(group == NULL);
    check_other_transport(context);
    jobs_close();
}

/* ---- A rank that never comes: rank 0 ---- */

static bool has_plan;
static topk_dist_plan *plans[JOBS_RANKS_MOST];

static void *make_plan(void *argument) {
    rank *const own = argument;
    if (!CHECK_STATUS(TOPK_OK, create_plan(own, send_part(own), &plans[own->number]))) {
        abort();
    }
    return NULL;
}

/* Waits in a plan, or for a run. Either way it ends, and the group is of no more use. */
static void *go_on_without_rank_0(void *argument) {
    rank *const own = argument;
    topk_dist_plan *other = NULL;
    if (has_plan && run_plan(own, plans[own->number]) == TOPK_OK) {
        ranks_wait(own->number);
    }
    CHECK_STATUS(TOPK_ERROR_DEVICE, create_plan(own, 10, &other));
    CHECK(other == NULL);
    if (!CHECK(strstr(topk_dist_last_error(), has_plan ? "" : "aborted") != NULL)) {
        fprintf(stderr, "%s\n", topk_dist_last_error());
    }
    return NULL;
}

static void *abort_all(void *argument) {
    (void)argument;
    usleep(200000);
    for (int r = 0; r < rank_count; r++) {
        groups_abort(r);
    }
    return NULL;
}

/* `by_nodes`: the ranks of its node wait for it there, and the others for the node. */
static void check_missing(int count, bool one_each, bool in_run, bool by_nodes) {
    pthread_t aborting;
    has_plan = in_run;
    jobs_open(count, one_each);
    take_problem(by_nodes ? TOPK_OPERATION_SELECT : TOPK_OPERATION_KTH, count);
    drawn.options.strategy = by_nodes ? TOPK_DIST_GATHER_NODES : TOPK_DIST_AUTO;
    for (int r = 0; r < count && by_nodes; r++) {
        drawn.nodes[r] = 1 + r % 2;
    }
    if (in_run) {
        on_ranks(0, make_plan);
    }
    if (pthread_create(&aborting, NULL, abort_all, NULL) != 0) {
        abort();
    }
    on_ranks(1, go_on_without_rank_0);
    pthread_join(aborting, NULL);
    for (int r = 0; r < count && in_run; r++) {
        topk_dist_plan_destroy(plans[r]);
    }
    jobs_close();
}

int main(int argc, char **argv) {
    const int problems = argc > 1 ? atoi(argv[1]) : 0;
    const bool one_each = argc > 2 && strcmp(argv[2], "each") == 0;
    jobs_start(groups_open, groups_close);
    int most = 0;
    for (int i = 2 + one_each; i < argc; i++) {
        const int count = atoi(argv[i]);
        if (count < 1 || count > JOBS_RANKS_MOST || !ranks_fit(count, one_each)) {
            continue;
        }
        most = count > most ? count : most;
        groups_block = true;
        check_problems(count, one_each, problems);
        groups_block = false;
        check_problems(count, one_each, (problems + 1) / 2);
        jobs_have_nodes = true;
        check_problems(count, one_each, count > 2 ? (problems + 1) / 2 : (problems + 3) / 4);
        jobs_have_nodes = false;
    }
    if (most == 0) {
        return RANKS_EXIT_NONE;
    }
    check_refused(one_each);
    if (most > 1) {
        check_missing(most, one_each, false, false);
        check_missing(most, one_each, true, false);
        check_missing(most, one_each, true, true);
    }
    jobs_end();
    return check_report();
}
