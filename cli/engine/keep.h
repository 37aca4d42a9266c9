/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of the lines that are currently among the k best: all that is kept of a stream. */
#ifndef TOPK_CLI_KEEP_H
#define TOPK_CLI_KEEP_H

#include <stddef.h>
#include <stdint.h>

#include "../input/text.h"

struct kept_line {
    int64_t index; /* line of the input, from 0 */
    size_t at;     /* of its text */
    size_t length;
};

/* Lines in the order of their index, with their text one after the other. */
struct kept_lines {
    struct kept_line *lines;
    char *text;
    size_t text_capacity;
    int64_t count;
};

/* Two sets. One is current; each update reads it and writes the other. Begins as zeros. */
struct keep {
    struct kept_lines sets[2];
    int current;
    int64_t *order; /* the wanted indices, sorted */
    int64_t room;   /* for so many lines */
};

/* Keeps lines indices[0, count), in any order, and forgets the rest. Each is in the current chunk or has
 * been kept since. */
void keep_update(struct keep *keep, const struct text *text, const int64_t *indices, int64_t count);

/* The text of a line that is kept. */
const char *keep_find(const struct keep *keep, int64_t index, size_t *length);

void keep_end(struct keep *keep);

#endif /* TOPK_CLI_KEEP_H */
