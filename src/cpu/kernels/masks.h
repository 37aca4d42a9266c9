/* SPDX-License-Identifier: Apache-2.0
 * Masks of elements, by arcs of points. Part of kernels.c. */
#ifndef TOPK_SRC_CPU_KERNELS_MASKS_H
#define TOPK_SRC_CPU_KERNELS_MASKS_H

static inline uint64_t low_bits(size_t n) {
    return n >= WORD ? UINT64_MAX : (1ull << n) - 1;
}

/* Masks of the last, incomplete word of elements, made from a padded copy. */
static INLINE void tail_masks(const struct arcs *arcs, const kint *in, size_t rest, bool by_magnitude,
                              uint64_t *in_a, uint64_t *in_b) {
    kint padded[WORD] = {0};
    memcpy(padded, in, rest * sizeof *in);
    arcs_masks(arcs, padded, by_magnitude, in_a, in_b);
}

/* A row is read faster than a core looks ahead while it makes masks: fetch a word's lines early. What
 * lies beyond the row is never used. */
static inline void fetch_ahead(const kint *word) {
    for (unsigned line = 0; line < sizeof *word; line++) {
        __builtin_prefetch((const char *)word + PREFETCH_BYTES + 64 * line, 0, 2); /* to L2 */
    }
}

static INLINE struct split_counts split_as(const kint *in, size_t n, const struct point_map *point_map,
                                           const struct threshold_arcs *threshold, bool by_magnitude,
                                           uint64_t *above, uint64_t *equal) {
    const struct arcs arcs = arcs_make(point_map, &threshold->not_above, &threshold->equal);
    struct split_counts counts = {0, 0};
    for (size_t i = 0; i < n; i += WORD) {
        uint64_t not_above, equal_bits;
        fetch_ahead(in + i);
        if (n - i >= WORD) {
            arcs_masks(&arcs, in + i, by_magnitude, &not_above, &equal_bits);
        } else {
            tail_masks(&arcs, in + i, n - i, by_magnitude, &not_above, &equal_bits);
            not_above |= ~low_bits(n - i);
            equal_bits &= low_bits(n - i);
        }
        above[i / WORD] = ~not_above;
        if (equal != NULL) {
            equal[i / WORD] = equal_bits;
        }
        counts.above += WORD - (size_t)__builtin_popcountll(not_above);
        counts.equal += (size_t)__builtin_popcountll(equal_bits);
    }
    return counts;
}

/* By value a point is a flip at most: the compiler makes a shorter loop of it. */
static bool points_by_magnitude(const struct point_map *point_map) {
    return (kint)point_map->keep != (kint)UINT64_MAX || point_map->add != 0;
}

static struct split_counts split(const void *elements, size_t n, const struct point_map *point_map,
                                 const struct threshold_arcs *threshold, uint64_t *above, uint64_t *equal) {
    return points_by_magnitude(point_map) ? split_as(elements, n, point_map, threshold, true, above, equal)
                                          : split_as(elements, n, point_map, threshold, false, above, equal);
}

static INLINE size_t match_as(const kint *in, size_t n, const struct point_map *point_map,
                              const struct match *match, bool by_magnitude, uint64_t *mask) {
    const struct arcs arcs = arcs_make(point_map, &match->arc, &match->arc);
    const uint64_t all = match->none ? 0 : UINT64_MAX;
    size_t count = 0;
    for (size_t i = 0; i < n; i += WORD) {
        uint64_t bits, same;
        fetch_ahead(in + i);
        if (n - i >= WORD) {
            arcs_masks(&arcs, in + i, by_magnitude, &bits, &same);
            bits &= all;
        } else {
            tail_masks(&arcs, in + i, n - i, by_magnitude, &bits, &same);
            bits &= all & low_bits(n - i);
        }
        mask[i / WORD] = bits;
        count += (size_t)__builtin_popcountll(bits);
    }
    return count;
}

static size_t match(const void *elements, size_t n, const struct point_map *point_map,
                    const struct match *match, uint64_t *mask) {
    return points_by_magnitude(point_map) ? match_as(elements, n, point_map, match, true, mask)
                                          : match_as(elements, n, point_map, match, false, mask);
}

static size_t count(const uint64_t *mask, size_t words) {
    size_t bits = 0;
    for (size_t w = 0; w < words; w++) {
        bits += (size_t)__builtin_popcountll(mask[w]);
    }
    return bits;
}

#endif
