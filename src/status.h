/* SPDX-License-Identifier: Apache-2.0
 * Statuses, and the sentence that goes with a failure. */
#ifndef TOPK_SRC_STATUS_H
#define TOPK_SRC_STATUS_H

#include <errno.h>

#include "topk.h"

static inline void topk_restore_errno(const int *of_caller) {
    errno = *of_caller;
}

/* The first line of each function of the interface that calls anything: when it returns, errno is what its
 * caller had (CONTRACT.md, 8.1). */
#define KEEP_ERRNO __attribute__((cleanup(topk_restore_errno), unused)) const int errno_of_caller = errno

/* Stores the sentence for topk_last_error() and returns `status`, so that a check reads
 * `return topk_fail(TOPK_ERROR_..., "...")`. */
topk_status topk_fail(topk_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
