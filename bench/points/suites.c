/* SPDX-License-Identifier: Apache-2.0 */
#include "points/suites.h"

#include "data/data.h"
#include "points/dimensions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct grid {
    const char *suite;
    topk_operation operation;
    const char *lists[BENCH_DIMENSIONS]; /* NULL: the list in `defaults` */
} grid;

static const char *const defaults[BENCH_DIMENSIONS] = {
    [BENCH_TYPE] = "f32",
    [BENCH_DIST] = "uniform",
    [BENCH_ROWS] = "1",
    [BENCH_N] = "2^26",
    [BENCH_K] = "1000",
    [BENCH_KEEP] = "10",
    [BENCH_DIRECTION] = "largest",
    [BENCH_ORDER] = "best",
    [BENCH_TIES] = "lowest",
    [BENCH_INDEX] = "i32",
    [BENCH_METHOD] = "auto",
};

#define EVERY_DISTRIBUTION                                                                                   \
    "uniform,normal,normal-1e8,cd,prefix10,prefix20,cluster,narrow,zipf,softmax,quantised,relu-quantised,"   \
    "tie-heavy,pivot-tie,all-equal"

static const grid grids[] = {
    {"select",
     TOPK_OPERATION_SELECT,
     {[BENCH_DIST] = "uniform,normal", [BENCH_K] = "10,1000,10^5,n/100", [BENCH_ORDER] = "best,any"}},
    {"select",
     TOPK_OPERATION_SELECT,
     {[BENCH_DIST] = "all-equal,relu-quantised", [BENCH_K] = "10,1000,10^5"}},
    {"sizes",
     TOPK_OPERATION_SELECT,
     {[BENCH_N] = "2^10,2^12,2^14,2^16,2^18,2^20,2^22,2^24,2^26", [BENCH_K] = "32"}},
    {"data", TOPK_OPERATION_SELECT, {[BENCH_DIST] = EVERY_DISTRIBUTION, [BENCH_N] = "2^24"}},
    {"data", TOPK_OPERATION_SELECT, {[BENCH_TYPE] = "f16,bf16,f64,i32,u32,i64,u8", [BENCH_N] = "2^24"}},
    {"rows", TOPK_OPERATION_SELECT, {[BENCH_ROWS] = "65536", [BENCH_N] = "256", [BENCH_K] = "32"}},
    {"rows", TOPK_OPERATION_SELECT, {[BENCH_ROWS] = "64", [BENCH_N] = "131072", [BENCH_K] = "50,2048"}},
    {"rows", TOPK_OPERATION_SELECT, {[BENCH_ROWS] = "10^6", [BENCH_N] = "64", [BENCH_K] = "8"}},
    {"rows", TOPK_OPERATION_SELECT, {[BENCH_ROWS] = "1024", [BENCH_N] = "8192", [BENCH_K] = "64"}},
    {"large-k",
     TOPK_OPERATION_SELECT,
     {[BENCH_N] = "2^24", [BENCH_K] = "n/16,n/4,n/2,n", [BENCH_ORDER] = "best,any"}},
    {"kth", TOPK_OPERATION_KTH, {[BENCH_DIST] = "uniform,normal", [BENCH_K] = "1000,n/100,n/2"}},
    {"where", TOPK_OPERATION_WHERE, {[BENCH_KEEP] = "1,10,50,90"}},
    {"quick",
     TOPK_OPERATION_SELECT,
     {[BENCH_TYPE] = "f16,bf16,f32,f64,i32,u32,i64,u64,u8",
      [BENCH_DIST] = EVERY_DISTRIBUTION,
      [BENCH_N] = "5000",
      [BENCH_K] = "100"}},
    {"quick",
     TOPK_OPERATION_SELECT,
     {[BENCH_DIST] = "normal,tie-heavy",
      [BENCH_N] = "1000",
      [BENCH_ROWS] = "1,3",
      [BENCH_K] = "0,1,n,2^10",
      [BENCH_DIRECTION] = "largest,smallest",
      [BENCH_ORDER] = "best,any",
      [BENCH_TIES] = "lowest,any",
      [BENCH_INDEX] = "i32,i64"}},
    {"quick",
     TOPK_OPERATION_KTH,
     {[BENCH_DIST] = "normal,tie-heavy", [BENCH_N] = "5000", [BENCH_ROWS] = "1,3", [BENCH_K] = "1,100,n"}},
    {"quick",
     TOPK_OPERATION_WHERE,
     {[BENCH_TYPE] = "f16,bf16,f32,f64,i32,u32,i64,u64,u8",
      [BENCH_N] = "5000",
      [BENCH_ROWS] = "1,3",
      [BENCH_KEEP] = "0,10,90",
      [BENCH_INDEX] = "i32,i64"}},
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

/* Appends all completions of a point whose dimensions below `dimension` are set. On failure `error`
 * says why. */
static bool expand(const char *const lists[], int dimension, const bench_point *begun, point_list *list,
                   char *error, size_t error_bytes) {
    if (dimension == BENCH_DIMENSIONS) {
        if (bench_distribution_serves(begun->distribution, begun->type) && !append(list, begun)) {
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

static bool belongs(const grid *each, const char *suite) {
    if (strcmp(suite, "all") == 0) {
        return strcmp(each->suite, "quick") != 0;
    }
    return strcmp(suite, each->suite) == 0;
}

int bench_suite_points(const char *suite, const char *const overrides[BENCH_DIMENSIONS], bench_point **points,
                       char *error, size_t error_bytes) {
    point_list list = {NULL, 0, 0};
    bool known = false;
    for (size_t g = 0; g < sizeof grids / sizeof *grids; ++g) {
        if (!belongs(&grids[g], suite)) {
            continue;
        }
        known = true;
        const char *lists[BENCH_DIMENSIONS];
        for (int d = 0; d < BENCH_DIMENSIONS; ++d) {
            lists[d] = overrides[d] ? overrides[d] : grids[g].lists[d] ? grids[g].lists[d] : defaults[d];
        }
        bench_point point;
        memset(&point, 0, sizeof point);
        point.operation = grids[g].operation;
        if (!expand(lists, 0, &point, &list, error, error_bytes)) {
            free(list.points);
            return -1;
        }
    }
    if (!known) {
        snprintf(error, error_bytes, "no suite '%s'", suite);
        return -1;
    }
    *points = list.points;
    return list.count;
}
