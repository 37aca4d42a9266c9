/* SPDX-License-Identifier: Apache-2.0
 *
 * The covering array covers: any two levels of any two dimensions meet. */
#include "check.h"
#include "covering.h"
#include "dimensions.h"

static int meets(const covering_array *array, int d, int a, int e, int b) {
    for (int i = 0; i < array->count; i++) {
        if (array->rows[i][d] == a && array->rows[i][e] == b) {
            return 1;
        }
    }
    return 0;
}

int main(void) {
    int counts[COVERED_DIMENSIONS];
    dimensions_init(0, 131072);
    for (int d = 0; d < COVERED_DIMENSIONS; d++) {
        counts[d] = dimensions[d].count;
    }
    covering_array array = covering_build(counts, COVERED_DIMENSIONS, 1);
    printf("%d cases cover all pairs\n", array.count);
    for (int d = 0; d < COVERED_DIMENSIONS; d++) {
        for (int e = d + 1; e < COVERED_DIMENSIONS; e++) {
            for (int pair = 0; pair < counts[d] * counts[e]; pair++) {
                CHECK(meets(&array, d, pair / counts[e], e, pair % counts[e]));
            }
        }
    }
    CHECK(array.count < 2 * counts[DIM_DATA] * counts[DIM_SIZE]);
    covering_free(&array);
    return check_report();
}
