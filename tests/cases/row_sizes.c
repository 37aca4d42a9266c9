/* SPDX-License-Identifier: Apache-2.0 */
#include "row_sizes.h"

#include <stdlib.h>

/* Each is tried with both of its neighbours, as are the boundaries of the backend. */
static const int64_t boundaries[] = {2, 32, 64, 128, 256, 1024, 4096, 16384, 65536};
static const int64_t others[] = {0, 1000, 8320, 131072, 1000000};

enum {
    BOUNDARIES = sizeof boundaries / sizeof boundaries[0],
    OTHERS = sizeof others / sizeof others[0],
    MOST_SIZES = 3 * (BOUNDARIES + ROW_BOUNDARIES_MOST) + OTHERS
};

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int put_around(int64_t *table, int64_t boundary) {
    for (int neighbour = 0; neighbour < 3; neighbour++) {
        table[neighbour] = boundary - 1 + neighbour;
    }
    return 3;
}

int sizes_between(int64_t smallest, int64_t largest, const int64_t **sizes) {
    static int64_t table[MOST_SIZES];
    int count = 0, kept = 0;
    for (int i = 0; i < BOUNDARIES; i++) {
        count += put_around(table + count, boundaries[i]);
    }
    for (int i = 0; i < row_boundary_count; i++) {
        count += put_around(table + count, row_boundaries[i]);
    }
    for (int i = 0; i < OTHERS; i++) {
        table[count++] = others[i];
    }
    qsort(table, (size_t)count, sizeof table[0], by_value);
    for (int i = 0; i < count; i++) {
        if (table[i] >= smallest && table[i] <= largest && (kept == 0 || table[kept - 1] != table[i])) {
            table[kept++] = table[i];
        }
    }
    *sizes = table;
    return kept;
}
