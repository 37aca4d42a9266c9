/* SPDX-License-Identifier: Apache-2.0
 *
 * Types that C does not see: of bounds, which are unions, and of arrays, which are void pointers. Bounds that
 * nobody gave a type, and what topk.h and topk_debug.h have against arrays of another width. */
#undef NDEBUG
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "topk_debug.h"

static fixture f;
static topk_context *context;
static topk_simple *simple;

/* ---- Bounds ---- */

static void reset(topk_type type) {
    fixture_init(&f, context);
    f.problem.type = type;
    f.problem.rows = type == TOPK_I64 ? 1 : ROWS; /* twice as wide */
    f.capacity = f.problem.rows * LENGTH;
}

/* The status of all calls with a bound whose type nobody set. */
static void expect_unset(topk_type type, topk_bound bound, topk_status wanted) {
    reset(type);
    f.predicate.low.value = bound.value;
    EXPECT_PREDICATE(&f, wanted);
    CHECK(wanted == TOPK_OK || strstr(topk_last_error(), "low has no type") != NULL);
    f.predicate.low.type = bound.type; /* with it every bound will do */
    EXPECT_PREDICATE(&f, TOPK_OK);
    f.predicate.kind = TOPK_BETWEEN;
    f.predicate.high.value = bound.value;
    EXPECT_PREDICATE(&f, wanted);
    CHECK(wanted == TOPK_OK || strstr(topk_last_error(), "high has no type") != NULL);
}

static void check_bounds_without_type(void) {
    static const int64_t integers[] = {1, -1, 5, 300, -300, 1 << 24, INT32_MIN, INT64_C(1) << 51};
    static const int64_t large[] = {INT64_C(1) << 53, INT64_C(1764000000000000000), INT64_MIN,
                                    -(INT64_C(1) << 60)};
    static const double numbers[] = {0, 0.5, -0.5, 1, 1000, -1e15, 1e-15, INFINITY, -INFINITY, (double)NAN};
    static const double floats[] = {-0.0, 1e-300, -1e300};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        expect_unset(TOPK_F32, topk_bound_i64(integers[i]), TOPK_ERROR_UNKNOWN_ENUM);
        expect_unset(TOPK_I32, topk_bound_i64(integers[i]), TOPK_ERROR_UNKNOWN_ENUM);
        expect_unset(TOPK_I64, topk_bound_u64((uint64_t)integers[i]), TOPK_ERROR_UNKNOWN_ENUM);
    }
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        expect_unset(TOPK_I64, topk_bound_i64(large[i]), TOPK_ERROR_UNKNOWN_ENUM);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        expect_unset(TOPK_F32, topk_bound_f64(numbers[i]), TOPK_OK);
        expect_unset(TOPK_I32, topk_bound_f64(numbers[i]), TOPK_OK);
    }
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        expect_unset(TOPK_F32, topk_bound_f64(floats[i]), TOPK_OK);
    }
}

/* A push looks at bounds as well. */
static void check_push_without_type(void) {
    reset(TOPK_F32);
    f.predicate.low.value.i64 = 5;
    CHECK_STATUS(TOPK_OK, topk_accumulator_init(context, &f.problem, f.memory, sizeof f.memory, NULL));
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM,
                 topk_accumulator_push_where(context, &f.problem, f.memory, sizeof f.memory, &f.input,
                                             &f.predicate, LENGTH, 0, NULL));
    f.predicate.low = topk_bound_i64(5);
    CHECK_STATUS(TOPK_OK, topk_accumulator_push_where(context, &f.problem, f.memory, sizeof f.memory,
                                                      &f.input, &f.predicate, LENGTH, 0, NULL));
}

static void check_helpers(void) {
    CHECK(topk_bound_f64(0.5).type == TOPK_BOUND_F64 && topk_bound_f64(0.5).value.f64 == 0.5);
    CHECK(topk_bound_i64(-5).type == TOPK_BOUND_I64 && topk_bound_i64(-5).value.i64 == -5);
    CHECK(topk_bound_u64(UINT64_MAX).type == TOPK_BOUND_U64 &&
          topk_bound_u64(UINT64_MAX).value.u64 == UINT64_MAX);
}

/* ---- Arrays ---- */

static int32_t narrow[ELEMENTS];
static int64_t wide[ELEMENTS];
static long long as_wide[ELEMENTS];
static double wide_values[ELEMENTS];

static void check_index_types(void) {
    int32_t *const pointer = narrow;
    CHECK(TOPK_INDEX_TYPE_OF(narrow) == TOPK_INDEX_I32 && TOPK_INDEX_TYPE_OF(pointer) == TOPK_INDEX_I32);
    CHECK(TOPK_INDEX_TYPE_OF(wide) == TOPK_INDEX_I64 && TOPK_INDEX_TYPE_OF(as_wide) == TOPK_INDEX_I64);
    reset(TOPK_F32);
    f.problem.index_type = TOPK_INDEX_TYPE_OF(wide);
    CHECK_STATUS(TOPK_OK,
                 topk_select(context, &f.problem, &f.input, NULL, wide, f.memory, sizeof f.memory, NULL));
    CHECK(wide[0] == 30);
}

/* The problem says float32 and int32. */
#define WORK f.memory, sizeof f.memory, NULL

static void select_wide(void) {
    (void)topk_select(context, &f.problem, &f.input, NULL, wide, WORK);
}
static void select_as_wide(void) {
    (void)topk_select(context, &f.problem, &f.input, f.results, as_wide, WORK);
}
static void select_wide_values(void) {
    (void)topk_select(context, &f.problem, &f.input, wide_values, narrow, WORK);
}
static void kth_wide_values(void) {
    (void)topk_kth(context, &f.problem, &f.input, wide_values, NULL, NULL, WORK);
}
static void kth_where_wide_values(void) {
    (void)topk_kth_where(context, &f.problem, &f.input, &f.predicate, wide_values, NULL, NULL, WORK);
}
static void where_wide(void) {
    (void)topk_where(context, &f.problem, &f.input, &f.predicate, NULL, wide, ELEMENTS, NULL, WORK);
}
static void select_where_wide(void) {
    (void)topk_select_where(context, &f.problem, &f.input, &f.predicate, NULL, wide, WORK);
}
static void route_wide(void) {
    (void)topk_route(context, &f.problem, &f.routing, f.values, wide, NULL, WORK);
}
static void peek_wide(void) {
    (void)topk_accumulator_peek(context, &f.problem, f.memory, sizeof f.memory, NULL, wide, NULL);
}
static void bar_wide_values(void) {
    (void)topk_accumulator_bar(context, &f.problem, f.memory, sizeof f.memory, wide_values, NULL, NULL);
}
static void finish_wide(void) {
    (void)topk_accumulator_finish(context, &f.problem, f.memory, sizeof f.memory, NULL, wide, NULL);
}
static void run_select_wide(void) {
    (void)topk_simple_run_select(simple, &f.problem, &f.input, NULL, wide, NULL);
}
static void run_kth_wide_values(void) {
    (void)topk_simple_run_kth(simple, &f.problem, &f.input, wide_values, NULL, NULL, NULL);
}
static void run_kth_where_wide_values(void) {
    (void)topk_simple_run_kth_where(simple, &f.problem, &f.input, &f.predicate, wide_values, NULL, NULL,
                                    NULL);
}
static void run_where_wide(void) {
    (void)topk_simple_run_where(simple, &f.problem, &f.input, &f.predicate, NULL, wide, 1, NULL, NULL);
}
static void run_select_where_wide(void) {
    (void)topk_simple_run_select_where(simple, &f.problem, &f.input, &f.predicate, NULL, wide, NULL);
}
static void run_route_wide(void) {
    (void)topk_simple_run_route(simple, &f.problem, &f.routing, f.values, wide, NULL, NULL);
}
static void right(void) {
    (void)topk_select(context, &f.problem, &f.input, f.results, narrow, WORK);
    (void)topk_select(context, &f.problem, &f.input, (void *)wide_values, (void *)wide, WORK);
    (void)topk_select(context, NULL, &f.input, NULL, wide, WORK);
}

/* Whether a call ends its process by an assertion. */
static bool is_stopped(void (*call)(void)) {
    int ended = 0;
    const pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) != NULL) {
            call();
        }
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &ended, 0) == child);
    return WIFSIGNALED(ended) && WTERMSIG(ended) == SIGABRT;
}

static void check_debug(void) {
    static void (*const wrong[])(void) = {select_wide,
                                          select_as_wide,
                                          select_wide_values,
                                          kth_wide_values,
                                          kth_where_wide_values,
                                          where_wide,
                                          select_where_wide,
                                          route_wide,
                                          peek_wide,
                                          bar_wide_values,
                                          finish_wide,
                                          run_select_wide,
                                          run_kth_wide_values,
                                          run_kth_where_wide_values,
                                          run_where_wide,
                                          run_select_where_wide,
                                          run_route_wide};
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = TOPK_BACKEND_CPU;
    options.threads = 1;
    CHECK_STATUS(TOPK_OK, topk_simple_create(&options, &simple));
    reset(TOPK_F32);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK(is_stopped(wrong[i]));
    }
    CHECK(!is_stopped(right));
    topk_simple_destroy(simple);
}

int main(void) {
    context = create_cpu_context(1);
    check_bounds_without_type();
    check_push_without_type();
    check_helpers();
    check_index_types();
    check_debug();
    topk_context_destroy(context);
    return check_report();
}
