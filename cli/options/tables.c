/* SPDX-License-Identifier: Apache-2.0 */
#include <argp.h>

#include "../base/fail.h"
#include "keys.h"

/* Groups are numbered in the order of the listing. One table has the group's heading; where others add to the
 * group, a command that takes them takes that one, too. */
static const struct argp_option input_options[] = {
    {NULL, 0, NULL, 0, "Input:", 1},
    {"format", KEY_FORMAT, "NAME", 0,
     "npy, npz, safetensors, fvecs, ivecs, bvecs, fbin, u8bin, i8bin, ibin, raw or text, whatever the file's "
     "name",
     0},
    {"shards", KEY_SHARDS, "PATTERN", 0,
     "Instead of INPUT: the files whose names match, such as 'part-*.npy', are one input, in the order of "
     "their names",
     0},
    {"dtype", KEY_DTYPE, "TYPE", 0, "Element type: float16, bfloat16, float32, ..., int8 to uint64", 0},
    {"array", KEY_ARRAY, "NAME", 0, "npz, safetensors: the array of that name; not needed if there is one",
     0},
    {"cols", KEY_COLS, "N", 0, "Raw files: elements of a row", 0},
    {"skip-bytes", KEY_SKIP_BYTES, "N", 0, "Raw files: elements begin behind N bytes", 0},
    {"axis", KEY_AXIS, "N", 0,
     "npy and the like: rows are along axis N, from 0, or from -1 for the last, the default", 0},
    {"flat", KEY_FLAT, NULL, 0, "npy and the like: the whole array is one row", 0},
    {0},
};

static const struct argp_option text_options[] = {
    {NULL, 0, NULL, 0, "Text:", 2},
    {"field", KEY_FIELD, "N", 0, "The number is field N of its line, counting from 1", 0},
    {"column", KEY_COLUMN, "NAME", 0,
     "The number is the field that the header calls NAME; prints the header, too", 0},
    {"delimiter", KEY_DELIMITER, "C", 0, "Fields are separated by the character C, not by blanks", 0},
    {"decimal", KEY_DECIMAL, "C", 0,
     "Numbers have the character C, a comma or a point, before their decimals", 0},
    {"csv", KEY_CSV, NULL, 0, "Fields are separated by commas, and may be quoted", 0},
    {"header", KEY_HEADER, "N", OPTION_ARG_OPTIONAL, "Leave out the first N lines (1)", 0},
    {"skip-invalid", KEY_SKIP_INVALID, NULL, 0, "Pass over lines that hold no number, and say how many", 0},
    {"zero-terminated", 'z', NULL, 0, "Lines end in NUL, not LF, in the input and in the output", 0},
    {"human", KEY_HUMAN, NULL, 0, "Numbers are sizes: 1.5K is 1536, 2MB is 2000000", 0},
    {0},
};

static const struct argp_option by_options[] = {
    {"by", KEY_BY, "FIELD", 0,
     "The K best lines of each group that has the same FIELD: a number, or beside --column a name", 2},
    {0},
};

static const struct argp_option k_options[] = {
    {NULL, 0, NULL, 0, "Ranking:", 3},
    {NULL, 'k', "K", 0, "How many; kth: which place, or several, and percentages: 1,10,50%", 0},
    {"smallest", KEY_SMALLEST, NULL, 0, "The smallest are best, not the largest", 0},
    {"magnitude", KEY_MAGNITUDE, NULL, 0, "Rank by absolute value", 0},
    {"nan", KEY_NAN, "largest|last", 0, "NaN ranks above infinity (the default) or behind every number", 0},
    {0},
};

static const struct argp_option place_options[] = {
    {"quantile", KEY_QUANTILE, "Q[,Q...]", 0,
     "Instead of -k: quantiles from 0, the smallest element, to 1, the largest", 3},
    {"interpolation", KEY_INTERPOLATION, "NAME", 0,
     "Between two elements: linear (as numpy), lower, higher, nearest or midpoint", 3},
    {"padding", KEY_PADDING, NULL, 0, "If no element has place K, print the value that loses to all others",
     3},
    {0},
};

static const struct argp_option order_options[] = {
    {"ties", KEY_TIES, "lowest|any|all", 0,
     "Which of the elements equal to the K-th are taken: first ones, any, or all, which may be more than K",
     3},
    {"order", KEY_ORDER, "best|any|position", 0,
     "Results come best first, in any order, or as they lie in the row", 3},
    {"unsorted", KEY_UNSORTED, NULL, 0, "The same as --order=any", 3},
    {NULL, 0, NULL, 0, "Approximation, one:", 5},
    {"max-iterations", KEY_MAX_ITERATIONS, "N", 0,
     "RTop-K's search is stopped after N steps (0: exact, the default)", 0},
    {"epsilon", KEY_EPSILON, "X", 0, "The search ends once it is no wider than X", 0},
    {"epsilon-relative", KEY_EPSILON_RELATIVE, "X", 0,
     "Likewise, than X times the largest magnitude of the row", 0},
    {0},
};

static const struct argp_option predicate_options[] = {
    {NULL, 0, NULL, 0, "Conditions, all of which must hold:", 4},
    {"gt", KEY_PREDICATE + TOPK_GT, "X", 0, "Elements above X", 0},
    {"ge", KEY_PREDICATE + TOPK_GE, "X", 0, "Elements not below X", 0},
    {"lt", KEY_PREDICATE + TOPK_LT, "X", 0, "Elements below X", 0},
    {"le", KEY_PREDICATE + TOPK_LE, "X", 0, "Elements not above X", 0},
    {"eq", KEY_PREDICATE + TOPK_EQ, "X", 0, "Elements equal to X", 0},
    {"ne", KEY_PREDICATE + TOPK_NE, "X", 0, "Elements other than X, NaN among them", 0},
    {"between", KEY_PREDICATE + TOPK_BETWEEN, "LO HI", 0, "Elements from LO to HI, both included", 0},
    {"if", KEY_IF, "CONDITION", 0,
     "Text: another field of the line is so: 'city=Rome', 'year>=2020'; without --column '3!=0'", 0},
    {0},
};

static const struct argp_option run_options[] = {
    {NULL, 0, NULL, 0, "Execution:", 6},
    {"device", KEY_DEVICE, "auto|cpu|cuda[:N]", 0, "Where to compute; N is the GPU's number", 0},
    {"threads", KEY_THREADS, "N", 0, "CPU threads, 1 to 1024", 0},
    {NULL, 'h', NULL, 0, "As --help", -1},
    {0},
};

static const struct argp_option method_options[] = {
    {"method", KEY_METHOD, "NAME", 0, "Force a method; `topk explain' lists them", 6},
    {"tuning", KEY_TUNING, "NAME=VALUE,...", 0, "Set knobs of methods; `topk explain' lists them", 6},
    {"mpi", KEY_MPI, NULL, 0, "Under mpirun: each rank takes a part of INPUT, and rank 0 prints", 6},
    {"quiet", KEY_QUIET, NULL, 0, "No progress bar, and no word of lines passed over", 6},
    {"piece-bytes", KEY_PIECE_BYTES, "N", OPTION_HIDDEN, NULL, 6},
    {0},
};

static const struct argp_option json_options[] = {
    {NULL, 0, NULL, 0, "Output:", 7},
    {"json", KEY_JSON, NULL, 0, "Print a JSON document", 0},
    {0},
};

static const struct argp_option array_options[] = {
    {"values", KEY_VALUES, "FILE.npy", 0, "Write the values as an array, and print nothing", 7},
    {"indices", KEY_INDICES, "FILE.npy", 0, "Write the indices as an array, and print nothing", 7},
    {0},
};

static const struct argp_option bits_options[] = {
    {"bits", KEY_BITS, "FILE.npy", 0, "Write the mask as an array, 8 elements a byte, and print nothing", 7},
    {0},
};

static const struct argp input_argp = {.options = input_options, .parser = parse_option};
static const struct argp text_argp = {.options = text_options, .parser = parse_option};
static const struct argp by_argp = {.options = by_options, .parser = parse_option};
static const struct argp k_argp = {.options = k_options, .parser = parse_option};
static const struct argp place_argp = {.options = place_options, .parser = parse_option};
static const struct argp order_argp = {.options = order_options, .parser = parse_option};
static const struct argp predicate_argp = {.options = predicate_options, .parser = parse_option};
static const struct argp run_argp = {.options = run_options, .parser = parse_option};
static const struct argp method_argp = {.options = method_options, .parser = parse_option};
static const struct argp json_argp = {.options = json_options, .parser = parse_option};
static const struct argp array_argp = {.options = array_options, .parser = parse_option};
static const struct argp bits_argp = {.options = bits_options, .parser = parse_option};

static const struct argp_child select_children[] = {{&input_argp, 0, NULL, 0},
                                                    {&text_argp, 0, NULL, 0},
                                                    {&by_argp, 0, NULL, 0},
                                                    {&k_argp, 0, NULL, 0},
                                                    {&order_argp, 0, NULL, 0},
                                                    {&predicate_argp, 0, NULL, 0},
                                                    {&run_argp, 0, NULL, 0},
                                                    {&method_argp, 0, NULL, 0},
                                                    {&json_argp, 0, NULL, 0},
                                                    {&array_argp, 0, NULL, 0},
                                                    {0}};
static const struct argp_child kth_children[] = {
    {&input_argp, 0, NULL, 0},  {&text_argp, 0, NULL, 0},      {&k_argp, 0, NULL, 0},
    {&place_argp, 0, NULL, 0},  {&predicate_argp, 0, NULL, 0}, {&run_argp, 0, NULL, 0},
    {&method_argp, 0, NULL, 0}, {&json_argp, 0, NULL, 0},      {0}};
static const struct argp_child where_children[] = {{&input_argp, 0, NULL, 0},     {&text_argp, 0, NULL, 0},
                                                   {&predicate_argp, 0, NULL, 0}, {&run_argp, 0, NULL, 0},
                                                   {&method_argp, 0, NULL, 0},    {&json_argp, 0, NULL, 0},
                                                   {&array_argp, 0, NULL, 0},     {0}};
static const struct argp_child count_children[] = {{&input_argp, 0, NULL, 0},
                                                   {&text_argp, 0, NULL, 0},
                                                   {&predicate_argp, 0, NULL, 0},
                                                   {&run_argp, 0, NULL, 0},
                                                   {&method_argp, 0, NULL, 0},
                                                   {&json_argp, 0, NULL, 0},
                                                   {0}};
static const struct argp_child mask_children[] = {{&input_argp, 0, NULL, 0},     {&text_argp, 0, NULL, 0},
                                                  {&predicate_argp, 0, NULL, 0}, {&run_argp, 0, NULL, 0},
                                                  {&method_argp, 0, NULL, 0},    {&json_argp, 0, NULL, 0},
                                                  {&bits_argp, 0, NULL, 0},      {0}};
static const struct argp_child info_children[] = {{&run_argp, 0, NULL, 0}, {0}};
static const struct argp_child explain_children[] = {{&input_argp, 0, NULL, 0},     {&text_argp, 0, NULL, 0},
                                                     {&k_argp, 0, NULL, 0},         {&order_argp, 0, NULL, 0},
                                                     {&predicate_argp, 0, NULL, 0}, {&run_argp, 0, NULL, 0},
                                                     {&method_argp, 0, NULL, 0},    {0}};

/* The parser of a subcommand; its input is a struct command_line. The children parse the options. */
static error_t parse_command(int key, char *argument, struct argp_state *state) {
    const struct command_line *line = state->input;
    struct options *options = line->options;
    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; line->argp->children[i].argp != NULL; i++)
            state->child_inputs[i] = options;
        return 0;
    case ARGP_KEY_ARG:
        if (line->argp->args_doc == NULL)
            fail_usage("info takes no argument, not '%s'", argument);
        if (options->path != NULL)
            fail_usage(options->shards != NULL
                           ? "--shards '%s' takes the place of INPUT, and '%s' was given: choose"
                           : "one INPUT is enough: '%s' and '%s' were given",
                       options->path, argument);
        options->path = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp select_argp = {
    .parser = parse_command,
    .args_doc = "[INPUT] -k K",
    .doc =
        "Print the K best elements of INPUT, best first: index and value of a vector, row, index and value "
        "of each row of a matrix, or whole lines with --field. With conditions, of the elements that "
        "meet them.",
    .children = select_children,
};
const struct argp kth_argp = {
    .parser = parse_command,
    .args_doc = "[INPUT] -k K",
    .doc =
        "Print the K-th best element of INPUT (of each row of a matrix, after the row), how many are better, "
        "and how many are equal, itself included. With conditions, of the elements that meet them.",
    .children = kth_children,
};
const struct argp where_argp = {
    .parser = parse_command,
    .args_doc = "[INPUT] CONDITION...",
    .doc = "Print the elements of INPUT that meet the conditions, in input order.",
    .children = where_children,
};
const struct argp count_argp = {
    .parser = parse_command,
    .args_doc = "[INPUT] CONDITION...",
    .doc = "Print how many elements of INPUT (of each row of a matrix, after the row) meet the conditions.",
    .children = count_children,
};
const struct argp mask_argp = {
    .parser = parse_command,
    .args_doc = "[INPUT] CONDITION...",
    .doc =
        "Print for each element of INPUT (of a matrix, after its row) 1 if it meets the conditions, else 0.",
    .children = mask_children,
};
const struct argp info_argp = {
    .parser = parse_command,
    .doc = "Print the version, the backends and what they use of this machine.",
    .children = info_children,
};
const struct argp explain_argp = {
    .parser = parse_command,
    .args_doc = "[INPUT] -k K",
    .doc = "Print how the method for `topk select INPUT -k K' is chosen.",
    .children = explain_children,
};
