/* SPDX-License-Identifier: Apache-2.0
 * What lies between the two selections of the method groups, for each width of elements. */
#ifndef TOPK_SRC_CUDA_GROUPS_KERNELS_H
#define TOPK_SRC_CUDA_GROUPS_KERNELS_H

#include "../grid.h"

enum { GROUPS_THREADS = 256, GROUPS_BLOCKS_PER_SM = 8 };

/* Elements in the order of their groups: those below group 0 first, those of no group above last. */
struct groups_args {
    int64_t elements, groups, base, k_max;
    bool wide_numbers; /* numbers and k have 64 bits */
    bool wide_indices;
    const void *numbers; /* of groups, ascending */
    void *indices;       /* positions plus base, in that order; they become what results have as indices */
    const void *values;  /* the caller's */
    const void *given;   /* the caller's indices, or NULL */
    const void *k;       /* the caller's, or NULL */
    void *moved;         /* elements, in that order */
    int64_t *offsets;    /* groups + 1: where each begins */
    int64_t *own_k;      /* k in 64 bits, if it is given */
    int64_t *counts;     /* the caller's, or NULL */
    const uint32_t *condition; /* NULL, or where 0 says that the call is off: then kernels write nothing */
};

struct groups_kernels {
    int (*prepare)(void);
    int (*bounds)(const struct launch_grid *grid,
                  const struct groups_args *args); /* offsets, own_k, counts */
    int (*gather)(const struct launch_grid *grid, const struct groups_args *args); /* indices, moved */
};

#ifdef __cplusplus
extern "C" {
#endif
extern const struct groups_kernels topk_cuda_groups_kernels_8, topk_cuda_groups_kernels_16,
    topk_cuda_groups_kernels_32, topk_cuda_groups_kernels_64;
#ifdef __cplusplus
}
#endif
#endif
