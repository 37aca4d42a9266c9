/* SPDX-License-Identifier: Apache-2.0 */
#include "data/data.h"
#include "measure/device.h"
#include "points/suites.h"
#include "report.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Keys of the options; those of the dimensions follow first_dimension. */
enum {
    first_key = 256,
    key_csv = first_key,
    key_cold,
    key_device,
    key_graph,
    key_list,
    key_once,
    key_points,
    key_rivals,
    key_seed,
    key_self_test,
    key_warm,
    first_dimension
};

static struct argp_option all_options[BENCH_DIMENSIONS + 16] = {
    {"device", key_device, "NAME", 0, "cpu (default) or cuda", 2},
    {"threads", 't', "N", 0, "CPU: threads of calls and reads (default: what OpenMP would use)", 2},
    {"pairs", 'p', "N", 0, "pairs of a read and a call, on a GPU runs (default 21)", 2},
    {"runs", 'p', NULL, OPTION_ALIAS, NULL, 2},
    {"cold", key_cold, NULL, 0, "go round 256 MiB of copies of the input (a GPU's default)", 2},
    {"warm", key_warm, NULL, 0, "read one input again and again (the CPU's default)", 2},
    {"graph", key_graph, NULL, 0, "CUDA: each call also captured and replayed", 2},
    {"once", key_once, NULL, 0, "each call once, checked but not timed", 2},
    {"rivals", key_rivals, NULL, 0, "run the C++ standard library beside it, on a GPU CUB", 2},
    {"seed", key_seed, "N", 0, "of the data and of samples (default 1)", 2},
    {"points", key_points, "FILE", 0, "of the suites peers and where on CUDA: read their points from FILE",
     2},
    {"csv", key_csv, "FILE", 0, "write the results to FILE too", 2},
    {"list", key_list, NULL, 0, "write the points of the suite as CSV, and run none", 2},
    {"self-test", key_self_test, NULL, OPTION_HIDDEN, NULL, 2},
};

/* An option for each dimension, in front of the others. */
static void add_dimensions(void) {
    memmove(all_options + BENCH_DIMENSIONS, all_options,
            sizeof all_options - BENCH_DIMENSIONS * sizeof *all_options);
    for (int d = 0; d < BENCH_DIMENSIONS; ++d) {
        const bench_dimension *each = &bench_dimensions[d];
        all_options[d] = (struct argp_option){each->name, first_dimension + d, "LIST", 0, each->help, 1};
    }
}

typedef struct settings {
    bench_request request;
    char words[1024]; /* of the request */
    const char *csv;
    bool flags[first_dimension - first_key]; /* which of the options without a value were given */
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

static void add_word(settings *arguments, const char *name, const char *list, struct argp_state *state) {
    const size_t used = strlen(arguments->words);
    const size_t room = sizeof arguments->words - used;
    if ((size_t)snprintf(arguments->words + used, room, "%s=%s ", name, list) >= room) {
        argp_error(state, "too many values");
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state) {
    settings *arguments = state->input;
    bench_options *options = &arguments->session.options;
    if (key >= first_dimension && key < first_dimension + BENCH_DIMENSIONS) {
        add_word(arguments, bench_dimensions[key - first_dimension].name, text, state);
        return 0;
    }
    switch (key) {
    case 't':
        options->threads = parse_number(text, 1024, "threads", state);
        return 0;
    case 'p':
        options->runs = parse_number(text, 1000000, "pairs", state);
        return 0;
    case key_seed:
        options->seed = (uint64_t)parse_number(text, 1000000000, "the seed", state);
        return 0;
    case key_points:
        arguments->request.file = text;
        return 0;
    case key_csv:
        arguments->csv = text;
        return 0;
    case key_device:
        if (strcmp(text, "cpu") != 0 && strcmp(text, "cuda") != 0) {
            argp_error(state, "the device must be cpu or cuda, not '%s'", text);
        }
        arguments->request.device = text;
        return 0;
    case key_cold:
    case key_graph:
    case key_list:
    case key_once:
    case key_rivals:
    case key_self_test:
    case key_warm:
        arguments->flags[key - first_key] = true;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->request.suite != NULL) {
            argp_error(state, "one suite at a time");
        }
        arguments->request.suite = text;
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

static bool is_given(const settings *arguments, int key) {
    return arguments->flags[key - first_key];
}

static bool is_cuda(const settings *arguments) {
    return strcmp(arguments->request.device, "cuda") == 0;
}

static void choose_options(settings *arguments) {
    bench_options *options = &arguments->session.options;
    options->cold = is_given(arguments, key_cold) || (is_cuda(arguments) && !is_given(arguments, key_warm));
    options->graph = is_given(arguments, key_graph);
    options->once = is_given(arguments, key_once);
    options->rivals = is_given(arguments, key_rivals);
    arguments->session.device = &bench_cpu; /* without CUDA no context for a GPU can be made */
#ifdef BENCH_HAS_CUDA
    arguments->session.device = is_cuda(arguments) ? &bench_cuda : &bench_cpu;
#endif
}

/* What the program returns where there is no device of the kind asked for; tests are then skipped. */
enum { exit_no_device = 77 };

/* EXIT_SUCCESS, or what the program is to return. */
static int open_session(settings *arguments) {
    bench_session *session = &arguments->session;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    options.backend = is_cuda(arguments) ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    options.threads = session->options.threads;
    options.seed = session->options.seed;
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
    return session->device->open(session) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void close_session(bench_session *session) {
    bench_outputs_free(&session->outputs);
    session->device->memory->free(&session->workspace);
    if (session->context != NULL) {
        session->device->close(session);
    }
    topk_context_destroy(session->context);
}

/* The number of points that failed or were not run. */
static int run_points(bench_session *session, const bench_point *points, int count, FILE *csv) {
    bench_report report = {.table = stdout, .csv = csv};
    int done = 0;
    bench_report_begin(&report, session);
    while (done < count && !session->lost) {
        bench_run(session, &points[done++], bench_report_add, &report);
    }
    if (session->lost) {
        fprintf(report.table, "the device is lost: the last %d points were not run\n", count - done);
    }
    bench_report_end(&report);
    return report.outcomes[BENCH_WRONG] + (count - done);
}

static int run_suite(settings *arguments, const bench_point *points, int count) {
    FILE *csv = NULL;
    if (arguments->csv != NULL && (csv = fopen(arguments->csv, "w")) == NULL) {
        fprintf(stderr, "topk-bench: %s: %s\n", arguments->csv, strerror(errno));
        return EXIT_FAILURE;
    }
    bool ok = run_points(&arguments->session, points, count, csv) == 0;
    if (csv != NULL && fclose(csv) != 0) {
        fprintf(stderr, "topk-bench: %s: %s\n", arguments->csv, strerror(errno));
        ok = false;
    }
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Runs the points of the suite, or the self-test if there is none. */
static int run(settings *arguments, const bench_point *points, int count) {
    bench_session *session = &arguments->session;
    int status = open_session(arguments);
    if (status == EXIT_SUCCESS) {
        status = !is_given(arguments, key_self_test) ? run_suite(arguments, points, count)
                 : bench_run_self_test(session)      ? EXIT_SUCCESS
                                                     : EXIT_FAILURE;
    }
    close_session(session);
    return status;
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
    fprintf(stderr, "%s\n", strcmp(device, "cuda") == 0 ? ", peers-GROUP, air-figures, where-figures" : "");
}

int main(int argc, char **argv) {
    settings arguments = {.request = {.device = "cpu"}, .session = {.options = {.runs = 21, .seed = 1}}};
    bench_point *points = NULL;
    char error[4200];
    int count = 0;
    arguments.request.words = arguments.words;
    add_dimensions();
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    choose_options(&arguments);
    if (arguments.request.suite != NULL) {
        count = bench_suite_points(&arguments.request, &points, error, sizeof error);
        if (count < 0) {
            fprintf(stderr, "topk-bench: %s\n", error);
            return EXIT_FAILURE;
        }
    } else if (!is_given(&arguments, key_self_test)) {
        fprintf(stderr, "topk-bench: which suite?\n");
        tell_suites("cpu");
        tell_suites("cuda");
        return EXIT_FAILURE;
    }
    const bool list = is_given(&arguments, key_list);
    for (int i = 0; list && i < count; ++i) {
        bench_report_point(stdout, &points[i], i == 0);
    }
    const int status = list ? EXIT_SUCCESS : run(&arguments, points, count);
    free(points);
    return status;
}
