/* SPDX-License-Identifier: Apache-2.0
 *
 * max_iterations, epsilon and epsilon_relative: what they may be, which operations and types take them, and
 * which methods. */
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "fixture.h"
#include "topk_accumulator.h"
#include "topk_advanced.h"

static fixture f;
static topk_context *context;

static const size_t epsilons[] = {offsetof(topk_problem, epsilon), offsetof(topk_problem, epsilon_relative)};

static void set_epsilon(topk_problem *p, int which, double value) {
    memcpy((char *)p + epsilons[which], &value, sizeof value);
}

static void check_sentence(const char *part) {
    if (!CHECK(strstr(topk_last_error(), part) != NULL)) {
        fprintf(stderr, "    '%s' in '%s'\n", part, topk_last_error());
    }
}

/* Values that make no sense are errors of the problem, whatever the operation. */
static void check_values(void) {
    static const double wrong[] = {(double)NAN, -(double)NAN, (double)INFINITY, -(double)INFINITY,
                                   -1,          -DBL_MAX,     -0x1p-1074};
    static const char *const names[] = {"problem->epsilon is", "problem->epsilon_relative is"};
    for (int which = 0; which < 2; which++) {
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            fixture_init(&f, context);
            set_epsilon(&f.problem, which, wrong[i]);
            EXPECT_ALL(&f, TOPK_ERROR_OUT_OF_RANGE);
            check_sentence(names[which]);
        }
    }
    for (int i = 0; i < 2; i++) {
        fixture_init(&f, context);
        f.problem.max_iterations = i == 0 ? -1 : INT64_MIN;
        EXPECT_ALL(&f, TOPK_ERROR_OUT_OF_RANGE);
        check_sentence("problem->max_iterations is");
    }
}

static void approximate(topk_problem *p, int way) {
    if (way == 0) {
        p->max_iterations = 4;
    } else {
        set_epsilon(p, way - 1, 0x1p-1074);
    }
}

static void check_one_at_most(void) {
    static const char *const sentences[] = {"max_iterations and problem->epsilon do",
                                            "max_iterations and problem->epsilon_relative do",
                                            "epsilon and problem->epsilon_relative do"};
    for (int pair = 0; pair < 4; pair++) {
        fixture_init(&f, context);
        for (int way = 0; way < 3; way++) {
            if (way != 2 - pair) { /* the last pair is all three */
                approximate(&f.problem, way);
            }
        }
        EXPECT_ALL(&f, TOPK_ERROR_CONTRADICTION);
        check_sentence(sentences[pair % 3]);
    }
}

/* Zero of either sign is exact everywhere. */
static void check_exact(void) {
    for (int which = 0; which < 2; which++) {
        fixture_init(&f, context);
        set_epsilon(&f.problem, which, -0.0);
        EXPECT_ALL(&f, TOPK_OK);
        f.problem.type = TOPK_I32;
        EXPECT_ALL(&f, TOPK_OK);
        f.problem.method = "reference";
        EXPECT(&f, call_select, TOPK_OK);
    }
}

static void check_operations_and_types(void) {
    for (int way = 0; way < 3; way++) {
        for (int operation = 0; operation < OPERATIONS; operation++) {
            fixture_init(&f, context);
            approximate(&f.problem, way);
            if (operation + 1 != TOPK_OPERATION_SELECT && operation + 1 != TOPK_OPERATION_SELECT_WHERE) {
                EXPECT(&f, fixture_calls[operation], TOPK_ERROR_CONTRADICTION);
                check_sentence(way == 0 ? "max_iterations makes a selection" : "makes a selection");
            }
        }
        for (int type = TOPK_I8; type <= TOPK_U64; type++) {
            size_t bytes;
            fixture_init(&f, context);
            approximate(&f.problem, way);
            f.problem.type = (topk_type)type;
            CHECK_STATUS(TOPK_ERROR_UNSUPPORTED,
                         topk_workspace_size(context, TOPK_OPERATION_SELECT, &f.problem, &bytes));
            check_sentence(topk_type_name((topk_type)type));
        }
        size_t bytes;
        fixture_init(&f, context);
        approximate(&f.problem, way);
        CHECK_STATUS(TOPK_ERROR_UNSUPPORTED, topk_accumulator_size(context, &f.problem, &bytes));
        check_sentence("accumulator is exact");
    }
}

/* Methods that give exact results alone say so; where none is named they step aside. */
static void check_methods(void) {
    static const char *const exact[] = {"rows", "bracket", "reference"};
    char text[4096];
    for (int way = 0; way < 3; way++) {
        for (int m = 0; m < 3; m++) {
            fixture_init(&f, context);
            approximate(&f.problem, way);
            f.problem.method = exact[m];
            EXPECT(&f, call_select, TOPK_ERROR_METHOD_CANNOT);
            check_sentence("approximation: only rtopk");
            check_sentence(exact[m]);
            EXPECT(&f, call_select_where, TOPK_ERROR_METHOD_CANNOT);
        }
        fixture_init(&f, context);
        approximate(&f.problem, way);
        CHECK_STATUS(TOPK_OK,
                     topk_explain(context, TOPK_OPERATION_SELECT, &f.problem, text, sizeof text, NULL));
        CHECK(strstr(text, "cannot: approximation: only rtopk") != NULL);
        CHECK(strstr(text, "* rtopk ") != NULL);
        EXPECT(&f, call_select, TOPK_OK);
        EXPECT(&f, call_select_where, TOPK_OK);
        f.problem.method = "rtopk";
        EXPECT(&f, call_select, TOPK_OK);
        f.problem.tuning = "alpha=4";
        EXPECT(&f, call_select, TOPK_ERROR_METHOD_CANNOT);
        check_sentence("has no knob 'alpha'");
    }
}

/* Rows of up to 8192 elements; where rows cannot be longer a larger length_max does no harm. */
static void check_row_length(void) {
    for (int i = 0; i < 8; i++) {
        const bool csr = i % 2 != 0, forced = i / 2 % 2 != 0, too_long = i / 4 != 0;
        size_t bytes;
        fixture_init(&f, context);
        approximate(&f.problem, i % 3);
        f.problem.rows = 2;
        f.problem.length_max = too_long ? 8193 : 8192;
        if (csr) {
            f.problem.shape = TOPK_SHAPE_CSR;
            f.problem.elements_max = f.problem.length_max;
            f.problem.length_max = INT32_MAX;
        }
        f.problem.method = forced ? "rtopk" : NULL;
        CHECK_STATUS(too_long ? TOPK_ERROR_METHOD_CANNOT : TOPK_OK,
                     topk_workspace_size(context, TOPK_OPERATION_SELECT, &f.problem, &bytes));
        if (too_long) {
            check_sentence("'rtopk'");
            check_sentence("longer than 8192");
        }
    }
}

/* TOPK_METHOD names an exact method: it steps aside, and the choice is that without it. */
static void check_preference(void) {
    setenv("TOPK_METHOD", "reference", 1);
    topk_context *const preferring = create_cpu_context(1);
    unsetenv("TOPK_METHOD");
    fixture_init(&f, preferring);
    f.problem.max_iterations = 1;
    EXPECT(&f, call_select, TOPK_OK);
    topk_context_destroy(preferring);
}

/* Threshold 50 between 0 and 100: of the elements above it the first five. Exact, the five largest. */
static void check_results(void) {
    fixture_init(&f, context);
    f.problem.order = TOPK_ORDER_ANY;
    f.problem.max_iterations = 1;
    EXPECT(&f, call_select, TOPK_OK);
    for (int i = 0, e = 0; i < K; e++) {
        if (f.values[e] >= 50) {
            CHECK(f.indices[i] == e && f.results[i] == f.values[e]);
            i++;
        }
    }
    f.problem.max_iterations = 0;
    f.problem.epsilon = 1e-3;
    EXPECT(&f, call_select, TOPK_OK);
    for (int i = 0; i < K; i++) {
        int above = 0;
        for (int e = 0; e < LENGTH; e++) {
            above += f.values[e] > f.results[i];
        }
        CHECK(above < K && (i == 0 || f.indices[i] > f.indices[i - 1]));
    }
}

/* Positions of the results of one row, which come in this order. */
static void check_row(const float *row, int64_t length, int64_t k, const int32_t *wanted, int line) {
    f.problem.order = TOPK_ORDER_ANY;
    f.problem.rows = 1;
    f.problem.length_max = length;
    f.problem.k_max = k;
    memcpy(f.values, row, (size_t)length * sizeof *row);
    EXPECT(&f, call_select, TOPK_OK);
    check_that(memcmp(f.indices, wanted, (size_t)k * sizeof *wanted) == 0, "the row's results", __FILE__,
               line);
}

#define GIVES(row, k, ...)                                                                                   \
    check_row(row, sizeof(row) / sizeof *(row), k, (const int32_t[]){__VA_ARGS__}, __LINE__)

/* Rows on which Algorithm 1 as printed does not end or loses elements, and a midpoint whose sum overflows. */
static void check_rows(void) {
    static const float plateau[] = {1, 1, 1, 1, 1, 1, 1, 5}, near[] = {1, 0x1.fffffep1F, 4, 4},
                       huge[] = {3e38F, 3.4e38F, 3.2e38F}, below_zero[] = {-200, -150, -99, -98, -97, -96};
    fixture_init(&f, context);
    f.problem.max_iterations = 1;
    GIVES(plateau, 2, 0, 1);
    GIVES(huge, 1, 1);
    fixture_init(&f, context);
    f.problem.epsilon = 1e-4;
    GIVES(plateau, 2, 0, 7);
    f.problem.epsilon = 1e-300;
    GIVES(near, 2, 2, 3);
    GIVES(near, 3, 1, 2, 3);
    fixture_init(&f, context);
    f.problem.epsilon_relative = 0.6; /* of 200: 120, and the row is 104 wide */
    GIVES(below_zero, 2, 0, 1);
    f.problem.epsilon_relative = 0.5;
    GIVES(below_zero, 2, 2, 3);
}

/* How far the greatest number that is left out exceeds the least result, largest first: as double has it, or
 * rounded to float32. */
static double excess(const int32_t *chosen, int64_t k, const float *row, int64_t length, bool rounded) {
    bool is_result[LENGTH] = {false};
    float least = INFINITY, left = -INFINITY;
    for (int64_t i = 0; i < k; i++) {
        is_result[chosen[i]] = true;
        least = row[chosen[i]] < least ? row[chosen[i]] : least;
    }
    for (int64_t e = 0; e < length; e++) {
        left = !is_result[e] && row[e] > left ? row[e] : left;
    }
    const volatile float difference = left - least;
    return rounded ? (double)difference : (double)left - (double)least;
}

/* What epsilon promises holds of differences that are rounded once; as real numbers they may exceed it. */
static void check_rounded_difference(void) {
    static const float apart[2] = {-0x1p-26F, 1};
    fixture_init(&f, context);
    f.problem.rows = 1;
    f.problem.k_max = 1;
    f.problem.length_max = 2;
    f.problem.epsilon = 1;
    f.input.values = apart;
    EXPECT(&f, call_select, TOPK_OK);
    CHECK(f.indices[0] == 0);
    CHECK(excess(f.indices, 1, apart, 2, false) > 1 && excess(f.indices, 1, apart, 2, true) <= 1);
    f.problem.length_max = LENGTH;
    for (int turn = 0; turn < 3000; turn++) {
        float row[LENGTH];
        for (int e = 0; e < LENGTH; e++) {
            row[e] = (float)((turn * 7919 + e * 104729) % 65537 - 30000) * (e % 3 == 0 ? 0x1p-24F : 1.1F);
        }
        f.input.values = row;
        f.problem.k_max = 1 + turn % (LENGTH - 1);
        f.problem.epsilon = turn % 5 * 777;
        f.problem.epsilon = f.problem.epsilon == 0 ? 0x1p-1074 : f.problem.epsilon;
        CHECK_STATUS(TOPK_OK, call_select(&f));
        CHECK(excess(f.indices, f.problem.k_max, row, LENGTH, true) <= (double)(float)f.problem.epsilon);
    }
}

int main(void) {
    context = create_cpu_context(1);
    check_values();
    check_one_at_most();
    check_exact();
    check_operations_and_types();
    check_methods();
    check_row_length();
    check_preference();
    check_results();
    check_rows();
    check_rounded_difference();
    topk_context_destroy(context);
    return check_report();
}
