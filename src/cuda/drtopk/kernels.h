/* SPDX-License-Identifier: Apache-2.0
 * The kernels of drtopk, as the host sees them. */
#ifndef TOPK_SRC_CUDA_DRTOPK_KERNELS_H
#define TOPK_SRC_CUDA_DRTOPK_KERNELS_H

#include "../codes.h"
#include "../grid.h"
#include "../rows.h"
#include "../select/args.h"
#include "sizes.h"

/* The delegates of all rows. Subrange j of a row has the slots from j * beta on, the best delegate first;
 * only the last subrange may have fewer. */
struct delegate_args {
    void *keys;        /* rows x pitch, of an element's width */
    uint16_t *offsets; /* rows x pitch, counted from where a whole subrange would begin */
    int64_t pitch;
    int64_t *lengths;        /* of each row: slots up to its last delegate */
    int64_t *needed, *asked; /* of each row: k, cut to its length, and as asked for */
};

/* What the first top-k found of the delegates of each row: the key of the k-th, how many are better, and how
 * many have that key; or a bound in place of the key, as struct plan says of `surplus`. If it selects, only
 * the results, k_max for each row; drtopk_last then finds the keys, and the last slot of that key. */
struct first_args {
    void *keys;
    int64_t *better, *equal, *last;
    bool selects;
    int64_t k_max;
    void *selected;
    int64_t *selected_slots;
    uint64_t surplus; /* delegates besides the k best that may be taken */
};

struct drtopk_args {
    /* Its outputs are the concatenated vectors: elements, and the indices to be written for them. Elements
     * that tie are there in the order of positions. */
    struct row_args rows;
    int64_t concatenated_pitch;
    int64_t *concatenated_lengths; /* of each row */
    uint32_t exponent;             /* a subrange has 2^exponent elements */
    uint32_t beta;
    uint32_t tile; /* subranges of a tile, each of a thread */
    bool filters;  /* elements that do not reach the key that the first top-k found are left out */
    struct delegate_args delegates;
    struct first_args first;
    struct lookback_args lookback; /* of tiles of subranges: delegates that tie, and elements */
    uint64_t *tickets;             /* of each row: its next tile; zero before the launch */
    /* What topk_kth writes. `values` come from the second top-k, never NULL. `counts` and `retired` are
     * zero before the launch. */
    struct kth_outputs kth;
    uint64_t *counts;
    uint32_t *retired;
};

#ifdef __cplusplus
extern "C" {
#endif

enum drtopk_kernel {
    DRTOPK_BY_WARP,     /* reads the rows and makes the delegates, some lanes for each subrange */
    DRTOPK_BY_THREAD,   /* the same, a thread for each */
    DRTOPK_LAST,        /* finds the last of the delegates that the first top-k has selected */
    DRTOPK_CONCATENATE, /* takes delegates and scans subranges again */
    DRTOPK_EQUAL        /* counts the elements that equal the k-th */
};

/* The kernels of one element width. */
struct drtopk_kernels {
    int (*prepare)(void);
    /* 0 or a cudaError_t. */
    int (*launch)(enum drtopk_kernel kernel, const struct launch_grid *grid, const struct drtopk_args *args);
};

extern const struct drtopk_kernels topk_cuda_drtopk_kernels_8, topk_cuda_drtopk_kernels_16,
    topk_cuda_drtopk_kernels_32, topk_cuda_drtopk_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
