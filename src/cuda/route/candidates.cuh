/* SPDX-License-Identifier: Apache-2.0
 * From a row's candidates, which are few, to its results: each is ranked among all of them. */
#ifndef TOPK_SRC_CUDA_ROUTE_CANDIDATES_CUH
#define TOPK_SRC_CUDA_ROUTE_CANDIDATES_CUH

#include "lists.cuh"

/* The sum over the row's lanes before this one; *total over all. All lanes. */
template <uint32_t LANES> TOPK_DEVICE uint32_t scan_row(uint32_t value, uint32_t *total) {
    uint32_t sum = value;
#pragma unroll
    for (uint32_t lanes = 1; lanes < LANES; lanes *= 2)
        sum = simt_add_lane_before(sum, lanes, LANES);
    *total = simt_shuffle(SIMT_ALL_LANES, sum, simt_lane() | (LANES - 1));
    return sum - value;
}

/* Lists the lane's candidates in front of slot `end`, as item * LANES + lane. */
template <uint32_t LANES>
TOPK_DEVICE void list_candidates(uint32_t hits, uint32_t end, const row_lists &lists) {
    simt_appender to = simt_append_at(lists.candidates, end);
    while (hits != 0) {
        const uint32_t item = 31 - simt_clz(hits);
        to.prepend((uint16_t)(item * LANES + simt_lane() % LANES));
        hits ^= 1u << item;
    }
}

/* Replaces the candidates by their experts, and lists their exact scores; behind them, up to `end`, those
 * that are no better than any. All lanes. */
template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE void score_candidates(const logit_row<Element> &row, uint32_t count, uint32_t end,
                                  const row_lists &lists) {
    for (uint32_t slot = simt_lane() % LANES; slot < end; slot += LANES) {
        float score = minus_infinity();
        if (slot < count) {
            const uint32_t item = (uint16_t)lists.candidates[slot];
            const uint32_t expert = logit_shape<Element, LANES, ITEMS>::expert_of(item % LANES, item / LANES);
            lists.candidates[slot] = (uint16_t)expert;
            score = score_add(row.score(expert, row.logit(expert)), 0.0f); /* no zero is negative */
        }
        lists.scores[slot] = score;
    }
}

template <typename Element>
TOPK_DEVICE void put_result(const logit_row<Element> &row, uint32_t slot, uint32_t expert,
                            const row_lists &lists) {
    lists.experts[slot] = expert;
    if (row.a.weights != nullptr)
        lists.logits[slot] = row.logit(expert);
}

/* The candidates with better scores than the one in `slot`: the sign of a difference counts. */
TOPK_DEVICE uint32_t rank_by_score(uint32_t slot, uint32_t end, const row_lists &lists) {
    const float mine = lists.scores[slot];
    uint32_t rank = 0;
#pragma unroll 1
    for (uint32_t first = 0; first < end; first += ROUTE_RANKED_AT_ONCE) {
#pragma unroll
        for (uint32_t i = 0; i < ROUTE_RANKED_AT_ONCE; i++)
            rank += score_bits(mine - lists.scores[first + i]) >> 31;
    }
    return rank;
}

/* Of equal scores the lower expert is the better one. */
TOPK_DEVICE uint32_t rank_by_score_and_expert(uint32_t slot, uint32_t count, const row_lists &lists) {
    const float mine = lists.scores[slot];
    const uint32_t expert = (uint16_t)lists.candidates[slot];
    uint32_t rank = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < count; i++) {
        const float other = lists.scores[i];
        rank += other > mine || (other == mine && (uint16_t)lists.candidates[i] < expert) ? 1 : 0;
    }
    return rank;
}

/* The ranks of a lane's candidates, the last one lowest. */
struct lane_ranks {
    static const uint32_t BITS = 6, MOST = (1u << BITS) - 1;
    uint32_t ranks, slots,
        puts; /* `slots`: a bit for each that the warp's rows give a result; how often they do */
};

template <uint32_t LANES, typename Rank>
TOPK_DEVICE lane_ranks rank_all(uint32_t count, uint32_t wanted, Rank rank_of) {
    const uint32_t lane = simt_lane() % LANES;
    lane_ranks r = {0, 0, 0};
    static_assert(lane_ranks::BITS * ROUTE_CANDIDATES <= 32, "a lane's ranks fit a word");
    for (uint32_t slot = lane; slot < count; slot += LANES) {
        const uint32_t rank = rank_of(slot);
        r.ranks = r.ranks << lane_ranks::BITS | (rank < lane_ranks::MOST ? rank : lane_ranks::MOST);
        if (rank < wanted) {
            r.slots |= 1u << (simt_lane() - lane + rank);
            r.puts++;
        }
    }
    return r;
}

/* Lists the best of so many candidates as results. Their scores alone rank them, unless equal ones meet in a
 * slot, or want the last one. All lanes. */
template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE void rank_candidates(const logit_row<Element> &row, uint32_t count, const row_lists &lists) {
    const uint32_t lane = simt_lane() % LANES, wanted = row.a.wanted, of_warp = SIMT_WARP / LANES * wanted;
    const uint32_t end = (count + ROUTE_RANKED_AT_ONCE - 1) / ROUTE_RANKED_AT_ONCE * ROUTE_RANKED_AT_ONCE;
    simt_warp_sync(SIMT_ALL_LANES);
    score_candidates<Element, LANES, ITEMS>(row, count, end, lists);
    simt_warp_sync(SIMT_ALL_LANES);
    lane_ranks r = rank_all<LANES>(
        count, wanted, [&](uint32_t slot) TOPK_LAMBDA { return rank_by_score(slot, end, lists); });
    if (simt_popc(simt_reduce_or(SIMT_ALL_LANES, r.slots)) != of_warp ||
        simt_reduce_add(SIMT_ALL_LANES, r.puts) != of_warp) {
        TOPK_REACHED(REACHED_ROUTE_TIES);
        r = rank_all<LANES>(count, wanted, [&](uint32_t slot) TOPK_LAMBDA {
            return rank_by_score_and_expert(slot, count, lists);
        });
    }
    for (uint32_t slot = lane + (count + LANES - 1 - lane) / LANES * LANES; slot != lane;
         r.ranks >>= lane_ranks::BITS) {
        slot -= LANES;
        const uint32_t rank = r.ranks & lane_ranks::MOST;
        if (rank < wanted)
            put_result(row, rank, (uint16_t)lists.candidates[slot], lists);
    }
}

#endif
