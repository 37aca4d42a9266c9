/* SPDX-License-Identifier: Apache-2.0 */
#include "choose.h"

#include <stdio.h>
#include <string.h>

#include "status.h"

const struct method *topk_find_method(const struct backend *backend, const char *name) {
    for (size_t i = 0; i < backend->method_count; i++) {
        if (strcmp(backend->methods[i]->name, name) == 0) {
            return backend->methods[i];
        }
    }
    return NULL;
}

void *topk_room_take(struct room *room, size_t bytes) {
    void *taken = room->bytes + room->used;
    room->used += (bytes + 15) & ~(size_t)15;
    if (room->used > ROOM_BYTES) {
        __builtin_trap(); /* of this library's own making, whatever the problem */
    }
    return taken;
}

void topk_decide(const topk_context *context, const struct plan *plan, const struct method *method,
                 struct room *room, struct decision *decision) {
    *decision = (struct decision){.cannot = NULL};
    method->plan(context, plan, room, decision);
}

/* Whether the method has to be asked at all. */
static enum refusal refusal_of(const struct plan *plan, const struct method *method) {
    if (!(method->operations & OPERATION_BIT(plan->operation))) {
        return REFUSAL_OPERATION;
    }
    if (plan->approximate && !method->approximates) {
        return REFUSAL_APPROXIMATION;
    }
    if (plan->tuning.count > 0) {
        const struct misfit misfit = topk_tuning_misfit(&plan->tuning, method->knobs);
        if (misfit.setting != NULL) {
            return misfit.knob == NULL ? REFUSAL_KNOB : REFUSAL_RANGE;
        }
    }
    return REFUSAL_NONE;
}

static enum refusal refusal_of_decision(const struct plan *plan, const struct decision *decision) {
    const size_t limit = plan->problem.workspace_limit;
    return decision->cannot != NULL                          ? REFUSAL_PROBLEM
           : decision->workspace_bytes == SIZE_MAX           ? REFUSAL_ADDRESS_SPACE
           : limit != 0 && decision->workspace_bytes > limit ? REFUSAL_LIMIT
                                                             : REFUSAL_NONE;
}

void topk_refusal_text(const struct plan *plan, const struct candidate *candidate, char text[REFUSAL_BYTES]) {
    const struct method *method = candidate->method;
    const struct misfit misfit = topk_tuning_misfit(&plan->tuning, method->knobs);
    char range[RANGE_BYTES];
    switch (candidate->refusal) {
    case REFUSAL_NONE:
        text[0] = '\0';
        break;
    case REFUSAL_OPERATION:
        (void)snprintf(text, REFUSAL_BYTES, "does not do %s", topk_operations[plan->operation].name);
        break;
    case REFUSAL_APPROXIMATION:
        (void)snprintf(text, REFUSAL_BYTES, "approximation: only rtopk takes max_iterations and epsilon");
        break;
    case REFUSAL_KNOB:
        (void)snprintf(text, REFUSAL_BYTES, "has no knob '%.*s'", (int)misfit.setting->name_length,
                       misfit.setting->name);
        break;
    case REFUSAL_RANGE:
        topk_knob_range(misfit.knob, range);
        (void)snprintf(text, REFUSAL_BYTES, "takes %s %s, not %lld", misfit.knob->name, range,
                       (long long)misfit.setting->value);
        break;
    case REFUSAL_PROBLEM:
        (void)snprintf(text, REFUSAL_BYTES, "%s", candidate->decision.cannot);
        break;
    case REFUSAL_ADDRESS_SPACE:
        (void)snprintf(text, REFUSAL_BYTES, "its workspace exceeds the address space");
        break;
    case REFUSAL_LIMIT:
        (void)snprintf(text, REFUSAL_BYTES, "needs %zu bytes of workspace, workspace_limit is %zu",
                       candidate->decision.workspace_bytes, plan->problem.workspace_limit);
        break;
    }
}

static bool better(const struct candidate *a, const struct candidate *b) {
    if (!a->within_bound && !b->within_bound) {
        return a->decision.workspace_bytes < b->decision.workspace_bytes;
    }
    return a->within_bound != b->within_bound ? a->within_bound : a->decision.cost_us < b->decision.cost_us;
}

/* Of the methods that can serve; of the forced one alone, if there is one. */
static const struct candidate *cheapest(const struct choice *choice) {
    const struct candidate *chosen = NULL;
    for (size_t i = 0; i < choice->count; i++) {
        const struct candidate *candidate = &choice->candidates[i];
        const bool eligible = candidate->refusal == REFUSAL_NONE &&
                              (choice->forced == NULL || choice->forced == candidate->method);
        if (eligible && (chosen == NULL || better(candidate, chosen))) {
            chosen = candidate;
        }
    }
    return chosen;
}

/* Whether a row of the table is chosen before a method of this cost, whatever workspace that takes. */
static bool has_cheaper(const struct choice *choice, double cost_us) {
    for (size_t i = 0; i < choice->count; i++) {
        const struct candidate *candidate = &choice->candidates[i];
        if (candidate->refusal == REFUSAL_NONE && candidate->within_bound &&
            candidate->decision.cost_us <= cost_us) {
            return true;
        }
    }
    return false;
}

/* Adds the method's row. What is decided stays in the room only if the method may be chosen; else the row is
 * left out, unless it says why the method cannot serve, or the whole table is asked for. */
static void consider(const topk_context *context, const struct plan *plan, const struct method *method,
                     bool whole, struct room *room, struct choice *choice) {
    const bool is_named = method == choice->forced || method == context->preferred;
    const size_t used = room->used;
    struct candidate *candidate = &choice->candidates[choice->count];
    *candidate = (struct candidate){.method = method, .refusal = refusal_of(plan, method)};
    if (candidate->refusal == REFUSAL_NONE) {
        topk_decide(context, plan, method, room, &candidate->decision);
        candidate->refusal = refusal_of_decision(plan, &candidate->decision);
        candidate->within_bound = candidate->decision.workspace_bytes <= plan_workspace_bound(plan);
        const bool is_beaten = !is_named && has_cheaper(choice, candidate->decision.cost_us);
        if (candidate->refusal != REFUSAL_NONE || is_beaten) {
            candidate->decision.own = NULL;
            room->used = used;
        }
        if (!whole && candidate->refusal != REFUSAL_PROBLEM && is_beaten) {
            return;
        }
    }
    choice->count++;
}

topk_status topk_choose(const topk_context *context, const struct plan *plan, bool whole, struct room *room,
                        struct choice *choice) {
    const struct backend *backend = context->backend;
    choice->count = 0;
    choice->forced = NULL;
    if (plan->problem.method != NULL) {
        choice->forced = topk_find_method(backend, plan->problem.method);
        if (choice->forced == NULL) {
            return topk_fail(TOPK_ERROR_UNKNOWN_METHOD, "the %s backend has no method '%.64s'", backend->name,
                             plan->problem.method);
        }
    }
    const struct method *const alone = whole ? NULL : choice->forced;
    for (size_t i = 0; i < backend->method_count; i++) {
        const struct method *method = backend->methods[i];
        if (alone == NULL || alone == method) {
            consider(context, plan, method, whole, room, choice);
        }
    }
    for (size_t i = 0; i < choice->count && plan->problem.method == NULL; i++) {
        const struct candidate *candidate = &choice->candidates[i];
        if (candidate->method == context->preferred && candidate->refusal == REFUSAL_NONE) {
            choice->forced = candidate->method;
        }
    }
    choice->chosen = cheapest(choice);
    return TOPK_OK;
}

/* The candidate whose refusal says most: the forced one; else the least demanding of those with the most
 * specific refusal. */
static const struct candidate *most_telling(const struct choice *choice) {
    const struct candidate *telling = &choice->candidates[0];
    for (size_t i = 0; i < choice->count; i++) {
        const struct candidate *candidate = &choice->candidates[i];
        if (candidate->method == choice->forced) {
            return candidate;
        }
        telling = candidate->refusal >= telling->refusal ? candidate : telling;
    }
    return telling;
}

topk_status topk_refuse(const topk_context *context, const struct choice *choice, const struct plan *plan) {
    const struct candidate *candidate = most_telling(choice);
    char text[REFUSAL_BYTES];
    topk_refusal_text(plan, candidate, text);
    if (choice->forced != NULL) {
        return topk_fail(TOPK_ERROR_METHOD_CANNOT, "method '%s' cannot serve this problem: %s",
                         candidate->method->name, text);
    }
    if (candidate->refusal == REFUSAL_OPERATION) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "the %s backend has no method that does %s",
                         context->backend->name, topk_operations[plan->operation].name);
    }
    return topk_fail(TOPK_ERROR_METHOD_CANNOT, "no method can serve this %s; '%s': %s",
                     topk_operations[plan->operation].name, candidate->method->name, text);
}

/* Asking all methods takes longer than launching a kernel, and small calls come again and again. So a thread
 * keeps the methods that it chose last; on the same problem the one that was chosen is asked alone. Eight are
 * enough for a call, the calls inside it, and a few others by turns. */
struct memory {
    uint64_t context; /* its number, which no other context of the process has; 0: nothing */
    topk_operation operation;
    topk_problem problem; /* as in the plan, without text */
    const struct method *method;
};
enum { MEMORIES = 8 };
static _Thread_local struct memory memories[MEMORIES];
static _Thread_local unsigned next_memory;

/* Whether the problem says all that the choice depends on. */
static bool is_memorable(const topk_context *context, const struct plan *plan) {
    return context->number != 0 && plan->problem.method == NULL && plan->problem.tuning == NULL &&
           plan->surplus == 0;
}

static const struct method *recall(const topk_context *context, const struct plan *plan) {
    for (size_t i = 0; i < MEMORIES; i++) {
        const struct memory *memory = &memories[i];
        if (memory->context == context->number && memory->operation == plan->operation &&
            memcmp(&memory->problem, &plan->problem, sizeof plan->problem) == 0) {
            return memory->method;
        }
    }
    return NULL;
}

static void remember(const topk_context *context, const struct plan *plan, const struct method *method) {
    struct memory *memory = &memories[next_memory++ % MEMORIES];
    memory->context = context->number;
    memory->operation = plan->operation;
    memcpy(&memory->problem, &plan->problem, sizeof plan->problem); /* with the bytes between its fields */
    memory->method = method;
}

topk_status topk_choose_one(const topk_context *context, const struct plan *plan, struct room *room,
                            struct candidate *chosen) {
    struct choice choice;
    const struct method *method = is_memorable(context, plan) ? recall(context, plan) : NULL;
    if (method != NULL) {
        chosen->method = method;
        chosen->refusal = REFUSAL_NONE;
        topk_decide(context, plan, method, room, &chosen->decision);
        chosen->within_bound = chosen->decision.workspace_bytes <= plan_workspace_bound(plan);
        return TOPK_OK;
    }
    const topk_status status = topk_choose(context, plan, false, room, &choice);
    if (status != TOPK_OK) {
        return status;
    }
    if (choice.chosen == NULL) {
        return topk_refuse(context, &choice, plan);
    }
    *chosen = *choice.chosen;
    if (is_memorable(context, plan)) {
        remember(context, plan, chosen->method);
    }
    return TOPK_OK;
}

topk_status topk_prepare(const topk_context *context, topk_operation operation, const topk_problem *problem,
                         struct plan *plan, struct room *room, struct candidate *chosen) {
    *chosen = (struct candidate){0};
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    const topk_status status = topk_plan_make(operation, problem, plan);
    return status != TOPK_OK ? status : topk_choose_one(context, plan, room, chosen);
}
