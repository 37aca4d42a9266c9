/* SPDX-License-Identifier: Apache-2.0
 * Warp operations. `mask` names the lanes that take part; each of them, and nobody else, must call the same
 * operation with the same mask. Included by simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_WARP_CUH
#define TOPK_SRC_CUDA_SIMT_WARP_CUH

TOPK_DEVICE void simt_warp_sync(uint32_t mask) {
    __syncwarp(mask);
}

/* T has 4 or 8 bytes. The source lane of simt_shuffle counts modulo 32; where a distance leads out of the
 * warp the caller's own value comes back; a source lane outside the mask is an error. */
template <typename T> TOPK_DEVICE T simt_shuffle(uint32_t mask, T value, uint32_t lane) {
    return __shfl_sync(mask, value, (int)lane);
}

template <typename T> TOPK_DEVICE T simt_shuffle_up(uint32_t mask, T value, uint32_t distance) {
    return __shfl_up_sync(mask, value, distance);
}

template <typename T> TOPK_DEVICE T simt_shuffle_down(uint32_t mask, T value, uint32_t distance) {
    return __shfl_down_sync(mask, value, distance);
}

template <typename T> TOPK_DEVICE T simt_shuffle_xor(uint32_t mask, T value, uint32_t lanes) {
    return __shfl_xor_sync(mask, value, (int)lanes);
}

TOPK_DEVICE uint32_t simt_ballot(uint32_t mask, bool predicate) {
    return __ballot_sync(mask, predicate);
}

TOPK_DEVICE bool simt_any(uint32_t mask, bool predicate) {
    return __any_sync(mask, predicate) != 0;
}

TOPK_DEVICE bool simt_all(uint32_t mask, bool predicate) {
    return __all_sync(mask, predicate) != 0;
}

/* The lanes of the mask whose value equals the caller's. */
TOPK_DEVICE uint32_t simt_match_any(uint32_t mask, uint32_t value) {
    return __match_any_sync(mask, value);
}

TOPK_DEVICE uint32_t simt_match_any(uint32_t mask, uint64_t value) {
    return __match_any_sync(mask, (unsigned long long)value);
}

#ifdef SIMT_HAS_REDUX

TOPK_DEVICE uint32_t simt_reduce_add(uint32_t mask, uint32_t value) {
    return __reduce_add_sync(mask, value);
}

TOPK_DEVICE uint32_t simt_reduce_min(uint32_t mask, uint32_t value) {
    return __reduce_min_sync(mask, value);
}

TOPK_DEVICE uint32_t simt_reduce_max(uint32_t mask, uint32_t value) {
    return __reduce_max_sync(mask, value);
}

#else

/* Lane after lane, since a butterfly needs all 32. */
TOPK_DEVICE uint32_t simt_reduce_add(uint32_t mask, uint32_t value) {
    uint32_t sum = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1)
        sum += __shfl_sync(mask, value, __ffs((int)left) - 1);
    return sum;
}

TOPK_DEVICE uint32_t simt_reduce_min(uint32_t mask, uint32_t value) {
    uint32_t least = value;
    for (uint32_t left = mask; left != 0; left &= left - 1)
        least = min(least, __shfl_sync(mask, value, __ffs((int)left) - 1));
    return least;
}

TOPK_DEVICE uint32_t simt_reduce_max(uint32_t mask, uint32_t value) {
    return ~simt_reduce_min(mask, ~value);
}

#endif
#endif
