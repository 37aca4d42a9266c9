/* SPDX-License-Identifier: Apache-2.0
 *
 * The arrays of --values and --indices. */
#ifndef TOPK_CLI_ARRAYS_H
#define TOPK_CLI_ARRAYS_H

#include "../options/options.h"
#include "npy_file.h"

struct arrays {
    struct npy_file values;
    struct npy_file indices; /* int64 */
};

/* Begins arrays of rows x cols, or of cols elements if rows is -1. With cols = -1 both must be reshaped at
 * the end. */
void arrays_begin(struct arrays *arrays, const struct options *options, topk_type type, int64_t rows,
                  int64_t cols);

/* Gives the arrays their names, both once both are complete. */
void arrays_end(struct arrays *arrays);

#endif /* TOPK_CLI_ARRAYS_H */
