/* SPDX-License-Identifier: Apache-2.0
 * One run of a plan, and its steps. Steps that communicate say so; each rank takes them, also one that has
 * failed before: it passes its status on. */
#ifndef TOPK_SRC_DIST_RUN_H
#define TOPK_SRC_DIST_RUN_H

#include "error.h"
#include "layout.h"

/* Of this rank, which the others do not know of yet (failure.c). */
struct failure {
    topk_status status;
    bool is_of_read; /* by a function that reads elements: DEVICE of it breaks no group */
    char text[TOPK_DIST_TEXT_BYTES];
};

struct run {
    const struct topk_dist_plan *plan;
    topk_input input;
    topk_dist_output output;
    topk_dist_source source; /* of a rank whose elements come in pieces */
    struct buffers b;
    topk_stream stream;  /* on a device; else NULL */
    const void *lengths; /* input.lengths, where the host can read it */
    struct failure *failure;
    bool all_know; /* the run has an error, and all ranks have it */
};

/* ---- Failures ---- */

/* What a step on a device makes of its outcome: in a group that waits the first failure is kept, and it is
 * OK. Then no further step does anything. */
topk_status topk_dist_kept(const struct run *r, topk_status status);
bool topk_dist_has_failed(const struct run *r);

/* Collective: as topk_dist_agree(), with what is kept. DEVICE breaks the group on all ranks. */
topk_status topk_dist_agree_in_run(struct run *r, topk_status status);

/* ---- Steps of one rank ---- */

/* Whether the table of positions, if there is one, ascends in each row. */
topk_status topk_dist_check_table(const struct run *r);

/* Selects the rank's list from its elements, with positions in the whole row as indices. `own_k`: k of each
 * row, or NULL, which is the caller's. */
topk_status topk_dist_select_own(const struct run *r, const int64_t *own_k);

/* The same of elements that come in pieces. `k`: of each row, extents, or NULL. Indices are positions on the
 * rank, plus index_base where ranks have runs. */
topk_status topk_dist_stream_own(const struct run *r, const void *k);

/* Selects the rank's results by the rounds' state, by position, if b.before ties lie before its own. Indices
 * are such positions. From its elements to the outputs; or, where these come in pieces, to the rank's list,
 * in rows of p->pitch slots. */
topk_status topk_dist_select_placed(const struct run *r);
topk_status topk_dist_stream_placed(const struct run *r);

/* own_k as extents, in b.ks; NULL: the caller's k. */
const void *topk_dist_own_k(const struct run *r, const int64_t *own_k);

/* Of elements that come in pieces: counts a round of topk_sharded.h; adds the matches to b.better. */
topk_status topk_dist_stream_round(const struct run *r, int round);
topk_status topk_dist_stream_count(const struct run *r);

/* Positions on the rank become positions in the whole row, where these are dealt out in turns. */
void topk_dist_stride_positions(const struct run *r, void *indices, int64_t pitch);

/* Rows of `pitch` slots become rows of `count`, which is no more: the first ones of each. And the reverse:
 * what follows the first `count` slots of a row is not written. */
void topk_dist_pack(void *list, int64_t rows, int64_t pitch, int64_t count, size_t bytes);
void topk_dist_spread(void *list, int64_t rows, int64_t pitch, int64_t count, size_t bytes);

/* From the results of all ranks: how many of the first `count` entries of this rank's lists are `winners`;
 * with exchange_kth, of those that b.before tells. */
void topk_dist_find_own(const struct run *r, int64_t count);

/* ---- Steps that communicate ---- */

/* The ways to results. `status`: whether this rank can take part. */
topk_status topk_dist_run_gather(struct run *r, topk_status status);
topk_status topk_dist_run_histogram(struct run *r, topk_status status);
topk_status topk_dist_run_kth(struct run *r, topk_status status);
topk_status topk_dist_run_count(struct run *r, topk_status status);

/* All of them, where data are a device's. */
topk_status topk_dist_run_on_device(struct run *r, topk_status status);

/* Fills b.sent: how many candidates of each list must be sent. *count is the most of all lists. */
topk_status topk_dist_exchange_kth(const struct run *r, int64_t *count);

/* Sends the first `count` candidates of each list, or those that b.sent tells, and merges what this rank gets
 * into the outputs. In place these candidates stay where they were; the others are lost. */
topk_status topk_dist_deliver(const struct run *r, int64_t count);

/* The same, by nodes. */
topk_status topk_dist_deliver_by_nodes(const struct run *r, int64_t count);

/* output.before from b.own_k. */
topk_status topk_dist_number_own(const struct run *r);

#endif
