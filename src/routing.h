/* SPDX-License-Identifier: Apache-2.0
 * What topk_route() adds to a problem. */
#ifndef TOPK_SRC_ROUTING_H
#define TOPK_SRC_ROUTING_H

#include "scores.h"
#include "topk.h"

enum { ROUTE_EXPERTS_MAX = 1024, ROUTE_K_MAX = 32 };

/* Whether a problem that is valid otherwise is one of routing (CONTRACT.md, 11). */
topk_status topk_check_route(const topk_problem *problem);

/* Validates the caller's routing for a problem and copies it. */
topk_status topk_check_routing(const topk_problem *problem, const topk_routing *caller,
                               topk_routing *routing);

/* Of a floating-point type with at most 32 bits; for f64 it says nothing. */
struct logit_format topk_logit_format(topk_type type);

/* The key of scores that are NaN. */
static inline uint32_t route_nan_key(topk_nan nan) {
    return nan == TOPK_NAN_AS_LARGEST ? UINT32_MAX : SCORE_KEY_LEAST;
}

#endif
