/* SPDX-License-Identifier: Apache-2.0
 *
 * Which backends there are here. With the argument "none" the CUDA backend must not be one of them, as on a
 * machine without a GPU: then it says why, and AUTO is the CPU. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "topk_advanced.h"

/* The backend of a context that is created with these options; AUTO if there is none. */
static topk_backend created(const topk_context_options *options, topk_status wanted) {
    topk_context *context;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    if (CHECK_STATUS(wanted, topk_context_create(options, &context)) && wanted == TOPK_OK) {
        CHECK_STATUS(TOPK_OK, topk_context_query(context, &properties));
    }
    CHECK((context != NULL) == (wanted == TOPK_OK));
    topk_context_destroy(context);
    return properties.backend;
}

/* The reasons are the driver, the device, or the build. */
static void check_sentence(void) {
    const char *sentence = topk_last_error();
    printf("%s\n", sentence);
    CHECK(strstr(sentence, "CUDA") != NULL);
    CHECK(strstr(sentence, "driver") != NULL || strstr(sentence, "device") != NULL ||
          strstr(sentence, "without CUDA") != NULL);
}

int main(int argc, char **argv) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    unsetenv("TOPK_METHOD");
    const topk_status cuda = topk_backend_status(TOPK_BACKEND_CUDA);
    const topk_backend best = cuda == TOPK_OK ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    if (cuda != TOPK_OK) {
        CHECK(cuda == TOPK_ERROR_BACKEND_UNAVAILABLE);
        check_sentence();
    }
    CHECK(argc == 1 || strcmp(argv[1], "none") != 0 || cuda != TOPK_OK);
    CHECK_STATUS(TOPK_OK, topk_backend_status(TOPK_BACKEND_AUTO));
    CHECK_STATUS(TOPK_OK, topk_backend_status(TOPK_BACKEND_CPU));
    CHECK(created(NULL, TOPK_OK) == TOPK_BACKEND_CPU); /* a GPU must be asked for */
    CHECK(created(&options, TOPK_OK) == TOPK_BACKEND_CPU);
    options.backend = TOPK_BACKEND_AUTO;
    CHECK(created(&options, TOPK_OK) == best);
    options.backend = TOPK_BACKEND_CUDA;
    created(&options, cuda);
    if (cuda != TOPK_OK) {
        check_sentence();
    }
    options.backend = TOPK_BACKEND_AUTO; /* only the CPU has no other device */
    options.device = 100000;
    created(&options, TOPK_ERROR_OUT_OF_RANGE);
    return check_report();
}
