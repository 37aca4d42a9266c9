/* SPDX-License-Identifier: Apache-2.0
 *
 * A transport of one's own, of one rank: what a group refuses, that each failure of the transport is one of
 * the plan or the run, and that a group that has failed makes no more calls. Parts are of that rank, too.
 *
 * usage: transport cpu|cuda (the emulated GPU) */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "topk_dist_transport.h"

enum { ROWS = 3, LENGTH = 50, K = 4 };

static topk_context *context;
static bool is_cuda, groups_calls, divides;

/* The transport, or a part of it. */
typedef struct alone {
    long calls, fails_at; /* counting from 0; -1: none fails */
    int closed, parts;    /* and how many of these are there */
    struct alone *whole;
} alone;

static const char failed[] = "the line is cut";

static topk_status call(alone *of, void *to, const void *from, size_t bytes) {
    alone *const a = of->whole != NULL ? of->whole : of;
    if (a->calls++ == a->fails_at) {
        return TOPK_ERROR_OUT_OF_RANGE;
    }
    if (to != from) {
        memcpy(to, from, bytes);
    }
    return TOPK_OK;
}

static topk_status sum(void *own, int64_t *numbers, int64_t count, topk_stream stream) {
    (void)stream;
    CHECK(count > 0);
    return call(own, numbers, numbers, 0);
}

static topk_status to_all(void *own, const void *block, size_t bytes, void *blocks, topk_stream stream) {
    (void)stream;
    CHECK(bytes > 0);
    return call(own, blocks, block, bytes);
}

static topk_status to_root(void *own, int root, const void *block, size_t bytes, void *blocks,
                           topk_stream stream) {
    (void)stream;
    CHECK(root == 0 && bytes > 0);
    return call(own, blocks, block, bytes);
}

static topk_status to_each(void *own, const void *blocks, size_t bytes, void *received, topk_stream stream) {
    (void)stream;
    CHECK(bytes > 0);
    return call(own, received, blocks, bytes);
}

static topk_status check(void *own, topk_stream stream) {
    (void)stream;
    return call(own, own, own, 0);
}

static const char *error(void *own) {
    (void)own;
    return failed;
}

static topk_status split(void *own, int colour, int order, topk_stream stream, void **part) {
    (void)stream;
    CHECK(colour == 0 && order == 0 && ((alone *)own)->whole == NULL);
    const topk_status status = call(own, own, own, 0);
    if (status == TOPK_OK) {
        alone *const made = calloc(1, sizeof *made);
        made->whole = own;
        made->whole->parts++;
        *part = made;
    }
    return status;
}

static topk_status from_root(void *own, int root, void *block, size_t bytes, topk_stream stream) {
    (void)stream;
    CHECK(root == 0 && bytes > 0 && ((alone *)own)->whole != NULL);
    return call(own, block, block, bytes);
}

static topk_status deal(void *own, int root, const void *blocks, size_t bytes, void *block,
                        topk_stream stream) {
    (void)stream, (void)blocks, (void)block;
    CHECK(root == 0 && bytes > 0 && ((alone *)own)->whole != NULL);
    return call(own, own, own, 0);
}

/* Parts end before the whole. */
static void end(void *own) {
    alone *const a = own;
    if (a->whole == NULL) {
        CHECK(a->parts == 0);
        a->closed++;
        return;
    }
    a->whole->parts--;
    free(a);
}

static topk_status begin(void *own) {
    return call(own, own, own, 0);
}

static topk_status finish(void *own, topk_stream stream) {
    (void)stream;
    return call(own, own, own, 0);
}

static topk_dist_transport whole(void) {
    topk_dist_transport transport = TOPK_DIST_TRANSPORT_INIT;
    transport.sum = sum;
    transport.to_all = to_all;
    transport.to_root = to_root;
    transport.to_each = to_each;
    transport.check = check;
    transport.error = error;
    transport.close = end;
    transport.begin = groups_calls ? begin : NULL;
    transport.end = groups_calls ? finish : NULL;
    transport.split = divides ? split : NULL;
    transport.from_root = divides ? from_root : NULL;
    transport.deal = divides ? deal : NULL;
    return transport;
}

/* ---- Groups ---- */

static void expect_no_group(topk_status status, const topk_dist_transport *transport, topk_context *of,
                            int rank, int ranks) {
    alone own = {.fails_at = -1};
    topk_dist_group *group = (topk_dist_group *)(void *)&own;
    CHECK_STATUS(status, topk_dist_group_create(transport, &own, of, rank, ranks, NULL, &group));
    CHECK(group == NULL && own.closed == 0);
}

static void check_groups(void) {
    topk_dist_transport t = whole();
    alone own = {.fails_at = -1};
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_create(&t, &own, context, 0, 1, NULL, NULL));
    expect_no_group(TOPK_ERROR_NULL_POINTER, NULL, context, 0, 1);
    expect_no_group(TOPK_ERROR_NULL_POINTER, &t, NULL, 0, 1);
    expect_no_group(TOPK_ERROR_OUT_OF_RANGE, &t, context, 0, 0);
    expect_no_group(TOPK_ERROR_OUT_OF_RANGE, &t, context, 1, 1);
    expect_no_group(TOPK_ERROR_OUT_OF_RANGE, &t, context, -1, 1);
    t.size = 8;
    expect_no_group(TOPK_ERROR_STRUCT_SIZE, &t, context, 0, 1);
    t = whole();
    t.sum = NULL;
    expect_no_group(TOPK_ERROR_NULL_POINTER, &t, context, 0, 1);
    t = whole();
    t.to_all = NULL;
    expect_no_group(TOPK_ERROR_NULL_POINTER, &t, context, 0, 1);
    t = whole();
    t.to_root = NULL;
    expect_no_group(TOPK_ERROR_NULL_POINTER, &t, context, 0, 1);
    t = whole();
    t.to_each = NULL;
    expect_no_group(TOPK_ERROR_NULL_POINTER, &t, context, 0, 1);
    t = whole();
    t.begin = begin;
    expect_no_group(TOPK_ERROR_NULL_POINTER, &t, context, 0, 1);
    t = whole();
    t.end = finish;
    expect_no_group(TOPK_ERROR_NULL_POINTER, &t, context, 0, 1);
    for (int missing = 0; missing < 3; missing++) {
        t = whole();
        t.split = missing == 0 ? NULL : split;
        t.from_root = missing == 1 ? NULL : from_root;
        t.deal = missing == 2 ? NULL : deal;
        expect_no_group(TOPK_ERROR_NULL_POINTER, &t, context, 0, 1);
    }
}

/* ---- Plans and runs ---- */

typedef struct trial {
    topk_operation operation;
    topk_dist_options options;
} trial;

/* Creates a plan, and runs it. *calls: how many the transport got. */
static topk_status try_once(const trial *of, long fails_at, long *calls) {
    static float values[ROWS * LENGTH];
    float best[ROWS * K];
    int64_t numbers[ROWS * K];
    alone own = {.fails_at = fails_at};
    const topk_dist_transport transport = whole();
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    topk_dist_properties properties = TOPK_DIST_PROPERTIES_INIT;
    topk_input input = TOPK_INPUT_INIT;
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    topk_dist_group *group;
    topk_dist_plan *plan;
    problem.type = TOPK_F32;
    problem.index_type = TOPK_INDEX_I64;
    problem.rows = ROWS;
    problem.length_max = LENGTH;
    problem.k_max = K;
    predicate.kind = TOPK_GE;
    predicate.low = topk_bound_f64(0);
    input.values = values;
    input.predicate = of->operation == TOPK_OPERATION_COUNT ? &predicate : NULL;
    output.values = of->operation == TOPK_OPERATION_COUNT ? NULL : best;
    output.indices = of->operation == TOPK_OPERATION_SELECT ? numbers : NULL;
    output.counts = of->operation == TOPK_OPERATION_COUNT ? numbers : NULL;
    CHECK_STATUS(TOPK_OK, topk_dist_group_create(&transport, &own, context, 0, 1, NULL, &group));
    topk_status status = topk_dist_plan_create(group, context, of->operation, &problem, &of->options, &plan);
    const bool has_plan = status == TOPK_OK;
    if (has_plan) {
        (void)topk_dist_plan_query(plan, &properties);
        void *const workspace = malloc(properties.workspace_bytes);
        status = topk_dist_plan_run(plan, &input, &output, workspace, properties.workspace_bytes, NULL);
        if (fails_at < 0) {
            CHECK(of->operation == TOPK_OPERATION_KTH || numbers[0] == (output.counts != NULL ? LENGTH : 0));
        } else {
            CHECK(strcmp(topk_dist_last_error(), failed) == 0);
            const long before = own.calls;
            CHECK_STATUS(TOPK_ERROR_DEVICE, topk_dist_plan_run(plan, &input, &output, workspace,
                                                               properties.workspace_bytes, NULL));
            CHECK(own.calls == before && strstr(topk_dist_last_error(), "broken") != NULL);
        }
        free(workspace);
        topk_dist_plan_destroy(plan);
    } else {
        CHECK(plan == NULL && strcmp(topk_dist_last_error(), failed) == 0);
    }
    *calls = own.calls;
    topk_dist_group_destroy(group);
    CHECK(own.closed == 1);
    return status;
}

static void check_trial(const trial *of) {
    long calls, fewer;
    CHECK_STATUS(TOPK_OK, try_once(of, -1, &calls));
    CHECK(calls > 3);
    for (long at = 0; at < calls; at++) {
        CHECK_STATUS(TOPK_ERROR_DEVICE, try_once(of, at, &fewer));
        CHECK(fewer == at + 1);
    }
}

static void expect_no_nodes(const topk_dist_options *options, const char *reason) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    const topk_dist_transport transport = whole();
    alone own = {.fails_at = -1};
    topk_dist_group *group;
    topk_dist_plan *plan;
    problem.type = TOPK_F32;
    CHECK_STATUS(TOPK_OK, topk_dist_group_create(&transport, &own, context, 0, 1, NULL, &group));
    CHECK_STATUS(TOPK_ERROR_UNSUPPORTED,
                 topk_dist_plan_create(group, context, TOPK_OPERATION_SELECT, &problem, options, &plan));
    CHECK(plan == NULL && strstr(topk_dist_last_error(), reason) != NULL);
    topk_dist_group_destroy(group);
}

/* A transport whose struct is from before it had parts is one without them. */
static void check_older_struct(void) {
    topk_dist_options options = TOPK_DIST_OPTIONS_INIT;
    topk_dist_transport transport = whole();
    topk_problem problem = TOPK_PROBLEM_INIT;
    alone own = {.fails_at = -1};
    topk_dist_group *group;
    topk_dist_plan *plan;
    divides = false;
    options.strategy = TOPK_DIST_GATHER_NODES;
    expect_no_nodes(&options, "split");
    transport.size = offsetof(topk_dist_transport, split);
    problem.type = TOPK_F32;
    CHECK_STATUS(TOPK_OK, topk_dist_group_create(&transport, &own, context, 0, 1, NULL, &group));
    CHECK_STATUS(TOPK_ERROR_UNSUPPORTED,
                 topk_dist_plan_create(group, context, TOPK_OPERATION_SELECT, &problem, &options, &plan));
    topk_dist_group_destroy(group);
}

static void check_runs(void) {
    trial t = {.operation = TOPK_OPERATION_SELECT, .options = TOPK_DIST_OPTIONS_INIT};
    for (int strategy = TOPK_DIST_GATHER; strategy <= TOPK_DIST_HISTOGRAM + divides; strategy++) {
        for (int destination = TOPK_DIST_EVERYWHERE; destination <= TOPK_DIST_IN_PLACE; destination++) {
            t.options.strategy = (topk_dist_strategy)strategy;
            t.options.destination = (topk_dist_destination)destination;
            check_trial(&t);
        }
    }
    t.operation = TOPK_OPERATION_KTH;
    check_trial(&t);
    t.operation = TOPK_OPERATION_COUNT;
    check_trial(&t);
}

/* A plan's context is on the group's device. */
static void check_contexts(void) {
    topk_context *other;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_problem problem = TOPK_PROBLEM_INIT;
    const topk_dist_transport transport = whole();
    alone own = {.fails_at = -1};
    topk_dist_group *group;
    topk_dist_plan *plan;
    options.threads = 1;
    problem.type = TOPK_F32;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &other));
    CHECK_STATUS(TOPK_OK, topk_dist_group_create(&transport, &own, context, 0, 1, NULL, &group));
    CHECK_STATUS(is_cuda ? TOPK_ERROR_CONTRADICTION : TOPK_OK,
                 topk_dist_plan_create(group, other, TOPK_OPERATION_SELECT, &problem, NULL, &plan));
    topk_dist_plan_destroy(plan);
    topk_dist_group_destroy(group);
    topk_context_destroy(other);
}

int main(int argc, char **argv) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    is_cuda = argc > 1 && strcmp(argv[1], "cuda") == 0;
    options.backend = is_cuda ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    options.threads = is_cuda ? 0 : 1;
    if (!CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context))) {
        return 1;
    }
    check_groups();
    check_runs();
    groups_calls = divides = true;
    check_runs();
    check_contexts();
    check_older_struct();
    topk_context_destroy(context);
    return check_report();
}
