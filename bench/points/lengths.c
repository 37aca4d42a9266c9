/* SPDX-License-Identifier: Apache-2.0 */
#include "points/point.h"

#include "random.h"

#include <math.h>

/* Places are dealt out to the ranks from both ends, so that neighbours differ. */
static int64_t power_of(const bench_point *point, int64_t r) {
    const int64_t rank = r % 2 == 0 ? r / 2 : point->rows - 1 - r / 2;
    const double share = point->rows > 1 ? (double)rank / (double)(point->rows - 1) : 1;
    return point->n > 0 ? (int64_t)round(exp2(10 + (log2((double)point->n) - 10) * share)) : 0;
}

/* One row is long among each `stride`, wherever it lies there. */
static int64_t uneven_length(const bench_point *point, int64_t r) {
    enum { stride_most = 20000, long_least = 4, times = 1000 };
    const uint64_t seed = 0x6C656E677468; /* that no data has */
    const int64_t spread = point->rows / long_least > 1 ? point->rows / long_least : 1;
    const int64_t stride = spread < stride_most ? spread : stride_most;
    const int64_t place = (int64_t)(random_at(~seed, r / stride) % (uint64_t)stride);
    return r % stride == place ? times * point->n
                               : (int64_t)(random_at(seed, r) % (uint64_t)(2 * point->n + 1));
}

static int64_t length_of(const bench_point *point, int64_t r) {
    switch (point->lengths) {
    case BENCH_ODD:
        return point->n - (r == 0 && point->n > 0);
    case BENCH_POWERS:
        return power_of(point, r);
    case BENCH_UNEVEN:
        return uneven_length(point, r);
    default:
        return point->n;
    }
}

void bench_row_offsets(const bench_point *point, int64_t *offsets) {
    offsets[0] = 0;
    for (int64_t r = 0; r < point->rows; ++r) {
        offsets[r + 1] = offsets[r] + length_of(point, r);
    }
}

void bench_point_add_up(bench_point *point) {
    point->elements = point->rows * point->n;
    point->length_max = point->n;
    if (point->lengths != BENCH_EVEN) {
        point->elements = point->length_max = 0;
        for (int64_t r = 0; r < point->rows; ++r) {
            const int64_t length = length_of(point, r);
            point->elements += length;
            point->length_max = length > point->length_max ? length : point->length_max;
        }
    }
}
