/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "../output/element.h"

/* ---- Slots ----------------------------------------------------------------------------------- */

int answers_ranks_max(const struct options *options) {
    return 2 * options->place_count;
}

void answers_begin(struct answers *answers, const struct options *options, topk_type type, int64_t rows) {
    const uint64_t places = (uint64_t)options->place_count, ranks = (uint64_t)answers_ranks_max(options);
    *answers = (struct answers){.options = options, .type = type};
    answers->pairs = allocate(places, sizeof *answers->pairs);
    answers->firsts = allocate(places, sizeof *answers->firsts);
    answers->ranks = allocate(ranks, sizeof *answers->ranks);
    answers->kth = allocate(ranks * (uint64_t)rows, topk_type_size(type));
    answers->better = allocate(ranks * (uint64_t)rows, sizeof *answers->better);
    answers->equal = allocate(ranks * (uint64_t)rows, sizeof *answers->equal);
}

void answers_end(struct answers *answers) {
    release(answers->pairs);
    release(answers->firsts);
    release(answers->ranks);
    release(answers->kth);
    release(answers->better);
    release(answers->equal);
}

struct answer answers_at(const struct answers *answers, int rank, int64_t row) {
    const int64_t at = row * answers->count + rank;
    return (struct answer){answers->kth + (size_t)at * topk_type_size(answers->type), answers->better + at,
                           answers->equal + at};
}

/* ---- Places ---------------------------------------------------------------------------------- */

static _Noreturn void fail_place(const struct options *options, const struct place_asked *asked,
                                 int64_t length, int64_t row) {
    char where[32] = "";
    if (row >= 0)
        snprintf(where, sizeof where, " in row %" PRId64, row);
    fail("%s %.*s: no element has that place, for there are %" PRId64
         "%s%s; --padding prints a value all the same",
         asked->kind == PLACE_QUANTILE ? "--quantile" : "-k", (int)asked->length, asked->text, length,
         options_filters(options) ? " that meet the predicate" : "", where);
}

void answers_place(struct answers *answers, int64_t length, int64_t row) {
    const struct options *options = answers->options;
    answers->count = 0;
    for (int i = 0; i < options->place_count; i++) {
        struct place_pair *pair = &answers->pairs[i];
        *pair = place_among(&options->places[i], length, options->between);
        if (!options->padding && (pair->low < 1 || pair->low > length))
            fail_place(options, &options->places[i], length, row);
        answers->firsts[i] = answers->count;
        answers->ranks[answers->count++] = pair->low;
        if (pair->high != pair->low)
            answers->ranks[answers->count++] = pair->high;
    }
}

/* ---- Between two elements -------------------------------------------------------------------- */

__extension__ typedef __int128 wide;

static double between_doubles(double low, double high, const struct place_pair *pair) {
    const double part = (double)pair->rest / (double)pair->whole;
    const double rest = (double)(pair->whole - pair->rest) / (double)pair->whole;
    const double distance = high - low;
    if (isinf(low) || isinf(high))
        return low + high;
    if (isinf(distance))
        return low * rest + high * part;
    return fmin(fmax(part < 0.5 ? low + distance * part : high - distance * rest, low), high);
}

static wide integer_of(const struct answers *answers, const void *element) {
    const topk_bound number = element_decode(answers->type, element);
    if (number.type == TOPK_BOUND_U64)
        return (wide)number.value.u64;
    const wide value = (wide)number.value.i64; /* a signed minimum is its own magnitude */
    return answers->options->problem.rank == TOPK_BY_MAGNITUDE && value < 0 ? -value : value;
}

/* Writes a decimal number of units of 1 / whole, without zeros behind its last digit. */
static void format_units(wide units, int64_t whole, char text[ANSWER_DECIMAL_BYTES]) {
    char digits[ANSWER_DECIMAL_BYTES];
    char *end = text;
    int count = 0, decimals = 0;
    if (units < 0)
        *end++ = '-';
    units = units < 0 ? -units : units;
    for (; whole > 1; whole /= 10)
        decimals++;
    for (; decimals > 0 && units % 10 == 0; decimals--)
        units /= 10;
    for (; units > 0 || count <= decimals; units /= 10)
        digits[count++] = (char)('0' + (int)(units % 10));
    while (count > 0) {
        *end++ = digits[--count];
        if (count == decimals && count > 0)
            *end++ = '.';
    }
    *end = '\0';
}

/* A quantile between two elements that differ. If it is one of them, that is the answer. */
static struct place_answer between(const struct answers *answers, const struct place_pair *pair,
                                   const struct place_answer *low, const struct place_answer *high) {
    struct place_answer answer = {.asked = low->asked, .better = high->better};
    if (element_decode(answers->type, low->value).type != TOPK_BOUND_F64) {
        const wide from = integer_of(answers, low->value), to = integer_of(answers, high->value);
        format_units(from * pair->whole + (to - from) * pair->rest, pair->whole, answer.decimal);
        return answer;
    }
    const double from = element_decode(answers->type, low->value).value.f64;
    const double to = element_decode(answers->type, high->value).value.f64;
    answer.mean = between_doubles(from, to, pair);
    if (isnan(to) || (answer.mean >= to && !isinf(to)))
        return *high;
    if (answer.mean <= from && !isinf(from))
        return *low;
    answer.between = true;
    return answer;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* The answer in the slot of a place's rank. A magnitude has no sign. */
static struct place_answer answer_of(const struct answers *answers, int place, int rank, int64_t at,
                                     struct outliers *outliers, struct beyond *unsigned_number) {
    const struct answer found = answers_at(answers, rank, at);
    struct place_answer answer = {.asked = &answers->options->places[place],
                                  .value = found.kth,
                                  .better = *found.better,
                                  .equal = *found.equal};
    if (outliers == NULL || outliers->count == 0)
        return answer;
    double kth;
    memcpy(&kth, found.kth, sizeof kth);
    answer.beyond = outliers_kth(outliers, answers->ranks[rank], &kth, &answer.better, &answer.equal);
    if (answer.beyond != NULL && answers->options->problem.rank == TOPK_BY_MAGNITUDE) {
        const bool has_sign = *answer.beyond->text == '-' || *answer.beyond->text == '+';
        *unsigned_number = *answer.beyond;
        unsigned_number->text += has_sign;
        unsigned_number->length -= has_sign;
        answer.beyond = unsigned_number;
    }
    return answer;
}

static void print_place(struct answers *answers, struct report *report, int place, int64_t at, int64_t row,
                        struct outliers *outliers) {
    const struct place_pair *pair = &answers->pairs[place];
    const int rank = answers->firsts[place];
    struct beyond numbers[2];
    struct place_answer answer = answer_of(answers, place, rank, at, outliers, &numbers[0]);
    if (pair->high != pair->low) {
        const struct place_answer high = answer_of(answers, place, rank + 1, at, outliers, &numbers[1]);
        if (high.better != answer.better && (answer.beyond != NULL || high.beyond != NULL))
            fail("--quantile %.*s: lies between numbers that float64 cannot hold; say --interpolation lower, "
                 "higher or nearest, or of integers --dtype int64",
                 (int)answer.asked->length, answer.asked->text);
        if (high.better != answer.better)
            answer = between(answers, pair, &answer, &high);
    }
    report_place(report, row, &answer);
}

void answers_print(struct answers *answers, struct report *report, int64_t at, int64_t row,
                   struct outliers *outliers) {
    for (int i = 0; i < answers->options->place_count; i++)
        print_place(answers, report, i, at, row, outliers);
}
