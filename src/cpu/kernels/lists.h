/* SPDX-License-Identifier: Apache-2.0
 * Lists of entries that do not fit in the cache: into buckets, and bucket by bucket in order. Part of
 * kernels.c. */
#ifndef TOPK_SRC_CPU_KERNELS_LISTS_H
#define TOPK_SRC_CPU_KERNELS_LISTS_H

enum { ENTRIES_AHEAD = 16 }; /* of a bucket, two lines of them or one of slots */

/* The codes of up to WORD elements, and their prefixes. */
static inline void word_codes(const kint *elements, size_t n, const struct map *map,
                              const struct prefixes *prefixes, kint *restrict codes, kint *restrict prefix) {
    const kint low = (kint)prefixes->low;
    const kint last = prefixes->last < topk_ones(KEY_BITS) ? (kint)prefixes->last : (kint)UINT64_MAX;
    const unsigned shift = prefixes->shift;
    if (n == WORD) {
        word_keys(elements, map, codes);
    } else {
        part_keys(elements, n, map, codes);
    }
    for (unsigned i = 0; i < WORD; i++) {
        const kint code = (kint)~codes[i], above = (kint)((code > low ? code : low) - low);
        const kint steps = (kint)(above >> shift);
        codes[i] = code;
        prefix[i] = steps < last ? steps : last;
    }
}

/* kernels.h */
static void count_prefixes(const void *values, size_t n, const struct key_map *key_map,
                           const struct prefixes *prefixes, uint32_t *counts) {
    const struct map map = narrow(key_map);
    const struct prefixes p = *prefixes;
    const kint *elements = values;
    for (size_t i = 0; i < n; i += WORD) {
        kint codes[WORD] __attribute__((aligned(64))), prefix[WORD] __attribute__((aligned(64)));
        const size_t rest = n - i < WORD ? n - i : WORD;
        word_codes(elements + i, rest, &map, &p, codes, prefix);
        for (size_t j = 0; j < rest; j++) {
            counts[prefix[j]]++;
        }
    }
}

/* Puts an entry where it belongs. Stores go on in their order, so one that has to fetch its line holds up the
 * others: the bucket's lines are fetched before their turn. */
static inline void put_entry(const struct list *list, const struct dealing *d, size_t bucket, kint code,
                             uint32_t slot) {
    const size_t at = d->offsets[bucket]++;
    __builtin_prefetch(list->entries + at + ENTRIES_AHEAD, 1);
#if KEY_BITS == 64
    __builtin_prefetch(list->slots + at + ENTRIES_AHEAD, 1);
    list->entries[at] = code;
    list->slots[at] = slot;
#else
    (void)slot;
    list->entries[at] = (uint64_t)code << CODE_SHIFT | slot;
#endif
}

/* The last line of entries, or of slots, that ends before `end`, from the bucket's begin on: whole lines go
 * around the cache. */
static inline void put_line(void *array, const void *line, size_t width, size_t begin, size_t end) {
    const size_t each = LINE / width, whole = (end - 1) / each * each, from = whole > begin ? whole : begin;
    if (end - from == each) {
        store_line((char *)array + from * width, line);
    } else {
        memcpy((char *)array + from * width, (const char *)line + (from - whole) * width,
               (end - from) * width);
    }
}

/* Collects entries of a bucket until they are a line of its memory: else each entry would fetch a line, and
 * look up a page. */
static inline void collect_entry(const struct list *list, const struct dealing *d, size_t bucket, kint code,
                                 uint32_t slot) {
    const size_t at = d->offsets[bucket]++;
    uint64_t *entries = d->lines + bucket * (LINE / sizeof(uint64_t));
#if KEY_BITS == 64
    uint32_t *slots = d->slot_lines + bucket * (LINE / sizeof(uint32_t));
    entries[at % (LINE / sizeof(uint64_t))] = code;
    slots[at % (LINE / sizeof(uint32_t))] = slot;
    if ((at + 1) % (LINE / sizeof(uint32_t)) == 0) {
        put_line(list->slots, slots, sizeof(uint32_t), d->begins[bucket], at + 1);
    }
#else
    entries[at % (LINE / sizeof(uint64_t))] = (uint64_t)code << CODE_SHIFT | slot;
#endif
    if ((at + 1) % (LINE / sizeof(uint64_t)) == 0) {
        put_line(list->entries, entries, sizeof(uint64_t), d->begins[bucket], at + 1);
    }
}

/* kernels.h */
static void finish_dealing(const struct dealing *d, size_t buckets, const struct list *list) {
    for (size_t bucket = 0; bucket < buckets; bucket++) {
        const size_t begin = d->begins[bucket], end = d->offsets[bucket];
        if (end > begin && end % (LINE / sizeof(uint64_t)) != 0) {
            put_line(list->entries, d->lines + bucket * (LINE / sizeof(uint64_t)), sizeof(uint64_t), begin,
                     end);
        }
#if KEY_BITS == 64
        if (end > begin && end % (LINE / sizeof(uint32_t)) != 0) {
            put_line(list->slots, d->slot_lines + bucket * (LINE / sizeof(uint32_t)), sizeof(uint32_t), begin,
                     end);
        }
#endif
    }
    lines_stored();
}

static INLINE void deal_word(const kint *codes, const kint *prefix, size_t n, const uint32_t *slots,
                             uint32_t first, const struct dealing *d, const struct list *list,
                             bool collects) {
    for (size_t j = 0; j < n; j++) {
        const size_t bucket = d->buckets[prefix[j]];
        const uint32_t slot = slots != NULL ? slots[j] : first + (uint32_t)j;
        if (collects) {
            collect_entry(list, d, bucket, codes[j], slot);
        } else {
            put_entry(list, d, bucket, codes[j], slot);
        }
    }
}

/* kernels.h */
static void deal_entries(const void *values, const uint32_t *slots, uint32_t first, size_t n,
                         const struct key_map *key_map, const struct prefixes *prefixes,
                         const struct dealing *dealing, const struct list *list) {
    const struct map map = narrow(key_map);
    const struct prefixes p = *prefixes;
    const struct dealing d = *dealing;
    const struct list to = *list;
    const kint *elements = values;
    for (size_t i = 0; i < n; i += WORD) {
        kint codes[WORD] __attribute__((aligned(64))), prefix[WORD] __attribute__((aligned(64)));
        const size_t rest = n - i < WORD ? n - i : WORD;
        const uint32_t *word_slots = slots != NULL ? slots + i : NULL;
        word_codes(elements + i, rest, &map, &p, codes, prefix);
        if (d.lines != NULL) {
            deal_word(codes, prefix, rest, word_slots, first + (uint32_t)i, &d, &to, true);
        } else {
            deal_word(codes, prefix, rest, word_slots, first + (uint32_t)i, &d, &to, false);
        }
    }
}

static inline kint code_at(const struct list *list, size_t at) {
#if KEY_BITS == 64
    return list->entries[at];
#else
    return (kint)entry_code(list->entries[at]);
#endif
}

/* Comparing whole entries takes no shift. */
static struct code_range range_of(const struct list *list, size_t begin, size_t n) {
    const uint64_t *entries = list->entries + begin;
    uint64_t least = UINT64_MAX, greatest = 0;
    for (size_t i = 0; i < n; i++) {
        least = entries[i] < least ? entries[i] : least;
        greatest = entries[i] > greatest ? entries[i] : greatest;
    }
#if KEY_BITS == 64
    return (struct code_range){least, greatest};
#else
    return (struct code_range){(kint)entry_code(least), (kint)entry_code(greatest)};
#endif
}

/* Puts n entries of the range in order, which are few enough for the cache, and hands them on. */
static void sort_in_cache(const struct list *list, size_t begin, size_t n, struct code_range range,
                          uint64_t *scratch, size_t in_cache, list_function sorted, void *argument) {
#if KEY_BITS == 64
    /* Entries stay where they are, and are copied as they are handed on. */
    uint32_t *stubs = (uint32_t *)scratch;
    const struct stubs s = {list->entries + begin, stubs, stubs + in_cache, number_width(n)};
    uint64_t entries[HANDED_AT_ONCE];
    uint32_t slots[HANDED_AT_ONCE];
    const struct list handed = {entries, slots};
    sort_codes(&s, n, range);
    for (size_t at = 0; at < n; at += HANDED_AT_ONCE) {
        const size_t count = n - at < HANDED_AT_ONCE ? n - at : HANDED_AT_ONCE;
        for (size_t i = 0; i < count; i++) {
            const size_t number = begin + stub_number(&s, at + i);
            entries[i] = list->entries[number];
            slots[i] = list->slots[number];
        }
        sorted(argument, &handed, 0, begin + at, count);
    }
#else
    (void)in_cache;
    sort_entries(list->entries + begin, scratch, n, range.least, range.greatest);
    sorted(argument, list, begin, begin, n);
#endif
}

enum { PART_BITS_MAX = 8 };

/* Deals n entries to the other list, by up to PART_BITS_MAX leading bits of their range; ends[i] is where
 * part i ends. Returns the number of parts. */
static size_t deal_parts(const struct list lists[2], int from, size_t begin, size_t n, size_t in_cache,
                         struct code_range range, uint32_t *ends) {
    const unsigned wanted = bit_width(n / (in_cache / 4)),
                   width = bit_width((kint)(range.greatest - range.least));
    const unsigned bits = wanted < PART_BITS_MAX ? wanted : PART_BITS_MAX,
                   shift = width > bits ? width - bits : 0;
    const struct list source = lists[from], to = lists[1 - from];
    const size_t parts = (size_t)((kint)(range.greatest - range.least) >> shift) + 1;
    uint32_t sum = (uint32_t)begin;
    memset(ends, 0, parts * sizeof *ends);
    for (size_t i = begin; i < begin + n; i++) {
        ends[(kint)(code_at(&source, i) - range.least) >> shift]++;
    }
    for (size_t i = 0; i < parts; i++) {
        const uint32_t count = ends[i];
        ends[i] = sum;
        sum += count;
    }
    for (size_t i = begin; i < begin + n; i++) {
        const kint code = code_at(&source, i);
        const size_t at = ends[(kint)(code - range.least) >> shift]++;
        to.entries[at] = source.entries[i];
#if KEY_BITS == 64
        to.slots[at] = source.slots[i];
#endif
    }
    return parts;
}

/* kernels.h. Each round leaves a part of the range, by three bits or more, so there are few. */
static void sort_list(const struct list lists[2], int from, size_t begin, size_t n, uint64_t *scratch,
                      size_t in_cache, list_function sorted, void *argument) {
    const struct code_range range = range_of(&lists[from], begin, n);
    uint32_t ends[1 << PART_BITS_MAX];
    if (range.least == range.greatest) {
        sorted(argument, &lists[from], begin, begin, n);
        return;
    }
    if (n <= in_cache) {
        sort_in_cache(&lists[from], begin, n, range, scratch, in_cache, sorted, argument);
        return;
    }
    TOPK_REACHED(REACHED_SORT_PARTS);
    const size_t parts = deal_parts(lists, from, begin, n, in_cache, range, ends);
    for (size_t i = 0; i < parts; begin = ends[i], i++) {
        if (ends[i] > begin) {
            sort_list(lists, 1 - from, begin, ends[i] - begin, scratch, in_cache, sorted, argument);
        }
    }
}

/* Elements from their keys. True if each key says what the bits are. */
static INLINE bool decode_keys(const uint64_t *restrict entries, size_t n, const struct key_map *map,
                               bool is_float, kint *restrict out) {
    const kint positive = (kint)map->flip_positive, change = (kint)(map->flip_positive ^ map->flip_negative);
    const kint zero = (kint)map->zero_key, nan = (kint)map->nan_key;
    kint classes = 0;
    for (size_t i = 0; i < n; i++) {
        const kint key = (kint) ~(KEY_BITS == 64 ? entries[i] : entry_code(entries[i]));
        const kint bits = key ^ positive, negative = (kint)(0 - (bits >> (KEY_BITS - 1)));
        out[i] = bits ^ (negative & change);
        if (is_float) {
            classes |= (kint)((key == zero) | (key == nan));
        }
    }
    return classes == 0;
}

/* kernels.h */
static void decode_list(const struct list *list, size_t begin, size_t n, const struct key_map *map,
                        const void *elements, void *values, uint32_t *restrict slots) {
    const uint64_t *entries = list->entries + begin;
    const kint zero = (kint)map->zero_key, nan = (kint)map->nan_key;
    const bool exact = (kint)map->keep == (kint)UINT64_MAX && (kint)map->add_negative == 0;
    const bool is_float = (kint)map->magnitude != (kint)UINT64_MAX;
    kint *out = values;
    for (size_t i = 0; i < n; i++) {
        slots[i] = KEY_BITS == 64 ? list->slots[begin + i] : (uint32_t)entries[i];
    }
    if (values == NULL) {
        return;
    }
    if (exact &&
        (is_float ? decode_keys(entries, n, map, true, out) : decode_keys(entries, n, map, false, out))) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const kint key = (kint)~code_at(list, begin + i);
        if (!exact || key == zero || key == nan) {
            out[i] = ((const kint *)elements)[slots[i]];
        }
    }
}

#endif
