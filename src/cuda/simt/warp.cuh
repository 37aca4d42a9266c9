/* SPDX-License-Identifier: Apache-2.0
 * Warp operations. `mask` names the lanes that take part; each of them, and nobody else, must call the same
 * operation with the same mask. Only simt_warp_sync orders the lanes' accesses of memory: a lane that has
 * received another lane's value may still miss what that lane wrote before. Included by simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_WARP_CUH
#define TOPK_SRC_CUDA_SIMT_WARP_CUH

/* The lanes then see what all of them wrote before. */
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

/* `value`, plus the value of the lane `distance` before the caller's, if there is one in the same part of the
 * warp. Parts have `lanes` lanes, a power of two. All lanes. */
TOPK_DEVICE uint32_t simt_add_lane_before(uint32_t value, uint32_t distance, uint32_t part = SIMT_WARP) {
    uint32_t sum;
    asm volatile("{ .reg .pred there; .reg .u32 other;\n"
                 "shfl.sync.up.b32 other|there, %1, %2, %3, 0xffffffff;\n"
                 "mov.u32 %0, %1;\n"
                 "@there add.u32 %0, %1, other; }"
                 : "=&r"(sum)
                 : "r"(value), "r"(distance), "r"((SIMT_WARP - part) << 8));
    return sum;
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

/* The lanes that agree with the caller on whether `bits` is 0. All lanes. */
TOPK_DEVICE uint32_t simt_ballot_alike(uint32_t bits) {
    uint32_t lanes;
    asm volatile("{ .reg .pred set;\n"
                 "setp.ne.u32 set, %1, 0;\n"
                 "vote.sync.ballot.b32 %0, set, 0xffffffff;\n"
                 "@!set not.b32 %0, %0; }"
                 : "=r"(lanes)
                 : "r"(bits));
    return lanes;
}

TOPK_DEVICE bool simt_any(uint32_t mask, bool predicate) {
    return __any_sync(mask, predicate) != 0;
}

TOPK_DEVICE bool simt_all(uint32_t mask, bool predicate) {
    return __all_sync(mask, predicate) != 0;
}

/* The lanes of the mask whose value equals the caller's. T: uint32_t or uint64_t. */
template <typename T> TOPK_DEVICE uint32_t simt_match_any(uint32_t mask, T value) {
    return __match_any_sync(mask, value);
}

/* Reductions of 32-bit words, and below of 64-bit ones: each lane of the mask gets the result. */
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

TOPK_DEVICE uint32_t simt_reduce_or(uint32_t mask, uint32_t value) {
    return __reduce_or_sync(mask, value);
}

#else

/* A butterfly of all lanes, or lane after lane. */
template <typename Combine>
TOPK_DEVICE uint32_t simt_combine_lanes(uint32_t mask, uint32_t value, Combine combine) {
    if (mask == SIMT_ALL_LANES) {
        for (int lanes = SIMT_WARP / 2; lanes != 0; lanes /= 2)
            value = combine(value, __shfl_xor_sync(mask, value, lanes));
        return value;
    }
    uint32_t result = __shfl_sync(mask, value, __ffs((int)mask) - 1);
    for (uint32_t left = mask & (mask - 1); left != 0; left &= left - 1)
        result = combine(result, __shfl_sync(mask, value, __ffs((int)left) - 1));
    return result;
}

TOPK_DEVICE uint32_t simt_reduce_add(uint32_t mask, uint32_t value) {
    return simt_combine_lanes(mask, value, [](uint32_t a, uint32_t b) { return a + b; });
}

TOPK_DEVICE uint32_t simt_reduce_min(uint32_t mask, uint32_t value) {
    return simt_combine_lanes(mask, value, [](uint32_t a, uint32_t b) { return min(a, b); });
}

TOPK_DEVICE uint32_t simt_reduce_max(uint32_t mask, uint32_t value) {
    return simt_combine_lanes(mask, value, [](uint32_t a, uint32_t b) { return max(a, b); });
}

TOPK_DEVICE uint32_t simt_reduce_or(uint32_t mask, uint32_t value) {
    return simt_combine_lanes(mask, value, [](uint32_t a, uint32_t b) { return a | b; });
}

#endif

/* uint64_t where T has 8 bytes; elsewhere the functions below do not exist, so that smaller integers are
 * reduced as uint32_t. */
template <size_t bytes> struct simt_wide {};
template <> struct simt_wide<8> { typedef uint64_t type; };

/* In parts whose sums over 32 lanes fit into 32 bits. */
template <typename T>
TOPK_DEVICE typename simt_wide<sizeof(T)>::type simt_reduce_add(uint32_t mask, T value) {
    const uint32_t bits = 27, part = (1u << bits) - 1;
    uint64_t word = (uint64_t)value;
    uint64_t low = simt_reduce_add(mask, (uint32_t)word & part);
    uint64_t middle = simt_reduce_add(mask, (uint32_t)(word >> bits) & part);
    uint64_t high = simt_reduce_add(mask, (uint32_t)(word >> 2 * bits));
    return low + (middle << bits) + (high << 2 * bits);
}

/* The least upper half, then the least lower half of those lanes that have it. */
template <typename T>
TOPK_DEVICE typename simt_wide<sizeof(T)>::type simt_reduce_min(uint32_t mask, T value) {
    uint32_t mine = (uint32_t)((uint64_t)value >> 32);
    uint32_t high = simt_reduce_min(mask, mine);
    uint32_t low = simt_reduce_min(mask, mine == high ? (uint32_t)value : UINT32_MAX);
    return (uint64_t)high << 32 | low;
}

template <typename T>
TOPK_DEVICE typename simt_wide<sizeof(T)>::type simt_reduce_max(uint32_t mask, T value) {
    return ~simt_reduce_min(mask, ~(uint64_t)value);
}

#endif
