/* SPDX-License-Identifier: Apache-2.0
 *
 * What the command line says. */
#ifndef TOPK_CLI_OPTIONS_H
#define TOPK_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "../parse/parse.h"
#include "topk.h"

enum input_format {
    FORMAT_AUTO,
    FORMAT_TEXT,
    FORMAT_NPY,
    FORMAT_NPZ,
    FORMAT_SAFETENSORS,
    FORMAT_FVECS,
    FORMAT_IVECS,
    FORMAT_BVECS,
    FORMAT_FBIN,
    FORMAT_U8BIN,
    FORMAT_I8BIN,
    FORMAT_IBIN,
    FORMAT_RAW,
};

/* A file that is a part of the input. */
struct shard_file {
    const char *path;
    int descriptor; /* open for reading */
};

/* A comparison of the elements, as it is written: see bounds.h. */
struct comparison {
    topk_predicate_kind kind; /* GT to BETWEEN */
    topk_bound low, high;     /* `low` is the only one but of BETWEEN */
    struct beyond low_beyond; /* that bound if float64 cannot hold it; else its text is NULL */
    struct beyond high_beyond;
};

enum { COMPARISONS_MAX = 16, CONDITIONS_MAX = 16 };

struct options {
    /* The input. */
    const char *path;          /* "-": standard input; of shards the pattern */
    const char *name;          /* of the input, for messages */
    int descriptor;            /* of the input, open for reading */
    char head[8];              /* bytes that were read from a stream to know its format */
    size_t head_bytes;         /* of these */
    struct shard_file *shards; /* what the input is made of, in their order; NULL: it is one file or stream */
    int64_t shard_count;
    enum input_format format; /* never AUTO once parsed */
    bool format_given;        /* by --format */
    topk_type dtype;          /* UNDEFINED: not given */
    const char *array;        /* the name of one of a file's arrays; NULL: not given */
    int64_t cols;             /* 0: not given */
    int64_t skip_bytes;       /* in front of the elements of a raw file; -1: not given */
    int axis;                 /* along the rows; negative: from the last one; -1: not given */
    bool flat;                /* an array is one row */
    int64_t field;            /* 0: not given */
    const char *column;       /* the name of the field in the header's last line; NULL: not given */
    const char *by;           /* select: the field whose values make groups; NULL: not given */
    int64_t by_field;         /* its number, unless a column is named: then it is a name, too */
    int delimiter;            /* -1: not given */
    char decimal;             /* the sign between units and decimals, '.' or ','; 0: not given */
    const char *comma_bound;  /* a bound with a comma for a point; NULL: there is none */
    bool csv;
    int64_t header; /* lines before the first element */
    bool skip_invalid;
    bool human;
    bool zero_terminated; /* lines end in NUL */

    /* The question. */
    int64_t k;         /* -1: not given */
    int64_t given_k;   /* as the command line gives it; `k` grows where all ties are wanted */
    bool takes_places; /* kth: -k is a list */
    /* kth: what -k or --quantile asks for; `k` is the last place that they may mean. */
    struct place_asked *places;
    int place_count;
    enum place_between between; /* kth: what a quantile between two elements is */
    bool all_ties;              /* select: of the elements equal to the k-th all are taken */
    bool padding;               /* kth: a place that no element has is no error */
    topk_problem problem;       /* ranking options, approximation, method and tuning alone */
    /* What elements must meet: all of these. */
    struct comparison comparisons[COMPARISONS_MAX];
    int comparison_count;
    struct condition
        conditions[CONDITIONS_MAX]; /* on other fields of a line; beside --column they have no number yet */
    int condition_count;

    /* The run. */
    bool mpi;                  /* each rank of a job of mpirun takes a part of the input */
    const struct ranks *ranks; /* the caller's to set: those of this job; NULL: this process is alone */
    topk_context_options context;
    bool quiet;
    int64_t piece_bytes; /* of input, and of results, that one call handles at most */

    /* The answer. */
    bool json;
    const char *values_path;  /* NULL: not given */
    const char *indices_path; /* NULL: not given */
    const char *bits_path;    /* NULL: not given */
};

struct argp;

/* Parses a subcommand's command line. Ends the tool on --help, on a command line that makes no sense, and
 * when an output is the input or another output. */
void options_parse(const struct argp *argp, int argc, char **argv, struct options *options);

/* Frees the lists of places and of shards. */
void options_end(struct options *options);

/* Whether elements are numbers of text that are compared as they are written, from 2^53 up as well. */
static inline bool options_as_written(const struct options *options) {
    return options->format == FORMAT_TEXT && options->dtype == TOPK_TYPE_UNDEFINED && !options->human;
}

/* Whether the input is an array whose axes make rows. */
static inline bool options_axes(const struct options *options) {
    return options->format >= FORMAT_NPY && options->format <= FORMAT_SAFETENSORS;
}

/* The decimal sign of text. */
static inline char options_point(const struct options *options) {
    return options->decimal == ',' ? ',' : '.';
}

/* Whether a line of text has fields, and is printed whole. */
static inline bool options_fields(const struct options *options) {
    return options->field > 0 || options->column != NULL || options->delimiter >= 0;
}

/* Whether elements must meet a condition. */
static inline bool options_filters(const struct options *options) {
    return options->comparison_count > 0 || options->condition_count > 0;
}

/* Whether that is more than one predicate of the library can say. */
bool options_masks(const struct options *options);

/* Whether a place is a part of how many elements there are. */
bool options_counts(const struct options *options);

/* Whether the selection may be approximate. */
bool options_approximate(const topk_problem *problem);

/* Whether arrays are written, and so nothing is printed. */
bool options_writes_arrays(const struct options *options);

/* What `topk select` asks of the library. */
topk_operation options_selection(const struct options *options);

extern const struct argp select_argp;
extern const struct argp kth_argp;
extern const struct argp where_argp;
extern const struct argp count_argp;
extern const struct argp mask_argp;
extern const struct argp info_argp;
extern const struct argp explain_argp;

#endif /* TOPK_CLI_OPTIONS_H */
