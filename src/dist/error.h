/* SPDX-License-Identifier: Apache-2.0
 * The sentence that goes with a failure, and the structs that callers pass. */
#ifndef TOPK_SRC_DIST_ERROR_H
#define TOPK_SRC_DIST_ERROR_H

#include "topk.h"

enum { TOPK_DIST_TEXT_BYTES = 512 };

/* Stores the sentence for topk_dist_last_error() and returns `status`. */
topk_status topk_dist_fail(topk_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes the core's sentence this library's, if `status` is a failure. Returns `status`. */
topk_status topk_dist_of_core(topk_status status);

/* Copies a caller's struct, perhaps another release's, as CONTRACT.md, 8.2, says: `first` is its size in the
 * first release that had it, `known` in this one. */
topk_status topk_dist_read_struct(const char *name, const void *caller, size_t first, size_t known,
                                  void *copy);

#endif
