/* SPDX-License-Identifier: Apache-2.0 */
#include "choose.h"

#include <math.h>
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

/* Whether methods are asked about another plan than this one, which has ranks. */
static bool decides_ranks(const topk_context *context, const struct plan *plan) {
    return plan->problem.ranks != 0 && context->backend->decide_ranks != NULL;
}

void topk_decide(const topk_context *context, const struct plan *plan, const struct method *method,
                 struct room *room, struct decision *decision) {
    if (decides_ranks(context, plan)) {
        context->backend->decide_ranks(context, plan, method, room, decision);
        return;
    }
    *decision = (struct decision){.run = method->run};
    method->plan(context, plan, room, decision);
}

/* Apart, so that calls without tuning keep their registers. */
static enum refusal __attribute__((noinline))
refusal_of_tuning(const struct plan *plan, const struct method *method) {
    const struct misfit misfit = topk_tuning_misfit(plan->problem.tuning, method->knobs);
    return misfit.setting.name == NULL ? REFUSAL_NONE : misfit.knob == NULL ? REFUSAL_KNOB : REFUSAL_RANGE;
}

/* Whether the method has to be asked at all. */
static enum refusal refusal_of(const struct plan *plan, const struct method *method) {
    if (!(method->operations & OPERATION_BIT(plan->operation))) {
        return REFUSAL_OPERATION;
    }
    if (plan->approximate && !method->approximates) {
        return REFUSAL_APPROXIMATION;
    }
    return plan->problem.tuning == NULL ? REFUSAL_NONE : refusal_of_tuning(plan, method);
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
    const struct misfit misfit = topk_tuning_misfit(plan->problem.tuning, method->knobs);
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
        (void)snprintf(text, REFUSAL_BYTES, "has no knob '%.*s'", (int)misfit.setting.name_length,
                       misfit.setting.name);
        break;
    case REFUSAL_RANGE:
        topk_knob_range(misfit.knob, range);
        (void)snprintf(text, REFUSAL_BYTES, "takes %s %s, not %lld", misfit.knob->name, range,
                       (long long)misfit.setting.value);
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

/* Fills the row of a method that has to be asked. Returns whether it can serve; else the room is as before.
 */
static bool ask(const topk_context *context, const struct plan *plan, const struct method *method,
                struct room *room, struct candidate *candidate) {
    const size_t used = room->used;
    candidate->method = method;
    topk_decide(context, plan, method, room, &candidate->decision);
    candidate->refusal = refusal_of_decision(plan, &candidate->decision);
    candidate->within_bound = candidate->decision.workspace_bytes <= plan_workspace_bound(plan);
    if (candidate->refusal != REFUSAL_NONE) {
        room->used = used;
    }
    return candidate->refusal == REFUSAL_NONE;
}

/* The same for any method. */
static bool ask_any(const topk_context *context, const struct plan *plan, const struct method *method,
                    struct room *room, struct candidate *candidate) {
    candidate->method = method;
    candidate->refusal = refusal_of(plan, method);
    return candidate->refusal == REFUSAL_NONE && ask(context, plan, method, room, candidate);
}

/* The method that the problem names, or that TOPK_METHOD does; NULL: none, or another backend has it. */
static const struct method *named_method(const topk_context *context, const struct plan *plan) {
    const struct backend *backend = context->backend;
    const char *name = plan->problem.method;
    name = name == NULL && context->preferred != NULL ? context->preferred->name : name;
    return name == NULL ? NULL : topk_find_method(backend, name);
}

topk_status topk_choose(const topk_context *context, const struct plan *plan, struct room *room,
                        struct choice *choice) {
    const struct backend *backend = context->backend;
    const struct method *const named = named_method(context, plan);
    const bool is_forced = plan->problem.method != NULL;
    if (is_forced && named == NULL) {
        return topk_fail(TOPK_ERROR_UNKNOWN_METHOD, "the %s backend has no method '%.64s'", backend->name,
                         plan->problem.method);
    }
    const size_t used = room->used;
    choice->count = backend->method_count;
    choice->forced = is_forced ? named : NULL;
    for (size_t i = 0; i < choice->count; i++) {
        struct candidate *candidate = &choice->candidates[i];
        const bool can = ask_any(context, plan, backend->methods[i], room, candidate);
        candidate->decision.own = NULL;
        room->used = used;
        if (can && candidate->method == named) {
            choice->forced = named;
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

/* A method that may serve, and what it costs at least. */
struct bid {
    size_t row; /* of the table */
    double least_us;
};

static bool comes_before(const struct bid *a, const struct bid *b) {
    return a->least_us < b->least_us || (a->least_us == b->least_us && a->row < b->row);
}

static size_t collect_bids(const topk_context *context, const struct plan *plan,
                           struct bid bids[METHODS_MAX]) {
    const struct backend *backend = context->backend;
    const bool bids_nothing = plan->problem.tuning != NULL || decides_ranks(context, plan);
    size_t count = 0;
    for (size_t i = 0; i < backend->method_count; i++) {
        const struct method *method = backend->methods[i];
        if (refusal_of(plan, method) == REFUSAL_NONE) {
            bids[count].row = i;
            bids[count++].least_us =
                bids_nothing || method->least_us == NULL ? 0 : method->least_us(context, plan);
        }
    }
    return count;
}

/* Takes the first bid from the list. */
static struct bid take_bid(struct bid *bids, size_t *count) {
    struct bid *first = bids, *const last = bids + --*count;
    for (struct bid *bid = bids + 1; bid <= last; bid++) {
        first = comes_before(bid, first) ? bid : first;
    }
    const struct bid taken = *first;
    *first = *last;
    return taken;
}

/* Asks one method after the other, by their bids, until none is left that may be chosen before the best so
 * far. Returns false if no method can serve. */
static bool choose_cheapest(const topk_context *context, const struct plan *plan, struct room *room,
                            struct candidate *chosen) {
    struct bid bids[METHODS_MAX];
    size_t count = collect_bids(context, plan, bids);
    struct bid best = {.row = METHODS_MAX,
                       .least_us = INFINITY}; /* what the chosen method costs, if it is within its bound */
    bool found = false;
    while (count > 0) {
        const struct bid bid = take_bid(bids, &count);
        const size_t used = room->used;
        struct candidate candidate;
        if (!comes_before(&bid, &best)) {
            break;
        }
        if (!ask(context, plan, context->backend->methods[bid.row], room, &candidate)) {
            continue;
        }
        if (!found || better(&candidate, chosen) || (!better(chosen, &candidate) && bid.row < best.row)) {
            *chosen = candidate;
            best.row = bid.row;
            best.least_us = candidate.within_bound ? candidate.decision.cost_us : INFINITY;
            found = true;
        } else {
            room->used = used;
        }
    }
    return found;
}

/* Asks all methods why they cannot serve, or none but the one that the problem names. */
static topk_status fail_choice(const topk_context *context, const struct plan *plan, struct room *room,
                               const struct candidate *named) {
    struct choice choice = {.candidates[0] = *named, .count = 1, .forced = named->method};
    const topk_status status = named->method != NULL ? TOPK_OK : topk_choose(context, plan, room, &choice);
    return status != TOPK_OK ? status : topk_refuse(context, &choice, plan);
}

topk_status topk_choose_one(const topk_context *context, const struct plan *plan, struct room *room,
                            struct candidate *chosen) {
    const struct method *named = named_method(context, plan);
    const bool is_forced = plan->problem.method != NULL;
    const bool found = (named != NULL && ask_any(context, plan, named, room, chosen)) ||
                       (!is_forced && choose_cheapest(context, plan, room, chosen));
    if (!found) {
        static const struct candidate none = {.method = NULL};
        return fail_choice(context, plan, room, is_forced && named != NULL ? chosen : &none);
    }
    return TOPK_OK;
}
