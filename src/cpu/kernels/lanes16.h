/* SPDX-License-Identifier: Apache-2.0
 * The part of vector.h that ranks keys and stores lines, for vectors of 16 bytes that compilers know by
 * themselves. */
#ifndef TOPK_SRC_CPU_KERNELS_LANES16_H
#define TOPK_SRC_CPU_KERNELS_LANES16_H

static inline uint64_t first_bits(uint64_t mask, size_t count) {
    mask_keep_first(&mask, 1, count);
    return mask;
}

static inline void store_line(void *to, const void *from) {
    memcpy(to, from, LINE);
}

static inline void lines_stored(void) {
}

typedef wide_kint lanes __attribute__((vector_size(16)));
enum { WIDE_LANES = 128 / WIDE_BITS };
static const wide_kint wide_flip = 0;

static inline lanes lanes_load(const wide_kint *keys) {
    lanes v;
    memcpy(&v, keys, sizeof v);
    return v;
}

static inline lanes add_lanes(lanes a, lanes b) {
    return a + b;
}

static inline lanes lanes_of(wide_kint key) {
    return key - (lanes){0};
}

static inline lanes add_above(lanes counts, lanes a, lanes b) {
    return counts - (lanes)(a > b); /* what is true is -1 */
}

#endif
