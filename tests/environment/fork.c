/* SPDX-License-Identifier: Apache-2.0
 *
 * A child process goes on using its parent's context, on one thread, as the context's other threads did not
 * survive the fork; or a context of its own. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "topk_advanced.h"

enum { LENGTH = 1 << 20, K = 100 };

static float values[LENGTH];

static topk_problem make_problem(void) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    problem.length_max = LENGTH;
    problem.k_max = K;
    return problem;
}

static topk_plan *make_plan(topk_context *context) {
    const topk_problem problem = make_problem();
    topk_plan *plan = NULL;
    CHECK_STATUS(TOPK_OK, topk_plan_create(context, TOPK_OPERATION_SELECT, &problem, NULL, &plan));
    return plan;
}

static int finds_the_best(const int32_t indices[K]) {
    int right = 1;
    for (int i = 0; i < K; i++) {
        right = right && indices[i] == LENGTH - 1 - i;
    }
    return CHECK(right);
}

/* By a plan, which an earlier process may have made, and by a call. */
static int select_in(topk_context *context, const topk_plan *plan) {
    const topk_problem problem = make_problem();
    topk_output output = TOPK_OUTPUT_INIT;
    topk_input input = TOPK_INPUT_INIT;
    int32_t indices[K];
    size_t bytes;
    input.values = values;
    output.indices = indices;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &bytes));
    void *workspace = malloc(bytes + 1);
    CHECK_STATUS(TOPK_OK, topk_plan_run(plan, &input, &output, workspace, bytes, NULL));
    int right = finds_the_best(indices);
    CHECK_STATUS(TOPK_OK, topk_select(context, &problem, &input, NULL, indices, workspace, bytes, NULL));
    right = right && finds_the_best(indices);
    free(workspace);
    return right;
}

static int threads_of(const topk_context *context) {
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    CHECK_STATUS(TOPK_OK, topk_context_query(context, &properties));
    return properties.threads;
}

static int run_child(topk_context *parents, topk_plan *plan, const topk_context_options *options) {
    topk_context *own;
    alarm(600); /* a child that waits for threads that are not there would wait for ever */
    int right = CHECK(threads_of(parents) == 1) && select_in(parents, plan);
    topk_plan_destroy(plan);
    topk_context_destroy(parents);
    CHECK_STATUS(TOPK_OK, topk_context_create(options, &own));
    plan = make_plan(own);
    right = right && CHECK(threads_of(own) == options->threads) && select_in(own, plan);
    topk_plan_destroy(plan);
    topk_context_destroy(own);
    return right;
}

/* Whether a thread of this process sleeps, by the letter behind its name in /proc. */
static int sleeps(const char *thread) {
    char path[64], line[512] = "";
    (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", thread);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 1;
    }
    const int read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    const char *name_end = strrchr(line, ')');
    return !read || name_end == NULL || name_end[2] == 'S';
}

/* How many other threads of this process are awake. */
static int count_awake(void) {
    char own[24];
    int awake = 0;
    DIR *tasks = opendir("/proc/self/task");
    (void)snprintf(own, sizeof own, "%ld", (long)getpid());
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        awake += task->d_name[0] != '.' && strcmp(task->d_name, own) != 0 && !sleeps(task->d_name);
    }
    (void)(tasks != NULL && closedir(tasks));
    return awake;
}

/* AddressSanitizer's allocator does not know of forks. A thread that starts holds its lock for a moment, and
 * a child that is forked in this moment waits for it for ever. */
static void let_threads_start(void) {
    for (int quiet = 0, tries = 0; quiet < 3 && tries < 2000; tries++) {
        quiet = count_awake() == 0 ? quiet + 1 : 0;
        (void)usleep(5000);
    }
}

int main(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    int status = -1;
    options.backend = TOPK_BACKEND_CPU;
    options.threads = 4;
    for (int i = 0; i < LENGTH; i++) {
        values[i] = (float)i;
    }
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    topk_plan *plan = make_plan(context);
    select_in(context, plan);
    let_threads_start();
    pid_t child = fork();
    if (child == 0) {
        _exit(run_child(context, plan, &options) ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    select_in(context, plan);
    topk_plan_destroy(plan);
    topk_context_destroy(context);
    return check_report();
}
