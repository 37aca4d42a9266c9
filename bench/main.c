/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"
#include "points/dimensions.h"
#ifdef BENCH_HAS_CUDA
#include "gpu/suite.h"
#endif

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Keys of the options; those of the dimensions follow first_dimension. */
enum {
    key_csv = 256,
    key_cold,
    key_device,
    key_graph,
    key_once,
    key_points,
    key_rivals,
    key_seed,
    key_self_test,
    key_warm,
    first_dimension
};

static struct argp_option options[BENCH_DIMENSIONS + 16] = {
    {"device", key_device, "NAME", 0, "cpu (default) or cuda", 2},
    {"threads", 't', "N", 0, "CPU: threads of calls and reads (default: what OpenMP would use)", 2},
    {"pairs", 'p', "N", 0, "pairs of a read and a call, on a GPU runs (default 21)", 2},
    {"runs", 'p', NULL, OPTION_ALIAS, NULL, 2},
    {"cold", key_cold, NULL, 0, "go round 256 MiB of copies of the input (a GPU's default)", 2},
    {"warm", key_warm, NULL, 0, "read one input again and again (the CPU's default)", 2},
    {"graph", key_graph, NULL, 0, "CUDA: each call also captured and replayed", 2},
    {"once", key_once, NULL, 0, "CUDA: each call once, checked but not timed", 2},
    {"rivals", key_rivals, NULL, 0, "run the C++ standard library beside it, on a GPU CUB", 2},
    {"seed", key_seed, "N", 0, "of the data and of samples (default 1)", 2},
    {"points", key_points, "FILE", 0, "of the suites peers and where on CUDA: read their points from FILE",
     2},
    {"csv", key_csv, "FILE", 0, "write the results to FILE too", 2},
    {"self-test", key_self_test, NULL, OPTION_HIDDEN, NULL, 2},
};

/* An option for each dimension, in front of the others. */
static void add_dimensions(void) {
    memmove(options + BENCH_DIMENSIONS, options, sizeof options - BENCH_DIMENSIONS * sizeof *options);
    for (int d = 0; d < BENCH_DIMENSIONS; ++d) {
        const bench_dimension *each = &bench_dimensions[d];
        options[d] = (struct argp_option){each->name, first_dimension + d, "LIST", 0, each->help, 1};
    }
}

typedef struct settings {
    bench_request request;
    char words[1024]; /* of the request */
    const char *csv;
    bool list, self_test, warm, graph, once;
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
        const size_t used = strlen(arguments->words);
        const size_t room = sizeof arguments->words - used;
        const int length = snprintf(arguments->words + used, room, "%s=%s ",
                                    bench_dimensions[key - first_dimension].name, text);
        if ((size_t)length >= room) {
            argp_error(state, "too many values");
        }
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
    case key_points:
        arguments->request.file = text;
        return 0;
    case key_csv:
        arguments->csv = text;
        return 0;
    case key_cold:
        session->cold = true;
        arguments->warm = false;
        return 0;
    case key_warm:
        session->cold = false;
        arguments->warm = true;
        return 0;
    case key_device:
        if (strcmp(text, "cpu") != 0 && strcmp(text, "cuda") != 0) {
            argp_error(state, "the device must be cpu or cuda, not '%s'", text);
        }
        arguments->request.device = text;
        return 0;
    case key_graph:
        arguments->graph = true;
        return 0;
    case key_once:
        arguments->once = true;
        return 0;
    case key_rivals:
        session->rivals = true;
        return 0;
    case key_self_test:
        arguments->self_test = true;
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

static bool is_cuda(const settings *arguments) {
    return strcmp(arguments->request.device, "cuda") == 0;
}

/* What the program returns where there is no device of the kind asked for; tests are then skipped. */
enum { exit_no_device = 77 };

/* EXIT_SUCCESS, or what the program is to return. */
static int open_context(settings *arguments) {
    bench_session *session = &arguments->session;
    topk_context_options context_options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    context_options.backend = is_cuda(arguments) ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    context_options.threads = session->threads;
    context_options.seed = session->seed;
    topk_status status = topk_context_create(&context_options, &session->context);
    if (status == TOPK_OK) {
        status = topk_context_query(session->context, &properties);
    }
    if (status != TOPK_OK) {
        fprintf(stderr, "topk-bench: %s\n", topk_last_error());
        return status == TOPK_ERROR_BACKEND_UNAVAILABLE ? exit_no_device : EXIT_FAILURE;
    }
    session->threads = properties.threads;
    session->features = properties.features;
    return EXIT_SUCCESS;
}

/* The number of points that failed. */
static int run_points(settings *arguments, const bench_point *points, int count, FILE *csv) {
    bench_session *session = &arguments->session;
    if (!is_cuda(arguments)) {
        return bench_cpu_suite(session, points, count, csv);
    }
#ifdef BENCH_HAS_CUDA
    bench_gpu_session gpu;
    const bench_gpu_options gpu_options = {.runs = session->pairs,
                                           .warm = arguments->warm,
                                           .graph = arguments->graph,
                                           .rivals = session->rivals,
                                           .once = arguments->once,
                                           .seed = session->seed};
    const bool opened = bench_gpu_open(&gpu, session->context, &gpu_options);
    const int failed = opened ? bench_gpu_suite(&gpu, points, count, csv) : count;
    bench_gpu_close(&gpu);
    return failed;
#else
    return count; /* no context of this kind could be made */
#endif
}

static bool run_self_test(settings *arguments) {
    bench_session *session = &arguments->session;
    if (!is_cuda(arguments)) {
        return bench_cpu_self_test(session);
    }
#ifdef BENCH_HAS_CUDA
    bench_gpu_session gpu;
    const bench_gpu_options gpu_options = {.runs = session->pairs, .seed = session->seed};
    const bool ok = bench_gpu_open(&gpu, session->context, &gpu_options) && bench_gpu_self_test(&gpu);
    bench_gpu_close(&gpu);
    return ok;
#else
    return false;
#endif
}

static int run_suite(settings *arguments) {
    bench_point *points = NULL;
    char error[4200];
    const int count = bench_suite_points(&arguments->request, &points, error, sizeof error);
    if (count < 0) {
        fprintf(stderr, "topk-bench: %s\n", error);
        return EXIT_FAILURE;
    }
    FILE *csv = NULL;
    if (arguments->csv != NULL && (csv = fopen(arguments->csv, "w")) == NULL) {
        fprintf(stderr, "topk-bench: %s: %s\n", arguments->csv, strerror(errno));
        free(points);
        return EXIT_FAILURE;
    }
    int failed = run_points(arguments, points, count, csv);
    if (csv != NULL && fclose(csv) != 0) {
        fprintf(stderr, "topk-bench: %s: %s\n", arguments->csv, strerror(errno));
        failed = 1;
    }
    free(points);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    settings arguments = {.request = {.device = "cpu"}, .session = {.pairs = 21, .seed = 1}};
    arguments.request.words = arguments.words;
    add_dimensions();
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (arguments.request.suite == NULL && !arguments.self_test) {
        fprintf(
            stderr,
            "topk-bench: which suite? quick, all or one of\n"
            "  CPU   select, sizes, data, rows, large-k, kth, where\n"
            "  CUDA  select, sizes, data, rows, large-k, kth, peers, peers-GROUP, air-figures, air-fig6,\n"
            "        air-fig7, air-fig8, air-fig9, air-fig10, air-alpha, air-table3, where, where-figures,\n"
            "        where-share, where-n, where-types, where-outputs, where-phases, where-block, filtered,\n"
            "        count, mask\n");
        return EXIT_FAILURE;
    }
    int status = open_context(&arguments);
    if (status == EXIT_SUCCESS) {
        status = !arguments.self_test        ? run_suite(&arguments)
                 : run_self_test(&arguments) ? EXIT_SUCCESS
                                             : EXIT_FAILURE;
    }
    bench_session_free(&arguments.session);
    topk_context_destroy(arguments.session.context);
    return status;
}
