/* SPDX-License-Identifier: Apache-2.0
 * The pieces of a source, one after another. */
#ifndef TOPK_SRC_DIST_PIECES_H
#define TOPK_SRC_DIST_PIECES_H

#include "run.h"

/* Elements [first, first + length) of each row. */
struct piece {
    topk_input input; /* values; lengths, if rows have different ones; the predicate of the run */
    int64_t row_stride, length, first;
    int64_t number; /* from 0 on */
};

typedef topk_status topk_dist_visit(const struct run *r, const struct piece *piece, void *what);

/* Visits all pieces in their order, and at least one, which may be empty. While one is visited a thread reads
 * the next one. Ends with the first status that is not OK, of the source or a visit. */
topk_status topk_dist_visit_pieces(const struct run *r, topk_dist_visit *visit, void *what);

#endif
