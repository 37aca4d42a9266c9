/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "outliers.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"

/* ---- Ranking --------------------------------------------------------------------------------- */

static bool by_magnitude(const struct options *options) {
    return options->problem.rank == TOPK_BY_MAGNITUDE;
}

/* The order of values as the order of ranks: below 0 for what is better. */
static int ranked(const struct options *options, int order) {
    return options->problem.direction == TOPK_LARGEST ? -order : order;
}

static int rank_beyond(const struct options *options, const struct beyond *a, const struct beyond *b) {
    return ranked(options, beyond_compare(a, b, by_magnitude(options)));
}

static bool nan_is_best(const struct options *options) {
    return options->problem.nan == TOPK_NAN_AS_LARGEST && options->problem.direction == TOPK_LARGEST;
}

static int rank_beside(const struct options *options, const struct beyond *number, double x) {
    if (isnan(x))
        return nan_is_best(options) ? 1 : -1;
    return ranked(options, beyond_compare_double(number, x, by_magnitude(options)));
}

static int rank_values(const struct options *options, double x, double y) {
    if (isnan(x) || isnan(y))
        return (isnan(x) - isnan(y)) * (nan_is_best(options) ? -1 : 1);
    x = by_magnitude(options) ? fabs(x) : x;
    y = by_magnitude(options) ? fabs(y) : y;
    return ranked(options, (x > y) - (x < y));
}

static int earlier(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int rank_outliers(const void *a, const void *b, void *options) {
    const struct outlier *x = a, *y = b;
    const int rank = rank_beyond(options, &x->number, &y->number);
    return rank != 0 ? rank : earlier(x->index, y->index);
}

static int rank_results(const void *a, const void *b, void *options) {
    const struct result *x = a, *y = b;
    int rank;
    if (x->outlier != NULL && y->outlier != NULL)
        rank = rank_beyond(options, &x->outlier->number, &y->outlier->number);
    else if (x->outlier != NULL)
        rank = rank_beside(options, &x->outlier->number, y->value);
    else if (y->outlier != NULL)
        rank = -rank_beside(options, &y->outlier->number, x->value);
    else
        rank = rank_values(options, x->value, y->value);
    return rank != 0 ? rank : earlier(x->index, y->index);
}

int outliers_compare(const struct options *options, const struct result *a, const struct result *b) {
    return rank_results(a, b, (void *)(uintptr_t)options);
}

static int by_position(const void *a, const void *b) {
    return earlier(((const struct result *)a)->index, ((const struct result *)b)->index);
}

/* ---- The list -------------------------------------------------------------------------------- */

void outliers_begin(struct outliers *outliers, const struct options *options, bool keeps_lines) {
    *outliers = (struct outliers){.options = options, .keeps_lines = keeps_lines, .bar = -1};
}

double outliers_stand_in(const struct beyond *number) {
    const double magnitude = isinf(number->nearest) ? DBL_MAX
                             : number->nearest == 0 ? DBL_TRUE_MIN
                                                    : number->nearest;
    return number->negative ? -magnitude : magnitude;
}

static void forget(struct outliers *outliers, struct forgotten more) {
    struct forgotten *all = &outliers->forgotten;
    const int order = rank_values(outliers->options, more.stand_in, all->stand_in);
    if (all->count == 0 || order < 0)
        *all = more;
    else if (order == 0)
        all->count += more.count;
}

static void release_outlier(struct outlier *outlier) {
    release((char *)(uintptr_t)outlier->number.text);
    release(outlier->line);
}

static char *copy(const char *bytes, size_t length) {
    char *copied = allocate(length + 1, 1);
    memcpy(copied, bytes, length);
    return copied;
}

static void make_room(struct outliers *outliers) {
    enum { ROOM_LEAST = 1024 };
    outliers_sort(outliers);
    if (outliers->room >= ROOM_LEAST && outliers->count <= outliers->room / 2)
        return;
    outliers->room = outliers->room > 0 ? 2 * outliers->room : ROOM_LEAST;
    outliers->list = reallocate(outliers->list, (uint64_t)outliers->room, sizeof *outliers->list);
}

/* Whether an outlier is behind the bar, or equal to it. Then it is counted, and that is all. */
static bool is_behind(struct outliers *outliers, const struct outlier *outlier) {
    if (outliers->bar < 0)
        return false;
    struct outlier *bar = &outliers->list[outliers->bar];
    const int rank = rank_beyond(outliers->options, &bar->number, &outlier->number);
    if (rank > 0 || (rank == 0 && outliers->keeps_lines && outlier->index < bar->index))
        return false;
    if (rank == 0 && !outliers->keeps_lines)
        bar->times += outlier->times;
    else
        forget(outliers, (struct forgotten){outliers_stand_in(&outlier->number), outlier->times});
    return true;
}

/* Adds a copy. */
static void add(struct outliers *outliers, const struct outlier *outlier) {
    if (outliers->count == outliers->room)
        make_room(outliers);
    if (is_behind(outliers, outlier))
        return;
    struct outlier *added = &outliers->list[outliers->count++];
    *added = *outlier;
    added->number.text = copy(outlier->number.text, outlier->number.length);
    added->line = outliers->keeps_lines ? copy(outlier->line, outlier->length) : NULL;
}

void outliers_add(struct outliers *outliers, const struct beyond *number, int64_t index, const char *line,
                  size_t length) {
    add(outliers, &(struct outlier){*number, index, 1, (char *)(uintptr_t)line, length});
}

void outliers_sort(struct outliers *outliers) {
    struct outlier *list = outliers->list;
    int64_t kept = 0, lines = 0;
    if (outliers->count > 0)
        qsort_r(list, (size_t)outliers->count, sizeof *list, rank_outliers,
                (void *)(uintptr_t)outliers->options);
    for (int64_t i = 0; i < outliers->count; i++) {
        const bool again = !outliers->keeps_lines && kept > 0 &&
                           rank_beyond(outliers->options, &list[kept - 1].number, &list[i].number) == 0;
        const bool counts = again || lines < outliers->options->k;
        lines += counts ? list[i].times : 0;
        if (again)
            list[kept - 1].times += list[i].times;
        if (!counts)
            forget(outliers, (struct forgotten){outliers_stand_in(&list[i].number), list[i].times});
        if (again || !counts)
            release_outlier(&list[i]);
        else
            list[kept++] = list[i];
    }
    outliers->count = kept;
    outliers->bar = lines >= outliers->options->k ? kept - 1 : -1;
}

void outliers_end(struct outliers *outliers) {
    for (int64_t i = 0; i < outliers->count; i++)
        release_outlier(&outliers->list[i]);
    release(outliers->list);
}

/* ---- From rank to rank ----------------------------------------------------------------------- */

/* Its number and its line follow. */
struct outlier_head {
    int64_t index, times;
    uint64_t number_length, line_length;
    double nearest;
    bool negative;
};

struct outliers_head {
    struct forgotten forgotten;
    int64_t count;
};

char *outliers_write(struct outliers *outliers, int64_t base, uint64_t *size) {
    outliers_sort(outliers);
    const struct outliers_head head = {outliers->forgotten, outliers->count};
    *size = sizeof head;
    for (int64_t i = 0; i < outliers->count; i++)
        *size += sizeof(struct outlier_head) + outliers->list[i].number.length + outliers->list[i].length;
    char *bytes = allocate(*size, 1);
    char *end = mempcpy(bytes, &head, sizeof head);
    for (int64_t i = 0; i < outliers->count; i++) {
        const struct outlier *outlier = &outliers->list[i];
        const struct beyond *number = &outlier->number;
        struct outlier_head each;
        memset(&each, 0, sizeof each);
        each.index = base + outlier->index;
        each.times = outlier->times;
        each.number_length = number->length;
        each.line_length = outlier->length;
        each.negative = number->negative;
        each.nearest = number->nearest;
        end = mempcpy(end, &each, sizeof each);
        end = mempcpy(end, number->text, number->length);
        if (outlier->length > 0)
            end = mempcpy(end, outlier->line, outlier->length);
    }
    return bytes;
}

void outliers_read(struct outliers *outliers, const char *bytes, uint64_t size) {
    for (const char *end = bytes + size; bytes < end;) {
        struct outliers_head head;
        memcpy(&head, bytes, sizeof head);
        bytes += sizeof head;
        if (head.forgotten.count > 0)
            forget(outliers, head.forgotten);
        for (; head.count > 0; head.count--) {
            struct outlier_head each;
            memcpy(&each, bytes, sizeof each);
            bytes += sizeof each;
            const struct beyond number = {bytes, each.number_length, each.negative, each.nearest};
            char *line = (char *)(uintptr_t)bytes + each.number_length;
            add(outliers, &(struct outlier){number, each.index, each.times, line, each.line_length});
            bytes += each.number_length + each.line_length;
        }
    }
}

/* ---- Beside the library's results ------------------------------------------------------------ */

int64_t outliers_merge(struct outliers *outliers, const double *values, const int64_t *indices, int64_t count,
                       struct result *results) {
    outliers_sort(outliers);
    for (int64_t i = 0; i < count; i++)
        results[i] = (struct result){values[i], indices[i], NULL};
    for (int64_t i = 0; i < outliers->count; i++) {
        const struct outlier *outlier = &outliers->list[i];
        results[count++] = (struct result){beyond_nearest(&outlier->number), outlier->index, outlier};
    }
    if (count > 0)
        qsort_r(results, (size_t)count, sizeof *results, rank_results, (void *)(uintptr_t)outliers->options);
    count = count < outliers->options->k ? count : outliers->options->k;
    if (count > 0 && outliers->options->problem.order == TOPK_ORDER_BY_POSITION)
        qsort(results, (size_t)count, sizeof *results, by_position);
    return count;
}

/* Whether a number's stand-in ties with the k-th. */
static bool ties(const struct outliers *outliers, const struct beyond *number, double kth) {
    return rank_values(outliers->options, outliers_stand_in(number), kth) == 0;
}

/* How many outliers there are whose stand-in ties with the k-th. */
static int64_t count_ties(const struct outliers *outliers, double kth) {
    const struct forgotten *forgotten = &outliers->forgotten;
    int64_t count = 0;
    for (int64_t i = 0; i < outliers->count; i++)
        count += ties(outliers, &outliers->list[i].number, kth) ? outliers->list[i].times : 0;
    if (forgotten->count > 0 && rank_values(outliers->options, forgotten->stand_in, kth) == 0)
        count += forgotten->count;
    return count;
}

const struct beyond *outliers_kth(struct outliers *outliers, int64_t k, const double *kth, int64_t *better,
                                  int64_t *equal) {
    const struct options *options = outliers->options;
    outliers_sort(outliers);
    const int64_t elements = *equal - count_ties(outliers, *kth);
    if (elements == *equal)
        return NULL;
    int64_t before = *better;
    bool passed = false; /* the elements, which all come together */
    for (int64_t i = 0; i < outliers->count; i++) {
        const struct outlier *outlier = &outliers->list[i];
        if (!ties(outliers, &outlier->number, *kth))
            continue;
        if (!passed && rank_beside(options, &outlier->number, *kth) > 0) {
            if (elements >= k - before)
                break;
            before += elements;
            passed = true;
        }
        if (outlier->times >= k - before) {
            *better = before;
            *equal = outlier->times;
            return &outlier->number;
        }
        before += outlier->times;
    }
    *better = before;
    *equal = elements;
    return NULL;
}
