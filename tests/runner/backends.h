/* SPDX-License-Identifier: Apache-2.0
 *
 * What there is to test: one table of backends, with their methods and operations. */
#ifndef TESTS_BACKENDS_H
#define TESTS_BACKENDS_H

#include "run.h"

enum { METHODS_MOST = 63, OPERATIONS_MOST = 15 };

typedef struct backend {
    const char *name;
    topk_backend kind;
    run_method methods[METHODS_MOST + 1]; /* the first is the library's own choice; no label ends */
    const run_operation *operations[OPERATIONS_MOST + 1]; /* NULL ends */
} backend;

/* NULL if there is none of that name. */
const backend *backend_named(const char *name);

#endif
