/* SPDX-License-Identifier: Apache-2.0
 *
 * What topk_route() gives for one row (CONTRACT.md, 11), step by step in the compiler's own float. For the
 * default floating-point mode. */
#ifndef TESTS_ORACLE_ROUTE_H
#define TESTS_ORACLE_ROUTE_H

#include "oracle.h"
#include "topk_route.h"

enum { ORACLE_EXPERTS_MAX = 1024, ORACLE_CHOSEN_MAX = 32 };

typedef struct oracle_expert {
    int64_t position; /* -1: no expert */
    float logit;
    float weight;
} oracle_expert;

/* Writes problem->k_max entries, best first; returns how many are experts. `bias` is what routing->bias
 * points to, for the host; or NULL. */
int64_t oracle_route(const topk_problem *problem, const topk_routing *routing, const void *logits,
                     const float *bias, oracle_expert *chosen);

/* The e of CONTRACT.md, 11.2, for a >= 0; and the sigmoid. */
float oracle_exp(float a);
float oracle_sigmoid(float x);

#endif
