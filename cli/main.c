/* SPDX-License-Identifier: Apache-2.0
 *
 * topk: the k best elements, the k-th element and the elements that meet a predicate, how many they are, or a
 * mask of them, from the command line. */
#include <argp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arrays/npy_file.h"
#include "base/fail.h"
#include "options/options.h"
#include "output/output.h"
#include "ranks/ranks.h"
#include "run/run.h"

struct command {
    const char *name; /* with the tool's, as its messages show it */
    const struct argp *argp;
    void (*run)(const struct options *options);
};

static const struct command commands[] = {
    {"topk select", &select_argp, run_select},    {"topk kth", &kth_argp, run_kth},
    {"topk where", &where_argp, run_where},       {"topk count", &count_argp, run_count},
    {"topk mask", &mask_argp, run_mask},          {"topk info", &info_argp, run_info},
    {"topk explain", &explain_argp, run_explain},
};

/* The ranks of the process, or NULL. */
static const struct ranks *ranks;

static void run_command(int argc, char **argv) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const struct command *command = &commands[i];
        if (strcmp(argv[0], command->name + strlen("topk ")) != 0)
            continue;
        char name[16];
        argv[0] = strcpy(name, command->name);
        struct options options;
        options_parse(command->argp, argc, argv, &options);
        if (options.mpi != (ranks != NULL))
            fail_usage("--mpi is written in full, before any --");
        options.ranks = ranks;
        command->run(&options);
        options_end(&options);
        return;
    }
    fail_usage("'%s' is no command; there are select, kth, where, count, mask, info and explain", argv[0]);
}

/* Help on the command that `argv` names, or on the tool. */
static void run_help(int argc, char **argv, struct argp_state *state) {
    char option[] = "--help";
    if (argc > 1)
        fail_usage("help takes one command, not '%s'", argv[1]);
    if (argc == 0)
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    else
        run_command(2, (char *[]){argv[0], option, NULL});
}

static error_t parse_main(int key, char *argument, struct argp_state *state) {
    switch (key) {
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    case ARGP_KEY_ARG:
        if (strcmp(argument, "help") == 0)
            run_help(state->argc - state->next, state->argv + state->next, state);
        else
            run_command(state->argc - state->next + 1, state->argv + state->next - 1);
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        fail_usage("a command is needed: select, kth, where, count, mask, info or explain");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option main_options[] = {{NULL, 'h', NULL, 0, "As --help", -1}, {0}};

static const struct argp main_argp = {
    .options = main_options,
    .parser = parse_main,
    .args_doc = "COMMAND [ARGUMENT...]",
    .doc = "Exact selection from files and streams.\v"
           "Commands:\n"
           "  select INPUT -k K          the K best elements, best first\n"
           "  kth INPUT -k K             the K-th best, and how many are better and equal\n"
           "  where INPUT --gt X         the elements that meet a predicate\n"
           "  count INPUT --gt X         how many they are\n"
           "  mask INPUT --gt X          which they are, a bit for each element\n"
           "  info                       version, backends and CPU features\n"
           "  explain INPUT -k K         how the method is chosen\n"
           "  help [COMMAND]             the options of a command\n"
           "\n"
           "INPUT is an .npy, .npz, .safetensors, .fvecs, .ivecs, .bvecs, .fbin, .u8bin, .i8bin, .ibin, raw "
           "or text file, or - "
           "for text on standard input, "
           "which is also read where INPUT is absent, unless it is a terminal.",
};

static void print_version(FILE *stream, struct argp_state *state) {
    (void)state;
    int version = topk_version();
    fprintf(stream, "topk %d.%d.%d\n", version / 10000, version / 100 % 100, version % 100);
}

/* Leaves no unfinished file behind, and ends as the signal would have ended the tool. */
static void on_end(int signal_number) {
    npy_file_discard_all();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* A page of the input's mapping could not be read. The first thread that finds out says so and ends the tool.
 */
static void on_bus_error(int signal_number) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    static const char message[] = "topk: the input file has shrunk, or cannot be read\n";
    (void)signal_number;
    while (atomic_flag_test_and_set(&said))
        pause();
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written;
    npy_file_discard_all();
    _exit(STATUS_FAILED);
}

/* A signal that the caller ignores, as nohup does, stays ignored. */
static void end_at(int signal_number) {
    if (signal(signal_number, on_end) == SIG_IGN)
        signal(signal_number, SIG_IGN);
}

int main(int argc, char **argv) {
    end_at(SIGHUP);
    end_at(SIGINT);
    end_at(SIGPIPE);
    end_at(SIGTERM);
    signal(SIGXFSZ, SIG_IGN); /* so that a full quota is an error of write() */
    signal(SIGBUS, on_bus_error);
    atexit(output_close); /* last of all */
    atexit(npy_file_discard_all);
    ranks = ranks_begin(argv);
    argp_program_version_hook = print_version;
    argp_err_exit_status = STATUS_USAGE;
    if (argp_parse(&main_argp, argc, argv, ARGP_IN_ORDER, NULL, NULL) != 0)
        fail("out of memory while reading the command line");
    return EXIT_SUCCESS;
}
