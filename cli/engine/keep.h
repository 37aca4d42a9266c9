/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of the lines that may be among the k best: all that is kept of a stream. Lines are kept as they
 * come. When there are many, the results so far are the only ones that stay, and the worst of these is the
 * bar: lines that cannot rank above it are not kept any more. So sorting costs little for each line. */
#ifndef TOPK_CLI_KEEP_H
#define TOPK_CLI_KEEP_H

#include "../input/matrix.h"
#include "classes.h"

struct kept_line {
    int64_t index; /* line of the input, from 0 */
    size_t at;     /* its text goes from here to where the next line's begins */
};

struct keep {
    struct session *host;
    const topk_predicate *predicate; /* lines that do not meet it are no results; NULL: all may be */
    struct classes classes;
    int64_t k;
    bool has_bar;
    uint64_t worst; /* class of what may be a result behind the bar */

    /* Lines in the order of their index, and one entry more. */
    struct kept_line *lines;
    int64_t count, room;
    char *text;
    size_t text_capacity;

    /* Above these it is time to sort. */
    int64_t count_max;
    size_t text_max;

    /* Of a piece: what meets the predicate, and which of it is not below the bar. */
    void *values;
    int64_t *met, *chosen;
};

/* For pieces of up to `length_max` lines. The predicate, or NULL, must outlive the lines. */
void keep_begin(struct keep *keep, struct session *session, const struct options *options,
                const topk_predicate *predicate, topk_type type, int64_t length_max);

/* Keeps the lines of a piece of text that may be results. */
void keep_add(struct keep *keep, const struct piece *piece);

/* Whether so many lines are kept that keep_trim() is to follow. */
bool keep_is_full(const struct keep *keep);

/* Forgets all lines but the results so far: `count` of them in any order. */
void keep_trim(struct keep *keep, const void *values, const int64_t *indices, int64_t count);

/* Writes lines to bytes that keep_read() reads, with indices that are higher by `base`. The caller ends them
 * with release(). `indices`, which count from `base`, ascend. */
char *keep_write(const struct keep *keep, const int64_t *indices, int64_t count, int64_t base,
                 uint64_t *size);

/* Keeps the lines of such bytes, whose indices ascend, and no others. */
void keep_read(struct keep *keep, const char *bytes, uint64_t size);

/* Sets places[i] to where line indices[i] is kept. */
void keep_find(const struct keep *keep, const int64_t *indices, int64_t count, int64_t *places);

/* The text of a line, by its place. */
const char *keep_text(const struct keep *keep, int64_t place, size_t *length);

void keep_end(struct keep *keep);

#endif /* TOPK_CLI_KEEP_H */
