/* SPDX-License-Identifier: Apache-2.0
 * Threads take the parts of a job one by one, the caller too. So a thread that the kernel keeps waiting
 * delays no part but the one it has taken. */
#define _GNU_SOURCE
#include "team.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "processors.h"
#include "waiting.h"

enum {
    ENDS = -1, /* in place of a number of parts */
};

struct team {
    atomic_flag in_use; /* by the caller whose job it does */
    /* The job. The caller writes it before there are parts to take, and nobody reads it without a part. */
    team_function function;
    void *job;
    int parts;
    struct awaited untaken;    /* parts that nobody has taken, or ENDS: the threads wait for them */
    struct awaited unfinished; /* parts that are not done: the caller waits for them */
    int count;
    pthread_t threads[]; /* beside the caller's */
};

/* A thread that has been kept waiting may take a part of a later job than the one that it saw. */
static bool take_part(struct team *team, int *part) {
    int untaken = atomic_load(&team->untaken.value);
    while (untaken > 0) {
        if (atomic_compare_exchange_weak(&team->untaken.value, &untaken, untaken - 1)) {
            *part = team->parts - untaken;
            return true;
        }
    }
    return false;
}

static void work(struct team *team) {
    int part;
    while (take_part(team, &part)) {
        team->function(team->job, part, team->parts);
        if (atomic_fetch_sub(&team->unfinished.value, 1) == 1) {
            topk_cpu_wake(&team->unfinished, 1);
        }
    }
}

static void *serve(void *argument) {
    struct team *team = argument;
    (void)pthread_setname_np(pthread_self(), "topk");
    while (atomic_load(&team->untaken.value) != ENDS) {
        work(team);
        topk_cpu_await_work(&team->untaken, 0);
    }
    return NULL;
}

/* Signals are the caller's: its threads inherit a mask that blocks them, but for those that a fault raises.
 * Where such a signal is blocked, the kernel ends the process and runs no handler. */
static void block_signals(sigset_t *callers) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t blocked;
    (void)sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        (void)sigdelset(&blocked, faults[i]);
    }
    (void)pthread_sigmask(SIG_SETMASK, &blocked, callers);
}

static void start_threads(struct team *team, int most) {
    sigset_t callers;
    block_signals(&callers);
    while (team->count < most && pthread_create(&team->threads[team->count], NULL, serve, team) == 0) {
        team->count++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &callers, NULL);
}

bool topk_cpu_team_start(topk_context *context, int threads) {
    const size_t others = (size_t)threads - 1;
    context->threads = 1;
    if (others == 0) {
        return true;
    }
    struct team *team = calloc(1, sizeof *team + others * sizeof team->threads[0]);
    if (team == NULL) {
        return false;
    }
    start_threads(team, (int)others);
    context->threads = 1 + team->count;
    context->leaf = team;
    return true;
}

void topk_cpu_team_end(topk_context *context) {
    struct team *team = context->leaf;
    if (topk_context_threads(context) > 1) {
        atomic_store(&team->untaken.value, ENDS);
        topk_cpu_wake(&team->untaken, INT_MAX);
        for (int i = 0; i < team->count; i++) {
            (void)pthread_join(team->threads[i], NULL);
        }
    }
    free(team);
}

/* Threads that are awake need no waking. */
static void give_out(struct team *team, int parts, team_function function, void *job) {
    team->function = function;
    team->job = job;
    team->parts = parts;
    atomic_store(&team->unfinished.value, parts);
    atomic_store(&team->untaken.value, parts);
    topk_cpu_wake(&team->untaken, parts - 1 - (team->count - atomic_load(&team->untaken.sleepers)));
}

void topk_cpu_team_run(const topk_context *context, int parts, team_function function, void *job) {
    struct team *team = context->leaf;
    if (parts < 2 || topk_context_threads(context) == 1 || atomic_flag_test_and_set(&team->in_use)) {
        for (int part = 0; part < parts; part++) {
            function(job, part, parts);
        }
        return;
    }
    give_out(team, parts, function, job);
    work(team);
    for (int left; (left = atomic_load(&team->unfinished.value)) > 0;) {
        topk_cpu_await(&team->unfinished, left, AWAKE_FOR_END_NS);
    }
    atomic_flag_clear(&team->in_use);
}

int topk_cpu_team_default_threads(int limit) {
    const char *text = getenv("OMP_NUM_THREADS");
    const long wanted = text != NULL ? strtol(text, NULL, 10) : 0;
    const long threads = wanted > 0 ? wanted : topk_cpu_processors("");
    return threads < limit ? (int)threads : limit;
}
