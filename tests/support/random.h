/* SPDX-License-Identifier: Apache-2.0
 *
 * splitmix64: every test's randomness comes from here and from a seed that the test prints. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

typedef struct random_state {
    uint64_t state;
} random_state;

static inline uint64_t random_bits(random_state *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
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
