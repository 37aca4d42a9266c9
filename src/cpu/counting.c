/* SPDX-License-Identifier: Apache-2.0
 * Small arrays are encoded once and bisected in cache. Large ones are counted: a pass over all
 * elements counts those in each of HISTOGRAM_BINS equal ranges between the smallest and the largest
 * key that the k-th can have; the range that holds it is divided by the next pass. */
#include "counting.h"

#include <string.h>

#include "team.h"

struct pass {
    const struct counting *counting;
    uint64_t low, high;
    unsigned shift;
};

static const void *element_at(const struct counting *c, size_t at) {
    return (const char *)c->elements + at * (c->kernels->bits / 8);
}

/* The first two bins of a part's own hold its extremes. */
static void extremes_share(void *argument, int part, int parts) {
    const struct counting *c = ((const struct pass *)argument)->counting;
    const size_t begin = share(c->n, part, parts), end = share(c->n, part + 1, parts);
    uint64_t *bins = c->bins + (size_t)part * HISTOGRAM_BINS;
    c->kernels->extremes(element_at(c, begin), end - begin, c->map, &bins[0], &bins[1]);
}

static void histogram_share(void *argument, int part, int parts) {
    const struct pass *pass = argument;
    const struct counting *c = pass->counting;
    const size_t begin = share(c->n, part, parts), end = share(c->n, part + 1, parts);
    uint64_t *bins = c->bins + (size_t)part * HISTOGRAM_BINS;
    memset(bins, 0, HISTOGRAM_BINS * sizeof *bins);
    c->kernels->histogram(element_at(c, begin), end - begin, c->map, pass->low, pass->high, pass->shift, bins);
}

static struct threshold count_down(const struct counting *c, size_t k) {
    struct pass pass = {.counting = c, .low = UINT64_MAX};
    size_t above = 0;
    topk_team_run(c->threads, extremes_share, &pass);
    for (int part = 0; part < c->threads; part++) {
        const uint64_t *extremes = c->bins + (size_t)part * HISTOGRAM_BINS;
        pass.low = extremes[0] < pass.low ? extremes[0] : pass.low;
        pass.high = extremes[1] > pass.high ? extremes[1] : pass.high;
    }
    while (pass.low < pass.high) {
        for (pass.shift = 0; (pass.high - pass.low) >> pass.shift >= HISTOGRAM_BINS; pass.shift++) {
        }
        topk_team_run(c->threads, histogram_share, &pass);
        size_t bin = HISTOGRAM_BINS, in_bin = 0;
        do { /* down to the bin of the k-th: `above` counts all in higher bins */
            above += in_bin;
            bin--;
            in_bin = 0;
            for (int part = 0; part < c->threads; part++) {
                in_bin += c->bins[(size_t)part * HISTOGRAM_BINS + bin];
            }
        } while (above + in_bin < k);
        pass.low += (uint64_t)bin << pass.shift;
        const uint64_t last = pass.low + ((1ull << pass.shift) - 1);
        pass.high = last < pass.low || last > pass.high ? pass.high : last;
    }
    return (struct threshold){pass.low, above};
}

struct threshold topk_counting_kth(const struct counting *c, size_t k, bool exact) {
    const size_t bytes = c->kernels->bits / 8, padded = words_of(c->n) * WORD;
    if (c->n > BISECT_MAX) {
        return count_down(c, k);
    }
    c->kernels->encode(c->elements, c->n, c->map, c->keys);
    memset((char *)c->keys + c->n * bytes, 0, (padded - c->n) * bytes);
    return c->kernels->bisect(c->keys, c->n, k, exact);
}
