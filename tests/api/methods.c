/* SPDX-License-Identifier: Apache-2.0
 *
 * Forcing methods, limits on the workspace, tuning, and the explanation of a choice. */
#include <stdlib.h>

#include "fixture.h"
#include "topk_experimental.h"

static fixture f;
static topk_context *context;

static topk_status size_of(topk_operation operation, const topk_problem *p, size_t *bytes) {
    return topk_workspace_size(context, operation, p, bytes);
}

static void check_unknown_method(void) {
    fixture_init(&f, context);
    f.problem.method = "nonesuch";
    EXPECT_ALL(&f, TOPK_ERROR_UNKNOWN_METHOD);
    CHECK(strstr(topk_last_error(), "nonesuch") != NULL);
    f.problem.method = "";
    EXPECT_ALL(&f, TOPK_ERROR_UNKNOWN_METHOD);
    f.problem.method = "Reference";
    EXPECT_ALL(&f, TOPK_ERROR_UNKNOWN_METHOD);
}

static void check_method_that_cannot(void) {
    fixture_init(&f, context);
    f.problem.method = "compact";
    EXPECT(&f, call_select, TOPK_ERROR_METHOD_CANNOT);
    CHECK(strstr(topk_last_error(), "compact") != NULL);
    EXPECT(&f, call_kth, TOPK_ERROR_METHOD_CANNOT);
    EXPECT(&f, call_where, TOPK_OK);
    EXPECT(&f, call_select_where, TOPK_ERROR_METHOD_CANNOT);
    EXPECT(&f, call_count, TOPK_OK);
    EXPECT(&f, call_mask, TOPK_OK);
    f.problem.method = "bracket";
    EXPECT(&f, call_where, TOPK_ERROR_METHOD_CANNOT);
    EXPECT(&f, call_count, TOPK_ERROR_METHOD_CANNOT);
    EXPECT(&f, call_mask, TOPK_ERROR_METHOD_CANNOT);
    f.problem.method = "reference";
    EXPECT(&f, call_select, TOPK_OK);
    EXPECT(&f, call_kth, TOPK_OK);
    EXPECT(&f, call_select_where, TOPK_OK);
}

/* The limit is inclusive. Below it a method must do with less, or cannot serve. */
static void check_workspace_limit(void) {
    topk_problem p;
    size_t bytes = 0, limited = 0;
    fixture_init(&f, context);
    p = f.problem;
    p.length_max = 1 << 20;
    p.method = "bracket";
    CHECK_STATUS(TOPK_OK, size_of(TOPK_OPERATION_SELECT, &p, &bytes));
    CHECK(bytes > 1);
    p.workspace_limit = bytes;
    CHECK_STATUS(TOPK_OK, size_of(TOPK_OPERATION_SELECT, &p, &limited));
    CHECK(limited == bytes);
    for (size_t limit = bytes - 1; limit > 0; limit /= 2) {
        p.workspace_limit = limit;
        p.method = limit % 2 == 0 ? "bracket" : NULL;
        topk_status status = size_of(TOPK_OPERATION_SELECT, &p, &limited);
        CHECK(status == TOPK_ERROR_METHOD_CANNOT || (status == TOPK_OK && limited <= limit));
    }
    CHECK_STATUS(TOPK_ERROR_METHOD_CANNOT, size_of(TOPK_OPERATION_SELECT, &p, &limited));
}

/* With less workspace than it would like a method runs on fewer threads. */
static void check_limit_spares_threads(void) {
    static const struct {
        const char *method;
        topk_operation operation;
    } sparing[] = {{"rows", TOPK_OPERATION_SELECT},      {"rows", TOPK_OPERATION_SELECT_WHERE},
                   {"reference", TOPK_OPERATION_SELECT}, {"reference", TOPK_OPERATION_KTH},
                   {"compact", TOPK_OPERATION_WHERE},    {"compact", TOPK_OPERATION_COUNT},
                   {"compact", TOPK_OPERATION_MASK}};
    for (size_t i = 0; i < sizeof sparing / sizeof sparing[0]; i++) {
        fixture_init(&f, context);
        topk_problem p = f.problem;
        size_t bytes = 0, limited = 0;
        p.method = sparing[i].method;
        p.rows = 50;
        p.length_max = 1000;
        p.k_max = 100;
        CHECK_STATUS(TOPK_OK, size_of(sparing[i].operation, &p, &bytes));
        p.workspace_limit = bytes - 1;
        CHECK_STATUS(TOPK_OK, size_of(sparing[i].operation, &p, &limited));
        CHECK(limited < bytes && limited > bytes / 3);
        p.workspace_limit = limited;
        CHECK_STATUS(TOPK_OK, size_of(sparing[i].operation, &p, &limited));
        CHECK(limited == p.workspace_limit);
        p.workspace_limit--;
        CHECK_STATUS(TOPK_ERROR_METHOD_CANNOT, size_of(sparing[i].operation, &p, &limited));
    }
}

/* What the chooser asks for stays within input / 8 + 24 x rows x k_max + 32 MiB (CONTRACT.md, 7.2). */
static void check_workspace_bound(void) {
    for (int i = 0; i < 120; i++) {
        fixture_init(&f, context);
        topk_problem p = f.problem;
        size_t bytes = 0;
        p.type = (topk_type)(1 + i % 14);
        p.index_type = TOPK_INDEX_I64;
        p.rows = i % 3 == 2 ? 1 : INT64_C(1) << (i % 16);
        p.length_max = INT64_C(1) << (i % 34);
        p.k_max = i % 2 == 0 ? 100 : i % 4 == 1 ? p.length_max / 8 : p.length_max;
        size_t input = (size_t)(p.rows * p.length_max) * topk_type_size(p.type);
        size_t bound = input / 8 + 24 * (size_t)(p.rows * p.k_max) + (32u << 20);
        CHECK_STATUS(TOPK_OK, size_of(TOPK_OPERATION_SELECT, &p, &bytes));
        CHECK(bytes <= bound);
        CHECK_STATUS(TOPK_OK, size_of(TOPK_OPERATION_SELECT_WHERE, &p, &bytes));
        CHECK(bytes <= bound);
        for (int operation = TOPK_OPERATION_WHERE; operation <= TOPK_OPERATION_MASK; operation++) {
            if (operation != TOPK_OPERATION_SELECT_WHERE) {
                CHECK_STATUS(TOPK_OK, size_of((topk_operation)operation, &p, &bytes));
                CHECK(bytes <= input / 8 + (32u << 20));
            }
        }
    }
}

/* The size is a function of context, operation and problem alone. */
static void check_size_is_pure(void) {
    size_t first, second;
    fixture_init(&f, context);
    f.problem.length_max = 1 << 20;
    CHECK_STATUS(TOPK_OK, size_of(TOPK_OPERATION_SELECT, &f.problem, &first));
    for (int i = 0; i < 5; i++) {
        CHECK_STATUS(TOPK_OK, size_of(TOPK_OPERATION_SELECT, &f.problem, &second));
        CHECK(first == second);
    }
}

/* No CPU method has these fields: forced or not, they are refused, and the sentence names one. */
static void check_tuning(void) {
    topk_tuning tunings[15];
    for (int i = 0; i < 15; i++) {
        tunings[i] = (topk_tuning)TOPK_TUNING_INIT;
    }
    tunings[0].digit_bits = 11;
    tunings[1].alpha = 128;
    tunings[2].adaptive_buffering = 1;
    tunings[3].early_stop = 1;
    tunings[4].scaling = 1;
    tunings[5].write_buffer = 1;
    tunings[6].rescheduling = 1;
    tunings[7].padding = 0;
    tunings[8].beta = 2;
    tunings[9].subrange_exponent = 5;
    tunings[10].delegate_filter = 1;
    tunings[11].queue = TOPK_QUEUE_SHARED;
    tunings[12].epsilon = 0.0;
    tunings[13].max_iterations = 4;
    tunings[14].fused_filter = 1;
    for (int i = 0; i < 15; i++) {
        fixture_init(&f, context);
        f.problem.tuning = &tunings[i];
        EXPECT_ALL(&f, TOPK_ERROR_METHOD_CANNOT);
        f.problem.method = "reference";
        EXPECT_ALL(&f, TOPK_ERROR_METHOD_CANNOT);
    }
    topk_tuning undefined = TOPK_TUNING_INIT;
    fixture_init(&f, context);
    f.problem.tuning = &undefined;
    EXPECT_ALL(&f, TOPK_OK);
}

static void check_explain(void) {
    static char whole[4096], cut[4096];
    size_t needed = 0, needed_again = 0;
    fixture_init(&f, context);
    CHECK_STATUS(TOPK_OK,
                 topk_explain(context, TOPK_OPERATION_SELECT, &f.problem, whole, sizeof whole, &needed));
    CHECK(needed == strlen(whole) + 1);
    for (size_t room = 1; room <= needed + 1; room++) {
        memset(cut, '#', sizeof cut);
        CHECK_STATUS(TOPK_OK,
                     topk_explain(context, TOPK_OPERATION_SELECT, &f.problem, cut, room, &needed_again));
        CHECK(needed_again == needed);
        CHECK(strlen(cut) == (room < needed ? room : needed) - 1);
        CHECK(strncmp(cut, whole, strlen(cut)) == 0);
        CHECK(cut[room] == '#');
    }
    CHECK_STATUS(TOPK_OK, topk_explain(context, TOPK_OPERATION_SELECT, &f.problem, NULL, 0, &needed_again));
    CHECK(needed_again == needed);
    static const char *const methods[] = {"bracket", "rows", "compact", "reference"};
    for (int m = 0; m < 4; m++) {
        CHECK(strstr(whole, methods[m]) != NULL);
    }
}

/* Also where no method can serve there is an explanation: it is what tells why. */
static void check_explain_without_method(void) {
    topk_tuning tuning = TOPK_TUNING_INIT;
    char text[4096];
    tuning.digit_bits = 11;
    fixture_init(&f, context);
    f.problem.tuning = &tuning;
    CHECK_STATUS(TOPK_OK, topk_explain(context, TOPK_OPERATION_SELECT, &f.problem, text, sizeof text, NULL));
    CHECK(strstr(text, "digit_bits") != NULL);
    f.problem.method = "nonesuch";
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_METHOD,
                 topk_explain(context, TOPK_OPERATION_SELECT, &f.problem, text, sizeof text, NULL));
}

int main(void) {
    context = create_cpu_context(2);
    check_unknown_method();
    check_method_that_cannot();
    check_workspace_limit();
    check_limit_spares_threads();
    check_workspace_bound();
    check_size_is_pure();
    check_tuning();
    check_explain();
    check_explain_without_method();
    topk_context_destroy(context);
    return check_report();
}
