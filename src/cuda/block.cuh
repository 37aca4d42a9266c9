/* SPDX-License-Identifier: Apache-2.0
 * What the threads of a warp or a block do together. */
#ifndef TOPK_SRC_CUDA_BLOCK_CUH
#define TOPK_SRC_CUDA_BLOCK_CUH

#include "simt.cuh"

/* Inclusive scan over the lanes of a warp. All lanes. */
template <typename T> TOPK_DEVICE T warp_scan_inclusive(T value) {
    for (uint32_t distance = 1; distance < SIMT_WARP; distance *= 2) {
        T other = simt_shuffle_up(SIMT_ALL_LANES, value, distance);
        value += simt_lane() >= distance ? other : (T)0;
    }
    return value;
}

TOPK_DEVICE uint32_t warp_scan_inclusive(uint32_t value) {
    for (uint32_t distance = 1; distance < SIMT_WARP; distance *= 2)
        value = simt_add_lane_before(value, distance);
    return value;
}

/* Scan over the lanes of a warp; *total is the sum of all. All lanes. */
TOPK_DEVICE uint32_t warp_scan(uint32_t value, uint32_t *total) {
    uint32_t inclusive = warp_scan_inclusive(value);
    *total = simt_shuffle(SIMT_ALL_LANES, inclusive, SIMT_WARP - 1);
    return inclusive - value;
}

/* The warp's prefix over the sums of `warps` warps in `sums`; *total is the sum of all. All lanes. */
TOPK_DEVICE uint32_t prefix_of_warp(simt_shared<uint32_t> sums, uint32_t warps, uint32_t *total) {
    uint32_t of_lane = simt_lane() < warps ? (uint32_t)sums[simt_lane()] : 0;
    *total = simt_reduce_add(SIMT_ALL_LANES, of_lane);
    return simt_reduce_add(SIMT_ALL_LANES, simt_lane() < simt_warp() ? of_lane : 0);
}

/* Scan over the warps of a block; all lanes of a warp pass the same value. *total is the sum of all. All
 * threads; `scratch` has a word for each warp. There is one barrier inside, and another one must come before
 * scratch is written again. */
template <typename T> TOPK_DEVICE T scan_of_warps(simt_shared<T> scratch, T value, T *total) {
    if (simt_lane() == 0)
        scratch[simt_warp()] = value;
    simt_block_sync();
    T sums = warp_scan_inclusive(simt_lane() < simt_warps() ? (T)scratch[simt_lane()] : (T)0);
    *total = simt_shuffle(SIMT_ALL_LANES, sums, SIMT_WARP - 1);
    T before = simt_shuffle(SIMT_ALL_LANES, sums, simt_warp() + SIMT_WARP - 1);
    return simt_warp() == 0 ? (T)0 : before;
}

TOPK_DEVICE uint32_t scan_of_warps(simt_shared<uint32_t> scratch, uint32_t value, uint32_t *total) {
    if (simt_lane() == 0)
        scratch[simt_warp()] = value;
    simt_block_sync();
    return prefix_of_warp(scratch, simt_warps(), total);
}

/* Scan over the threads of a block; otherwise as scan_of_warps(). */
template <typename T> TOPK_DEVICE T block_scan(simt_shared<T> scratch, T value, T *total) {
    T inclusive = warp_scan_inclusive(value);
    T of_warp = simt_shuffle(SIMT_ALL_LANES, inclusive, SIMT_WARP - 1);
    return scan_of_warps(scratch, of_warp, total) + inclusive - value;
}

/* Whether this block is the last of simt_blocks() to come here. If it is, it sees all that the others have
 * written. All threads. `ticket` was 0 before the first block came; `flag` has one word. */
TOPK_DEVICE bool last_of_blocks(uint32_t *ticket, simt_shared<uint32_t> flag) {
    simt_block_sync();
    if (simt_thread() == 0)
        flag[0] = simt_atomic_ticket(ticket) == simt_blocks() - 1;
    simt_block_sync();
    return flag[0] != 0;
}

#endif
