/* SPDX-License-Identifier: Apache-2.0
 * A short row from elements to results. Part of kernels.c.
 *
 * Hits, the elements above some threshold, are moved together: at least all results, and not many more. They
 * lie in the order of their positions. The rows of a call often resemble each other, so the first threshold
 * is the one that served the row before. Where it hits too few or too many, a search among the row's keys
 * finds another. */
#ifndef TOPK_SRC_CPU_KERNELS_SHORT_H
#define TOPK_SRC_CPU_KERNELS_SHORT_H

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

/* The same, and the least and the greatest key. */
static void encode_extremes(const kint *restrict elements, size_t n, const struct key_map *key_map,
                            kint *restrict keys, kint *least, kint *greatest) {
    const struct map map = narrow(key_map);
    kint low = (kint)UINT64_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        const kint key = key_of(elements[i], &map);
        keys[i] = key;
        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    memset(keys + n, 0, (words_of(n) * WORD - n) * sizeof *keys);
    *least = low;
    *greatest = high;
}

/* Masks the results of a cut of n keys: k, or cut->above if that is more. Returns their number. */
static size_t mask_cut(const kint *keys, size_t n, size_t k, const struct cut *cut, uint64_t *hits) {
    size_t missing = cut->above < k ? k - cut->above : 0;
    for (size_t i = 0; i < n; i += WORD) {
        const uint64_t above = cut->above > 0 ? mask_above(keys + i, (kint)cut->high) : 0;
        const uint64_t in_range = mask_from(keys + i, (kint)cut->low) & low_bits(n - i) & ~above;
        const uint64_t taken = first_bits(in_range, missing);
        hits[i / WORD] = above | taken;
        missing -= (size_t)__builtin_popcountll(taken);
    }
    return cut->above > k ? cut->above : k;
}

/* Ranks put few hits in order at once. Where they need no order, a bisection is soon faster: it only cuts off
 * the worst. */
static inline size_t ranked_max(bool sorted) {
    return sorted || (size_t)RANK_MAX < CUT_MIN ? RANK_MAX : CUT_MIN;
}

/* How many hits a row may have, where k are wanted. `ranked` hits or fewer are ranked, which costs least; but
 * a guess needs room enough. Else, if k is a large part of the row, more hits would cost more than an exact
 * search. */
static inline size_t room_for(size_t n, size_t k, size_t ranked) {
    const size_t room = hits_room(n, k);
    if (k + k / 4 <= ranked) {
        return room < ranked ? room : ranked;
    }
    return k > n / 3 ? k : room;
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

/* Few hits of a row: elements and slots in the order of positions, and ranks. */
struct few_hits {
    size_t count;
    wide_kint elements[RANK_MAX + WORD]; /* vectors may be written behind the last */
    uint32_t slots[RANK_MAX + WORD];     /* likewise */
    struct ranking ranking;
};

#ifdef HAVE_PACK_BEYOND
/* Moves the hits of a guess together as soon as they are found. Returns their number; or, where that is more
 * than there is room for, how many there were until then. */
static INLINE size_t pack_guess_as(const kint *elements, size_t n, size_t room,
                                   const struct point_map *point_map, const struct arc *not_above,
                                   bool by_magnitude, struct few_hits *few) {
    const struct arcs arcs = arcs_make(point_map, not_above, not_above);
    const bool sparse = room <= n / 4;
    size_t count = 0;
    for (size_t i = 0; i < n && count <= room; i += WORD) {
        const kint *word = elements + i;
        kint last[WORD];
        fetch_ahead(word);
        if (n - i < WORD) {
            memcpy(last, word, (n - i) * sizeof *last);
            word = last;
        }
        count += pack_beyond(&arcs, word, low_bits(n - i), (uint32_t)i, by_magnitude, sparse,
                             few->elements + count, few->slots + count);
    }
    return count;
}

static NO_INLINE size_t pack_guess(const kint *elements, size_t n, size_t room,
                                   const struct point_map *point_map, const struct arc *not_above,
                                   struct few_hits *few) {
    return points_by_magnitude(point_map)
               ? pack_guess_as(elements, n, room, point_map, not_above, true, few)
               : pack_guess_as(elements, n, room, point_map, not_above, false, few);
}
#endif

/* Moves the hits of a guess together, if there is room among the few, or masks them. Returns their number. */
static INLINE size_t guess_hits(const kint *elements, size_t n, size_t room, size_t ranked,
                                const struct point_map *point_map, const struct short_row *row,
                                struct few_hits *few) {
#ifdef HAVE_PACK_BEYOND
    if (room <= ranked) {
        few->count = pack_guess(elements, n, room, point_map, &row->not_above, few);
        return few->count;
    }
#endif
    const struct threshold_arcs guess = {row->not_above, row->not_above, 0};
    (void)room, (void)ranked, (void)few;
    return split(elements, n, point_map, &guess, row->hits, NULL).above;
}

/* Finds the hits of a row: k or more, and no more than there is room for. `ranked` or fewer are to be ranked.
 * Returns their number. They are masked, or, where few->count is not 0, moved together. */
static INLINE size_t find_hits(const void *elements, size_t n, size_t k, size_t ranked,
                               const struct maps *maps, struct short_row *row, struct few_hits *few) {
    const size_t room = room_for(n, k, ranked);
    few->count = 0;
    row->searched = row->equal = false;
    if (k == n) {
        for (size_t i = 0; i < n; i += WORD) {
            row->hits[i / WORD] = low_bits(n - i);
        }
        return n;
    }
    if (row->guesses && room > k) {
        const size_t hits = guess_hits(elements, n, room, ranked, maps->point, row, few);
        if (hits >= k && hits <= room) {
            TOPK_REACHED(REACHED_ROW_GUESSED);
            return hits;
        }
        few->count = 0;
        TOPK_REACHED(REACHED_ROW_MISSED);
    }
    return search_hits(elements, n, k, room, maps, row);
}

/* Keys of hits are made a few vectors at a time. */
static inline void rank_word(const wide_kint *restrict elements, const struct map *map, wide_kint first,
                             wide_kint count, wide_kint *restrict keys) {
    const struct map m = *map;
    for (wide_kint i = 0; i < RANKED_WORD; i++) {
        keys[i] = ranked_key(key_of((kint)elements[i], &m), first + i, count);
    }
}

/* Moves the masked hits of a row together; returns their number. */
static INLINE size_t pack_masked(const kint *elements, size_t n, const uint64_t *hits, bool sparse,
                                 struct few_hits *few) {
    size_t count = 0;
    for (size_t i = 0; i < n; i += WORD) {
        const kint *word = elements + i;
        kint last[WORD];
        if (n - i < WORD) {
            memcpy(last, word, (n - i) * sizeof *last);
            word = last;
        }
        count +=
            pack_hits(word, hits[i / WORD], (uint32_t)i, sparse, few->elements + count, few->slots + count);
    }
    return count;
}

/* Ranks `count` hits of a row, and moves them together first if they are masked. */
static INLINE void rank_hits(const kint *elements, size_t n, size_t count, const struct key_map *key_map,
                             const struct short_row *row, struct few_hits *few) {
    const struct map map = narrow(key_map);
    if (few->count == 0) {
        few->count = pack_masked(elements, n, row->hits, count <= n / 4, few);
    }
    for (size_t first = 0; first < count; first += RANKED_WORD) {
        rank_word(few->elements + first, &map, (wide_kint)first, (wide_kint)count, few->ranking.keys + first);
    }
    rank_keys(&few->ranking, count);
}

/* The slots of `count` hits of a row, best first: likewise moved together before. */
static INLINE const uint32_t *stub_hits(const kint *elements, size_t n, size_t count,
                                        const struct key_map *key_map, const struct short_row *row,
                                        struct few_hits *few) {
    const struct map map = narrow(key_map);
    kint *restrict keys = row->hit_keys[0];
    if (few->count == 0) {
        few->count = pack_masked(elements, n, row->hits, count <= n / 4, few);
    }
    for (size_t i = 0; i < count; i++) {
        keys[i] = key_of((kint)few->elements[i], &map);
    }
    return sort_pairs(keys, few->slots, count, row->entries, row->slots[1]);
}

/* The slots of few hits, best first. */
static INLINE const uint32_t *sorted_hits(const struct few_hits *few, const struct short_row *row) {
    uint32_t *best_slots = row->slots[1];
    for (size_t i = 0; i < few->count; i += RANKED_AT_ONCE) {
        for (size_t j = i; j < i + RANKED_AT_ONCE; j++) {
            const size_t rank = few->ranking.ranks[j];
            best_slots[rank] = few->slots[j];
        }
    }
    return best_slots;
}

/* The k best of few hits, in the order of positions. The last slots written may be of no result. */
static const uint32_t *best_hits(const struct few_hits *few, size_t k, const struct short_row *row) {
    uint32_t *best_slots = row->slots[1];
    size_t kept = 0;
    for (size_t i = 0; i < few->count; i++) {
        best_slots[kept] = few->slots[i];
        kept += few->ranking.ranks[i] < k;
    }
    return best_slots;
}

/* Lists the keys and the slots of many hits. Returns the slots; NULL if the hits are the whole row, where
 * each has its own number. */
static const uint32_t *list_hits(const kint *elements, size_t n, size_t count, const struct key_map *key_map,
                                 const struct short_row *row) {
    const struct map map = narrow(key_map);
    const size_t words = words_of(n), room = words_of(count) * WORD;
    kint *restrict keys = row->hit_keys[0];
    if (count == n) {
        encode_padded(elements, n, key_map, keys);
        return NULL;
    }
    (void)positions32(row->hits, words, 0, row->slots[0], room);
    (void)take(row->searched ? row->keys : elements, row->hits, words, keys, room);
    for (size_t i = 0; !row->searched && i < count; i++) {
        keys[i] = key_of(keys[i], &map);
    }
    memset(keys + count, 0, WORD * sizeof *keys);
    return row->slots[0];
}

/* The slots of the k best among the listed hits, in the order of positions. */
static void cut_list(const struct short_row *row, const uint32_t *listed, size_t count, size_t k) {
    uint32_t *slots = row->slots[1];
    const struct cut cut = exact_cut(row->hit_keys[0], count, k, k);
    (void)mask_cut(row->hit_keys[0], count, k, &cut, row->hits);
    (void)positions32(row->hits, words_of(count), 0, slots, k);
    for (size_t i = 0; listed != NULL && i < k; i++) {
        slots[i] = listed[slots[i]];
    }
}

/* kernels.h */
static const uint32_t *select_short(const void *elements, size_t n, size_t k, const struct maps *maps,
                                    const struct approximation *approximation, bool sorted,
                                    struct short_row *row) {
    const size_t ranked = ranked_max(sorted);
    size_t count = k;
    struct few_hits few;
    few.count = 0;
    if (approximation == NULL || k == n) {
        count = find_hits(elements, n, k, ranked, maps, row, &few);
    } else {
        kint least, greatest;
        encode_extremes(elements, n, maps->key, row->keys, &least, &greatest);
        row->searched = true;
        row->equal = false;
        const struct cut cut = approximate_cut(row->keys, n, k, least, greatest, approximation);
        (void)mask_cut(row->keys, n, k, &cut, row->hits);
    }
    if (few.count == 0 && count == k && (!sorted || row->equal)) {
        (void)positions32(row->hits, words_of(n), 0, row->slots[0], (words_of(k) + 1) * WORD);
        return row->slots[0];
    }
    if (sorted && count >= STUBS_MIN && count <= ranked) {
        TOPK_REACHED(REACHED_ROW_STUBS);
        return stub_hits(elements, n, count, maps->key, row, &few);
    }
    if (count <= ranked) {
        TOPK_REACHED(REACHED_ROW_FEW);
        rank_hits(elements, n, count, maps->key, row, &few);
        return sorted ? sorted_hits(&few, row) : best_hits(&few, k, row);
    }
    const uint32_t *listed = list_hits(elements, n, count, maps->key, row);
    if (sorted) {
        TOPK_REACHED(REACHED_ROW_MANY);
        return sort_pairs(row->hit_keys[0], listed, count, row->entries, row->slots[1]);
    }
    cut_list(row, listed, count, k);
    return row->slots[1];
}

/* kernels.h */
static struct kth kth_short(const void *elements, size_t n, size_t k, const struct maps *maps,
                            struct short_row *row) {
    const struct map map = narrow(maps->key);
    struct few_hits few;
    const size_t ranked = ranked_max(false), count = find_hits(elements, n, k, ranked, maps, row, &few);
    kint *keys = row->hit_keys[0];
    struct kth kth = {0, 0, 0};
    if (count <= ranked) {
        rank_hits(elements, n, count, maps->key, row, &few);
        kth.key = key_of(((const kint *)elements)[sorted_hits(&few, row)[k - 1]], &map);
        for (size_t i = 0; i < count; i++) {
            keys[i] = key_of((kint)few.elements[i], &map);
        }
    } else {
        (void)list_hits(elements, n, count, maps->key, row);
        kth.key = bisect(keys, count, k, 0).key;
    }
    /* A search may have left out equal keys. */
    const size_t keyed = row->searched ? n : count;
    keys = row->searched ? row->keys : keys;
    for (size_t i = 0; i < keyed; i += WORD) {
        const uint64_t above = mask_above(keys + i, (kint)kth.key);
        const uint64_t equal = mask_from(keys + i, (kint)kth.key) & ~above & low_bits(keyed - i);
        kth.above += (size_t)__builtin_popcountll(above & low_bits(keyed - i));
        kth.equal += (size_t)__builtin_popcountll(equal);
    }
    return kth;
}

#endif
