/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs: seeded data of named distributions, the same whatever the number of threads. */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include "data/vectors.h"
#include "elements.h"
#include "laws.h"
#include "points/outputs.h"

BENCH_C_BEGIN

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

/* NULL if there is none of that name. */
const bench_distribution *bench_distribution_find(const char *name);

/* Whether the distribution has a meaning for elements of the type. */
bool bench_distribution_serves(const bench_distribution *distribution, topk_type type);

/* What elements are made from: a seed, rows of distances from `queries` to `base`, or a file of elements. */
typedef struct bench_source {
    uint64_t seed;
    bench_vectors queries, base; /* of as many dimensions; without elements where there are none */
    bench_elements file;         /* likewise */
} bench_source;

/* Whether elements are distances, or come from a file. */
bool bench_has_distances(const bench_point *point);
bool bench_has_file(const bench_point *point);

/* Whether there are as many vectors as the rows of a point, and its n, take; all have them but distances. */
bool bench_source_serves(const bench_source *source, const bench_point *point);

/* How the elements of a point are made, on a CPU and on a GPU. */
typedef struct bench_filling {
    recipe how;
    const float *queries, *base; /* NULL: no distances */
    int dimensions;
    const void *file; /* elements of the point's type; NULL: no file */
    int64_t file_count;
} bench_filling;

bench_filling bench_filling_of(const bench_point *point, const bench_source *source);

/* Element i, in the low bits. */
static inline EVERYWHERE uint64_t bench_element(const bench_filling *filling, int64_t i) {
    const int64_t n = filling->how.n, dimensions = filling->dimensions;
    if (filling->file != NULL) {
        return element_get_bits(filling->how.type, filling->file, i % filling->file_count);
    }
    return filling->base == NULL
               ? law_element(&filling->how, i)
               : element_encode(filling->how.type,
                                bench_distance(filling->queries + i / n * dimensions,
                                               filling->base + i % n * dimensions, filling->dimensions));
}

/* An input or a mask, and further copies of it that are read in turn when the caches are to be cold. Begin
 * with a zeroed struct. */
typedef struct bench_data {
    bench_point point; /* what it was made for */
    size_t bytes;      /* of one copy */
    size_t pitch;      /* bytes from one copy to the next, a multiple of 256 */
    int64_t copies;
    bench_buffer buffer;
    bench_buffer offsets; /* of rows of different lengths; empty: there are none */
} bench_data;

/* Makes room for `bytes`, with copies until they fill cold_bytes, and the offsets of the rows. False:
 * out of memory or an error. */
bool bench_data_room(bench_data *data, const bench_memory *memory, const bench_point *point, size_t bytes,
                     size_t cold_bytes);
void bench_data_free(bench_data *data);

/* Whether it is the input of the point. */
bool bench_data_fits(const bench_data *data, const bench_point *point);

/* Makes the input of a point on the host. False: out of memory; *data is then empty. */
bool bench_data_make(bench_data *data, const bench_point *point, const bench_source *source,
                     size_t cold_bytes, int threads);

static inline const void *bench_data_copy(const bench_data *data, int64_t turn) {
    return (const unsigned char *)data->buffer.data + (size_t)(turn % data->copies) * data->pitch;
}

BENCH_C_END

#endif /* BENCH_DATA_H */
