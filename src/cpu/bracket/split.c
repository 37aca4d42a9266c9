/* SPDX-License-Identifier: Apache-2.0
 * Tile by tile, so that the elements are still in cache when the predicate follows the threshold. */
#include "split.h"

#include <stdatomic.h>

#include "../team.h"

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Where at most one element in this number is over the threshold, these are asked one by one. With a mask
 * each may cost a cache miss. */
enum { FEW_COMPARED = 64, FEW_MASKED = 1024 };

/* Clears the bits of elements that do not match. */
static void drop_one_by_one(const struct bracket *b, size_t begin, size_t words, uint64_t *above,
                            uint64_t *equal, struct split_counts *counts) {
    for (size_t w = 0; w < words; w++) {
        for (uint64_t bits = above[w] | equal[w]; bits != 0; bits &= bits - 1) {
            const uint64_t bit = bits & -bits;
            if (!topk_cpu_matcher_matches(b->matcher, (size_t)b->begin + begin + w * WORD +
                                                          (size_t)__builtin_ctzll(bits))) {
                counts->above -= (above[w] & bit) != 0;
                counts->equal -= (equal[w] & bit) != 0;
                above[w] &= ~bit;
                equal[w] &= ~bit;
            }
        }
    }
}

static void drop_by_mask(const struct bracket *b, int part, size_t begin, size_t n, uint64_t *above,
                         uint64_t *equal, struct split_counts *counts) {
    const size_t words = words_of(n);
    uint64_t *mask = scratch_matches(b->scratch, part);
    (void)topk_cpu_matcher_mask(b->matcher, (size_t)b->begin + begin, n, mask);
    for (size_t w = 0; w < words; w++) {
        above[w] &= mask[w];
        equal[w] &= mask[w];
    }
    *counts = (struct split_counts){b->kernels->count(above, words), b->kernels->count(equal, words)};
}

static struct split_counts split_matches(const struct bracket *b, int part, size_t begin, size_t n,
                                         const struct threshold_arcs *threshold, uint64_t *above,
                                         uint64_t *equal) {
    const char *elements = (const char *)b->elements + begin * (b->kernels->bits / 8);
    struct split_counts counts = b->kernels->split(elements, n, b->point_map, threshold, above, equal);
    const size_t asked = counts.above + counts.equal, few = b->matcher->masked ? FEW_MASKED : FEW_COMPARED;
    if (asked > n / few) {
        drop_by_mask(b, part, begin, n, above, equal, &counts);
    } else if (asked > 0) {
        drop_one_by_one(b, begin, words_of(n), above, equal, &counts);
    }
    return counts;
}

struct split_counts topk_cpu_split_row(const struct bracket *b, int part, size_t begin, size_t n,
                                       const struct threshold_arcs *threshold, uint64_t *above,
                                       uint64_t *equal) {
    if (b->matcher == NULL) {
        const char *elements = (const char *)b->elements + begin * (b->kernels->bits / 8);
        return b->kernels->split(elements, n, b->point_map, threshold, above, equal);
    }
    struct split_counts sum = {0, 0};
    for (size_t at = 0; at < n; at += TILE) {
        uint64_t *tile_equal = equal != NULL ? equal + at / WORD : scratch_mask(b->scratch, part, 1);
        const struct split_counts counts = split_matches(b, part, begin + at, smaller(TILE, n - at),
                                                         threshold, above + at / WORD, tile_equal);
        sum.above += counts.above;
        sum.equal += counts.equal;
    }
    return sum;
}

struct counting_matches {
    const struct bracket *b;
    _Atomic size_t matches;
};

static void count_share(void *argument, int part, int parts) {
    struct counting_matches *c = argument;
    const struct bracket *b = c->b;
    const size_t end = share(b->n, part + 1, parts);
    size_t count = 0;
    for (size_t begin = share(b->n, part, parts); begin < end; begin += TILE) {
        count += topk_cpu_matcher_mask(b->matcher, (size_t)b->begin + begin, smaller(TILE, end - begin),
                                       scratch_matches(b->scratch, part));
    }
    atomic_fetch_add_explicit(&c->matches, count, memory_order_relaxed);
}

size_t topk_cpu_count_matches(const struct bracket *b) {
    struct counting_matches c = {.b = b};
    topk_cpu_team_run(b->call->context, b->scratch->threads, count_share, &c);
    return c.matches;
}

void topk_cpu_sample_matches(const struct bracket *b, size_t stretch, size_t begin, size_t end,
                             uint64_t seed) {
    const unsigned bits = b->kernels->bits;
    for (size_t i = begin; i < end; i++) {
        const size_t run = i / SAMPLE_GROUP, ahead = run + RUNS_AHEAD;
        if (i % SAMPLE_GROUP == 0 && ahead < end / SAMPLE_GROUP) {
            const size_t position = sample_position(ahead, stretch, seed);
            __builtin_prefetch((const char *)b->elements + position * (bits / 8));
            topk_cpu_matcher_prefetch(b->matcher, (size_t)b->begin + position);
        }
        const size_t position = sample_position(run, stretch, seed) + i % SAMPLE_GROUP;
        const uint64_t element = read_element(b->elements, (int64_t)position, bits / 8);
        const bool matches = topk_cpu_matcher_matches(b->matcher, (size_t)b->begin + position);
        store_element(b->scratch->sample_keys, (int64_t)i, bits / 8,
                      matches ? topk_key_encode(element, bits, b->map) : 0);
    }
}
