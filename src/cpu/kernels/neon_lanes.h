/* SPDX-License-Identifier: Apache-2.0
 * short_lanes of network.c: four integers, for NEON. */
#ifndef TOPK_SRC_CPU_KERNELS_NEON_LANES_H
#define TOPK_SRC_CPU_KERNELS_NEON_LANES_H

#include <arm_neon.h>
#include <stdbool.h>

typedef uint32x4_t short_lanes;
enum { SHORT_LANES = 4 };

static inline short_lanes lesser_lanes(short_lanes a, short_lanes b) {
    return vminq_u32(a, b);
}

static inline short_lanes greater_lanes(short_lanes a, short_lanes b) {
    return vmaxq_u32(a, b);
}

static INLINE short_lanes lanes_across(short_lanes v, unsigned distance) {
    const short_lanes by_one = distance == 2 ? v : vrev64q_u32(v);
    return distance == 1 ? by_one : vextq_u32(by_one, by_one, 2);
}

static INLINE short_lanes lanes_by_bit(short_lanes clear, short_lanes set, unsigned bit) {
    const short_lanes ones = {0, bit & 1 ? UINT32_MAX : 0, bit & 2 ? UINT32_MAX : 0, UINT32_MAX};
    return vbslq_u32(ones, set, clear);
}

/* Lane i of two pairs of vectors. */
static INLINE short_lanes lanes_beside(short_lanes a, short_lanes b, bool upper) {
    const uint64x2_t first = vreinterpretq_u64_u32(a), second = vreinterpretq_u64_u32(b);
    return vreinterpretq_u32_u64(upper ? vzip2q_u64(first, second) : vzip1q_u64(first, second));
}

static INLINE void store_columns(const short_lanes *v, uint32_t *columns, size_t stride) {
    const short_lanes even[2] = {vtrn1q_u32(v[0], v[1]), vtrn1q_u32(v[2], v[3])};
    const short_lanes odd[2] = {vtrn2q_u32(v[0], v[1]), vtrn2q_u32(v[2], v[3])};
    vst1q_u32(columns, lanes_beside(even[0], even[1], false));
    vst1q_u32(columns + stride, lanes_beside(odd[0], odd[1], false));
    vst1q_u32(columns + 2 * stride, lanes_beside(even[0], even[1], true));
    vst1q_u32(columns + 3 * stride, lanes_beside(odd[0], odd[1], true));
}

#endif
