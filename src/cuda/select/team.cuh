/* SPDX-License-Identifier: Apache-2.0
 * The threads that hold a row together: one warp, or all WARPS warps of a block. What they do together is the
 * same code for both. All threads of the team call each operation. */
#ifndef TOPK_SRC_CUDA_SELECT_TEAM_CUH
#define TOPK_SRC_CUDA_SELECT_TEAM_CUH

#include "../block.cuh"

/* A block. The warps share their values in one half of `scratch`, and the next values in the other half: who
 * writes to a half again has met all others since they read it. T: uint32_t or uint64_t. */
template <uint32_t WARPS> struct row_team {
    static_assert(WARPS <= SIMT_WARP, "a lane reads the value of a warp");
    static const uint32_t THREADS = WARPS * SIMT_WARP;
    simt_shared<uint64_t> scratch; /* two words for each warp */
    uint32_t half;

    static TOPK_MEMBER uint32_t warp(void) {
        return simt_warp();
    }
    static TOPK_MEMBER uint32_t thread(void) {
        return simt_thread();
    }
    TOPK_MEMBER void sync(void) const {
        simt_block_sync();
    }
    template <typename T> TOPK_MEMBER T reduce_add(T value) {
        return simt_reduce_add(SIMT_ALL_LANES, share(simt_reduce_add(SIMT_ALL_LANES, value), (T)0));
    }
    /* How many threads have it set. */
    TOPK_MEMBER uint32_t count(bool is_counted) const {
        return simt_block_count(is_counted);
    }
    template <typename T> TOPK_MEMBER T reduce_min(T value) {
        return simt_reduce_min(SIMT_ALL_LANES, share(simt_reduce_min(SIMT_ALL_LANES, value), (T) ~(T)0));
    }
    template <typename T> TOPK_MEMBER T reduce_max(T value) {
        return simt_reduce_max(SIMT_ALL_LANES, share(simt_reduce_max(SIMT_ALL_LANES, value), (T)0));
    }
    /* Of two values, each by itself. */
    TOPK_MEMBER void reduce_min_of_each(uint32_t *a, uint32_t *b) {
        const uint64_t of_warp =
            (uint64_t)simt_reduce_min(SIMT_ALL_LANES, *a) << 32 | simt_reduce_min(SIMT_ALL_LANES, *b);
        const uint64_t of_lane = share(of_warp, ~(uint64_t)0);
        *a = simt_reduce_min(SIMT_ALL_LANES, (uint32_t)(of_lane >> 32));
        *b = simt_reduce_min(SIMT_ALL_LANES, (uint32_t)of_lane);
    }
    TOPK_MEMBER void reduce_min_of_each(uint64_t *a, uint64_t *b) {
        *a = reduce_min(*a);
        *b = reduce_min(*b);
    }
    /* Scan over the warps; all lanes of a warp pass the same value. *total is the sum of all. */
    template <typename T> TOPK_MEMBER T scan_warps(T of_warp, T *total) {
        const T of_lane = share(of_warp, (T)0);
        *total = simt_reduce_add(SIMT_ALL_LANES, of_lane);
        return simt_reduce_add(SIMT_ALL_LANES, simt_lane() < simt_warp() ? of_lane : (T)0);
    }
    /* Scan over the threads. */
    TOPK_MEMBER uint32_t scan(uint32_t value, uint32_t *total) {
        uint32_t of_warp;
        const uint32_t in_warp = warp_scan(value, &of_warp);
        return scan_warps(of_warp, total) + in_warp;
    }

  private:
    /* Lane i gets the value of warp i. */
    template <typename T> TOPK_MEMBER T share(T of_warp, T neutral) {
        if (simt_lane() == 0)
            scratch[half * WARPS + simt_warp()] = of_warp;
        simt_block_sync();
        const T of_lane = simt_lane() < WARPS ? (T)scratch[half * WARPS + simt_lane()] : neutral;
        half ^= 1;
        return of_lane;
    }
};

/* A warp. */
template <> struct row_team<1> {
    static const uint32_t THREADS = SIMT_WARP;
    static TOPK_MEMBER uint32_t warp(void) {
        return 0;
    }
    static TOPK_MEMBER uint32_t thread(void) {
        return simt_lane();
    }
    TOPK_MEMBER void sync(void) const {
        simt_warp_sync(SIMT_ALL_LANES);
    }
    template <typename T> TOPK_MEMBER T reduce_add(T value) const {
        return simt_reduce_add(SIMT_ALL_LANES, value);
    }
    TOPK_MEMBER uint32_t count(bool is_counted) const {
        return simt_popc(simt_ballot(SIMT_ALL_LANES, is_counted));
    }
    template <typename T> TOPK_MEMBER T reduce_min(T value) const {
        return simt_reduce_min(SIMT_ALL_LANES, value);
    }
    template <typename T> TOPK_MEMBER T reduce_max(T value) const {
        return simt_reduce_max(SIMT_ALL_LANES, value);
    }
    template <typename T> TOPK_MEMBER void reduce_min_of_each(T *a, T *b) const {
        *a = reduce_min(*a);
        *b = reduce_min(*b);
    }
    template <typename T> TOPK_MEMBER T scan_warps(T of_warp, T *total) const {
        *total = of_warp;
        return 0;
    }
    TOPK_MEMBER uint32_t scan(uint32_t value, uint32_t *total) const {
        return warp_scan(value, total);
    }
};

template <uint32_t WARPS> TOPK_HOST_DEVICE row_team<WARPS> carve_team(simt_arena &arena) {
    if constexpr (WARPS == 1)
        return row_team<1>{};
    else
        return row_team<WARPS>{simt_carve<uint64_t>(arena, 2 * WARPS), 0};
}

#endif
