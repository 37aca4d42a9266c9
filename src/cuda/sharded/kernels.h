/* SPDX-License-Identifier: Apache-2.0
 * The kernels of shards, as the host sees them. */
#ifndef TOPK_SRC_CUDA_SHARDED_KERNELS_H
#define TOPK_SRC_CUDA_SHARDED_KERNELS_H

#include "../codes.h"
#include "../grid.h"
#include "../predicate/args.h"
#include "../rows.h"
#include "sizes.h"

/* What a thread does with a row. */
#ifdef __cplusplus
#define SHARDED_INLINE TOPK_DEVICE
#endif
#include "../../sharded_row.h"

/* Of a state that was begun; else its results say that it is broken. */
struct sharded_header {
    uint64_t magic, problem;
};

#define SHARDED_MAGIC 0x746f706b73686431u /* "topkshd1" */

/* What a selection needs of a row: results are elements in one arc, and the first `ties` of those in another.
 * Arcs are of points (keys.h), or of codes where these do not follow points. */
struct selected_row {
    uint64_t begin, span, tie_begin, tie_span;
    int64_t ties;
    int64_t written, tied; /* results, and elements in the other arc, before the launch */
    uint32_t none, cuts,
        skip; /* no element is in the first arc; or may be in the other one; or is a result */
    uint32_t reserved;
};

/* The rows that a launch selects from, and what it needs of the state. */
struct selected_rows {
    int64_t first, count;
    int64_t segment; /* where in each row the launch begins */
    bool is_first;   /* nothing has been written yet, padding neither */
    uint32_t tiles;  /* of each row */
    uint64_t *ticket;
    uint64_t *words; /* of look-back: words_of_row for each row, zero before the launch */
    int64_t words_of_row;
    struct selected_row *rows;       /* of all */
    struct sharded_written *written; /* likewise: after the launch */
};

struct sharded_args {
    struct row_args rows;
    struct decode_args decode;
    struct predicate_args predicate; /* of a count */
    struct sharded_header *header;
    uint64_t problem;
    struct sharded_row *states; /* of each row */
    uint64_t *own;              /* rows x bins: the shard's part of the counters; atomic */
    void *kept;                 /* rows x capacity keys */
    int64_t capacity;
    uint32_t bins;        /* of a row */
    uint32_t shift, mask; /* of the digit of the round */
    bool is_first;        /* round: all keys are in the interval */
    bool is_later_part;   /* what was kept has been counted */
    bool keeps;           /* of an advance: another count follows the next one */
    bool lists;           /* of a count: codes may have to be kept */
    uint64_t *counters;
    const uint64_t *sums;
    const int64_t *before;
    void *kth;
    int64_t *better, *equal, *own_better, *own_equal, *own_k, *after, *known;
    struct selected_rows selected;
};

#ifdef __cplusplus
extern "C" {
#endif

enum sharded_kernel {
    SHARDED_BEGIN,
    SHARDED_COUNT,
    SHARDED_ADVANCE,
    SHARDED_RESULT,
    SHARDED_OPEN,
    SHARDED_SELECT
};

/* The kernels of one element width. */
struct sharded_kernels {
    int (*prepare)(void);
    /* 0 or a cudaError_t. */
    int (*launch)(enum sharded_kernel kernel, const struct launch_grid *grid,
                  const struct sharded_args *args);
    int64_t tile; /* elements that a block reads at once */
};

extern const struct sharded_kernels topk_cuda_sharded_kernels_8, topk_cuda_sharded_kernels_16,
    topk_cuda_sharded_kernels_32, topk_cuda_sharded_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
