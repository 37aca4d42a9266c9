/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting by stubs and at once, and the network below, of one key width and instruction set: as many elements
 * as vectors, networks and digits hold, a few more and fewer, and codes that are equal, crowded or far
 * apart. */
#include "cpu/kernels/kernels.c"

#include "check.h"
#include "stubs.h"

enum { CODES_MAX = 5000 };

static kint codes[CODES_MAX];
static uint32_t stubs[CODES_MAX + 1], others[CODES_MAX];

static uint64_t random_number(void) {
    static uint64_t state;
    return hash_mix(++state);
}

enum shape { EVEN, NARROW, EQUAL, CLASSES, CROWDED, EXTREME, CLUSTERS, HALVED, SHAPES };

static kint code_of(enum shape shape, size_t i) {
    const uint64_t random = random_number();
    switch (shape) {
    case EVEN:
        return (kint)random;
    case NARROW: /* a few bits more than stubs have room for */
        return (kint)(random & ((kint)UINT64_MAX >> KEY_BITS / 3));
    case EQUAL:
        return 7;
    case CLASSES:
        return (kint)(random % 3);
    case CROWDED: /* neighbours, but for one far away */
        return i == 0 ? (kint)UINT64_MAX : (kint)(random % 100);
    case CLUSTERS: /* far apart, by the leading bits; neighbours in each differ in the last */
        return (kint)((random % 5 << (KEY_BITS - 3)) + (random >> 40 & (kint)UINT64_MAX >> KEY_BITS / 2));
    case HALVED: /* each half as dense as the one above, as numbers are that floats stand for */
        return (kint)((kint)random >> random_number() % KEY_BITS);
    default: /* the least and the greatest, as complements of NaN and of zeros may be */
        return random % 2 == 0 ? (kint)UINT64_MAX : 0;
    }
}

static void check_sort(size_t n, enum shape shape) {
    struct code_range range = {(kint)UINT64_MAX, 0};
    for (size_t i = 0; i < n; i++) {
        codes[i] = code_of(shape, i);
        range.least = codes[i] < range.least ? codes[i] : range.least;
        range.greatest = codes[i] > range.greatest ? codes[i] : range.greatest;
    }
    const struct stubs s = {codes, stubs, others, number_width(n)};
    stubs[n] = 12345;
    sort_codes(&s, n, range);
    static bool seen[CODES_MAX];
    memset(seen, 0, sizeof seen);
    bool right = true;
    for (size_t i = 0; i < n; i++) {
        const size_t number = stub_number(&s, i);
        right &= number < n && !seen[number];
        if (!right) {
            break;
        }
        seen[number] = true;
        const size_t before = i > 0 ? stub_number(&s, i - 1) : number;
        right &= codes[before] < codes[number] || (codes[before] == codes[number] && before <= number);
    }
    CHECK(right);
    CHECK(stubs[n] == 12345);
}

static void check_network(size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        stubs[i] = (uint32_t)random_number() >> (random_number() % 32);
        sum += stubs[i];
    }
    stubs[n] = 12345;
    SORT_NETWORK(stubs, n);
    for (size_t i = 0; i < n; i++) {
        CHECK(i == 0 || stubs[i - 1] <= stubs[i]);
        sum -= stubs[i];
    }
    CHECK(sum == 0);
    CHECK(stubs[n] == 12345);
}

/* Zeros and ones alone: a network that sorts all of these sorts everything. */
static void check_zeros_and_ones(size_t n) {
    for (size_t ones = 0; ones <= n; ones++) {
        for (size_t i = 0; i < n; i++) {
            stubs[i] = 0;
        }
        for (size_t left = ones; left > 0;) {
            const size_t i = random_number() % n;
            left -= stubs[i] == 0;
            stubs[i] = 1;
        }
        SORT_NETWORK(stubs, n);
        for (size_t i = 0; i < n; i++) {
            CHECK(stubs[i] == (i >= n - ones));
        }
    }
}

/* Pairs whose slots are given, and pairs that are numbered by themselves. */
static void check_pairs(size_t n, enum shape shape) {
    static kint keys[CODES_MAX], sorted_keys[CODES_MAX];
    static uint32_t slots[CODES_MAX], sorted[2][CODES_MAX + 1];
    static uint64_t entries[2][CODES_MAX];
    uint64_t *const both[2] = {entries[0], entries[1]};
    for (size_t i = 0; i < n; i++) {
        keys[i] = code_of(shape, i);
        slots[i] = (uint32_t)(3 * i + 1);
    }
    for (int numbered = 0; numbered < 2; numbered++) {
        memcpy(sorted_keys, keys, n * sizeof *keys);
        sorted[numbered][n] = 12345;
        CHECK(sort_pairs(sorted_keys, numbered ? NULL : slots, n, both, sorted[numbered]) ==
              sorted[numbered]);
        CHECK(sorted[numbered][n] == 12345);
    }
    bool right = true;
    for (size_t i = 0; i < n && right; i++) {
        const size_t number = sorted[1][i], before = i > 0 ? sorted[1][i - 1] : number;
        right = number < n && sorted[0][i] == 3 * number + 1 &&
                (i == 0 || keys[before] > keys[number] || (keys[before] == keys[number] && before < number));
    }
    CHECK(right);
}

/* Where sort_listed() hands what it has sorted. */
struct handed {
    const struct key_map *map;
    const kint *elements;
    size_t count;
    bool in_order; /* of places */
};

static kint listed_values[CODES_MAX + 1];
static uint32_t listed_slots[CODES_MAX + HANDED_AT_ONCE];

static void take_listed(void *argument, const struct list *list, size_t begin, size_t place, size_t n) {
    struct handed *handed = argument;
    handed->in_order &= place == handed->count && place + n <= CODES_MAX;
    if (handed->in_order) {
        decode_list(list, begin, n, handed->map, handed->elements, listed_values + place,
                    listed_slots + place);
        handed->count += n;
    }
}

/* Elements of a row that are sorted at once: all of them, or every third one, in two runs. */
static void check_listed(size_t n, enum shape shape, bool whole) {
    static kint row[3 * CODES_MAX], values[CODES_MAX];
    static uint32_t slots[CODES_MAX];
    static uint64_t entries[2][CODES_MAX + 1];
    const struct list lists[2] = {{entries[0], NULL}, {entries[1], NULL}};
    const struct key_map map = {.keep = UINT64_MAX, .magnitude = UINT64_MAX, .largest_number = UINT64_MAX};
    const size_t step = whole ? 1 : 3, half = n / 2;
    struct code_span span = {UINT64_MAX, 0};
    struct handed handed = {.map = &map, .elements = row, .in_order = true};
    for (size_t i = 0; i < n; i++) {
        slots[i] = (uint32_t)(i * step);
        values[i] = row[i * step] = code_of(shape, i);
    }
    entries[0][n] = entries[1][n] = 12345;
    widen_span(values, half, &map, &span);
    widen_span(values + half, n - half, &map, &span);
    list_entries(values, whole ? NULL : slots, 0, half, &map, &span, entries[0]);
    list_entries(values + half, whole ? NULL : slots + half, (uint32_t)half, n - half, &map, &span,
                 entries[0] + half);
    sort_listed(lists, n, &span, row, &map, take_listed, &handed);
    bool right = handed.in_order && handed.count == n;
    for (size_t i = 0; i < n && right; i++) {
        const uint32_t slot = listed_slots[i], before = i > 0 ? listed_slots[i - 1] : slot;
        right = slot % step == 0 && slot / step < n && listed_values[i] == row[slot] &&
                (i == 0 || row[before] > row[slot] || (row[before] == row[slot] && before < slot));
    }
    CHECK(right);
    CHECK(entries[0][n] == 12345 && entries[1][n] == 12345);
}

int check_stubs(void) {
    static const size_t lengths[] = {1,   2,    3,    7,    8,    9,    31,   32,   33,   63,
                                     64,  65,   127,  128,  129,  255,  256,  257,  511,  512,
                                     513, 1000, 1023, 1024, 1025, 2047, 2048, 4095, 4096, 4999};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int shape = 0; shape < SHAPES; shape++) {
            check_sort(lengths[i], (enum shape)shape);
            check_pairs(lengths[i], (enum shape)shape);
            check_listed(lengths[i], (enum shape)shape, false);
            check_listed(lengths[i], (enum shape)shape, true);
        }
        if (lengths[i] <= NETWORK_MAX) {
            check_network(lengths[i]);
        }
    }
    for (size_t n = 1; n <= 150; n++) {
        check_network(n);
        check_sort(n, EVEN);
        check_sort(n, CLASSES);
    }
    for (size_t n = 32; n <= 256; n *= 2) {
        check_zeros_and_ones(n);
    }
    return check_report();
}
