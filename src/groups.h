/* SPDX-License-Identifier: Apache-2.0
 * What topk_select_by() adds to a problem. */
#ifndef TOPK_SRC_GROUPS_H
#define TOPK_SRC_GROUPS_H

#include "problem.h"
#include "topk_groups.h"

/* Whether a problem that is valid otherwise is one of groups (topk_groups.h). */
topk_status topk_check_select_by(const topk_problem *problem);

/* Adds the buffers of an input of groups, and checks that the arrays go together. */
topk_status topk_list_groups(const struct plan *plan, const topk_input *input, struct buffer_list *buffers);

#endif
