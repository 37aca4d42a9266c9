/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of rtopk are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_RTOPK_KERNELS_H
#define TOPK_SRC_CUDA_RTOPK_KERNELS_H

#include "../grid.h"
#include "../rows.h"
#include "sizes.h"

/* How elements become leads (leads.cuh). Of elements with 64 bits flip, always and turn have as many; of all
 * others 32, with the element in the upper bits. */
struct lead_map {
    uint64_t flip, always, turn;
    uint32_t sign;                   /* 1, or all ones if the order descends */
    uint32_t unit;                   /* how far the leads of neighbours are apart; 0 with 64 bits */
    uint32_t step;                   /* of narrow elements: the same of a row's equal elements */
    uint32_t lowest, highest, zeros; /* as in struct code_map */
};

/* Rows that have a stride, one length, and one k. */
struct uniform_rows {
    uint32_t length, k;
    bool is_whole;          /* rows begin at multiples of 16 bytes and consist of whole groups */
    bool has_padding;       /* k_max is above k */
    bool has_plain_outputs; /* values, and positions of 32 bits */
    struct lead_map map;
    uint32_t part_shift;  /* 1 << part_shift lanes share a row */
    uint32_t row_shift;   /* of tiny rows: each lane has 1 << row_shift of them to itself */
    uint32_t list_shift;  /* 1 << list_shift of these, at least, hold the best k leads */
    bool is_full;         /* rows are whole and fill all items of all lanes */
    uint32_t group_shift; /* lanes have 1 << group_shift neighbours each, in turns */
    uint32_t reciprocal;  /* of k, times 1 << RTOPK_RECIPROCAL_BITS, rounded up */
    /* For results that are sorted: 1 << order_shift lanes sort the results of a row. Each lane takes
     * order_words of them, at most k. */
    uint32_t order_shift, order_words;
    uint32_t position_mask; /* the bits that positions take of the words that are sorted */
    uint32_t ahead;         /* a warp has the cache read rows so far behind its own; 0: none */
    /* Of a search by counting: */
    bool has_numbers;                    /* elements are floats */
    uint32_t origin;                     /* the lead of zero */
    uint32_t number_shift;               /* turns the magnitude in a lead into bits of a float32 */
    uint32_t upper_sample, lower_sample; /* two of a lane's sorted samples about the k-th lead */
    float sample_share;                  /* how far the k-th lead lies from the lower to the upper one */
    float rank_share;                    /* a rank's part of what all lanes' samples are apart */
};

struct rtopk_args {
    struct row_args rows;
    struct uniform_rows uniform; /* of networks */
    struct decode_args decode;
    struct kth_outputs kth;
    bool is_kth;
    bool is_sorted; /* results go best first, or: */
    bool by_position;
    uint32_t slots;   /* of a warp's list of positions */
    uint32_t entries; /* of a warp's list of entries: a power of two, or 0 if none is sorted there */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of one element width. */
struct rtopk_kernels {
    int (*prepare)(void);
    /* `row_class` counts from 0: each lane keeps RTOPK_ITEMS_0 elements, RTOPK_ITEMS_1, and so on. */
    int (*row)(const struct launch_grid *grid, const struct rtopk_args *args, uint32_t row_class);
    /* Rows stay in shared memory; blocks of RTOPK_UNEVEN_THREADS. */
    int (*uneven)(const struct launch_grid *grid, const struct rtopk_args *args);
};

extern const struct rtopk_kernels topk_cuda_rtopk_kernels_8, topk_cuda_rtopk_kernels_16,
    topk_cuda_rtopk_kernels_32, topk_cuda_rtopk_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
