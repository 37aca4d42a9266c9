/* SPDX-License-Identifier: Apache-2.0 */
#include "arrays.h"

void arrays_begin(struct arrays *arrays, const struct options *options, topk_type type, int64_t rows,
                  int64_t cols) {
    npy_file_create(&arrays->values, options->values_path, type, rows, cols);
    npy_file_create(&arrays->indices, options->indices_path, TOPK_I64, rows, cols);
}

void arrays_end(struct arrays *arrays) {
    npy_file_finish(&arrays->values);
    npy_file_finish(&arrays->indices);
    npy_file_publish(&arrays->values);
    npy_file_publish(&arrays->indices);
}
