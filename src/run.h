/* SPDX-License-Identifier: Apache-2.0
 * A problem that is decided, and the one way in which it runs: of a call, which decides in its own frame, and
 * of a plan that the caller holds. */
#ifndef TOPK_SRC_RUN_H
#define TOPK_SRC_RUN_H

#include "choose.h"
#include "topk_advanced.h"

/* Does not move once it is made, for decisions point into it; and is the same for all runs, which may go on
 * side by side. */
struct decided {
    const topk_context *context;
    struct plan plan;
    struct candidate chosen;       /* its decision is in the room */
    topk_predicate_kind predicate; /* that runs may have; UNDEFINED: any that the operation takes */
    unsigned outputs;              /* set of TOPK_OUTPUT_*: what runs may be given */
    struct room room;
};

/* Validates a problem and decides, for any predicate and all outputs. */
topk_status topk_decided_make(const topk_context *context, topk_operation operation,
                              const topk_problem *problem, struct decided *decided);

/* Validates all that a run is given, perhaps in structs of an earlier release, and runs. */
topk_status topk_run_decided(const struct decided *decided, const topk_input *input,
                             const topk_output *output, void *workspace, size_t workspace_bytes,
                             topk_stream stream);

/* What a function of one operation is given beside the problem. */
struct given {
    const topk_input *input; /* perhaps of an earlier release */
    const topk_predicate *predicate;
    const topk_routing *routing;
    const struct topk_lists *lists;
    const struct peer_lists *exchange; /* peer.h: also done where nothing is merged; or NULL */
    topk_output output;
};

topk_status topk_run_given(const struct decided *decided, const struct given *given, void *workspace,
                           size_t workspace_bytes, topk_stream stream);

/* What a choice knows of a method, for queries and explanations. The text comes from `cannot`. */
topk_plan_method topk_plan_row(const struct plan *plan, const struct candidate *candidate,
                               char text[REFUSAL_BYTES]);

#endif
