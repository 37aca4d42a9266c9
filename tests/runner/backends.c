/* SPDX-License-Identifier: Apache-2.0 */
#include "backends.h"

#include <string.h>

/* A given alpha takes short rows, too, off the way that gives each to one block. */
static const backend backends[] = {
    {"cpu",
     TOPK_BACKEND_CPU,
     {{"default", NULL, NULL},
      {"bracket", "bracket", NULL},
      {"rows", "rows", NULL},
      {"rtopk", "rtopk", NULL},
      {"compact", "compact", NULL},
      {"route", "route", NULL},
      {"reference", "reference", NULL}},
     {&run_select, &run_kth, &run_where, &run_select_where, &run_count, &run_mask, &run_route,
      &run_approximate, &run_approximate_where}},
    {"cuda",
     TOPK_BACKEND_CUDA,
     {{"default", NULL, NULL},
      {"rtopk", "rtopk", NULL},
      {"rtopk-plain", "rtopk", "network=0"},
      {"rtopk-network", "rtopk", "network=2"},
      {"rtopk-counts", "rtopk", "network=3"},
      {"rtopk-candidates", "rtopk", "network=4"},
      {"resident", "resident", NULL},
      {"resident-narrow", "resident", "threads=32"},
      {"resident-wide", "resident", "threads=96"},
      {"resident-pair", "resident", "cluster=2"},
      {"resident-cluster", "resident", "cluster=8"},
      {"resident-largest", "resident", "cluster=16"},
      {"resident-stream", "resident", "stream=1"},
      {"resident-stream-cluster", "resident", "stream=1,cluster=4"},
      {"bracket", "bracket", NULL},
      {"gridselect", "gridselect", NULL},
      {"gridselect-lanes", "gridselect", "queue=0,hashed=0"},
      {"gridselect-blocks", "gridselect", "elements=1"},
      {"radik", "radik", NULL},
      {"radik-listed", "radik", "scaling=1"},
      {"radik-digits", "radik", "digit_bits=3,scaling=0"},
      {"radik-plain", "radik", "write_buffer=0,rescheduling=0,padding=0,scaling=0"},
      {"air", "air", NULL},
      {"air-shared", "air", "alpha=4"},
      {"air-buffered", "air", "adaptive_buffering=0,digit_bits=5"},
      {"air-unbuffered", "air", "alpha=9223372036854775807,early_stop=0,digit_bits=3"},
      {"air-fused", "air", "fused_filter=1,alpha=4,digit_bits=3"},
      {"radix", "radix", NULL},
      {"bucket", "bucket", NULL},
      {"bucket-halves", "bucket", "bucket_bits=1"},
      {"bitonic", "bitonic", NULL},
      {"drtopk", "drtopk", NULL},
      {"drtopk-warps", "drtopk", "coalesced=0,exponent=9,base=1"},
      {"drtopk-one", "drtopk", "beta=1,filter=0,base=2"},
      {"drtopk-four", "drtopk", "beta=4,exponent=6,base=3"},
      {"drtopk-bucket", "drtopk", "beta=3,exponent=5,base=4,filter=0,skip=0"},
      {"drtopk-bitonic", "drtopk", "exponent=5,base=5"},
      {"drtopk-gridselect", "drtopk", "beta=1,base=6"},
      {"sort", "sort", NULL},
      {"compact", "compact", NULL},
      {"compact-phases", "compact", "one_pass=0"},
      {"route", "route", NULL}},
     {&run_select, &run_kth, &run_where, &run_select_where, &run_count, &run_mask, &run_route,
      &run_approximate, &run_approximate_where}},
};

const backend *backend_named(const char *name) {
    for (size_t b = 0; b < sizeof backends / sizeof backends[0]; b++) {
        if (strcmp(backends[b].name, name) == 0) {
            return &backends[b];
        }
    }
    return NULL;
}
