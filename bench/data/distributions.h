/* SPDX-License-Identifier: Apache-2.0
 *
 * The distributions: each fills a block of the input at a time. */
#ifndef BENCH_DISTRIBUTIONS_H
#define BENCH_DISTRIBUTIONS_H

#include "data/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements [first, first + count) of the input, all rows one after the other. `first` is even, so that
 * a distribution may make its numbers in pairs. */
typedef struct bench_block {
    const bench_point *point;
    uint64_t seed;
    int64_t first;
    int64_t count;
} bench_block;

/* Elements of a run in the distribution of that name. */
enum { BENCH_RUN = 4096 };

struct bench_distribution {
    const char *name;
    const char *help;
    void (*numbers)(const bench_block *block, double *numbers);
    double integer_scale; /* what numbers are multiplied by for integer types; 0: no meaning there */
    int numbers_least;    /* bits of the narrowest type that keeps the numbers apart */
    /* Where bits are given instead of numbers: always, or for integers alone. */
    void (*bits)(const bench_block *block, uint64_t *bits);
    int bits_least, bits_most; /* bits of the narrowest and the widest type they have a meaning for */
};

extern const struct bench_distribution bench_distributions[];
extern const int bench_distribution_count;

/* Whether the block is filled by ->bits rather than by ->numbers. */
bool bench_distribution_in_bits(const struct bench_distribution *distribution, topk_type type);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_DISTRIBUTIONS_H */
