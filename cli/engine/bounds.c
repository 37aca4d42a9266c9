/* SPDX-License-Identifier: Apache-2.0 */
#include "bounds.h"

#include <float.h>
#include <math.h>

#include "../output/element.h"
#include "../parse/parse.h"

/* ---- Bounds as they are printed -------------------------------------------------------------- */

static double value_of(topk_type type, uint64_t magnitude) {
    return element_decode(type, &magnitude).value.f64;
}

/* Whether the tool prints `number` for an element without sign. */
static bool prints_as(topk_type type, uint64_t magnitude, double number) {
    struct element_text text;
    union number read;
    if (!element_is_finite(type, &magnitude))
        return false;
    element_format(type, &magnitude, &text);
    return number_parse(TOPK_F64, text.text, text.length, &read) == NUMBER_OK && read.f64 == number;
}

/* The value of the float that is printed as `number`, or `number` itself. */
static double printed_element(topk_type type, double number) {
    uint64_t low = 0,
             high = (uint64_t)1 << (8 * topk_type_size(type) - 1); /* magnitudes ascend with their bits */
    const double wanted = fabs(number);
    while (high - low > 1) { /* value_of(low) <= wanted, and not so at `high` */
        const uint64_t middle = low + (high - low) / 2;
        *(value_of(type, middle) <= wanted ? &low : &high) = middle;
    }
    for (uint64_t magnitude = low; magnitude <= low + 1; magnitude++)
        if (prints_as(type, magnitude, wanted))
            return copysign(value_of(type, magnitude), number);
    return number;
}

/* A finite bound that float64 holds. No larger integers are printed without an exponent. */
static bool as_double(const topk_bound *bound, double *number) {
    static const int64_t most = 10000000000000000;
    if (bound->type == TOPK_BOUND_F64) {
        *number = bound->value.f64;
        return isfinite(*number);
    }
    if (bound->type != TOPK_BOUND_I64 || bound->value.i64 > most || bound->value.i64 < -most)
        return false;
    *number = (double)bound->value.i64;
    return (int64_t)*number == bound->value.i64;
}

static topk_bound resolve(topk_type type, topk_bound bound) {
    double number;
    /* float64 is printed so that the text reads as the same number, and integers as they are. */
    if (type < TOPK_I8 && type != TOPK_F64 && as_double(&bound, &number)) {
        bound.type = TOPK_BOUND_F64;
        bound.value.f64 = printed_element(type, number);
    }
    return bound;
}

/* ---- Bounds beyond float64 ------------------------------------------------------------------- */

static topk_bound float_bound(double x) {
    return (topk_bound){TOPK_BOUND_F64, {.f64 = x}};
}

/* Such a bound lies between two neighbouring float64 numbers: the one below or above it. */
static topk_bound neighbour(const struct beyond *beyond, bool above) {
    const double nearest = beyond_nearest(beyond);
    const bool is_above = beyond_compare_double(beyond, nearest, false) < 0;
    return float_bound(is_above == above ? nearest
                                         : nextafter(nearest, above ? (double)INFINITY : -(double)INFINITY));
}

static void resolve_low(topk_predicate *predicate, const struct beyond *beyond) {
    switch (predicate->kind) {
    case TOPK_LT:
    case TOPK_LE:
        predicate->kind = TOPK_LE;
        predicate->low = neighbour(beyond, false);
        break;
    case TOPK_GT:
    case TOPK_GE:
        predicate->kind = TOPK_GE;
        predicate->low = neighbour(beyond, true);
        break;
    case TOPK_BETWEEN:
        predicate->low = neighbour(beyond, true);
        break;
    default: /* no element is equal to it */
        predicate->low = float_bound((double)NAN);
    }
}

static double value_of_bound(const topk_bound *bound) {
    return bound->type == TOPK_BOUND_F64   ? bound->value.f64
           : bound->type == TOPK_BOUND_I64 ? (double)bound->value.i64
                                           : (double)bound->value.u64;
}

/* Whether a bound is beyond what elements are compared with: float64, or else its range. */
static bool is_beyond(const struct options *options, const struct beyond *bound) {
    return bound->text != NULL &&
           (options_as_written(options) || bound->nearest == 0 || isinf(bound->nearest));
}

/* A bound that is not beyond. */
static topk_bound resolve_bound(const struct options *options, topk_type type, const topk_bound *bound) {
    return options_as_written(options) ? float_bound(value_of_bound(bound)) : resolve(type, *bound);
}

static topk_predicate resolve_comparison(const struct options *options, const struct comparison *comparison,
                                         topk_type type) {
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    predicate.kind = comparison->kind;
    if (is_beyond(options, &comparison->high_beyond))
        predicate.high = neighbour(&comparison->high_beyond, false);
    else
        predicate.high = resolve_bound(options, type, &comparison->high);
    if (is_beyond(options, &comparison->low_beyond))
        resolve_low(&predicate, &comparison->low_beyond);
    else
        predicate.low = resolve_bound(options, type, &comparison->low);
    return predicate;
}

/* ---- Several comparisons --------------------------------------------------------------------- */

_Static_assert(LDBL_MANT_DIG >= 64, "long double holds every bound");

static long double number_of(const topk_bound *bound) {
    return bound->type == TOPK_BOUND_F64   ? (long double)bound->value.f64
           : bound->type == TOPK_BOUND_I64 ? (long double)bound->value.i64
                                           : (long double)bound->value.u64;
}

/* The bound of a range of integers that begins, or ends, at an integer. NaN: none is in it. */
static topk_bound integer_bound(long double number, bool is_low) {
    static const long double least = -0x1p63L, end = 0x1p64L;
    if (isnan(number) || (is_low ? number >= end : number < least))
        return float_bound((double)NAN);
    if (is_low ? number < least : number >= end)
        return float_bound(is_low ? -(double)INFINITY : (double)INFINITY);
    if (number < 0)
        return topk_bound_i64((int64_t)number);
    return topk_bound_u64((uint64_t)number);
}

/* The least number of the type's kind that is above the bound. */
static topk_bound above(topk_type type, const topk_bound *bound) {
    const long double number = number_of(bound);
    if (type >= TOPK_I8)
        return integer_bound(floorl(number) + 1, true);
    if (isinf(number) && number > 0)
        return float_bound((double)NAN);
    const double nearest = (double)number;
    return float_bound((long double)nearest > number ? nearest : nextafter(nearest, (double)INFINITY));
}

static topk_bound below(topk_type type, const topk_bound *bound) {
    const long double number = number_of(bound);
    if (type >= TOPK_I8)
        return integer_bound(ceill(number) - 1, false);
    if (isinf(number) && number < 0)
        return float_bound((double)NAN);
    const double nearest = (double)number;
    return float_bound((long double)nearest < number ? nearest : nextafter(nearest, -(double)INFINITY));
}

/* The greater bound, or the lesser one. NaN, which nothing meets, is taken first of all. */
static topk_bound nearer(const topk_bound *a, const topk_bound *b, bool greater) {
    const long double x = number_of(a), y = number_of(b);
    if (isnan(x) || isnan(y))
        return float_bound((double)NAN);
    return (greater ? x >= y : x <= y) ? *a : *b;
}

/* Makes a range of a comparison that is not NE. */
static void make_range(topk_type type, topk_predicate *predicate) {
    const topk_bound bound = predicate->low;
    switch (predicate->kind) {
    case TOPK_GT:
    case TOPK_GE:
        predicate->low = predicate->kind == TOPK_GT ? above(type, &bound) : bound;
        predicate->high = float_bound((double)INFINITY);
        break;
    case TOPK_LT:
    case TOPK_LE:
        predicate->high = predicate->kind == TOPK_LT ? below(type, &bound) : bound;
        predicate->low = float_bound(-(double)INFINITY);
        break;
    case TOPK_EQ:
        predicate->high = bound;
        break;
    default:
        break;
    }
    predicate->kind = TOPK_BETWEEN;
}

int bounds_predicates(const struct options *options, topk_type type, topk_predicate *predicates) {
    int count = 0, range = -1; /* which of them is the range of all others but NE */
    for (int i = 0; i < options->comparison_count; i++) {
        topk_predicate next = resolve_comparison(options, &options->comparisons[i], type);
        if (next.kind == TOPK_NE || range < 0) {
            range = next.kind == TOPK_NE ? range : count;
            predicates[count++] = next;
            continue;
        }
        topk_predicate *all = &predicates[range];
        if (all->kind != TOPK_BETWEEN)
            make_range(type, all);
        make_range(type, &next);
        all->low = nearer(&all->low, &next.low, true);
        all->high = nearer(&all->high, &next.high, false);
    }
    return count;
}

/* ---- Numbers beyond float64 that are elements ------------------------------------------------ */

/* Compares with a bound that is not NaN. */
static int compare_bound(const struct beyond *number, const topk_bound *bound, const struct beyond *beyond) {
    if (beyond->text != NULL)
        return beyond_compare(number, beyond, false);
    return beyond_compare_double(number, value_of_bound(bound), false);
}

static bool is_nan(const topk_bound *bound) {
    return bound->type == TOPK_BOUND_F64 && isnan(bound->value.f64);
}

static bool meets(const struct comparison *comparison, const struct beyond *number) {
    const bool between = comparison->kind == TOPK_BETWEEN;
    if (is_nan(&comparison->low) || (between && is_nan(&comparison->high)))
        return comparison->kind == TOPK_NE;
    const int low = compare_bound(number, &comparison->low, &comparison->low_beyond);
    switch (comparison->kind) {
    case TOPK_GT:
        return low > 0;
    case TOPK_GE:
        return low >= 0;
    case TOPK_LT:
        return low < 0;
    case TOPK_LE:
        return low <= 0;
    case TOPK_EQ:
        return low == 0;
    case TOPK_NE:
        return low != 0;
    default:
        return low >= 0 && compare_bound(number, &comparison->high, &comparison->high_beyond) <= 0;
    }
}

bool bounds_met(const struct options *options, const struct beyond *number) {
    for (int i = 0; i < options->comparison_count; i++)
        if (!meets(&options->comparisons[i], number))
            return false;
    return true;
}
