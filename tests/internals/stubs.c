/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting by stubs, and the network below it, of one key width and instruction set: as many elements as
 * vectors, networks and digits hold, a few more and fewer, and codes that are equal, crowded or far apart. */
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

enum shape { EVEN, NARROW, EQUAL, CLASSES, CROWDED, EXTREME, SHAPES };

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

int check_stubs(void) {
    static const size_t lengths[] = {1,   2,    3,    7,    8,    9,    31,   32,   33,   63,
                                     64,  65,   127,  128,  129,  255,  256,  257,  511,  512,
                                     513, 1000, 1023, 1024, 1025, 2047, 2048, 4095, 4096, 4999};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int shape = 0; shape < SHAPES; shape++) {
            check_sort(lengths[i], (enum shape)shape);
            check_pairs(lengths[i], (enum shape)shape);
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
