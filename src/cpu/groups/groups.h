/* SPDX-License-Identifier: Apache-2.0
 * The two ways of the method groups. Each measures itself and runs. */
#ifndef TOPK_SRC_CPU_GROUPS_GROUPS_H
#define TOPK_SRC_CPU_GROUPS_GROUPS_H

#include "../../subcall.h"
#include "../methods.h"

/* One pass: lists.c. */
struct group_lists_plan {
    size_t k;          /* what a group can have as results, at most */
    size_t list;       /* candidates of a list */
    size_t tile;       /* elements whose keys are made at once */
    int threads;       /* at most */
    size_t part_bytes; /* of a thread's workspace */
    size_t bytes;
};

void topk_cpu_group_lists_plan(const topk_context *context, const struct plan *plan, size_t limit,
                               struct group_lists_plan *lists);
void topk_cpu_group_lists_run(const struct call *call, const struct group_lists_plan *lists);

/* Rows of their own: rows.c. */
struct group_rows_plan {
    int threads; /* that count and scatter, at most */
    size_t bytes;
    struct subcall inner;
};

topk_status topk_cpu_group_rows_plan(const topk_context *context, const struct plan *plan, size_t limit,
                                     struct room *room, struct group_rows_plan *rows);
int topk_cpu_group_rows_run(const struct call *call, const struct group_rows_plan *rows);

/* The group of element `at`; `groups` if it belongs to none. */
static inline size_t group_of(const void *numbers, bool is_wide, size_t at, size_t groups) {
    const uint64_t group =
        is_wide ? ((const uint64_t *)numbers)[at] : (uint64_t)(int64_t)((const int32_t *)numbers)[at];
    return group < groups ? (size_t)group : groups;
}

#endif
