/* SPDX-License-Identifier: Apache-2.0
 *
 * Random problems over ranks that are threads of this process, each with a context and a stream, against one
 * call over the whole rows. A program says how its ranks communicate. */
#ifndef TESTS_DIST_JOBS_H
#define TESTS_DIST_JOBS_H

#include <pthread.h>

#include "random.h"
#include "ranks.h"
#include "topk_dist.h"

enum {
    JOBS_RANKS_MOST = 8,
    JOBS_ROWS_MOST = 4,
    JOBS_LENGTH_MOST = 400,
    JOBS_K_MOST = JOBS_LENGTH_MOST + 5,
    JOBS_SLOTS = JOBS_ROWS_MOST * JOBS_K_MOST,
    JOBS_ELEMENT_BYTES = JOBS_ROWS_MOST * JOBS_LENGTH_MOST * 8
};

typedef struct job {
    topk_operation operation;
    topk_problem problem; /* of the whole rows */
    topk_dist_options options;
    int64_t first[JOBS_RANKS_MOST + 1]; /* BASE: the position of each rank's first element */
    topk_predicate predicate;
    /* Two bits of each rank: whether its elements come in two parts, and whether these are the device's. */
    uint64_t sources;
    int64_t piece;
    int nodes[JOBS_RANKS_MOST]; /* options.node of each rank */
} job;

typedef struct results {
    unsigned char values[JOBS_SLOTS * 8];
    int64_t indices[JOBS_SLOTS], better[JOBS_ROWS_MOST], equal[JOBS_ROWS_MOST], counts[JOBS_ROWS_MOST];
} results;

typedef struct rank {
    int number;
    topk_context *context;
    topk_dist_group *group; /* the program's */
    void *values, *workspace, *out_values;
    unsigned char *pinned;          /* what was sent, on the host */
    int64_t length;                 /* of a row */
    int64_t *out_indices, *numbers; /* of each row: own_k, before, better, equal, counts */
    topk_dist_properties properties;
    unsigned char sent[JOBS_ELEMENT_BYTES];
    results seen;
    int64_t own_k[JOBS_ROWS_MOST], before[JOBS_ROWS_MOST];
} rank;

/* Whether all problems select, and may merge lists by nodes. False at first. */
extern bool jobs_have_nodes;

/* What all ranks work on, and they. */
extern job drawn;
extern rank *ranks;
extern int rank_count;

/* Ends the program where there is no device. `open` and `close` make and end the group of each rank, which
 * has all else. */
void jobs_start(void (*open)(void), void (*close)(void));
void jobs_end(void);
topk_context *jobs_alone(void); /* on the CPU, from start to end */
void jobs_open(int count, bool one_each);
void jobs_close(void);

/* work(rank), by a thread for each rank from `first` on. */
void on_ranks(int first, void *(*work)(void *));

/* Draws a problem of any kind; or makes `drawn` one of that operation, with 10 elements on each rank and k
 * = 5. */
void draw_problem(random_state *random, int count);
void take_problem(topk_operation operation, int count);

/* A rank's part of the whole rows: how many elements of a row, which it sends to its device. */
int64_t send_part(rank *own);
topk_status create_plan(rank *own, int64_t length, topk_dist_plan **plan);
topk_status run_plan(rank *own, topk_dist_plan *plan);
void fetch(rank *own);

/* Problems against one call: each run, and run in a graph that is launched twice, where there are any. */
void check_problems(int count, bool one_each, int problems);

#endif
