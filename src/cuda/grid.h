/* SPDX-License-Identifier: Apache-2.0
 * The grid that host code launches a kernel with. */
#ifndef TOPK_SRC_CUDA_GRID_H
#define TOPK_SRC_CUDA_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "topk.h"

struct launch_grid {
    uint32_t blocks, rows; /* the two dimensions, each at least 1 */
    uint32_t threads;      /* of a block */
    bool waits;            /* blocks wait for each other: all are resident at once */
    bool dependent;        /* may start before the launch before it has ended, which is the same call's */
    topk_stream stream;
};

#endif
