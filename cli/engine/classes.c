/* SPDX-License-Identifier: Apache-2.0 */
#include "classes.h"

#include <math.h>
#include <string.h>

#include "../base/alloc.h"
#include "../output/element.h"

static const uint64_t sign = UINT64_C(1) << 63;

/* ---- Numbers and classes --------------------------------------------------------------------- */

/* Ascends with the number; the two zeros share a place. */
static uint64_t place_of_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & sign ? 0 - bits : bits | sign;
}

static double f64_at(uint64_t place) {
    const uint64_t bits = place & sign ? place & ~sign : 0 - place;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t magnitude_of_i64(int64_t value) {
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static uint64_t place_of(const topk_problem *problem, topk_bound number) {
    const bool magnitude = problem->rank == TOPK_BY_MAGNITUDE;
    if (number.type == TOPK_BOUND_F64)
        return place_of_f64(magnitude ? fabs(number.value.f64) : number.value.f64);
    if (number.type == TOPK_BOUND_I64)
        return magnitude ? magnitude_of_i64(number.value.i64) : (uint64_t)number.value.i64 ^ sign;
    return number.value.u64;
}

static topk_bound_type kind_of(topk_type type) {
    static const char zero[8];
    return element_decode(type, zero).type;
}

/* The number at a place. Magnitudes of signed integers are unsigned. */
static topk_bound number_at(const topk_problem *problem, uint64_t place) {
    const topk_bound_type kind = kind_of(problem->type);
    if (kind == TOPK_BOUND_F64)
        return (topk_bound){kind, {.f64 = f64_at(place)}};
    if (kind == TOPK_BOUND_I64 && problem->rank != TOPK_BY_MAGNITUDE)
        return (topk_bound){kind, {.i64 = (int64_t)(place ^ sign)}};
    return (topk_bound){TOPK_BOUND_U64, {.u64 = place}};
}

/* All that is no NaN. */
static struct class_range all_places(const topk_problem *problem) {
    const bool magnitude = problem->rank == TOPK_BY_MAGNITUDE;
    switch (kind_of(problem->type)) {
    case TOPK_BOUND_F64:
        return (struct class_range){place_of_f64(magnitude ? 0.0 : -(double)INFINITY),
                                    place_of_f64((double)INFINITY)};
    case TOPK_BOUND_I64:
        return (struct class_range){0, magnitude ? sign : UINT64_MAX};
    default:
        return (struct class_range){0, UINT64_MAX};
    }
}

static bool nan_is_best(const topk_problem *problem) {
    return problem->nan == TOPK_NAN_AS_LARGEST && problem->direction == TOPK_LARGEST;
}

uint64_t classes_of(const struct classes *classes, const void *element) {
    const topk_problem *problem = &classes->problem;
    const topk_bound number = element_decode(problem->type, element);
    if (number.type == TOPK_BOUND_F64 && isnan(number.value.f64))
        return nan_is_best(problem) ? CLASS_BEST : CLASS_WORST;
    const uint64_t place = place_of(problem, number);
    return problem->direction == TOPK_SMALLEST ? ~place : place;
}

/* ---- Ranges as predicates -------------------------------------------------------------------- */

/* The elements that meet one of the predicates, and NaN if the range has it. */
struct test {
    topk_predicate predicates[2];
    int count;
    bool nan;
};

static topk_predicate between(topk_bound low, topk_bound high) {
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    predicate.kind = TOPK_BETWEEN;
    predicate.low = low;
    predicate.high = high;
    return predicate;
}

static topk_predicate any_number(void) {
    return between((topk_bound){TOPK_BOUND_F64, {.f64 = -(double)INFINITY}},
                   (topk_bound){TOPK_BOUND_F64, {.f64 = (double)INFINITY}});
}

/* The number whose magnitude is given, which no unsigned type has. */
static topk_bound negative(topk_bound magnitude) {
    if (magnitude.type == TOPK_BOUND_F64)
        return (topk_bound){TOPK_BOUND_F64, {.f64 = -magnitude.value.f64}};
    return (topk_bound){TOPK_BOUND_I64, {.i64 = (int64_t)(0 - magnitude.value.u64)}};
}

static struct test test_of(const topk_problem *problem, struct class_range range) {
    struct test test = {.count = 0};
    if (range.worst > range.best)
        return test;
    const bool smallest = problem->direction == TOPK_SMALLEST;
    const bool floats = kind_of(problem->type) == TOPK_BOUND_F64;
    test.nan = floats && (nan_is_best(problem) ? range.best == CLASS_BEST : range.worst == CLASS_WORST);
    const struct class_range all = all_places(problem);
    uint64_t low = smallest ? ~range.best : range.worst;
    uint64_t high = smallest ? ~range.worst : range.best;
    low = low > all.worst ? low : all.worst;
    high = high < all.best ? high : all.best;
    if (low > high)
        return test;
    const topk_bound from = number_at(problem, low), to = number_at(problem, high);
    if (problem->rank != TOPK_BY_MAGNITUDE || kind_of(problem->type) == TOPK_BOUND_U64) {
        test.predicates[test.count++] = between(from, to);
    } else if (low == all.worst) {
        test.predicates[test.count++] = between(negative(to), to);
    } else {
        test.predicates[test.count++] = between(from, to);
        test.predicates[test.count++] = between(negative(to), negative(from));
    }
    return test;
}

/* ---- Elements -------------------------------------------------------------------------------- */

void classes_begin(struct classes *classes, struct session *host, const struct options *options,
                   topk_type type, int64_t length_max) {
    *classes = (struct classes){.host = host, .problem = session_problem(options, type, 1, length_max, 0)};
    session_choose_freely(&classes->problem);
    classes->mask = allocate(((uint64_t)length_max + 7) / 8, 1);
    classes->other = allocate(((uint64_t)length_max + 7) / 8, 1);
}

void classes_end(struct classes *classes) {
    release(classes->mask);
    release(classes->other);
}

static int64_t count(struct classes *classes, const topk_predicate *predicate, const void *elements) {
    int64_t found;
    session_count(classes->host, &classes->problem, elements, predicate, &found);
    return found;
}

int64_t classes_count(struct classes *classes, struct class_range range, const void *elements,
                      int64_t length) {
    const struct test test = test_of(&classes->problem, range);
    const topk_predicate numbers = any_number();
    classes->problem.length_max = length;
    int64_t found = test.nan ? length - count(classes, &numbers, elements) : 0;
    for (int i = 0; i < test.count; i++)
        found += count(classes, &test.predicates[i], elements);
    return found;
}

/* Bits of what meets the test. */
static void mark(struct classes *classes, const struct test *test, const void *elements, int64_t length) {
    const size_t bytes = ((size_t)length + 7) / 8;
    memset(classes->mask, 0, bytes);
    for (int i = 0; i < test->count; i++) {
        session_mask(classes->host, &classes->problem, elements, &test->predicates[i], classes->other);
        for (size_t at = 0; at < bytes; at++)
            classes->mask[at] |= classes->other[at];
    }
    if (!test->nan)
        return;
    const topk_predicate numbers = any_number();
    session_mask(classes->host, &classes->problem, elements, &numbers, classes->other);
    for (size_t at = 0; at < bytes; at++)
        classes->mask[at] |= (unsigned char)~classes->other[at];
}

int64_t classes_collect(struct classes *classes, struct class_range range, const void *elements,
                        int64_t length, int64_t base, void *values, int64_t *indices, int64_t capacity) {
    const struct test test = test_of(&classes->problem, range);
    topk_predicate predicate = test.predicates[0];
    int64_t offsets[2];
    classes->problem.length_max = length;
    if (test.count == 0 && !test.nan)
        return 0;
    if (test.count != 1 || test.nan) {
        mark(classes, &test, elements, length);
        predicate = (topk_predicate)TOPK_PREDICATE_INIT;
        predicate.kind = TOPK_BIT_MASK;
        predicate.mask = classes->mask;
    }
    topk_problem problem = classes->problem;
    problem.index_base = base;
    session_where(classes->host, &problem, elements, &predicate, values, indices, capacity, offsets);
    return offsets[1];
}
