/* SPDX-License-Identifier: Apache-2.0
 *
 * Which bytes of texts one of several ranks reads. All bytes are cut into a part for each rank, and a rank
 * reads the lines that begin in its part. It finds them alone, by the ends of lines near both ends of its
 * part. */
#ifndef TOPK_CLI_RANGES_H
#define TOPK_CLI_RANGES_H

#include <stddef.h>
#include <stdint.h>

/* Bytes [begin, end) of a file, whole lines. */
struct text_range {
    const char *name;
    int descriptor;
    int64_t file; /* its number among the shards; -1: none */
    uint64_t begin;
    uint64_t end; /* UINT64_MAX: up to the end */
};

/* Makes the ranges of part `part` of `parts` of whole files, at least one file. Returns
 * how many these are: at least one, which may be empty. The first `header` lines of a file go with the line
 * behind them. */
int64_t ranges_take_part(struct text_range *ranges, int64_t count, int part, int parts, char line_end,
                         int64_t header);

/* Reads the first bytes of the range's file, wherever the range begins. Returns how many there are. */
size_t ranges_head(const struct text_range *range, char *head, size_t size);

#endif /* TOPK_CLI_RANGES_H */
