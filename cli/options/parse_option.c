/* SPDX-License-Identifier: Apache-2.0 */
#include <argp.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/fail.h"
#include "../parse/parse.h"
#include "keys.h"

/* The place of `word` in a list that ends in NULL. */
static int parse_word(const char *option, const char *word, const char *const *words) {
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    char list[128] = "";
    for (int i = 0; words[i] != NULL; i++) {
        strncat(list, i > 0 ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, words[i], sizeof list - strlen(list) - 1);
    }
    fail_usage("%s: '%s' is none of %s", option, word, list);
}

static int64_t parse_integer(const char *option, const char *text, int64_t least, int64_t most) {
    int64_t value;
    if (integer_parse(text, least, most, &value))
        return value;
    if (most == INT64_MAX)
        fail_usage("%s: '%s' is no integer from %lld up", option, text, (long long)least);
    fail_usage("%s: '%s' is no integer from %lld to %lld", option, text, (long long)least, (long long)most);
}

static double parse_epsilon(const char *option, const char *text) {
    union number number;
    if (number_parse(TOPK_F64, text, strlen(text), &number) != NUMBER_OK || !(number.f64 >= 0) ||
        isinf(number.f64))
        fail_usage("%s: '%s' is no number from 0 up", option, text);
    return number.f64;
}

/* --decimal may follow: until then a comma may be the point. */
static void parse_bound(struct options *options, const char *text, topk_bound *bound, struct beyond *beyond) {
    union number number;
    char point = '.';
    if (bound_parse(point, text, bound) == NUMBER_COMMA) {
        point = ',';
        options->comma_bound = text;
    }
    const enum number_status status = bound_parse(point, text, bound);
    if (status == NUMBER_SYNTAX || status == NUMBER_COMMA)
        fail_usage("bound '%s' is not a number%s", text, point == ',' ? ": decimals have a point" : "");
    if (number_parse_point(TOPK_F64, point, text, strlen(text), &number) != NUMBER_OK)
        *beyond = beyond_of(text, strlen(text), number.f64);
}

static void parse_predicate(struct argp_state *state, struct options *options, topk_predicate_kind kind,
                            const char *text) {
    if (options->comparison_count == COMPARISONS_MAX)
        fail_usage("more than %d comparisons", (int)COMPARISONS_MAX);
    struct comparison *comparison = &options->comparisons[options->comparison_count++];
    *comparison = (struct comparison){.kind = kind};
    parse_bound(options, text, &comparison->low, &comparison->low_beyond);
    if (kind != TOPK_BETWEEN)
        return;
    if (state->next >= state->argc)
        fail_usage("--between takes two bounds");
    parse_bound(options, state->argv[state->next++], &comparison->high, &comparison->high_beyond);
}

static void parse_condition(struct options *options, const char *text) {
    if (options->condition_count == CONDITIONS_MAX)
        fail_usage("more than %d times --if", (int)CONDITIONS_MAX);
    if (!condition_parse(text, &options->conditions[options->condition_count++]))
        fail_usage("--if: '%s' is no field, comparison and value, such as 'price>=2.5' or 'city=Rome'", text);
}

static int parse_delimiter(const char *text) {
    if (strcmp(text, "\\t") == 0)
        return '\t';
    if (text[0] == '\0' || text[1] != '\0' || text[0] == '\n' || text[0] == '\r')
        fail_usage("--delimiter: '%s' is not a single character of a line", text);
    return (unsigned char)text[0];
}

static char parse_decimal(const char *text) {
    if (strcmp(text, ",") != 0 && strcmp(text, ".") != 0)
        fail_usage("--decimal: '%s' is neither a comma nor a point", text);
    return text[0];
}

static topk_type parse_dtype(const char *name) {
    topk_type type = type_parse(name);
    if (type == TOPK_TYPE_UNDEFINED)
        fail_usage("--dtype: '%s' is none of float16, bfloat16, float32, float64, float8_e4m3, "
                   "float8_e5m2, int8, int16, int32, int64, uint8, uint16, uint32, uint64",
                   name);
    return type;
}

static void parse_device(const char *text, topk_context_options *context) {
    static const char numbered[] = "cuda:";
    int64_t ordinal = 0;
    if (strcmp(text, "auto") == 0)
        context->backend = TOPK_BACKEND_AUTO;
    else if (strcmp(text, "cpu") == 0)
        context->backend = TOPK_BACKEND_CPU;
    else if (strcmp(text, "cuda") == 0 || (strncmp(text, numbered, sizeof numbered - 1) == 0 &&
                                           integer_parse(text + sizeof numbered - 1, 0, INT_MAX, &ordinal)))
        context->backend = TOPK_BACKEND_CUDA;
    else
        fail_usage("--device: '%s' is none of auto, cpu, cuda, cuda:N", text);
    context->device = (int)ordinal;
}

const char *const format_words[] = {"auto",  "text", "npy",   "npz",   "safetensors", "fvecs", "ivecs",
                                    "bvecs", "fbin", "u8bin", "i8bin", "ibin",        "raw",   NULL};

error_t parse_option(int key, char *argument, struct argp_state *state) {
    static const char *const nan_words[] = {"largest", "last", NULL};
    static const char *const ties_words[] = {"lowest", "any", "all", NULL};
    static const char *const order_words[] = {"best", "any", "position", NULL};
    static const char *const between_words[] = {"linear", "lower", "higher", "nearest", "midpoint", NULL};
    struct options *options = state->input;
    int ties;
    if (key > KEY_PREDICATE && key <= KEY_PREDICATE + TOPK_BETWEEN) {
        parse_predicate(state, options, (topk_predicate_kind)(key - KEY_PREDICATE), argument);
        return 0;
    }
    switch (key) {
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        break;
    case KEY_FORMAT:
        options->format = (enum input_format)parse_word("--format", argument, format_words);
        options->format_given = true;
        break;
    case KEY_SHARDS:
        if (options->path != NULL)
            fail_usage("--shards takes the place of INPUT, and '%s' was given: choose", options->path);
        find_shards(options, argument);
        break;
    case KEY_DTYPE:
        options->dtype = parse_dtype(argument);
        break;
    case KEY_ARRAY:
        options->array = argument;
        break;
    case KEY_COLS:
        options->cols = parse_integer("--cols", argument, 1, INT64_MAX);
        break;
    case KEY_SKIP_BYTES:
        options->skip_bytes = parse_integer("--skip-bytes", argument, 0, INT64_MAX);
        break;
    case KEY_AXIS:
        options->axis = (int)parse_integer("--axis", argument, -32, 31);
        break;
    case KEY_FLAT:
        options->flat = true;
        break;
    case KEY_FIELD:
        options->field = parse_integer("--field", argument, 1, INT64_MAX);
        break;
    case KEY_COLUMN:
        options->column = argument;
        break;
    case KEY_BY:
        options->by = argument;
        break;
    case KEY_IF:
        parse_condition(options, argument);
        break;
    case KEY_DELIMITER:
        options->delimiter = parse_delimiter(argument);
        break;
    case KEY_DECIMAL:
        options->decimal = parse_decimal(argument);
        break;
    case KEY_CSV:
        options->csv = true;
        break;
    case KEY_HEADER:
        options->header = argument == NULL ? 1 : parse_integer("--header", argument, 0, INT64_MAX);
        break;
    case KEY_SKIP_INVALID:
        options->skip_invalid = true;
        break;
    case KEY_HUMAN:
        options->human = true;
        break;
    case 'z':
        options->zero_terminated = true;
        break;
    case 'k':
        if (options->takes_places)
            parse_places(options, argument, false);
        else
            options->k = parse_integer("-k", argument, 0, INT64_MAX);
        break;
    case KEY_SMALLEST:
        options->problem.direction = TOPK_SMALLEST;
        break;
    case KEY_MAGNITUDE:
        options->problem.rank = TOPK_BY_MAGNITUDE;
        break;
    case KEY_NAN:
        options->problem.nan = (topk_nan)parse_word("--nan", argument, nan_words);
        break;
    case KEY_TIES:
        ties = parse_word("--ties", argument, ties_words);
        options->all_ties = strcmp(ties_words[ties], "all") == 0;
        options->problem.ties = options->all_ties ? TOPK_TIES_LOWEST_INDEX : (topk_ties)ties;
        break;
    case KEY_ORDER:
        options->problem.order = (topk_order)parse_word("--order", argument, order_words);
        break;
    case KEY_UNSORTED:
        options->problem.order = TOPK_ORDER_ANY;
        break;
    case KEY_PADDING:
        options->padding = true;
        break;
    case KEY_QUANTILE:
        parse_places(options, argument, true);
        break;
    case KEY_INTERPOLATION:
        options->between = (enum place_between)parse_word("--interpolation", argument, between_words);
        break;
    case KEY_MAX_ITERATIONS:
        options->problem.max_iterations = parse_integer("--max-iterations", argument, 0, INT64_MAX);
        break;
    case KEY_EPSILON:
        options->problem.epsilon = parse_epsilon("--epsilon", argument);
        break;
    case KEY_EPSILON_RELATIVE:
        options->problem.epsilon_relative = parse_epsilon("--epsilon-relative", argument);
        break;
    case KEY_METHOD:
        options->problem.method = argument;
        break;
    case KEY_TUNING:
        options->problem.tuning = argument;
        break;
    case KEY_DEVICE:
        parse_device(argument, &options->context);
        break;
    case KEY_THREADS:
        options->context.threads = (int)parse_integer("--threads", argument, 1, 1024);
        break;
    case KEY_MPI:
        options->mpi = true;
        break;
    case KEY_QUIET:
        options->quiet = true;
        break;
    case KEY_PIECE_BYTES:
        options->piece_bytes = parse_integer("--piece-bytes", argument, 1, INT64_MAX);
        break;
    case KEY_VALUES:
        options->values_path = argument;
        break;
    case KEY_INDICES:
        options->indices_path = argument;
        break;
    case KEY_BITS:
        options->bits_path = argument;
        break;
    case KEY_JSON:
        options->json = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}
