/* SPDX-License-Identifier: Apache-2.0 */
#include "covering.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

/* Levels of all dimensions are numbered in one sequence; missing[a * total + b] tells that level a of
 * one dimension has not met level b of another. Symmetric. */
typedef struct covering_state {
    const int *counts;
    int dimensions;
    int first[COVERING_DIMENSIONS]; /* number of a dimension's level 0 */
    int total;
    bool *missing;
    long missing_pairs;
    random_state random;
} covering_state;

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static void mark_all_missing(covering_state *s) {
    s->missing = allocate((size_t)s->total * (size_t)s->total, sizeof(bool));
    for (int d = 0; d < s->dimensions; d++) {
        for (int e = d + 1; e < s->dimensions; e++) {
            for (int a = s->first[d]; a < s->first[d] + s->counts[d]; a++) {
                for (int b = s->first[e]; b < s->first[e] + s->counts[e]; b++) {
                    s->missing[a * s->total + b] = s->missing[b * s->total + a] = true;
                    s->missing_pairs++;
                }
            }
        }
    }
}

/* Pairs that level `level` of dimension d would cover with the dimensions already set. */
static int gain(const covering_state *s, const int *row, int d, int level) {
    int pairs = 0;
    for (int e = 0; e < s->dimensions; e++) {
        pairs += row[e] >= 0 && e != d && s->missing[(s->first[d] + level) * s->total + s->first[e] + row[e]];
    }
    return pairs;
}

static void set_best_level(covering_state *s, int *row, int d) {
    int best = 0, best_gain = -1, start = (int)random_below(&s->random, s->counts[d]);
    for (int i = 0; i < s->counts[d]; i++) {
        int level = (start + i) % s->counts[d], level_gain = gain(s, row, d, level);
        if (level_gain > best_gain) {
            best = level;
            best_gain = level_gain;
        }
    }
    row[d] = best;
}

/* Some pair that is still missing; the search starts at a random one. */
static void seed_row(covering_state *s, int *row) {
    long pairs = (long)s->total * s->total, at = (long)random_below(&s->random, pairs);
    while (!s->missing[at]) {
        at = (at + 1) % pairs;
    }
    for (int d = 0; d < s->dimensions; d++) {
        int a = (int)(at / s->total) - s->first[d], b = (int)(at % s->total) - s->first[d];
        row[d] = a >= 0 && a < s->counts[d] ? a : b >= 0 && b < s->counts[d] ? b : -1;
    }
}

static void complete_row(covering_state *s, int *row) {
    int order[COVERING_DIMENSIONS];
    for (int d = 0; d < s->dimensions; d++) {
        int other = (int)random_below(&s->random, d + 1);
        order[d] = order[other];
        order[other] = d;
    }
    for (int i = 0; i < s->dimensions; i++) {
        if (row[order[i]] < 0) {
            set_best_level(s, row, order[i]);
        }
    }
}

static void mark_met(covering_state *s, const int *row) {
    for (int d = 0; d < s->dimensions; d++) {
        for (int e = 0; e < s->dimensions; e++) {
            bool *pair = &s->missing[(s->first[d] + row[d]) * s->total + s->first[e] + row[e]];
            s->missing_pairs -= d < e && *pair;
            *pair = false;
        }
    }
}

covering_array covering_build(const int *level_counts, int dimensions, uint64_t seed) {
    covering_state s = {.counts = level_counts, .dimensions = dimensions, .random = {seed}};
    covering_array array = {0, NULL};
    for (int d = 0; d < dimensions; d++) {
        s.first[d] = s.total;
        s.total += level_counts[d];
    }
    mark_all_missing(&s);
    while (s.missing_pairs > 0) {
        array.rows = realloc(array.rows, (size_t)(array.count + 1) * sizeof *array.rows);
        if (array.rows == NULL) {
            abort();
        }
        seed_row(&s, array.rows[array.count]);
        complete_row(&s, array.rows[array.count]);
        mark_met(&s, array.rows[array.count]);
        array.count++;
    }
    free(s.missing);
    return array;
}

void covering_free(covering_array *array) {
    free(array->rows);
    *array = (covering_array){0, NULL};
}
