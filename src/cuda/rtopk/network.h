/* SPDX-License-Identifier: Apache-2.0
 * Rows of one length whose thresholds sorting networks find: the kernels, and who launches them. */
#ifndef TOPK_SRC_CUDA_RTOPK_NETWORK_H
#define TOPK_SRC_CUDA_RTOPK_NETWORK_H

#include "kernels.h"

/* Blocks that a multiprocessor has registers for, with elements of so many bytes. */
#define RTOPK_NETWORK_BLOCKS(items, kept, bytes)                                                             \
    ((items) > 32                   ? (bytes) == 8 ? ((kept) == 0 ? 4 : 3)                                   \
                                      : (kept) > 8 ? 4                                                       \
                                                   : 5                                                       \
     : (items) > 16 && (kept) != 0  ? 6                                                                      \
     : (items) > 16 && (bytes) == 8 ? 5                                                                      \
                                    : 7)

/* The same, of kernels that list candidates. */
#define RTOPK_CANDIDATE_BLOCKS(items) ((items) > 48 ? 5 : 7)

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of one element width. `network`: an index of RTOPK_NETWORK_LIST, or behind these of
 * RTOPK_TINY_LIST, or behind these of RTOPK_CANDIDATE_LIST, which elements of 16 and 32 bits alone have. */
struct network_kernels {
    int (*prepare)(void);
    int (*rows)(const struct launch_grid *grid, const struct rtopk_args *args, uint32_t network);
};

extern const struct network_kernels topk_cuda_rtopk_network_8, topk_cuda_rtopk_network_16,
    topk_cuda_rtopk_network_32, topk_cuda_rtopk_network_64;

#ifdef __cplusplus
}
#else
#include "uniform.h"

extern const struct knob topk_cuda_rtopk_knobs[];

/* How a network serves a problem. */
struct network {
    uint32_t index;                  /* as in struct network_kernels */
    uint32_t part_shift, list_shift; /* as in struct uniform_rows */
    double instructions;             /* of a warp, for a row; INFINITY: no network serves it */
    double of_warp;                  /* of a warp, for all rows that it serves at once */
};

/* The network that takes the fewest instructions. */
struct network topk_cuda_rtopk_network_of(const topk_context *context, const struct plan *plan);
/* What a row costs if a warp serves so many at once: where there are too few warps to keep the GPU busy, more
 * than its share. */
double topk_cuda_rtopk_instructions_of_row(const topk_context *context, const struct plan *plan,
                                           double of_warp, int64_t rows_of_warp);
/* Says how lanes put results in order, if they do, where one takes `most` of them at most and 1 <<
 * u->part_shift share a row. Returns false if they cannot. */
bool topk_cuda_rtopk_set_order(const struct plan *plan, uint32_t most, struct rtopk_args *args);
/* Whether networks, and approximations in parts of a warp, may serve rows. */
bool topk_cuda_rtopk_shares_warps(const struct plan *plan);
int topk_cuda_rtopk_prepare_network(void);
/* For uniform rows. */
int topk_cuda_rtopk_run_network(const struct call *call, const struct rtopk_args *of_row,
                                const struct network *network);
#endif
#endif
