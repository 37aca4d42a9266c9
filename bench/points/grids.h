/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables that suites are made of. */
#ifndef BENCH_GRIDS_H
#define BENCH_GRIDS_H

#include "points/suites.h"

/* All points of the product of these lists; grids of one suite follow each other. */
typedef struct bench_grid {
    const char *suite;
    topk_operation operation;
    const char *lists[BENCH_DIMENSIONS]; /* NULL: the default of all grids */
} bench_grid;

extern const bench_grid bench_cpu_grids[];
extern const int bench_cpu_grid_count;
extern const bench_grid bench_gpu_grids[];
extern const int bench_gpu_grid_count;

#define EVERY_DISTRIBUTION                                                                                   \
    "uniform,normal,normal-1e8,cd,prefix10,prefix20,cluster,narrow,zipf,softmax,quantised,relu-quantised,"   \
    "tie-heavy,pivot-tie,all-equal"

#endif /* BENCH_GRIDS_H */
