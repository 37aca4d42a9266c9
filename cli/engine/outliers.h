/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of text that float64 cannot hold, as far as they may be among the k best. The library never sees
 * them: they take their places among its results afterwards, so that text without them costs nothing. */
#ifndef TOPK_CLI_OUTLIERS_H
#define TOPK_CLI_OUTLIERS_H

#include "../options/options.h"
#include "../parse/parse.h"

struct outlier {
    struct beyond number; /* whose text is the outlier's own */
    int64_t index;        /* of its line, or of the first of its lines */
    int64_t times;        /* how many lines have the number; 1 where they are kept */
    char *line;           /* NULL: lines are not kept */
    size_t length;
};

/* Outliers that are behind the k best: the best stand-in of any, and how many have that one. No other can be
 * the stand-in of the k-th of all. */
struct forgotten {
    double stand_in;
    int64_t count;
};

struct outliers {
    const struct options *options;
    bool keeps_lines;     /* else equal numbers are one outlier */
    struct outlier *list; /* after outliers_sort() best first */
    int64_t count;
    int64_t room;
    int64_t bar; /* the outlier of the list that is the k-th best; -1: not known */
    struct forgotten forgotten;
};

void outliers_begin(struct outliers *outliers, const struct options *options, bool keeps_lines);

/* `line` is what text_line() gives. */
void outliers_add(struct outliers *outliers, const struct beyond *number, int64_t index, const char *line,
                  size_t length);

/* Puts the best first, of equal ones the first, and forgets what is behind the k best. */
void outliers_sort(struct outliers *outliers);

/* Writes the outliers that may be among the k best to bytes that outliers_read() reads, with indices that are
 * higher by `base`. The caller ends them with release(). */
char *outliers_write(struct outliers *outliers, int64_t base, uint64_t *size);

/* Adds what several outliers_write() wrote, one behind the other, to outliers that have none. */
void outliers_read(struct outliers *outliers, const char *bytes, uint64_t size);

void outliers_end(struct outliers *outliers);

/* ---- Beside the library's results ------------------------------------------------------------ */

/* A result of text: an element, or an outlier. */
struct result {
    double value;
    int64_t index;
    const struct outlier *outlier; /* NULL: an element */
};

/* Below 0 if a is better than b, above 0 if b is. */
int outliers_compare(const struct options *options, const struct result *a, const struct result *b);

/* Merges the outliers with `count` elements, in any order, into the best of all: `results` has room for both.
 * Returns how many results there are, at most k. */
int64_t outliers_merge(struct outliers *outliers, const double *values, const int64_t *indices, int64_t count,
                       struct result *results);

/* The nearest float64, but none of 0 and infinity. topk_kth() takes it in the number's place: of all
 * elements, only some of the same value then rank otherwise. */
double outliers_stand_in(const struct beyond *number);

/* Corrects the k-th of elements and stand-ins, for a k up to the one of the options. Returns the number that
 * is the k-th, or NULL if that is *kth. */
const struct beyond *outliers_kth(struct outliers *outliers, int64_t k, const double *kth, int64_t *better,
                                  int64_t *equal);

#endif /* TOPK_CLI_OUTLIERS_H */
