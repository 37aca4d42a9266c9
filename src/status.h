/* SPDX-License-Identifier: Apache-2.0
 * Statuses, and the sentence that goes with a failure. */
#ifndef TOPK_SRC_STATUS_H
#define TOPK_SRC_STATUS_H

#include "topk.h"

/* Stores the sentence for topk_last_error() and returns `status`, so that a check reads
 * `return topk_fail(TOPK_ERROR_..., "...")`. */
topk_status topk_fail(topk_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
