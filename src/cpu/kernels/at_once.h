/* SPDX-License-Identifier: Apache-2.0
 * Results that are sorted at once, without buckets: their entries still lie near the processor. Part of
 * kernels.c.
 *
 * An entry has the leading 32 bits of its code's range above its slot. Codes of 64 bits may differ in the
 * bits below. Those that the leading bits leave together are sorted again, by their own range, and their
 * elements say what it is: a slot names an element of the row. Each round takes 32 bits, so there are two at
 * most. */
#ifndef TOPK_SRC_CPU_KERNELS_AT_ONCE_H
#define TOPK_SRC_CPU_KERNELS_AT_ONCE_H

/* kernels.h */
static void widen_span(const void *values, size_t n, const struct key_map *key_map, struct code_span *span) {
    const struct map map = narrow(key_map);
    const kint *elements = values;
    kint low = (kint)~span->greatest, high = (kint)~span->least;
    for (size_t i = 0; i < n; i++) {
        const kint key = key_of(elements[i], &map);
        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    *span = (struct code_span){(kint)~high, (kint)~low};
}

/* What codes of the span begin at, and how far they are shifted: narrow codes are entered as they are. */
static inline kint span_base(const struct code_span *span) {
    return KEY_BITS == 64 ? (kint)span->least : 0;
}

static inline unsigned span_shift(const struct code_span *span) {
    const unsigned range = bit_width(span->greatest - span->least);
    return KEY_BITS == 64 && range > CODE_SHIFT ? range - CODE_SHIFT : 0;
}

static inline uint64_t entry_of(kint code, uint32_t slot, kint base, unsigned shift) {
    return (uint64_t)((kint)(code - base) >> shift) << CODE_SHIFT | slot;
}

/* kernels.h */
static void list_entries(const void *values, const uint32_t *slots, uint32_t first, size_t n,
                         const struct key_map *key_map, const struct code_span *span,
                         uint64_t *restrict entries) {
    const struct map map = narrow(key_map);
    const kint *elements = values, base = span_base(span);
    const unsigned shift = span_shift(span);
    if (slots != NULL) {
        for (size_t i = 0; i < n; i++) {
            entries[i] = entry_of((kint)~key_of(elements[i], &map), slots[i], base, shift);
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            entries[i] = entry_of((kint)~key_of(elements[i], &map), first + (uint32_t)i, base, shift);
        }
    }
}

#if KEY_BITS == 64

/* Elements that slots name. */
struct row {
    const kint *elements;
    struct map map;
};

static inline kint slot_code(const struct row *row, uint64_t entry) {
    return (kint)~key_of(row->elements[(uint32_t)entry], &row->map);
}

static void insert_slots(const struct row *row, uint64_t *entries, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const uint64_t entry = entries[i];
        const kint code = slot_code(row, entry);
        size_t at = i;
        for (; at > 0 && slot_code(row, entries[at - 1]) > code; at--) {
            entries[at] = entries[at - 1];
        }
        entries[at] = entry;
    }
}

/* Sorts n entries with the same leading bits by their elements. */
static void sort_slots(const struct row *row, uint64_t *entries, uint64_t *others, size_t n) {
    if (n <= INSERTED_MAX) {
        insert_slots(row, entries, n);
        return;
    }
    struct code_span span = {UINT64_MAX, 0};
    for (size_t i = 0; i < n; i++) {
        const kint code = slot_code(row, entries[i]);
        span.least = code < span.least ? code : span.least;
        span.greatest = code > span.greatest ? code : span.greatest;
    }
    for (size_t i = 0; i < n; i++) {
        entries[i] = entry_of(slot_code(row, entries[i]), (uint32_t)entries[i], span.least, 0);
    }
    sort_entries(entries, others, n, 0, span.greatest - span.least);
}

/* Puts codes in order that sorted entries leave together. */
static void sort_together(const struct row *row, uint64_t *entries, uint64_t *others, size_t n) {
    for (size_t i = 1; i < n; i++) {
        if (entry_code(entries[i]) != entry_code(entries[i - 1])) {
            continue;
        }
        const size_t begin = i - 1;
        bool sorted = true;
        for (; i < n && entry_code(entries[i]) == entry_code(entries[begin]); i++) {
            sorted &= slot_code(row, entries[i]) >= slot_code(row, entries[i - 1]);
        }
        if (!sorted) {
            sort_slots(row, entries + begin, others, i - begin);
        }
    }
}

#endif

/* kernels.h */
static void sort_listed(const struct list lists[2], size_t n, const struct code_span *span,
                        const void *elements, const struct key_map *key_map, list_function sorted,
                        void *argument) {
    uint64_t *entries = lists[0].entries, *others = lists[1].entries;
    const kint base = span_base(span);
    const unsigned shift = span_shift(span);
    sort_entries(entries, others, n, (kint)(span->least - base) >> shift,
                 (kint)(span->greatest - base) >> shift);
#if KEY_BITS == 64
    const struct row row = {elements, narrow(key_map)};
    uint64_t codes[HANDED_AT_ONCE];
    uint32_t slots[HANDED_AT_ONCE];
    const struct list handed = {codes, slots};
    if (shift > 0) {
        sort_together(&row, entries, others, n);
    }
    for (size_t at = 0; at < n; at += HANDED_AT_ONCE) {
        const size_t count = n - at < HANDED_AT_ONCE ? n - at : HANDED_AT_ONCE;
        for (size_t i = 0; i < count; i++) {
            codes[i] = slot_code(&row, entries[at + i]);
            slots[i] = (uint32_t)entries[at + i];
        }
        sorted(argument, &handed, 0, at, count);
    }
#else
    (void)elements, (void)key_map;
    sorted(argument, &lists[0], 0, 0, n);
#endif
}

#endif
