/* SPDX-License-Identifier: Apache-2.0 */
#include "check/self_test.h"
#include "points/suites.h"
#include "report.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Keys of the options; those of the dimensions follow first_dimension. */
enum { key_csv = 256, key_cold, key_rivals, key_seed, key_self_test, first_dimension };

static const struct argp_option options[] = {
    {"type", first_dimension + BENCH_TYPE, "LIST", 0, "f16, bf16, f32, f64, i8 to i64, u8 to u64", 1},
    {"dist", first_dimension + BENCH_DIST, "LIST", 0, "distributions of the data, see below", 1},
    {"rows", first_dimension + BENCH_ROWS, "LIST", 0, "rows, e.g. 65536 or 2^16", 1},
    {"n", first_dimension + BENCH_N, "LIST", 0, "elements of a row", 1},
    {"k", first_dimension + BENCH_K, "LIST", 0, "e.g. 10, 10^5, n/100, n", 1},
    {"keep", first_dimension + BENCH_KEEP, "LIST", 0, "where: percent of the elements that match", 1},
    {"direction", first_dimension + BENCH_DIRECTION, "LIST", 0, "largest, smallest", 1},
    {"order", first_dimension + BENCH_ORDER, "LIST", 0, "best, any", 1},
    {"ties", first_dimension + BENCH_TIES, "LIST", 0, "lowest, any", 1},
    {"index", first_dimension + BENCH_INDEX, "LIST", 0, "i32, i64", 1},
    {"method", first_dimension + BENCH_METHOD, "LIST", 0, "methods of the library, or auto", 1},
    {"threads", 't', "N", 0, "threads of calls and reads (default: what OpenMP would use)", 2},
    {"pairs", 'p', "N", 0, "pairs of a read and a call (default 21)", 2},
    {"cold", key_cold, NULL, 0, "go round 256 MiB of copies of the input", 2},
    {"rivals", key_rivals, NULL, 0, "run the C++ standard library beside it", 2},
    {"seed", key_seed, "N", 0, "of the data (default 1)", 2},
    {"csv", key_csv, "FILE", 0, "write the results to FILE too", 2},
    {"self-test", key_self_test, NULL, OPTION_HIDDEN, NULL, 2},
    {0},
};

typedef struct settings {
    const char *suite;
    const char *overrides[BENCH_DIMENSIONS];
    const char *csv;
    bool self_test;
    bench_session session;
} settings;

static int parse_number(const char *text, int most, const char *what, struct argp_state *state) {
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < 1 || number > most) {
        argp_error(state, "%s must be 1 to %d, not '%s'", what, most, text);
    }
    return (int)number;
}

static error_t parse_option(int key, char *text, struct argp_state *state) {
    settings *arguments = state->input;
    bench_session *session = &arguments->session;
    if (key >= first_dimension && key < first_dimension + BENCH_DIMENSIONS) {
        arguments->overrides[key - first_dimension] = text;
        return 0;
    }
    switch (key) {
    case 't':
        session->threads = parse_number(text, 1024, "threads", state);
        return 0;
    case 'p':
        session->pairs = parse_number(text, 1000000, "pairs", state);
        return 0;
    case key_seed:
        session->seed = (uint64_t)parse_number(text, 1000000000, "the seed", state);
        return 0;
    case key_csv:
        arguments->csv = text;
        return 0;
    case key_cold:
        session->cold = true;
        return 0;
    case key_rivals:
        session->rivals = true;
        return 0;
    case key_self_test:
        arguments->self_test = true;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->suite != NULL) {
            argp_error(state, "one suite at a time");
        }
        arguments->suite = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The list of distributions, after the options. */
static char *add_distributions(int key, const char *text, void *input) {
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC) {
        return (char *)(uintptr_t)text;
    }
    char *list = NULL;
    size_t size;
    FILE *out = open_memstream(&list, &size);
    if (out == NULL) {
        return NULL;
    }
    fprintf(out, "Distributions:\n");
    const bench_distribution *each;
    for (int i = 0; (each = bench_distribution_at(i)) != NULL; ++i) {
        fprintf(out, "  %-15s %s\n", bench_distribution_name(each), bench_distribution_help(each));
    }
    fclose(out);
    return list;
}

static const struct argp argp = {
    options, parse_option,      "SUITE", "Times libtopk against one read of its input.\v",
    NULL,    add_distributions, NULL,
};

static bool open_context(bench_session *session) {
    topk_context_options context_options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    context_options.backend = TOPK_BACKEND_CPU;
    context_options.threads = session->threads;
    if (topk_context_create(&context_options, &session->context) != TOPK_OK ||
        topk_context_query(session->context, &properties) != TOPK_OK) {
        fprintf(stderr, "topk-bench: %s\n", topk_last_error());
        return false;
    }
    session->threads = properties.threads;
    session->features = properties.features;
    return true;
}

/* Runs all points; the number of those that failed. */
static int run_points(bench_session *session, const bench_point *points, int count, bench_report *report) {
    int failed = 0;
    bench_report_begin(report, session);
    for (int i = 0; i < count; ++i) {
        failed += !bench_run(session, &points[i], bench_report_add, report);
    }
    fprintf(report->table, "%d points, %d wrong\n", count, failed);
    return failed;
}

static int run_suite(settings *arguments) {
    bench_point *points = NULL;
    char error[256];
    const int count =
        bench_suite_points(arguments->suite, arguments->overrides, &points, error, sizeof error);
    if (count < 0) {
        fprintf(stderr, "topk-bench: %s\n", error);
        return EXIT_FAILURE;
    }
    bench_report report = {stdout, NULL, 0};
    if (arguments->csv != NULL && (report.csv = fopen(arguments->csv, "w")) == NULL) {
        fprintf(stderr, "topk-bench: %s: %s\n", arguments->csv, strerror(errno));
        free(points);
        return EXIT_FAILURE;
    }
    int failed = run_points(&arguments->session, points, count, &report);
    if (report.csv != NULL && fclose(report.csv) != 0) {
        fprintf(stderr, "topk-bench: %s: %s\n", arguments->csv, strerror(errno));
        failed = 1;
    }
    free(points);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    settings arguments = {.session = {.pairs = 21, .seed = 1}};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (arguments.suite == NULL && !arguments.self_test) {
        fprintf(stderr,
                "topk-bench: which suite? select, sizes, data, rows, large-k, kth, where, quick or all\n");
        return EXIT_FAILURE;
    }
    int status = EXIT_FAILURE;
    if (open_context(&arguments.session)) {
        status = !arguments.self_test                  ? run_suite(&arguments)
                 : bench_self_test(&arguments.session) ? EXIT_SUCCESS
                                                       : EXIT_FAILURE;
    }
    bench_session_free(&arguments.session);
    topk_context_destroy(arguments.session.context);
    return status;
}
