/* SPDX-License-Identifier: Apache-2.0 */
#include "data/data.h"
#include "measure/device.h"
#include "points/suites.h"
#include "report.h"
#include "topk_advanced.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the program returns where there is no device of the kind asked for; tests are then skipped. */
enum { exit_no_device = 77 };

/* add_dimensions() puts the dimensions in front of these, and gives keys to all that have none. */
enum { first_key = 256, own_options = 17, option_count = BENCH_DIMENSIONS + own_options };
static struct argp_option all_options[option_count + 1] = {
    {"device", 0, "NAME", 0, "cpu (default) or cuda", 2},
    {"threads", 't', "N", 0, "CPU: threads of calls and reads (default: one for each processor)", 2},
    {"pairs", 'p', "N", 0, "pairs of a read and a call, on a GPU runs (default 21)", 2},
    {"runs", 'p', NULL, OPTION_ALIAS, NULL, 2},
    {"cold", 0, NULL, 0, "go round 256 MiB of copies of the input (a GPU's default)", 2},
    {"warm", 0, NULL, 0, "read one input again and again (the CPU's default)", 2},
    {"graph", 0, NULL, 0, "CUDA: each call also captured and replayed", 2},
    {"once", 0, NULL, 0, "each call once, checked but not timed", 2},
    {"rivals", 0, NULL, 0, "run the C++ standard library beside it, on a GPU CUB and baselines", 2},
    {"seed", 0, "N", 0, "of the data and of samples (default 1)", 2},
    {"points", 0, "FILE", 0, "CUDA, peers and where: read their points from FILE", 2},
    {"vectors", 0, "FILE", 0, "the distribution distances: .fvecs, .bvecs or .npy", 2},
    {"queries", 0, "FILE", 0, "and a vector for each row: elements are distances between them", 2},
    {"data", 0, "FILE", 0, "the distribution file: .npy of one dimension and the type", 2},
    {"csv", 0, "FILE", 0, "write the results to FILE too", 2},
    {"list", 0, NULL, 0, "write the points of the suite as CSV, and run none", 2},
    {"self-test", 0, NULL, OPTION_HIDDEN, NULL, 2},
};

static void add_dimensions(void) {
    memmove(all_options + BENCH_DIMENSIONS, all_options, own_options * sizeof *all_options);
    for (int i = 0; i < option_count; ++i) {
        struct argp_option *each = &all_options[i];
        if (i < BENCH_DIMENSIONS) {
            *each = (struct argp_option){bench_dimensions[i].name, 0, "LIST", 0, bench_dimensions[i].help, 1};
        }
        each->key = each->key == 0 && each->name != NULL ? first_key + i : each->key;
    }
}

/* The suite, and the text of each option that was given; "" if it takes none. */
typedef struct settings {
    const char *suite;
    const char *given[option_count];
} settings;

static const char *given(const settings *arguments, const char *name) {
    int i = 0;
    while (strcmp(all_options[i].name, name) != 0) {
        ++i;
    }
    return arguments->given[i];
}

static error_t parse_option(int key, char *text, struct argp_state *state) {
    settings *arguments = state->input;
    for (int i = 0; i < option_count; ++i) {
        if (key == all_options[i].key) {
            arguments->given[i] = text != NULL ? text : "";
            return 0;
        }
    }
    if (key != ARGP_KEY_ARG) {
        return ARGP_ERR_UNKNOWN;
    }
    if (arguments->suite != NULL) {
        argp_error(state, "one suite at a time");
    }
    arguments->suite = text;
    return 0;
}

/* The list of distributions, after the options. */
static char *add_distributions(int key, const char *text, void *input) {
    (void)input;
    char *list = NULL;
    size_t size;
    FILE *out = key == ARGP_KEY_HELP_POST_DOC ? open_memstream(&list, &size) : NULL;
    if (out == NULL) {
        return (char *)(uintptr_t)text;
    }
    fprintf(out, "Distributions:\n");
    for (int i = 0; i < bench_distribution_count; ++i) {
        fprintf(out, "  %-15s %s\n", bench_distributions[i].name, bench_distributions[i].help);
    }
    fclose(out);
    return list;
}

static const struct argp argp = {
    all_options, parse_option,      "SUITE", "Times libtopk against one read of its input.\v",
    NULL,        add_distributions, NULL,
};

__attribute__((noreturn)) static void give_up(const char *what, const char *why) {
    fprintf(stderr, "topk-bench: %s%s\n", what, why);
    exit(EXIT_FAILURE);
}

static int number_of(const settings *arguments, const char *name, int usual, int most) {
    const char *text = given(arguments, name);
    char *end;
    errno = 0;
    const long number = text != NULL ? strtol(text, &end, 10) : usual;
    if (text != NULL && (errno != 0 || end == text || *end != '\0' || number < 1 || number > most)) {
        give_up("not a number, or too large: ", text);
    }
    return (int)number;
}

static bool is_cuda(const settings *arguments) {
    const char *device = given(arguments, "device");
    if (device != NULL && strcmp(device, "cpu") != 0 && strcmp(device, "cuda") != 0) {
        give_up("the device must be cpu or cuda, not ", device);
    }
    return device != NULL && strcmp(device, "cuda") == 0;
}

/* Both files of vectors or none. */
static void read_source(bench_source *source, const settings *arguments) {
    static const char *const names[] = {"vectors", "queries", "data"};
    bench_vectors *const files[] = {&source->base, &source->queries};
    for (int i = 0; i < 3; ++i) {
        const char *path = given(arguments, names[i]);
        const char *why = path == NULL ? NULL
                          : i < 2      ? bench_vectors_read(path, files[i])
                                       : bench_elements_read(path, &source->file);
        if (why != NULL) {
            fprintf(stderr, "topk-bench: %s ", path);
            give_up(why, "");
        }
    }
    if ((given(arguments, names[0]) == NULL) != (given(arguments, names[1]) == NULL)) {
        give_up("--vectors and --queries go together", "");
    }
    if (source->base.dimensions != source->queries.dimensions) {
        give_up("the vectors and the queries differ in their dimensions", "");
    }
}

static void choose_options(bench_session *session, const settings *arguments) {
    const bool cold_by_default = is_cuda(arguments) && given(arguments, "warm") == NULL;
    session->options = (bench_options){.threads = number_of(arguments, "threads", 0, 1024),
                                       .runs = number_of(arguments, "pairs", 21, 1000000),
                                       .cold = given(arguments, "cold") != NULL || cold_by_default,
                                       .graph = given(arguments, "graph") != NULL,
                                       .once = given(arguments, "once") != NULL,
                                       .rivals = given(arguments, "rivals") != NULL,
                                       .source.seed = (uint64_t)number_of(arguments, "seed", 1, 1000000000)};
    read_source(&session->options.source, arguments);
    session->device = &bench_cpu; /* without CUDA no context for a GPU can be made */
#ifdef BENCH_HAS_CUDA
    session->device = is_cuda(arguments) ? &bench_cuda : &bench_cpu;
#endif
}

/* EXIT_SUCCESS, or what the program is to return. */
static int open_session(bench_session *session, bool cuda) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    options.backend = cuda ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    options.threads = session->options.threads;
    options.seed = session->options.source.seed;
    topk_status status = topk_context_create(&options, &session->context);
    if (status == TOPK_OK) {
        status = topk_context_query(session->context, &properties);
    }
    if (status != TOPK_OK) {
        fprintf(stderr, "topk-bench: %s\n", topk_last_error());
        return status == TOPK_ERROR_BACKEND_UNAVAILABLE ? exit_no_device : EXIT_FAILURE;
    }
    session->options.threads = properties.threads;
    session->features = properties.features;
    return session->device->open == NULL || session->device->open(session) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void close_session(bench_session *session) {
    bench_outputs_free(&session->outputs);
    bench_data_free(&session->data);
    bench_data_free(&session->mask);
    bench_data_free(&session->host);
    bench_buffer_free(&session->of_model);
    bench_buffer_free(&session->workspace);
    bench_vectors_free(&session->options.source.queries);
    bench_vectors_free(&session->options.source.base);
    bench_elements_free(&session->options.source.file);
    if (session->context != NULL && session->device->close != NULL) {
        session->device->close(session);
    }
    topk_context_destroy(session->context);
}

/* Whether two points differ in no more than how the library solves them. */
static bool is_same_problem(const bench_point *a, const bench_point *b) {
    bench_point other = *b;
    memcpy(other.method, a->method, sizeof other.method);
    memcpy(other.tuning, a->tuning, sizeof other.tuning);
    return memcmp(a, &other, sizeof other) == 0;
}

/* Whether all points were run, and no result was wrong. Rivals run once for each problem. */
static bool run_suite(bench_session *session, const bench_point *points, int count, const char *csv) {
    bench_report report = {.table = stdout, .csv = csv != NULL ? fopen(csv, "w") : NULL};
    const bool rivals = session->options.rivals;
    bool have_run = false; /* the rivals of the problem at hand */
    int done = 0;
    if (csv != NULL && report.csv == NULL) {
        give_up("cannot be written: ", csv);
    }
    bench_report_begin(&report, session);
    while (done < count && !session->lost) {
        have_run = have_run && is_same_problem(&points[done - 1], &points[done]);
        session->options.rivals = rivals && !have_run;
        have_run = bench_run(session, &points[done++], bench_report_add, &report) || have_run;
    }
    if (session->lost) {
        fprintf(report.table, "the device is lost: the last %d points were not run\n", count - done);
    }
    bench_report_end(&report);
    if (report.csv != NULL && fclose(report.csv) != 0) {
        give_up("was not written: ", csv);
    }
    return report.outcomes[BENCH_WRONG] == 0 && done == count;
}

static void tell_suites(const char *device) {
    const char *last = "";
    fprintf(stderr, "  %-5s quick, all", device);
    for (int g = 0; g < bench_grid_count; ++g) {
        const bench_grid *grid = &bench_grids[g];
        if (strstr(grid->devices, device) != NULL && strcmp(grid->suite, last) != 0 &&
            strcmp(grid->suite, "quick") != 0) {
            fprintf(stderr, ", %s", last = grid->suite);
        }
    }
    fprintf(stderr, "%s\n",
            strcmp(device, "cuda") == 0 ? ", peers-GROUP, air-, drtopk-, radik-, rtopk-, where-figures" : "");
}

/* The points of the suite; none if there is no suite. */
static int find_points(const settings *arguments, const bench_source *source, bench_point **points) {
    char *words = NULL, error[4200];
    size_t size;
    FILE *out = open_memstream(&words, &size);
    for (int d = 0; out != NULL && d < BENCH_DIMENSIONS; ++d) {
        if (arguments->given[d] != NULL) {
            fprintf(out, "%s=%s ", bench_dimensions[d].name, arguments->given[d]);
        }
    }
    if (out == NULL || fclose(out) != 0) {
        give_up("out of memory", "");
    }
    if (arguments->suite == NULL) {
        return 0;
    }
    const bench_request request = {is_cuda(arguments) ? "cuda" : "cpu", arguments->suite, words,
                                   given(arguments, "points"), source};
    const int count = bench_suite_points(&request, points, error, sizeof error);
    free(words);
    if (count < 0) {
        give_up(error, "");
    }
    return count;
}

int main(int argc, char **argv) {
    settings arguments = {0};
    bench_session session = {0};
    bench_point *points = NULL;
    add_dimensions();
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    choose_options(&session, &arguments);
    const int count = find_points(&arguments, &session.options.source, &points);
    const bool self_test = given(&arguments, "self-test"), list = given(&arguments, "list");
    int status = EXIT_SUCCESS;
    if (count == 0 && !self_test) {
        tell_suites("cpu");
        tell_suites("cuda");
        give_up("which suite?", "");
    }
    for (int i = 0; list && i < count; ++i) {
        bench_report_point(stdout, &points[i], i == 0);
    }
    if (!list && (status = open_session(&session, is_cuda(&arguments))) == EXIT_SUCCESS) {
        const bool ok = self_test ? bench_run_self_test(&session)
                                  : run_suite(&session, points, count, given(&arguments, "csv"));
        status = ok ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    close_session(&session);
    free(points);
    return status;
}
