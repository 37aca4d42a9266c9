/* SPDX-License-Identifier: Apache-2.0
 *
 * What workload.py calls: the elements of the benchmark, and block-max WAND on them. */
#include "data/data.h"

#include <stdlib.h>

/* Only workload.py calls these, so no header has them. */
bool topk_workload_elements(const char *name, uint64_t seed, int64_t n, int64_t count, uint32_t *elements);
int64_t topk_workload_block_max(const uint32_t *elements, int64_t n, int64_t size, const uint32_t *maxima,
                                int64_t k);

/* Writes `count` uint32 elements of a row of n. False: there is no such distribution of that type. */
bool topk_workload_elements(const char *name, uint64_t seed, int64_t n, int64_t count, uint32_t *elements) {
    const bench_distribution *distribution = bench_distribution_find(name);
    const bench_source source = {.seed = seed};
    const bench_point point = {.type = TOPK_U32, .distribution = distribution, .n = n};
    if (distribution == NULL || bench_has_distances(&point) || bench_has_file(&point) ||
        !bench_distribution_serves(distribution, TOPK_U32)) {
        return false;
    }
    const bench_filling filling = bench_filling_of(&point, &source);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i) {
        elements[i] = (uint32_t)bench_element(&filling, i);
    }
    return true;
}

/* The worst of the k best so far comes first in a heap. Replaces it. */
static void replace_worst(uint32_t *best, int64_t k, uint32_t element) {
    int64_t at = 0;
    for (int64_t child = 1; child < k; child = 2 * at + 1) {
        child += child + 1 < k && best[child + 1] < best[child];
        if (best[child] >= element) {
            break;
        }
        best[at] = best[child];
        at = child;
    }
    best[at] = element;
}

/* How many elements block-max WAND evaluates with a query of one term, whose scores are the elements: it goes
 * through them in order. Before each it asks whether the maximum of the block of `size` elements is above the
 * k-th best so far. If so, it evaluates this one element, else it skips the rest of the block. -1: out of
 * memory. */
int64_t topk_workload_block_max(const uint32_t *elements, int64_t n, int64_t size, const uint32_t *maxima,
                                int64_t k) {
    uint32_t *best = calloc((size_t)k, sizeof *best); /* k zeros, which the first k elements replace */
    int64_t evaluated = best != NULL ? 0 : -1;
    for (int64_t i = 0; best != NULL && i < n;) {
        if (evaluated >= k && maxima[i / size] <= best[0]) {
            i = (i / size + 1) * size;
            continue;
        }
        const uint32_t element = elements[i++];
        if (evaluated++ < k || element > best[0]) {
            replace_worst(best, k, element);
        }
    }
    free(best);
    return evaluated;
}
