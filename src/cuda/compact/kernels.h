/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of compact are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_COMPACT_KERNELS_H
#define TOPK_SRC_CUDA_COMPACT_KERNELS_H

#include "../grid.h"
#include "../predicate/args.h"
#include "../rows.h"
#include "sizes.h"

/* The rows, laid end to end, are one sequence; `total` and `starts` count in it. */
struct compact_args {
    bool has_successor;              /* the next launch is the same call's: it may start early */
    struct row_args rows;            /* k is NULL */
    const void *source;              /* what decides: the values, or a mask, which is laid out as they are */
    struct predicate_args predicate; /* whose bounds compact_prepare reads, if the device has to */
    bool dense;      /* rows lie in memory without gaps, all of length_max: there are no starts */
    int64_t total;   /* elements, if dense */
    int64_t *starts; /* rows + 1, by compact_prepare */
    uint32_t value_bytes;
    int64_t capacity;
    int64_t *offsets;    /* or NULL */
    uint64_t *tickets;   /* of compact_prepare and of the pass; zero before, like all words below */
    uint64_t *row_words; /* look-back over the lengths of rows */
    uint64_t *words;     /* look-back over units of tiles, or over tiles of chunks */
    int64_t word_count;
    uint32_t *masks;        /* of topk_mask, or of three phases */
    uint32_t *chunk_counts; /* three phases: hits of each chunk */
    uint64_t *chunk_starts; /* three phases: hits before each chunk */
    int64_t *counts;        /* of compact_count: of each row */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels for sources of one width. */
struct compact_kernels {
    int (*prepare)(uint32_t shared_bytes_max);
    int64_t step;                         /* least number of elements from one tile to the next */
    uint32_t (*dense_shared_bytes)(void); /* of a block, where rows are dense */
    uint32_t dense_blocks_per_sm, dense_threads;
    int (*pass)(const struct launch_grid *grid, const struct compact_args *args);
    int (*mask)(const struct launch_grid *grid, const struct compact_args *args);
};

extern const struct compact_kernels topk_cuda_compact_kernels_8, topk_cuda_compact_kernels_16,
    topk_cuda_compact_kernels_32, topk_cuda_compact_kernels_64, topk_cuda_compact_kernels_bits;

/* Finds the starts of rows unless they are dense, and reads the bounds if the device has to. */
int topk_cuda_compact_launch_prepare(const struct launch_grid *grid, const struct compact_args *args);

/* Sums up the counts of chunks; writes the results of masks; turns offsets into counts. */
int topk_cuda_compact_launch_scan(const struct launch_grid *grid, const struct compact_args *args);
int topk_cuda_compact_launch_scatter(const struct launch_grid *grid, const struct compact_args *args);
int topk_cuda_compact_launch_count(const struct launch_grid *grid, const struct compact_args *args);

#ifdef __cplusplus
}
#endif
#endif
