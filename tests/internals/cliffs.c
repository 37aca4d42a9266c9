/* SPDX-License-Identifier: Apache-2.0
 *
 * No cliff between problems that are nearly the same: processor times side by side, taken
 * by turns. What is allowed is generous, and far below what was once measured. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "random.h"
#include "topk_route.h"

enum { ROWS = 400, LENGTH = 256, K_MAX = 256, PAIRS = 31 };

static unsigned char workspace[1 << 22];
static topk_context *context;

static double thread_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef double (*timed)(int64_t which);

/* The median of the ratios: problem 1 over problem 0. */
static double ratio_of(timed run) {
    double ratios[PAIRS];
    for (int pair = 0; pair < PAIRS; pair++) {
        const double first = run(pair % 2), second = run(1 - pair % 2);
        ratios[pair] = pair % 2 == 0 ? second / first : first / second;
    }
    qsort(ratios, PAIRS, sizeof *ratios, compare);
    return ratios[PAIRS / 2];
}

static topk_problem problem_of(topk_type type, int64_t k) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = type;
    problem.rows = ROWS;
    problem.length_max = LENGTH;
    problem.k_max = k;
    return problem;
}

/* Sorted doubles, on both sides of what is ranked at once. */
static double more_than_two_thirds(int64_t which) {
    static double values[ROWS * LENGTH], out[ROWS * K_MAX];
    const topk_problem problem = problem_of(TOPK_F64, which == 0 ? 165 : 180);
    topk_input input = TOPK_INPUT_INIT;
    random_state random = {1};
    for (int i = 0; i < ROWS * LENGTH; i++) {
        values[i] = (double)random_below(&random, INT64_MAX) - 1e18;
    }
    input.values = values;
    const double begin = thread_us();
    CHECK_STATUS(TOPK_OK,
                 topk_select(context, &problem, &input, out, NULL, workspace, sizeof workspace, NULL));
    return thread_us() - begin;
}

/* Logits of float32, and of half as many bytes. */
static double narrow_logits(int64_t which) {
    static float floats[ROWS * LENGTH];
    static uint16_t halves[ROWS * LENGTH];
    static int32_t experts[ROWS * 8];
    const topk_problem problem = problem_of(which == 0 ? TOPK_F32 : TOPK_BF16, 8);
    const topk_routing routing = TOPK_ROUTING_INIT;
    random_state random = {2};
    for (int i = 0; i < ROWS * LENGTH; i++) {
        uint32_t bits;
        floats[i] = (float)random_below(&random, 1 << 20) - 5e5f;
        memcpy(&bits, &floats[i], sizeof bits);
        halves[i] = (uint16_t)(bits >> 16);
    }
    const void *logits = which == 0 ? (const void *)floats : (const void *)halves;
    const double begin = thread_us();
    CHECK_STATUS(TOPK_OK, topk_route(context, &problem, &routing, logits, experts, NULL, workspace,
                                     sizeof workspace, NULL));
    return thread_us() - begin;
}

static void check_ratio(const char *name, timed run, double most) {
    const double ratio = ratio_of(run);
    printf("%s: %.2f times, at most %.2f\n", name, ratio, most);
    CHECK(ratio <= most);
}

int main(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = TOPK_BACKEND_CPU;
    options.threads = 1;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    check_ratio("more than two thirds of a row, sorted", more_than_two_thirds, 1.6);
    check_ratio("routing of bfloat16", narrow_logits, 2.5);
    topk_context_destroy(context);
    return check_report();
}
