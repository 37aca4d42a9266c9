/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of sort are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_SORT_KERNELS_H
#define TOPK_SRC_CUDA_SORT_KERNELS_H

#include "../grid.h"
#include "../rows.h"
#include "sizes.h"

/* A list of elements for each row of a group; row i of the group begins at i * pitch. Positions have 4 bytes,
 * or 8 if they are wide. */
struct sort_lists {
    void *elements;  /* NULL: the rows of the problem themselves; as a destination, the outputs */
    void *positions; /* NULL: an element's slot in its list is its position; as a destination, not wanted */
    int64_t pitch;
};

/* Where more than k elements of a row reach a threshold, and not many more, these alone are sorted: its
 * survivors. An array has an element for each row of the group, if nothing else is said. */
struct sort_filter {
    uint64_t *starts;     /* where each row's survivors begin in the lists, and where the last one's end: one
                           * more than rows. NULL: whole rows are sorted */
    int64_t room;         /* for the survivors of each row */
    int64_t tiles;        /* of each row, in the launches that filter */
    uint64_t *thresholds; /* keys */
    int64_t *until;       /* elements of the threshold's class survive before this position */
    uint64_t *ranges;     /* * the greatest distance of a survivor's key from the threshold. A star: zero
                           * before the launch that filters */
    uint64_t *words;      /* * of this launch's look-back: look_back_words(tiles of all rows) */
    uint64_t *ticket;     /* * of this launch's tiles; one word */
    uint64_t *row_ticket; /* * of rows that a block looks at once more; one word */
    uint32_t *settled;    /* * whether a row's threshold is known to be right */
    bool again;           /* if a threshold misled: after rows are settled, all are filtered once more */
    uint64_t seed;
};

struct sort_args {
    bool has_successor; /* the next launch is the same call's: it may start early */
    struct row_args rows;
    struct decode_args decode;
    struct kth_outputs kth;
    bool is_kth;
    bool is_found;               /* the lists hold min(k, length) elements of each row, not all of it */
    const int64_t *found_counts; /* if not NULL: but no more than these */
    bool wide;                   /* positions have 64 bits */
    int64_t first_row, group_rows;
    struct sort_lists from, to;
    struct sort_filter filter;
    void *zeroed; /* all that is zero before: the first launch of a filtered group does that */
    int64_t zeroed_bytes;
    uint32_t pass;     /* the digit, from the lowest on */
    int64_t tiles;     /* of each row */
    uint64_t *counts;  /* how often each digit occurs: group_rows x passes x SORT_BINS */
    uint64_t *ticket;  /* of this pass's tiles; zero before */
    bool wide_states;  /* words of look-back have 64 bits */
    void *states;      /* look-back of this pass: group_rows x tiles x SORT_BINS, zero before */
    void *next_states; /* the next pass's, to be zeroed by this one; NULL after the last */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of one element width. */
struct sort_kernels {
    int (*prepare)(void);
    /* Everything, one block for a row. */
    int (*row)(const struct launch_grid *grid, const struct sort_args *args);
    /* Finds thresholds; lists and counts survivors. */
    int (*sample)(const struct launch_grid *grid, const struct sort_args *args);
    int (*filter)(const struct launch_grid *grid, const struct sort_args *args);
    /* Counts all digits; one pass of the sort; the k-th of sorted rows. */
    int (*count)(const struct launch_grid *grid, const struct sort_args *args);
    int (*pass)(const struct launch_grid *grid, const struct sort_args *args);
    int (*kth)(const struct launch_grid *grid, const struct sort_args *args);
};

extern const struct sort_kernels topk_cuda_sort_kernels_8, topk_cuda_sort_kernels_16,
    topk_cuda_sort_kernels_32, topk_cuda_sort_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
