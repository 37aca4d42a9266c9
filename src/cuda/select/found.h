/* SPDX-License-Identifier: Apache-2.0
 * Results that a method has found but not put in order, and sort, which does that. */
#ifndef TOPK_SRC_CUDA_SELECT_FOUND_H
#define TOPK_SRC_CUDA_SELECT_FOUND_H

#include "../../method.h"
#include "../../workspace.h"

/* Buffers for what is found. */
static inline struct found found_take(const struct plan *plan, size_t position_bytes, struct arena *arena) {
    return (struct found){.elements = arena_take(arena, plan->output_elements, plan->element_bytes),
                          .positions = arena_take(arena, plan->output_elements, position_bytes)};
}

/* As plan() of sort, for a call that has found elements (struct call) in place of the rows. */
void topk_cuda_plan_found(const topk_context *context, const struct plan *plan, size_t position_bytes,
                          struct room *room, struct decision *decision);

#endif
