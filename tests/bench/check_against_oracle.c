/* SPDX-License-Identifier: Apache-2.0
 *
 * The benchmark's checks against the oracle: small random problems of every type, direction, order, policy of
 * ties and NaN, and predicate; rows of different lengths; and approximate ones, whose results are any
 * elements that a model may have chosen. The checks must accept what the oracle says, in any form that the
 * point allows, and reject it with one thing wrong. */
#include "check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "generators.h"
#include "oracle.h"

enum { TRIALS = 60000, ROWS = 3, LENGTH = 40, ELEMENTS = ROWS * LENGTH, SLOTS = ROWS * (LENGTH + 3) };

/* A problem, the right outputs, and what the oracle knows about them. */
typedef struct trial {
    random_state random;
    bench_point point;
    topk_problem problem;
    bench_truth truth;
    bench_outputs outputs;
    int64_t begins[ROWS + 1]; /* of rows, and where the last one ends */
    bool matches[ELEMENTS];
    oracle_entry kept[ROWS][LENGTH]; /* the elements of a row that take part, best first */
    int64_t kept_count[ROWS], taken[ROWS];
    int64_t host_count;
    uint64_t input[ELEMENTS], values[SLOTS], kth[ROWS];
    int64_t indices[SLOTS], better[ROWS], equal[ROWS], offsets[ROWS + 1], counts[ROWS];
    unsigned char mask[ELEMENTS], bits[ELEMENTS / 8 + 1];
} trial;

static int64_t below(trial *t, int64_t bound) {
    return random_below(&t->random, bound);
}

static int64_t length_of(const trial *t, int64_t r) {
    return t->begins[r + 1] - t->begins[r];
}

/* The elements of row r from i on. */
static char *elements_of(trial *t, int64_t r, int64_t i) {
    return (char *)t->input + (size_t)(t->begins[r] + i) * topk_type_size(t->point.type);
}

static int64_t index_at(const trial *t, int64_t slot) {
    return t->point.index_type == TOPK_INDEX_I64 ? t->indices[slot] : ((const int32_t *)t->indices)[slot];
}

static void put_index(trial *t, int64_t slot, int64_t index) {
    if (t->point.index_type == TOPK_INDEX_I64) {
        t->indices[slot] = index;
    } else {
        ((int32_t *)t->indices)[slot] = (int32_t)index;
    }
}

/* Makes a slot the result that element i of row r is. */
static void put_result(trial *t, int64_t slot, int64_t r, int64_t i) {
    const topk_type type = t->point.type;
    put_index(t, slot, i);
    element_put_bits(type, t->values, slot, element_get_bits(type, t->input, t->begins[r] + i));
}

static void exchange(trial *t, int64_t a, int64_t b) {
    const topk_type type = t->point.type;
    const int64_t index = index_at(t, a);
    const uint64_t bits = element_get_bits(type, t->values, a);
    put_index(t, a, index_at(t, b));
    element_put_bits(type, t->values, a, element_get_bits(type, t->values, b));
    put_index(t, b, index);
    element_put_bits(type, t->values, b, bits);
}

/* How elements i and j of row r rank: below 0, i is better; 0, they tie. */
static int order_of(trial *t, int64_t r, int64_t i, int64_t j) {
    const oracle_number a = oracle_decode(t->point.type, elements_of(t, r, i));
    const oracle_number b = oracle_decode(t->point.type, elements_of(t, r, j));
    return oracle_order(&t->problem, &a, &b);
}

static void shuffle(trial *t, int64_t first, int64_t count) {
    for (int64_t j = count - 1; j > 0; j--) {
        exchange(t, first + j, first + below(t, j + 1));
    }
}

/* Rows of n elements, or of any number of them, which the benchmark has for some operations alone. */
static void draw_lengths(trial *t) {
    bench_point *p = &t->point;
    const bool can = p->operation == TOPK_OPERATION_SELECT || p->operation == TOPK_OPERATION_KTH;
    p->lengths = can && p->max_iterations == 0 && below(t, 2) ? BENCH_UNEVEN : BENCH_EVEN;
    for (int64_t r = 0; r < p->rows; r++) {
        const int64_t length = p->lengths == BENCH_EVEN ? p->n : below(t, LENGTH + 1);
        t->begins[r + 1] = t->begins[r] + length;
        p->length_max = length > p->length_max ? length : p->length_max;
    }
    p->elements = t->begins[p->rows];
}

static void draw_point(trial *t) {
    static const topk_operation operations[] = {TOPK_OPERATION_SELECT,       TOPK_OPERATION_KTH,
                                                TOPK_OPERATION_WHERE,        TOPK_OPERATION_COUNT,
                                                TOPK_OPERATION_SELECT_WHERE, TOPK_OPERATION_MASK};
    bench_point *p = &t->point;
    p->operation = operations[below(t, 6)];
    p->type = (topk_type)(TOPK_F16 + below(t, TOPK_U64 - TOPK_F16 + 1));
    p->rows = 1 + below(t, ROWS);
    p->n = below(t, 8) == 0 ? below(t, 3) : 1 + below(t, LENGTH);
    p->direction = below(t, 2) ? TOPK_SMALLEST : TOPK_LARGEST;
    p->order = (topk_order)below(t, 3);
    p->ties = below(t, 2) ? TOPK_TIES_ANY : TOPK_TIES_LOWEST_INDEX;
    p->nan = below(t, 2) ? TOPK_NAN_LAST : TOPK_NAN_AS_LARGEST;
    p->index_type = below(t, 2) ? TOPK_INDEX_I64 : TOPK_INDEX_I32;
    if (bench_has_k(p)) {
        p->k = below(t, p->n + 3);
    }
    p->max_iterations = p->operation == TOPK_OPERATION_SELECT && below(t, 3) == 0;
    if (bench_has_predicate(p)) {
        p->predicate = (bench_predicate)below(t, 4);
        p->keep_percent = (int)(below(t, 11) * 10);
    }
    if (p->operation == TOPK_OPERATION_WHERE) {
        p->wanted = (bench_wanted)below(t, 4);
    }
    draw_lengths(t);
    t->problem = (topk_problem)TOPK_PROBLEM_INIT;
    t->problem.type = p->type;
    t->problem.direction = p->direction;
    t->problem.nan = p->nan;
}

static void draw_input(trial *t) {
    const generator *from = &generators[below(t, generator_count)];
    for (int64_t r = 0; r < t->point.rows; r++) {
        generate(from, t->point.type, elements_of(t, r, 0), length_of(t, r), &t->random);
    }
}

/* Which elements a model chooses: k of each row. */
static bool is_chosen(trial *t, int64_t e) {
    const int64_t i = e % t->point.n, rest = t->point.n - i;
    int64_t missing = t->point.k;
    for (int64_t before = e - i; before < e; before++) {
        missing -= t->matches[before];
    }
    return below(t, rest) < missing;
}

/* Which elements match, by the oracle, and a mask that says so. */
static void find_matches(trial *t) {
    const bench_point *p = &t->point;
    const uint64_t position_seed = 0x706c616365;
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    topk_input input = TOPK_INPUT_INIT;
    int64_t count = 0;
    predicate.kind = p->predicate == BENCH_AT_MOST ? TOPK_LE : TOPK_GT;
    predicate.low = t->truth.bound;
    input.values = t->input;
    for (int64_t e = 0; e < p->elements; e++) {
        t->matches[e] = p->max_iterations > 0     ? is_chosen(t, e)
                        : !bench_has_predicate(p) ? true
                        : t->truth.rule == BENCH_BY_POSITION
                            ? random_at(position_seed, e) % 100 < (uint64_t)p->keep_percent
                            : oracle_matches(p->type, &input, &predicate, e);
        count += t->matches[e];
        t->bits[e / 8] |= (unsigned char)(t->matches[e] << e % 8);
        if (p->predicate == BENCH_BYTE_MASK) {
            t->mask[e] = t->matches[e];
        } else {
            t->mask[e / 8] = t->bits[e / 8];
        }
    }
    t->truth.chosen = p->max_iterations > 0 ? t->bits : NULL;
    t->truth.offsets = p->lengths != BENCH_EVEN ? t->begins : NULL;
    CHECK(!bench_has_predicate(p) || count == t->truth.matches);
}

/* Whether results ascend by position: so do approximate ones in any order. */
static bool comes_by_position(const bench_point *p) {
    return p->order == TOPK_ORDER_BY_POSITION || (p->order == TOPK_ORDER_ANY && p->max_iterations > 0);
}

/* The oracle's k best of a row, of ties any that will do. */
static void take_results(trial *t, int64_t r) {
    const bench_point *p = &t->point;
    const int64_t taken = t->taken[r], first = r * p->k;
    int64_t needed = 0, equal = 0, slot = first;
    oracle_entry *kept = t->kept[r];
    for (int64_t i = 0; taken > 0 && i < t->kept_count[r]; i++) {
        const bool tie = oracle_order(&t->problem, &kept[i].number, &kept[taken - 1].number) == 0;
        equal += tie;
        needed += tie && i < taken;
    }
    for (int64_t i = 0; slot < first + taken; i++) {
        const bool tie = oracle_order(&t->problem, &kept[i].number, &kept[taken - 1].number) == 0;
        const bool take = !tie || p->ties == TOPK_TIES_LOWEST_INDEX || below(t, equal) < needed;
        equal -= tie;
        needed -= tie && take;
        if (take) {
            put_result(t, slot++, r, kept[i].position);
        }
    }
    for (; slot < first + p->k; slot++) {
        put_index(t, slot, -1);
        oracle_write_padding(p->type, p->direction,
                             (char *)t->values + (size_t)slot * topk_type_size(p->type));
    }
    if (p->order == TOPK_ORDER_ANY) {
        shuffle(t, first, taken);
    }
    for (int64_t j = 0; comes_by_position(p) && j < taken; j++) {
        for (int64_t before = first + j; before > first && index_at(t, before) < index_at(t, before - 1);
             before--) {
            exchange(t, before, before - 1); /* they come by position */
        }
    }
}

static void find_kth(trial *t, int64_t r) {
    const bench_point *p = &t->point;
    const int64_t length = length_of(t, r);
    char *kth = (char *)t->kth + (size_t)r * topk_type_size(p->type);
    if (p->k < 1 || p->k > length) {
        oracle_write_padding(p->type, p->direction, kth);
        t->better[r] = p->k > length ? length : 0;
        return;
    }
    const oracle_kth found = oracle_kth_counts(&t->problem, t->kept[r], length, p->k);
    oracle_write_class(p->type, TOPK_BY_VALUE, elements_of(t, r, t->kept[r][p->k - 1].position), kth);
    t->better[r] = found.better;
    t->equal[r] = found.equal;
}

static void find_where(trial *t) {
    const bench_point *p = &t->point;
    int64_t slot = 0;
    for (int64_t e = 0; e < p->rows * p->n; e++) {
        if (t->matches[e]) {
            put_result(t, slot++, e / p->n, e % p->n);
        }
    }
    t->host_count = slot;
    t->outputs.capacity = p->wanted == BENCH_COUNT ? 0 : slot;
    if (p->rows == 1 && p->wanted == BENCH_INDICES && below(t, 2)) {
        t->outputs.any_order = t->outputs.count_alone = true;
        shuffle(t, 0, slot);
    }
    if (p->rows == 1 && below(t, 4) == 0) {
        t->outputs.count_alone = true;
        t->outputs.host_count = &t->host_count;
    }
}

/* What the oracle says about every row, and the outputs that say it. */
static void solve(trial *t) {
    const bench_point *p = &t->point;
    const bool ranked = p->operation == TOPK_OPERATION_SELECT || p->operation == TOPK_OPERATION_SELECT_WHERE;
    t->outputs.pitch = p->k;
    for (int64_t r = 0; r < p->rows; r++) {
        oracle_entry ranking[LENGTH];
        const int64_t length = length_of(t, r);
        oracle_rank(&t->problem, elements_of(t, r, 0), length, ranking);
        t->kept_count[r] = oracle_keep(ranking, length, t->matches + t->begins[r], t->kept[r]);
        t->taken[r] = p->k < t->kept_count[r] ? p->k : t->kept_count[r];
        t->counts[r] = t->kept_count[r];
        t->offsets[r + 1] = t->offsets[r] + t->kept_count[r];
        if (ranked) {
            take_results(t, r);
        } else if (p->operation == TOPK_OPERATION_KTH) {
            find_kth(t, r);
        }
    }
    switch (p->operation) {
    case TOPK_OPERATION_KTH:
        t->outputs.kth = t->kth;
        t->outputs.better = t->better;
        t->outputs.equal = t->equal;
        return;
    case TOPK_OPERATION_COUNT:
        t->outputs.counts = t->counts;
        return;
    case TOPK_OPERATION_MASK:
        t->outputs.mask = t->bits;
        return;
    case TOPK_OPERATION_WHERE:
        find_where(t);
        t->outputs.offsets = t->offsets;
        t->outputs.indices = bench_wants_indices(p) ? t->indices : NULL;
        t->outputs.values = bench_wants_values(p) ? t->values : NULL;
        return;
    default:
        t->outputs.values = below(t, 4) ? t->values : NULL;
        t->outputs.indices = t->outputs.values == NULL || below(t, 4) ? t->indices : NULL;
    }
}

static bool accepted(const trial *t, char *reason, size_t reason_bytes) {
    return bench_check(&t->truth, &t->point, t->input, bench_has_mask(&t->point) ? t->mask : NULL,
                       &t->outputs, reason, reason_bytes);
}

/* An element of row r that is no result, or that is one and ranks strictly below result `taken`; or -1. */
static int64_t find_worse(trial *t, int64_t r) {
    const int64_t last = t->kept_count[r] - 1, taken = t->taken[r];
    const int64_t worst = t->kept[r][last].position;
    return order_of(t, r, t->kept[r][taken - 1].position, worst) < 0 ? worst : -1;
}

/* Makes one result of select wrong. False: it could not be done in this way. */
static bool spoil_selection(trial *t) {
    const bench_point *p = &t->point;
    const int64_t r = below(t, p->rows), taken = t->taken[r], first = r * p->k;
    const bool indices = t->outputs.indices != NULL, values = t->outputs.values != NULL;
    if (taken == 0) {
        return false;
    }
    const int64_t a = first + below(t, taken), b = first + below(t, taken), worse = find_worse(t, r);
    int order;
    switch (below(t, 7)) {
    case 0: /* another value */
        element_put_bits(p->type, t->values, a, element_get_bits(p->type, t->values, a) ^ 1);
        return indices && values;
    case 1: /* no element of the row */
        put_index(t, a, below(t, 2) ? length_of(t, r) : -1);
        return indices;
    case 2: /* a result twice; of values alone ties may be */
        order = order_of(t, r, index_at(t, a), index_at(t, b));
        put_result(t, a, r, index_at(t, b));
        return indices ? a != b : order != 0;
    case 3: /* two exchanged; of values alone ties may be */
        exchange(t, a, b);
        return indices && a != b && (p->order == TOPK_ORDER_BEST_FIRST || comes_by_position(p));
    case 4: /* a worse element */
        put_result(t, a, r, worse < 0 ? 0 : worse);
        return worse >= 0;
    case 5: /* the padding */
        put_index(t, first + taken, 0);
        return indices && taken < p->k;
    default:
        element_put_bits(p->type, t->values, first + taken,
                         element_get_bits(p->type, t->values, first + taken) ^ 1);
        return values && taken < p->k;
    }
}

static int64_t slot_of(const trial *t, int64_t r, int64_t i) {
    for (int64_t slot = r * t->point.k; slot < r * t->point.k + t->taken[r]; slot++) {
        if (index_at(t, slot) == i) {
            return slot;
        }
    }
    return -1;
}

/* A tie that was not taken comes in place of one that was, where that must not be; or in place of the best,
 * if that is no tie. */
static bool spoil_tie(trial *t) {
    const bench_point *p = &t->point;
    const int64_t r = below(t, p->rows), taken = t->taken[r];
    const oracle_entry *kept = t->kept[r];
    const bool best = below(t, 2) != 0;
    if (t->outputs.indices == NULL || taken == 0 || (!best && p->ties == TOPK_TIES_ANY)) {
        return false;
    }
    const int64_t last = kept[taken - 1].position;
    int64_t other = taken - 1;
    while (other < t->kept_count[r] && slot_of(t, r, kept[other].position) >= 0) {
        other++;
    }
    if (other == t->kept_count[r] || order_of(t, r, last, kept[other].position) != 0 ||
        (best && order_of(t, r, kept[0].position, last) == 0)) {
        return false;
    }
    put_result(t, slot_of(t, r, best ? kept[0].position : last), r, kept[other].position);
    return true;
}

/* An element that was not chosen comes in place of one that was. */
static bool spoil_choice(trial *t) {
    const bench_point *p = &t->point;
    const int64_t r = below(t, p->rows), i = p->n > 0 ? below(t, p->n) : 0;
    if (t->outputs.indices == NULL || t->taken[r] == 0 || t->matches[r * p->n + i]) {
        return false;
    }
    put_result(t, r * p->k + below(t, t->taken[r]), r, i);
    return true;
}

static bool spoil_kth(trial *t) {
    const bench_point *p = &t->point;
    const int64_t r = below(t, p->rows), length = length_of(t, r), other = below(t, length > 0 ? length : 1);
    switch (below(t, 3)) {
    case 0:
        t->better[r] += below(t, 2) ? 1 : -1;
        return true;
    case 1:
        t->equal[r] += below(t, 2) ? 1 : -1;
        return true;
    default: /* an element of another class, or one where there is none */
        if (p->k < 1 || p->k > length) {
            element_put_bits(p->type, t->kth, r, element_get_bits(p->type, t->kth, r) ^ 1);
            return true;
        }
        element_put_bits(p->type, t->kth, r,
                         element_get_bits(p->type, t->input, t->begins[r] + t->kept[r][other].position));
        return oracle_order(&t->problem, &t->kept[r][other].number, &t->kept[r][p->k - 1].number) != 0;
    }
}

static bool spoil_where(trial *t) {
    const bench_point *p = &t->point;
    const int64_t capacity = t->outputs.capacity, r = below(t, p->rows);
    const int64_t a = capacity > 0 ? below(t, capacity) : 0, b = capacity > 0 ? below(t, capacity) : 0;
    const bool indices = capacity > 0 && t->outputs.indices != NULL,
               values = capacity > 0 && t->outputs.values != NULL;
    int64_t index;
    switch (below(t, 6)) {
    case 0:
        put_index(t, a, below(t, 2) ? p->n : -1);
        return indices;
    case 1:
        index = index_at(t, a);
        put_index(t, a, index_at(t, b));
        return indices && index != index_at(t, b);
    case 2:
        exchange(t, a, b);
        return indices && index_at(t, a) != index_at(t, b) && !t->outputs.any_order;
    case 3:
        element_put_bits(p->type, t->values, a, element_get_bits(p->type, t->values, a) ^ 1);
        return values;
    case 4:
        t->offsets[r + 1] += below(t, 2) ? 1 : -1;
        return t->outputs.host_count == NULL;
    default:
        t->offsets[0]++;
        t->host_count++;
        return t->outputs.host_count != NULL || !t->outputs.count_alone;
    }
}

static bool spoil_mask(trial *t, unsigned char *mask, int64_t bits) {
    const int64_t bit = below(t, bits > 0 ? bits : 1);
    mask[bit / 8] ^= (unsigned char)(1 << bit % 8);
    return bits > 0;
}

/* Makes one thing wrong; false if the one that was drawn is none of this trial. */
static bool spoil(trial *t) {
    const bench_point *p = &t->point;
    const int64_t elements = p->elements;
    if (bench_has_mask(p) && below(t, 8) == 0) {
        /* Any byte but 0 means that the element matches. */
        const int64_t e = elements > 0 ? below(t, elements) : 0;
        t->mask[e] = p->predicate == BENCH_BYTE_MASK ? !t->mask[e] : t->mask[e];
        return elements > 0 && (p->predicate == BENCH_BYTE_MASK || spoil_mask(t, t->mask, elements));
    }
    switch (p->operation) {
    case TOPK_OPERATION_KTH:
        return spoil_kth(t);
    case TOPK_OPERATION_WHERE:
        return spoil_where(t);
    case TOPK_OPERATION_COUNT:
        t->counts[below(t, p->rows)] += below(t, 2) ? 1 : -1;
        return true;
    case TOPK_OPERATION_MASK:
        return spoil_mask(t, t->bits, (elements + 7) / 8 * 8);
    default:
        return p->max_iterations > 0 && below(t, 2) ? spoil_choice(t)
               : below(t, 4)                        ? spoil_selection(t)
                                                    : spoil_tie(t);
    }
}

int main(void) {
    static trial t;
    int spoilt = 0;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        char reason[128] = "";
        memset(&t, 0, sizeof t);
        t.random.state = seed;
        draw_point(&t);
        draw_input(&t);
        if (!CHECK(bench_truth_find(&t.truth, &t.point, t.input))) {
            break;
        }
        find_matches(&t);
        solve(&t);
        if (!CHECK(accepted(&t, reason, sizeof reason))) {
            printf("seed %d, %s, operation %d: a right result: %s\n", (int)seed, topk_type_name(t.point.type),
                   (int)t.point.operation, reason);
        }
        if (spoil(&t) && ++spoilt && !CHECK(!accepted(&t, reason, sizeof reason))) {
            printf("seed %d, %s, operation %d: a wrong result\n", (int)seed, topk_type_name(t.point.type),
                   (int)t.point.operation);
        }
    }
    CHECK(spoilt > TRIALS / 4);
    printf("%d spoilt\n", spoilt);
    return check_report();
}
