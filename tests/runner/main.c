/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the shared list of cases: every case, operation and method, against the oracle. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs.h"
#include "reached_paths.h"

static tally total;

/* Who handled faults before: the sanitizers do, with a stack trace. */
static struct sigaction before_fault;

static void on_fault(int signal_number, siginfo_t *info, void *context) {
    static const char message[] = "\nFAULT (out of bounds, or a write into an input) in: ";
    ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
    ignored += write(STDERR_FILENO, total.current, strlen(total.current));
    ignored += write(STDERR_FILENO, "\n", 1);
    (void)ignored;
    if ((before_fault.sa_flags & SA_SIGINFO) != 0) {
        before_fault.sa_sigaction(signal_number, info, context);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void catch_faults(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = on_fault;
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGSEGV, &action, &before_fault);
}

/* Whether the run takes in the covering list, from the shortest rows on: each method must then serve
 * something, and all methods together reach everything. */
static bool is_whole_list(const options *o) {
    return !o->full && o->end == 0 && o->smallest == 0 && o->cases_max == LONG_MAX && o->random_cases == 0 &&
           o->one_case == NULL && o->filter == NULL && o->operation == NULL;
}

/* A method that served no case at all has not been tested. */
static void report_methods(const options *o, const backend *b) {
    for (int m = 0; b->methods[m].label != NULL; m++) {
        if (o->method != NULL && strcmp(o->method, b->methods[m].label) != 0) {
            continue;
        }
        printf("%-14s served %8ld, refused %8ld\n", b->methods[m].label, total.served[m], total.refused[m]);
        if (is_whole_list(o) && total.failures == 0 && total.served[m] == 0) {
            printf("FAILED: method %s served no case\n", b->methods[m].label);
            total.failures++;
        }
    }
}

/* Paths that the run had to take and did not. A method's own must be taken whenever it runs the whole list.
 */
static long missing_paths(const options *o, const backend *b) {
    if (o->paths != NULL && reached_paths_of(b->name, o->paths) == 0) {
        printf("FAILED: no path has a name like '%s'\n", o->paths);
        return 1;
    }
    if (o->paths != NULL) {
        return reached_paths_missing(total.reached, b->name, o->paths);
    }
    if (!is_whole_list(o) && !o->own_paths) {
        return 0;
    }
    long missing = o->method == NULL ? reached_paths_missing(total.reached, b->name, NULL) : 0;
    for (const run_method *m = b->methods; m->label != NULL; m++) {
        if (o->method == NULL || strcmp(o->method, m->label) == 0) {
            missing += reached_paths_missing(total.reached, b->name, m->label);
        }
    }
    return missing;
}

int main(int argc, char **argv) {
    options o = options_parse(argc, argv);
    const backend *b = backend_named(o.backend);
    if (b == NULL) {
        fprintf(stderr, "no backend '%s'\n", o.backend);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    dimensions_init(o.smallest, o.largest);
    if (dimensions[DIM_SIZE].count == 0) {
        fprintf(stderr, "no length of the list is from %" PRId64 " to %" PRId64 "\n", o.smallest, o.largest);
        return 2;
    }
    instance_set_budget(o.elements);
    printf("seed %" PRIu64 "\n", o.seed);
    if (o.jobs == 0) {
        catch_faults();
    }
    if (!(o.jobs == 0 ? session_run : jobs_run)(&o, b, &total)) {
        fprintf(stderr, "no case was run\n");
        return 2;
    }
    printf("%ld cases%s\n", total.cases, total.is_late ? ", then the time was over" : "");
    report_methods(&o, b);
    if (total.failures == 0) {
        total.failures += missing_paths(&o, b);
    }
    printf("%ld failures in %ld cases\n", total.failures, total.cases);
    return total.failures != 0;
}
