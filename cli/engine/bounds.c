/* SPDX-License-Identifier: Apache-2.0 */
#include "bounds.h"

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

topk_predicate bounds_predicate(const struct options *options, topk_type type) {
    topk_predicate predicate = options->predicate;
    if (is_beyond(options, &options->high_beyond))
        predicate.high = neighbour(&options->high_beyond, false);
    else
        predicate.high = resolve_bound(options, type, &predicate.high);
    if (is_beyond(options, &options->low_beyond))
        resolve_low(&predicate, &options->low_beyond);
    else
        predicate.low = resolve_bound(options, type, &predicate.low);
    return predicate;
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

bool bounds_met(const struct options *options, const struct beyond *number) {
    const topk_predicate *predicate = &options->predicate;
    const bool between = predicate->kind == TOPK_BETWEEN;
    if (is_nan(&predicate->low) || (between && is_nan(&predicate->high)))
        return predicate->kind == TOPK_NE;
    const int low = compare_bound(number, &predicate->low, &options->low_beyond);
    switch (predicate->kind) {
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
    case TOPK_BETWEEN:
        return low >= 0 && compare_bound(number, &predicate->high, &options->high_beyond) <= 0;
    default:
        return true; /* there is no predicate */
    }
}
