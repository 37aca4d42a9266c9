/* SPDX-License-Identifier: Apache-2.0
 * The kernels of radik, as the host sees them. */
#ifndef TOPK_SRC_CUDA_RADIK_KERNELS_H
#define TOPK_SRC_CUDA_RADIK_KERNELS_H

#include "../codes.h"
#include "../grid.h"
#include "../predicate/args.h"
#include "../rows.h"
#include "../select/args.h"
#include "../select/sizes.h"
#include "sizes.h"

/* How far a row is. */
enum radik_phase {
    RADIK_OPEN,    /* digits are missing */
    RADIK_DECIDED, /* all are known, or need not be; results are missing */
    RADIK_ORDERED, /* the same, and results go in the order of positions */
    RADIK_DONE     /* its results are written, but for their order */
};

/* What is known of a row between launches. */
struct radik_state {
    struct kth_range range; /* of keys */
    uint64_t phase;
    uint64_t is_drawn;    /* 1: a sample has drawn the range, so that the k-th element may be out of it */
    uint64_t is_buffered; /* 1: the candidates of some pass are in the buffer, and the winners are written */
    uint64_t buffered;    /* candidates in the buffer; atomic */
    uint64_t above;       /* elements above a drawn range; atomic */
    uint64_t winners;     /* winners written; atomic */
    uint64_t ties;        /* ties written; atomic */
    uint64_t next;        /* tile of the ordered filter; atomic */
    uint64_t finished;    /* 1: the ordered filter has all it needs; atomic */
    int64_t matches;      /* results at most: fewer than k if fewer elements match the predicate */
    uint32_t retired;     /* blocks that are done with the row in this launch; atomic */
    uint32_t unused;
};

/* A row of the list. `first_tile` counts the tiles of the rows before it. */
struct listed_row {
    int64_t row, first_tile;
};

/* Words of look-back (lookback.h) for each tile, and for each row besides. */
enum { RADIK_WORDS_OF_TILE = 4, RADIK_WORDS_OF_ROW = 12 };

/* Which rows are read, and how many tiles they have. A row has a tile more than whole ones fit in it. */
struct task_args {
    int64_t only_row;            /* not negative: a launch for this row alone */
    int64_t tiles_of_row;        /* of each row, if all are as long; else 0, and a launch lists rows: */
    struct listed_row *rows;     /* the list, in ascending order */
    uint64_t *total;             /* listed rows and their tiles: two words */
    uint64_t *finished;          /* rows with nothing left to do, but for what goes in order; atomic */
    int64_t rows_max, tiles_max; /* that there is room for */
    uint32_t *overflow;          /* 1: there were more, since spans may overlap */
    int64_t tile_elements;
    /* Look-back over blocks of rows. With several of them these words, and overflow, are zero before. */
    uint64_t *list_ticket, *list_words;
    int64_t list_tiles, sum_words;
};

/* Rows of different lengths that are left to another method: spans, empty where a row is not one of them.
 * NULL: all rows are read here. */
struct short_rows {
    int64_t *begins, *ends, *k;
    int64_t length; /* at most */
};

struct radik_args {
    bool has_successor;             /* the next launch is the same call's: it may start early */
    bool has_many;                  /* results: they go through the write buffer */
    bool uses_buffer, pads, scales; /* knobs */
    struct task_args tasks;
    struct radik_state *states; /* of each row, or of each that is listed */
    struct row_args rows;
    struct predicate_args predicate;
    int64_t *matches; /* of each row, as in its state, for who sorts lists of results; or NULL */
    struct decode_args decode;
    struct kth_outputs kth;
    struct target target;
    struct digit_plan digits;
    uint64_t *histograms;           /* 2^digits.bits for each state */
    struct element_list candidates; /* the buffer */
    int64_t tile_capacity;          /* of it, for each tile */
    uint64_t *lookback; /* of the ordered filter, zero before the first launch; NULL: there is none */
    uint64_t seed;      /* of samples */
    struct short_rows short_rows;
    uint32_t block_entries; /* that one block sorts */
};

#ifdef __cplusplus
extern "C" {
#endif

enum radik_kernel {
    RADIK_BEGIN, /* clears a row's memory and draws its sample */
    RADIK_FIRST, /* the first pass */
    RADIK_NEXT,  /* another one */
    RADIK_ORDER, /* writes results in the order of positions */
    RADIK_SORT,  /* the sort of a row's results, in one block */
    RADIK_RANK   /* the same, in several */
};

/* The kernels of one element width. */
struct radik_kernels {
    int (*prepare)(uint32_t shared_bytes_max);
    /* 0 or a cudaError_t. */
    int (*launch)(enum radik_kernel kernel, const struct launch_grid *grid, const struct radik_args *args);
    /* Of a block, at most; `many`: with the write buffer. */
    uint32_t (*shared_bytes)(bool many, uint32_t digit_bits);
};

extern const struct radik_kernels topk_cuda_radik_kernels_8, topk_cuda_radik_kernels_16,
    topk_cuda_radik_kernels_32, topk_cuda_radik_kernels_64;

/* Lists rows: of any width. */
int topk_cuda_radik_prepare_list(void);
int topk_cuda_radik_list(const struct launch_grid *grid, const struct radik_args *args);

#ifdef __cplusplus
}
#endif
#endif
