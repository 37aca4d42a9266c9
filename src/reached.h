/* SPDX-License-Identifier: Apache-2.0
 * Rare paths that a test must be able to prove it took.
 *
 * In test builds (TOPK_SHRINK) TOPK_REACHED counts a path; everywhere else it is nothing. */
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
    REACHED_PATHS
};

#ifdef TOPK_SHRINK
extern const char *const topk_reached_names[];
extern unsigned long topk_reached_counts[];
extern const int topk_reached_total;
#define TOPK_REACHED(path) ((void)__atomic_fetch_add(&topk_reached_counts[path], 1, __ATOMIC_RELAXED))
#else
#define TOPK_REACHED(path) ((void)0)
#endif

#endif
