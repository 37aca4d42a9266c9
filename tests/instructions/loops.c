/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs an inner loop of the CPU backend on ELEMENTS elements a number of times, so that a simulator can count
 * its instructions: count.py. Floats lie evenly between 1/2 and 2, of either sign.
 *
 * usage: loops SET LOOP BITS TIMES */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/kernels/kernels.h"

enum { ELEMENTS = 8192, WORDS = ELEMENTS / WORD, TOP = ELEMENTS / 64, ROW = 256, ROW_K = 32, BINS = 2048 };

#define SET(name)                                                                                            \
    extern const struct kernels topk_cpu_kernels_##name##_8, topk_cpu_kernels_##name##_16,                   \
        topk_cpu_kernels_##name##_32, topk_cpu_kernels_##name##_64;
#define ROW_OF(name)                                                                                         \
    {                                                                                                        \
#name, {                                                                                             \
            &topk_cpu_kernels_##name##_8, &topk_cpu_kernels_##name##_16, &topk_cpu_kernels_##name##_32,      \
                &topk_cpu_kernels_##name##_64                                                                \
        }                                                                                                    \
    }
SET(scalar)
#if defined(__x86_64__)
SET(avx2)
SET(avx512)
#elif defined(__aarch64__)
SET(neon)
#endif

static const struct {
    const char *name;
    const struct kernels *kernels[4];
} sets[] = {
    ROW_OF(scalar),
#if defined(__x86_64__)
    ROW_OF(avx2),
    ROW_OF(avx512),
#elif defined(__aarch64__)
    ROW_OF(neon),
#endif
};

/* What loops read and write, of any width. */
static uint64_t elements[ELEMENTS + WORD], keys[ELEMENTS + WORD], outputs[ELEMENTS + WORD];
static uint64_t masks[2][WORDS], half[WORDS], few[WORDS], bins[BINS];
static uint32_t tables[DIGIT_TABLES * BINS];
static size_t half_count, few_count;

struct loops {
    const struct kernels *kernels;
    struct key_map key_map;
    struct point_map point_map;
    struct threshold_arcs arcs; /* of the TOP best */
    uint64_t least, greatest;   /* keys */
    unsigned shift;             /* to 1024 bins */
    struct order order;
};

static void fill(unsigned bits) {
    for (size_t i = 0; i < ELEMENTS; i++) {
        const uint64_t random = hash_mix(i + 1);
        switch (bits) {
        case 8:
            ((uint8_t *)elements)[i] = (uint8_t)((random & 0x87) | 0x38);
            break;
        case 16:
            ((uint16_t *)elements)[i] = (uint16_t)((random & 0x87ff) | 0x3800);
            break;
        case 32:
            ((uint32_t *)elements)[i] = (uint32_t)(random & 0x80ffffff) | 0x3f000000;
            break;
        default:
            elements[i] = (random & 0x801fffffffffffff) | 0x3fe0000000000000;
        }
        half[i / WORD] |= (random >> 40 & 1) << i % WORD;
        few[i / WORD] |= (uint64_t)((random >> 41 & 63) == 0) << i % WORD;
    }
    for (size_t w = 0; w < WORDS; w++) {
        half_count += (size_t)__builtin_popcountll(half[w]);
        few_count += (size_t)__builtin_popcountll(few[w]);
    }
}

static struct loops loops_of(const struct kernels *kernels, bool by_magnitude) {
    static const topk_type types[] = {TOPK_F8_E4M3, TOPK_F16, TOPK_F32, TOPK_F64};
    struct loops l = {.kernels = kernels};
    l.order = (struct order){types[__builtin_ctz(kernels->bits / 8)], TOPK_LARGEST,
                             by_magnitude ? TOPK_BY_MAGNITUDE : TOPK_BY_VALUE, true};
    l.key_map = topk_key_map(&l.order);
    l.point_map = topk_point_map(&l.order);
    kernels->encode(elements, ELEMENTS, &l.key_map, keys);
    l.arcs = topk_threshold_arcs(&l.order, kernels->bisect(keys, ELEMENTS, TOP, 0).key);
    l.least = kernels->bisect(keys, ELEMENTS, ELEMENTS, 0).key;
    l.greatest = kernels->bisect(keys, ELEMENTS, 1, 0).key;
    while ((l.greatest - l.least) >> l.shift >= BINS / 2) {
        l.shift++;
    }
    return l;
}

/* Rows that resemble each other: most are served by the threshold of the one before. */
static void select_rows(const struct loops *l, bool sorted) {
    static uint64_t hits[ELEMENTS], hit_keys[2][ELEMENTS], entries[2][ELEMENTS];
    static uint32_t slots[2][ELEMENTS];
    static struct short_row row;
    const struct maps maps = {&l->key_map, &l->point_map};
    row.keys = outputs;
    row.hits = hits;
    for (int i = 0; i < 2; i++) {
        row.hit_keys[i] = hit_keys[i];
        row.entries[i] = entries[i];
        row.slots[i] = slots[i];
    }
    for (size_t i = 0; i < ELEMENTS; i += ROW) {
        const char *begin = (const char *)elements + i * l->kernels->bits / 8;
        (void)l->kernels->select_short(begin, ROW, ROW_K, &maps, NULL, sorted, &row);
        if (row.searched && row.guesses) {
            row.not_above = topk_threshold_arcs(&l->order, row.threshold).not_above;
        }
    }
}

static bool is(const char *name, const char *loop) {
    return strcmp(name, loop) == 0;
}

/* False: there is no loop of that name. */
static bool run(const struct loops *l, const char *name) {
    const struct kernels *k = l->kernels;
    if (is(name, "encode")) {
        k->encode(elements, ELEMENTS, &l->key_map, outputs);
    } else if (is(name, "split") || is(name, "split-by-magnitude")) {
        (void)k->split(elements, ELEMENTS, &l->point_map, &l->arcs, masks[0], masks[1]);
    } else if (is(name, "match")) {
        const struct match match = {l->arcs.not_above, false};
        (void)k->match(elements, ELEMENTS, &l->point_map, &match, masks[0]);
    } else if (is(name, "count")) {
        (void)k->count(half, WORDS);
    } else if (is(name, "take-half")) {
        (void)k->take(elements, half, WORDS, outputs, half_count);
    } else if (is(name, "take-few")) {
        (void)k->take(elements, few, WORDS, outputs, few_count);
    } else if (is(name, "positions-half")) {
        (void)k->positions32(half, WORDS, 0, (uint32_t *)outputs, half_count);
    } else if (is(name, "positions-few")) {
        (void)k->positions32(few, WORDS, 0, (uint32_t *)outputs, few_count);
    } else if (is(name, "count-digits")) {
        k->count_digits(elements, ELEMENTS, &l->key_map, l->least, l->greatest, l->shift, tables, BINS);
    } else if (is(name, "histogram")) {
        (void)k->histogram(elements, ELEMENTS, NULL, &l->key_map, l->least, l->greatest, l->shift, bins);
    } else if (is(name, "take-range")) {
        (void)k->take_range(elements, ELEMENTS, NULL, &l->key_map, l->arcs.key, l->greatest, outputs);
    } else if (is(name, "bisect")) {
        (void)k->bisect(keys, ELEMENTS, TOP, 0);
    } else if (is(name, "select-rows")) {
        select_rows(l, false);
    } else if (is(name, "select-rows-sorted")) {
        select_rows(l, true);
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    const struct kernels *kernels = NULL;
    const unsigned bits = argc == 5 ? (unsigned)atoi(argv[3]) : 0;
    for (size_t s = 0; argc == 5 && s < sizeof sets / sizeof sets[0]; s++) {
        for (int width = 0; width < 4; width++) {
            kernels = is(argv[1], sets[s].name) && bits == 8u << width ? sets[s].kernels[width] : kernels;
        }
    }
    if (kernels == NULL) {
        (void)fprintf(stderr, "usage: loops SET LOOP BITS TIMES\n");
        return 2;
    }
    fill(bits);
    const struct loops l = loops_of(kernels, strstr(argv[2], "magnitude") != NULL);
    for (int i = atoi(argv[4]); i > 0; i--) {
        if (!run(&l, argv[2])) {
            (void)fprintf(stderr, "loops: there is no loop '%s'\n", argv[2]);
            return 2;
        }
    }
    return 0;
}
