/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the shared list of cases: every case, operation and method, against the oracle. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "list.h"
#include "reached_paths.h"
#include "run.h"

/* The methods of the backend; the first stands for the library's own choice. */
static const char *const methods[] = {"default", "bracket", "rows", "compact", "reference"};
static const char *const operations[] = {"select", "kth", "where"};
static run_result (*const runs[])(topk_context *, const instance *, const char *) = {run_select, run_kth,
                                                                                     run_where};

enum { METHODS = sizeof methods / sizeof methods[0], OPERATIONS = sizeof runs / sizeof runs[0] };

typedef struct session {
    const options *options;
    const char *program;
    topk_context *context;
    long served[METHODS], refused[METHODS];
    long failures;
} session;

/* What a fault handler can still say. */
static char current[2 * CASE_TEXT_BYTES];

/* Who handled faults before: the sanitizers do, with a stack trace. */
static struct sigaction before_fault;

static void on_fault(int signal_number, siginfo_t *info, void *context) {
    static const char message[] = "\nFAULT (out of bounds, or a write into an input) in: ";
    ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
    ignored += write(STDERR_FILENO, current, strlen(current));
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

static void run_one(session *s, const instance *i, int operation, int method) {
    char text[CASE_TEXT_BYTES];
    case_format(i->source, text);
    snprintf(current, sizeof current, "--threads %d --operation %s --method %s --case %s",
             s->options->threads, operations[operation], methods[method], text);
    switch (runs[operation](s->context, i, method == 0 ? NULL : methods[method])) {
    case RUN_PASSED:
        s->served[method]++;
        break;
    case RUN_CANNOT:
        s->refused[method]++;
        break;
    default:
        s->served[method]++;
        s->failures++;
        options_print_rerun(s->options, s->program, text, operations[operation], methods[method]);
    }
}

static bool chosen(const char *option, const char *name) {
    return option == NULL || strcmp(option, name) == 0;
}

static bool run_case(const test_case *c, void *context) {
    session *s = context;
    instance i;
    instance_build(c, &i);
    for (int operation = 0; operation < OPERATIONS; operation++) {
        for (int method = 0; method < METHODS; method++) {
            if (chosen(s->options->operation, operations[operation]) &&
                chosen(s->options->method, methods[method])) {
                run_one(s, &i, operation, method);
            }
        }
    }
    instance_free(&i);
    return s->failures < s->options->failures_max;
}

/* Whether the run was to reach everything: the covering list, uncut. */
static bool is_whole_list(const options *o) {
    return !o->full && o->random_cases == 0 && o->one_case == NULL && o->filter == NULL &&
           o->operation == NULL && o->method == NULL;
}

/* A method that served no case at all has not been tested. */
static void report_methods(session *s) {
    for (int m = 0; m < METHODS; m++) {
        if (!chosen(s->options->method, methods[m])) {
            continue;
        }
        printf("%-10s served %8ld, refused %8ld\n", methods[m], s->served[m], s->refused[m]);
        if (is_whole_list(s->options) && s->failures == 0 && s->served[m] == 0) {
            printf("FAILED: method %s served no case\n", methods[m]);
            s->failures++;
        }
    }
}

static topk_context *create_context(int threads) {
    topk_context_options settings = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    topk_context *context;
    settings.backend = TOPK_BACKEND_CPU;
    settings.threads = threads;
    if (topk_context_create(&settings, &context) != TOPK_OK ||
        topk_context_query(context, &properties) != TOPK_OK) {
        fprintf(stderr, "no context: %s\n", topk_last_error());
        exit(1);
    }
    printf("cpu, %d threads, features: %s\n", properties.threads, properties.features);
    return context;
}

int main(int argc, char **argv) {
    options o = options_parse(argc, argv);
    session s = {.options = &o, .program = argv[0]};
    setvbuf(stdout, NULL, _IOLBF, 0);
    dimensions_init(o.largest);
    catch_faults();
    s.context = create_context(o.threads);
    printf("seed %" PRIu64 "\n", o.seed);
    long cases = list_cases(&o, run_case, &s);
    if (cases <= 0) {
        fprintf(stderr, "no case was run\n");
        return 2;
    }
    printf("%ld cases\n", cases);
    report_methods(&s);
    if (is_whole_list(&o) && s.failures == 0) {
        s.failures += reached_paths_missing();
    }
    topk_context_destroy(s.context);
    printf("%ld failures\n", s.failures);
    return s.failures != 0;
}
