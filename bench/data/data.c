/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* madvise */
#include "data/data.h"

#include "data/distributions.h"
#include "data/elements.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { block_elements = 1024, large_page_bytes = 1 << 21, line_bytes = 64 };

const bench_distribution *bench_distribution_at(int i) {
    return i < bench_distribution_count ? &bench_distributions[i] : NULL;
}

const bench_distribution *bench_distribution_find(const char *name) {
    for (int i = 0; i < bench_distribution_count; ++i) {
        if (strcmp(bench_distributions[i].name, name) == 0) {
            return &bench_distributions[i];
        }
    }
    return NULL;
}

const char *bench_distribution_name(const bench_distribution *distribution) {
    return distribution->name;
}

const char *bench_distribution_help(const bench_distribution *distribution) {
    return distribution->help;
}

bool bench_distribution_serves(const bench_distribution *distribution, topk_type type) {
    const int bits = 8 * (int)topk_type_size(type);
    if (bench_distribution_in_bits(distribution, type)) {
        return bits >= distribution->bits_least && bits <= distribution->bits_most;
    }
    return bits >= distribution->numbers_least &&
           (bench_type_is_float(type) || distribution->integer_scale > 0);
}

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

static void fill_block(const bench_block *block, unsigned char *elements) {
    union {
        double numbers[block_elements];
        uint64_t bits[block_elements];
    } made;
    const topk_type type = block->point->type;
    const bench_distribution *distribution = block->point->distribution;
    if (bench_distribution_in_bits(distribution, type)) {
        distribution->bits(block, made.bits);
        bench_store_bits(type, made.bits, block->count, elements);
        return;
    }
    distribution->numbers(block, made.numbers);
    if (!bench_type_is_float(type)) {
        for (int64_t i = 0; i < block->count; ++i) {
            made.numbers[i] *= distribution->integer_scale;
        }
    }
    bench_store_numbers(type, made.numbers, block->count, elements);
}

static void fill(const bench_data *data, uint64_t seed, int threads) {
    const bench_point *point = &data->point;
    const int64_t elements = point->rows * point->n;
    const size_t size = topk_type_size(point->type);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t first = 0; first < elements; first += block_elements) {
        const int64_t left = elements - first;
        const bench_block block = {point, seed, first, left < block_elements ? left : block_elements};
        fill_block(&block, data->base + (size_t)first * size);
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t copy = 1; copy < data->copies; ++copy) {
        memcpy(data->base + (size_t)copy * data->pitch, data->base, data->bytes);
    }
}

/* Whether the data of two points is the same. Only one distribution looks at k. */
static bool same_input(const bench_point *a, const bench_point *b) {
    return a->type == b->type && a->distribution == b->distribution && a->rows == b->rows && a->n == b->n &&
           (a->k == b->k || strcmp(a->distribution->name, "pivot-tie") != 0);
}

bool bench_data_make(bench_data *data, const bench_point *point, uint64_t seed, size_t cold_bytes,
                     int threads) {
    if (data->base != NULL && same_input(&data->point, point)) {
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
