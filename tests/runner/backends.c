/* SPDX-License-Identifier: Apache-2.0 */
#include "backends.h"

#include <string.h>

/* A given alpha takes short rows, too, off the way that gives each to one block. */
static void share_rows(topk_tuning *tuning) {
    tuning->alpha = 4;
}

static void always_buffer(topk_tuning *tuning) {
    tuning->adaptive_buffering = 0;
    tuning->digit_bits = 5;
}

static void never_buffer(topk_tuning *tuning) {
    tuning->alpha = INT64_MAX;
    tuning->early_stop = 0;
    tuning->digit_bits = 3;
}

static void in_phases(topk_tuning *tuning) {
    tuning->one_pass = 0;
}

static void fuse_filter(topk_tuning *tuning) {
    tuning->fused_filter = 1;
    tuning->alpha = 4;
    tuning->digit_bits = 3;
}

static const backend backends[] = {
    {"cpu",
     TOPK_BACKEND_CPU,
     {{"default", NULL, NULL},
      {"bracket", "bracket", NULL},
      {"rows", "rows", NULL},
      {"compact", "compact", NULL},
      {"reference", "reference", NULL}},
     {&run_select, &run_kth, &run_where, &run_select_where, &run_count, &run_mask}},
    {"cuda",
     TOPK_BACKEND_CUDA,
     {{"default", NULL, NULL},
      {"air", "air", NULL},
      {"air-shared", "air", share_rows},
      {"air-buffered", "air", always_buffer},
      {"air-unbuffered", "air", never_buffer},
      {"air-fused", "air", fuse_filter},
      {"sort", "sort", NULL},
      {"compact", "compact", NULL},
      {"compact-phases", "compact", in_phases}},
     {&run_select, &run_kth, &run_where, &run_select_where, &run_count, &run_mask}},
};

const backend *backend_named(const char *name) {
    for (size_t b = 0; b < sizeof backends / sizeof backends[0]; b++) {
        if (strcmp(backends[b].name, name) == 0) {
            return &backends[b];
        }
    }
    return NULL;
}
