/* SPDX-License-Identifier: Apache-2.0
 * short_lanes of network.c in plain C: four integers. */
#ifndef TOPK_SRC_CPU_KERNELS_PORTABLE_LANES_H
#define TOPK_SRC_CPU_KERNELS_PORTABLE_LANES_H

typedef uint32_t short_lanes __attribute__((vector_size(16)));
enum { SHORT_LANES = 4 };

static inline short_lanes chosen_lanes(short_lanes which, short_lanes a, short_lanes b) {
    return b ^ ((a ^ b) & which);
}

static inline short_lanes lesser_lanes(short_lanes a, short_lanes b) {
    return chosen_lanes((short_lanes)(a < b), a, b);
}

static inline short_lanes greater_lanes(short_lanes a, short_lanes b) {
    return chosen_lanes((short_lanes)(a < b), b, a);
}

static INLINE short_lanes lanes_across(short_lanes v, unsigned distance) {
    return distance == 1   ? __builtin_shufflevector(v, v, 1, 0, 3, 2)
           : distance == 2 ? __builtin_shufflevector(v, v, 2, 3, 0, 1)
                           : __builtin_shufflevector(v, v, 3, 2, 1, 0);
}

static INLINE short_lanes lanes_by_bit(short_lanes clear, short_lanes set, unsigned bit) {
    const short_lanes ones = {0, bit & 1 ? UINT32_MAX : 0, bit & 2 ? UINT32_MAX : 0, UINT32_MAX};
    return chosen_lanes(ones, set, clear);
}

static inline void store_columns(const short_lanes *v, uint32_t *columns, size_t stride) {
    for (unsigned i = 0; i < SHORT_LANES; i++) {
        for (unsigned j = 0; j < SHORT_LANES; j++) {
            columns[i * stride + j] = v[j][i];
        }
    }
}

#endif
