/* SPDX-License-Identifier: Apache-2.0
 * What ranks must have in common, and what each tells the others of its part. */
#ifndef TOPK_SRC_DIST_AGREE_H
#define TOPK_SRC_DIST_AGREE_H

#include "plan.h"

enum topk_dist_number {
    AGREE_BACKEND,
    AGREE_VERSION, /* of libtopk; up to EXCHANGE all ranks must have the same */
    AGREE_OPERATION,
    AGREE_TYPE,
    AGREE_INDEX_TYPE,
    AGREE_DIRECTION,
    AGREE_RANK,
    AGREE_NAN,
    AGREE_TIES,
    AGREE_ORDER,
    AGREE_ROWS,
    AGREE_K_MAX,
    AGREE_DESTINATION,
    AGREE_MAP,
    AGREE_STRATEGY,
    AGREE_ROOT,
    AGREE_EXCHANGE,
    AGREE_BASE,
    AGREE_NODE, /* options->node, or the transport's: 0, -1, ... */
    AGREE_LONGEST,
    AGREE_READS, /* 1 if its elements are read */
    AGREE_NUMBERS
};

/* Collective: writes to told[ranks x AGREE_NUMBERS] what each rank has, and finds the first that differs from
 * rank 0, or whose run of positions overlaps another one. All ranks find the same. */
topk_status topk_dist_compare(const struct topk_dist_plan *plan, int64_t *told);

#endif
