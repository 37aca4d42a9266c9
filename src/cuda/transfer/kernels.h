/* SPDX-License-Identifier: Apache-2.0
 * Kernels over positions: they become others, are found not to ascend, or are broken. */
#ifndef TOPK_SRC_CUDA_TRANSFER_KERNELS_H
#define TOPK_SRC_CUDA_TRANSFER_KERNELS_H

#include "../grid.h"
#include "../rows.h"
#include "topk_transfer.h"

enum { RENUMBER_THREADS = 256, RENUMBER_BLOCKS_PER_SM = 8 };

/* Loads that a thread has under way. */
enum { DESCENT_STEPS = 4, DESCENT_ROWS_MAX = 32768 };

struct renumber_args {
    topk_renumbering how;
    const void *from;
    void *to;
};

struct add_args {
    int64_t count;
    const int64_t *from;
    int64_t *to;
};

struct descent_args {
    struct row_args rows; /* payload: the positions */
    uint64_t *places;     /* of each row, all bits set */
};

struct break_args {
    int64_t rows, from_pitch, to_pitch;
    bool from_wide, to_wide; /* int64 */
    const void *from;
    void *to;
};

#ifdef __cplusplus
extern "C" {
#endif

int topk_cuda_launch_add(const struct launch_grid *grid, const struct add_args *args);
int topk_cuda_launch_descents(const struct launch_grid *grid, const struct descent_args *args);
int topk_cuda_launch_break(const struct launch_grid *grid, const struct break_args *args);
int topk_cuda_prepare_renumber(void);
int topk_cuda_launch_renumber(const struct launch_grid *grid, const struct renumber_args *args);

#ifdef __cplusplus
}
#endif
#endif
