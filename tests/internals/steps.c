/* SPDX-License-Identifier: Apache-2.0
 *
 * How much work searches do, by the paths that the library with tiny internal sizes counts: the k-th element
 * costs what its mirror image costs, few classes of elements take few counts, and so do approximations whose
 * steps change nothing any more. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"
#include "reached.h"

enum { LENGTH_MAX = 3000, PATHS_MAX = 512 };

static unsigned char workspace[1 << 22];
static topk_context *context;

typedef struct paths {
    unsigned long times[PATHS_MAX];
} paths;

static paths paths_now(void) {
    paths now;
    memset(&now, 0, sizeof now);
    memcpy(now.times, topk_reached_counts, REACHED_PATHS * sizeof *now.times);
    return now;
}

static topk_problem problem_of(topk_type type, int64_t length, int64_t k) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = type;
    problem.length_max = length;
    problem.k_max = k;
    return problem;
}

/* ---- The k-th and its mirror image ---- */

typedef struct kth {
    uint32_t value;
    int64_t better, equal;
    paths before, after;
} kth;

/* With k_max alike, so that there is room for as many candidates. */
static kth run_kth(const uint32_t *values, int64_t length, int64_t k) {
    topk_problem problem = problem_of(TOPK_U32, length, length);
    topk_input input = TOPK_INPUT_INIT;
    kth found = {.before = paths_now()};
    problem.method = length > 128 ? "bracket" : "rows";
    input.values = values;
    input.k = &k;
    CHECK_STATUS(TOPK_OK, topk_kth(context, &problem, &input, &found.value, &found.better, &found.equal,
                                   workspace, sizeof workspace, NULL));
    found.after = paths_now();
    return found;
}

/* Of the complements of the elements, so that the keys of both searches are the same. */
static void check_mirrored(int64_t length, int64_t k, int64_t classes) {
    static uint32_t values[LENGTH_MAX], mirrored[LENGTH_MAX];
    random_state random = {(uint64_t)(length + classes)};
    for (int64_t i = 0; i < length; i++) {
        values[i] = (uint32_t)random_below(&random, classes);
        mirrored[i] = ~values[i];
    }
    const kth near = run_kth(values, length, k), far = run_kth(mirrored, length, length + 1 - k);
    CHECK(far.value == ~near.value && far.equal == near.equal);
    CHECK(far.better == length - near.better - near.equal);
    for (int path = 0; path < REACHED_PATHS; path++) {
        const unsigned long times = near.after.times[path] - near.before.times[path];
        const unsigned long again = far.after.times[path] - far.before.times[path];
        if (!CHECK(path == REACHED_KTH_REVERSED ? again == 1 && times == 0 : again == times)) {
            printf("length %lld, k %lld, %s: %lu times and %lu\n", (long long)length, (long long)k,
                   topk_reached_names[path], times, again);
        }
    }
}

/* ---- Counts of a search ---- */

static unsigned long counts_of_select(const topk_problem *problem, const void *values) {
    static double out[LENGTH_MAX];
    const unsigned long before = topk_reached_counts[REACHED_KEYS_COUNTED];
    topk_input input = TOPK_INPUT_INIT;
    input.values = values;
    CHECK_STATUS(TOPK_OK,
                 topk_select(context, problem, &input, out, NULL, workspace, sizeof workspace, NULL));
    return topk_reached_counts[REACHED_KEYS_COUNTED] - before;
}

/* A double has 64 bits, and bisecting them one by one took as many counts. */
static void check_few_classes(int64_t classes) {
    enum { LENGTH = 120, COUNTS_EACH = 4 };
    random_state random = {(uint64_t)classes};
    double values[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
        values[i] = (double)random_below(&random, classes) * 0.3;
    }
    for (int64_t k = 1; k < LENGTH; k += 7) {
        const topk_problem problem = problem_of(TOPK_F64, LENGTH, k);
        CHECK(counts_of_select(&problem, values) <= (unsigned long)(COUNTS_EACH * classes));
    }
}

/* Numbers between 0 and 1 beside a great one: steps that only approach them need not count. */
static void check_approximation(topk_type type, int64_t max_iterations, double epsilon, int64_t classes) {
    enum { LENGTH = 100, COUNTS_MOST = 20 };
    random_state random = {(uint64_t)max_iterations + (uint64_t)classes};
    double doubles[LENGTH];
    float floats[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
        doubles[i] = (double)random_below(&random, classes) / (double)classes;
        floats[i] = (float)doubles[i];
    }
    doubles[17] = 1e300;
    floats[17] = 1e30f;
    topk_problem problem = problem_of(type, LENGTH, 10);
    problem.max_iterations = max_iterations;
    problem.epsilon = epsilon;
    const void *values = type == TOPK_F64 ? (const void *)doubles : (const void *)floats;
    CHECK(counts_of_select(&problem, values) <= COUNTS_MOST);
}

int main(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = TOPK_BACKEND_CPU;
    options.threads = 1;
    options.seed = 77;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    static const int64_t lengths[] = {40, 128, 129, LENGTH_MAX}, classes[] = {7, 300, UINT32_MAX};
    for (int length = 0; length < 4; length++) {
        for (int i = 0; i < 3; i++) {
            check_mirrored(lengths[length], 1, classes[i]);
            check_mirrored(lengths[length], 6, classes[i]);
            check_mirrored(lengths[length], lengths[length] / 3, classes[i]);
            check_mirrored(lengths[length], lengths[length] / 2, classes[i]);
        }
    }
    for (int64_t few = 2; few <= 8; few++) {
        check_few_classes(few);
    }
    for (int type = TOPK_F32; type <= TOPK_F64; type++) {
        check_approximation((topk_type)type, 3000, 0, UINT32_MAX);
        check_approximation((topk_type)type, 3000, 0, 3);
        check_approximation((topk_type)type, 0, 1e-30, UINT32_MAX);
        check_approximation((topk_type)type, 0, 1e-30, 3);
    }
    topk_context_destroy(context);
    return check_report();
}
