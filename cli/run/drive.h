/* SPDX-License-Identifier: Apache-2.0
 *
 * What commands share that go through the input once, piece by piece. */
#ifndef TOPK_CLI_DRIVE_H
#define TOPK_CLI_DRIVE_H

#include "../engine/session.h"
#include "../input/source.h"
#include "../output/progress.h"
#include "../output/report.h"
#include "../ranks/ranks.h"

struct task {
    const struct options *options;
    const struct ranks *ranks; /* of which this is one; NULL: it is alone */
    int64_t lines_before;      /* of text: those of the ranks before this one. Pieces do not count them */
    struct source source;
    struct session session;
    struct progress progress;
    bool prints; /* else arrays are written */
    struct report report;
    topk_predicate as_resolved;
    struct filter filter;            /* whose mask is the predicate, if options_masks() */
    const topk_predicate *predicate; /* for elements of this input; NULL: none is given */
    topk_problem problem; /* of a piece: take() has its rows, length and positions. Its k is 0 at first */
};

struct operation {
    const char *command;
    topk_operation operation;
    bool silent; /* it prints nothing, and writes no arrays */
    /* Makes what the command needs, limits pieces by limit_pieces() or source_limit(), and may set
     * problem.k_max. */
    void (*begin)(struct task *task);
    /* Takes the next piece. */
    void (*take)(struct task *task, const struct piece *piece);
    /* Rows [row, row + rows) have been taken as a whole; NULL: that does not matter. */
    void (*end_rows)(struct task *task, int64_t row, int64_t rows);
    /* Takes all of the input by itself; true if it did. NULL: it never does. */
    bool (*take_all)(struct task *task);
    /* This rank has taken all of its part; others may not have. NULL: that does not matter. */
    void (*end_part)(struct task *task);
    /* All has been taken. */
    void (*end)(struct task *task);
};

/* Runs a command. The task is the first member of the command's own struct. */
void drive(struct task *task, const struct options *options, const struct operation *operation);

/* Limits pieces to a piece's bytes of elements that take `element_bytes` each in all, and rows that take
 * `row_bytes` besides. */
void limit_pieces(struct task *task, size_t element_bytes, size_t row_bytes);

#endif /* TOPK_CLI_DRIVE_H */
