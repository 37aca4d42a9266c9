/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* madvise */
#include "data/data.h"

#include "elements.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { large_page_bytes = 1 << 21, line_bytes = 64 };

void *bench_allocate(size_t bytes) {
    const size_t alignment = bytes >= large_page_bytes ? (size_t)large_page_bytes : (size_t)line_bytes;
    const size_t rounded = (bytes / alignment + 1) * alignment;
    void *memory = aligned_alloc(alignment, rounded);
    if (memory != NULL && alignment == large_page_bytes) {
        /* Advice: where it is not taken, the pages are merely small. */
        (void)madvise(memory, rounded, MADV_HUGEPAGE);
    }
    return memory;
}

static void fill(const bench_data *data, uint64_t seed, int threads) {
    const recipe how = bench_recipe_of(&data->point, seed);
    const int64_t elements = data->point.rows * data->point.n;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < elements; ++i) {
        element_put_bits(how.type, data->base, i, law_element(&how, i));
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t copy = 1; copy < data->copies; ++copy) {
        memcpy(data->base + (size_t)copy * data->pitch, data->base, data->bytes);
    }
}

bool bench_data_make(bench_data *data, const bench_point *point, uint64_t seed, size_t cold_bytes,
                     int threads) {
    if (data->base != NULL && bench_same_data(&data->point, point)) {
        return true;
    }
    bench_data_free(data);
    data->point = *point;
    data->bytes = bench_point_bytes(point);
    data->pitch = (data->bytes / line_bytes + 1) * line_bytes;
    data->copies = (int64_t)(cold_bytes / data->pitch) + 1;
    data->base = bench_allocate((size_t)data->copies * data->pitch);
    if (data->base == NULL) {
        return false;
    }
    fill(data, seed, threads);
    return true;
}

void bench_data_free(bench_data *data) {
    free(data->base);
    memset(data, 0, sizeof *data);
}
