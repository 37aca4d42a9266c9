/* SPDX-License-Identifier: Apache-2.0
 * Which method serves a problem. Deciding is all that happens here. */
#ifndef TOPK_SRC_CHOOSE_H
#define TOPK_SRC_CHOOSE_H

#include "context.h"

/* Why a method cannot serve. The more specific, the later. */
enum refusal {
    REFUSAL_NONE,
    REFUSAL_OPERATION,
    REFUSAL_APPROXIMATION,
    REFUSAL_KNOB,          /* a setting of a knob that it lacks */
    REFUSAL_RANGE,         /* a setting outside its knob's range */
    REFUSAL_PROBLEM,       /* what its decision says */
    REFUSAL_ADDRESS_SPACE, /* of its workspace */
    REFUSAL_LIMIT,         /* likewise: workspace_limit */
};

/* A row of the cost table, filled for one problem. */
struct candidate {
    const struct method *method;
    struct decision decision;
    enum refusal refusal;
    bool within_bound; /* the bound of CONTRACT.md 7.2 */
};

struct choice {
    struct candidate candidates[METHODS_MAX];
    size_t count;
    const struct method *forced;    /* by the problem, or by TOPK_METHOD if it can serve; or NULL */
    const struct candidate *chosen; /* NULL: no method can serve */
};

/* Writes why a candidate cannot serve, as what its method does: "has no knob 'beta'". Only explanations and
 * failures need this text, so that no call has to make it. */
enum { REFUSAL_BYTES = 400 };
void topk_refusal_text(const struct plan *plan, const struct candidate *candidate, char text[REFUSAL_BYTES]);

/* What the method decides, which can serve the plan's operation and tuning. */
void topk_decide(const topk_context *context, const struct plan *plan, const struct method *method,
                 struct room *room, struct decision *decision);

/* The method of that name, or NULL. */
const struct method *topk_find_method(const struct backend *backend, const char *name);

/* Fills the whole table and chooses. None of its rows can run: what they decided is gone from the room. Fails
 * only for an unknown method name; `chosen` is NULL if no method can serve. */
topk_status topk_choose(const topk_context *context, const struct plan *plan, struct room *room,
                        struct choice *choice);

/* The failure to report for a choice without a chosen method. */
topk_status topk_refuse(const topk_context *context, const struct choice *choice, const struct plan *plan);

/* Makes the same choice, and asks no more methods than it takes: *chosen is the method's row of the table,
 * its decision in the room. */
topk_status topk_choose_one(const topk_context *context, const struct plan *plan, struct room *room,
                            struct candidate *chosen);

#endif
