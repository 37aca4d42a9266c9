/* SPDX-License-Identifier: Apache-2.0
 *
 * Creating, querying and ending contexts; the environment they read. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "topk_advanced.h"

static topk_status create_for_cpu(topk_context **context) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = TOPK_BACKEND_CPU;
    return topk_context_create(&options, context);
}

static topk_status create(int backend, int device, int threads) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context = (topk_context *)&options; /* anything but NULL */
    options.backend = (topk_backend)backend;
    options.device = device;
    options.threads = threads;
    topk_status status = topk_context_create(&options, &context);
    CHECK((status == TOPK_OK) == (context != NULL));
    CHECK(status == TOPK_OK || topk_last_error()[0] != '\0');
    topk_context_destroy(context);
    return status;
}

static void check_options(void) {
    CHECK_STATUS(TOPK_OK, create(TOPK_BACKEND_AUTO, 0, 0));
    CHECK_STATUS(TOPK_OK, create(TOPK_BACKEND_CPU, 0, 1));
    CHECK_STATUS(TOPK_OK, create(TOPK_BACKEND_CPU, 0, 1024));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, create(TOPK_BACKEND_CPU, 0, 1025));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, create(TOPK_BACKEND_CPU, 0, -1));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, create(TOPK_BACKEND_CPU, 1, 1));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, create(TOPK_BACKEND_CPU, -1, 1));
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, create(3, 0, 1));
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, create(-1, 0, 1));
}

static int default_threads(void) {
    topk_context *context;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    CHECK_STATUS(TOPK_OK, create_for_cpu(&context));
    CHECK_STATUS(TOPK_OK, topk_context_query(context, &properties));
    topk_context_destroy(context);
    return properties.threads;
}

/* OMP_NUM_THREADS, or the processors that the process may run on: fewer, where the tests run under a CPU
 * quota. */
static void check_default_threads(void) {
    static const char *const no_number[] = {"", "0", "-3", "many"};
    cpu_set_t allowed, one;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    unsetenv("OMP_NUM_THREADS");
    const int threads = default_threads();
    CHECK(threads >= 1 && threads <= CPU_COUNT(&allowed));
    for (size_t i = 0; i < sizeof no_number / sizeof no_number[0]; i++) {
        setenv("OMP_NUM_THREADS", no_number[i], 1);
        CHECK(default_threads() == threads);
    }
    setenv("OMP_NUM_THREADS", "3", 1);
    CHECK(default_threads() == 3);
    setenv("OMP_NUM_THREADS", "5,2", 1); /* of nested regions: the first */
    CHECK(default_threads() == 5);
    setenv("OMP_NUM_THREADS", "1000000", 1);
    CHECK(default_threads() == 1024);
    unsetenv("OMP_NUM_THREADS");
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_SET(cpu, &one);
        }
    }
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(default_threads() == 1);
    CHECK(sched_setaffinity(0, sizeof allowed, &allowed) == 0);
}

/* Every seed is one. */
static void check_seeds(void) {
    const uint64_t seeds[] = {0, 1, UINT64_MAX};
    for (int i = 0; i < 3; i++) {
        topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
        topk_context *context;
        options.backend = TOPK_BACKEND_CPU;
        options.seed = seeds[i];
        CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
        topk_context_destroy(context);
    }
}

static void check_backend_status(void) {
    CHECK_STATUS(TOPK_OK, topk_backend_status(TOPK_BACKEND_AUTO));
    CHECK_STATUS(TOPK_OK, topk_backend_status(TOPK_BACKEND_CPU));
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, topk_backend_status((topk_backend)3));
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, topk_backend_status((topk_backend)-1));
}

static void check_pointers(void) {
    topk_context *context = NULL;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_context_create(NULL, NULL));
    CHECK_STATUS(TOPK_OK, create_for_cpu(&context));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_context_query(NULL, &properties));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_context_query(context, NULL));
    CHECK_STATUS(TOPK_OK, topk_context_query(context, &properties));
    CHECK(properties.backend == TOPK_BACKEND_CPU && properties.device == 0 && properties.threads >= 1);
    topk_context_destroy(context);
    topk_context_destroy(NULL);
}

/* The features that a context reports with TOPK_CPU_DISABLE set so; the status if there is none. */
static topk_status features_with(const char *disabled, char features[64]) {
    topk_context *context;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    setenv("TOPK_CPU_DISABLE", disabled, 1);
    topk_status status = create_for_cpu(&context);
    if (status == TOPK_OK) {
        CHECK_STATUS(TOPK_OK, topk_context_query(context, &properties));
        strncpy(features, properties.features, 63);
        features[63] = '\0';
    }
    topk_context_destroy(context);
    unsetenv("TOPK_CPU_DISABLE");
    return status;
}

/* What this machine has is used, and only its own name switches it off. */
static void check_own_features(void) {
    char features[64] = "";
#if defined(__aarch64__)
    CHECK_STATUS(TOPK_OK, features_with("avx512,avx2", features));
    CHECK(strcmp(features, "neon") == 0);
    CHECK_STATUS(TOPK_OK, features_with("neon", features));
    CHECK(strcmp(features, "scalar") == 0);
#elif defined(__x86_64__)
    char best[64] = "";
    CHECK_STATUS(TOPK_OK, features_with("", best));
    CHECK_STATUS(TOPK_OK, features_with("neon", features));
    CHECK(strcmp(features, best) == 0);
#endif
}

static void check_disabled_features(void) {
    char features[64] = "";
    CHECK_STATUS(TOPK_OK, features_with("", features));
    CHECK_STATUS(TOPK_OK, features_with("avx512", features));
    CHECK(strstr(features, "avx512") == NULL);
    CHECK_STATUS(TOPK_OK, features_with("avx2", features));
    CHECK(strstr(features, "avx") == NULL);
    CHECK_STATUS(TOPK_OK, features_with("avx2,avx512", features));
    CHECK(strstr(features, "avx") == NULL);
    CHECK_STATUS(TOPK_OK, features_with("neon,avx2", features));
    CHECK(strcmp(features, "scalar") == 0);
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, features_with("neo", features));
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, features_with("neonx", features));
    check_own_features();
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, features_with("avx3", features));
    CHECK(strstr(topk_last_error(), "avx3") != NULL);
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, features_with("avx2,avx51", features));
}

static topk_context *create_preferring(const char *method) {
    topk_context *context = NULL;
    setenv("TOPK_METHOD", method, 1);
    CHECK_STATUS(TOPK_OK, create_for_cpu(&context));
    unsetenv("TOPK_METHOD");
    return context;
}

static topk_problem some_problem(void) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    problem.length_max = 100;
    problem.k_max = 10;
    return problem;
}

/* A call takes the method that TOPK_METHOD names, however dear, as the explanation says. */
static void check_preferred_method_runs(void) {
    static const char *const methods[] = {"rows", "bracket", "reference"};
    topk_problem problem = some_problem();
    size_t sizes[3] = {0};
    for (int m = 0; m < 3; m++) {
        topk_context *const context = create_preferring(methods[m]);
        size_t forced_bytes = 0;
        problem.method = NULL;
        CHECK_STATUS(TOPK_OK, topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &sizes[m]));
        problem.method = methods[m];
        CHECK_STATUS(TOPK_OK, topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &forced_bytes));
        CHECK(sizes[m] == forced_bytes);
        topk_context_destroy(context);
    }
    CHECK(sizes[0] != sizes[1] && sizes[1] != sizes[2] && sizes[2] != sizes[0]);
}

static void check_forced_method(void) {
    topk_context *context;
    topk_problem problem = some_problem();
    char text[4096];
    setenv("TOPK_METHOD", "nonesuch", 1);
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_METHOD, create_for_cpu(&context));
    CHECK(strstr(topk_last_error(), "nonesuch") != NULL);
    unsetenv("TOPK_METHOD");
    context = create_preferring("reference");
    CHECK_STATUS(TOPK_OK, topk_explain(context, TOPK_OPERATION_SELECT, &problem, text, sizeof text, NULL));
    CHECK(strstr(text, "* reference") != NULL);
    problem.method = "bracket"; /* the problem's own choice goes first */
    CHECK_STATUS(TOPK_OK, topk_explain(context, TOPK_OPERATION_SELECT, &problem, text, sizeof text, NULL));
    CHECK(strstr(text, "* reference") == NULL);
    CHECK(strstr(text, "forced by the problem") != NULL && strstr(text, "TOPK_METHOD") == NULL);
    topk_context_destroy(context);
}

/* With TOPK_METHOD the problem is served as without it; the explanation says that it stepped aside, and why.
 */
static void check_aside(const char *method, topk_operation operation, const topk_problem *problem,
                        const char *why) {
    topk_context *plain = create_preferring(""), *preferring = create_preferring(method);
    char text[4096], usual[4096];
    size_t bytes = 1, usual_bytes = 2;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(plain, operation, problem, &usual_bytes));
    CHECK_STATUS(TOPK_OK, topk_workspace_size(preferring, operation, problem, &bytes));
    CHECK(bytes == usual_bytes);
    CHECK_STATUS(TOPK_OK, topk_explain(plain, operation, problem, usual, sizeof usual, NULL));
    CHECK_STATUS(TOPK_OK, topk_explain(preferring, operation, problem, text, sizeof text, NULL));
    CHECK(strncmp(text, usual, strlen(usual)) == 0 && strstr(usual, "* ") != NULL);
    const char *aside = text + strlen(usual); /* one more line */
    CHECK(strstr(aside, method) != NULL && strstr(aside, "steps aside") != NULL &&
          strstr(aside, why) != NULL);
    topk_context_destroy(plain);
    topk_context_destroy(preferring);
}

/* A process-wide setting makes no problem fail. What a problem asks for itself is strict. */
static void check_method_that_steps_aside(void) {
    topk_problem problem = some_problem();
    size_t bytes;
    check_aside("compact", TOPK_OPERATION_SELECT, &problem, "does not do select");
    check_aside("bracket", TOPK_OPERATION_COUNT, &problem, "does not do count");
    problem.length_max = 1 << 20;
    check_aside("rows", TOPK_OPERATION_SELECT, &problem, "rows are longer");
    problem.k_max = problem.length_max;
    problem.order = TOPK_ORDER_ANY;
    problem.workspace_limit = 14 << 20;
    check_aside("reference", TOPK_OPERATION_SELECT, &problem, "workspace_limit");
    topk_context *context = create_preferring("rows");
    problem.workspace_limit = 0;
    problem.method = "rows";
    CHECK_STATUS(TOPK_ERROR_METHOD_CANNOT,
                 topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &bytes));
    topk_context_destroy(context);
}

/* TOPK_METHOD may name a method of any backend, whatever this build and this machine have: one environment
 * goes for all machines. */
static void check_method_of_another_backend(void) {
    static const char *const methods[] = {"rtopk",   "resident", "bracket", "gridselect", "radik",
                                          "air",     "radix",    "bucket",  "bitonic",    "drtopk",
                                          "compact", "route",    "sort"};
    const topk_problem problem = some_problem();
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = TOPK_BACKEND_AUTO; /* whatever there is */
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        topk_context *context = NULL;
        setenv("TOPK_METHOD", methods[m], 1);
        CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
        unsetenv("TOPK_METHOD");
        topk_context_destroy(context);
    }
    check_aside("air", TOPK_OPERATION_SELECT, &problem, "another backend has it");
    check_aside("sort", TOPK_OPERATION_MASK, &problem, "another backend has it");
}

static size_t size_of(const topk_context *context, topk_operation operation, const topk_problem *problem) {
    size_t bytes = SIZE_MAX;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, operation, problem, &bytes));
    return bytes;
}

/* A choice follows from context, operation and problem alone, whatever was asked before. */
static void check_choices_that_take_turns(void) {
    static const char *const methods[] = {"rows", "bracket", "reference"};
    static const topk_operation operations[] = {TOPK_OPERATION_SELECT, TOPK_OPERATION_SELECT_WHERE,
                                                TOPK_OPERATION_KTH};
    topk_context *contexts[3];
    bool k_matters = false;
    for (int m = 0; m < 3; m++) {
        contexts[m] = create_preferring(methods[m]);
    }
    for (int i = 0; i < 3 * 3 * 3; i++) {
        const int m = i / 9;
        const topk_operation operation = operations[i % 3];
        size_t expected[2];
        for (int turn = 0; turn < 4; turn++) { /* k is 10 and 90 by turns */
            topk_problem problem = some_problem();
            problem.k_max = turn % 2 == 0 ? 10 : 90;
            if (turn < 2) {
                topk_context *const fresh = create_preferring(methods[m]);
                expected[turn] = size_of(fresh, operation, &problem);
                topk_context_destroy(fresh);
            }
            CHECK(size_of(contexts[m], operation, &problem) == expected[turn % 2]);
        }
        k_matters = k_matters || expected[0] != expected[1];
    }
    CHECK(k_matters);
    for (int m = 0; m < 3; m++) {
        topk_context_destroy(contexts[m]);
    }
}

int main(void) {
    unsetenv("TOPK_METHOD");
    unsetenv("TOPK_CPU_DISABLE");
    check_options();
    check_default_threads();
    check_seeds();
    check_backend_status();
    check_pointers();
    check_disabled_features();
    check_forced_method();
    check_preferred_method_runs();
    check_method_that_steps_aside();
    check_method_of_another_backend();
    check_choices_that_take_turns();
    return check_report();
}
