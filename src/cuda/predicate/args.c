/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include "../../predicate.h"

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
    if (!predicate_compares(predicate->kind)) {
        args.mask = predicate->mask;
        args.mask_has_bits = predicate->kind == TOPK_BIT_MASK;
        args.match = (struct match){{1, UINT8_MAX - 1}, false}; /* bytes that are not 0 */
        return args;
    }
    args.flip = topk_point_map(&order).flip;
    if (predicate->bounds != NULL) {
        args.bounds =
            (struct device_bounds){predicate->bounds, predicate->kind, topk_type_traits(type), found};
    } else {
        args.match = topk_predicate_match(predicate, type);
        spare_flip(&args, call->plan->element_bits);
    }
    return args;
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
