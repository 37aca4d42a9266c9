/* SPDX-License-Identifier: Apache-2.0
 * How long the strategies are expected to take. */
#ifndef TOPK_SRC_DIST_COST_H
#define TOPK_SRC_DIST_COST_H

#include "plan.h"

/* Collective, for select, once list_max and block_rows are known: chooses the strategy if that is AUTO, and
 * sets predicted_us. All ranks choose the same. */
topk_status topk_dist_choose(struct topk_dist_plan *plan);

#endif
