/* SPDX-License-Identifier: Apache-2.0
 *
 * On a machine whose processors are busy with other work, more threads do not make a call slower
 * (CONTRACT.md, 7.3). bench/busy.py has the figures; here only a gross loss fails, since tests run beside
 * others. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "random.h"

enum { LENGTH_MAX = 1 << 23, K_MAX = 100000, ROUNDS = 7, PROCESSORS_MAX = 64 };
static const double SLOWER_AT_MOST = 2;

static float values[LENGTH_MAX];
static int32_t indices[LENGTH_MAX];

static double now_s(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct contender {
    topk_operation operation; /* select or where */
    topk_context *context;
    topk_problem problem;
    size_t bytes;
    void *workspace;
};

static struct contender begin(int threads, topk_operation operation, int64_t length, int64_t k) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    struct contender c = {.operation = operation, .problem = TOPK_PROBLEM_INIT};
    options.backend = TOPK_BACKEND_CPU;
    options.threads = threads;
    c.problem.type = TOPK_F32;
    c.problem.length_max = length;
    c.problem.k_max = k;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &c.context));
    CHECK_STATUS(TOPK_OK, topk_workspace_size(c.context, operation, &c.problem, &c.bytes));
    c.workspace = malloc(c.bytes + 1);
    return c;
}

static topk_status call(const struct contender *c) {
    topk_input input = TOPK_INPUT_INIT;
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    int64_t offsets[2];
    input.values = values;
    predicate.kind = TOPK_LT;
    predicate.low.value.f64 = 0.1;
    return c->operation == TOPK_OPERATION_WHERE
               ? topk_where(c->context, &c->problem, &input, &predicate, NULL, indices, LENGTH_MAX, offsets,
                            c->workspace, c->bytes, NULL)
               : topk_select(c->context, &c->problem, &input, NULL, indices, c->workspace, c->bytes, NULL);
}

static double time_s(const struct contender *c, int calls) {
    const double start_s = now_s();
    for (int i = 0; i < calls; i++) {
        CHECK_STATUS(TOPK_OK, call(c));
    }
    return now_s() - start_s;
}

static void end(struct contender *c) {
    topk_context_destroy(c->context);
    free(c->workspace);
}

static int compare(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The median of how many times as long `threads` threads take as one, each measured right after the other. */
static void check_not_slower(int threads, topk_operation operation, int64_t length, int64_t k, int calls) {
    struct contender one = begin(1, operation, length, k), many = begin(threads, operation, length, k);
    double ratios[ROUNDS];
    for (int round = -1; round < ROUNDS; round++) {
        const double alone_s = time_s(&one, calls), together_s = time_s(&many, calls);
        if (round >= 0) { /* the first one touches the workspaces */
            ratios[round] = together_s / alone_s;
        }
    }
    end(&one);
    end(&many);
    qsort(ratios, ROUNDS, sizeof ratios[0], compare);
    const double median = ratios[ROUNDS / 2];
    printf("%d threads, %s, n = %lld, k = %lld: %.2f times as long as one thread\n", threads,
           operation == TOPK_OPERATION_WHERE ? "where" : "select", (long long)length, (long long)k, median);
    CHECK(median <= SLOWER_AT_MOST);
}

/* Runs are long enough for the scheduler to give all processes their turns several times. */
static void check_team(int threads) {
    check_not_slower(threads, TOPK_OPERATION_WHERE, LENGTH_MAX, 0, 5);
    check_not_slower(threads, TOPK_OPERATION_SELECT, LENGTH_MAX, K_MAX, 10);
    check_not_slower(threads, TOPK_OPERATION_SELECT, 1 << 20, 1000, 300);
    check_not_slower(threads, TOPK_OPERATION_SELECT, 1 << 17, 10000, 400);
    check_not_slower(threads, TOPK_OPERATION_SELECT, 1 << 16, 10, 4000);
}

static pid_t keep_busy(void) {
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getppid() == parent) {
            for (volatile unsigned inner = 0; inner < 1000000; inner += 1) {
            }
        }
        _exit(0);
    }
    return child;
}

int main(void) {
    random_state random = {1};
    pid_t busy[PROCESSORS_MAX];
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    const int processors = CPU_COUNT(&set) < PROCESSORS_MAX ? CPU_COUNT(&set) : PROCESSORS_MAX;
    for (int i = 0; i < LENGTH_MAX; i++) {
        values[i] = (float)random_unit(&random);
    }
    for (int i = 0; i < processors; i++) {
        busy[i] = keep_busy();
        CHECK(busy[i] > 0);
    }
    check_team(2);
    if (processors > 2) {
        check_team(processors);
    }
    for (int i = 0; i < processors; i++) {
        CHECK(kill(busy[i], SIGKILL) == 0 && waitpid(busy[i], NULL, 0) == busy[i]);
    }
    return check_report();
}
