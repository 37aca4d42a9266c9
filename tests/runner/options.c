/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: %s [OPTION]...\n"
    "Runs the shared list of cases over all methods of a backend, against the oracle.\n"
    "  --full             all of type x data x size x k x direction (hours), not a covering array\n"
    "  --random N         N small random cases instead\n"
    "  --case TEXT        this case alone, e.g. type=f32,data=uniform,size=100,k=10\n"
    "  --filter TEXT      only cases with these levels, e.g. type=f32,shape=csr\n"
    "  --operation NAME   only select, kth or where\n"
    "  --method NAME      only this method; \"default\" is the library's choice\n"
    "  --threads N        threads of the context (1)\n"
    "  --largest N        leave out rows longer than N (131072)\n"
    "  --seed N           of the covering array, of random cases and of the data (1)\n"
    "  --failures N       stop after N failures (10)\n"
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

options options_parse(int argc, char **argv) {
    static const struct option known[] = {{"full", no_argument, NULL, 'F'},
                                          {"random", required_argument, NULL, 'r'},
                                          {"case", required_argument, NULL, 'c'},
                                          {"filter", required_argument, NULL, 'f'},
                                          {"operation", required_argument, NULL, 'o'},
                                          {"method", required_argument, NULL, 'm'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"largest", required_argument, NULL, 'l'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"failures", required_argument, NULL, 'x'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    options o = {.seed = 1, .largest = 131072, .threads = 1, .failures_max = 10};
    for (int letter; (letter = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (letter) {
        case 'F':
            o.full = true;
            break;
        case 'r':
            o.random_cases = (long)number(argv[0], optarg);
            break;
        case 'c':
            o.one_case = optarg;
            break;
        case 'f':
            o.filter = optarg;
            break;
        case 'o':
            o.operation = optarg;
            break;
        case 'm':
            o.method = optarg;
            break;
        case 't':
            o.threads = (int)number(argv[0], optarg);
            break;
        case 'l':
            o.largest = number(argv[0], optarg);
            break;
        case 's':
            o.seed = (uint64_t)number(argv[0], optarg);
            break;
        case 'x':
            o.failures_max = (long)number(argv[0], optarg);
            break;
        default:
            leave(argv[0], letter == 'h' ? 0 : 2);
        }
    }
    return o;
}

void options_print_rerun(const options *o, const char *program, const char *case_text, const char *operation,
                         const char *method) {
    const char *disabled = getenv("TOPK_CPU_DISABLE");
    fprintf(stderr,
            "  rerun: OMP_WAIT_POLICY=passive TOPK_CPU_DISABLE=%s %s --threads %d --operation %s --method %s "
            "--case %s\n",
            disabled != NULL ? disabled : "", program, o->threads, operation, method, case_text);
}
