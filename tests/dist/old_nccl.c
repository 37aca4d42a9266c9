/* SPDX-License-Identifier: Apache-2.0
 *
 * libtopk_dist over an NCCL from before 2.18, which has no ncclCommSplit(): this program is linked so that
 * there is none. Lists are not merged by nodes, and the sentence says why; all else works. */
#include <string.h>

#include "check.h"
#include "groups_nccl.h"

static void *expect_none(void *argument) {
    rank *const own = argument;
    topk_dist_plan *plan;
    CHECK_STATUS(TOPK_ERROR_UNSUPPORTED, create_plan(own, send_part(own), &plan));
    CHECK(plan == NULL && strstr(topk_dist_last_error(), "NCCL is older than 2.18") != NULL);
    return NULL;
}

static void *gather(void *argument) {
    rank *const own = argument;
    topk_dist_plan *plan;
    topk_dist_properties properties = TOPK_DIST_PROPERTIES_INIT;
    CHECK_STATUS(TOPK_OK, create_plan(own, send_part(own), &plan));
    CHECK_STATUS(TOPK_OK, topk_dist_plan_query(plan, &properties));
    CHECK(properties.strategy == TOPK_DIST_GATHER);
    CHECK_STATUS(TOPK_OK, run_plan(own, plan));
    ranks_wait(own->number);
    topk_dist_plan_destroy(plan);
    return NULL;
}

int main(void) {
    jobs_start(groups_open, groups_close);
    jobs_open(3, false);
    take_problem(TOPK_OPERATION_SELECT, 3);
    for (int r = 0; r < 3; r++) {
        drawn.nodes[r] = 1 + r % 2;
    }
    drawn.options.strategy = TOPK_DIST_GATHER_NODES;
    on_ranks(0, expect_none);
    drawn.options.strategy = TOPK_DIST_AUTO;
    on_ranks(0, gather);
    jobs_close();
    jobs_end();
    return check_report();
}
