/* SPDX-License-Identifier: Apache-2.0
 *
 * Forcing methods, limits on the workspace, tuning, and the explanation of a choice. */
#include <stdlib.h>

#include "fixture.h"
#include "topk_advanced.h"

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

/* The method whose line begins with a star; "" if none does. */
static void starred(topk_operation operation, const topk_problem *p, char name[32]) {
    char text[4096] = "\n";
    CHECK_STATUS(TOPK_OK, topk_explain(context, operation, p, text + 1, sizeof text - 1, NULL));
    const char *const star = strstr(text, "\n* ");
    name[0] = '\0';
    if (star != NULL) {
        (void)sscanf(star, "\n* %31s", name);
    }
}

/* A call takes the method that the explanation, with its whole table, marks as chosen. */
static void check_explained_method_serves(void) {
    for (int i = 0; i < 240; i++) {
        fixture_init(&f, context);
        topk_problem p = f.problem;
        char name[32];
        size_t bytes = 0, forced_bytes = 0;
        const topk_operation operation = (topk_operation)(1 + i % OPERATIONS);
        p.type = (topk_type)(1 + i % 14);
        p.index_type = TOPK_INDEX_I64;
        p.rows = i % 5 == 2 ? 1 : INT64_C(1) << (i % 19);
        p.length_max = INT64_C(1) << (i % 31);
        p.k_max = i % 3 == 0 ? 10 : i % 3 == 1 ? p.length_max / 8 : p.length_max;
        p.workspace_limit = i % 4 == 3 ? (size_t)1 << (i % 29) : 0;
        starred(operation, &p, name);
        const topk_status status = size_of(operation, &p, &bytes);
        if (name[0] == '\0') {
            CHECK_STATUS(TOPK_ERROR_METHOD_CANNOT, status);
            continue;
        }
        CHECK_STATUS(TOPK_OK, status);
        p.method = name;
        CHECK_STATUS(TOPK_OK, size_of(operation, &p, &forced_bytes));
        CHECK(bytes == forced_bytes);
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

static void check_sentence(const char *tuning, const char *sentence) {
    fixture_init(&f, context);
    f.problem.tuning = tuning;
    EXPECT_ALL(&f, TOPK_ERROR_MALFORMED);
    CHECK(strstr(topk_last_error(), sentence) != NULL);
    f.problem.method = "reference"; /* whatever the method */
    EXPECT_ALL(&f, TOPK_ERROR_MALFORMED);
}

/* A text that cannot be read is an error of the problem; the sentence quotes the setting. */
static void check_malformed_tuning(void) {
    static const char *const settings[] = {"alpha",
                                           "alpha=",
                                           "=4",
                                           "=",
                                           "alpha=x",
                                           "alpha=4x",
                                           "alpha=4 ",
                                           "alpha= 4",
                                           "alpha=+4",
                                           "alpha=-",
                                           "alpha=--4",
                                           "alpha=4-",
                                           "alpha=0x4",
                                           "alpha=4.0",
                                           "alpha==4",
                                           "alpha=4=4",
                                           "alpha:4",
                                           "alpha=1e3",
                                           "alpha=n/4",
                                           "alpha=4\n",
                                           "alpha =4",
                                           " alpha=4",
                                           "\talpha=4",
                                           "alpha\n=4",
                                           "al pha=4",
                                           "alpha\xc2\xa0=4",
                                           "al-pha=4",
                                           "'alpha'=4",
                                           "alpha=9223372036854775808",
                                           "alpha=-9223372036854775809",
                                           "alpha=99999999999999999999999999"};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        char quoted[64], first[64], last[64];
        (void)snprintf(quoted, sizeof quoted, "'%s'", settings[i]);
        (void)snprintf(first, sizeof first, "%s,early_stop=0", settings[i]);
        (void)snprintf(last, sizeof last, "early_stop=0,%s", settings[i]);
        check_sentence(settings[i], quoted);
        check_sentence(first, quoted);
        check_sentence(last, quoted);
    }
    check_sentence(",", "''");
    check_sentence("alpha=4,", "''");
    check_sentence(",alpha=4", "''");
    check_sentence("alpha=4,,early_stop=0", "''");
    check_sentence("alpha=4,early_stop=0,alpha=4", "'alpha' twice");
    check_sentence("a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=1,q=1",
                   "more than 16 settings");
}

/* Up to 255 bytes are read; what has more is not, whatever it holds. */
static void check_long_tuning(void) {
    char text[300];
    memset(text, '0', sizeof text);
    memcpy(text, "alpha=", 6);
    text[255] = '\0';
    fixture_init(&f, context);
    f.problem.tuning = text;
    EXPECT_ALL(&f, TOPK_ERROR_METHOD_CANNOT);
    text[255] = '0';
    text[256] = '\0';
    check_sentence(text, "more than 255 bytes");
    memset(text, 'a', 255);
    text[255] = '\0';
    check_sentence(text, "aaa");
}

/* No CPU method has a knob: forced or not, they refuse all that can be read, and the sentence says which. */
static void check_tuning(void) {
    static const char *const tunings[] = {"digit_bits=11",
                                          "alpha=9223372036854775807",
                                          "adaptive_buffering=1",
                                          "early_stop=-9223372036854775808",
                                          "fused_filter=00",
                                          "one_pass=-0",
                                          "Alpha=4",
                                          "a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=1"};
    for (size_t i = 0; i < sizeof tunings / sizeof tunings[0]; i++) {
        char quoted[64];
        (void)snprintf(quoted, sizeof quoted, "has no knob '%.*s'", (int)strcspn(tunings[i], "="),
                       tunings[i]);
        fixture_init(&f, context);
        f.problem.tuning = tunings[i];
        EXPECT_ALL(&f, TOPK_ERROR_METHOD_CANNOT);
        CHECK(strstr(topk_last_error(), quoted) != NULL);
        f.problem.method = "reference";
        EXPECT(&f, call_select, TOPK_ERROR_METHOD_CANNOT);
        CHECK(strstr(topk_last_error(), "'reference'") != NULL && strstr(topk_last_error(), quoted) != NULL);
        f.problem.method = "nonesuch";
        EXPECT_ALL(&f, TOPK_ERROR_UNKNOWN_METHOD);
    }
    fixture_init(&f, context);
    f.problem.tuning = "";
    EXPECT_ALL(&f, TOPK_OK);
}

/* A choice follows from the text, whatever it was before behind the same pointer. */
static void check_text_that_changes(void) {
    char text[32];
    size_t bytes = 0, bytes_of_rows = 0;
    for (int turn = 0; turn < 2; turn++) {
        fixture_init(&f, context);
        f.problem.method = text;
        strcpy(text, "rows");
        CHECK_STATUS(TOPK_OK, size_of(TOPK_OPERATION_SELECT, &f.problem, &bytes_of_rows));
        strcpy(text, "bracket");
        CHECK_STATUS(TOPK_OK, size_of(TOPK_OPERATION_SELECT, &f.problem, &bytes));
        CHECK(bytes != bytes_of_rows);
        strcpy(text, "compact");
        EXPECT(&f, call_select, TOPK_ERROR_METHOD_CANNOT);
        strcpy(text, "nonesuch");
        EXPECT(&f, call_select, TOPK_ERROR_UNKNOWN_METHOD);
        fixture_init(&f, context);
        f.problem.tuning = text;
        text[0] = '\0';
        EXPECT_ALL(&f, TOPK_OK);
        strcpy(text, "alpha=64");
        EXPECT_ALL(&f, TOPK_ERROR_METHOD_CANNOT);
        strcpy(text, "alpha");
        EXPECT_ALL(&f, TOPK_ERROR_MALFORMED);
    }
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
    static const char *const methods[] = {"bracket", "rows", "rtopk", "compact", "reference"};
    for (int m = 0; m < 5; m++) {
        CHECK(strstr(whole, methods[m]) != NULL);
    }
}

/* Also where no method can serve there is an explanation: it is what tells why. */
static void check_explain_without_method(void) {
    char text[4096];
    fixture_init(&f, context);
    f.problem.tuning = "digit_bits=11";
    CHECK_STATUS(TOPK_OK, topk_explain(context, TOPK_OPERATION_SELECT, &f.problem, text, sizeof text, NULL));
    CHECK(strstr(text, "cannot: has no knob 'digit_bits'") != NULL);
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
    check_explained_method_serves();
    check_size_is_pure();
    check_malformed_tuning();
    check_long_tuning();
    check_tuning();
    check_text_that_changes();
    check_explain();
    check_explain_without_method();
    topk_context_destroy(context);
    return check_report();
}
