/* SPDX-License-Identifier: Apache-2.0
 *
 * What the option tables and their parsers share. */
#ifndef TOPK_CLI_KEYS_H
#define TOPK_CLI_KEYS_H

#include <argp.h>

#include "options.h"

/* Keys of options that have no letter. */
enum key {
    KEY_FORMAT = 0x100,
    KEY_SHARDS,
    KEY_DTYPE,
    KEY_ARRAY,
    KEY_COLS,
    KEY_SKIP_BYTES,
    KEY_AXIS,
    KEY_FLAT,
    KEY_FIELD,
    KEY_COLUMN,
    KEY_BY,
    KEY_IF,
    KEY_DELIMITER,
    KEY_DECIMAL,
    KEY_CSV,
    KEY_HEADER,
    KEY_SKIP_INVALID,
    KEY_HUMAN,
    KEY_SMALLEST,
    KEY_MAGNITUDE,
    KEY_NAN,
    KEY_TIES,
    KEY_ORDER,
    KEY_UNSORTED,
    KEY_PADDING,
    KEY_QUANTILE,
    KEY_INTERPOLATION,
    KEY_MAX_ITERATIONS,
    KEY_EPSILON,
    KEY_EPSILON_RELATIVE,
    KEY_VALUES,
    KEY_INDICES,
    KEY_BITS,
    KEY_JSON,
    KEY_METHOD,
    KEY_TUNING,
    KEY_DEVICE,
    KEY_THREADS,
    KEY_MPI,
    KEY_QUIET,
    KEY_PIECE_BYTES,
    KEY_PREDICATE, /* plus a topk_predicate_kind */
};

/* The input of a subcommand's parser. */
struct command_line {
    const struct argp *argp;
    struct options *options;
};

/* Names of enum input_format, in its order. */
extern const char *const format_words[];

/* Parser of every option table; its input is a struct options. */
error_t parse_option(int key, char *argument, struct argp_state *state);

/* Makes the places that -k, or --quantile, of kth lists. */
void parse_places(struct options *options, const char *list, bool quantiles);

/* Makes the files whose names match the pattern the input, in the order of their names as bytes. Ends the
 * tool if there are none. */
void find_shards(struct options *options, const char *pattern);

/* Opens the input, or all shards, and, unless it is given, finds the format: by the first bytes, else by the
 * name. Returns the error if it cannot be opened, else 0; options->name is what it is about. */
int open_input(struct options *options);

/* Ends the tool when an output is the input or another output: the same regular file, whatever its names.
 * `prints`: standard output is an output. */
void check_outputs(const struct options *options, bool prints);

#endif /* TOPK_CLI_KEYS_H */
