/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include "../../predicate.h"
#include "../../status.h"

/* An arc of elements of one sign is also an arc of their bits, where it need not flip negative elements:
 * kernels then compare without the flip. */
static void spare_flip(struct predicate_args *args, unsigned bits) {
    struct arc *arc = &args->match.arc;
    const uint64_t half = UINT64_C(1) << (bits - 1), begin = arc->begin,
                   end = (begin + arc->span) & topk_ones(bits);
    if (args->flip == 0 || begin > end || (begin < half && end >= half)) {
        return;
    }
    if (begin >= half) {
        arc->begin = end ^ args->flip;
    }
    args->flip = 0;
}

struct predicate_args topk_cuda_predicate_args(const struct call *call, struct match *found) {
    const topk_predicate *predicate = call->predicate;
    const topk_type type = call->plan->problem.type;
    const struct order order = predicate_order(type);
    struct predicate_args args = {.is_given = true};
    if (predicate_masks(predicate->kind)) {
        args.mask = predicate->mask;
        args.mask_has_bits = predicate->kind == TOPK_BIT_MASK;
        args.match = (struct match){{1, UINT8_MAX - 1}, false}; /* bytes that are not 0 */
        return args;
    }
    args.flip = topk_point_map(&order).flip;
    const void *const values =
        predicate->kind == TOPK_AT_LEAST ? predicate->threshold : (const void *)predicate->bounds;
    if (values != NULL) {
        const struct order *rank = &call->plan->order;
        args.bounds = (struct device_bounds){.values = values,
                                             .kind = predicate->kind,
                                             .largest = rank->direction == TOPK_LARGEST,
                                             .by_magnitude = rank->rank == TOPK_BY_MAGNITUDE,
                                             .nan_best = rank->nan_best,
                                             .traits = topk_type_traits(type),
                                             .found = found};
    } else if (predicate->kind == TOPK_AT_LEAST) {
        args.match.none = true; /* there are no rows */
    } else {
        args.match = topk_predicate_match(predicate, type);
        spare_flip(&args, call->plan->element_bits);
    }
    return args;
}

/* Kernels compare with one arc of points, the same for all rows. Of the largest magnitudes there are two, of
 * one sign each, unless NaN between them belongs to them. */
topk_status topk_cuda_check_predicate(const struct plan *plan, const topk_predicate *predicate) {
    const topk_problem *p = &plan->problem;
    if (predicate->kind != TOPK_AT_LEAST) {
        return TOPK_OK;
    }
    if (predicate->threshold_stride > 0 && p->rows > 1) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "AT_LEAST takes one threshold for all rows on a GPU: "
                                                 "predicate->threshold_stride must be 0");
    }
    return topk_type_traits(p->type).is_float && p->rank == TOPK_BY_MAGNITUDE &&
                   p->direction == TOPK_LARGEST && !plan->order.nan_best
               ? topk_fail(
                     TOPK_ERROR_UNSUPPORTED,
                     "AT_LEAST does not rank floats by magnitude, the largest first, with NaN last on a GPU")
               : TOPK_OK;
}

int topk_cuda_read_bounds(const struct call *call, const struct predicate_args *args) {
    const struct launch_grid one = {.blocks = 1, .rows = 1, .threads = 32, .stream = call->stream};
    const struct bounds_args bounds = {call->condition, *args};
    return args->bounds.values != NULL ? topk_cuda_launch_bounds(&one, &bounds) : 0;
}

int topk_cuda_take_predicate(const struct call *call, struct match *found, struct predicate_args *args) {
    *args = topk_cuda_predicate_args(call, found);
    return topk_cuda_read_bounds(call, args);
}
