/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "random.h"
#include "reached_paths.h"
#include "schedules.h"
#include "topk_advanced.h"

enum { CASES_AT_ONCE = 64, CALLS_AT_ONCE = 1024 };

static const size_t bytes_at_once = (size_t)256 << 20;

/* A case whose calls are not all ended. */
typedef struct open_case {
    test_case source;
    instance built;
} open_case;

typedef struct open_call {
    run run;
    int method;
    uint64_t schedule;
} open_call;

typedef struct session {
    const options *options;
    const backend *backend;
    topk_context *context;
    tally *tally;
    int cases, calls;
    open_case open_cases[CASES_AT_ONCE];
    open_call open_calls[CALLS_AT_ONCE];
} session;

static const char *rerun(const session *s, const open_call *call, char text[RERUN_BYTES]) {
    return options_rerun(s->options, call->run.instance->source, call->run.operation->name,
                         s->backend->methods[call->method].label, call->schedule, text);
}

static void count(session *s, const open_call *call, run_result result) {
    char text[RERUN_BYTES];
    *(result == RUN_CANNOT ? &s->tally->refused[call->method] : &s->tally->served[call->method]) += 1;
    if (result == RUN_FAILED) {
        s->tally->failures++;
        fprintf(stderr, "  rerun: %s\n", rerun(s, call, text));
    }
}

/* Notes the call that is at work from now on. */
static void enter(session *s, const open_call *call, int under_way) {
    rerun(s, call, s->tally->current);
    s->tally->under_way = under_way;
    atomic_fetch_add(&s->tally->steps, 1);
}

/* After a device's error no call can be trusted, and hardly can the device. */
static _Noreturn void give_up(session *s) {
    char text[RERUN_BYTES];
    fprintf(stderr, "%s, in one of:\n", device_error());
    for (int c = 0; c < s->calls; c++) {
        fprintf(stderr, "  rerun: %s\n", rerun(s, &s->open_calls[c], text));
    }
    exit(1);
}

static void end_calls(session *s) {
    if (s->calls > 0 && !device_fetch()) {
        give_up(s);
    }
    for (int c = 0; c < s->calls; c++) {
        enter(s, &s->open_calls[c], 1);
        count(s, &s->open_calls[c], run_end(&s->open_calls[c].run));
    }
    s->calls = 0;
}

static void end_cases(session *s) {
    end_calls(s);
    for (int c = 0; c < s->cases; c++) {
        instance_free(&s->open_cases[c].built);
    }
    s->cases = 0;
    device_reset();
}

static void call_once(session *s, const instance *i, const run_operation *operation, int method,
                      uint64_t schedule) {
    open_call *call = &s->open_calls[s->calls];
    call->method = method;
    call->schedule = schedule;
    call->run = (run){.operation = operation, .instance = i};
    enter(s, call, s->calls + 1);
    schedules_seed(schedule);
    run_result begun = run_begin(s->context, operation, i, &s->backend->methods[method], &call->run);
    if (schedules_may_start_early()) {
        count(s, call,
              run_fail("a dependent launch of the caller's could start before the call's last launch ends"));
    }
    if (begun != RUN_PASSED) {
        count(s, call, begun);
    } else if (++s->calls == device_calls_at_once() || s->calls == CALLS_AT_ONCE) {
        end_calls(s);
    }
}

static bool chosen(const char *option, const char *name) {
    return option == NULL || strcmp(option, name) == 0;
}

static bool is_left_out(const options *o, const run_operation *operation) {
    return o->no_ranks && o->operation == NULL && operation->problem == PROBLEM_WITH_RANKS;
}

static void call_all(session *s, const instance *i) {
    const options *o = s->options;
    random_state random = {i->source->seed};
    uint64_t first = o->schedule != 0 ? o->schedule : random_bits(&random) >> 32;
    for (int operation = 0; s->backend->operations[operation] != NULL; operation++) {
        for (int method = 0; s->backend->methods[method].label != NULL; method++) {
            bool wanted = chosen(o->operation, s->backend->operations[operation]->name) &&
                          chosen(o->method, s->backend->methods[method].label) &&
                          !is_left_out(o, s->backend->operations[operation]);
            /* The library's own choice is one of the methods that follow, under more schedules. */
            const long schedules = method == 0 && o->method == NULL ? 1 : o->schedules;
            for (long schedule = 0; wanted && schedule < schedules; schedule++) {
                call_once(s, i, s->backend->operations[operation], method, first + (uint64_t)schedule * 1000);
            }
        }
    }
}

static bool run_case(const test_case *c, long position, void *context) {
    session *s = context;
    if (s->options->end != 0 && time(NULL) > s->options->end) {
        s->tally->is_late = true;
        return false;
    }
    open_case *open = &s->open_cases[s->cases++];
    open->source = *c;
    s->tally->position = position;
    s->tally->cases++;
    atomic_fetch_add(&s->tally->steps, 1);
    instance_build(&open->source, &open->built);
    call_all(s, &open->built);
    if (s->calls == 0 || s->cases == CASES_AT_ONCE || device_bytes_taken() > bytes_at_once) {
        end_cases(s);
    }
    return s->tally->failures < s->options->failures_max;
}

static topk_context *create_context(const options *o, const backend *b) {
    topk_context_options settings = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    topk_context *context;
    settings.backend = b->kind;
    settings.seed = 1; /* a failure must come again */
    settings.threads = b->kind == TOPK_BACKEND_CPU ? o->threads : 0;
    if (topk_context_create(&settings, &context) != TOPK_OK ||
        topk_context_query(context, &properties) != TOPK_OK) {
        fprintf(stderr, "no context: %s\n", topk_last_error());
        exit(1);
    }
    if (o->job == 0 && o->first == 0) {
        printf("%s, %d threads, features: %s\n", b->name, properties.threads, properties.features);
    }
    return context;
}

static bool is_listed(const backend *b, topk_operation operation) {
    for (int i = 0; b->operations[i] != NULL; i++) {
        if (b->operations[i]->operation == operation) {
            return true;
        }
    }
    return false;
}

/* What the list of cases leaves out must be what the backend cannot do. */
static void check_operations(session *s) {
    for (int operation = TOPK_OPERATION_SELECT; operation <= TOPK_OPERATION_SELECT_BY; operation++) {
        topk_problem problem = TOPK_PROBLEM_INIT;
        size_t bytes;
        problem.type = TOPK_F32;
        problem.length_max = problem.k_max = 1;
        const topk_status status =
            topk_workspace_size(s->context, (topk_operation)operation, &problem, &bytes);
        if (!is_listed(s->backend, (topk_operation)operation) && status != TOPK_ERROR_UNSUPPORTED) {
            fprintf(stderr, "FAILED: operation %d is served (%s), but not tested\n", operation,
                    topk_status_string(status));
            s->tally->failures++;
        }
    }
}

bool session_run(const options *o, const backend *b, tally *t) {
    session *s = calloc(1, sizeof *s);
    if (s == NULL) {
        abort();
    }
    device_open();
    *s = (session){.options = o, .backend = b, .context = create_context(o, b), .tally = t};
    if (o->graphs) {
        run_in_graphs();
    }
    check_operations(s);
    bool some = list_cases(o, run_case, s);
    end_cases(s);
    reached_paths_read(t->reached, REACHED_MOST);
    topk_context_destroy(s->context);
    device_close();
    free(s);
    t->ended = true;
    return some;
}
