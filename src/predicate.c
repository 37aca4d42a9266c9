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

struct match topk_at_least_match(const struct order *order, uint64_t element) {
    const unsigned bits = topk_type_traits(order->type).bits;
    const struct key_map map = topk_key_map(order);
    const struct threshold_arcs arcs = topk_threshold_arcs(order, topk_key_encode(element, bits, &map));
    const bool largest = order->direction == TOPK_LARGEST;
    const uint64_t begin = largest ? arcs.equal.begin : arcs.not_above.begin + arcs.not_above.span + 1;
    const uint64_t end = largest ? arcs.not_above.begin - 1 : arcs.equal.begin + arcs.equal.span;
    return (struct match){{begin & topk_ones(bits), (end - begin) & topk_ones(bits)}, false};
}

/* Whether a bound whose type nobody set can be the f64 that it is taken for, and not an integer that was
 * written to it: small ones are the bits of denormals and of NaN with a payload. Large ones are the bits of
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
    const topk_predicate_kind kind = predicate->kind;
    if ((unsigned)kind < TOPK_GT || (unsigned)kind > TOPK_AT_LEAST) {
        return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "predicate->kind is %d, must be %d to %d", (int)kind,
                         TOPK_GT, TOPK_AT_LEAST);
    }
    if (predicate->bounds != NULL && !predicate_compares(kind)) {
        return topk_fail(TOPK_ERROR_CONTRADICTION, "predicate->bounds goes with comparisons alone");
    }
    if (predicate->mask != NULL && !predicate_masks(kind)) {
        return topk_fail(TOPK_ERROR_CONTRADICTION, "predicate->mask goes with masks alone");
    }
    if ((predicate->threshold != NULL || predicate->threshold_stride != 0) && kind != TOPK_AT_LEAST) {
        return topk_fail(TOPK_ERROR_CONTRADICTION, "predicate->%s goes with AT_LEAST alone",
                         predicate->threshold != NULL ? "threshold" : "threshold_stride");
    }
    return predicate->threshold_stride >= 0
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_OUT_OF_RANGE,
                           "predicate->threshold_stride is %lld, must not be negative",
                           (long long)predicate->threshold_stride);
}

topk_status topk_refuse_at_least(const topk_predicate *predicate, const char *who) {
    return predicate->kind != TOPK_AT_LEAST
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_UNSUPPORTED, "predicate->kind is AT_LEAST, which %s do not take", who);
}

/* Adds the elements that AT_LEAST reads. */
static topk_status list_threshold(const struct plan *plan, const topk_predicate *predicate,
                                  struct buffer_list *buffers) {
    const int64_t rows = plan->problem.rows;
    int64_t elements = 0;
    bool overflow = rows > 0 && (__builtin_mul_overflow(rows - 1, predicate->threshold_stride, &elements) ||
                                 __builtin_add_overflow(elements, 1, &elements));
    const size_t bytes = topk_checked_bytes(rows > 0 ? elements : 0, plan->element_bytes, &overflow);
    if (overflow) {
        return topk_fail(TOPK_ERROR_OVERFLOW, "%lld thresholds, %lld elements apart, exceed 2^63 bytes",
                         (long long)rows, (long long)predicate->threshold_stride);
    }
    buffer_list_add(buffers, (struct buffer){"predicate->threshold", predicate->threshold, bytes,
                                             plan->element_bytes, true, false});
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
    return predicate->kind == TOPK_AT_LEAST ? list_threshold(plan, predicate, buffers)
                                            : check_bounds(predicate, plan->problem.type);
}
