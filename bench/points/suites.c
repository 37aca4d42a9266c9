/* SPDX-License-Identifier: Apache-2.0 */
#include "points/suites.h"

#include "data/data.h"
#include "points/dimensions.h"
#include "points/grids.h"
#include "points/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const defaults[BENCH_DIMENSIONS] = {
    [BENCH_TYPE] = "f32",
    [BENCH_DIST] = "uniform",
    [BENCH_ROWS] = "1",
    [BENCH_N] = "2^26",
    [BENCH_K] = "1000",
    [BENCH_KEEP] = "10",
    [BENCH_PREDICATE] = "greater",
    [BENCH_OUTPUTS] = "indices",
    [BENCH_DIRECTION] = "largest",
    [BENCH_ORDER] = "best",
    [BENCH_TIES] = "lowest",
    [BENCH_INDEX] = "i32",
    [BENCH_METHOD] = "auto",
    [BENCH_TUNING] = "none",
    [BENCH_BLOCK] = "128", /* what the paper of compact found best */
};

typedef struct point_list {
    bench_point *points;
    int count, room;
} point_list;

/* Appends the point unless it is there already. */
static bool append(point_list *list, const bench_point *point) {
    for (int i = 0; i < list->count; ++i) {
        if (memcmp(&list->points[i], point, sizeof *point) == 0) {
            return true;
        }
    }
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 64;
        bench_point *grown = realloc(list->points, (size_t)list->room * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        list->points = grown;
    }
    list->points[list->count++] = *point;
    return true;
}

/* With a mask there are no values to be written: the benchmark gives the call none. */
static bool makes_sense(const bench_point *point) {
    return bench_distribution_serves(point->distribution, point->type) &&
           !(bench_has_mask(point) && bench_wants_values(point));
}

/* Appends all completions of a point whose dimensions below `dimension` are set. On failure `error`
 * says why. */
static bool expand(const char *const lists[], int dimension, const bench_point *begun, point_list *list,
                   char *error, size_t error_bytes) {
    if (dimension == BENCH_DIMENSIONS) {
        if (makes_sense(begun) && !append(list, begun)) {
            snprintf(error, error_bytes, "out of memory");
            return false;
        }
        return true;
    }
    for (const char *text = lists[dimension]; text != NULL;) {
        const char *comma = strchr(text, ',');
        const size_t length = comma ? (size_t)(comma - text) : strlen(text);
        char word[64];
        bench_point point = *begun;
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (length >= sizeof word || !bench_point_set(&point, (bench_dimension)dimension, word)) {
            snprintf(error, error_bytes, "'%s' is not a value of this option", word);
            return false;
        }
        if (!expand(lists, dimension + 1, &point, list, error, error_bytes)) {
            return false;
        }
        text = comma ? comma + 1 : NULL;
    }
    return true;
}

/* "all" is every suite but quick; "air-figures" is all that begin with air-, "where-figures" with where-. */
static bool belongs(const bench_grid *each, const char *suite) {
    if (strcmp(suite, "all") == 0) {
        return strcmp(each->suite, "quick") != 0;
    }
    if (strcmp(suite, "air-figures") == 0) {
        return strncmp(each->suite, "air-", 4) == 0;
    }
    if (strcmp(suite, "where-figures") == 0) {
        return strncmp(each->suite, "where-", 6) == 0;
    }
    return strcmp(suite, each->suite) == 0;
}

/* Appends the points of a grid, with the user's lists in the place of its own. */
static bool add_grid(const bench_grid *grid, const char *const overrides[], point_list *list, char *error,
                     size_t error_bytes) {
    const char *lists[BENCH_DIMENSIONS];
    for (int d = 0; d < BENCH_DIMENSIONS; ++d) {
        lists[d] = overrides[d] ? overrides[d] : grid->lists[d] ? grid->lists[d] : defaults[d];
    }
    bench_point point;
    memset(&point, 0, sizeof point);
    point.operation = grid->operation;
    return expand(lists, 0, &point, list, error, error_bytes);
}

/* The points of published measurements are what they are; only how they are solved can be chosen. */
static bool add_peers(const char *suite, const char *const overrides[], point_list *list, char *error,
                      size_t error_bytes) {
    for (int d = BENCH_TYPE; d <= BENCH_DIRECTION; ++d) {
        if (overrides[d] != NULL) {
            snprintf(error, error_bytes, "the points of the suite '%s' are fixed", suite);
            return false;
        }
    }
    const bench_peer *peer;
    for (int i = 0; (peer = bench_peer_at(i)) != NULL; ++i) {
        char rows[24], n[24], k[24];
        if (suite[5] != '\0' && strcmp(suite + 6, peer->group) != 0) {
            continue;
        }
        snprintf(rows, sizeof rows, "%lld", (long long)peer->rows);
        snprintf(n, sizeof n, "%lld", (long long)peer->n);
        snprintf(k, sizeof k, "%lld", (long long)peer->k);
        const bench_grid grid = {suite,
                                 TOPK_OPERATION_SELECT,
                                 {[BENCH_DIST] = peer->data,
                                  [BENCH_ROWS] = rows,
                                  [BENCH_N] = n,
                                  [BENCH_K] = k,
                                  [BENCH_ORDER] = "any",
                                  [BENCH_TIES] = "any"}};
        if (!add_grid(&grid, overrides, list, error, error_bytes)) {
            return false;
        }
    }
    return true;
}

int bench_suite_points(bench_device device, const char *suite, const char *const overrides[BENCH_DIMENSIONS],
                       bench_point **points, char *error, size_t error_bytes) {
    const bench_grid *grids = device == BENCH_CUDA ? bench_gpu_grids : bench_cpu_grids;
    const int count = device == BENCH_CUDA ? bench_gpu_grid_count : bench_cpu_grid_count;
    point_list list = {NULL, 0, 0};
    bool ok = true;
    if (device == BENCH_CPU && (overrides[BENCH_PREDICATE] != NULL || overrides[BENCH_OUTPUTS] != NULL ||
                                overrides[BENCH_BLOCK] != NULL)) {
        snprintf(error, error_bytes, "the CPU's benchmark has no --predicate, --outputs and --block");
        return -1;
    }
    if (device == BENCH_CUDA && strncmp(suite, "peers", 5) == 0 && (suite[5] == '\0' || suite[5] == '-')) {
        ok = add_peers(suite, overrides, &list, error, error_bytes);
    }
    for (int g = 0; ok && g < count; ++g) {
        ok = !belongs(&grids[g], suite) || add_grid(&grids[g], overrides, &list, error, error_bytes);
    }
    if (ok && list.count == 0) {
        snprintf(error, error_bytes, "no suite '%s', or no points in it", suite);
        ok = false;
    }
    if (!ok) {
        free(list.points);
        return -1;
    }
    *points = list.points;
    return list.count;
}
