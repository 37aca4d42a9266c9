/* SPDX-License-Identifier: Apache-2.0
 * A short row from elements to results. Part of kernels.c.
 *
 * Hits, the elements above some threshold, are moved together: at least all results, and not many more. They
 * lie in the order of their positions. The rows of a call often resemble each other, so the first threshold
 * is the one that served the row before. Where it hits too few or too many, a search among the row's keys
 * finds another. */
#ifndef TOPK_SRC_CPU_KERNELS_SHORT_H
#define TOPK_SRC_CPU_KERNELS_SHORT_H

#include "../../reached.h"

/* The keys of a row, padded with zeros to whole words. */
static void encode_padded(const kint *elements, size_t n, const struct key_map *key_map, kint *keys) {
    const struct map map = narrow(key_map);
    for (size_t i = 0; i < n; i += WORD) {
        if (n - i >= WORD) {
            word_keys(elements + i, &map, keys + i);
        } else {
            part_keys(elements + i, n - i, &map, keys + i);
        }
    }
}

/* Masks the results of a cut of n keys: k, or cut->above if that is more. Returns their number. */
static size_t mask_cut(const kint *keys, size_t n, size_t k, const struct cut *cut, uint64_t *hits) {
    size_t missing = cut->above < k ? k - cut->above : 0;
    for (size_t i = 0; i < n; i += WORD) {
        const uint64_t above = mask_above(keys + i, (kint)cut->high);
        hits[i / WORD] = above;
        if (missing > 0) {
            uint64_t in_range = mask_above(keys + i, (kint)cut->low) | mask_equal(keys + i, (kint)cut->low);
            in_range &= low_bits(n - i) & ~above;
            mask_keep_first(&in_range, 1, missing);
            hits[i / WORD] |= in_range;
            missing -= (size_t)__builtin_popcountll(in_range);
        }
    }
    return cut->above > k ? cut->above : k;
}

/* How many hits a row may have, where k are wanted. If that is a large part of the row, more hits would cost
 * more than an exact search. */
static size_t room_for(size_t n, size_t k) {
    const size_t room = hits_room(n, k);
    if (k > RANK_MAX && k > n / 3) {
        return k;
    }
    return k + k / 8 <= RANK_MAX && room > RANK_MAX ? RANK_MAX : room;
}

/* Masks the hits of a row by a search; returns their number. A threshold serves the next row best if its hits
 * are close neither to k nor to the room for them. Where too many keys equal the k-th, none serves. */
static size_t search_hits(const void *elements, size_t n, size_t k, size_t room, const struct maps *maps,
                          struct short_row *row) {
    const size_t spare = (room - k) / 3;
    encode_padded(elements, n, maps->key, row->keys);
    const struct cut cut = exact_cut(row->keys, n, k + spare, k + 2 * spare);
    if (cut.above < k) {
        TOPK_REACHED(REACHED_ROW_PLATEAU);
    }
    row->searched = true;
    row->equal = cut.above == 0;
    row->guesses = room > k && cut.above >= k;
    row->threshold = cut.high;
    return mask_cut(row->keys, n, k, &cut, row->hits);
}

/* Masks the hits of a row: k or more, and no more than there is room for. Returns their number. */
static size_t mask_hits(const void *elements, size_t n, size_t k, const struct maps *maps,
                        struct short_row *row) {
    const size_t room = room_for(n, k);
    row->searched = row->equal = false;
    if (k == n) {
        for (size_t i = 0; i < n; i += WORD) {
            row->hits[i / WORD] = low_bits(n - i);
        }
        return n;
    }
    if (row->guesses && room > k) {
        const struct threshold_arcs guess = {row->not_above, row->not_above, 0};
        const size_t hits = split(elements, n, maps->point, &guess, row->hits, NULL).above;
        if (hits >= k && hits <= room) {
            TOPK_REACHED(REACHED_ROW_GUESSED);
            return hits;
        }
        TOPK_REACHED(REACHED_ROW_MISSED);
    }
    return search_hits(elements, n, k, room, maps, row);
}

/* Few hits of a row: elements and slots in the order of positions, and ranks. */
struct few_hits {
    size_t count;
    wide_kint elements[RANK_MAX + WORD]; /* vectors may be written behind the last */
    uint32_t slots[RANK_MAX + WORD];     /* likewise */
    struct ranking ranking;
};

static inline void rank_word(const wide_kint *restrict elements, const struct map *map, wide_kint first,
                             wide_kint count, wide_kint *restrict keys) {
    const struct map m = *map;
    for (wide_kint i = 0; i < WORD; i++) {
        keys[i] = ranked_key(key_of((kint)elements[i], &m), first + i, count);
    }
}

/* Moves the few hits of a row together, and ranks them. */
static INLINE void rank_hits(const kint *elements, size_t n, const struct key_map *key_map,
                             const struct short_row *row, struct few_hits *few) {
    const struct map map = narrow(key_map);
    size_t count = 0;
    for (size_t i = 0; i < n; i += WORD) {
        const uint64_t hits = row->hits[i / WORD];
        if (n - i >= WORD) {
            count += pack_hits(elements + i, hits, (uint32_t)i, few->elements + count, few->slots + count);
        } else {
            kint last[WORD];
            memcpy(last, elements + i, (n - i) * sizeof *last);
            count += pack_hits(last, hits, (uint32_t)i, few->elements + count, few->slots + count);
        }
    }
    for (size_t first = 0; first < count; first += WORD) {
        rank_word(few->elements + first, &map, (wide_kint)first, (wide_kint)count, few->ranking.keys + first);
    }
    rank_keys(&few->ranking, count);
    few->count = count;
}

/* Few hits, best first. */
static INLINE struct short_results sorted_hits(const struct few_hits *few, const struct short_row *row) {
    uint32_t *best_slots = row->slots[1];
    kint *best = row->hit_keys[1];
    for (size_t i = 0; i < few->count; i += RANKED_AT_ONCE) {
        for (size_t j = i; j < i + RANKED_AT_ONCE; j++) {
            const size_t rank = few->ranking.ranks[j];
            best_slots[rank] = few->slots[j];
            best[rank] = (kint)few->elements[j];
        }
    }
    return (struct short_results){best_slots, best};
}

/* The k best of few hits, in the order of positions. The last slots written may be of no result. */
static struct short_results best_hits(const struct few_hits *few, size_t k, const struct short_row *row) {
    uint32_t *best_slots = row->slots[1];
    kint *best = row->hit_keys[1];
    size_t kept = 0;
    for (size_t i = 0; i < few->count; i++) {
        best_slots[kept] = few->slots[i];
        best[kept] = (kint)few->elements[i];
        kept += few->ranking.ranks[i] < k;
    }
    return (struct short_results){best_slots, best};
}

/* Lists the slots and keys of many hits. */
static void list_hits(const kint *elements, size_t n, size_t count, const struct key_map *key_map,
                      const struct short_row *row) {
    const struct map map = narrow(key_map);
    const size_t words = words_of(n), room = words_of(count) * WORD;
    kint *keys = row->hit_keys[0];
    (void)positions32(row->hits, words, 0, row->slots[0], room);
    (void)take(row->searched ? row->keys : elements, row->hits, words, keys, room);
    for (size_t i = 0; !row->searched && i < count; i++) {
        keys[i] = key_of(keys[i], &map);
    }
    memset(keys + count, 0, WORD * sizeof *keys);
}

/* The slots of the k best among the listed hits, in the order of positions. */
static void cut_list(const struct short_row *row, size_t count, size_t k) {
    uint32_t *slots = row->slots[1];
    const struct cut cut = exact_cut(row->hit_keys[0], count, k, k);
    (void)mask_cut(row->hit_keys[0], count, k, &cut, row->hits);
    (void)positions32(row->hits, words_of(count), 0, slots, k);
    for (size_t i = 0; i < k; i++) {
        slots[i] = row->slots[0][slots[i]];
    }
}

/* kernels.h */
static struct short_results select_short(const void *elements, size_t n, size_t k, const struct maps *maps,
                                         const struct approximation *approximation, bool sorted,
                                         struct short_row *row) {
    size_t count = k;
    if (approximation == NULL || k == n) {
        count = mask_hits(elements, n, k, maps, row);
    } else {
        encode_padded(elements, n, maps->key, row->keys);
        row->searched = true;
        row->equal = false;
        const struct cut cut = approximate_cut(row->keys, n, k, approximation);
        (void)mask_cut(row->keys, n, k, &cut, row->hits);
    }
    if (count == k && (!sorted || row->equal)) {
        (void)positions32(row->hits, words_of(n), 0, row->slots[0], words_of(k) * WORD);
        return (struct short_results){row->slots[0], NULL};
    }
    if (count <= RANK_MAX) {
        struct few_hits few;
        TOPK_REACHED(REACHED_ROW_FEW);
        rank_hits(elements, n, maps->key, row, &few);
        return sorted ? sorted_hits(&few, row) : best_hits(&few, k, row);
    }
    list_hits(elements, n, count, maps->key, row);
    if (sorted) {
        TOPK_REACHED(REACHED_ROW_MANY);
        return (struct short_results){radix_sort(row, count), NULL};
    }
    cut_list(row, count, k);
    return (struct short_results){row->slots[1], NULL};
}

/* kernels.h */
static struct kth kth_short(const void *elements, size_t n, size_t k, const struct maps *maps,
                            struct short_row *row) {
    const struct map map = narrow(maps->key);
    const size_t count = mask_hits(elements, n, k, maps, row);
    kint *keys = row->hit_keys[0];
    struct kth kth = {0, 0, 0};
    if (count <= RANK_MAX) {
        struct few_hits few;
        rank_hits(elements, n, maps->key, row, &few);
        kth.key = key_of(((const kint *)sorted_hits(&few, row).elements)[k - 1], &map);
        for (size_t i = 0; i < count; i++) {
            keys[i] = key_of((kint)few.elements[i], &map);
        }
    } else {
        list_hits(elements, n, count, maps->key, row);
        kth.key = bisect(keys, count, k, 0).key;
    }
    /* A search may have left out equal keys. */
    const size_t keyed = row->searched ? n : count;
    keys = row->searched ? row->keys : keys;
    for (size_t i = 0; i < keyed; i += WORD) {
        kth.above += (size_t)__builtin_popcountll(mask_above(keys + i, (kint)kth.key) & low_bits(keyed - i));
        kth.equal += (size_t)__builtin_popcountll(mask_equal(keys + i, (kint)kth.key) & low_bits(keyed - i));
    }
    return kth;
}

#endif
