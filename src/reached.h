/* SPDX-License-Identifier: Apache-2.0
 * Rare paths that a test must be able to prove it took.
 *
 * In test builds (TOPK_SHRINK) TOPK_REACHED counts a path; everywhere else it is nothing. Kernels have it
 * from simt.cuh: on the emulated GPU it counts, on a real one it is nothing. */
#ifndef TOPK_SRC_REACHED_H
#define TOPK_SRC_REACHED_H

enum topk_reached_path {
    REACHED_BRACKET_HELD,     /* the k-th key was above the lower threshold */
    REACHED_BRACKET_PLATEAU,  /* the k-th key was the lower threshold itself */
    REACHED_BRACKET_MISS,     /* too few elements at or above the lower threshold: another attempt */
    REACHED_BRACKET_OVERFLOW, /* more candidates than the pool holds: another attempt */
    REACHED_BRACKET_FALLBACK, /* attempts used up: counting passes over the row */
    REACHED_COUNTING_MISS,    /* the sampled range of a counting pass missed the k-th key */
    REACHED_NO_POOL,          /* the pool exceeds the workspace bound: counting passes from the start */
    REACHED_WHOLE_ROW,        /* k is at least the row's length */
    REACHED_TEAM_SORT,        /* a sort shared by several threads */
    REACHED_FEW_MATCHES,      /* fewer than k elements of a row match */
    REACHED_COUNTING_MATCHES, /* counting passes over the matches of a row */
    REACHED_LARGER_TILE,      /* few candidates were expected: tiles above the least size */

    REACHED_SORT_GROUPS, /* not all rows are sorted together */
    REACHED_SORT_LIMIT,  /* the caller's limit makes the groups of rows smaller */
    REACHED_SORT_WIDE,   /* positions have 8 bytes, so that a tile's go through shared memory in two turns */
    REACHED_SORT_NEXT_ROW,  /* a block that counts digits goes on to a row behind the grid's */
    REACHED_SORT_NEXT_LIST, /* a block that sorts rows of its own goes on to another */
    REACHED_TILES_BACK,     /* a tile adds up the counts of several tiles before it */
    REACHED_PATHS
};

#ifdef TOPK_SHRINK
#ifdef __cplusplus
extern "C" {
#endif
extern const char *const topk_reached_names[];
extern unsigned long topk_reached_counts[];
extern const int topk_reached_total;
#ifdef __cplusplus
}
#endif
#define TOPK_REACHED(path) ((void)__atomic_fetch_add(&topk_reached_counts[path], 1, __ATOMIC_RELAXED))
#else
#define TOPK_REACHED(path) ((void)0)
#endif

#endif
