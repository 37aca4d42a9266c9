/* SPDX-License-Identifier: Apache-2.0
 *
 * Nothing is allocated inside a call (CONTRACT.md, 7.1), and a context that cannot be allocated is an
 * error that leaks nothing. A call of topk_simple.h allocates if its workspace must grow, and only then. */
#include <stdlib.h>

#include "allocation.h"
#include "check.h"
#include "random.h"
#include "topk_accumulator.h"
#include "topk_simple.h"

enum { LENGTH = 1 << 18, ROWS = 64, STATE_BYTES = 1 << 25 };

static float values[LENGTH], results[LENGTH];
static int32_t indices[LENGTH];
static int64_t counts[LENGTH], equal[LENGTH];
static unsigned char workspace[STATE_BYTES], other_state[STATE_BYTES];

static int team;          /* threads of the context */
static long settled = -1; /* allocations up to the end of the last call; below 0: calls may allocate */

/* A call has ended: as expected, and without an allocation. */
static void ended(const topk_problem *p, const char *function, topk_status expected, topk_status got) {
    const long now = allocation_count();
    const int allocated = settled >= 0 && now != settled;
    if (!CHECK(!allocated && got == expected)) {
        fprintf(stderr, "    %s of %lld rows of %lld, k = %lld, %d threads: %s, %ld allocations\n", function,
                (long long)p->rows, (long long)p->length_max, (long long)p->k_max, team,
                topk_status_string(got), allocated ? now - settled : 0);
    }
    settled = settled < 0 ? settled : now;
}

/* Chunks come last first, so that candidates are sorted by position, too. */
static void accumulate(topk_context *context, const topk_problem *problem, const topk_input *input,
                       const topk_predicate *predicate) {
    size_t bytes = 0;
    ended(problem, "topk_accumulator_size", TOPK_OK, topk_accumulator_size(context, problem, &bytes));
    CHECK(bytes <= STATE_BYTES);
    ended(problem, "topk_accumulator_init", TOPK_OK,
          topk_accumulator_init(context, problem, workspace, STATE_BYTES, NULL));
    for (int chunk = 3; chunk > 0; chunk--) {
        ended(problem, "topk_accumulator_push", TOPK_OK,
              topk_accumulator_push(context, problem, workspace, STATE_BYTES, input, problem->length_max,
                                    chunk * problem->length_max, NULL));
    }
    (void)topk_accumulator_init(context, problem, other_state, STATE_BYTES, NULL);
    ended(problem, "topk_accumulator_push_where", TOPK_OK,
          topk_accumulator_push_where(context, problem, other_state, STATE_BYTES, input, predicate,
                                      problem->length_max, 0, NULL));
    ended(problem, "topk_accumulator_merge", TOPK_OK,
          topk_accumulator_merge(context, problem, workspace, STATE_BYTES, other_state, STATE_BYTES, NULL));
    ended(problem, "topk_accumulator_peek", TOPK_OK,
          topk_accumulator_peek(context, problem, workspace, STATE_BYTES, results, indices, NULL));
    ended(problem, "topk_accumulator_export_size", TOPK_OK,
          topk_accumulator_export_size(context, problem, &bytes));
    CHECK(bytes <= STATE_BYTES);
    ended(problem, "topk_accumulator_export", TOPK_OK,
          topk_accumulator_export(context, problem, workspace, STATE_BYTES, other_state, STATE_BYTES, NULL));
    ended(problem, "topk_accumulator_import", TOPK_OK,
          topk_accumulator_import(context, problem, workspace, STATE_BYTES, other_state, bytes, NULL));
    ended(problem, "topk_accumulator_finish", TOPK_OK,
          topk_accumulator_finish(context, problem, workspace, STATE_BYTES, results, indices, NULL));
}

/* Plans, made while calls may allocate. */
static void run_plans(const topk_plan *const plans[], const topk_problem *problem, const topk_input *input,
                      const topk_predicate *predicate) {
    topk_input given = *input;
    topk_output output = TOPK_OUTPUT_INIT;
    output.values = results;
    output.indices = indices;
    ended(problem, "topk_plan_run of select", TOPK_OK,
          topk_plan_run(plans[0], &given, &output, workspace, STATE_BYTES, NULL));
    given.predicate = predicate;
    output = (topk_output)TOPK_OUTPUT_INIT;
    output.counts = counts;
    ended(problem, "topk_plan_run of count", TOPK_OK,
          topk_plan_run(plans[1], &given, &output, workspace, STATE_BYTES, NULL));
    ended(problem, "topk_plan_run without a predicate", TOPK_ERROR_NULL_POINTER,
          topk_plan_run(plans[1], input, &output, workspace, STATE_BYTES, NULL));
}

/* One call of everything on `rows` rows of this length. */
static void call_everything(topk_context *context, int64_t rows, int64_t length, int64_t k) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    size_t bytes = 0;
    problem.type = TOPK_F32;
    problem.rows = rows;
    problem.length_max = length;
    problem.k_max = k;
    input.values = values;
    predicate.kind = TOPK_GT;
    predicate.low.value.f64 = 0.5;
    const long before = settled;
    topk_plan *plans[2];
    CHECK_STATUS(TOPK_OK, topk_plan_create(context, TOPK_OPERATION_SELECT, &problem, NULL, &plans[0]));
    CHECK_STATUS(TOPK_OK, topk_plan_create(context, TOPK_OPERATION_COUNT, &problem, NULL, &plans[1]));
    CHECK(settled < 0 || allocation_count() == before + 2);
    settled = settled < 0 ? settled : allocation_count();
    run_plans((const topk_plan *const *)plans, &problem, &input, &predicate);
    topk_plan_destroy(plans[0]);
    topk_plan_destroy(plans[1]);
    ended(&problem, "topk_workspace_size", TOPK_OK,
          topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &bytes));
    ended(&problem, "topk_select", TOPK_OK,
          topk_select(context, &problem, &input, results, indices, workspace, STATE_BYTES, NULL));
    ended(&problem, "topk_kth", TOPK_OK,
          topk_kth(context, &problem, &input, results, counts, equal, workspace, STATE_BYTES, NULL));
    ended(&problem, "topk_where", TOPK_OK,
          topk_where(context, &problem, &input, &predicate, results, indices, LENGTH, counts, workspace,
                     STATE_BYTES, NULL));
    ended(&problem, "topk_select_where", TOPK_OK,
          topk_select_where(context, &problem, &input, &predicate, results, indices, workspace, STATE_BYTES,
                            NULL));
    ended(&problem, "topk_count", TOPK_OK,
          topk_count(context, &problem, &input, &predicate, counts, workspace, STATE_BYTES, NULL));
    ended(&problem, "topk_mask", TOPK_OK,
          topk_mask(context, &problem, &input, &predicate, results, workspace, STATE_BYTES, NULL));
    accumulate(context, &problem, &input, &predicate);
    problem.rows = -1; /* and an error */
    ended(&problem, "topk_select", TOPK_ERROR_OUT_OF_RANGE,
          topk_select(context, &problem, &input, results, indices, workspace, STATE_BYTES, NULL));
}

static topk_context *create(int threads) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context = NULL;
    options.backend = TOPK_BACKEND_CPU;
    options.threads = team = threads;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    return context;
}

/* Once there is a context the allocator is not called at all, however many of the team's threads a problem is
 * worth. */
static void check_no_allocation(int threads) {
    long at_first = allocation_count();
    topk_context *context = create(threads);
    CHECK(allocation_count() > at_first); /* or the allocator is not ours */
    settled = allocation_count();
    for (int64_t rows = 1; rows <= ROWS; rows *= 4) {
        call_everything(context, rows, LENGTH / rows, 1);
        call_everything(context, rows, LENGTH / rows, 100);
        call_everything(context, rows, LENGTH / rows, LENGTH / rows / 2);
    }
    for (int turn = 0; turn < 3; turn++) {
        call_everything(context, 1000, 256, 10);
        call_everything(context, 300, 256, 10);
        call_everything(context, 100, 256, 10);
    }
    settled = -1;
    topk_context_destroy(context);
}

/* Each allocation of creating a context fails in turn. */
static void check_failing_context(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    int failed = 0;
    options.backend = TOPK_BACKEND_CPU;
    for (long nth = 0; nth < 100; nth++) {
        topk_context *context = NULL;
        long live = allocation_live();
        allocation_fail_nth(nth);
        topk_status status = topk_context_create(&options, &context);
        allocation_fail_nth(-1);
        CHECK((status == TOPK_OK) == (context != NULL));
        if (status != TOPK_OK) {
            failed++;
            CHECK_STATUS(TOPK_ERROR_OUT_OF_MEMORY, status);
            CHECK(topk_last_error()[0] != '\0');
        }
        topk_context_destroy(context);
        CHECK(allocation_live() == live);
    }
    CHECK(failed > 0);
}

static void check_failing_plan(void) {
    topk_context *context = create(1);
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_plan *plan = NULL;
    problem.type = TOPK_F32;
    const long live = allocation_live();
    allocation_fail_nth(0);
    CHECK_STATUS(TOPK_ERROR_OUT_OF_MEMORY,
                 topk_plan_create(context, TOPK_OPERATION_SELECT, &problem, NULL, &plan));
    allocation_fail_nth(-1);
    CHECK(plan == NULL && allocation_live() == live && topk_last_error()[0] != '\0');
    CHECK_STATUS(TOPK_OK, topk_plan_create(context, TOPK_OPERATION_SELECT, &problem, NULL, &plan));
    topk_plan_destroy(plan);
    CHECK(allocation_live() == live);
    topk_context_destroy(context);
}

/* Each allocation of creating one fails in turn. */
static topk_simple *create_simple(void) {
    topk_simple *simple = NULL;
    int failed = 0;
    for (long nth = 0; nth < 100 && simple == NULL; nth++) {
        const long live = allocation_live();
        allocation_fail_nth(nth);
        const topk_status status = topk_simple_create(NULL, &simple);
        allocation_fail_nth(-1);
        if (status != TOPK_OK) {
            failed++;
            CHECK_STATUS(TOPK_ERROR_OUT_OF_MEMORY, status);
            CHECK(simple == NULL && allocation_live() == live);
        }
    }
    CHECK(failed > 1 && simple != NULL); /* the context, and what owns it */
    return simple;
}

static topk_status select_simply(topk_simple *simple, int64_t k) {
    return topk_simple_select(simple, TOPK_LARGEST, TOPK_F32, values, 1, LENGTH / 4, k, results, counts);
}

/* A workspace that cannot grow is an error that writes nothing; other calls may follow. */
static void check_failing_growth(topk_simple *simple) {
    results[0] = -1;
    counts[0] = -1;
    allocation_fail_nth(0);
    CHECK_STATUS(TOPK_ERROR_OUT_OF_MEMORY, select_simply(simple, LENGTH / 4));
    allocation_fail_nth(-1);
    CHECK(results[0] < 0 && counts[0] < 0 && topk_last_error()[0] != '\0');
    CHECK_STATUS(TOPK_OK, select_simply(simple, 10));
    CHECK(results[0] >= results[9] && counts[0] >= 0);
}

static void check_simple(void) {
    const long live = allocation_live();
    topk_simple *simple = create_simple();
    CHECK_STATUS(TOPK_OK, select_simply(simple, 10));
    CHECK_STATUS(TOPK_OK, select_simply(simple, 10));
    const long with_team = allocation_live(), before = allocation_count();
    CHECK_STATUS(TOPK_OK, select_simply(simple, 10));
    CHECK_STATUS(TOPK_OK, select_simply(simple, 1));
    CHECK(allocation_count() == before);
    check_failing_growth(simple);
    CHECK_STATUS(TOPK_OK, select_simply(simple, LENGTH / 4));
    CHECK(allocation_count() > before && allocation_live() == with_team); /* grown: one workspace still */
    topk_simple_destroy(simple);
    CHECK(allocation_live() == live);
}

int main(void) {
    random_state random = {1};
    for (int i = 0; i < LENGTH; i++) {
        values[i] = (float)random_unit(&random);
    }
    check_no_allocation(1);
    check_no_allocation(2);
    check_no_allocation(8);
    check_failing_context();
    check_failing_plan();
    check_simple();
    return check_report();
}
