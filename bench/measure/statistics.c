/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/statistics.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int count, double share) {
    const double place = share * (count - 1);
    const int below = (int)place;
    const int above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

bench_quartiles bench_quartiles_of(double *samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    return (bench_quartiles){quantile(samples, count, 0.25), quantile(samples, count, 0.5),
                             quantile(samples, count, 0.75)};
}
