/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "status.h"

/* Text that grows past its buffer without writing there. */
struct text {
    char *at;
    size_t room;   /* bytes from `at` on, terminator included */
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

static void append_knobs(struct text *text, const struct knob *knobs) {
    static const char *const types[] = {[KNOB_INTEGER] = "integer", [KNOB_SWITCH] = "switch"};
    for (const struct knob *knob = knobs; knob != NULL && knob->name != NULL; knob++) {
        char range[RANGE_BYTES];
        topk_knob_range(knob, range);
        append(text, "    knob %s (%s, %s, default %lld): %s\n", knob->name, types[knob->type], range,
               (long long)knob->default_value, knob->meaning);
    }
}

/* What is explained. */
struct subject {
    const topk_context *context;
    struct plan plan;
    struct room room;
    struct choice choice;
};

static void append_candidate(struct text *text, const struct subject *subject,
                             const struct candidate *candidate) {
    char why[REFUSAL_BYTES];
    const topk_plan_method row = topk_plan_row(&subject->plan, candidate, why);
    append(text, "%s %-10s ", candidate == subject->choice.chosen ? "*" : " ", row.method);
    if (row.cannot != NULL) {
        append(text, "cannot: %s\n", row.cannot);
    } else {
        append(text, "%12.1f us predicted %14zu bytes of workspace%s\n", row.predicted_us,
               row.workspace_bytes, row.within_bound ? "" : ", above the bound");
    }
    append_knobs(text, candidate->method->knobs);
}

/* What was asked for by name: forced, or without effect. */
static void append_wish(struct text *text, const struct subject *subject) {
    const struct choice *choice = &subject->choice;
    const struct method *preferred = subject->context->preferred;
    if (choice->forced != NULL) {
        append(text, "method '%s' is forced by %s\n", choice->forced->name,
               subject->plan.problem.method != NULL ? "the problem" : "TOPK_METHOD");
    } else if (preferred != NULL) {
        char why[REFUSAL_BYTES] = "another backend has it";
        for (size_t i = 0; i < choice->count; i++) {
            if (choice->candidates[i].method == preferred) {
                topk_refusal_text(&subject->plan, &choice->candidates[i], why);
            }
        }
        append(text, "method '%s', which TOPK_METHOD names, steps aside: %s\n", preferred->name, why);
    }
}

topk_status topk_explain(const topk_context *context, topk_operation operation, const topk_problem *problem,
                         char *text, size_t text_bytes, size_t *needed) {
    KEEP_ERRNO;
    struct subject subject;
    subject.context = context;
    subject.room.used = 0;
    struct text out = {text, text_bytes, 0};
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    if (text == NULL && text_bytes > 0) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "text is NULL");
    }
    topk_status status = topk_plan_make(operation, problem, &subject.plan);
    if (status != TOPK_OK ||
        (status = topk_choose(context, &subject.plan, &subject.room, &subject.choice)) != TOPK_OK) {
        return status;
    }
    append(&out, "backend %s, features %s, %d thread%s\n", context->backend->name, context->features,
           context->threads, context->threads == 1 ? "" : "s");
    for (size_t i = 0; i < subject.choice.count; i++) {
        append_candidate(&out, &subject, &subject.choice.candidates[i]);
    }
    append_wish(&out, &subject);
    if (needed != NULL) {
        *needed = out.length + 1;
    }
    return TOPK_OK;
}
