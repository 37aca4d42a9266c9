/* SPDX-License-Identifier: Apache-2.0
 *
 * Whatever a call does to its process, the run goes on behind it and says which call it was. */
#define _GNU_SOURCE
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "jobs.h"

enum { CASES = 9, LIMIT_SECONDS = 2, REPORT_BYTES = 1 << 16 };

typedef enum mishap { LOOPS, SLEEPS, DIES, EXITS, MISHAPS } mishap;

static const uint64_t case_of[MISHAPS] = {[LOOPS] = 2, [SLEEPS] = 3, [DIES] = 5, [EXITS] = 6};

static void meet_with(mishap what) {
    for (volatile bool loops = what == LOOPS; loops;) {
    }
    if (what == SLEEPS) {
        pause();
    }
    if (what == DIES) {
        raise(SIGKILL);
    }
    if (what == EXITS) {
        _exit(66); /* as a sanitizer does */
    }
}

static uint64_t number_of(const test_case *c) {
    return c->seed - 1000000;
}

static topk_status call(topk_context *context, run *r, const topk_input *input) {
    for (int m = 0; m < MISHAPS; m++) {
        if (number_of(r->instance->source) == case_of[m]) {
            meet_with((mishap)m);
        }
    }
    return run_count.call(context, r, input);
}

/* What a run of the list's first cases says on stderr; free it. */
static char *run_list(const backend *b, const options *o, tally *total) {
    char *text = calloc(1, REPORT_BYTES);
    FILE *file = tmpfile();
    const int before = dup(STDERR_FILENO);
    if (text == NULL || file == NULL || before < 0 || dup2(fileno(file), STDERR_FILENO) < 0) {
        abort();
    }
    CHECK(jobs_run(o, b, total));
    (void)dup2(before, STDERR_FILENO);
    (void)close(before);
    rewind(file);
    CHECK(fread(text, 1, REPORT_BYTES - 1, file) > 0);
    (void)fclose(file);
    fputs(text, stderr);
    return text;
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part)) {
        count++;
    }
    return count;
}

static void check_report_of(const char *text) {
    CHECK(count_of(text, "  rerun: ") == MISHAPS);
    CHECK(count_of(text, "    hangs: ") == 2);
    CHECK(count_of(text, "    a job died of signal 9\n") == 3);
    CHECK(count_of(text, "    a job died with status 66\n") == 1);
    for (int m = 0; m < MISHAPS; m++) {
        char seed[32];
        snprintf(seed, sizeof seed, "seed=%d\n", (int)(1000000 + case_of[m]));
        CHECK(count_of(text, seed) == 1);
    }
}

int main(void) {
    backend b = *backend_named("cpu");
    run_operation hostile = run_count;
    hostile.call = call;
    hostile.give = NULL; /* nor by way of a plan */
    for (int operation = 0; b.operations[operation] != NULL; operation++) {
        if (b.operations[operation] == &run_count) {
            b.operations[operation] = &hostile;
        }
    }
    options o = {.program = "test_jobs",
                 .seed = 1,
                 .backend = "cpu",
                 .operation = "count",
                 .method = "default",
                 .threads = 1,
                 .schedules = 1,
                 .cases_max = CASES,
                 .elements = 1000,
                 .failures_max = LONG_MAX,
                 .limit = LIMIT_SECONDS};
    dimensions_init(0, 1000);
    instance_set_budget(1000);
    for (o.jobs = 1; o.jobs <= 2; o.jobs++) {
        tally total = {0};
        char *text = run_list(&b, &o, &total);
        CHECK(total.cases == CASES);
        CHECK(total.failures == MISHAPS);
        check_report_of(text);
        free(text);
    }
    return check_report();
}
