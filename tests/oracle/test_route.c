/* SPDX-License-Identifier: Apache-2.0
 *
 * The model of routing against answers worked out by hand, and its functions against the exact ones. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "random.h"
#include "route.h"

enum { EXPERTS = 8 };

static topk_problem problem_of(int64_t experts, int64_t k) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    problem.length_max = experts;
    problem.k_max = k;
    return problem;
}

static const topk_routing plain = TOPK_ROUTING_INIT;

static void check_chosen(const topk_problem *problem, const topk_routing *routing, const float *logits,
                         const float *bias, const int64_t *wanted, int line) {
    oracle_expert chosen[ORACLE_CHOSEN_MAX];
    bool same = true;
    (void)oracle_route(problem, routing, logits, bias, chosen);
    for (int64_t i = 0; i < problem->k_max; i++) {
        same &= chosen[i].position == wanted[i];
    }
    check_that(same, "the experts", __FILE__, line);
}

#define CHOOSES(problem, routing, logits, bias, ...)                                                         \
    check_chosen(problem, routing, logits, bias, (const int64_t[]){__VA_ARGS__}, __LINE__)

static void check_order(void) {
    const float ties[EXPERTS] = {1, 3, 3, 0, -0.0F, 2, 3, -1};
    const float odd[EXPERTS] = {NAN, INFINITY, -INFINITY, 5, -NAN, 5, -0.0F, 0};
    const float bias[EXPERTS] = {9, 0, 0, 0, 0, 0, 0.5F, 0};
    topk_problem problem = problem_of(EXPERTS, 4), more = problem_of(3, 5);
    CHOOSES(&problem, &plain, ties, NULL, 1, 2, 6, 5);
    CHOOSES(&problem, &plain, ties, bias, 0, 6, 1, 2);
    CHOOSES(&problem, &plain, odd, NULL, 0, 4, 1, 3);
    CHOOSES(&more, &plain, ties, NULL, 1, 2, 0, -1, -1);
    problem.nan = TOPK_NAN_LAST;
    problem.k_max = EXPERTS;
    CHOOSES(&problem, &plain, odd, NULL, 1, 3, 5, 6, 7, 2, 0, 4);
}

/* Sums of two: 5, 6, 6, 1. */
static void check_groups(void) {
    const float logits[12] = {5, 0, -9, 3, 3, 2, 1, 2, 4, 0, 1, -9};
    const float bias[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0};
    topk_problem problem = problem_of(12, 4);
    topk_routing routing = TOPK_ROUTING_INIT;
    routing.groups = 4;
    routing.groups_kept = 2;
    CHOOSES(&problem, &routing, logits, NULL, 8, 3, 4, 5);
    routing.groups_kept = 1;
    CHOOSES(&problem, &routing, logits, NULL, 3, 4, 5, -1);
    CHOOSES(&problem, &routing, logits, bias, 9, 10, 11, -1);
    routing.groups = 12;
    routing.groups_kept = 3;
    CHOOSES(&problem, &routing, logits, NULL, 0, 8, 3, -1);
}

static void check_weights(void) {
    const float logits[4] = {1, 1, -INFINITY, 1}, low[2] = {-100, -200}, with_nan[2] = {NAN, 1};
    topk_problem problem = problem_of(4, 4);
    topk_routing routing = TOPK_ROUTING_INIT;
    oracle_expert chosen[ORACLE_CHOSEN_MAX];
    routing.factor = 3;
    CHECK(oracle_route(&problem, &routing, logits, NULL, chosen) == 4);
    CHECK(chosen[0].weight == 1 && chosen[1].weight == 1 && chosen[2].weight == 1 && chosen[3].weight == 0);
    problem = problem_of(2, 3);
    CHECK(oracle_route(&problem, &routing, low, NULL, chosen) == 2);
    CHECK(chosen[0].weight == 3 && chosen[1].weight == 0 && chosen[2].weight == 0);
    CHECK(oracle_route(&problem, &routing, with_nan, NULL, chosen) == 2);
    CHECK(isnan(chosen[0].weight) && isnan(chosen[1].weight) && chosen[2].weight == 0);
    routing.weighing = TOPK_WEIGH_SIGMOID;
    CHECK(oracle_route(&problem, &routing, low, NULL, chosen) == 2);
    CHECK(chosen[0].weight == 0 && chosen[1].weight == 0);
}

/* How many units in the last place of float32 lie between. */
static double distance(double exact, float got) {
    int exponent;
    (void)frexp(fmax(fabs(exact), 0x1p-126), &exponent);
    return fabs((double)got - exact) / ldexp(1, exponent - 24);
}

static void check_functions(void) {
    random_state random = {1};
    double worst_exp = 0, worst_sigmoid = 0;
    for (int i = 0; i < 1000000; i++) {
        float a = (float)(ldexp(random_unit(&random), (int)random_below(&random, 40) - 30) * 87 / 512);
        worst_exp = fmax(worst_exp, distance(exp(-(double)a), oracle_exp(a)));
        worst_sigmoid = fmax(worst_sigmoid, distance(1 / (1 + exp(-(double)a)), oracle_sigmoid(a)));
        worst_sigmoid = fmax(worst_sigmoid, distance(1 / (1 + exp((double)a)), oracle_sigmoid(-a)));
    }
    CHECK(worst_exp < 1);
    CHECK(worst_sigmoid < 3.2);
    CHECK(oracle_sigmoid(0) == 0.5F && oracle_sigmoid(88) == 1 && oracle_sigmoid(-88) == 0);
    CHECK(oracle_sigmoid(INFINITY) == 1 && oracle_sigmoid(-INFINITY) == 0 && isnan(oracle_sigmoid(NAN)));
}

/* Floats at even distances from 0 to 87, and all near the worst one. Beyond 87 nothing is near. */
static void check_error_of_sigmoid(void) {
    static const float most = 87, near_worst = 1.0998241F;
    uint32_t last, worst_bits;
    double worst = 0, of_exp = 0;
    memcpy(&last, &most, sizeof last);
    memcpy(&worst_bits, &near_worst, sizeof worst_bits);
    for (uint32_t bits = 0, step; bits <= last; bits += step) {
        const bool is_near = bits - (worst_bits - 4096) < 8192;
        float a;
        memcpy(&a, &bits, sizeof a);
        step = is_near ? 1 : bits < worst_bits && worst_bits - bits < 8192 ? 512 : 1999;
        of_exp = fmax(of_exp, distance(exp(-(double)a), oracle_exp(a)));
        worst = fmax(worst, distance(1 / (1 + exp(-(double)a)), oracle_sigmoid(a)));
        worst = fmax(worst, distance(1 / (1 + exp((double)a)), oracle_sigmoid(-a)));
    }
    CHECK(of_exp < 1);
    CHECK(worst > 3 && worst < 3.2);
    const float beyond = nextafterf(most, 100);
    CHECK(oracle_sigmoid(most) == 1 && oracle_sigmoid(-most) > 0);
    CHECK(oracle_sigmoid(beyond) == 1 && oracle_sigmoid(-beyond) == 0);
    CHECK(1 / (1 + exp((double)beyond)) > 0x1p-126 && 1 / (1 + exp((double)beyond)) < 0x1p-125);
}

int main(void) {
    check_order();
    check_groups();
    check_weights();
    check_functions();
    check_error_of_sigmoid();
    return check_report();
}
