/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors in the files that nearest-neighbour benchmarks have, and distances between them; and files of
 * elements. */
#ifndef BENCH_VECTORS_H
#define BENCH_VECTORS_H

#include "everywhere_cuda.h"
#include "points/point.h"

BENCH_C_BEGIN

typedef struct bench_vectors {
    float *elements; /* count x dimensions */
    int64_t count;
    int dimensions;
} bench_vectors;

/* Reads a file by its ending: .fvecs and .bvecs (each vector behind its number of dimensions, an int32, as
 * float32 or bytes), or .npy (a matrix of float32 or uint8, row by row). Returns NULL, and *vectors is to be
 * freed; or why not. */
const char *bench_vectors_read(const char *path, bench_vectors *vectors);
void bench_vectors_free(bench_vectors *vectors);

typedef struct bench_elements {
    void *values;
    int64_t count;
    topk_type type;
} bench_elements;

/* Reads a file of numpy's with elements of one dimension, of a type of the library. Returns NULL, and
 * *elements is to be freed; or why not. */
const char *bench_elements_read(const char *path, bench_elements *elements);
void bench_elements_free(bench_elements *elements);

/* The square of the Euclidean distance. Sums of its own for every eighth dimension let a compiler vectorise.
 */
static inline EVERYWHERE float bench_distance(const float *a, const float *b, int dimensions) {
    float sums[8] = {0}, rest = 0;
    int d = 0;
    for (; d + 8 <= dimensions; d += 8) {
        for (int i = 0; i < 8; ++i) {
            sums[i] += (a[d + i] - b[d + i]) * (a[d + i] - b[d + i]);
        }
    }
    for (; d < dimensions; ++d) {
        rest += (a[d] - b[d]) * (a[d] - b[d]);
    }
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest;
}

BENCH_C_END

#endif /* BENCH_VECTORS_H */
