/* SPDX-License-Identifier: Apache-2.0 */
#include "../base/fail.h"
#include "../engine/device.h"
#include "../engine/session.h"
#include "../output/output.h"
#include "run.h"
#include "topk_advanced.h"

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

/* Labels take ten columns. */
static void print_devices(void) {
    if (!device_supported() || topk_backend_status(TOPK_BACKEND_CUDA) != TOPK_OK)
        return;
    int count = device_count();
    for (int i = 0; i < count; i++) {
        struct device_text description;
        device_describe(i, &description);
        output_string("cuda:");
        output_integer(i);
        output_string(i < 10 ? "    " : " ");
        output_string(description.text);
        output_string("\n");
    }
}

static topk_context_properties query(const topk_context *context) {
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    if (topk_context_query(context, &properties) != TOPK_OK)
        fail_library();
    return properties;
}

void print_chosen(const struct session *session) {
    topk_context_properties properties = query(session->context);
    if (properties.backend != TOPK_BACKEND_CUDA) {
        output_string("cpu");
        return;
    }
    output_string("cuda:");
    output_integer(properties.device);
}

void run_info(const struct options *options) {
    struct session session;
    session_begin(&session, options, TOPK_OPERATION_SELECT, TOPK_F32, 0);
    print_version();
    print_backend("cpu       ", TOPK_BACKEND_CPU);
    print_backend("cuda      ", TOPK_BACKEND_CUDA);
    print_devices();
    output_string("chosen    ");
    print_chosen(&session);
    output_string("\nfeatures  ");
    output_string(query(session.context).features);
    output_string("\nthreads   ");
    output_integer(session_threads(&session));
    output_string("\n");
    output_flush();
    session_end(&session);
}
