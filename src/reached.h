/* SPDX-License-Identifier: Apache-2.0
 * Rare paths that a test must be able to prove it took.
 *
 * The folder that takes a path names it, by a row of its reached.def:
 *
 *     PATH(REACHED_BEST_NO_ROOM, "cuda best: more ties than there is room for")
 *
 * and says TOPK_REACHED(REACHED_BEST_NO_ROOM) where the path is taken. The text is the backend; the run of
 * the tests that must take the path, if not all runs together; the path.
 *
 * In test builds (TOPK_SHRINK) TOPK_REACHED counts a path; everywhere else it is nothing, and no list is
 * read. Kernels have it from simt.cuh: on the emulated GPU it counts, on a real one it is nothing. */
#ifndef TOPK_SRC_REACHED_H
#define TOPK_SRC_REACHED_H

#ifdef TOPK_SHRINK

enum topk_reached_path {
#define PATH(path, name) path,
#include "reached_paths.def" /* the lists of all folders, which CMake found */
#undef PATH
    REACHED_PATHS
};

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

/* A path as an argument of a template, which is an int. */
#define TOPK_PATH(path) path

#else
#define TOPK_REACHED(path) ((void)0)
#define TOPK_PATH(path) 0
#endif

#endif
