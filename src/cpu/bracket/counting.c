/* SPDX-License-Identifier: Apache-2.0
 * Small arrays are encoded once and bisected in cache. Large ones are counted: a pass over all
 * elements counts those in each of HISTOGRAM_BINS equal ranges between two keys; the range that holds
 * the k-th is divided by the next pass, until it holds so few that they are bisected. A sample proposes the
 * two keys of the first pass, near which few elements lie, for what lies elsewhere is only counted; should
 * the first pass show that the k-th is not between them, all keys do in their stead. */
#include "counting.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "../../reached.h"
#include "../team.h"

struct pass {
    const struct counting *counting;
    uint64_t low, high;
    unsigned shift;
    size_t bin;           /* where the k-th is */
    _Atomic size_t above; /* elements with keys above high */
};

static const void *element_at(const struct counting *c, size_t at) {
    return (const char *)c->elements + at * (c->kernels->bits / 8);
}

static size_t histogram(const struct pass *pass, size_t begin, size_t n, const uint64_t *only,
                        uint64_t *bins) {
    const struct counting *c = pass->counting;
    return c->kernels->histogram(element_at(c, begin), n, only, c->map, pass->low, pass->high, pass->shift,
                                 bins);
}

/* The same over the matches alone, tile by tile. */
static size_t histogram_matches(const struct pass *pass, int part, size_t begin, size_t end, uint64_t *bins) {
    const struct counting *c = pass->counting;
    uint64_t *mask = c->masks + (size_t)part * (TILE / WORD);
    size_t above = 0;
    for (; begin < end; begin += TILE) {
        const size_t n = end - begin < TILE ? end - begin : TILE;
        if (topk_cpu_matcher_mask(c->matcher, c->first + begin, n, mask) > 0) {
            above += histogram(pass, begin, n, mask, bins);
        }
    }
    return above;
}

static void histogram_share(void *argument, int part, int parts) {
    struct pass *pass = argument;
    const struct counting *c = pass->counting;
    const size_t begin = share(c->n, part, parts), end = share(c->n, part + 1, parts);
    uint64_t *bins = c->bins + (size_t)part * HISTOGRAM_BINS;
    memset(bins, 0, HISTOGRAM_BINS * sizeof *bins);
    const size_t above = c->matcher != NULL ? histogram_matches(pass, part, begin, end, bins)
                                            : histogram(pass, begin, end - begin, NULL, bins);
    atomic_fetch_add_explicit(&pass->above, above, memory_order_relaxed);
}

/* Lists the part's keys of the range. The last pass counted them, so each part knows where its keys begin. */
static void take_share(void *argument, int part, int parts) {
    const struct pass *pass = argument;
    const struct counting *c = pass->counting;
    const size_t begin = share(c->n, part, parts), end = share(c->n, part + 1, parts),
                 bytes = c->kernels->bits / 8;
    size_t at = 0;
    for (int before = 0; before < part; before++) {
        at += c->bins[(size_t)before * HISTOGRAM_BINS + pass->bin];
    }
    char *keys = (char *)c->keys + at * bytes;
    if (c->matcher == NULL) {
        (void)c->kernels->take_range(element_at(c, begin), end - begin, NULL, c->map, pass->low, pass->high,
                                     keys);
        return;
    }
    uint64_t *mask = c->masks + (size_t)part * (TILE / WORD);
    for (size_t i = begin; i < end; i += TILE) {
        const size_t n = end - i < TILE ? end - i : TILE;
        if (topk_cpu_matcher_mask(c->matcher, c->first + i, n, mask) > 0) {
            keys += bytes *
                    c->kernels->take_range(element_at(c, i), n, mask, c->map, pass->low, pass->high, keys);
        }
    }
}

/* The k-th of the range's `count` keys, which the cache holds. */
static struct threshold finish_in_cache(struct pass *pass, size_t k, size_t count, bool exact) {
    const struct counting *c = pass->counting;
    const size_t bytes = c->kernels->bits / 8, padded = words_of(count) * WORD;
    TOPK_REACHED(REACHED_COUNTING_FEW);
    topk_cpu_team_run(c->context, c->threads, take_share, pass);
    memset((char *)c->keys + count * bytes, 0, (padded - count) * bytes);
    return c->kernels->bisect(c->keys, count, k, exact ? 0 : k);
}

/* Two keys that very probably enclose the k-th. */
static void propose(const struct counting *c, size_t k, struct pass *pass) {
    const size_t samples = COUNTING_SAMPLES / SAMPLE_GROUP * SAMPLE_GROUP;
    const double p = (double)k / (double)c->n, rank = p * (double)samples;
    const double margin = COUNTING_DEVIATIONS * sqrt(rank * (1.0 - p)) + 4.0;
    c->kernels->sample(c->elements, c->n / (samples / SAMPLE_GROUP), 0, samples, c->context->seed + k, c->map,
                       c->keys);
    if (rank > margin) {
        pass->high = c->kernels->bisect(c->keys, samples, (size_t)(rank - margin) + 1, 0).key;
    }
    if (rank + margin < (double)samples) {
        pass->low = c->kernels->bisect(c->keys, samples, (size_t)(rank + margin), 0).key;
    }
}

/* The highest bin that the k-th can be in, given how many lie above all bins, and how many lie in that bin:
 * *above grows by what lies in higher bins. HISTOGRAM_BINS if it is in none. */
static size_t bin_of_kth(const struct counting *c, size_t k, size_t *above, size_t *in) {
    for (size_t bin = HISTOGRAM_BINS; *above < k && bin-- > 0;) {
        size_t in_bin = 0;
        for (int part = 0; part < c->threads; part++) {
            in_bin += c->bins[(size_t)part * HISTOGRAM_BINS + bin];
        }
        if (*above + in_bin >= k) {
            *in = in_bin;
            return bin;
        }
        *above += in_bin;
    }
    return HISTOGRAM_BINS;
}

static struct threshold count_down(const struct counting *c, size_t k, bool exact) {
    const uint64_t greatest = topk_ones(c->kernels->bits);
    struct pass pass = {.counting = c, .high = greatest};
    size_t above, in = 0;
    if (c->matcher == NULL) {
        propose(c, k, &pass);
    } else {
        TOPK_REACHED(REACHED_COUNTING_MATCHES);
    }
    do {
        for (pass.shift = 0; (pass.high - pass.low) >> pass.shift >= HISTOGRAM_BINS; pass.shift++) {
        }
        pass.above = 0;
        topk_cpu_team_run(c->context, c->threads, histogram_share, &pass);
        above = pass.above;
        pass.bin = bin_of_kth(c, k, &above, &in);
        if (pass.bin == HISTOGRAM_BINS) {
            TOPK_REACHED(REACHED_COUNTING_MISS);
            pass.low = 0;
            pass.high = greatest;
            continue;
        }
        pass.low += (uint64_t)pass.bin << pass.shift;
        const uint64_t last = pass.low + ((1ull << pass.shift) - 1);
        pass.high = last < pass.low || last > pass.high ? pass.high : last;
        if (in <= BISECT_MAX && pass.low < pass.high) {
            const struct threshold t = finish_in_cache(&pass, k - above, in, exact);
            return (struct threshold){t.key, above + t.above};
        }
    } while (pass.low < pass.high);
    return (struct threshold){pass.low, above};
}

struct threshold topk_cpu_counting_kth(const struct counting *c, size_t k, bool exact) {
    const size_t bytes = c->kernels->bits / 8, padded = words_of(c->n) * WORD;
    if (c->n > BISECT_MAX || c->matcher != NULL) {
        return count_down(c, k, exact);
    }
    c->kernels->encode(c->elements, c->n, c->map, c->keys);
    memset((char *)c->keys + c->n * bytes, 0, (padded - c->n) * bytes);
    return c->kernels->bisect(c->keys, c->n, k, exact ? 0 : k);
}
