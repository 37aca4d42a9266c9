/* SPDX-License-Identifier: Apache-2.0 */
#include "route.h"

#include <math.h>

static float float_of(const oracle_number *number) {
    if (number->nan) {
        return NAN;
    }
    if (number->sign == 0) {
        return 0;
    }
    if (number->mantissa == 0) {
        return number->sign < 0 ? -INFINITY : INFINITY;
    }
    /* No logit has more than 53 bits. */
    return (float)ldexp(number->sign * (double)(number->mantissa >> 11), number->exponent - 63 + 11);
}

float oracle_exp(float a) {
    static const float coefficients[] = {0x1.6e879cp-10F, 0x1.11121p-7F, 0x1.555382p-5F, 0x1.555554p-3F,
                                         0x1p-1F};
    if (isnan(a) || a > 87) {
        return isnan(a) ? a : 0;
    }
    float product = a * 0x1.715476p+0F;
    float q = product + 0x1.8p+23F;
    float n = q - 0x1.8p+23F;
    float high = n * 0x1.63p-1F, low = n * 0x1.bd0106p-13F;
    float rest = high - a;
    float y = rest - low;
    float p = 0x1.a0d2cep-13F;
    for (int i = 0; i < 5; i++) {
        product = p * y;
        p = product + coefficients[i];
    }
    float square = y * y;
    product = p * square;
    float sum = product + y;
    return ldexpf(sum + 1, -(int)n);
}

float oracle_sigmoid(float x) {
    float e = oracle_exp(fabsf(x));
    float d = 1 + e;
    float product = d * 0x1.e1e1e2p-2F;
    float r = 0x1.69696ap+0F - product;
    for (int i = 0; i < 3; i++) {
        product = d * r;
        float error = 1 - product;
        product = r * error;
        r = r + product;
    }
    return x < 0 ? e * r : r;
}

/* Whether score a ranks above score b. */
static bool ranks_above(const topk_problem *problem, float a, float b) {
    if (isnan(a) || isnan(b)) {
        return problem->nan == TOPK_NAN_AS_LARGEST ? isnan(a) && !isnan(b) : !isnan(a) && isnan(b);
    }
    return a > b;
}

/* The best of those scores that are not taken, the first of equals; -1 if none is left. */
static int64_t best_of(const topk_problem *problem, const float *scores, const bool *taken, int64_t count) {
    int64_t best = -1;
    for (int64_t i = 0; i < count; i++) {
        if (!taken[i] && (best < 0 || ranks_above(problem, scores[i], scores[best]))) {
            best = i;
        }
    }
    return best;
}

static float group_score(const topk_problem *problem, const float *scores, int64_t size) {
    bool taken[ORACLE_EXPERTS_MAX] = {false};
    int64_t first = best_of(problem, scores, taken, size);
    taken[first] = true;
    int64_t second = best_of(problem, scores, taken, size);
    return second < 0 ? scores[first] : scores[first] + scores[second];
}

/* Takes the experts of all groups but the best. */
static void drop_groups(const topk_problem *problem, const topk_routing *routing, const float *scores,
                        bool *taken) {
    float of_groups[ORACLE_EXPERTS_MAX];
    bool kept[ORACLE_EXPERTS_MAX] = {false};
    int64_t size = problem->length_max / routing->groups;
    if (size == 0) {
        return;
    }
    for (int64_t group = 0; group < routing->groups; group++) {
        of_groups[group] = group_score(problem, scores + group * size, size);
    }
    for (int64_t i = 0; i < routing->groups_kept; i++) {
        kept[best_of(problem, of_groups, kept, routing->groups)] = true;
    }
    for (int64_t e = 0; e < problem->length_max; e++) {
        taken[e] = !kept[e / size];
    }
}

static void weigh(const topk_routing *routing, oracle_expert *chosen, int64_t count) {
    float terms[ORACLE_CHOSEN_MAX] = {0}, sums[ORACLE_CHOSEN_MAX], greatest = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        greatest = isnan(chosen[i].logit) || chosen[i].logit > greatest ? chosen[i].logit : greatest;
        if (isnan(greatest)) {
            break;
        }
    }
    for (int64_t i = 0; i < count; i++) {
        float below = greatest - chosen[i].logit;
        terms[i] =
            routing->weighing == TOPK_WEIGH_SOFTMAX ? oracle_exp(below) : oracle_sigmoid(chosen[i].logit);
    }
    for (int i = 0; i < ORACLE_CHOSEN_MAX; i++) {
        sums[i] = terms[i];
    }
    for (int left = ORACLE_CHOSEN_MAX / 2; left > 0; left /= 2) {
        for (int i = 0; i < left; i++) {
            sums[i] = sums[2 * i] + sums[2 * i + 1];
        }
    }
    for (int64_t i = 0; i < count; i++) {
        chosen[i].weight = sums[0] == 0 ? 0 : terms[i] / sums[0] * routing->factor;
    }
}

int64_t oracle_route(const topk_problem *problem, const topk_routing *routing, const void *logits,
                     const float *bias, oracle_expert *chosen) {
    float numbers[ORACLE_EXPERTS_MAX], scores[ORACLE_EXPERTS_MAX];
    bool taken[ORACLE_EXPERTS_MAX] = {false};
    int64_t count = 0;
    for (int64_t e = 0; e < problem->length_max; e++) {
        oracle_number number =
            oracle_decode(problem->type, (const char *)logits + (size_t)e * oracle_type_size(problem->type));
        numbers[e] = float_of(&number);
        scores[e] = routing->score == TOPK_SCORE_SIGMOID ? oracle_sigmoid(numbers[e]) : numbers[e];
        scores[e] = bias != NULL ? scores[e] + bias[e] : scores[e];
    }
    if (routing->groups > 0) {
        drop_groups(problem, routing, scores, taken);
    }
    for (int64_t i = 0; i < problem->k_max; i++) {
        int64_t best = best_of(problem, scores, taken, problem->length_max);
        chosen[i] = (oracle_expert){best, best < 0 ? 0 : numbers[best], 0};
        if (best >= 0) {
            taken[best] = true;
            count++;
        }
    }
    weigh(routing, chosen, count);
    return count;
}
