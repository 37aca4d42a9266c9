/* SPDX-License-Identifier: Apache-2.0
 * What the threads of a warp or a block do together. */
#ifndef TOPK_SRC_CUDA_BLOCK_CUH
#define TOPK_SRC_CUDA_BLOCK_CUH

#include "simt.cuh"

/* The sum of the lanes up to and with this one. All lanes. */
template <typename T> TOPK_DEVICE T warp_scan(T value) {
    for (uint32_t distance = 1; distance < SIMT_WARP; distance *= 2) {
        T other = simt_shuffle_up(SIMT_ALL_LANES, value, distance);
        value += simt_lane() >= distance ? other : (T)0;
    }
    return value;
}

TOPK_DEVICE uint32_t warp_scan(uint32_t value) {
    for (uint32_t distance = 1; distance < SIMT_WARP; distance *= 2)
        value = simt_add_lane_before(value, distance);
    return value;
}

/* The sum of the lanes before this one; *total is that of all. All lanes. */
TOPK_DEVICE uint32_t sum_of_lanes(uint32_t value, uint32_t *total) {
    uint32_t inclusive = warp_scan(value);
    *total = simt_shuffle(SIMT_ALL_LANES, inclusive, SIMT_WARP - 1);
    return inclusive - value;
}

/* The sum of what the warps before this one have put in their places, of which there are `warps`; *total is
 * that of all. All lanes. */
TOPK_DEVICE uint32_t sum_of_warps(simt_shared<uint32_t> scratch, uint32_t warps, uint32_t *total) {
    uint32_t of_lane = simt_lane() < warps ? (uint32_t)scratch[simt_lane()] : 0;
    *total = simt_reduce_add(SIMT_ALL_LANES, of_lane);
    return simt_reduce_add(SIMT_ALL_LANES, simt_lane() < simt_warp() ? of_lane : 0);
}

/* The sum of `value` over the warps before this one, where each lane of a warp passes the same; *total is
 * that of all. All threads; `scratch` has a place for each warp. One barrier: before scratch is written again
 * there must be another one. */
template <typename T> TOPK_DEVICE T scan_of_warps(simt_shared<T> scratch, T value, T *total) {
    if (simt_lane() == 0)
        scratch[simt_warp()] = value;
    simt_block_sync();
    T sums = warp_scan(simt_lane() < simt_warps() ? (T)scratch[simt_lane()] : (T)0);
    *total = simt_shuffle(SIMT_ALL_LANES, sums, SIMT_WARP - 1);
    T before = simt_shuffle(SIMT_ALL_LANES, sums, simt_warp() + SIMT_WARP - 1);
    return simt_warp() == 0 ? (T)0 : before;
}

TOPK_DEVICE uint32_t scan_of_warps(simt_shared<uint32_t> scratch, uint32_t value, uint32_t *total) {
    if (simt_lane() == 0)
        scratch[simt_warp()] = value;
    simt_block_sync();
    return sum_of_warps(scratch, simt_warps(), total);
}

/* The sum of `value` over the threads before this one; otherwise as scan_of_warps(). */
template <typename T> TOPK_DEVICE T block_scan(simt_shared<T> scratch, T value, T *total) {
    T inclusive = warp_scan(value);
    T of_warp = simt_shuffle(SIMT_ALL_LANES, inclusive, SIMT_WARP - 1);
    return scan_of_warps(scratch, of_warp, total) + inclusive - value;
}

/* Whether this block is the last of simt_blocks() to come here, and then sees all that the others have
 * written. All threads. `ticket` was 0; `flag` is a place for one word. */
TOPK_DEVICE bool last_of_blocks(uint32_t *ticket, simt_shared<uint32_t> flag) {
    simt_block_sync();
    if (simt_thread() == 0)
        flag[0] = simt_atomic_ticket(ticket) == simt_blocks() - 1;
    simt_block_sync();
    return flag[0] != 0;
}

#endif
