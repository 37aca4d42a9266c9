/* SPDX-License-Identifier: Apache-2.0 */
#include "check/self_test.h"

#include "points/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All spoilt points have f32 elements and i32 indices. */
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

static void spoil_last_value(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    ((float *)outputs->values)[outputs->capacity - 1] += 1;
}

static void spoil_value_order(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    float *value = outputs->values;
    const float first = value[0];
    value[0] = value[1];
    value[1] = first;
}

static void spoil_nothing(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    (void)outputs;
}

static void reverse(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    int32_t *index = outputs->indices;
    for (int64_t i = 0, j = outputs->capacity - 1; i < j; ++i, --j) {
        const int32_t other = index[i];
        index[i] = index[j];
        index[j] = other;
    }
}

/* From here on the results are those of one row, of a rival that promises no order and gives no offset but
 * the last. */
static int32_t *set_of(bench_outputs *outputs) {
    outputs->any_order = outputs->count_alone = true;
    outputs->offsets[0] = -1;
    return outputs->indices;
}

static void reverse_set(const bench_point *point, bench_outputs *outputs) {
    (void)set_of(outputs);
    reverse(point, outputs);
}

static void spoil_set_by_repeating(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    int32_t *index = set_of(outputs);
    index[outputs->capacity - 1] = index[0];
}

static void spoil_set_by_leaving_out(const bench_point *point, bench_outputs *outputs) {
    (void)set_of(outputs);
    --outputs->offsets[point->rows];
}

static void spoil_set_by_going_beyond(const bench_point *point, bench_outputs *outputs) {
    set_of(outputs)[7] = (int32_t)point->n;
}

static void spoil_set_by_going_below(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    set_of(outputs)[7] = -1;
}

/* The first element that is no match, in the slot of a match. */
static void spoil_set_by_another(const bench_point *point, bench_outputs *outputs) {
    (void)point;
    int32_t *index = set_of(outputs), i = 0;
    while (index[i] == i) {
        ++i;
    }
    index[outputs->capacity - 1] = i;
}

/* `words` are dimensions of the suite's point; usual_words, where they do not have it. */
typedef struct trial {
    const char *what, *suite, *words;
    bench_spoil *spoil;
    bool right; /* all the same */
} trial;

static const char usual_words[] =
    "type=f32 dist=uniform rows=3 n=1000 k=50 keep=10 order=best ties=lowest index=i32";

static const trial trials[] = {
    {"a changed value", "select", "", spoil_value, false},
    {"an index past the end", "select", "order=any ties=any", spoil_index, false},
    {"an index of another element", "select", "order=any", spoil_payload, false},
    {"an index of an equal element", "select", "dist=all-equal ties=any", spoil_payload, false},
    {"two results exchanged", "select", "ties=any", spoil_order, false},
    {"two results exchanged where any order will do", "select", "order=any ties=any", spoil_order, true},
    {"two ties exchanged", "select", "dist=all-equal", spoil_order, false},
    {"a result twice", "select", "order=any ties=any", spoil_by_repeating, false},
    {"a tie twice", "select", "dist=all-equal order=any ties=any", spoil_by_repeating, false},
    {"a tie that lies too late", "select", "dist=all-equal order=any", spoil_tie, false},
    {"any tie where any will do", "select", "dist=all-equal ties=any", spoil_tie, true},
    {"a slot that was not written", "select", "order=any ties=any", spoil_by_leaving, false},
    {"an index in the padding", "select", "k=1001", spoil_padding, false},
    {"a changed k-th value", "kth", "", spoil_kth, false},
    {"a changed count of better", "kth", "", spoil_better, false},
    {"a changed count of equal", "kth", "", spoil_equal, false},
    {"a changed match", "where", "", spoil_match, false},
    {"two matches exchanged", "where", "", spoil_match_order, false},
    {"a match twice", "where", "", spoil_by_repeating_match, false},
    {"a match that is missing", "where", "", spoil_by_missing_match, false},
    {"a match that was not written", "where", "", spoil_by_leaving_match, false},
    {"a changed offset", "where", "", spoil_offset, false},
    {"a changed count of matches", "where", "", spoil_count, false},
    {"matches in reverse", "where", "rows=1 n=5000", reverse, false},
    {"matches in reverse where any order will do", "where", "rows=1 n=5000", reverse_set, true},
    {"of a set, a match twice", "where", "rows=1 n=5000", spoil_set_by_repeating, false},
    {"of a set, a match that is missing", "where", "rows=1 n=5000", spoil_set_by_leaving_out, false},
    {"of a set, an element that does not match", "where", "rows=1 n=5000", spoil_set_by_another, false},
    {"of a set, an index past the end", "where", "rows=1 n=5000", spoil_set_by_going_beyond, false},
    {"of a set, an index below 0", "where", "rows=1 n=5000", spoil_set_by_going_below, false},
};

/* What only a GPU has. */
static const trial gpu_trials[] = {
    {"values beside indices", "where", "outputs=both", spoil_nothing, true},
    {"a changed value beside indices", "where", "outputs=both", spoil_last_value, false},
    {"values alone", "where", "outputs=values", spoil_nothing, true},
    {"a changed value of a match", "where", "outputs=values", spoil_last_value, false},
    {"two values exchanged", "where", "outputs=values", spoil_value_order, false},
    {"a count alone", "where", "outputs=count", spoil_nothing, true},
    {"a changed count alone", "where", "outputs=count", spoil_count, false},
    {"a changed value of a match by mask", "filtered", "predicate=byte-mask order=any ties=any", spoil_value,
     false},
    {"an equal element that is no match", "filtered", "predicate=byte-mask dist=all-equal", spoil_payload,
     false},
    {"more results than matches", "filtered", "predicate=byte-mask k=500", spoil_padding, false},
    {"a changed count of a row", "count", "predicate=byte-mask", spoil_row_count, false},
    {"a match counted for another row", "count", "predicate=byte-mask", spoil_row_counts, false},
    {"a changed bit", "mask", "predicate=byte-mask", spoil_bit, false},
};

static bool try_point(const trial *each, const bench_point *point, bench_trial_run *run, void *state) {
    bench_verdict right = {false, false, ""};
    bench_verdict spoilt = {!each->right, !each->right, ""};
    run(state, point, NULL, &right);
    run(state, point, each->spoil, &spoilt);
    const bool accepted = right.correct && right.timed;
    const bool ok = accepted && spoilt.correct == each->right && spoilt.timed == each->right;
    printf("%-5s %s: %s\n", ok ? "ok" : "FAIL", each->what,
           !accepted        ? right.reason
           : spoilt.correct ? "is right"
                            : spoilt.reason);
    return ok;
}

static bool try_all(const trial *list, size_t count, const char *device, bench_trial_run *run, void *state) {
    bool ok = true;
    for (size_t i = 0; i < count; ++i) {
        char words[160], error[128] = "no points";
        snprintf(words, sizeof words, "%s %s", list[i].words, usual_words);
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
