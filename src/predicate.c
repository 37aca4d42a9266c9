/* SPDX-License-Identifier: Apache-2.0 */
#include "predicate.h"

#include "bounds.h"
#include "problem.h"
#include "status.h"
#include "structs.h"

struct match topk_predicate_match(const topk_predicate *predicate, topk_type type) {
    const struct type_traits traits = topk_type_traits(type);
    const topk_bound *bounds = predicate->bounds;
    return match_of_bounds(predicate->kind, bounds != NULL ? &bounds[0] : &predicate->low,
                           bounds != NULL ? &bounds[1] : &predicate->high, &traits);
}

/* Whether a bound whose type nobody set can be the f64 that it is taken for, and not an integer that was
 * written to it: small ones are the bits of denormals and of NaN with a payload. Large ones are those of
 * numbers that no comparison of integers needs. */
static bool may_be_f64(const topk_bound *bound, topk_type type) {
    const uint64_t exponent_one = UINT64_C(1) << 52, infinity = exponent_one * 0x7ff, bias = 1023;
    const uint64_t bits = bound->value.u64, magnitude = bits << 1 >> 1;
    if (bits == 0 || magnitude == infinity || magnitude == infinity + exponent_one / 2) {
        return true;
    }
    return topk_type_traits(type).is_float
               ? magnitude == 0 || (magnitude >= exponent_one && magnitude < infinity)
               : magnitude >= (bias - 64) * exponent_one && magnitude <= (bias + 64) * exponent_one;
}

static topk_status check_bounds(const topk_predicate *predicate, topk_type type) {
    const topk_bound *const fields[] = {&predicate->low, &predicate->high};
    const int read = !predicate_compares(predicate->kind) || predicate->bounds != NULL ? 0
                     : predicate->kind == TOPK_BETWEEN                                 ? 2
                                                                                       : 1;
    for (int i = 0; i < read; i++) {
        const char *const name = i == 0 ? "low" : "high";
        if (fields[i]->type == TOPK_BOUND_UNSET) {
            if (!may_be_f64(fields[i], type)) {
                return topk_fail(TOPK_ERROR_UNKNOWN_ENUM,
                                 "predicate->%s has no type, and looks like the integer %lld: set it by "
                                 "topk_bound_f64(), topk_bound_i64() or topk_bound_u64()",
                                 name, (long long)fields[i]->value.i64);
            }
        } else if ((unsigned)fields[i]->type > TOPK_BOUND_U64) {
            return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "predicate->%s.type is %d, must be %d to %d", name,
                             (int)fields[i]->type, TOPK_BOUND_F64, TOPK_BOUND_U64);
        }
    }
    return TOPK_OK;
}

topk_status topk_check_predicate(const topk_predicate *caller, topk_predicate *predicate) {
    const topk_status status = topk_read_struct(STRUCT_PREDICATE, caller, predicate);
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
                   : topk_fail(TOPK_ERROR_CONTRADICTION, "predicate->bounds does not go with a mask");
    }
    if (predicate->mask != NULL) {
        return topk_fail(TOPK_ERROR_CONTRADICTION, "predicate->mask does not go with a comparison");
    }
    return TOPK_OK;
}

topk_status topk_list_predicate(const struct plan *plan, const topk_predicate *predicate,
                                struct buffer_list *buffers) {
    const size_t elements = plan->input_elements;
    const size_t mask_bytes = predicate->kind == TOPK_BYTE_MASK  ? elements
                              : predicate->kind == TOPK_BIT_MASK ? bit_mask_bytes(elements)
                                                                 : 0;
    const size_t bounds = predicate->kind == TOPK_BETWEEN ? 2 : 1;
    buffer_list_add(buffers, (struct buffer){"predicate->mask", predicate->mask, mask_bytes, 1, true, false});
    buffer_list_add(buffers,
                    (struct buffer){"predicate->bounds", predicate->bounds, bounds * sizeof(topk_bound),
                                    _Alignof(topk_bound), false, false});
    return check_bounds(predicate, plan->problem.type);
}
