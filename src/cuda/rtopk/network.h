/* SPDX-License-Identifier: Apache-2.0
 * Rows of one length whose thresholds sorting networks find: the kernels, and who launches them. */
#ifndef TOPK_SRC_CUDA_RTOPK_NETWORK_H
#define TOPK_SRC_CUDA_RTOPK_NETWORK_H

#include "kernels.h"

/* Blocks that a multiprocessor has registers for, with elements of `bytes` bytes. */
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
#endif
#endif
