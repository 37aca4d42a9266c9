/* SPDX-License-Identifier: Apache-2.0
 * The first pivots of a row, from a sample.
 *
 * A sample is the greatest code of some elements: of a part of a thread's, or of all that one, two or four
 * threads have. In a cluster more threads share one, so that a block's memory holds the samples of the row.
 * 32 of them are pivots, and all samples are counted against each. Where k is small, the pivot that k samples
 * reach is a bound: as many elements reach it. Otherwise two pivots lie a little below and above where the
 * k-th code is expected. */
#ifndef TOPK_SRC_CUDA_RESIDENT_SAMPLE_CUH
#define TOPK_SRC_CUDA_RESIDENT_SAMPLE_CUH

#include "bracket.cuh"
#include "part.cuh"

struct sample_plan {
    uint32_t size;        /* elements of a sample, a power of two */
    uint32_t lanes;       /* that share one, a power of two; the first `size` of them if these are fewer */
    uint32_t warps;       /* that hold any of the row */
    uint32_t most, least; /* samples that a lower and an upper pivot should reach: at least and at most */
    bool is_bound;        /* `most` is k: as many elements are at or above the pivot */
};

/* Few enough results for their bound to be listed at once. */
TOPK_DEVICE bool is_few(uint32_t k) {
    return k <= RESIDENT_LIST / 4;
}

/* Straight on, without loops and divisions: all threads do it, and wait for each branch. */
template <uint32_t ITEMS, typename Team>
TOPK_DEVICE struct sample_plan plan_sample(uint32_t length, uint32_t k, uint32_t warps) {
    const uint32_t per_lane = 2 * k * ITEMS, least_lanes = Team::blocks();
    struct sample_plan p = {1, least_lanes, warps, k, 0, least_lanes * per_lane <= length};
#pragma unroll
    for (uint32_t lanes = 2; lanes <= Team::SAMPLE_LANES; lanes *= 2)
        p.lanes = lanes > least_lanes && lanes * per_lane <= length ? lanes : p.lanes;
    const uint32_t greatest = 31 - simt_clz(ITEMS * p.lanes); /* as a power of two */
    p.size = 1u << greatest;
    if (p.is_bound && is_few(k))
        return p;
    /* One element in this number is a result; about -log2(1 - share) up to a half, and less above. */
    const float share = (float)k * simt_float_reciprocal_near((float)length);
    const float log = share * (1.4427f + 1.11f * share);
    /* At least 0.4 of the samples should be above the k-th element: 2^(-size * log) is at most 0.6. */
    const float least_size = 0.737f * simt_float_reciprocal_near(log);
    const int32_t power = (int32_t)((simt_bits_of_float(least_size) + 0x7fffff) >> 23) - 127;
    const uint32_t lower = power < 0 ? 0 : (uint32_t)power;
    const uint32_t chosen = p.is_bound || lower > greatest ? greatest : lower;
    p.size = 1u << chosen;
    const uint32_t samples = (length + (chosen < greatest ? (1u << greatest) - 1 : 0)) >> greatest;
    const float reach = chosen == 0 ? share : 1 - simt_float_exp2_near(-(float)p.size * log);
    const uint32_t expected = (uint32_t)((float)samples * reach), margin = rough_root(samples) * 3 / 4;
    if (!p.is_bound)
        p.most = expected + margin;
    p.least = expected > margin ? expected - margin : 0;
    return p;
}

/* Pivots, or 0 where the sample has none; and how many samples reach the lower one. */
template <typename Element> struct sampled_pivots {
    key_word_t<Element> lower, upper;
    uint32_t rank;
};

/* How many of the warp's samples are at or above the lane's pivot. All lanes. */
template <uint32_t LANES, typename Word> TOPK_DEVICE uint32_t rank_pivot(Word sample, Word pivot) {
    uint32_t ranks[2] = {0, 0}; /* two, since each addition waits for the one before */
#pragma unroll
    for (uint32_t lane = 0; lane < SIMT_WARP; lane += LANES) {
        uint32_t *rank = &ranks[lane / LANES % 2];
        *rank = simt_count_from(*rank, simt_shuffle(SIMT_ALL_LANES, sample, lane), pivot, 1);
    }
    return ranks[0] + ranks[1];
}

/* The lane's sample; of lanes that share one, the first has it. All lanes. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE key_word_t<Element> sample_of_lane(const row_part<Element, ITEMS> &part,
                                               const struct sample_plan &p) {
    typedef key_word_t<Element> word;
    const uint32_t lanes = p.size < p.lanes ? p.size : p.lanes;
    word sample = best_of_first(part, p.size / lanes);
#pragma unroll
    for (uint32_t distance = 1; distance < Team::SAMPLE_LANES; distance *= 2) {
        if (distance < lanes) {
            const word other = simt_shuffle_xor(SIMT_ALL_LANES, sample, distance);
            sample = other > sample ? other : sample;
        }
    }
    return sample;
}

/* Shares the samples, and ranks the pivot of each lane among them, in m.ranks. Returns the pivot. All
 * threads, after clear_lists(); two barriers. */
template <typename Element, uint32_t ITEMS, bool POSITIONS>
TOPK_DEVICE key_word_t<Element> rank_pivots(const row_part<Element, ITEMS> &part, const struct sample_plan &p,
                                            const row_memory<Element, block_team_of<POSITIONS>> &m) {
    typedef key_word_t<Element> word;
    const word sample = sample_of_lane<Element, ITEMS, block_team>(part, p);
    m.samples[simt_thread()] = sample;
    simt_block_sync();
    const word pivot = m.samples[simt_lane() * p.warps];
    if (!part.is_empty()) {
        const uint32_t ranked = p.lanes == 1   ? rank_pivot<1>(sample, pivot)
                                : p.lanes == 2 ? rank_pivot<2>(sample, pivot)
                                               : rank_pivot<4>(sample, pivot);
        simt_atomic_add(&m.ranks[simt_lane()], ranked);
    }
    simt_block_sync();
    return pivot;
}

/* Each block gets all samples, without gaps. They are no more than its threads, since at least as many lanes
 * share one as there are blocks. */
template <typename Element, uint32_t ITEMS, bool POSITIONS>
TOPK_DEVICE key_word_t<Element> rank_pivots(const row_part<Element, ITEMS> &part, const struct sample_plan &p,
                                            const row_memory<Element, cluster_team_of<POSITIONS>> &m) {
    typedef key_word_t<Element> word;
    const word best = sample_of_lane<Element, ITEMS, cluster_team>(part, p);
    const uint32_t of_warp = SIMT_WARP / p.lanes, blocks = cluster_team::blocks();
    const uint32_t block = simt_lane() % blocks, number = simt_lane() / blocks; /* where a lane sends which */
    const word sent = simt_shuffle(SIMT_ALL_LANES, best, number * p.lanes % SIMT_WARP);
    if (number < of_warp)
        simt_remote_store(simt_shared_of_rank(m.samples, block),
                          warp_of_team<cluster_team>() * of_warp + number, sent);
    sync_team<cluster_team>();
    const word pivot = m.samples[simt_lane() * p.warps / p.lanes];
    if (simt_warp() * p.lanes < p.warps) {
        const bool exists = simt_thread() * p.lanes < p.warps * SIMT_WARP;
        const word sample = exists ? (word)m.samples[simt_thread()] : (word)0;
        simt_atomic_add(&m.ranks[simt_lane()], rank_pivot<1>(sample, pivot));
    }
    simt_block_sync();
    return pivot;
}

/* The pivots that a row's samples give. All threads, after clear_lists(); two barriers. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE sampled_pivots<Element> sample_pivots(const row_part<Element, ITEMS> &part,
                                                  const struct sample_plan &p,
                                                  const row_memory<Element, Team> &m) {
    typedef key_word_t<Element> word;
    const word pivot = rank_pivots(part, p, m);
    const uint32_t rank = m.ranks[simt_lane()], ranked = rank * SIMT_WARP + simt_lane();
    const uint32_t lower = simt_reduce_min(SIMT_ALL_LANES, rank >= p.most ? ranked : UINT32_MAX);
    const uint32_t upper = simt_reduce_max(SIMT_ALL_LANES, rank <= p.least ? ranked : 0);
    const word lower_code = simt_shuffle(SIMT_ALL_LANES, pivot, lower % SIMT_WARP);
    const word upper_code = simt_shuffle(SIMT_ALL_LANES, pivot, upper % SIMT_WARP);
    sampled_pivots<Element> pivots = {uncut_class_first<Element>(lower_code, part.map),
                                      uncut_class_first<Element>(upper_code, part.map), lower / SIMT_WARP};
    if (lower == UINT32_MAX)
        pivots.lower = 0;
    if (upper == 0) /* a pivot's rank is 1 at least */
        pivots.upper = 0;
    return pivots;
}

#endif
