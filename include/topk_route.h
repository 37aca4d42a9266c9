/* SPDX-License-Identifier: Apache-2.0
 *
 * Routing of tokens to experts, as mixtures of experts do it: the k best experts of each token, and their
 * weights.
 *
 * A topk_routing says how experts are chosen and weighed. The problem beside it says how logits lie, and that
 * is all that it has to say: from TOPK_PROBLEM_INIT on, set
 *
 *   type         of the logits: a floating-point type
 *   rows         how many tokens there are
 *   length_max   how many experts there are, 0 to 1024: a row has a logit for each
 *   k_max        how many experts each token gets, 0 to 32
 *
 * and, where the default does not fit, row_stride, nan, index_type, index_base, and what topk_advanced.h
 * explains. All else stays as it is. */
#ifndef TOPK_ROUTE_H
#define TOPK_ROUTE_H

#include "topk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What experts are chosen by. CONTRACT.md, 11.2, gives the sigmoid step by step: its bits are the same
 * everywhere. */
typedef enum topk_score { TOPK_SCORE_LOGIT = 0, TOPK_SCORE_SIGMOID = 1 } topk_score;

/* What a chosen expert is weighed by: exp(logit) or sigmoid(logit), divided by the sum of that over the
 * chosen. */
typedef enum topk_weighing { TOPK_WEIGH_SOFTMAX = 0, TOPK_WEIGH_SIGMOID = 1 } topk_weighing;

/* How experts are chosen and weighed. Start from TOPK_ROUTING_INIT. */
typedef struct topk_routing {
    size_t size; /* sizeof(topk_routing) */
    topk_score score;
    topk_weighing weighing;
    const float *bias;   /* NULL, or a number for each expert: added to its score, for choosing alone */
    int64_t groups;      /* 0: none. Else the number of groups of neighbouring experts, all of one size: a
                            divisor of length_max. Only experts of the best groups can be chosen */
    int64_t groups_kept; /* the number of those best groups, 1 to groups; 0 without groups */
    float factor;        /* that weights are multiplied by; finite */
} topk_routing;

#define TOPK_ROUTING_INIT                                                                                    \
    { sizeof(topk_routing), TOPK_SCORE_LOGIT, TOPK_WEIGH_SOFTMAX, NULL, 0, 0, 1.0f }

/* Chooses experts for tokens: of each row of logits the k_max with the greatest scores, best first, equal
 * ones by lowest index. A score is a logit, or its sigmoid, plus the expert's bias. If there are groups, the
 * experts of a row are in its groups_kept best groups: by the sum of their two best scores, equal ones
 * by lowest index.
 *
 * logits    laid out as topk_input.values
 * indices   rows x k_max integers of problem->index_type, or NULL: the expert's position plus index_base
 * weights   rows x k_max float32 numbers, or NULL: in float32, CONTRACT.md, 11.5
 *
 * A row of fewer than k_max experts, or whose groups have fewer, ends in padding: index -1, weight 0.
 *
 * In a plan of TOPK_OPERATION_ROUTE the logits are input->values, the routing is input->routing, and the
 * other arrays of the input are NULL.
 *
 * Statuses as topk_select(). They are OUT_OF_RANGE for more experts, a larger k_max, groups that do not
 * divide the experts, or a factor that is not finite; UNSUPPORTED for integers, other shapes, directions and
 * ranks. */
TOPK_API topk_status topk_route(topk_context *context, const topk_problem *problem,
                                const topk_routing *routing, const void *logits, void *indices,
                                float *weights, void *workspace, size_t workspace_bytes, topk_stream stream);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_ROUTE_H */
