/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schedules.h"

enum { ELEMENTS_DEFAULT = 1 << 18 };

static const char usage[] =
    "usage: %s [OPTION]...\n"
    "Runs the shared list of cases over all methods of a backend, against the oracle.\n"
    "  --full             all of type x data x size x k x direction (hours), not a covering array\n"
    "  --random N         N small random cases instead\n"
    "  --k-above N        random cases with k above N, in rows of more than N elements\n"
    "  --case TEXT        this case alone, e.g. type=f32,data=uniform,size=100,k=10\n"
    "  --filter TEXT      only cases with these levels, e.g. type=f32,shape=csr\n"
    "  --backend NAME     cpu (the default) or cuda\n"
    "  --operation NAME   only select, kth, where, select_where, count, mask, route, merge, select_by, "
    "approximate, approximate_where, ranks or ranks_where\n"
    "  --method NAME      only this method; \"default\" is the library's choice\n"
    "  --threads N        threads of a CPU context (1)\n"
    "  --graphs           capture each call in a CUDA graph and launch that\n"
    "  --schedules N      run each call under N schedules of the emulated GPU (1)\n"
    "  --schedule SEED    of the first of them (depends on the case)\n"
    "  --smallest N       leave out rows shorter than N (0)\n"
    "  --largest N        leave out rows longer than N (131072)\n"
    "  --cases N          only the first N of them, which cover the most pairs\n"
    "  --by-position N    one in N of the cases with results by position has them so, the others any order "
    "(1)\n"
    "  --no-ranks         leave out calls with several ranks, which take as long as that many\n"
    "  --elements N       drop rows from cases with more elements or results than this (262144)\n"
    "  --seed N           of the covering array, of random cases and of the data (1)\n"
    "  --failures N       stop after N failures (10)\n"
    "  --jobs N           N processes share the cases; a crash costs one case (0: this process)\n"
    "  --seconds N        begin no case once N seconds are over\n"
    "  --limit SECONDS    of processor time for a call, with --jobs (300)\n"
    "  --paths RUN        fail unless the rare paths of this run are taken\n"
    "  --own-paths        fail unless those of the method are; a whole list does so by itself\n"
    "TOPK_CPU_DISABLE chooses the variant of the code, as in topk_context_create().\n";

static _Noreturn void leave(const char *program, int status) {
    fprintf(status == 0 ? stdout : stderr, usage, program);
    exit(status);
}

static long long number(const char *program, const char *text) {
    char *end;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || value < 0) {
        fprintf(stderr, "%s: '%s' is not a number\n", program, text);
        leave(program, 2);
    }
    return value;
}

static void take(options *o, int letter, const char *value) {
    switch (letter) {
    case 'F':
        o->full = true;
        break;
    case 'g':
        o->graphs = true;
        break;
    case 'c':
        o->one_case = value;
        break;
    case 'f':
        o->filter = value;
        break;
    case 'b':
        o->backend = value;
        break;
    case 'o':
        o->operation = value;
        break;
    case 'm':
        o->method = value;
        break;
    case 'r':
        o->random_cases = (long)number(o->program, value);
        break;
    case 'k':
        o->k_above = number(o->program, value);
        break;
    case 't':
        o->threads = (int)number(o->program, value);
        break;
    case 'n':
        o->schedules = (long)number(o->program, value);
        break;
    case 'i':
        o->schedule = (uint64_t)number(o->program, value);
        break;
    case 'w':
        o->smallest = number(o->program, value);
        break;
    case 'l':
        o->largest = number(o->program, value);
        break;
    case 'a':
        o->cases_max = (long)number(o->program, value);
        break;
    case 'y':
        o->by_position = (long)number(o->program, value);
        break;
    case 'q':
        o->no_ranks = true;
        break;
    case 'e':
        o->elements = number(o->program, value);
        break;
    case 's':
        o->seed = (uint64_t)number(o->program, value);
        break;
    case 'x':
        o->failures_max = (long)number(o->program, value);
        break;
    case 'd':
        o->end = time(NULL) + (time_t)number(o->program, value);
        break;
    case 'u':
        o->limit = (long)number(o->program, value);
        break;
    case 'P':
        o->paths = value;
        break;
    case 'p':
        o->own_paths = true;
        break;
    case 'j':
        o->jobs = (long)number(o->program, value);
        break;
    default:
        leave(o->program, letter == 'h' ? 0 : 2);
    }
}

options options_parse(int argc, char **argv) {
    static const struct option known[] = {{"full", no_argument, NULL, 'F'},
                                          {"random", required_argument, NULL, 'r'},
                                          {"k-above", required_argument, NULL, 'k'},
                                          {"case", required_argument, NULL, 'c'},
                                          {"filter", required_argument, NULL, 'f'},
                                          {"backend", required_argument, NULL, 'b'},
                                          {"operation", required_argument, NULL, 'o'},
                                          {"method", required_argument, NULL, 'm'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"graphs", no_argument, NULL, 'g'},
                                          {"schedules", required_argument, NULL, 'n'},
                                          {"schedule", required_argument, NULL, 'i'},
                                          {"smallest", required_argument, NULL, 'w'},
                                          {"largest", required_argument, NULL, 'l'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"failures", required_argument, NULL, 'x'},
                                          {"cases", required_argument, NULL, 'a'},
                                          {"by-position", required_argument, NULL, 'y'},
                                          {"no-ranks", no_argument, NULL, 'q'},
                                          {"elements", required_argument, NULL, 'e'},
                                          {"jobs", required_argument, NULL, 'j'},
                                          {"seconds", required_argument, NULL, 'd'},
                                          {"limit", required_argument, NULL, 'u'},
                                          {"paths", required_argument, NULL, 'P'},
                                          {"own-paths", no_argument, NULL, 'p'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    options o = {.program = argv[0],
                 .seed = 1,
                 .largest = 131072,
                 .cases_max = LONG_MAX,
                 .elements = ELEMENTS_DEFAULT,
                 .by_position = 1,
                 .backend = "cpu",
                 .threads = 1,
                 .schedules = 1,
                 .failures_max = 10,
                 .limit = 300};
    for (int letter; (letter = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        take(&o, letter, optarg);
    }
    return o;
}

const char *options_rerun(const options *o, const test_case *c, const char *operation, const char *method,
                          uint64_t schedule, char text[RERUN_BYTES]) {
    char case_text[CASE_TEXT_BYTES], more[128], elements[64] = "";
    const char *disabled = getenv("TOPK_CPU_DISABLE");
    if (strcmp(o->backend, "cpu") == 0) {
        snprintf(more, sizeof more, "--threads %d", o->threads);
    } else if (schedules_exist()) {
        snprintf(more, sizeof more, "--backend %s --schedule %" PRIu64, o->backend, schedule);
    } else {
        snprintf(more, sizeof more, "--backend %s%s", o->backend, o->graphs ? " --graphs" : "");
    }
    if (o->elements != ELEMENTS_DEFAULT) {
        snprintf(elements, sizeof elements, " --elements %" PRId64, o->elements);
    }
    snprintf(text, RERUN_BYTES, "%s%s %s %s%s --operation %s --method %s --case %s",
             strcmp(o->backend, "cpu") == 0 ? "TOPK_CPU_DISABLE=" : "",
             strcmp(o->backend, "cpu") == 0 && disabled != NULL ? disabled : "", o->program, more, elements,
             operation, method, case_format(c, case_text));
    return text;
}
