/* SPDX-License-Identifier: Apache-2.0 */
#include "choose.h"

#include <stdio.h>
#include <string.h>

#include "status.h"
#include "tuning.h"

const struct method *topk_find_method(const struct backend *backend, const char *name) {
    for (size_t i = 0; i < backend->method_count; i++) {
        if (strcmp(backend->methods[i].name, name) == 0) {
            return &backend->methods[i];
        }
    }
    return NULL;
}

static const char *const operations[] = {
    [TOPK_OPERATION_SELECT] = "select", [TOPK_OPERATION_KTH] = "kth",
    [TOPK_OPERATION_WHERE] = "where",   [TOPK_OPERATION_SELECT_WHERE] = "select_where",
    [TOPK_OPERATION_COUNT] = "count",   [TOPK_OPERATION_MASK] = "mask",
};

static void consider(const topk_context *context, const struct plan *plan, struct candidate *candidate) {
    const struct method *method = candidate->method;
    const char *const field = topk_tuning_field_beyond(&plan->tuning, method->tuning);
    const char *why;
    candidate->refusal[0] = '\0';
    if (!(method->operations & OPERATION_BIT(plan->operation))) {
        (void)snprintf(candidate->refusal, sizeof candidate->refusal, "does not do %s",
                       operations[plan->operation]);
        return;
    }
    if (field != NULL) {
        (void)snprintf(candidate->refusal, sizeof candidate->refusal, "has no tuning field %s", field);
        return;
    }
    if ((why = method->refuse(context, plan)) != NULL) {
        (void)snprintf(candidate->refusal, sizeof candidate->refusal, "%s", why);
        return;
    }
    candidate->workspace_bytes = method->workspace_bytes(context, plan);
    candidate->cost_us = method->cost_us(context, plan);
    candidate->within_bound = candidate->workspace_bytes <= plan_workspace_bound(plan);
    const size_t limit = plan->problem.workspace_limit;
    if (candidate->workspace_bytes == SIZE_MAX) {
        (void)snprintf(candidate->refusal, sizeof candidate->refusal,
                       "its workspace exceeds the address space");
    } else if (limit != 0 && candidate->workspace_bytes > limit) {
        (void)snprintf(candidate->refusal, sizeof candidate->refusal,
                       "needs %zu bytes of workspace, workspace_limit is %zu", candidate->workspace_bytes,
                       limit);
    }
}

static bool better(const struct candidate *a, const struct candidate *b) {
    if (!a->within_bound && !b->within_bound) {
        return a->workspace_bytes < b->workspace_bytes;
    }
    return a->within_bound != b->within_bound ? a->within_bound : a->cost_us < b->cost_us;
}

/* Of the methods that can serve; of the forced one alone, if there is one. */
static const struct candidate *cheapest(const struct choice *choice) {
    const struct candidate *chosen = NULL;
    for (size_t i = 0; i < choice->count; i++) {
        const struct candidate *candidate = &choice->candidates[i];
        const bool eligible =
            candidate->refusal[0] == '\0' && (choice->forced == NULL || choice->forced == candidate->method);
        if (eligible && (chosen == NULL || better(candidate, chosen))) {
            chosen = candidate;
        }
    }
    return chosen;
}

topk_status topk_choose(const topk_context *context, const struct plan *plan, struct choice *choice) {
    const struct backend *backend = context->backend;
    memset(choice, 0, sizeof *choice);
    choice->count = backend->method_count;
    if (plan->problem.method != NULL) {
        choice->forced = topk_find_method(backend, plan->problem.method);
        if (choice->forced == NULL) {
            return topk_fail(TOPK_ERROR_UNKNOWN_METHOD, "the %s backend has no method '%.64s'", backend->name,
                             plan->problem.method);
        }
    }
    for (size_t i = 0; i < choice->count; i++) {
        struct candidate *candidate = &choice->candidates[i];
        candidate->method = &backend->methods[i];
        consider(context, plan, candidate);
        if (plan->problem.method == NULL && candidate->method == context->preferred &&
            candidate->refusal[0] == '\0') {
            choice->forced = context->preferred;
        }
    }
    choice->chosen = cheapest(choice);
    return TOPK_OK;
}

topk_status topk_refuse(const topk_context *context, const struct choice *choice, const struct plan *plan) {
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->candidates[i].method == choice->forced) {
            return topk_fail(TOPK_ERROR_METHOD_CANNOT, "method '%s' cannot serve this problem: %s",
                             choice->forced->name, choice->candidates[i].refusal);
        }
    }
    const struct candidate *last = NULL; /* the least demanding method that does the operation */
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->candidates[i].method->operations & OPERATION_BIT(plan->operation)) {
            last = &choice->candidates[i];
        }
    }
    if (last == NULL) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "the %s backend has no method that does %s",
                         context->backend->name, operations[plan->operation]);
    }
    return topk_fail(TOPK_ERROR_METHOD_CANNOT, "no method can serve this %s; the last tried, '%s': %s",
                     operations[plan->operation], last->method->name, last->refusal);
}

topk_status topk_prepare(const topk_context *context, topk_operation operation, const topk_problem *problem,
                         struct plan *plan, struct candidate *chosen) {
    struct choice choice;
    *chosen = (struct candidate){0};
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    topk_status status = topk_plan_make(operation, problem, plan);
    if (status != TOPK_OK || (status = topk_choose(context, plan, &choice)) != TOPK_OK) {
        return status;
    }
    if (choice.chosen == NULL) {
        return topk_refuse(context, &choice, plan);
    }
    *chosen = *choice.chosen;
    return TOPK_OK;
}
