/* SPDX-License-Identifier: Apache-2.0
 *
 * splitmix64: all randomness of tests and benchmarks comes from here and from a seed that they print. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

#include "everywhere_cuda.h"

/* The i-th number of a seed: needs no state, so any thread can make it. */
static inline EVERYWHERE uint64_t random_at(uint64_t seed, int64_t i) {
    uint64_t z = seed + (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The same in (0, 1]. */
static inline EVERYWHERE double random_unit_at(uint64_t seed, int64_t i) {
    return (double)((random_at(seed, i) >> 11) + 1) * 0x1p-53;
}

/* One number after the other. */
typedef struct random_state {
    uint64_t state;
} random_state;

static inline uint64_t random_bits(random_state *random) {
    random->state = random->state + UINT64_C(0x9e3779b97f4a7c15);
    return random_at(random->state, 0);
}

/* In [0, bound); bound > 0. The bias is far below what a test could notice. */
static inline int64_t random_below(random_state *random, int64_t bound) {
    return (int64_t)(random_bits(random) % (uint64_t)bound);
}

/* In [0, 1). */
static inline double random_unit(random_state *random) {
    return (double)(random_bits(random) >> 11) * 0x1p-53;
}

#endif
