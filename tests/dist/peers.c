/* SPDX-License-Identifier: Apache-2.0
 *
 * libtopk_dist over peer memory: random problems, and a rank that never comes.
 *
 * Arguments: how many problems; `each` where each rank has a GPU of its own; else counts of ranks. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "jobs.h"
#include "topk_dist_peer.h"

enum { LIST_SLOTS = 100 }; /* some problems have more */

static topk_peer_group peers[JOBS_RANKS_MOST];
static void *buffers[JOBS_RANKS_MOST];
static uint64_t *flags[JOBS_RANKS_MOST], *lists[JOBS_RANKS_MOST];
static bool has_one_each;

static void open_groups(void) {
    for (int r = 0; r < rank_count; r++) {
        buffers[r] = ranks_memory(r, topk_peer_buffer_bytes(rank_count, ranks_block_bytes()));
        flags[r] = ranks_memory(r, TOPK_PEER_FLAG_BYTES);
        lists[r] = ranks_memory(r, topk_peer_list_bytes(rank_count, LIST_SLOTS));
        peers[r] = (topk_peer_group)TOPK_PEER_GROUP_INIT;
        peers[r].rank = r;
        peers[r].ranks = rank_count;
        peers[r].buffers = buffers;
        peers[r].flags = flags;
        peers[r].buffer_bytes = topk_peer_buffer_bytes(rank_count, ranks_block_bytes());
        peers[r].abort = ranks_word();
        peers[r].lists = lists;
        peers[r].list_bytes = topk_peer_list_bytes(rank_count, LIST_SLOTS);
        peers[r].one_each = has_one_each;
    }
    for (int r = 0; r < rank_count; r++) {
        CHECK_STATUS(TOPK_OK, topk_dist_group_create_peer(&peers[r], ranks[r].context, ranks_stream(r),
                                                          &ranks[r].group));
    }
}

static void close_groups(void) {
    for (int r = 0; r < rank_count; r++) {
        topk_dist_group_destroy(ranks[r].group);
    }
}

/* ---- A rank that never comes ---- */

static topk_dist_plan *plans[JOBS_RANKS_MOST];

static void *make_plan(void *argument) {
    rank *const own = argument;
    own->properties = (topk_dist_properties)TOPK_DIST_PROPERTIES_INIT;
    if (!CHECK_STATUS(TOPK_OK, create_plan(own, send_part(own), &plans[own->number]))) {
        abort();
    }
    CHECK_STATUS(TOPK_OK, topk_dist_plan_query(plans[own->number], &own->properties));
    return NULL;
}

static void *run_without_rank_0(void *argument) {
    rank *const own = argument;
    topk_dist_plan *other;
    CHECK_STATUS(TOPK_OK, run_plan(own, plans[own->number]));
    fetch(own);
    CHECK_STATUS(TOPK_ERROR_DEVICE, create_plan(own, 10, &other));
    CHECK(other == NULL && strstr(topk_dist_last_error(), "rank ") != NULL);
    return NULL;
}

static bool says_that_it_failed(const rank *own) {
    const int64_t *const told = drawn.operation == TOPK_OPERATION_KTH             ? own->seen.better
                                : drawn.operation == TOPK_OPERATION_COUNT         ? own->seen.counts
                                : drawn.options.destination == TOPK_DIST_IN_PLACE ? own->before
                                                                                  : own->seen.indices;
    const int64_t slots =
        told == own->seen.indices ? own->properties.rows * drawn.problem.k_max : drawn.problem.rows;
    for (int64_t i = 0; i < slots; i++) {
        if (told[i] != -2) {
            return false;
        }
    }
    return slots > 0;
}

static void check_missing(int count, bool one_each) {
    static const struct {
        topk_operation operation;
        topk_dist_strategy strategy;
        topk_dist_destination destination;
    } ways[] = {{TOPK_OPERATION_SELECT, TOPK_DIST_GATHER, TOPK_DIST_EVERYWHERE},
                {TOPK_OPERATION_SELECT, TOPK_DIST_HISTOGRAM, TOPK_DIST_EVERYWHERE},
                {TOPK_OPERATION_SELECT, TOPK_DIST_GATHER, TOPK_DIST_IN_PLACE},
                {TOPK_OPERATION_SELECT, TOPK_DIST_HISTOGRAM, TOPK_DIST_IN_PLACE},
                {TOPK_OPERATION_KTH, TOPK_DIST_AUTO, TOPK_DIST_EVERYWHERE},
                {TOPK_OPERATION_COUNT, TOPK_DIST_AUTO, TOPK_DIST_EVERYWHERE}};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        jobs_open(count, one_each);
        take_problem(ways[way].operation, count);
        drawn.options.strategy = ways[way].strategy;
        drawn.options.destination = ways[way].destination;
        on_ranks(0, make_plan);
        __atomic_store_n(ranks_word(), 1, __ATOMIC_RELEASE);
        on_ranks(1, run_without_rank_0);
        for (int r = 1; r < count; r++) {
            if (!CHECK(says_that_it_failed(&ranks[r]))) {
                fprintf(stderr, "way %zu, rank %d\n", way, r);
            }
        }
        for (int r = 0; r < count; r++) {
            topk_dist_plan_destroy(plans[r]);
        }
        jobs_close();
    }
}

static void *expect_no_nodes(void *argument) {
    rank *const own = argument;
    topk_dist_plan *plan;
    CHECK_STATUS(TOPK_ERROR_UNSUPPORTED, create_plan(own, 10, &plan));
    CHECK(plan == NULL && strstr(topk_dist_last_error(), "peer memory is of one machine") != NULL);
    return NULL;
}

/* Rank 0 alone has parts in memory of the host. */
static void *make_copying_plan(void *argument) {
    rank *const own = argument;
    topk_problem p = drawn.problem;
    topk_dist_options options = drawn.options;
    topk_dist_plan *plan;
    p.length_max = 10;
    options.origin = own->number == 0 ? TOPK_DIST_PARTS : TOPK_DIST_INPUT;
    CHECK_STATUS(TOPK_ERROR_UNSUPPORTED,
                 topk_dist_plan_create(own->group, own->context, drawn.operation, &p, &options, &plan));
    CHECK(plan == NULL && strstr(topk_dist_last_error(), "rank 0: parts are not copied") != NULL);
    return NULL;
}

static void check_no_copies(void) {
    jobs_open(2, false);
    take_problem(TOPK_OPERATION_SELECT, 2);
    on_ranks(0, make_copying_plan);
    jobs_close();
}

/* What a group refuses. */
static void check_refused(bool one_each) {
    topk_dist_group *group;
    jobs_open(2, one_each);
    take_problem(TOPK_OPERATION_SELECT, 2);
    drawn.options.strategy = TOPK_DIST_GATHER_NODES;
    on_ranks(0, expect_no_nodes);
    topk_peer_group peer = peers[0];
    topk_context *const context = ranks[0].context;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_create_peer(&peer, context, NULL, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_create_peer(&peer, NULL, NULL, &group));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_create_peer(NULL, context, NULL, &group));
    CHECK_STATUS(TOPK_ERROR_UNSUPPORTED, topk_dist_group_create_peer(&peer, jobs_alone(), NULL, &group));
    CHECK(group == NULL);
    peer.ranks = 0;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_dist_group_create_peer(&peer, context, NULL, &group));
    peer = peers[0];
    peer.flags = NULL;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_create_peer(&peer, context, NULL, &group));
    CHECK(group == NULL);
    jobs_close();
}

int main(int argc, char **argv) {
    const int problems = argc > 1 ? atoi(argv[1]) : 0;
    const bool one_each = argc > 2 && strcmp(argv[2], "each") == 0;
    has_one_each = one_each;
    jobs_start(open_groups, close_groups);
    if (!ranks_fit(2, one_each)) {
        return RANKS_EXIT_NONE;
    }
    for (int i = 2 + one_each; i < argc; i++) {
        const int count = atoi(argv[i]);
        if (count >= 1 && count <= JOBS_RANKS_MOST && ranks_fit(count, one_each)) {
            check_problems(count, one_each, problems);
        }
    }
    check_refused(one_each);
    if (!one_each) {
        check_no_copies();
    }
    check_missing(ranks_fit(3, one_each) ? 3 : 2, one_each);
    jobs_end();
    return check_report();
}
