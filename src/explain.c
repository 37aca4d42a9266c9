/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "choose.h"
#include "status.h"

/* Text that grows past its buffer without writing there. */
struct text {
    char *at;
    size_t room;   /* bytes left at `at`, terminator included */
    size_t length; /* of the whole text, without terminator */
};

static void __attribute__((format(printf, 2, 3))) append(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(text->room > 0 ? text->at : NULL, text->room, format, arguments);
    va_end(arguments);
    if (written <= 0) {
        return;
    }
    const size_t step = (size_t)written < text->room ? (size_t)written : text->room > 0 ? text->room - 1 : 0;
    if (step > 0) { /* at may be NULL */
        text->at += step;
        text->room -= step;
    }
    text->length += (size_t)written;
}

static void append_candidate(struct text *text, const struct choice *choice,
                             const struct candidate *candidate) {
    append(text, "%s %-10s ", candidate == choice->chosen ? "*" : " ", candidate->method->name);
    if (candidate->refusal[0] != '\0') {
        append(text, "cannot: %s\n", candidate->refusal);
    } else {
        append(text, "%12.1f us predicted %14zu bytes of workspace%s\n", candidate->cost_us,
               candidate->workspace_bytes, candidate->within_bound ? "" : ", above the bound");
    }
}

/* What was asked for by name: forced, or without effect. */
static void append_wish(struct text *text, const topk_context *context, const struct plan *plan,
                        const struct choice *choice) {
    const struct method *preferred = context->preferred;
    if (choice->forced != NULL) {
        append(text, "method '%s' is forced by %s\n", choice->forced->name,
               plan->problem.method != NULL ? "the problem" : "TOPK_METHOD");
    } else if (preferred != NULL) {
        const char *why = "another backend has it";
        for (size_t i = 0; i < choice->count; i++) {
            why = choice->candidates[i].method == preferred ? choice->candidates[i].refusal : why;
        }
        append(text, "method '%s', which TOPK_METHOD names, steps aside: %s\n", preferred->name, why);
    }
}

topk_status topk_explain(const topk_context *context, topk_operation operation, const topk_problem *problem,
                         char *text, size_t text_bytes, size_t *needed) {
    struct plan plan;
    struct choice choice;
    struct text out = {text, text_bytes, 0};
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    if (text == NULL && text_bytes > 0) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "text is NULL");
    }
    topk_status status = topk_plan_make(operation, problem, &plan);
    if (status != TOPK_OK || (status = topk_choose(context, &plan, &choice)) != TOPK_OK) {
        return status;
    }
    append(&out, "backend %s, features %s, %d thread%s\n", context->backend->name, context->features,
           context->threads, context->threads == 1 ? "" : "s");
    for (size_t i = 0; i < choice.count; i++) {
        append_candidate(&out, &choice, &choice.candidates[i]);
    }
    append_wish(&out, context, &plan, &choice);
    if (needed != NULL) {
        *needed = out.length + 1;
    }
    return TOPK_OK;
}
