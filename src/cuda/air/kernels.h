/* SPDX-License-Identifier: Apache-2.0
 * The kernels of air, as the host sees them. */
#ifndef TOPK_SRC_CUDA_AIR_KERNELS_H
#define TOPK_SRC_CUDA_AIR_KERNELS_H

#include "../codes.h"
#include "../grid.h"
#include "../predicate/args.h"
#include "../rows.h"
#include "../select/args.h"
#include "../select/sizes.h"
#include "sizes.h"

/* How far a row is. */
enum air_phase {
    AIR_OPEN,    /* digits are missing */
    AIR_DECIDED, /* all digits are known, or need not be; the last filter is missing */
    AIR_DONE     /* its results are written */
};

/* What is known of a row between launches. All zero before the first. */
struct air_state {
    struct kth_range range;
    uint64_t greatest, greatest_complement; /* by extent, of all codes; atomic */
    uint64_t phase;
    uint64_t is_buffered; /* 1: the candidates of some pass are in the buffer, and the winners are written */
    uint64_t buffered;    /* candidates in the buffer; atomic */
    uint64_t winners;     /* winners written; atomic */
    uint64_t ties;        /* ties written by the last filter; atomic */
    uint64_t next;        /* tile of the last filter, when it goes in order; atomic */
    uint64_t finished;    /* 1: the last filter has all it needs; atomic */
    uint32_t retired;     /* blocks that are done with the row in this launch; atomic */
    uint32_t unused;
};

struct air_args {
    bool has_successor;       /* the next launch is the same call's: it may start early */
    struct digit digit;       /* of this pass */
    bool by_extent;           /* the digit follows from a row's range: its shift differs */
    struct air_state *states; /* of each row */
    struct row_args rows;
    struct predicate_args predicate;
    int64_t *matches; /* with a predicate: matching elements of each row; NULL if no launch asks for them */
    struct decode_args decode;
    struct kth_outputs kth;
    struct target target;
    struct digit_plan digits;
    uint64_t *histograms;           /* rows x 2^digits.bits */
    struct element_list candidates; /* the buffer: `capacity` for each row */
    int64_t capacity;
    struct lookback_args lookback; /* of the last filter */
    /* Candidates that one block keeps in shared memory, and entries that it sorts there. */
    uint32_t block_candidates, block_entries;
};

/* Candidates of a shared row that its last block has room for. */
static inline uint32_t finish_candidates(uint32_t element_bytes) {
    const uint32_t room = AIR_FINISH_BYTES / ((element_bytes == 8 ? 8 : 4) + 4);
    return room < (uint32_t)AIR_FINISH_CANDIDATES ? room : (uint32_t)AIR_FINISH_CANDIDATES;
}

#ifdef __cplusplus
extern "C" {
#endif

enum air_kernel {
    AIR_FIRST,  /* the first pass */
    AIR_EXTENT, /* in place of it: the range from the least code to the greatest */
    AIR_NEXT,   /* another one */
    AIR_FUSED,  /* the last one, with the tuning fused_filter */
    AIR_LAST,   /* the last filter */
    AIR_SORT,   /* the sort of a row's results, in one block */
    AIR_RANK,   /* the same, in several */
    AIR_ROW     /* everything, one block for a row */
};

/* The kernels of one element width. */
struct air_kernels {
    int (*prepare)(uint32_t shared_bytes_max);
    /* 0 or a cudaError_t. */
    int (*launch)(enum air_kernel kernel, const struct launch_grid *grid, const struct air_args *args);
    /* The candidates that AIR_ROW has room for in shared memory; negative if the rest does not fit. */
    int64_t (*row_room)(const struct air_args *args, uint32_t shared_bytes_max);
};

extern const struct air_kernels topk_cuda_air_kernels_8, topk_cuda_air_kernels_16, topk_cuda_air_kernels_32,
    topk_cuda_air_kernels_64;

/* By width_of(). */
extern const struct air_kernels *const topk_cuda_air_kernels[];

#ifdef __cplusplus
}
#endif
#endif
