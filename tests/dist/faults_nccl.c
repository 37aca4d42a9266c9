/* SPDX-License-Identifier: Apache-2.0
 *
 * Each call into NCCL fails in turn, on one rank: that rank's group, plan or run is DEVICE, in a sentence
 * with the rank and NCCL's reason, and so is what the other ranks do. Argument: the number of ranks. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fake_nccl.h"
#include "groups_nccl.h"

static long fails_at;
static int victim;
static struct {
    topk_status status;
    bool has_group;
    long calls;
    char text[512];
} outcomes[JOBS_RANKS_MOST];

static topk_status plan_and_run(rank *own) {
    topk_dist_plan *plan;
    topk_status status = create_plan(own, send_part(own), &plan);
    if (status == TOPK_OK) {
        status = run_plan(own, plan);
        if (status != TOPK_OK) { /* once more, without a call */
            const long calls = fake_calls();
            snprintf(outcomes[own->number].text, sizeof outcomes->text, "%s", topk_dist_last_error());
            CHECK_STATUS(TOPK_ERROR_DEVICE, run_plan(own, plan));
            CHECK(fake_calls() == calls && strstr(topk_dist_last_error(), "broken") != NULL);
        }
        topk_dist_plan_destroy(plan);
    } else {
        CHECK(plan == NULL);
        snprintf(outcomes[own->number].text, sizeof outcomes->text, "%s", topk_dist_last_error());
    }
    return status;
}

static void *try_once(void *argument) {
    rank *const own = argument;
    const int r = own->number;
    topk_dist_group *const before = own->group;
    outcomes[r].text[0] = '\0';
    fake_fail(r == victim ? fails_at : -1);
    outcomes[r].status =
        topk_dist_group_create_nccl(groups_communicator(r), own->context, ranks_stream(r), &own->group);
    outcomes[r].has_group = outcomes[r].status == TOPK_OK;
    if (outcomes[r].has_group) {
        outcomes[r].status = plan_and_run(own);
    } else {
        CHECK(own->group == NULL);
        snprintf(outcomes[r].text, sizeof outcomes->text, "%s", topk_dist_last_error());
    }
    outcomes[r].calls = fake_calls();
    fake_fail(-1);
    topk_dist_group_destroy(own->group);
    own->group = before;
    return NULL;
}

/* Whether the sentence of a failure names its rank, which a group that could not be made may not know. */
static bool names_rank(int r) {
    char name[64];
    snprintf(name, sizeof name, "rank %d of %d: ", r, rank_count);
    return !outcomes[r].has_group || strncmp(outcomes[r].text, name, strlen(name)) == 0;
}

/* False if all went well. */
static bool check_fault(topk_operation operation, const topk_dist_options *options, int count, long at) {
    jobs_open(count, false);
    take_problem(operation, count);
    drawn.options = *options;
    for (int r = 0; r < count && options->strategy == TOPK_DIST_GATHER_NODES; r++) {
        drawn.nodes[r] = 1 + r % 2;
    }
    fails_at = at;
    on_ranks(0, try_once);
    const bool has_failed = outcomes[victim].status != TOPK_OK;
    for (int r = 0; r < count; r++) {
        const bool is_ok = outcomes[r].status == TOPK_OK;
        /* A rank may have all data when another one asks how its own communicator is, and a node when another
         * one hands out results. */
        const bool may_differ = !groups_block || options->strategy == TOPK_DIST_GATHER_NODES;
        if (!CHECK(is_ok ? !has_failed || (may_differ && r != victim)
                         : has_failed && outcomes[r].status == TOPK_ERROR_DEVICE && names_rank(r) &&
                               strstr(outcomes[r].text, fake_reason) != NULL)) {
            fprintf(stderr, "destination %d, call %ld, rank %d: %d, \"%s\"\n", (int)options->destination, at,
                    r, (int)outcomes[r].status, outcomes[r].text);
        }
    }
    CHECK(has_failed == (outcomes[victim].calls > at));
    jobs_close();
    return has_failed;
}

static void check_faults(topk_operation operation, topk_dist_strategy strategy,
                         topk_dist_destination destination, int count) {
    topk_dist_options options = TOPK_DIST_OPTIONS_INIT;
    options.strategy = strategy;
    options.destination = destination;
    options.root = destination == TOPK_DIST_ROOT ? victim : 0;
    long at = 0;
    while (check_fault(operation, &options, count, at)) {
        at++;
    }
    CHECK(at > 10);
}

static void check_device(void) {
    topk_dist_group *group;
    jobs_open(1, false);
    fake_device = 3;
    CHECK_STATUS(TOPK_ERROR_CONTRADICTION,
                 topk_dist_group_create_nccl(groups_communicator(0), ranks[0].context, NULL, &group));
    CHECK(group == NULL && strstr(topk_dist_last_error(), "GPU 3") != NULL);
    fake_device = 0;
    jobs_close();
}

int main(int argc, char **argv) {
    const int count = argc > 1 ? atoi(argv[1]) : 1;
    jobs_start(groups_open, groups_close);
    check_device();
    for (int block = 0; block < 2; block++) {
        groups_block = block != 0;
        victim = count - 1;
        check_faults(TOPK_OPERATION_KTH, TOPK_DIST_AUTO, TOPK_DIST_EVERYWHERE, count);
        check_faults(TOPK_OPERATION_SELECT, TOPK_DIST_GATHER, TOPK_DIST_EVERYWHERE, count);
        check_faults(TOPK_OPERATION_SELECT, TOPK_DIST_GATHER, TOPK_DIST_OWNER, count);
        victim = 0; /* leads a node */
        check_faults(TOPK_OPERATION_SELECT, TOPK_DIST_GATHER, TOPK_DIST_ROOT, count);
        check_faults(TOPK_OPERATION_SELECT, TOPK_DIST_GATHER_NODES,
                     groups_block ? TOPK_DIST_EVERYWHERE : TOPK_DIST_OWNER, count + 1);
        victim = groups_block ? 0 : count;
        check_faults(TOPK_OPERATION_SELECT, TOPK_DIST_GATHER_NODES,
                     groups_block ? TOPK_DIST_ROOT : TOPK_DIST_EVERYWHERE, count + 1);
    }
    jobs_end();
    return check_report();
}
