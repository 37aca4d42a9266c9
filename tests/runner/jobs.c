/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "jobs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "watch.h"

typedef struct job {
    options options; /* its own part */
    tally *tally;    /* shared with the child */
    pid_t child;     /* 0: none any more */
    watch watch;
} job;

static void start(job *j, const backend *b) {
    j->tally->ended = false;
    fflush(NULL);
    j->child = fork();
    if (j->child < 0) {
        perror("fork");
        exit(1);
    }
    if (j->child == 0) {
        exit(session_run(&j->options, b, j->tally) ? 0 : 2);
    }
    j->watch = watch_begin(j->child);
}

/* True if the child was replaced. */
static bool mourn(job *j, const backend *b, int status) {
    tally *t = j->tally;
    j->child = 0;
    if (t->ended && WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2)) {
        return false;
    }
    t->failures++;
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "    a job died of signal %d\n", WTERMSIG(status));
    } else {
        fprintf(stderr, "    a job died with status %d\n", WEXITSTATUS(status));
    }
    if (t->ended) { /* of what it leaves behind, for example leaks */
        fputs("    after its last case\n", stderr);
        return false;
    }
    if (t->under_way > 1) {
        fprintf(stderr, "    %d calls were under way; this is the last of them\n", t->under_way);
    }
    fprintf(stderr, "  rerun: %s\n", t->current);
    if (t->failures >= j->options.failures_max) {
        return false;
    }
    j->options.first = t->position + 1;
    start(j, b);
    return true;
}

static void add(const tally *t, tally *sum) {
    sum->cases += t->cases;
    sum->failures += t->failures;
    sum->is_late |= t->is_late;
    for (int m = 0; m < METHODS_MOST; m++) {
        sum->served[m] += t->served[m];
        sum->refused[m] += t->refused[m];
    }
    for (int r = 0; r < REACHED_MOST; r++) {
        sum->reached[r] += t->reached[r];
    }
}

static job *job_of(job *jobs, long count, pid_t child) {
    for (long n = 0; n < count; n++) {
        if (jobs[n].child == child) {
            return &jobs[n];
        }
    }
    abort();
}

/* Ends the child if it hangs. Large cases may take their time. */
static void check_progress(job *j) {
    const double limit = (double)j->options.limit + 1e-5 * (double)j->options.elements;
    if (watch_is_over(&j->watch, atomic_load(&j->tally->steps), limit)) {
        fprintf(stderr,
                "    hangs: no end of this call after %.0f s of processor time, or twice as long idle\n",
                limit);
        (void)kill(j->child, SIGKILL);
        j->watch = watch_begin(j->child);
    }
}

/* The job whose child has ended. */
static job *await_end(job *jobs, long count, int *status) {
    static const struct timespec tick = {.tv_nsec = 20 * 1000 * 1000};
    for (;;) {
        const pid_t ended = waitpid(-1, status, WNOHANG);
        if (ended != 0) {
            return job_of(jobs, count, ended);
        }
        for (long n = 0; n < count; n++) {
            if (jobs[n].child != 0) {
                check_progress(&jobs[n]);
            }
        }
        (void)nanosleep(&tick, NULL);
    }
}

bool jobs_run(const options *o, const backend *b, tally *sum) {
    const size_t bytes = (size_t)o->jobs * sizeof *sum;
    tally *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    job *jobs = calloc((size_t)o->jobs, sizeof *jobs);
    if (shared == MAP_FAILED || jobs == NULL) {
        abort();
    }
    for (long n = 0; n < o->jobs; n++) {
        jobs[n] = (job){.options = *o, .tally = &shared[n]};
        jobs[n].options.job = n;
        start(&jobs[n], b);
    }
    for (long running = o->jobs; running > 0;) {
        int status;
        job *j = await_end(jobs, o->jobs, &status);
        if (WIFEXITED(status) && WEXITSTATUS(status) == DEVICE_EXIT_NONE) {
            exit(DEVICE_EXIT_NONE);
        }
        running -= !mourn(j, b, status);
    }
    for (long n = 0; n < o->jobs; n++) {
        add(&shared[n], sum);
    }
    munmap(shared, bytes);
    free(jobs);
    return sum->cases > 0;
}
