/* SPDX-License-Identifier: Apache-2.0
 * Plans that a caller holds: a problem that is decided, with texts of its own. */
#include <stdlib.h>
#include <string.h>

#include "operations.h"
#include "run.h"
#include "status.h"
#include "structs.h"

/* Immutable, so that threads can share it. One allocation: the texts lie behind it. */
struct topk_plan {
    struct decided decided;
    int methods;
    topk_plan_method rows[METHODS_MAX];
    char texts[]; /* method and tuning of the problem, and why methods cannot serve */
};

topk_plan_method topk_plan_row(const struct plan *plan, const struct candidate *candidate,
                               char text[REFUSAL_BYTES]) {
    const struct decision *decision = &candidate->decision;
    topk_plan_method row = TOPK_PLAN_METHOD_INIT;
    row.method = candidate->method->name;
    if (candidate->refusal != REFUSAL_NONE) {
        topk_refusal_text(plan, candidate, text);
        row.cannot = text;
        return row;
    }
    row.variant = decision->variant;
    row.predicted_us = decision->cost_us;
    row.workspace_bytes = decision->workspace_bytes;
    row.launches = decision->launches;
    row.within_bound = candidate->within_bound;
    return row;
}

static topk_status check_what(topk_operation operation, const topk_plan_what *what) {
    const struct operation *row = &topk_operations[operation];
    const uint32_t all = 2 * TOPK_OUTPUT_PAYLOAD - 1;
    if ((unsigned)what->predicate > TOPK_AT_LEAST) {
        return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "what->predicate is %d, must be %d to %d",
                         (int)what->predicate, TOPK_PREDICATE_UNDEFINED, TOPK_AT_LEAST);
    }
    if (what->outputs & ~all) {
        return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "what->outputs is %#x, it has bits of %#x alone",
                         (unsigned)what->outputs, (unsigned)all);
    }
    if (what->predicate != TOPK_PREDICATE_UNDEFINED && !row->has_predicate) {
        return topk_fail(TOPK_ERROR_CONTRADICTION, "what->predicate is %d, but %s takes no predicate",
                         (int)what->predicate, row->name);
    }
    return (what->outputs & ~row->outputs) == 0
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_CONTRADICTION, "what->outputs is %#x, %s has %#x alone",
                           (unsigned)what->outputs, row->name, row->outputs);
}

/* Copies a text to the end of a plan's; NULL stays NULL. */
static const char *keep(const char *text, char **end) {
    const size_t bytes = text == NULL ? 0 : strlen(text) + 1;
    char *const kept = *end;
    *end += bytes;
    return bytes == 0 ? NULL : memcpy(kept, text, bytes);
}

static size_t kept_bytes(const char *text) {
    return text == NULL ? 0 : strlen(text) + 1;
}

/* What a plan is made from: the whole table of the choice, as explanations have it. */
struct draft {
    const topk_context *context;
    struct plan plan;
    struct room room;
    struct choice choice;
    topk_plan_what what;
    topk_plan_method rows[METHODS_MAX];
    char refusals[METHODS_MAX][REFUSAL_BYTES];
};

static topk_status fill_draft(const topk_context *context, topk_operation operation,
                              const topk_problem *problem, const topk_plan_what *what, struct draft *draft) {
    topk_status status;
    draft->context = context;
    draft->room.used = 0;
    draft->what = (topk_plan_what)TOPK_PLAN_WHAT_INIT;
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    if ((status = topk_plan_make(operation, problem, &draft->plan)) != TOPK_OK ||
        (what != NULL && (status = topk_read_struct(STRUCT_PLAN_WHAT, what, &draft->what)) != TOPK_OK) ||
        (status = check_what(operation, &draft->what)) != TOPK_OK ||
        (status = topk_choose(context, &draft->plan, &draft->room, &draft->choice)) != TOPK_OK) {
        return status;
    }
    for (size_t i = 0; i < draft->choice.count; i++) {
        draft->rows[i] = topk_plan_row(&draft->plan, &draft->choice.candidates[i], draft->refusals[i]);
    }
    return draft->choice.chosen != NULL ? TOPK_OK : topk_refuse(context, &draft->choice, &draft->plan);
}

/* The method decides once more, in the room of the plan, and about its texts. */
static void decide(const struct draft *draft, struct decided *decided, char **texts) {
    struct plan *plan = &decided->plan;
    *plan = draft->plan;
    plan->problem.method = keep(plan->problem.method, texts);
    plan->problem.tuning = keep(plan->problem.tuning, texts);
    decided->context = draft->context;
    decided->predicate = draft->what.predicate;
    decided->outputs =
        draft->what.outputs != 0 ? draft->what.outputs : topk_operations[plan->operation].outputs;
    decided->chosen = *draft->choice.chosen;
    decided->room.used = 0;
    topk_decide(draft->context, plan, decided->chosen.method, &decided->room, &decided->chosen.decision);
}

topk_status topk_plan_create(const topk_context *context, topk_operation operation,
                             const topk_problem *problem, const topk_plan_what *what, topk_plan **plan) {
    KEEP_ERRNO;
    struct draft draft;
    if (plan == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "plan is NULL");
    }
    *plan = NULL;
    const topk_status status = fill_draft(context, operation, problem, what, &draft);
    if (status != TOPK_OK) {
        return status;
    }
    size_t bytes =
        sizeof **plan + kept_bytes(draft.plan.problem.method) + kept_bytes(draft.plan.problem.tuning);
    for (size_t i = 0; i < draft.choice.count; i++) {
        bytes += kept_bytes(draft.rows[i].cannot);
    }
    topk_plan *const created = malloc(bytes);
    if (created == NULL) {
        return topk_fail(TOPK_ERROR_OUT_OF_MEMORY, "cannot allocate a plan of %zu bytes", bytes);
    }
    char *texts = created->texts;
    decide(&draft, &created->decided, &texts);
    created->methods = (int)draft.choice.count;
    for (int i = 0; i < created->methods; i++) {
        created->rows[i] = draft.rows[i];
        created->rows[i].cannot = keep(draft.rows[i].cannot, &texts);
    }
    *plan = created;
    return TOPK_OK;
}

void topk_plan_destroy(topk_plan *plan) {
    KEEP_ERRNO;
    free(plan);
}

topk_status topk_plan_run(const topk_plan *plan, const topk_input *input, const topk_output *output,
                          void *workspace, size_t workspace_bytes, topk_stream stream) {
    KEEP_ERRNO;
    if (plan == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "plan is NULL");
    }
    return topk_run_decided(&plan->decided, input, output, workspace, workspace_bytes, stream);
}

topk_status topk_plan_query(const topk_plan *plan, topk_plan_properties *properties) {
    KEEP_ERRNO;
    topk_plan_properties known;
    if (plan == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "plan is NULL");
    }
    const topk_status status = topk_read_struct(STRUCT_PLAN_PROPERTIES, properties, &known);
    if (status == TOPK_OK) {
        const struct candidate *chosen = &plan->decided.chosen;
        known.method = chosen->method->name;
        known.variant = chosen->decision.variant;
        known.predicted_us = chosen->decision.cost_us;
        known.workspace_bytes = chosen->decision.workspace_bytes;
        known.launches = chosen->decision.launches;
        known.methods = plan->methods;
        topk_write_struct(STRUCT_PLAN_PROPERTIES, &known, properties);
    }
    return status;
}

topk_status topk_plan_query_method(const topk_plan *plan, int index, topk_plan_method *row) {
    KEEP_ERRNO;
    topk_plan_method known;
    if (plan == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "plan is NULL");
    }
    const topk_status status = topk_read_struct(STRUCT_PLAN_METHOD, row, &known);
    if (status != TOPK_OK) {
        return status;
    }
    if (index < 0 || index >= plan->methods) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "index is %d, must be 0 to %d", index, plan->methods - 1);
    }
    topk_write_struct(STRUCT_PLAN_METHOD, &plan->rows[index], row);
    return TOPK_OK;
}
