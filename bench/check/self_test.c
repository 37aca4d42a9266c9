/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check.h"

#include "points/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All spoilt points have f32 elements and i32 indices. Results of the last row are spoilt. */
static int64_t first_slot(const bench_point *point, const bench_outputs *outputs) {
    return outputs->offsets != NULL ? outputs->offsets[point->rows - 1] : (point->rows - 1) * point->k;
}

static int64_t last_slot(const bench_point *point, const bench_outputs *outputs) {
    return (outputs->offsets != NULL ? outputs->capacity : point->rows * point->k) - 1;
}

static int32_t *index_at(const bench_outputs *outputs, int64_t slot) {
    return (int32_t *)outputs->indices + slot;
}

static void raise_index(int32_t *index, int64_t n) {
    *index = (*index + 1) % (int32_t)n;
}

/* A defect of one statement. */
#define SPOIL(name, statement)                                                                               \
    static void name(const bench_point *point, bench_outputs *outputs) {                                     \
        (void)point, (void)outputs, (void)(statement);                                                       \
    }

SPOIL(spoil_nothing, 0)
SPOIL(change_value, ((uint32_t *)outputs->values)[first_slot(point, outputs)] ^= 1)

SPOIL(change_index, raise_index(index_at(outputs, first_slot(point, outputs)), point->n))
SPOIL(go_beyond, *index_at(outputs, first_slot(point, outputs)) = (int32_t)point->n)

/* Exchanges two results, as far as there are indices and values. */
static void exchange(bench_outputs *outputs, int64_t a, int64_t b) {
    uint32_t *arrays[] = {outputs->indices, outputs->values};
    for (int i = 0; i < 2; ++i) {
        if (arrays[i] != NULL) {
            const uint32_t other = arrays[i][a];
            arrays[i][a] = arrays[i][b];
            arrays[i][b] = other;
        }
    }
}

SPOIL(exchange_two, exchange(outputs, first_slot(point, outputs), first_slot(point, outputs) + 1))

static void reverse(const bench_point *point, bench_outputs *outputs) {
    for (int64_t a = first_slot(point, outputs), b = last_slot(point, outputs); a < b; ++a, --b) {
        exchange(outputs, a, b);
    }
}

static void repeat(const bench_point *point, bench_outputs *outputs) {
    const int64_t last = last_slot(point, outputs);
    *index_at(outputs, last) = *index_at(outputs, last - 1);
    if (outputs->values != NULL) {
        ((float *)outputs->values)[last] = ((float *)outputs->values)[last - 1];
    }
}

/* The last slot is as it was before the call. */
static void leave(const bench_point *point, bench_outputs *outputs) {
    const int64_t last = last_slot(point, outputs);
    memset(index_at(outputs, last), 0xA5, sizeof(int32_t));
    if (outputs->values != NULL) {
        memset((float *)outputs->values + last, 0xA5, sizeof(float));
    }
}

/* All elements are equal: any of them has the right value, but those at the front must be taken. */
SPOIL(take_last_tie, *index_at(outputs, last_slot(point, outputs)) = (int32_t)point->n - 1)
SPOIL(change_padding, *index_at(outputs, last_slot(point, outputs)) = 0)
SPOIL(change_kth, ((uint32_t *)outputs->kth)[point->rows - 1] ^= 1)
SPOIL(change_first_kth, ((uint32_t *)outputs->kth)[0] ^= 1)
SPOIL(change_first_better, ++outputs->better[0])
SPOIL(change_first_equal, ++outputs->equal[0])
SPOIL(change_weight, outputs->weights[first_slot(point, outputs)] *= 1.000001F)
SPOIL(change_better, ++outputs->better[point->rows - 1])
SPOIL(change_equal, ++outputs->equal[point->rows - 1])

/* Of odd lengths: the first row has n - 1 elements, and behind them lies the first of the next row. All
 * elements are equal. */
SPOIL(go_into_next_row, *index_at(outputs, 0) = (int32_t)point->n - 1)
SPOIL(change_padding_value, ((uint32_t *)outputs->values)[point->n - 1] ^= 1)

static void fill_padding(const bench_point *point, bench_outputs *outputs) {
    *index_at(outputs, point->n - 1) = (int32_t)point->n - 1;
    ((float *)outputs->values)[point->n - 1] = ((float *)outputs->values)[0];
}

/* The last result of the first row that ends in padding. */
static void lose_result(const bench_point *point, bench_outputs *outputs) {
    int64_t slot = 0;
    while (slot % point->k == 0 || *index_at(outputs, slot) != -1) {
        ++slot;
    }
    exchange(outputs, slot - 1, slot);
}

/* The first match is left out, and all others move up. */
static void miss_match(const bench_point *point, bench_outputs *outputs) {
    int32_t *index = outputs->indices;
    memmove(index, index + 1, (size_t)(outputs->capacity - 1) * sizeof *index);
    for (int64_t r = 1; r <= point->rows; ++r) {
        --outputs->offsets[r];
    }
}

SPOIL(change_offset, ++outputs->offsets[1])
SPOIL(change_count, --outputs->offsets[point->rows])
SPOIL(change_row_count, ++outputs->counts[point->rows - 1])
SPOIL(move_count, (++outputs->counts[0], --outputs->counts[1]))
SPOIL(change_bit, outputs->mask[outputs->value_bytes - 1] ^= 0x80)

/* From here on the results are one row's, of a rival that promises no order and gives the last offset. */
static bench_outputs *make_set(bench_outputs *outputs) {
    outputs->any_order = outputs->count_alone = true;
    return outputs;
}

SPOIL(reverse_set, (reverse(point, make_set(outputs)), outputs->offsets[0] = -1)) /* which is not given */
SPOIL(repeat_in_set, repeat(point, make_set(outputs)))
SPOIL(miss_in_set, change_count(point, make_set(outputs)))
SPOIL(go_beyond_in_set, go_beyond(point, make_set(outputs)))
SPOIL(go_below_in_set, *index_at(make_set(outputs), last_slot(point, outputs)) = -1)

/* The first element that is no match, in the slot of a match. */
static void take_another_in_set(const bench_point *point, bench_outputs *outputs) {
    int32_t i = 0;
    make_set(outputs);
    while (*index_at(outputs, i) == i) {
        ++i;
    }
    *index_at(outputs, last_slot(point, outputs)) = i;
}

/* `words` are dimensions of the suite's point; usual_words, where they do not have it. */
typedef struct trial {
    const char *what, *suite, *words;
    bench_spoil *spoil;
    bool right; /* all the same */
} trial;

static const char usual_words[] =
    "type=f32 dist=uniform rows=3 n=1000 k=50 keep=10 order=best ties=lowest index=i32";

enum { cpu_trials = 51 };
static const trial trials[] = {
    {"a changed value", "select", "", change_value, false},
    {"an index past the end", "select", "order=any ties=any", go_beyond, false},
    {"an index of another element", "select", "order=any", change_index, false},
    {"an index of an equal element", "select", "dist=all-equal ties=any", change_index, false},
    {"two results exchanged", "select", "ties=any", exchange_two, false},
    {"two results exchanged where any order will do", "select", "order=any ties=any", exchange_two, true},
    {"two ties exchanged", "select", "dist=all-equal", exchange_two, false},
    {"a result twice", "select", "order=any ties=any", repeat, false},
    {"a tie twice", "select", "dist=all-equal order=any ties=any", repeat, false},
    {"a tie that lies too late", "select", "dist=all-equal order=any", take_last_tie, false},
    {"any tie where any will do", "select", "dist=all-equal ties=any", take_last_tie, true},
    {"a slot that was not written", "select", "order=any ties=any", leave, false},
    {"an index in the padding", "select", "k=1001", change_padding, false},
    {"a changed k-th value", "kth", "", change_kth, false},
    {"a changed count of better", "kth", "", change_better, false},
    {"a changed count of equal", "kth", "", change_equal, false},
    {"odd lengths: an element of the next row", "select", "lengths=odd dist=all-equal order=any ties=any",
     go_into_next_row, false},
    {"odd lengths: an element of the next row as padding", "select", "lengths=odd dist=all-equal k=n",
     fill_padding, false},
    {"odd lengths: a changed value of padding", "select", "lengths=odd k=n", change_padding_value, false},
    {"odd lengths: a changed index", "select", "lengths=odd order=any", change_index, false},
    {"powers: a changed value", "select", "lengths=powers rows=5 n=5000", change_value, false},
    {"powers: two results exchanged", "select", "lengths=powers rows=5 n=5000", exchange_two, false},
    {"powers: an index past the end of all rows", "select",
     "lengths=powers rows=5 n=5000 dist=all-equal ties=any", go_beyond, false},
    {"uneven: a result lost to padding", "select", "lengths=uneven rows=50 n=20", lose_result, false},
    {"uneven: a slot that was not written", "select", "lengths=uneven rows=50 n=20", leave, false},
    {"odd lengths: a k-th value of a row too short", "kth", "lengths=odd k=n", change_first_kth, false},
    {"odd lengths: a count of better in it", "kth", "lengths=odd k=n", change_first_better, false},
    {"odd lengths: a count of equal in it", "kth", "lengths=odd k=n", change_first_equal, false},
    {"uneven: a changed count of better", "kth", "lengths=uneven rows=50 n=20", change_better, false},
    {"a changed match", "where", "", change_index, false},
    {"two matches exchanged", "where", "", exchange_two, false},
    {"a match twice", "where", "", repeat, false},
    {"a match that is missing", "where", "", miss_match, false},
    {"a match that was not written", "where", "", leave, false},
    {"a changed offset", "where", "", change_offset, false},
    {"a changed count of matches", "where", "", change_count, false},
    {"matches in reverse", "where", "rows=1 n=5000", reverse, false},
    {"matches in reverse where any order will do", "where", "rows=1 n=5000", reverse_set, true},
    {"of a set, a match twice", "where", "rows=1 n=5000", repeat_in_set, false},
    {"of a set, a match that is missing", "where", "rows=1 n=5000", miss_in_set, false},
    {"of a set, an element that does not match", "where", "rows=1 n=5000", take_another_in_set, false},
    {"of a set, an index past the end", "where", "rows=1 n=5000", go_beyond_in_set, false},
    {"of a set, an index below 0", "where", "rows=1 n=5000", go_below_in_set, false},
    {"an equal element that is not chosen", "select", "dist=all-equal max-iterations=2", take_last_tie,
     false},
    {"results that are not by position", "select", "order=any max-iterations=2", exchange_two, false},
    {"results by position", "select", "order=position", spoil_nothing, true},
    {"results by position exchanged", "select", "order=position ties=any", exchange_two, false},
    {"another result of an approximation", "select", "order=any epsilon=0.1", change_index, false},
    {"two experts exchanged", "routing", "k=8", exchange_two, false},
    {"an expert past the end", "routing", "k=8 routing=all", go_beyond, false},
    {"a changed weight", "routing", "k=8 routing=weights", change_weight, false},
    /* Behind the first cpu_trials, what only a GPU has: */
    {"values beside indices", "where", "outputs=both", spoil_nothing, true},
    {"a changed value beside indices", "where", "outputs=both", change_value, false},
    {"values alone", "where", "outputs=values", spoil_nothing, true},
    {"a changed value of a match", "where", "outputs=values", change_value, false},
    {"two values exchanged", "where", "outputs=values", exchange_two, false},
    {"a count alone", "where", "outputs=count", spoil_nothing, true},
    {"a changed count alone", "where", "outputs=count", change_count, false},
    {"a changed value by mask", "filtered", "predicate=byte-mask order=any ties=any", change_value, false},
    {"an equal element, no match", "filtered", "predicate=byte-mask dist=all-equal", change_index, false},
    {"more results than matches", "filtered", "predicate=byte-mask k=500", change_padding, false},
    {"a changed count of a row", "count", "predicate=byte-mask", change_row_count, false},
    {"a match counted for another row", "count", "predicate=byte-mask", move_count, false},
    {"a changed bit", "mask", "predicate=byte-mask", change_bit, false},
};

static bool try_one(const trial *each, const char *device, bench_trial_run *run, void *state) {
    bench_verdict right = {false, false, ""};
    bench_verdict spoilt = {!each->right, !each->right, ""};
    char words[160];
    snprintf(words, sizeof words, "%s %s", each->words, usual_words);
    const bench_request request = {device, each->suite, words, NULL, NULL};
    bench_point *points = NULL;
    if (bench_suite_points(&request, &points, right.reason, sizeof right.reason) > 0) {
        run(state, &points[0], NULL, &right);
        run(state, &points[0], each->spoil, &spoilt);
    }
    free(points);
    const bool accepted = right.correct && right.timed;
    const bool ok = accepted && spoilt.correct == each->right && spoilt.timed == each->right;
    printf("%-5s %s: %s\n", ok ? "ok" : "FAIL", each->what,
           !accepted        ? right.reason
           : spoilt.correct ? "is right"
                            : spoilt.reason);
    return ok;
}

bool bench_self_test(const char *device, bench_trial_run *run, void *state) {
    const int count = strcmp(device, "cpu") == 0 ? cpu_trials : (int)(sizeof trials / sizeof *trials);
    bool ok = true;
    for (int i = 0; i < count; ++i) {
        ok = try_one(&trials[i], device, run, state) && ok;
    }
    return ok;
}
