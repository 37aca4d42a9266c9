/* SPDX-License-Identifier: Apache-2.0
 * The order of few entries, by counting for each how many are before it. Four lanes count for two entries.
 * They read the list in batches, without asking where it ends: what is behind its last entry is behind all.
 */
#ifndef TOPK_SRC_CUDA_SELECT_RANKED_CUH
#define TOPK_SRC_CUDA_SELECT_RANKED_CUH

#include "entries.cuh"

enum { RANK_LANES = 4, RANK_TEAMS = SIMT_WARP / RANK_LANES, RANK_BATCH = 4 };
enum { RANKED_AT_ONCE = 2 * RANK_TEAMS }; /* by a warp */
/* Whole batches of a list are read: this number of slots, or a multiple, has been cleared. */
enum { RANK_SLOTS = RANK_LANES * RANK_BATCH };

/* Fills slots `first` to end - 1 with what is behind every entry. All threads. */
template <bool TWO>
TOPK_DEVICE void clear_entries(const entry_list<TWO> &list, uint32_t first, uint32_t end) {
    for (uint32_t slot = first + simt_thread(); slot < end; slot += simt_threads())
        list.put(slot, entry{~(uint64_t)0, ~(uint64_t)0});
}

/* The sum of what the lanes of an entry have. All lanes. */
TOPK_DEVICE uint32_t sum_of_team(uint32_t value) {
#pragma unroll
    for (uint32_t lanes = RANK_LANES / 2; lanes != 0; lanes /= 2)
        value += simt_shuffle_xor(SIMT_ALL_LANES, value, lanes);
    return value;
}

/* How many of the first `count` entries are before each of two, in 16 bits for each. All lanes. */
template <bool TWO>
TOPK_DEVICE uint32_t rank_pair(const entry_list<TWO> &list, uint32_t count, const struct entry (&pair)[2]) {
    uint32_t before[2] = {0, 0};
#pragma unroll 1
    for (uint32_t first = 0; first < count; first += RANK_LANES * RANK_BATCH) {
#pragma unroll
        for (uint32_t i = 0; i < RANK_BATCH; i++) {
            const struct entry other = list.get(first + i * RANK_LANES + simt_lane() % RANK_LANES);
            before[0] += is_before(other, pair[0]) ? 1 : 0;
            before[1] += is_before(other, pair[1]) ? 1 : 0;
        }
    }
    return sum_of_team(before[0] + (before[1] << 16));
}

/* Calls prepare(lane of a pair, slot) and then work(what it returned, rank) for the first `count` entries,
 * in a lane of each. */
template <bool TWO, typename Prepare, typename Work>
TOPK_DEVICE void for_ranked(const entry_list<TWO> &list, uint32_t count, const Prepare &prepare,
                            const Work &work) {
    const uint32_t of_warp = RANKED_AT_ONCE, mine = simt_lane() % RANK_LANES;
    for (uint32_t first = simt_warp() * of_warp; first < count; first += simt_warps() * of_warp) {
        const uint32_t slot = first + simt_lane() / RANK_LANES * 2;
        const struct entry pair[2] = {list.get(slot), list.get(slot + 1)};
        const bool works = mine < 2 && slot + mine < count;
        const auto prepared = prepare(mine == 0 ? pair[0] : pair[1], works);
        const uint32_t ranks = rank_pair(list, count, pair);
        if (works)
            work(prepared, mine == 0 ? ranks & 0xffff : ranks >> 16);
    }
}

/* How an entry stands among others: how many are before it, have a better key, have its own key. */
struct standing {
    uint32_t before, better, equal;
};

/* Calls work(key, standing) for the first `count` entries, less than 1024, in a lane of each. */
template <bool TWO, typename Work>
TOPK_DEVICE void for_standings(const entry_list<TWO> &list, uint32_t count, const Work &work) {
    for (uint32_t first = simt_warp() * RANK_TEAMS; first < count; first += simt_warps() * RANK_TEAMS) {
        const uint32_t slot = first + simt_lane() / RANK_LANES;
        const struct entry e = list.get(slot);
        const uint64_t key = entry_key(TWO, e);
        uint32_t counts = 0;
        for (uint32_t i = simt_lane() % RANK_LANES; i < count; i += RANK_LANES) {
            const struct entry other = list.get(i);
            const uint64_t of_other = entry_key(TWO, other);
            counts += is_before(other, e) ? 1u : 0;
            counts += of_other > key ? 1u << 10 : of_other == key ? 1u << 20 : 0;
        }
        counts = sum_of_team(counts);
        if (simt_lane() % RANK_LANES == 0 && slot < count)
            work(key, standing{counts & 0x3ff, counts >> 10 & 0x3ff, counts >> 20});
    }
}

#endif
