/* SPDX-License-Identifier: Apache-2.0 */
#include "element.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

/* ---- Decoding -------------------------------------------------------------------------------- */

/* A binary floating-point format. Integers have no bits of either. */
struct format {
    int exponent_bits;
    int fraction_bits;
};

/* A number of a format: significand * 2^exponent. */
struct binary {
    uint64_t significand;
    int exponent;
    bool near_below; /* a power of two: the number below is half as far as the one above */
};

static struct format format_of(topk_type type) {
    switch (type) {
    case TOPK_F16:
        return (struct format){5, 10};
    case TOPK_BF16:
        return (struct format){8, 7};
    case TOPK_F32:
        return (struct format){8, 23};
    case TOPK_F64:
        return (struct format){11, 52};
    case TOPK_F8_E4M3:
        return (struct format){4, 3};
    case TOPK_F8_E5M2:
        return (struct format){5, 2};
    default:
        return (struct format){0, 0};
    }
}

static bool is_float(topk_type type) {
    return format_of(type).exponent_bits > 0;
}

static uint64_t bits_of(topk_type type, const void *element) {
    uint64_t bits = 0;
    memcpy(&bits, element, topk_type_size(type)); /* little endian, as the files are */
    return bits;
}

static bool is_negative(topk_type type, uint64_t bits) {
    return bits >> (8 * topk_type_size(type) - 1) & 1;
}

/* Decodes the magnitude of a float. An infinity gets the exponent INT_MAX, and NaN a significand beside. */
static struct binary binary_of(topk_type type, uint64_t bits) {
    struct format format = format_of(type);
    uint64_t one = (uint64_t)1 << format.fraction_bits;
    uint64_t fraction = bits & (one - 1);
    int top = (1 << format.exponent_bits) - 1;
    int exponent = (int)(bits >> format.fraction_bits) & top;
    if (exponent == top && (type != TOPK_F8_E4M3 || fraction == one - 1))
        return (struct binary){fraction, INT_MAX, false};
    int least = 1 - top / 2 - format.fraction_bits;
    if (exponent == 0)
        return (struct binary){fraction, least, false};
    return (struct binary){fraction | one, exponent - 1 + least, fraction == 0 && exponent > 1};
}

static double magnitude_of(const struct binary *x) {
    if (x->exponent == INT_MAX)
        return x->significand == 0 ? (double)INFINITY : (double)NAN;
    return ldexp((double)x->significand, x->exponent);
}

topk_bound element_decode(topk_type type, const void *element) {
    uint64_t bits = bits_of(type, element);
    if (type == TOPK_F64) { /* of text, element by element */
        topk_bound number = {TOPK_BOUND_F64, {.f64 = 0}};
        memcpy(&number.value.f64, element, sizeof number.value.f64);
        return number;
    }
    if (is_float(type)) {
        struct binary x = binary_of(type, bits);
        double value = magnitude_of(&x);
        return (topk_bound){TOPK_BOUND_F64, {.f64 = is_negative(type, bits) ? -value : value}};
    }
    if (type >= TOPK_U8)
        return (topk_bound){TOPK_BOUND_U64, {.u64 = bits}};
    int unused = 64 - 8 * (int)topk_type_size(type);
    return (topk_bound){TOPK_BOUND_I64, {.i64 = (int64_t)(bits << unused) >> unused}};
}

bool element_is_finite(topk_type type, const void *element) {
    return !is_float(type) || binary_of(type, bits_of(type, element)).exponent != INT_MAX;
}

/* ---- Shortest decimals ----------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 wide;

/* digits * 10^exponent. */
struct decimal {
    uint64_t digits;
    int exponent;
};

static wide power_of_five(int exponent) {
    static const uint32_t powers[] = {1, 5, 25, 125, 625, 3125, 15625, 78125};
    wide power = powers[exponent % 8];
    for (; exponent >= 8; exponent -= 8)
        power *= 390625;
    return power;
}

/* Finds the shortest decimal in integers, unless they would take more than 128 bits.
 *
 * The decimal counts units of 10^unit, the largest power of ten that is no longer than the interval of what
 * reads as x. So the interval holds a multiple of the unit, and at most one of ten units, which is shorter if
 * there are ten. All lengths are multiples of a quarter of a step, from x to the number above, over `one`. */
static bool shortest_in_integers(const struct binary *x, int precision, struct decimal *decimal) {
    /* log10(2) and log10(4/3), times 2^12: as good as exact where 128 bits suffice. */
    int unit = (x->exponent * 1233 - (x->near_below ? 512 : 0)) >> 12;
    if (7 * abs(unit) > 3 * (122 - precision))
        return false;
    wide fives = power_of_five(abs(unit));
    int twos = x->exponent - unit;
    wide step = unit < 0 ? fives : (wide)1 << twos;
    wide one = unit < 0 ? (wide)1 << (2 - twos) : 4 * fives;
    wide exact = 4 * step * x->significand;
    uint64_t units = (uint64_t)(unit < 0 ? exact >> (2 - twos) : exact / one);
    wide rest = exact - one * units;
    unsigned odd = x->significand % 2; /* then the ends of the interval round away from x */
    wide below = (x->near_below ? step : 2 * step) - odd;
    wide above = 2 * step - odd;
    unsigned last = (unsigned)(units % 10);
    if (rest + one * last <= below) /* never by zero units: zero does not read as x */
        units -= last;
    else if (units >= 10 && one * (10 - last) - rest <= above)
        units += 10 - last;
    else if (2 * rest + units % 2 > one || rest > below)
        units++;
    *decimal = (struct decimal){units, unit};
    return true;
}

/* The decimal of `count` digits that is nearest to x. */
static struct decimal decimal_round(double x, int count) {
    char text[40];
    snprintf(text, sizeof text, "%#.*e", count - 1, x);
    text[1] = text[0]; /* over the point */
    char *end;
    uint64_t digits = strtoull(text + 1, &end, 10);
    return (struct decimal){digits, atoi(end + 1) - (count - 1)};
}

static bool reads_as(struct decimal decimal, double x, topk_type type) {
    char text[40];
    snprintf(text, sizeof text, "%" PRIu64 "e%d", decimal.digits, decimal.exponent);
    return (type == TOPK_F32 ? (double)strtof(text, NULL) : strtod(text, NULL)) == x;
}

/* Finds the shortest decimal by trial: of float32 and float64, which alone have exponents so large. */
static struct decimal shortest_by_trial(const struct binary *binary, int precision, topk_type type) {
    double x = magnitude_of(binary);
    /* Digits that survive the way to the type and back, but for denormals. */
    bool denormal = binary->significand >> (precision - 1) == 0;
    for (int count = denormal ? 1 : (precision - 1) * 3 / 10;; count++) {
        struct decimal decimal = decimal_round(x, count);
        if (reads_as(decimal, x, type))
            return decimal;
        decimal.digits++; /* which may do above a near number */
        if (binary->near_below && reads_as(decimal, x, type))
            return decimal;
    }
}

static char *put(char *at, const char *bytes, int count) {
    memcpy(at, bytes, (size_t)count);
    return at + count;
}

static char *write_decimal(struct decimal decimal, char *at) {
    enum { FIXED_MIN = -3, FIXED_MAX = 16 };
    static const char zeros[] = "0000000000000000";
    char text[20];
    char *end = text + sizeof text;
    const char *digits = output_digits(false, decimal.digits, end);
    int point = (int)(end - digits) + decimal.exponent; /* the value is 0.DIGITS * 10^point */
    while (end - digits > 1 && end[-1] == '0')
        end--;
    int count = (int)(end - digits);
    if (point < FIXED_MIN || point > FIXED_MAX) {
        at = put(at, digits, 1);
        at = put(at, ".", count > 1);
        at = put(at, digits + 1, count - 1);
        return at + sprintf(at, "e%+03d", point - 1);
    }
    if (point <= 0) {
        at = put(at, "0.", 2);
        at = put(at, zeros, -point);
        return put(at, digits, count);
    }
    if (point >= count) {
        at = put(at, digits, count);
        return put(at, zeros, point - count);
    }
    at = put(at, digits, point);
    at = put(at, ".", 1);
    return put(at, digits + point, count - point);
}

static char *write_float(topk_type type, uint64_t bits, char *at) {
    struct binary x = binary_of(type, bits);
    bool infinite = x.exponent == INT_MAX;
    if (infinite && x.significand > 0)
        return put(at, "nan", 3);
    at = put(at, "-", is_negative(type, bits));
    if (infinite)
        return put(at, "inf", 3);
    if (x.significand == 0)
        return put(at, "0", 1);
    int precision = format_of(type).fraction_bits + 1;
    struct decimal decimal;
    if (!shortest_in_integers(&x, precision, &decimal))
        decimal = shortest_by_trial(&x, precision, type);
    return write_decimal(decimal, at);
}

static char *write_integer(topk_bound integer, char *at) {
    bool negative = integer.type == TOPK_BOUND_I64 && integer.value.i64 < 0;
    char digits[20];
    char *end = digits + sizeof digits;
    const char *begin = output_digits(negative, integer.value.u64, end);
    return put(at, begin, (int)(end - begin));
}

void element_format(topk_type type, const void *element, struct element_text *text) {
    char *end = is_float(type) ? write_float(type, bits_of(type, element), text->text)
                               : write_integer(element_decode(type, element), text->text);
    text->length = (size_t)(end - text->text);
}
