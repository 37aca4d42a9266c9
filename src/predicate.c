/* SPDX-License-Identifier: Apache-2.0 */
#include "predicate.h"

#include <limits.h>
#include <string.h>

#include "problem.h"
#include "status.h"

/* A real number, sign * mantissa * 2^exponent, in integers alone: exact for every element and every
 * bound, and independent of the caller's floating-point mode. The top bit of the mantissa is set;
 * zero has sign 0; infinity has the largest exponent. */
struct real {
    int sign;
    int exponent;
    uint64_t mantissa;
};

static struct real real_make(bool negative, uint64_t mantissa, int exponent) {
    if (mantissa == 0) {
        return (struct real){0, 0, 0};
    }
    const int shift = __builtin_clzll(mantissa);
    return (struct real){negative ? -1 : 1, exponent - shift, mantissa << shift};
}

static struct real real_from_signed(int64_t integer) {
    return real_make(integer < 0, integer < 0 ? -(uint64_t)integer : (uint64_t)integer, 0);
}

/* A float that is no NaN. Only formats with infinities reserve the largest exponent for them. */
static struct real real_from_float(uint64_t bits, const struct type_traits *traits) {
    const unsigned fraction_bits = traits->mantissa_bits;
    const int exponent_max = (1 << (traits->bits - 1 - fraction_bits)) - 1;
    const int bias = exponent_max >> 1;
    const bool negative = bits >> (traits->bits - 1);
    const uint64_t size = bits & (topk_ones(traits->bits) >> 1);
    const uint64_t fraction = size & topk_ones(fraction_bits);
    const int exponent = (int)(size >> fraction_bits);
    if (size == traits->infinity && fraction == 0) {
        return (struct real){negative ? -1 : 1, INT_MAX, 1ull << 63};
    }
    if (exponent == 0) {
        return real_make(negative, fraction, 1 - bias - (int)fraction_bits);
    }
    return real_make(negative, fraction | 1ull << fraction_bits, exponent - bias - (int)fraction_bits);
}

static int real_compare(struct real a, struct real b) {
    if (a.sign != b.sign) {
        return a.sign < b.sign ? -1 : 1;
    }
    const int larger = a.exponent != b.exponent   ? (a.exponent < b.exponent ? -1 : 1)
                       : a.mantissa != b.mantissa ? (a.mantissa < b.mantissa ? -1 : 1)
                                                  : 0;
    return a.sign * larger;
}

static struct real real_from_bound(const topk_bound *bound, bool *is_nan) {
    const struct type_traits f64 = topk_type_traits(TOPK_F64);
    uint64_t bits;
    *is_nan = false;
    if (bound->type == TOPK_BOUND_I64) {
        return real_from_signed(bound->value.i64);
    }
    if (bound->type == TOPK_BOUND_U64) {
        return real_make(false, bound->value.u64, 0);
    }
    memcpy(&bits, &bound->value.f64, sizeof bits);
    *is_nan = (bits & INT64_MAX) > f64.infinity;
    return *is_nan ? (struct real){0, 0, 0} : real_from_float(bits, &f64);
}

/* The keys of a type's numbers, ascending by value. */
struct key_space {
    struct order order;
    struct key_map map;
    struct type_traits traits;
    uint64_t first, last;
};

static struct key_space key_space_of(topk_type type) {
    const struct type_traits traits = topk_type_traits(type);
    const struct order order = predicate_order(type);
    struct key_space space = {order, topk_key_map(&order), traits, 0, topk_ones(traits.bits)};
    if (traits.is_float) {
        const uint64_t sign = 1ull << (traits.bits - 1);
        space.first = topk_key_encode(traits.infinity | sign, traits.bits, &space.map);
        space.last = topk_key_encode(traits.infinity, traits.bits, &space.map);
    }
    return space;
}

static struct real real_of_key(const struct key_space *space, uint64_t key) {
    const uint64_t bits = topk_key_decode(&space->order, key);
    if (space->traits.is_float) {
        return real_from_float(bits, &space->traits);
    }
    if (space->traits.is_signed) {
        const unsigned unused = 64 - space->traits.bits;
        return real_from_signed((int64_t)(bits << unused) >> unused);
    }
    return real_make(false, bits, 0);
}

/* The first key whose number is at least `bound` (above it if `strictly`); false if there is none. */
static bool first_key(const struct key_space *space, struct real bound, bool strictly, uint64_t *key) {
    const int least = strictly ? 1 : 0;
    uint64_t low = space->first, high = space->last;
    if (real_compare(real_of_key(space, high), bound) < least) {
        return false;
    }
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (real_compare(real_of_key(space, middle), bound) >= least) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    *key = low;
    return true;
}

struct match topk_predicate_match(const topk_predicate *predicate, topk_type type) {
    const struct key_space space = key_space_of(type);
    const unsigned bits = space.traits.bits;
    const topk_predicate_kind kind = predicate->kind;
    const topk_bound *bounds = predicate->bounds;
    const bool inverted = kind == TOPK_NE;
    const struct match none = {{0, topk_ones(bits)}, !inverted};
    bool low_is_nan, high_is_nan = false;
    const struct real low = real_from_bound(bounds ? &bounds[0] : &predicate->low, &low_is_nan);
    const struct real high =
        kind == TOPK_BETWEEN ? real_from_bound(bounds ? &bounds[1] : &predicate->high, &high_is_nan) : low;
    if (low_is_nan || high_is_nan) {
        return none;
    }
    /* Keys [begin, end]: the kinds differ in which end is open and which bound closes it. */
    uint64_t begin = space.first, end = space.last, beyond;
    if (kind != TOPK_LT && kind != TOPK_LE && !first_key(&space, low, kind == TOPK_GT, &begin)) {
        return none;
    }
    if (kind != TOPK_GT && kind != TOPK_GE && first_key(&space, high, kind != TOPK_LT, &beyond)) {
        if (beyond == space.first) {
            return none;
        }
        end = beyond - 1;
    }
    if (begin > end) {
        return none;
    }
    /* The search may begin at the key between the negative numbers and zero, which -0.0 would have. */
    begin = topk_key_encode(topk_key_decode(&space.order, begin), bits, &space.map);
    const struct arc first = topk_threshold_arcs(&space.order, begin).equal;
    const struct arc last = topk_threshold_arcs(&space.order, end).equal;
    return (struct match){{first.begin, (last.begin + last.span - first.begin) & topk_ones(bits)}, inverted};
}

topk_status topk_check_predicate(const topk_predicate *caller, topk_predicate *predicate) {
    const topk_status status = topk_copy_struct(caller, sizeof *predicate, predicate, "predicate");
    if (status != TOPK_OK) {
        return status;
    }
    if ((unsigned)predicate->kind < TOPK_GT || (unsigned)predicate->kind > TOPK_BIT_MASK) {
        return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "predicate->kind is %d, must be %d to %d",
                         (int)predicate->kind, TOPK_GT, TOPK_BIT_MASK);
    }
    if (!predicate_compares(predicate->kind)) {
        return predicate->bounds == NULL
                   ? TOPK_OK
                   : topk_fail(TOPK_ERROR_UNSUPPORTED, "predicate->bounds does not go with a mask");
    }
    if (predicate->mask != NULL) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "predicate->mask does not go with a comparison");
    }
    const topk_bound *const fields[] = {&predicate->low, &predicate->high};
    const int read = predicate->bounds != NULL ? 0 : predicate->kind == TOPK_BETWEEN ? 2 : 1;
    for (int i = 0; i < read; i++) {
        if ((unsigned)fields[i]->type > TOPK_BOUND_U64) {
            return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "predicate->%s.type is %d, must be %d to %d",
                             i == 0 ? "low" : "high", (int)fields[i]->type, TOPK_BOUND_F64, TOPK_BOUND_U64);
        }
    }
    return TOPK_OK;
}
