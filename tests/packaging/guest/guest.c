/* SPDX-License-Identifier: Apache-2.0
 * A program of a project that adds libtopk: compiled as the project says, with its asserts. Experts that
 * libtopk chooses are the same whatever floating-point options the project has. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>

#include "topk_route.h"
#include <topk_simple.h>

#if __STDC_VERSION__ != 201710L || !defined __CHAR_UNSIGNED__ || defined __OPTIMIZE__
#error "the project's own settings have changed"
#endif

enum { TOKENS = 2000, EXPERTS = 64, CHOSEN = 8 };

/* What a build without such options chooses. */
static const uint64_t chosen_hash = 0xf1927ea75bec172fu;

static uint64_t hash_of(const int64_t *numbers, int count) {
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (int i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)numbers[i]) * 0x100000001b3u;
    }
    return hash;
}

/* Logits of few digits have equal sigmoids where each operation is rounded as it stands, and others
 * elsewhere. */
static int chooses_the_same_experts(topk_simple *topk) {
    static float logits[TOKENS * EXPERTS];
    static int64_t experts[TOKENS * CHOSEN];
    float bias[EXPERTS];
    uint64_t state = 1;
    for (int i = 0; i < TOKENS * EXPERTS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        logits[i] = (float)((int)(state >> 48) - 32768) / 3000.0f;
    }
    for (int i = 0; i < EXPERTS; i++) {
        bias[i] = (float)i / 1e7f;
    }
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    problem.rows = TOKENS;
    problem.length_max = EXPERTS;
    problem.k_max = CHOSEN;
    topk_routing routing = TOPK_ROUTING_INIT;
    routing.score = TOPK_SCORE_SIGMOID;
    routing.weighing = TOPK_WEIGH_SIGMOID;
    routing.bias = bias;
    if (topk_simple_run_route(topk, &problem, &routing, logits, experts, NULL, NULL) != TOPK_OK) {
        return 0;
    }
    const uint64_t hash = hash_of(experts, TOKENS * CHOSEN);
    if (hash != chosen_hash) {
        (void)fprintf(stderr, "other experts: 0x%llx\n", (unsigned long long)hash);
    }
    return hash == chosen_hash;
}

int main(void) {
    topk_simple *topk;
    int asserted = 0;
    assert(++asserted);
    if (asserted != 1 || topk_simple_create(NULL, &topk) != TOPK_OK) {
        return 1;
    }
    const int same = chooses_the_same_experts(topk);
    topk_simple_destroy(topk);
    return same ? 0 : 1;
}
