/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranks of a job of mpirun that share one question: each has a part of the input, and rank 0, the root,
 * prints.
 *
 * Two programs have the tool's other files in common. topk (alone.c) knows no MPI; with --mpi it becomes
 * topk-mpi (ranks_mpi.c), which lies beside it. All functions are collective: each rank calls them in the
 * same order. A rank that fails meets the others in the next one: then all of them end, with the message and
 * the status of the first rank that failed, as one process has those of the first bad place. */
#ifndef TOPK_CLI_RANKS_H
#define TOPK_CLI_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "topk_dist.h"

/* Elements and their positions. The owner ends both arrays with release(). */
struct ranks_list {
    void *values;
    int64_t *indices;
    int64_t count;
};

/* A rank's part of a row, which is read as often as needed. */
struct ranks_part {
    int64_t first, length; /* positions [first, first + length) of the row */
    int64_t piece;         /* elements that are read at once */
    topk_dist_read *read;  /* by places in the part */
    void *user;
};

/* Lines of text, of other ranks and of all. */
struct ranks_lines {
    int64_t before;  /* those of the ranks before this one */
    int64_t in_file; /* of these, the ones in the first file of this rank */
    int64_t all;
};

/* The owner ends them with release(). */
struct ranks_bytes {
    char *bytes;
    uint64_t size;
};

/* Takes a piece that `rank` has passed on; the bytes lie at a multiple of 8, and are the callee's to change.
 */
typedef void ranks_take(void *user, int rank, struct ranks_bytes *piece);

struct ranks {
    int rank, count;
    int threads; /* that a rank should have, where the user names no number */

    /* Waits for the others. */
    void (*meet)(void);

    /* The sum of all ranks' numbers. */
    int64_t (*sum)(int64_t number);

    /* That of the ranks before this one. */
    int64_t (*sum_before)(int64_t number);

    /* Replaces a rank's candidates, of ascending positions, by the k best of all, by the ranking of the
     * problem: on the root, or everywhere. Else the others have none. */
    void (*select)(topk_context *context, const topk_problem *ranking, int64_t k, bool everywhere,
                   struct ranks_list *list);

    /* As topk_kth() on the whole row, for each rank. */
    void (*kth)(topk_context *context, const topk_problem *ranking, int64_t k, struct ranks_part *part,
                void *kth, int64_t *better, int64_t *equal);

    /* A rank has read all its lines, with `last_lines` of them in its last file. The numbers of files ascend
     * from rank to rank; -1: it has none. The only function here that is not collective. */
    void (*end_lines)(int64_t last_file, int64_t last_lines);

    /* Follows end_lines(): a rank's first file, and its lines in all files. */
    struct ranks_lines (*place_lines)(int64_t first_file, int64_t lines);

    /* The root gets the bytes of all ranks, one behind the other in their order; the others keep none. */
    void (*gather)(struct ranks_bytes *bytes);

    /* Until pass() has ended on all ranks, they pass pieces of bytes on to the root, in their order: all
     * pieces of a rank before the next rank's. A rank that fails waits for the ranks before it, for one of
     * them may fail as well. */
    void (*begin_passing)(void);

    /* Passes a piece on, and empties it, when all ranks before this one have passed on all of theirs. With
     * `last` there is none behind it, and the call returns when no rank has any. The root calls this once,
     * with `last` and no bytes, and has each piece of the others go to take(). */
    void (*pass)(struct ranks_bytes *piece, bool last, ranks_take *take, void *user);
};

/* The ranks that the command line asks for by --mpi, or NULL: then this process is alone. Must come before
 * anything is printed. */
const struct ranks *ranks_begin(char **arguments);

#endif /* TOPK_CLI_RANKS_H */
