/* SPDX-License-Identifier: Apache-2.0 */
#include "check/self_test.h"

#include "points/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All spoilt points have f32 elements and i32 indices, k below n and 3 rows. */
static int32_t *last_index(const bench_point *point, bench_outputs *outputs) {
    return (int32_t *)outputs->indices + (point->rows - 1) * point->k;
}

static float *last_value(const bench_point *point, bench_outputs *outputs) {
    return (float *)outputs->values + (point->rows - 1) * point->k;
}

static void spoil_value(const bench_point *point, bench_outputs *outputs) {
    ((uint32_t *)outputs->values)[(point->rows - 1) * point->k] ^= 1;
}

static void spoil_index(const bench_point *point, bench_outputs *outputs) {
    last_index(point, outputs)[0] = (int32_t)point->n;
}

static void spoil_payload(const bench_point *point, bench_outputs *outputs) {
    int32_t *index = last_index(point, outputs);
    index[0] = (index[0] + 1) % (int32_t)point->n;
}

static void spoil_order(const bench_point *point, bench_outputs *outputs) {
    int32_t *index = last_index(point, outputs);
    float *value = last_value(point, outputs);
    const int32_t first = index[0];
    const float best = value[0];
    index[0] = index[1];
    value[0] = value[1];
    index[1] = first;
    value[1] = best;
}

static void spoil_by_repeating(const bench_point *point, bench_outputs *outputs) {
    last_index(point, outputs)[point->k - 1] = last_index(point, outputs)[point->k - 2];
    last_value(point, outputs)[point->k - 1] = last_value(point, outputs)[point->k - 2];
}

/* All elements are equal: any of them has the right value, but those at the front must be taken. */
static void spoil_tie(const bench_point *point, bench_outputs *outputs) {
    last_index(point, outputs)[point->k - 1] = (int32_t)point->n - 1;
}

static void spoil_by_leaving(const bench_point *point, bench_outputs *outputs) {
    memset(last_index(point, outputs), 0xA5, sizeof(int32_t));
    memset(last_value(point, outputs), 0xA5, sizeof(float));
}

static void spoil_padding(const bench_point *point, bench_outputs *outputs) {
    last_index(point, outputs)[point->k - 1] = 0;
}

static void spoil_kth(const bench_point *point, bench_outputs *outputs) {
    ((uint32_t *)outputs->kth)[point->rows - 1] ^= 1;
}

static void spoil_better(const bench_point *point, bench_outputs *outputs) {
    ++outputs->better[point->rows - 1];
}

static void spoil_equal(const bench_point *point, bench_outputs *outputs) {
    ++outputs->equal[point->rows - 1];
}

static void spoil_match(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    ++((int32_t *)outputs->indices)[outputs->capacity - 1];
}

static void spoil_match_order(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    int32_t *index = outputs->indices;
    const int32_t first = index[0];
    index[0] = index[1];
    index[1] = first;
}

static void spoil_by_repeating_match(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    ((int32_t *)outputs->indices)[1] = ((int32_t *)outputs->indices)[0];
}

/* The first match is left out, and all others move up. */
static void spoil_by_missing_match(const bench_point *point, bench_outputs *outputs) {
    int32_t *index = outputs->indices;
    memmove(index, index + 1, (size_t)(outputs->capacity - 1) * sizeof *index);
    for (int64_t r = 1; r <= point->rows; ++r) {
        --outputs->offsets[r];
    }
}

static void spoil_by_leaving_match(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    memset((int32_t *)outputs->indices + outputs->capacity - 1, 0xA5, sizeof(int32_t));
}

static void spoil_offset(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    ++outputs->offsets[1];
}

static void spoil_count(const bench_point *point, bench_outputs *outputs) {
    --outputs->offsets[point->rows];
}

static void spoil_row_count(const bench_point *point, bench_outputs *outputs) {
    ++outputs->counts[point->rows - 1];
}

static void spoil_row_counts(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    ++outputs->counts[0];
    --outputs->counts[1];
}

static void spoil_bit(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    outputs->mask[outputs->value_bytes - 1] ^= 0x80;
}

/* A word per dimension that matters here. */
typedef struct trial {
    const char *what, *suite, *data, *k, *order, *ties;
    bench_spoil *spoil;
} trial;

static const trial trials[] = {
    {"a changed value", "select", "uniform", "50", "best", "lowest", spoil_value},
    {"an index past the end", "select", "uniform", "50", "any", "any", spoil_index},
    {"an index of another element", "select", "uniform", "50", "any", "lowest", spoil_payload},
    {"an index of an equal element", "select", "all-equal", "50", "best", "any", spoil_payload},
    {"two results exchanged", "select", "uniform", "50", "best", "any", spoil_order},
    {"two ties exchanged", "select", "all-equal", "50", "best", "lowest", spoil_order},
    {"a result twice", "select", "uniform", "50", "any", "any", spoil_by_repeating},
    {"a tie twice", "select", "all-equal", "50", "any", "any", spoil_by_repeating},
    {"a tie that lies too late", "select", "all-equal", "50", "any", "lowest", spoil_tie},
    {"a slot that was not written", "select", "uniform", "50", "any", "any", spoil_by_leaving},
    {"an index in the padding", "select", "uniform", "1001", "best", "lowest", spoil_padding},
    {"a changed k-th value", "kth", "uniform", "50", "best", "lowest", spoil_kth},
    {"a changed count of better", "kth", "uniform", "50", "best", "lowest", spoil_better},
    {"a changed count of equal", "kth", "uniform", "50", "best", "lowest", spoil_equal},
    {"a changed match", "where", "uniform", "0", "best", "lowest", spoil_match},
    {"two matches exchanged", "where", "uniform", "0", "best", "lowest", spoil_match_order},
    {"a match twice", "where", "uniform", "0", "best", "lowest", spoil_by_repeating_match},
    {"a match that is missing", "where", "uniform", "0", "best", "lowest", spoil_by_missing_match},
    {"a match that was not written", "where", "uniform", "0", "best", "lowest", spoil_by_leaving_match},
    {"a changed offset", "where", "uniform", "0", "best", "lowest", spoil_offset},
    {"a changed count of matches", "where", "uniform", "0", "best", "lowest", spoil_count},
};

/* Of suites that only a GPU has, by a byte mask. */
static const trial gpu_trials[] = {
    {"a changed value of a match", "filtered", "uniform", "50", "any", "any", spoil_value},
    {"an equal element that is no match", "filtered", "all-equal", "50", "best", "lowest", spoil_payload},
    {"more results than matches", "filtered", "uniform", "500", "best", "lowest", spoil_padding},
    {"a changed count of a row", "count", "uniform", "0", "best", "lowest", spoil_row_count},
    {"a match counted for another row", "count", "uniform", "0", "best", "lowest", spoil_row_counts},
    {"a changed bit", "mask", "uniform", "0", "best", "lowest", spoil_bit},
};

static bool try_point(const trial *each, const bench_point *point, bench_trial_run *run, void *state) {
    bench_verdict right = {false, false, ""};
    bench_verdict spoilt = {true, true, ""};
    run(state, point, NULL, &right);
    run(state, point, each->spoil, &spoilt);
    if (!right.correct || !right.timed) {
        printf("FAIL  %s: the right result was rejected: %s\n", each->what, right.reason);
        return false;
    }
    if (spoilt.correct || spoilt.timed) {
        printf("FAIL  %s: not noticed\n", each->what);
        return false;
    }
    printf("ok    %s: %s\n", each->what, spoilt.reason);
    return true;
}

static bool try_all(const trial *list, size_t count, const char *device, bench_trial_run *run, void *state) {
    bool ok = true;
    for (size_t i = 0; i < count; ++i) {
        char words[160], error[128] = "no points";
        snprintf(words, sizeof words,
                 "type=f32 dist=%s rows=3 n=1000 k=%s keep=10 order=%s ties=%s index=i32%s", list[i].data,
                 list[i].k, list[i].order, list[i].ties, list == gpu_trials ? " predicate=byte-mask" : "");
        const bench_request request = {device, list[i].suite, words, NULL};
        bench_point *points = NULL;
        const int found = bench_suite_points(&request, &points, error, sizeof error);
        if (found < 1) {
            printf("FAIL  %s: %s\n", list[i].what, error);
        }
        ok = found >= 1 && try_point(&list[i], &points[0], run, state) && ok;
        if (found >= 1) {
            free(points);
        }
    }
    return ok;
}

bool bench_self_test(const char *device, bench_trial_run *run, void *state) {
    const bool ok = try_all(trials, sizeof trials / sizeof *trials, device, run, state);
    return strcmp(device, "cpu") == 0
               ? ok
               : try_all(gpu_trials, sizeof gpu_trials / sizeof *gpu_trials, device, run, state) && ok;
}
