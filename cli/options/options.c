/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "keys.h"

/* An integer is compared as it is written, which the library can do up to 64 bits. */
static void check_bound(const struct options *options, const topk_bound *bound, const struct beyond *beyond) {
    if (beyond->text != NULL && bound->type == TOPK_BOUND_F64 && isfinite(beyond->nearest) &&
        strpbrk(beyond->text, ".,eE") == NULL && !options_as_written(options))
        fail_usage("bound '%s' cannot be held exactly by int64, uint64 or float64", beyond->text);
}

static void check_input(const struct options *options) {
    enum input_format format = options->format;
    bool text = format == FORMAT_TEXT;
    if (!text && (options_fields(options) || options->header > 0 || options->skip_invalid || options->human ||
                  options->zero_terminated || options->decimal != 0 || options->condition_count > 0))
        fail_usage(
            "--field, --column, --delimiter, --decimal, --csv, --header, --skip-invalid, --human, --if and "
            "--zero-terminated are "
            "for text, and '%s' is %s",
            options->path, format_words[format]);
    if (options->human && options->dtype != TOPK_TYPE_UNDEFINED && options->dtype != TOPK_F64)
        fail_usage("--human reads float64, not %s", topk_type_name(options->dtype));
    if ((options->axis != -1 || options->flat) && !options_axes(options))
        fail_usage("--axis and --flat are for npy, npz and safetensors, and '%s' is %s", options->path,
                   format_words[format]);
    if (options->array != NULL && format != FORMAT_NPZ && format != FORMAT_SAFETENSORS)
        fail_usage("--array is for npz and safetensors, and '%s' is %s", options->path, format_words[format]);
    if (options->axis != -1 && options->flat)
        fail_usage("--axis chooses the rows, and --flat makes one row: choose");
    if ((options->cols > 0 || options->skip_bytes >= 0) && format != FORMAT_RAW)
        fail_usage("--cols and --skip-bytes are for raw files, and '%s' is %s", options->path,
                   format_words[format]);
    if (format == FORMAT_RAW && options->dtype == TOPK_TYPE_UNDEFINED)
        fail_usage("raw file '%s' needs --dtype", options->path);
    if (text && options->dtype != TOPK_TYPE_UNDEFINED && options->dtype != TOPK_F64 &&
        options->dtype != TOPK_I64 && options->dtype != TOPK_U64)
        fail_usage("text holds float64, int64 or uint64, not %s; binary files need --format raw",
                   topk_type_name(options->dtype));
    if (((format >= FORMAT_FVECS && format <= FORMAT_IBIN) || format == FORMAT_SAFETENSORS) &&
        options->dtype != TOPK_TYPE_UNDEFINED)
        fail_usage("--dtype has no meaning for %s", format_words[format]);
    for (int i = 0; i < options->comparison_count; i++) {
        const struct comparison *comparison = &options->comparisons[i];
        check_bound(options, &comparison->low, &comparison->low_beyond);
        check_bound(options, &comparison->high, &comparison->high_beyond);
    }
}

static void check_shards(const struct options *options) {
    const enum input_format format = options->format;
    if (options->mpi && options->csv)
        fail_usage(
            "--mpi takes no --csv: between quotes a line may end, so ranks cannot tell where one begins");
    if (options->shards == NULL)
        return;
    if (format == FORMAT_FVECS || format == FORMAT_IVECS || format == FORMAT_BVECS)
        fail_usage("--shards takes no %s", format_words[format]);
    if (options->axis != -1)
        fail_usage("--shards takes no --axis: shards lie one behind the other along the first axis");
}

bool options_approximate(const topk_problem *problem) {
    return problem->max_iterations != 0 || problem->epsilon > 0 || problem->epsilon_relative > 0;
}

/* What ranks cannot share out. */
static void check_mpi(const struct argp *argp, const struct options *options) {
    if (!options->mpi)
        return;
    if (argp != &select_argp && argp != &kth_argp && argp != &where_argp && argp != &count_argp)
        fail_usage("--mpi is for select, kth, where and count");
    if (options->path == NULL || strcmp(options->path, "-") == 0)
        fail_usage("--mpi needs an INPUT that is a file, or --shards: each rank reads a part of it");
    if (options->context.backend == TOPK_BACKEND_CUDA)
        fail_usage("--mpi is for CPUs, not for --device cuda");
    if (options->column != NULL)
        fail_usage("--mpi takes no --column: one rank alone reads the header");
    if (argp == &kth_argp && options_filters(options))
        fail_usage("kth --mpi takes no predicate");
    if (options_approximate(&options->problem))
        fail_usage(
            "--mpi takes no --epsilon, --epsilon-relative and --max-iterations: ranks do not approximate");
}

static void check_decimal(const struct options *options) {
    if (options->comma_bound != NULL && options->decimal != ',')
        fail_usage("bound '%s' is not a number: decimals have a point, unless --decimal says else",
                   options->comma_bound);
    if (options->decimal == 0)
        return;
    if (options->delimiter == options->decimal)
        fail_usage(
            "'%c' cannot both separate fields and begin decimals: choose another --delimiter, or --decimal",
            options->decimal);
    if (options->human)
        fail_usage("--human takes a comma or a point, as it finds them: leave --decimal out");
}

/* The elements that tie are counted in another pass, which knows no predicate. */
static void check_all_ties(const struct options *options) {
    if (options->all_ties && options_filters(options))
        fail_usage("--ties=all takes no predicate; `topk kth' prints a bound for `topk where'");
    if (options->all_ties && options_approximate(&options->problem))
        fail_usage("--ties=all is exact: it takes no --epsilon, --epsilon-relative and --max-iterations");
}

/* Groups are made by the tool alone, in one pass. */
static void check_by(struct options *options) {
    if (options->by == NULL)
        return;
    if (!options_fields(options))
        fail_usage("--by needs --field, --column, --csv or --delimiter: without them lines have no fields");
    if (options->column == NULL && !integer_parse(options->by, 1, INT64_MAX, &options->by_field))
        fail_usage("--by: '%s' is no integer from 1 up; beside --column it is a name", options->by);
    if (options->mpi || options->context.backend == TOPK_BACKEND_CUDA)
        fail_usage("--by takes no %s", options->mpi ? "--mpi" : "--device cuda");
    if (options_writes_arrays(options))
        fail_usage("--by prints lines: it takes no --values and --indices");
    if (options->all_ties || options->problem.ties != TOPK_TIES_LOWEST_INDEX ||
        options->problem.order != TOPK_ORDER_BEST_FIRST)
        fail_usage("--by takes the first of equal lines, best first: no --ties, --order and --unsorted");
    if (options_approximate(&options->problem) || options->problem.method != NULL ||
        options->problem.tuning != NULL)
        fail_usage("--by takes no --method, --tuning, --max-iterations, --epsilon and --epsilon-relative");
}

/* Two comparisons are one range, unless NE makes a hole in it. */
bool options_masks(const struct options *options) {
    bool holes = false;
    for (int i = 0; i < options->comparison_count; i++)
        holes |= options->comparisons[i].kind == TOPK_NE;
    return options->condition_count > 0 || (holes && options->comparison_count > 1);
}

/* A header is to say which fields the names are of. */
static void check_conditions(struct options *options) {
    for (int i = 0; i < options->condition_count; i++) {
        struct condition *condition = &options->conditions[i];
        char name[24];
        if (!options_fields(options))
            fail_usage(
                "--if needs --field, --column, --csv or --delimiter: without them lines have no fields");
        snprintf(name, sizeof name, "%.*s", (int)(condition->name_length < 23 ? condition->name_length : 23),
                 condition->name);
        if (options->column == NULL && !integer_parse(name, 1, INT64_MAX, &condition->field))
            fail_usage("--if '%s': '%.*s' is no integer from 1 up; beside --column it is a name",
                       condition->text, (int)condition->name_length, condition->name);
        if (!condition_read_value(condition, options_point(options)))
            fail_usage("--if '%s': '%.*s' is not a number, and text has no order", condition->text,
                       (int)condition->value_length, condition->value);
    }
    if (!options_masks(options))
        return;
    if (options->context.backend == TOPK_BACKEND_CUDA)
        fail_usage("--device cuda takes no --if, and no --ne beside another condition");
    options->context.backend = TOPK_BACKEND_CPU;
}

bool options_counts(const struct options *options) {
    for (int i = 0; i < options->place_count; i++)
        if (options->places[i].kind != PLACE_NUMBER)
            return true;
    return false;
}

topk_operation options_selection(const struct options *options) {
    return options_filters(options) ? TOPK_OPERATION_SELECT_WHERE : TOPK_OPERATION_SELECT;
}

bool options_writes_arrays(const struct options *options) {
    return options->values_path != NULL || options->indices_path != NULL || options->bits_path != NULL;
}

void options_parse(const struct argp *argp, int argc, char **argv, struct options *options) {
    *options = (struct options){
        .skip_bytes = -1,
        .axis = -1,
        .delimiter = -1,
        .k = -1,
        .takes_places = argp == &kth_argp,
        .problem = TOPK_PROBLEM_INIT,
        .context = TOPK_CONTEXT_OPTIONS_INIT,
        .piece_bytes = (int64_t)256 << 20,
    };
    options->context.backend = TOPK_BACKEND_AUTO;
    struct command_line line = {argp, options};
    if (argp_parse(argp, argc, argv, 0, NULL, &line) != 0)
        fail("out of memory while reading the command line");
    options->given_k = options->k;
    check_mpi(argp, options);
    check_all_ties(options);
    if (argp == &info_argp)
        return;
    if (options->path == NULL && !isatty(STDIN_FILENO))
        options->path = "-";
    if (options->path == NULL)
        fail_usage("%s needs an INPUT: a file, or - for standard input", argv[0]);
    bool filters = argp == &where_argp || argp == &count_argp || argp == &mask_argp;
    if (filters ? !options_filters(options) : options->k < 0)
        fail_usage("%s needs %s", argv[0],
                   filters             ? "a predicate, e.g. --gt 0"
                   : argp == &kth_argp ? "-k K or --quantile Q"
                                       : "-k K");
    if (options->json && options_writes_arrays(options))
        fail_usage("--json prints, and --values, --indices and --bits write arrays instead: choose");
    if (options->csv && options->delimiter < 0)
        options->delimiter = ',';
    check_decimal(options);
    if (options->column != NULL && options->field > 0)
        fail_usage("--field and --column both say which field: choose");
    if (options->column != NULL && options->header == 0)
        options->header = 1;
    check_by(options);
    check_conditions(options);
    check_outputs(options, !options_writes_arrays(options));
    const int reason = open_input(options);
    check_input(options);
    check_shards(options);
    if (reason != 0)
        fail("%s: %s", options->name, strerror(reason));
}

void options_end(struct options *options) {
    release(options->places);
    release(options->shards);
}
