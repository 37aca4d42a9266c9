/* SPDX-License-Identifier: Apache-2.0
 *
 * The library as the tool uses it: a context with a workspace that grows as needed, positions in int64, and
 * the end of the tool at any error. All data is the host's: with a GPU, elements go there piece by piece. */
#ifndef TOPK_CLI_SESSION_H
#define TOPK_CLI_SESSION_H

#include "../input/matrix.h"
#include "../options/options.h"
#include "early.h"
#include "filter.h"
#include "staging.h"
#include "topk_simple.h"

struct session {
    topk_simple *simple;
    topk_context *context; /* of `simple` */
    /* A session on the CPU: this one, or a GPU session's own for what the GPU does not do. */
    struct session *host;
    struct staging staging;     /* on a GPU */
    struct early early;         /* on a GPU: memory for the first slots that begin, which take it */
    const struct matrix *input; /* where elements come from, if that is a binary file; NULL at first */
    struct filter *filter;      /* the one whose mask is the predicate; NULL: none is */
};

/* On the device that the options name. If it is left to the tool: on the first GPU, if there is one whose
 * backend has the operation (and the method, if one is forced), else on the CPU. If it is known that elements
 * will go through slots (slots.h), `streamed_bytes` says how many bytes, else it is 0. */
void session_begin(struct session *session, const struct options *options, topk_operation operation,
                   topk_type type, uint64_t streamed_bytes);
void session_end(struct session *session);

bool session_on_device(const struct session *session);

/* How many threads the tool may have on the host. */
int session_threads(const struct session *session);

/* Bytes that a piece may have: what the options say, and what fits into the GPU. */
int64_t session_piece_bytes(const struct session *session, const struct options *options, topk_type type);

/* Ends the tool if the backend has no method for the operation, by the options' method and tuning. */
void session_check(const struct session *session, const struct options *options, topk_operation operation,
                   topk_type type);

/* Leaves the choice of a problem's method to the library: the forced method and its knobs may not do what the
 * tool does besides. */
void session_choose_freely(topk_problem *problem);

/* A problem of the options' ranking with the given size. */
topk_problem session_problem(const struct options *options, topk_type type, int64_t rows, int64_t length,
                             int64_t k);

/* From the elements that meet the predicate; from all if it is NULL. The session is on the host. */
void session_select(struct session *host, const topk_problem *problem, const void *elements,
                    const topk_predicate *predicate, void *values, int64_t *indices);

/* As session_select(), but the elements of the one row have positions of their own,
 * unless `positions` is NULL. */
void session_rank(struct session *host, const topk_problem *problem, const void *elements,
                  const int64_t *positions, void *values, int64_t *indices);

/* Writes `slots` slots of padding. */
void session_pad(struct session *session, const struct options *options, topk_type type, int64_t slots,
                 void *values, int64_t *indices);

/* How many of a row's slots hold results: padding, whose index is -1, comes behind them. */
int64_t results_found(const int64_t *indices, int64_t slots);

/* Of the elements that meet the predicate; of all if it is NULL. */
void session_kth(struct session *session, const topk_problem *problem, const void *elements,
                 const topk_predicate *predicate, void *kth, int64_t *better, int64_t *equal);

/* The same for several ranks: `count` of them, each a k, at `ranks`. Outputs have rows x count slots. On the
 * host one call reads a long row for all; a GPU, whose workspace would grow with them, gets the elements
 * once. */
void session_kth_ranks(struct session *session, const topk_problem *problem, const void *elements,
                       const topk_predicate *predicate, const int64_t *ranks, int count, void *kth,
                       int64_t *better, int64_t *equal);

void session_where(struct session *session, const topk_problem *problem, const void *elements,
                   const topk_predicate *predicate, void *values, int64_t *indices, int64_t capacity,
                   int64_t *offsets);

void session_count(struct session *session, const topk_problem *problem, const void *elements,
                   const topk_predicate *predicate, int64_t *counts);

void session_mask(struct session *session, const topk_problem *problem, const void *elements,
                  const topk_predicate *predicate, unsigned char *mask);

#endif /* TOPK_CLI_SESSION_H */
