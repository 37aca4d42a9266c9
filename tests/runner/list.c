/* SPDX-License-Identifier: Apache-2.0 */
#include "list.h"

#include <stdio.h>
#include <string.h>

#include "covering.h"
#include "random.h"
#include "topk.h"

typedef struct visitor {
    const options *options;
    bool (*visit)(const test_case *c, long number, void *context);
    void *context;
    test_case filter;
    uint32_t filtered; /* a bit for each dimension */
    long number;       /* of the next case */
} visitor;

/* Each method that has no way of its own to results by position selects in any order, and one sort follows.
 * Methods take turns: another part of the cases stays for each. */
static test_case thinned(const visitor *v, const test_case *c, long number) {
    test_case out = *c;
    long turn = number;
    for (const char *at = v->options->method; at != NULL && *at != '\0'; at++) {
        turn += *at;
    }
    if (c->value[DIM_ORDER] == TOPK_ORDER_BY_POSITION && v->options->by_position > 1 &&
        (v->filtered >> DIM_ORDER & 1) == 0 && turn % v->options->by_position != 0) {
        out.value[DIM_ORDER] = TOPK_ORDER_ANY;
    }
    return out;
}

static bool offer(visitor *v, const test_case *c) {
    for (int d = 0; d < DIMENSIONS; d++) {
        if ((v->filtered >> d & 1) != 0 && v->filter.value[d] != c->value[d]) {
            return true;
        }
    }
    const long number = v->number++;
    const bool taken = v->options->jobs == 0 || number % v->options->jobs == v->options->job;
    if (number >= v->options->cases_max) {
        return false;
    }
    const test_case offered = thinned(v, c, number);
    return !taken || number < v->options->first || v->visit(&offered, number, v->context);
}

static covering_array cover(uint64_t seed) {
    int counts[COVERED_DIMENSIONS];
    for (int d = 0; d < COVERED_DIMENSIONS; d++) {
        counts[d] = dimensions[d].count;
    }
    return covering_build(counts, COVERED_DIMENSIONS, seed);
}

static void list_covering(const options *o, visitor *v) {
    covering_array array = cover(o->seed);
    for (int i = 0; i < array.count; i++) {
        test_case c = case_at(array.rows[i], o->seed * 1000000 + (uint64_t)i);
        if (!offer(v, &c)) {
            break;
        }
    }
    covering_free(&array);
}

/* The product of five dimensions; the others cycle through a covering array. */
static void list_full(const options *o, visitor *v) {
    static const int product[] = {DIM_TYPE, DIM_DATA, DIM_SIZE, DIM_K, DIM_DIRECTION};
    enum { FACTORS = sizeof product / sizeof product[0] };
    covering_array array = cover(o->seed);
    int levels[COVERED_DIMENSIONS];
    long total = 1;
    for (int f = 0; f < FACTORS; f++) {
        total *= dimensions[product[f]].count;
    }
    for (long at = 0; at < total; at++) {
        memcpy(levels, array.rows[at % array.count], sizeof levels);
        long rest = at;
        for (int f = FACTORS - 1; f >= 0; f--) {
            levels[product[f]] = (int)(rest % dimensions[product[f]].count);
            rest /= dimensions[product[f]].count;
        }
        test_case c = case_at(levels, o->seed * 1000000000 + (uint64_t)at);
        if (!offer(v, &c)) {
            break;
        }
    }
    covering_free(&array);
}

/* A row of up to 2^16 elements more than the bound of k. The level of k and the seed, which may draw k, are
 * drawn until k is above the bound. */
static void draw_large(const options *o, random_state *random, test_case *c) {
    do {
        c->value[DIM_K] = (int64_t)random_below(random, dimensions[DIM_K].count);
        c->value[DIM_SIZE] = o->k_above + 1 + random_below(random, INT64_C(1) << random_below(random, 17));
        c->seed = random_bits(random);
    } while (case_k(c, c->value[DIM_SIZE]) <= o->k_above);
}

static void list_random(const options *o, visitor *v) {
    random_state random = {o->seed};
    for (long i = 0; i < o->random_cases; i++) {
        int levels[COVERED_DIMENSIONS];
        for (int d = 0; d < COVERED_DIMENSIONS; d++) {
            levels[d] = (int)random_below(&random, dimensions[d].count);
        }
        test_case c = case_at(levels, random_bits(&random));
        c.value[DIM_SIZE] = random_below(&random, INT64_C(1) << random_below(&random, 11));
        c.value[DIM_ROWS] = random_below(&random, 9);
        if (o->k_above > 0) {
            draw_large(o, &random, &c);
        }
        if (!offer(v, &c)) {
            break;
        }
    }
}

bool list_cases(const options *o, bool (*visit)(const test_case *c, long number, void *context),
                void *context) {
    visitor v = {.options = o, .visit = visit, .context = context};
    if (o->filter != NULL && !case_parse(o->filter, &v.filter, &v.filtered)) {
        return false;
    }
    if (o->one_case != NULL) {
        test_case c = {.value = {[DIM_ROWS] = 1}, .seed = o->seed};
        if (!case_parse(o->one_case, &c, NULL)) {
            return false;
        }
        offer(&v, &c);
    } else if (o->random_cases > 0) {
        list_random(o, &v);
    } else if (o->full) {
        list_full(o, &v);
    } else {
        list_covering(o, &v);
    }
    return v.number > 0;
}
