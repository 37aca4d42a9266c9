/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs: seeded data of named distributions, the same whatever the number of threads. */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include "laws.h"
#include "points/point.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_distribution {
    const char *name;
    const char *help;
    law numbers;
    double integer_scale; /* what numbers are multiplied by for integer types; 0: no meaning there */
    int numbers_least;    /* bits of the narrowest type that keeps the numbers apart */
    /* Where there are bits instead of numbers: always, or for integers alone. */
    law bits;
    int bits_least, bits_most; /* bits of the narrowest and the widest type they have a meaning for */
    int first_bits;
} bench_distribution;

extern const bench_distribution bench_distributions[];
extern const int bench_distribution_count;

static inline const char *bench_distribution_name(const bench_distribution *distribution) {
    return distribution->name;
}

/* NULL if there is none of that name. */
const bench_distribution *bench_distribution_find(const char *name);

/* Whether the distribution has a meaning for elements of the type. */
bool bench_distribution_serves(const bench_distribution *distribution, topk_type type);

/* How the elements of a point are made, on a CPU and on a GPU; and whether two points have the same. */
recipe bench_recipe_of(const bench_point *point, uint64_t seed);
bool bench_same_data(const bench_point *a, const bench_point *b);

/* An input, and further copies of it that are read in turn when the caches are to be cold. */
typedef struct bench_data {
    bench_point point; /* what it was made for */
    size_t bytes;      /* of one copy */
    size_t pitch;      /* bytes from one copy to the next */
    int64_t copies;
    unsigned char *base;
} bench_data;

/* Makes the input of a point, with copies until they fill cold_bytes. Data that already fits is kept.
 * False: out of memory; *data is then empty. Begin with a zeroed struct. */
bool bench_data_make(bench_data *data, const bench_point *point, uint64_t seed, size_t cold_bytes,
                     int threads);
void bench_data_free(bench_data *data);

static inline const void *bench_data_copy(const bench_data *data, int64_t i) {
    return data->base + (size_t)(i % data->copies) * data->pitch;
}

/* Memory aligned to large pages, and asking for them: what is to be measured is the memory, not the
 * page tables. Freed with free(). NULL: out of memory. */
void *bench_allocate(size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_DATA_H */
