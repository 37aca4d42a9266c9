/* SPDX-License-Identifier: Apache-2.0 */
#include "../engine/session.h"
#include "../output/output.h"
#include "run.h"

static void print_version(void) {
    int version = topk_version();
    output_string("version   ");
    output_integer(version / 10000);
    output_string(".");
    output_integer(version / 100 % 100);
    output_string(".");
    output_integer(version % 100);
    output_string("\n");
}

static void print_backend(const char *label, topk_backend backend) {
    output_string(label);
    output_string(topk_backend_status(backend) == TOPK_OK ? "available" : topk_last_error());
    output_string("\n");
}

void run_info(const struct options *options) {
    struct session session;
    session_begin(&session, options);
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    topk_context_query(session.context, &properties);
    print_version();
    print_backend("cpu       ", TOPK_BACKEND_CPU);
    print_backend("cuda      ", TOPK_BACKEND_CUDA);
    output_string("chosen    ");
    output_string(properties.backend == TOPK_BACKEND_CUDA ? "cuda" : "cpu");
    output_string("\nfeatures  ");
    output_string(properties.features);
    output_string("\nthreads   ");
    output_integer(properties.threads);
    output_string("\n");
    output_flush();
    session_end(&session);
}
