/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU backend's team: each part of a job is done once, whoever else has the team, in a forked child,
 * within another part, and where the system gives fewer threads than were asked for. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "cpu/team.h"
#include "topk_advanced.h"

enum { PARTS_MAX = 40, CALLERS = 4, PATIENCE_S = 120 };

/* pthread_create() in the library goes here: the linker wraps it. */
static int threads_given; /* how many more the system gives; below 0: as many as are wanted */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                          void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                          void *argument) {
    if (threads_given == 0) {
        return EAGAIN;
    }
    threads_given -= threads_given > 0;
    return __real_pthread_create(thread, attributes, function, argument);
}

static topk_context *create(int threads) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context = NULL;
    options.backend = TOPK_BACKEND_CPU;
    options.threads = threads;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    return context;
}

static int threads_of(const topk_context *context) {
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    CHECK_STATUS(TOPK_OK, topk_context_query(context, &properties));
    return properties.threads;
}

static void sleep_ms(long ms) {
    const struct timespec time = {0, ms * 1000000};
    (void)nanosleep(&time, NULL);
}

/* ---- Each part once ---- */

struct tally {
    int done[PARTS_MAX]; /* plain: ThreadSanitizer sees whether a part's work is visible to the caller */
    int parts;
};

static void tally_part(void *argument, int part, int parts) {
    struct tally *tally = argument;
    tally->done[part]++;
    if (part == 0) {
        tally->parts = parts;
    }
}

static int runs_each_part_once(const topk_context *context, int parts) {
    struct tally tally = {{0}, 0};
    topk_cpu_team_run(context, parts, tally_part, &tally);
    int right = tally.parts == parts;
    for (int part = 0; part < PARTS_MAX; part++) {
        right = right && tally.done[part] == (part < parts);
    }
    return right;
}

static int runs_many_jobs(const topk_context *context, int rounds) {
    int right = 1;
    for (int round = 0; round < rounds; round++) {
        for (int parts = 1; parts <= PARTS_MAX; parts++) {
            right = right && runs_each_part_once(context, parts);
        }
    }
    return right;
}

/* Of teams that spin between jobs and of teams that sleep. */
static void check_each_part_once(void) {
    static const int sizes[] = {1, 2, 3, 8};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        topk_context *context = create(sizes[i]);
        CHECK(threads_of(context) == sizes[i]);
        CHECK(runs_many_jobs(context, 50));
        for (int round = 0; round < 10; round++) {
            sleep_ms(1);
            CHECK(runs_each_part_once(context, 8));
        }
        topk_context_destroy(context);
    }
}

/* ---- Who runs them ---- */

struct meeting {
    _Atomic int begun;
    _Atomic int wrong;
    pthread_t caller;
};

/* All but those that a fault raises. */
static int blocks_signals(void) {
    sigset_t blocked;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    return sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGTERM) &&
           sigismember(&blocked, SIGALRM) && sigismember(&blocked, SIGUSR1) &&
           sigismember(&blocked, SIGPROF) && !sigismember(&blocked, SIGBUS) &&
           !sigismember(&blocked, SIGSEGV);
}

/* Ends when all parts have begun: only if each has a thread of its own. */
static void meet(void *argument, int part, int parts) {
    struct meeting *meeting = argument;
    const time_t end = time(NULL) + PATIENCE_S;
    char name[16] = "";
    (void)part;
    meeting->begun++;
    while (meeting->begun < parts && time(NULL) < end) {
        (void)sched_yield();
    }
    const int is_caller = pthread_equal(pthread_self(), meeting->caller);
    (void)pthread_getname_np(pthread_self(), name, sizeof name);
    meeting->wrong += meeting->begun < parts || blocks_signals() == is_caller;
    meeting->wrong += (strcmp(name, "topk") == 0) == is_caller;
}

static void check_whole_team_works(void) {
    topk_context *context = create(4);
    for (int round = 0; round < 20; round++) {
        struct meeting meeting = {0, 0, pthread_self()};
        topk_cpu_team_run(context, 4, meet, &meeting);
        CHECK(meeting.wrong == 0);
        sleep_ms(round % 3);
    }
    topk_context_destroy(context);
}

/* A part may wait for an earlier one, so parts begin in ascending order. */
static void follow(void *argument, int part, int parts) {
    _Atomic int *done = argument;
    (void)parts;
    while (*done < part) {
        (void)sched_yield();
    }
    *done = part + 1;
}

static void check_order(void) {
    topk_context *context = create(3);
    for (int round = 0; round < 100; round++) {
        _Atomic int done = 0;
        topk_cpu_team_run(context, PARTS_MAX, follow, &done);
        CHECK(done == PARTS_MAX);
    }
    topk_context_destroy(context);
}

/* ---- A team in use ---- */

struct nested {
    const topk_context *context;
    _Atomic int wrong;
};

static void run_within(void *argument, int part, int parts) {
    struct nested *nested = argument;
    (void)parts;
    nested->wrong += !runs_each_part_once(nested->context, part + 2);
}

static void check_nested(void) {
    topk_context *context = create(3);
    struct nested nested = {context, 0};
    for (int round = 0; round < 50; round++) {
        topk_cpu_team_run(context, 6, run_within, &nested);
    }
    CHECK(nested.wrong == 0);
    topk_context_destroy(context);
}

struct caller {
    const topk_context *context;
    _Atomic int *running;
    int right;
};

static void *call_many_times(void *argument) {
    struct caller *caller = argument;
    caller->right = runs_many_jobs(caller->context, 50);
    (*caller->running)--;
    return NULL;
}

/* In a child, on one thread, whatever the parent's team was doing. Ending the context waits for nobody. */
static int child_runs(topk_context *context) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(PATIENCE_S);
        const int right = threads_of(context) == 1 && runs_many_jobs(context, 2);
        topk_context_destroy(context);
        _exit(right ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void check_callers_and_children(void) {
    topk_context *context = create(3);
    _Atomic int running = CALLERS;
    struct caller callers[CALLERS];
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){context, &running, 0};
        CHECK(__real_pthread_create(&threads[i], NULL, call_many_times, &callers[i]) == 0);
    }
    do {
        CHECK(child_runs(context));
    } while (running > 0);
    for (int i = 0; i < CALLERS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(callers[i].right);
    }
    CHECK(threads_of(context) == 3 && runs_many_jobs(context, 1));
    topk_context_destroy(context);
}

/* ---- Contexts come and go ---- */

static int threads_of_process(void) {
    int count = -1;
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        (void)sscanf(line, "Threads: %d", &count);
    }
    if (status != NULL) {
        (void)fclose(status);
    }
    return count;
}

/* The kernel counts a thread for a moment after it has been joined. */
static int settled_threads(void) {
    int count = threads_of_process();
    for (int same = 0; same < 50;) {
        sleep_ms(1);
        const int now = threads_of_process();
        same = now == count ? same + 1 : 0;
        count = now;
    }
    return count;
}

static void check_many_contexts(void) {
    const int before = settled_threads();
    const time_t end = time(NULL) + PATIENCE_S;
    for (int round = 0; round < 200; round++) {
        topk_context *context = create(4);
        CHECK(round % 2 == 0 || runs_each_part_once(context, 4));
        CHECK(round != 0 || threads_of_process() == before + 3);
        topk_context_destroy(context);
    }
    while (threads_of_process() != before && time(NULL) < end) {
        sleep_ms(1);
    }
    CHECK(threads_of_process() == before);
}

static void check_fewer_threads(void) {
    for (int given = 0; given < 4; given++) {
        threads_given = given;
        topk_context *context = create(4);
        threads_given = -1;
        CHECK(threads_of(context) == given + 1);
        CHECK(!blocks_signals());
        CHECK(runs_many_jobs(context, 2));
        topk_context_destroy(context);
    }
}

int main(void) {
    threads_given = -1;
    check_each_part_once();
    check_whole_team_works();
    check_order();
    check_nested();
    check_callers_and_children();
    check_many_contexts();
    check_fewer_threads();
    return check_report();
}
