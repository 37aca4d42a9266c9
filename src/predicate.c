/* SPDX-License-Identifier: Apache-2.0 */
#include "predicate.h"

#include "bounds.h"
#include "problem.h"
#include "status.h"

struct match topk_predicate_match(const topk_predicate *predicate, topk_type type) {
    const struct type_traits traits = topk_type_traits(type);
    const topk_bound *bounds = predicate->bounds;
    return match_of_bounds(predicate->kind, bounds != NULL ? &bounds[0] : &predicate->low,
                           bounds != NULL ? &bounds[1] : &predicate->high, &traits);
}

topk_status topk_check_predicate(const topk_predicate *caller, topk_predicate *predicate) {
    const topk_status status = topk_copy_struct(caller, sizeof *predicate, predicate, "predicate");
    if (status != TOPK_OK) {
        return status;
    }
    if ((unsigned)predicate->kind < TOPK_GT || (unsigned)predicate->kind > TOPK_BIT_MASK) {
        return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "predicate->kind is %d, must be %d to %d",
                         (int)predicate->kind, TOPK_GT, TOPK_BIT_MASK);
    }
    if (!predicate_compares(predicate->kind)) {
        return predicate->bounds == NULL
                   ? TOPK_OK
                   : topk_fail(TOPK_ERROR_UNSUPPORTED, "predicate->bounds does not go with a mask");
    }
    if (predicate->mask != NULL) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "predicate->mask does not go with a comparison");
    }
    const topk_bound *const fields[] = {&predicate->low, &predicate->high};
    const int read = predicate->bounds != NULL ? 0 : predicate->kind == TOPK_BETWEEN ? 2 : 1;
    for (int i = 0; i < read; i++) {
        if ((unsigned)fields[i]->type > TOPK_BOUND_U64) {
            return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "predicate->%s.type is %d, must be %d to %d",
                             i == 0 ? "low" : "high", (int)fields[i]->type, TOPK_BOUND_F64, TOPK_BOUND_U64);
        }
    }
    return TOPK_OK;
}

void topk_list_predicate(const struct plan *plan, const topk_predicate *predicate, struct buffer *buffers) {
    const size_t elements = plan->input_elements;
    const size_t mask_bytes = predicate->kind == TOPK_BYTE_MASK  ? elements
                              : predicate->kind == TOPK_BIT_MASK ? bit_mask_bytes(elements)
                                                                 : 0;
    const size_t bounds = predicate->kind == TOPK_BETWEEN ? 2 : 1;
    buffers[0] = (struct buffer){"predicate->mask", predicate->mask, mask_bytes, 1, true, false};
    buffers[1] = (struct buffer){"predicate->bounds",
                                 predicate->bounds,
                                 bounds * sizeof(topk_bound),
                                 _Alignof(topk_bound),
                                 false,
                                 false};
}
