/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers by position: the i-th of a seed needs no state, so that any thread can make it.
 * For C++ the functions are constexpr, which lets code for a GPU call them too. */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include <stdint.h>

#ifdef __cplusplus
#define BENCH_PURE constexpr
#else
#define BENCH_PURE inline
#endif

/* The i-th output of splitmix64. */
static BENCH_PURE uint64_t bench_random(uint64_t seed, int64_t i) {
    uint64_t z = seed + (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Uniform in (0, 1]. */
static BENCH_PURE double bench_unit(uint64_t random) {
    return (double)((random >> 11) + 1) * 0x1p-53;
}

#endif /* BENCH_RANDOM_H */
