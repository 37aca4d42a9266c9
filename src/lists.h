/* SPDX-License-Identifier: Apache-2.0
 * What topk_merge() adds to a problem. */
#ifndef TOPK_SRC_LISTS_H
#define TOPK_SRC_LISTS_H

#include "problem.h"
#include "topk_merge.h"

/* Indices of candidates that are none, and of the results of a row with an index that is not allowed. */
enum { MERGE_PADDING = -1, MERGE_INVALID = -2 };

/* Whether a problem that is valid otherwise is one of merging (CONTRACT.md, 15). */
topk_status topk_check_merge(const topk_problem *problem);

/* Validates the caller's lists for a problem and copies them, with list_stride resolved. */
topk_status topk_check_lists(const struct plan *plan, const topk_lists *caller, topk_lists *lists);

/* Adds the buffers of lists and input, and checks that they go together. */
topk_status topk_list_lists(const struct plan *plan, const topk_input *input, const topk_output *output,
                            const topk_lists *lists, struct buffer_list *buffers);

#endif
