/* SPDX-License-Identifier: Apache-2.0
 * The best groups of experts, in registers: for groups that lie in the same lanes as every other. */
#ifndef TOPK_SRC_CUDA_ROUTE_GROUPS_CUH
#define TOPK_SRC_CUDA_ROUTE_GROUPS_CUH

#include "filter.cuh"

struct best_two {
    float first, second;
};

/* NaN stays in `first`. */
TOPK_DEVICE best_two merge_two(const best_two &a, const best_two &b) {
    return best_two{simt_float_max_or_nan(a.first, b.first),
                    simt_float_max(simt_float_min(a.first, b.first), simt_float_max(a.second, b.second))};
}

/* How the groups of experts lie: each in `lanes` neighbouring lanes, a group of items in each of them. */
template <typename Element, uint32_t LANES, uint32_t ITEMS> struct group_shape {
    typedef logit_shape<Element, LANES, ITEMS> shape;
    uint32_t lanes, shift; /* a power of two, and of which */

    TOPK_MEMBER group_shape(const struct route_args &a) {
        lanes = a.group_size % shape::PER == 0 ? a.group_size / shape::PER : 0;
        shift = 31 - simt_clz(lanes | 1);
    }
    /* Otherwise the groups lie in another way, or are too many. */
    TOPK_MEMBER bool fits(const struct route_args &a) const {
        return lanes != 0 && lanes <= LANES && (lanes & (lanes - 1)) == 0 && a.groups <= LANES;
    }
    /* That the lane's group g of items is in. */
    TOPK_MEMBER uint32_t group(uint32_t g) const {
        return (g * LANES + shape::lane()) >> shift;
    }
};

/* The best two scores of group `lane`; of a lane behind the groups anything. All lanes. */
template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE best_two best_of_group(const near_scores<ITEMS> &s,
                                   const group_shape<Element, LANES, ITEMS> &groups) {
    typedef logit_shape<Element, LANES, ITEMS> shape;
    const uint32_t lane = shape::lane(), groups_at_once = LANES >> groups.shift;
    const uint32_t source = simt_lane() - lane + lane % groups_at_once * groups.lanes;
    best_two mine = {minus_infinity(), minus_infinity()};
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++) {
        best_two best = {s.scores[g * shape::PER], minus_infinity()};
#pragma unroll
        for (uint32_t i = 1; i < shape::PER; i++)
            best = merge_two(best, best_two{s.scores[g * shape::PER + i], minus_infinity()});
        for (uint32_t lanes = 1; lanes < groups.lanes; lanes *= 2)
            best = merge_two(best, best_two{simt_shuffle_xor(SIMT_ALL_LANES, best.first, lanes),
                                            simt_shuffle_xor(SIMT_ALL_LANES, best.second, lanes)});
        best.first = simt_shuffle(SIMT_ALL_LANES, best.first, source);
        best.second = simt_shuffle(SIMT_ALL_LANES, best.second, source);
        if (lane / groups_at_once == g)
            mine = best;
    }
    return mine;
}

/* Of scores that are near: whether the worst group that is kept is above the best one that is not, whatever
 * the exact scores are. All lanes. */
template <uint32_t LANES>
TOPK_DEVICE bool is_choice_certain(float sum, float error, bool is_group, bool is_kept) {
    const float infinity = -minus_infinity();
    const float low = is_kept ? sum - error : infinity, high = is_group && !is_kept ? sum + error : -infinity;
    auto least = [](float a, float b) TOPK_LAMBDA { return simt_float_min(a, b); };
    auto greatest = [](float a, float b) TOPK_LAMBDA { return simt_float_max(a, b); };
    return combine_row<LANES>(low, least) > combine_row<LANES>(high, greatest);
}

/* Leaves the experts of the best groups alone present. All lanes. */
template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE void keep_groups(const struct route_args &a, near_scores<ITEMS> *s) {
    typedef logit_shape<Element, LANES, ITEMS> shape;
    const group_shape<Element, LANES, ITEMS> groups(a);
    if (!groups.fits(a)) {
        s->is_certain = false;
        return;
    }
    TOPK_REACHED(REACHED_ROUTE_GROUPS);
    const uint32_t lane = shape::lane(), first_lane = simt_lane() - lane;
    const best_two best = best_of_group<Element, LANES, ITEMS>(*s, groups);
    const float sum = a.group_size == 1 ? best.first : score_add(best.first, best.second);
    uint32_t rank = 0;
    for (uint32_t group = 0; group < a.groups; group++) {
        const float other = simt_shuffle(SIMT_ALL_LANES, sum, first_lane + group);
        rank += other > sum || (other == sum && group < lane) ? 1 : 0;
    }
    const bool is_group = lane < a.groups, is_kept = is_group && rank < a.groups_kept;
    const uint32_t kept = simt_ballot(SIMT_ALL_LANES, is_kept) >> first_lane;
    s->is_certain &= !is_group || sum == sum;
    if (a.by_sigmoid) {
        const float error = error_of(best.first) + (a.group_size == 1 ? 0 : error_of(best.second));
        const bool is_clear = is_choice_certain<LANES>(sum, 2 * error, is_group, is_kept);
        if (!is_clear)
            TOPK_REACHED(REACHED_ROUTE_UNCERTAIN);
        s->is_certain &= is_clear;
    }
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t group = groups.group(i / shape::PER);
        const bool stays = group < a.groups && (kept >> group & 1) != 0;
        s->scores[i] = stays ? s->scores[i] : minus_infinity();
        s->present &= stays ? ~0u : ~(1u << i);
    }
}

#endif
