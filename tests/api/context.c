/* SPDX-License-Identifier: Apache-2.0
 *
 * Creating, querying and ending contexts; the environment they read. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "check.h"

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

static void check_disabled_features(void) {
    char features[64] = "";
    CHECK_STATUS(TOPK_OK, features_with("", features));
    CHECK_STATUS(TOPK_OK, features_with("avx512", features));
    CHECK(strstr(features, "avx512") == NULL);
    CHECK_STATUS(TOPK_OK, features_with("avx2", features));
    CHECK(strstr(features, "avx") == NULL);
    CHECK_STATUS(TOPK_OK, features_with("avx2,avx512", features));
    CHECK(strstr(features, "avx") == NULL);
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, features_with("avx3", features));
    CHECK(strstr(topk_last_error(), "avx3") != NULL);
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, features_with("avx2,avx51", features));
}

static void check_forced_method(void) {
    topk_context *context;
    topk_problem problem = TOPK_PROBLEM_INIT;
    char text[4096];
    problem.type = TOPK_F32;
    problem.length_max = 100;
    problem.k_max = 10;
    setenv("TOPK_METHOD", "nonesuch", 1);
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_METHOD, create_for_cpu(&context));
    CHECK(strstr(topk_last_error(), "nonesuch") != NULL);
    setenv("TOPK_METHOD", "reference", 1);
    CHECK_STATUS(TOPK_OK, create_for_cpu(&context));
    unsetenv("TOPK_METHOD");
    CHECK_STATUS(TOPK_OK, topk_explain(context, TOPK_OPERATION_SELECT, &problem, text, sizeof text, NULL));
    CHECK(strstr(text, "* reference") != NULL);
    problem.method = "bracket"; /* the problem's own choice goes first */
    CHECK_STATUS(TOPK_OK, topk_explain(context, TOPK_OPERATION_SELECT, &problem, text, sizeof text, NULL));
    CHECK(strstr(text, "* reference") == NULL);
    topk_context_destroy(context);
}

int main(void) {
    unsetenv("TOPK_METHOD");
    unsetenv("TOPK_CPU_DISABLE");
    check_options();
    check_backend_status();
    check_pointers();
    check_disabled_features();
    check_forced_method();
    return check_report();
}
