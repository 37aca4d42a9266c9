/* SPDX-License-Identifier: Apache-2.0
 *
 * What the CUDA backend refuses, and that it writes nothing then: on a GPU, where buffers are the device's,
 * and on the emulated one. Validation itself is shared with the CPU, whose tests go through it case by case.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "device.h"
#include "expected.h"
#include "topk_advanced.h"
#include "topk_simple.h"

enum { ROWS = 3, LENGTH = 5000, K = 20, FILL = 0xdd };

static topk_context *context;
static float values[ROWS * LENGTH];

/* The arguments of a select and of a kth. */
typedef struct arguments {
    topk_problem problem;
    topk_input input;
    void *values, *indices, *kth;
    int64_t *better, *equal;
    char *workspace;
    size_t workspace_bytes[3]; /* by operation */
    device_buffer buffers[7];
} arguments;

static topk_context *create(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *created = NULL;
    options.backend = TOPK_BACKEND_CUDA;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &created));
    return created;
}

static size_t workspace_for(topk_operation operation, const topk_problem *problem) {
    size_t bytes = 0;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, operation, problem, &bytes));
    return bytes;
}

/* A valid call, all of whose outputs are poisoned. */
static arguments begin(const char *method) {
    arguments a = {.problem = TOPK_PROBLEM_INIT, .input = TOPK_INPUT_INIT};
    a.problem.type = TOPK_F32;
    a.problem.rows = ROWS;
    a.problem.length_max = LENGTH;
    a.problem.k_max = K;
    a.problem.method = method;
    size_t bytes = 0;
    for (int operation = TOPK_OPERATION_SELECT; operation <= TOPK_OPERATION_KTH; operation++) {
        a.workspace_bytes[operation] = workspace_for((topk_operation)operation, &a.problem);
        bytes = bytes > a.workspace_bytes[operation] ? bytes : a.workspace_bytes[operation];
    }
    const size_t sizes[] = {ROWS * K * sizeof(float), ROWS * K * sizeof(int32_t), ROWS * sizeof(float),
                            ROWS * sizeof(int64_t),   ROWS * sizeof(int64_t),     bytes + 64};
    a.buffers[0] = device_input(values, sizeof values);
    for (int b = 1; b < 7; b++) {
        a.buffers[b] = device_output(sizes[b - 1], FILL);
    }
    a.input.values = a.buffers[0].data;
    a.values = a.buffers[1].data;
    a.indices = a.buffers[2].data;
    a.kth = a.buffers[3].data;
    a.better = a.buffers[4].data;
    a.equal = a.buffers[5].data;
    a.workspace = a.buffers[6].data;
    device_send();
    return a;
}

static void end(arguments *a) {
    for (int b = 0; b < 7; b++) {
        device_free(&a->buffers[b]);
    }
    device_reset();
}

static topk_status call_select(const arguments *a) {
    return topk_select(context, &a->problem, &a->input, a->values, a->indices, a->workspace,
                       a->workspace_bytes[TOPK_OPERATION_SELECT], device_stream());
}

static topk_status call_kth(const arguments *a) {
    return topk_kth(context, &a->problem, &a->input, a->kth, a->better, a->equal, a->workspace,
                    a->workspace_bytes[TOPK_OPERATION_KTH], device_stream());
}

static bool untouched(const arguments *a) {
    bool same = device_fetch();
    for (int b = 1; b < 7; b++) {
        for (size_t byte = 0; byte < a->buffers[b].bytes; byte++) {
            same = same && ((const unsigned char *)a->buffers[b].seen)[byte] == FILL;
        }
    }
    return same;
}

#define REFUSED(a, status, call) refused(a, status, call, __LINE__)

/* Ends the arguments. */
static void refused(arguments *a, topk_status status, topk_status (*call)(const arguments *), int line) {
    check_status(status, call(a), "call", __FILE__, line);
    check_that(topk_last_error()[0] != '\0', "there is a sentence", __FILE__, line);
    check_that(untouched(a), "nothing was written", __FILE__, line);
    end(a);
}

static void check_right(const char *method) {
    static float wanted[ROWS * K], wanted_kth[ROWS];
    static int32_t wanted_indices[ROWS * K];
    static int64_t wanted_better[ROWS], wanted_equal[ROWS];
    arguments a = begin(method);
    topk_input input = a.input;
    input.values = values;
    expected_select(&a.problem, &input, wanted, wanted_indices);
    expected_kth(&a.problem, &input, wanted_kth, wanted_better, wanted_equal);
    CHECK_STATUS(TOPK_OK, call_select(&a));
    CHECK_STATUS(TOPK_OK, call_kth(&a));
    CHECK(device_fetch());
    CHECK(memcmp(a.buffers[1].seen, wanted, sizeof wanted) == 0);
    CHECK(memcmp(a.buffers[2].seen, wanted_indices, sizeof wanted_indices) == 0);
    CHECK(memcmp(a.buffers[3].seen, wanted_kth, sizeof wanted_kth) == 0);
    CHECK(memcmp(a.buffers[4].seen, wanted_better, sizeof wanted_better) == 0);
    CHECK(memcmp(a.buffers[5].seen, wanted_equal, sizeof wanted_equal) == 0);
    end(&a);
}

/* topk_kth() writes one slot for each row, so any k will do. */
static void check_kth_beyond_all_places(const char *method) {
    float wanted[ROWS];
    int64_t wanted_better[ROWS], wanted_equal[ROWS];
    const int64_t k[ROWS] = {INT64_MAX, LENGTH, 1};
    for (int given = 0; given < 2; given++) {
        arguments a = begin(method);
        device_buffer extents = device_input(k, sizeof k);
        topk_input input = a.input;
        a.problem.k_max = INT64_C(1) << 62;
        a.input.k = given ? extents.data : NULL;
        input.values = values;
        input.k = given ? k : NULL;
        device_send();
        expected_kth(&a.problem, &input, wanted, wanted_better, wanted_equal);
        CHECK(workspace_for(TOPK_OPERATION_KTH, &a.problem) <= a.workspace_bytes[TOPK_OPERATION_KTH]);
        CHECK_STATUS(TOPK_OK, call_kth(&a));
        CHECK(device_fetch());
        CHECK(memcmp(a.buffers[3].seen, wanted, sizeof wanted) == 0);
        CHECK(memcmp(a.buffers[4].seen, wanted_better, sizeof wanted_better) == 0);
        CHECK(memcmp(a.buffers[5].seen, wanted_equal, sizeof wanted_equal) == 0);
        device_free(&extents);
        end(&a);
    }
}

static void check_workspaces(const char *method) {
    for (int operation = TOPK_OPERATION_SELECT; operation <= TOPK_OPERATION_KTH; operation++) {
        topk_status (*call)(const arguments *) = operation == TOPK_OPERATION_SELECT ? call_select : call_kth;
        arguments a = begin(method);
        if (a.workspace_bytes[operation] == 0) {
            end(&a);
            continue;
        }
        a.workspace_bytes[operation]--;
        REFUSED(&a, TOPK_ERROR_WORKSPACE_TOO_SMALL, call);
        a = begin(method);
        a.workspace = NULL;
        REFUSED(&a, TOPK_ERROR_NULL_POINTER, call);
        a = begin(method);
        a.workspace = (char *)a.values + 4;
        if (operation == TOPK_OPERATION_SELECT) {
            REFUSED(&a, TOPK_ERROR_OVERLAP, call);
        } else {
            end(&a);
        }
        a = begin(method);
        a.workspace = (char *)(uintptr_t)a.input.values;
        REFUSED(&a, TOPK_ERROR_OVERLAP, call);
    }
}

static void check_pointers(void) {
    arguments a = begin(NULL);
    a.input.values = NULL;
    REFUSED(&a, TOPK_ERROR_NULL_POINTER, call_select);
    a = begin(NULL);
    a.input.values = (const char *)a.input.values + 1;
    REFUSED(&a, TOPK_ERROR_MISALIGNED, call_select);
    a = begin(NULL);
    a.values = (char *)a.values + 2;
    REFUSED(&a, TOPK_ERROR_MISALIGNED, call_select);
    a = begin(NULL);
    a.better = (int64_t *)((char *)a.better + 4);
    REFUSED(&a, TOPK_ERROR_MISALIGNED, call_kth);
    a = begin(NULL);
    a.indices = a.values;
    REFUSED(&a, TOPK_ERROR_OVERLAP, call_select);
    a = begin(NULL);
    a.values = (void *)(uintptr_t)a.input.values;
    REFUSED(&a, TOPK_ERROR_OVERLAP, call_select);
}

static void check_problems(void) {
    arguments a = begin(NULL);
    a.problem.index_base = INT32_MAX - LENGTH + 1;
    REFUSED(&a, TOPK_ERROR_INDEX_TOO_NARROW, call_select);
    a = begin(NULL);
    a.problem.length_max = -1;
    REFUSED(&a, TOPK_ERROR_OUT_OF_RANGE, call_kth);
    a = begin(NULL);
    a.problem.method = "nonesuch";
    REFUSED(&a, TOPK_ERROR_UNKNOWN_METHOD, call_select);
    CHECK(strstr(topk_last_error(), "cuda") != NULL);
    a = begin(NULL);
    a.problem.workspace_limit = 1;
    a.problem.length_max = 1 << 20; /* more than one block sorts */
    a.problem.method = "sort";
    REFUSED(&a, TOPK_ERROR_METHOD_CANNOT, call_select);
    a = begin(NULL);
    a.problem.method = "rows"; /* of the CPU */
    REFUSED(&a, TOPK_ERROR_UNKNOWN_METHOD, call_select);
}

/* Under any limit air shares rows without buffering candidates, or gives each to one block, which takes no
 * workspace; sort sorts fewer rows together. */
static void check_limits(void) {
    arguments a = begin("air");
    topk_problem p = a.problem;
    size_t bytes;
    end(&a);
    p.length_max = 1 << 20;
    p.k_max = 50;
    p.rows = 1;
    const size_t usual = workspace_for(TOPK_OPERATION_SELECT, &p);
    p.workspace_limit = usual - 1;
    bytes = workspace_for(TOPK_OPERATION_SELECT, &p);
    CHECK(bytes < usual && bytes > 0);
    p.workspace_limit = bytes - 1;
    CHECK(workspace_for(TOPK_OPERATION_SELECT, &p) == 0);
    p.workspace_limit = 1;
    p.method = NULL;
    CHECK(workspace_for(TOPK_OPERATION_SELECT, &p) == 0);
    p.method = "sort";
    p.rows = 300;
    bool serves = false;
    for (p.length_max = 200; p.length_max <= 20000; p.length_max *= 10) { /* group sizes are the build's */
        p.workspace_limit = 0;
        p.workspace_limit = workspace_for(TOPK_OPERATION_SELECT, &p) / 2;
        serves |= p.workspace_limit > 0 &&
                  topk_workspace_size(context, TOPK_OPERATION_SELECT, &p, &bytes) == TOPK_OK &&
                  bytes <= p.workspace_limit;
    }
    CHECK(serves);
}

/* Settings that no method of the backend takes. The sentence names the method, the knob and its range; of the
 * methods that refuse, the one that has the knob speaks. */
static void check_tuning(void) {
    static const struct {
        topk_operation operation;
        const char *method, *tuning, *sentence;
    } cases[] = {
        {TOPK_OPERATION_SELECT, "air", "digit_bits=0",
         "'air' cannot serve this problem: takes digit_bits 1 to "},
        {TOPK_OPERATION_SELECT, "air", "digit_bits=12", ", not 12"},
        {TOPK_OPERATION_SELECT, "air", "alpha=3", "takes alpha 4 or more, not 3"},
        {TOPK_OPERATION_SELECT, "air", "alpha=-9223372036854775808", "not -9223372036854775808"},
        {TOPK_OPERATION_SELECT, "air", "adaptive_buffering=2", "takes adaptive_buffering 0 or 1, not 2"},
        {TOPK_OPERATION_SELECT, "air", "early_stop=2", "takes early_stop 0 or 1, not 2"},
        {TOPK_OPERATION_SELECT, "air", "fused_filter=-1", "takes fused_filter 0 or 1, not -1"},
        {TOPK_OPERATION_SELECT, "air", "alpha=4,early_stop=0,digit_bits=12", "takes digit_bits"},
        {TOPK_OPERATION_SELECT, "air", "one_pass=1",
         "'air' cannot serve this problem: has no knob 'one_pass'"},
        {TOPK_OPERATION_SELECT, "air", "alph=4", "has no knob 'alph'"},
        {TOPK_OPERATION_SELECT, "air", "alphas=4", "has no knob 'alphas'"},
        {TOPK_OPERATION_SELECT, "resident", "threads=31", "takes threads 32 to "},
        {TOPK_OPERATION_KTH, "resident", "threads=1025", ", not 1025"},
        {TOPK_OPERATION_SELECT, "resident", "cluster=0", "takes cluster 1 to 16, not 0"},
        {TOPK_OPERATION_SELECT_WHERE, "resident", "cluster=17", "takes cluster 1 to 16, not 17"},
        {TOPK_OPERATION_SELECT, "resident", "stream=2", "takes stream 0 or 1, not 2"},
        {TOPK_OPERATION_SELECT, "gridselect", "queue=2", "takes queue 0 or 1, not 2"},
        {TOPK_OPERATION_SELECT, "gridselect", "elements=0", "takes elements 1 or more, not 0"},
        {TOPK_OPERATION_SELECT_WHERE, "gridselect", "hashed=-1", "takes hashed 0 or 1, not -1"},
        {TOPK_OPERATION_SELECT, "radik", "digit_bits=0", "takes digit_bits 1 to "},
        {TOPK_OPERATION_KTH, "radik", "digit_bits=13", ", not 13"},
        {TOPK_OPERATION_SELECT, "radik", "write_buffer=2", "takes write_buffer 0 or 1, not 2"},
        {TOPK_OPERATION_SELECT, "radik", "rescheduling=-1", "takes rescheduling 0 or 1, not -1"},
        {TOPK_OPERATION_SELECT, "radik", "padding=2", "takes padding 0 or 1, not 2"},
        {TOPK_OPERATION_SELECT_WHERE, "radik", "scaling=2", "takes scaling 0 or 1, not 2"},
        {TOPK_OPERATION_SELECT, "radix", "digit_bits=0", "takes digit_bits 1 to "},
        {TOPK_OPERATION_SELECT_WHERE, "radix", "digit_bits=8", "does not do select_where"},
        {TOPK_OPERATION_SELECT, "drtopk", "base=7", "takes base 0 to 6, not 7"},
        {TOPK_OPERATION_KTH, "drtopk", "beta=5", "takes beta 1 to 4, not 5"},
        {TOPK_OPERATION_SELECT, "drtopk", "exponent=3", "takes exponent 4 to 15, not 3"},
        {TOPK_OPERATION_SELECT, "drtopk", "filter=2", "takes filter 0 or 1, not 2"},
        {TOPK_OPERATION_KTH, "drtopk", "coalesced=2", "takes coalesced 0 or 1, not 2"},
        {TOPK_OPERATION_KTH, "drtopk", "skip=2", "takes skip 0 or 1, not 2"},
        {TOPK_OPERATION_KTH, "drtopk", "base=5", "its base cannot serve"},
        {TOPK_OPERATION_KTH, "drtopk", "base=6", "its base cannot serve"},
        {TOPK_OPERATION_SELECT, "bucket", "bucket_bits=0", "takes bucket_bits 1 to "},
        {TOPK_OPERATION_SELECT_WHERE, "bucket", "bucket_bits=8", "does not do select_where"},
        {TOPK_OPERATION_SELECT, "bitonic", "digit_bits=8", "has no knob 'digit_bits'"},
        {TOPK_OPERATION_SELECT, "rtopk", "network=5", "takes network 0 to 4, not 5"},
        {TOPK_OPERATION_SELECT, "bracket", "alpha=4", "has no knob 'alpha'"},
        {TOPK_OPERATION_SELECT, "sort", "alpha=4", "'sort' cannot serve this problem: has no knob 'alpha'"},
        {TOPK_OPERATION_SELECT, NULL, "digit_bits=13", "': takes digit_bits"},
        {TOPK_OPERATION_SELECT, NULL, "one_pass=0", "has no knob 'one_pass'"},
        {TOPK_OPERATION_KTH, NULL, "early_stop=2", "'air': takes early_stop 0 or 1, not 2"},
        {TOPK_OPERATION_WHERE, "compact", "one_pass=2", "takes one_pass 0 or 1, not 2"},
        {TOPK_OPERATION_WHERE, NULL, "alpha=4", "'compact': has no knob 'alpha'"},
        {TOPK_OPERATION_COUNT, NULL, "one_pass=1", "'compact': one_pass is for where alone"},
        {TOPK_OPERATION_MASK, "compact", "one_pass=0", "one_pass is for where alone"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        arguments a = begin(NULL);
        topk_problem p = a.problem;
        size_t bytes;
        end(&a);
        p.method = cases[i].method;
        p.tuning = cases[i].tuning;
        CHECK_STATUS(TOPK_ERROR_METHOD_CANNOT, topk_workspace_size(context, cases[i].operation, &p, &bytes));
        CHECK(strstr(topk_last_error(), cases[i].sentence) != NULL);
        p.tuning = "alpha=4,alpha=4";
        CHECK_STATUS(TOPK_ERROR_MALFORMED, topk_workspace_size(context, cases[i].operation, &p, &bytes));
    }
    for (int i = 0; i < 2; i++) {
        arguments a = begin(i == 0 ? "air" : NULL);
        a.problem.tuning = "digit_bits=13";
        REFUSED(&a, TOPK_ERROR_METHOD_CANNOT, call_select);
    }
}

/* The ends of the ranges, and what looks odd but is within them. */
static void check_taken_tuning(void) {
    static const char *const of_air[] = {"digit_bits=1",
                                         "alpha=4",
                                         "alpha=9223372036854775807",
                                         "adaptive_buffering=0",
                                         "adaptive_buffering=1",
                                         "early_stop=0",
                                         "early_stop=1",
                                         "fused_filter=0",
                                         "fused_filter=1",
                                         "alpha=0004,early_stop=-0"};
    static const char *const of_resident[] = {"threads=32",        "threads=96",           "cluster=1",
                                              "cluster=16",        "threads=32,cluster=3", "stream=0",
                                              "stream=1,cluster=2"};
    static const char *const of_gridselect[] = {
        "queue=0", "queue=1", "elements=1", "elements=9223372036854775807", "hashed=0", "hashed=1"};
    static const char *const of_radik[] = {"digit_bits=1",   "write_buffer=0", "write_buffer=1",
                                           "rescheduling=0", "rescheduling=1", "padding=0",
                                           "padding=1",      "scaling=0",      "scaling=1"};
    static const char *const of_drtopk[] = {"base=0",      "base=1",      "base=2",      "beta=1",   "beta=4",
                                            "filter=0",    "exponent=4",  "exponent=15", "filter=1", "base=3",
                                            "coalesced=0", "coalesced=1", "base=4",      "base=5",   "base=6",
                                            "skip=0",      "skip=1"};
    static const char *const of_in_place[] = {"digit_bits=1", "digit_bits=4", "bucket_bits=1",
                                              "bucket_bits=4"};
    static const char *const of_compact[] = {"one_pass=0", "one_pass=1"};
    arguments a = begin(NULL);
    topk_problem p = a.problem;
    end(&a);
    for (size_t i = 0; i < sizeof of_air / sizeof of_air[0]; i++) {
        p.tuning = of_air[i];
        (void)workspace_for(TOPK_OPERATION_SELECT, &p);
        (void)workspace_for(TOPK_OPERATION_KTH, &p);
        (void)workspace_for(TOPK_OPERATION_SELECT_WHERE, &p);
    }
    for (size_t i = 0; i < sizeof of_radik / sizeof of_radik[0]; i++) {
        p.tuning = of_radik[i];
        (void)workspace_for(TOPK_OPERATION_SELECT, &p);
        (void)workspace_for(TOPK_OPERATION_KTH, &p);
        (void)workspace_for(TOPK_OPERATION_SELECT_WHERE, &p);
    }
    for (size_t i = 0; i < sizeof of_drtopk / sizeof of_drtopk[0]; i++) {
        p.tuning = of_drtopk[i];
        (void)workspace_for(TOPK_OPERATION_SELECT, &p);
    }
    for (size_t i = 0; i < sizeof of_in_place / sizeof of_in_place[0]; i++) {
        p.method = of_in_place[i][0] == 'd' ? "radix" : "bucket";
        p.tuning = of_in_place[i];
        (void)workspace_for(TOPK_OPERATION_SELECT, &p);
        (void)workspace_for(TOPK_OPERATION_KTH, &p);
    }
    p.method = NULL;
    for (size_t i = 0; i < sizeof of_gridselect / sizeof of_gridselect[0]; i++) {
        p.tuning = of_gridselect[i];
        (void)workspace_for(TOPK_OPERATION_SELECT, &p);
        (void)workspace_for(TOPK_OPERATION_SELECT_WHERE, &p);
    }
    for (size_t i = 0; i < sizeof of_compact / sizeof of_compact[0]; i++) {
        p.tuning = of_compact[i];
        (void)workspace_for(TOPK_OPERATION_WHERE, &p);
    }
    p.length_max = 100; /* as long as tiny blocks hold */
    for (size_t i = 0; i < sizeof of_resident / sizeof of_resident[0]; i++) {
        p.tuning = of_resident[i];
        (void)workspace_for(TOPK_OPERATION_SELECT, &p);
        (void)workspace_for(TOPK_OPERATION_KTH, &p);
    }
}

/* Among methods that the chooser may take, only one that has all the knobs serves. */
static void check_tuned_choice(void) {
    arguments a = begin(NULL);
    topk_problem p = a.problem;
    char text[8192];
    end(&a);
    p.tuning = "early_stop=1";
    CHECK_STATUS(TOPK_OK, topk_explain(context, TOPK_OPERATION_SELECT, &p, text, sizeof text, NULL));
    CHECK(strstr(text, "* air") != NULL && strstr(text, "cannot: has no knob 'early_stop'") != NULL);
    static const char *const rows[] = {"knob digit_bits (integer, 1 to ",
                                       "knob alpha (integer, 4 or more, default ",
                                       "knob adaptive_buffering (switch, 0 or 1, default 1): ",
                                       "knob early_stop (switch, 0 or 1, default 1): ",
                                       "knob fused_filter (switch, 0 or 1, default 0): ",
                                       "knob threads (integer, 32 to ",
                                       "knob cluster (integer, 1 to 16, default ",
                                       "knob one_pass (switch, 0 or 1, default 1): "};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK(strstr(text, rows[i]) != NULL);
    }
}

/* Rows that a warp of rtopk does not hold in registers, but in shared memory: a length for the sizes of
 * production, and one for tiny ones. */
static void check_long_rows_of_rtopk(void) {
    static const int64_t lengths[] = {2000, 700};
    topk_problem p = TOPK_PROBLEM_INIT;
    size_t bytes;
    p.type = TOPK_F32;
    p.rows = ROWS;
    p.k_max = K;
    p.method = "rtopk";
    p.length_max = lengths[0];
    if (topk_workspace_size(context, TOPK_OPERATION_SELECT, &p, &bytes) != TOPK_OK) {
        p.length_max = lengths[1];
    }
    for (int i = 0; i < 7; i++) {
        topk_problem q = p;
        const bool is_served = i < 4;
        const char *const refusal = i == 5 ? "more results are wanted" : "rows are longer";
        q.shape = i == 1 ? TOPK_SHAPE_CSR : p.shape;
        q.elements_max = i == 1 ? ROWS * p.length_max : 0;
        q.type = i == 2 ? TOPK_I32 : p.type;
        q.rank = i == 2 ? TOPK_BY_MAGNITUDE : p.rank;
        q.tuning = i == 3 ? "network=0" : NULL;
        q.k_max = i == 5 ? p.length_max : p.k_max;
        q.length_max = i == 6 ? 2 * p.length_max : p.length_max;
        const topk_operation operation = i == 0   ? TOPK_OPERATION_KTH
                                         : i == 4 ? TOPK_OPERATION_SELECT_WHERE
                                                  : TOPK_OPERATION_SELECT;
        CHECK_STATUS(is_served ? TOPK_OK : TOPK_ERROR_METHOD_CANNOT,
                     topk_workspace_size(context, operation, &q, &bytes));
        CHECK(is_served || strstr(topk_last_error(), refusal) != NULL);
    }
}

/* With a limit that delegates exceed the base serves alone, and asks for what it would ask for itself, but
 * for alignment. */
static void check_limit_of_drtopk(void) {
    topk_problem p = TOPK_PROBLEM_INIT;
    p.type = TOPK_F32;
    p.length_max = 100000;
    p.k_max = 50;
    p.method = "radix";
    const size_t of_base = workspace_for(TOPK_OPERATION_SELECT, &p);
    p.method = "drtopk";
    const size_t usual = workspace_for(TOPK_OPERATION_SELECT, &p);
    CHECK(usual > of_base);
    p.workspace_limit = usual;
    CHECK(workspace_for(TOPK_OPERATION_SELECT, &p) == usual);
    p.workspace_limit = usual - 1;
    const size_t limited = workspace_for(TOPK_OPERATION_SELECT, &p);
    printf("drtopk: %zu bytes, limited %zu; its base %zu\n", usual, limited, of_base);
    CHECK(limited >= of_base && limited < of_base + 4096 && limited < usual);
}

/* Rows may overlap, so that there can be more than any workspace holds the delegates of. */
static void check_overflow_of_drtopk(void) {
    topk_problem p = TOPK_PROBLEM_INIT;
    size_t bytes;
    p.type = TOPK_U32;
    p.rows = INT64_C(1) << 50;
    p.row_stride = 1;
    p.length_max = 1 << 20;
    p.k_max = 1;
    p.method = "drtopk";
    CHECK_STATUS(TOPK_ERROR_METHOD_CANNOT, topk_workspace_size(context, TOPK_OPERATION_SELECT, &p, &bytes));
    CHECK(strstr(topk_last_error(), "its workspace exceeds the address space") != NULL);
}

/* What has no room in a sorted run, or in an entry. */
static void check_limits_of_bitonic(void) {
    topk_problem p = TOPK_PROBLEM_INIT;
    size_t bytes;
    p.type = TOPK_F32;
    p.length_max = 10000;
    p.k_max = 256;
    p.method = "bitonic";
    (void)workspace_for(TOPK_OPERATION_SELECT, &p);
    p.k_max = 2049;
    CHECK_STATUS(TOPK_ERROR_METHOD_CANNOT, topk_workspace_size(context, TOPK_OPERATION_SELECT, &p, &bytes));
    CHECK(strstr(topk_last_error(), "more results than a sorted run") != NULL);
    p.k_max = 16;
    p.index_type = TOPK_INDEX_I64;
    p.length_max = INT32_MAX;
    (void)workspace_for(TOPK_OPERATION_SELECT, &p);
    p.length_max++;
    CHECK_STATUS(TOPK_ERROR_METHOD_CANNOT, topk_workspace_size(context, TOPK_OPERATION_SELECT, &p, &bytes));
    CHECK(strstr(topk_last_error(), "rows have 2^31 elements or more") != NULL);
    CHECK_STATUS(TOPK_ERROR_METHOD_CANNOT, topk_workspace_size(context, TOPK_OPERATION_KTH, &p, &bytes));
}

/* The chosen method's line begins with a star. */
static bool explains(const topk_context *of, const char *method, const char *line) {
    static char text[8192];
    topk_problem p = TOPK_PROBLEM_INIT;
    size_t needed = 0;
    p.type = TOPK_F32;
    p.length_max = 1 << 20;
    p.k_max = 100;
    p.method = method;
    CHECK_STATUS(TOPK_OK, topk_explain(of, TOPK_OPERATION_SELECT, &p, text, sizeof text, &needed));
    CHECK(needed == strlen(text) + 1);
    return strstr(text, line) != NULL;
}

static void check_explanations(void) {
    topk_context *forced;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = TOPK_BACKEND_CUDA;
    CHECK(explains(context, NULL, "* "));
    CHECK(explains(context, NULL, "air") && explains(context, NULL, "sort"));
    CHECK(explains(context, "air", "* air"));
    CHECK(explains(context, "sort", "* sort"));
    setenv("TOPK_METHOD", "sort", 1);
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &forced));
    CHECK(explains(forced, NULL, "* sort"));
    CHECK(explains(forced, "air", "* air")); /* the problem's own choice goes first */
    topk_context_destroy(forced);
    setenv("TOPK_METHOD", "air", 1);
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &forced));
    CHECK(explains(forced, NULL, "* air"));
    topk_context_destroy(forced);
    setenv("TOPK_METHOD", "nonesuch", 1);
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_METHOD, topk_context_create(&options, &forced));
    CHECK(forced == NULL);
    setenv("TOPK_METHOD", "rows", 1); /* the CPU has it: here it steps aside */
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &forced));
    CHECK(explains(forced, NULL, "* ") && explains(forced, NULL, "steps aside: another backend has it"));
    topk_context_destroy(forced);
    setenv("TOPK_METHOD", "air", 1);
    options.backend = TOPK_BACKEND_CPU;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &forced));
    CHECK(explains(forced, NULL, "* ") && explains(forced, NULL, "steps aside: another backend has it"));
    topk_context_destroy(forced);
    unsetenv("TOPK_METHOD");
}

static void check_options(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    topk_context *other;
    const int bad[] = {-1, 1000, INT32_MAX, INT32_MIN};
    options.backend = TOPK_BACKEND_CUDA;
    for (int i = 0; i < 4; i++) {
        options.device = bad[i];
        CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_context_create(&options, &other));
        CHECK(other == NULL && strstr(topk_last_error(), "device") != NULL);
    }
    options.device = 0;
    options.threads = -1;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_context_create(&options, &other));
    options = (topk_context_options)TOPK_CONTEXT_OPTIONS_INIT;
    const topk_context_options *const defaults[] = {NULL, &options};
    for (int i = 0; i < 2; i++) { /* a GPU must be asked for */
        CHECK_STATUS(TOPK_OK, topk_context_create(defaults[i], &other));
        CHECK_STATUS(TOPK_OK, topk_context_query(other, &properties));
        CHECK(properties.backend == TOPK_BACKEND_CPU);
        topk_context_destroy(other);
        topk_simple *simple;
        CHECK_STATUS(TOPK_OK, topk_simple_create(defaults[i], &simple));
        CHECK_STATUS(TOPK_OK, topk_context_query(topk_simple_context(simple), &properties));
        CHECK(properties.backend == TOPK_BACKEND_CPU);
        topk_simple_destroy(simple);
    }
    options.backend = TOPK_BACKEND_AUTO;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &other));
    CHECK_STATUS(TOPK_OK, topk_context_query(other, &properties));
    CHECK(properties.backend == TOPK_BACKEND_CUDA && properties.device == 0);
    CHECK(properties.features != NULL && properties.features[0] != '\0');
    topk_context_destroy(other);
}

/* Nothing to do: nothing is written, and no kernel need run. */
static void check_nothing_to_do(void) {
    for (int i = 0; i < 3; i++) {
        arguments a = begin("sort"); /* whose workspace is enough for any method */
        a.problem.method = NULL;
        if (i == 0) {
            a.problem.rows = 0;
        } else if (i == 1) {
            a.problem.k_max = 0;
        } else {
            a.values = a.indices = NULL;
            a.problem.rows = 0;
            a.input.values = NULL;
        }
        CHECK_STATUS(TOPK_OK, call_select(&a));
        for (int b = 1; b < 6; b++) {
            bool same = device_fetch();
            for (size_t byte = 0; byte < a.buffers[b].bytes; byte++) {
                same = same && ((const unsigned char *)a.buffers[b].seen)[byte] == FILL;
            }
            CHECK(same);
        }
        end(&a);
    }
}

/* Rows without elements are all padding, and need no values. */
static void check_no_elements(const char *method) {
    float wanted[ROWS * K];
    int32_t wanted_indices[ROWS * K];
    arguments a = begin(method);
    a.problem.length_max = 0;
    a.input.values = NULL;
    expected_select(&a.problem, &a.input, wanted, wanted_indices);
    CHECK(workspace_for(TOPK_OPERATION_SELECT, &a.problem) <= a.workspace_bytes[TOPK_OPERATION_SELECT]);
    CHECK_STATUS(TOPK_OK, call_select(&a));
    CHECK(device_fetch());
    CHECK(memcmp(a.buffers[1].seen, wanted, sizeof wanted) == 0);
    CHECK(memcmp(a.buffers[2].seen, wanted_indices, sizeof wanted_indices) == 0);
    end(&a);
}

/* On the null stream, too. */
static void check_null_stream(void) {
    arguments a = begin(NULL);
    CHECK(device_fetch()); /* what was sent went by another stream */
    CHECK_STATUS(TOPK_OK, topk_select(context, &a.problem, &a.input, a.values, a.indices, a.workspace,
                                      a.workspace_bytes[TOPK_OPERATION_SELECT], NULL));
    end(&a);
}

int main(void) {
    static const char *const methods[] = {NULL, "air", "sort"};
    unsetenv("TOPK_METHOD");
    device_open();
    context = create();
    for (int e = 0; e < ROWS * LENGTH; e++) {
        values[e] = (float)((e * 37) % 1009);
    }
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        check_right(methods[m]);
        check_kth_beyond_all_places(methods[m]);
        check_workspaces(methods[m]);
        check_no_elements(methods[m]);
    }
    check_pointers();
    check_problems();
    check_limits();
    check_tuning();
    check_taken_tuning();
    check_long_rows_of_rtopk();
    check_limit_of_drtopk();
    check_overflow_of_drtopk();
    check_limits_of_bitonic();
    check_tuned_choice();
    check_explanations();
    check_options();
    check_nothing_to_do();
    check_null_stream();
    topk_context_destroy(context);
    device_close();
    return check_report();
}
