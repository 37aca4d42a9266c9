/* SPDX-License-Identifier: Apache-2.0 */
#include "row_sizes.h"

#include <stdlib.h>

#include "cpu/sizes.h" /* of the library under test: its internal boundaries */

/* Each is tried with both of its neighbours. */
static const int64_t boundaries[] = {2,
                                     32,
                                     64,
                                     128,
                                     256,
                                     1024,
                                     4096,
                                     16384,
                                     65536,
                                     WORD,
                                     TILE,
                                     TILE_MAX,
                                     SAMPLES_MIN,
                                     SAMPLES_MAX,
                                     SHORT_ROW_MAX,
                                     BISECT_MAX,
                                     POOL_SLACK,
                                     TEAM_ELEMENTS_MIN,
                                     TEAM_ROW_MIN,
                                     SPLIT_ROW_MIN,
                                     WIDE_ROW,
                                     HISTOGRAM_BINS};
static const int64_t others[] = {0, 1000, 8320, 131072, 1000000};

enum {
    BOUNDARIES = sizeof boundaries / sizeof boundaries[0],
    OTHERS = sizeof others / sizeof others[0],
    MOST_SIZES = 3 * BOUNDARIES + OTHERS
};

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int sizes_up_to(int64_t largest, const int64_t **sizes) {
    static int64_t table[MOST_SIZES];
    int count = 0, kept = 0;
    for (int i = 0; i < BOUNDARIES; i++) {
        for (int64_t size = boundaries[i] - 1; size <= boundaries[i] + 1; size++) {
            table[count++] = size;
        }
    }
    for (int i = 0; i < OTHERS; i++) {
        table[count++] = others[i];
    }
    qsort(table, (size_t)count, sizeof table[0], by_value);
    for (int i = 0; i < count; i++) {
        if (table[i] <= largest && (kept == 0 || table[kept - 1] != table[i])) {
            table[kept++] = table[i];
        }
    }
    *sizes = table;
    return kept;
}
