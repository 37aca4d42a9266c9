/* SPDX-License-Identifier: Apache-2.0 */
#include "backends.h"

#include <string.h>

#define METHOD(label, method, tuning) {label, method, tuning},
#define SLOW_METHOD METHOD

static const backend backends[] = {
    {"cpu",
     TOPK_BACKEND_CPU,
     {
#include "methods_cpu.def"
     },
     {&run_select, &run_kth, &run_where, &run_select_where, &run_count, &run_mask, &run_route, &run_merge,
      &run_kth_where, &run_ranks, &run_ranks_where, &run_sharded, &run_select_by, &run_approximate,
      &run_approximate_where}},
    {"cuda",
     TOPK_BACKEND_CUDA,
     {
#include "methods_cuda.def"
     },
     {&run_select, &run_kth, &run_where, &run_select_where, &run_count, &run_mask, &run_route, &run_merge,
      &run_kth_where, &run_ranks, &run_ranks_where, &run_sharded, &run_select_by, &run_approximate,
      &run_approximate_where}},
};

const backend *backend_named(const char *name) {
    for (size_t b = 0; b < sizeof backends / sizeof backends[0]; b++) {
        if (strcmp(backends[b].name, name) == 0) {
            return &backends[b];
        }
    }
    return NULL;
}
