/* SPDX-License-Identifier: Apache-2.0
 * From a row's candidates, which are few, to its results: each is ranked among all of them. */
#ifndef TOPK_SRC_CUDA_ROUTE_CANDIDATES_CUH
#define TOPK_SRC_CUDA_ROUTE_CANDIDATES_CUH

#include "held.cuh"

/* The sum over the row's lanes before this one; *total over all. All lanes. */
template <uint32_t LANES> TOPK_DEVICE uint32_t scan_row(uint32_t value, uint32_t *total) {
    uint32_t sum = value;
#pragma unroll
    for (uint32_t lanes = 1; lanes < LANES; lanes *= 2)
        sum = simt_add_lane_before(sum, lanes, LANES);
    *total = simt_shuffle(SIMT_ALL_LANES, sum, simt_lane() | (LANES - 1));
    return sum - value;
}

/* Lists the experts of the lane's candidates in front of slot `end`. */
template <typename Shape>
TOPK_DEVICE void list_candidates(uint32_t hits, uint32_t end, const route_lists &lists) {
    simt_appender to = simt_append_at(lists.experts, end);
    while (hits != 0) {
        const uint32_t item = 31 - simt_clz(hits);
        to.prepend((uint16_t)Shape::expert(item));
        hits ^= 1u << item;
    }
}

/* A lane's candidates: slots lane, lane + LANES and so on of the list. */
template <uint32_t SLOTS> struct lane_candidates {
    uint32_t experts[SLOTS], ranks[SLOTS];
    float scores[SLOTS];
};

/* Puts the expert into bits of a logit, no negative zero, that its type leaves 0, at least 13: the lower
 * expert is better. So equal logits differ, unless they are infinite. */
TOPK_DEVICE float distinct_score(float logit, uint32_t expert) {
    const uint32_t bits = score_bits(logit);
    const bool is_negative = bits >> 31 != 0, is_finite = (bits & 0x7f800000) != 0x7f800000;
    return is_finite ? score_of_bits(bits | (is_negative ? expert : 1023 - expert)) : logit;
}

/* Loads the lane's candidates, and lists the exact scores of all. Behind them it fills up to a multiple of
 * LANES with the worst score. No zero is negative, for -0 - 0 has a sign. All lanes. */
template <typename Shape, uint32_t SLOTS>
TOPK_DEVICE void score_candidates(const logit_row<Shape> &row, uint32_t count, lane_candidates<SLOTS> *mine) {
    const uint32_t lane = Shape::lane();
    const route_lists &lists = row.lists;
    float logits[SLOTS];
#pragma unroll
    for (uint32_t s = 0; s < SLOTS; s++) {
        const uint32_t slot = s * Shape::LANES + lane;
        mine->experts[s] = slot < count ? (uint32_t)lists.experts[slot] : 0;
        logits[s] = row.logit(mine->experts[s]);
    }
#pragma unroll
    for (uint32_t s = 0; s < SLOTS; s++) {
        const uint32_t slot = s * Shape::LANES + lane;
        float score = score_add(row.score(mine->experts[s], logits[s]), 0.0f);
        if (Shape::IS_PLAIN && sizeof(typename Shape::Element) <= 2)
            score = distinct_score(score, mine->experts[s]);
        mine->scores[s] = slot < count ? score : minus_infinity();
        lists.scores[slot] = mine->scores[s];
    }
}

/* Counts the candidates with better scores: the sign of a difference counts. */
template <uint32_t LANES, uint32_t SLOTS>
TOPK_DEVICE void rank_by_score(uint32_t count, const route_lists &lists, lane_candidates<SLOTS> *mine) {
    const uint32_t at_once = LANES < ROUTE_RANKED_AT_ONCE ? LANES : (uint32_t)ROUTE_RANKED_AT_ONCE;
#pragma unroll
    for (uint32_t s = 0; s < SLOTS; s++)
        mine->ranks[s] = 0;
#pragma unroll 1
    for (uint32_t first = 0; first < count; first += at_once) {
#pragma unroll
        for (uint32_t i = 0; i < at_once; i++) {
            const float other = lists.scores[first + i];
#pragma unroll
            for (uint32_t s = 0; s < SLOTS; s++)
                mine->ranks[s] += score_bits(score_subtract(mine->scores[s], other)) >> 31;
        }
    }
}

/* Of equal scores the lower expert is the better one. */
template <uint32_t SLOTS>
TOPK_DEVICE void rank_by_expert(uint32_t count, const route_lists &lists, lane_candidates<SLOTS> *mine) {
#pragma unroll 1
    for (uint32_t i = 0; i < count; i++) {
        const float score = lists.scores[i];
        const uint32_t expert = lists.experts[i];
#pragma unroll
        for (uint32_t s = 0; s < SLOTS; s++)
            mine->ranks[s] += score == mine->scores[s] && expert < mine->experts[s] ? 1 : 0;
    }
}

/* Replaces the list of `count` candidates by the results. Their scores alone rank them, unless some are
 * equal: then ranks meet, and their sum falls short of the sum of slots. All lanes. */
template <typename Shape, uint32_t SLOTS>
TOPK_DEVICE void rank_candidates(const logit_row<Shape> &row, uint32_t count) {
    const uint32_t lane = Shape::lane();
    const route_lists &lists = row.lists;
    lane_candidates<SLOTS> mine;
    uint32_t missing = 0;
    simt_warp_sync(SIMT_ALL_LANES);
    score_candidates(row, count, &mine);
    simt_warp_sync(SIMT_ALL_LANES);
    rank_by_score<Shape::LANES>(count, lists, &mine);
#pragma unroll
    for (uint32_t s = 0; s < SLOTS; s++)
        missing += s * Shape::LANES + lane < count ? s * Shape::LANES + lane - mine.ranks[s] : 0;
    if (simt_reduce_add(SIMT_ALL_LANES, missing) != 0) {
        TOPK_REACHED(REACHED_ROUTE_TIES);
        rank_by_expert(count, lists, &mine);
        simt_warp_sync(SIMT_ALL_LANES);
    }
#pragma unroll
    for (uint32_t s = 0; s < SLOTS; s++) {
        if (s * Shape::LANES + lane < count && mine.ranks[s] < row.a.wanted)
            lists.experts[mine.ranks[s]] = (uint16_t)mine.experts[s];
    }
}

#endif
