/* SPDX-License-Identifier: Apache-2.0 */
#include "element.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

__extension__ typedef unsigned __int128 wide;

/* A binary floating-point format. */
struct format {
    int precision; /* bits of the significand, the implicit one included */
    int quantum;   /* exponent of the smallest positive number */
};

static struct format format_of(topk_type type) {
    switch (type) {
    case TOPK_F16:
        return (struct format){11, -24};
    case TOPK_BF16:
        return (struct format){8, -133};
    case TOPK_F32:
        return (struct format){24, -149};
    case TOPK_F8_E4M3:
        return (struct format){4, -9};
    case TOPK_F8_E5M2:
        return (struct format){3, -16};
    default:
        return (struct format){53, -1074};
    }
}

/* ---- Decoding -------------------------------------------------------------------------------- */

/* Decodes sign, exponent and fraction of an IEEE format of so many bits. */
static double decode_float(uint32_t bits, int exponent_bits, int fraction_bits, bool has_infinity) {
    uint32_t fraction = bits & ((1u << fraction_bits) - 1);
    int exponent_max = (1 << exponent_bits) - 1;
    int exponent = (int)(bits >> fraction_bits) & exponent_max;
    int bias = exponent_max / 2;
    double magnitude;
    if (exponent == exponent_max && has_infinity)
        magnitude = fraction == 0 ? (double)INFINITY : (double)NAN;
    else if (exponent == exponent_max && fraction == (1u << fraction_bits) - 1)
        magnitude = (double)NAN;
    else if (exponent == 0)
        magnitude = ldexp((double)fraction, 1 - bias - fraction_bits);
    else
        magnitude = ldexp((double)(fraction | 1u << fraction_bits), exponent - bias - fraction_bits);
    return bits >> (exponent_bits + fraction_bits) & 1 ? -magnitude : magnitude;
}

static double decode_f32(const void *element) {
    float value;
    memcpy(&value, element, sizeof value);
    return (double)value;
}

static topk_bound of_f64(double value) {
    return (topk_bound){.type = TOPK_BOUND_F64, .value.f64 = value};
}

static topk_bound of_i64(int64_t value) {
    return (topk_bound){.type = TOPK_BOUND_I64, .value.i64 = value};
}

static topk_bound of_u64(uint64_t value) {
    return (topk_bound){.type = TOPK_BOUND_U64, .value.u64 = value};
}

topk_bound element_decode(topk_type type, const void *element) {
    uint64_t bits = 0;
    memcpy(&bits, element, topk_type_size(type)); /* little endian, as the files are */
    switch (type) {
    case TOPK_F16:
        return of_f64(decode_float((uint32_t)bits, 5, 10, true));
    case TOPK_BF16:
        return of_f64(decode_float((uint32_t)bits, 8, 7, true));
    case TOPK_F32:
        return of_f64(decode_f32(element));
    case TOPK_F8_E4M3:
        return of_f64(decode_float((uint32_t)bits, 4, 3, false));
    case TOPK_F8_E5M2:
        return of_f64(decode_float((uint32_t)bits, 5, 2, true));
    case TOPK_I8:
        return of_i64((int8_t)bits);
    case TOPK_I16:
        return of_i64((int16_t)bits);
    case TOPK_I32:
        return of_i64((int32_t)bits);
    case TOPK_I64:
        return of_i64((int64_t)bits);
    case TOPK_U8:
    case TOPK_U16:
    case TOPK_U32:
    case TOPK_U64:
        return of_u64(bits);
    default: {
        double value;
        memcpy(&value, element, sizeof value);
        return of_f64(value);
    }
    }
}

bool element_is_finite(topk_type type, const void *element) {
    topk_bound number = element_decode(type, element);
    return number.type != TOPK_BOUND_F64 || isfinite(number.value.f64);
}

/* ---- Shortest decimals ----------------------------------------------------------------------- */

/* A number of a format: significand * 2^exponent. */
struct binary {
    uint64_t significand;
    int exponent;
    bool near_below; /* a power of two: the number below is half as far as the one above */
};

/* digits * 10^exponent. */
struct decimal {
    uint64_t digits;
    int exponent;
};

static struct binary binary_of(double magnitude, struct format format) {
    int exponent;
    bool power_of_two = frexp(magnitude, &exponent) == 0.5;
    exponent -= format.precision;
    if (exponent <= format.quantum)
        return (struct binary){(uint64_t)ldexp(magnitude, -format.quantum), format.quantum, false};
    return (struct binary){(uint64_t)ldexp(magnitude, -exponent), exponent, power_of_two};
}

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
    if (units >= 10 && rest + one * last <= below)
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

/* Finds the shortest decimal by trial: of float32 and float64, whose exponents alone can be so large. */
static struct decimal shortest_by_trial(double x, const struct binary *binary, int precision,
                                        topk_type type) {
    /* Fewer digits than that survive the way to the type and back, but for denormals. */
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

static char *write_float(topk_type type, double value, char *at) {
    if (isnan(value))
        return put(at, "nan", 3);
    if (signbit(value))
        *at++ = '-';
    if (isinf(value))
        return put(at, "inf", 3);
    if (value == 0)
        return put(at, "0", 1);
    double magnitude = fabs(value);
    struct format format = format_of(type);
    struct binary binary = binary_of(magnitude, format);
    struct decimal decimal;
    if (!shortest_in_integers(&binary, format.precision, &decimal))
        decimal = shortest_by_trial(magnitude, &binary, format.precision, type);
    return write_decimal(decimal, at);
}

void element_format(topk_type type, const void *element, struct element_text *text) {
    topk_bound number = element_decode(type, element);
    char *at = text->text;
    if (number.type == TOPK_BOUND_F64) {
        at = write_float(type, number.value.f64, at);
    } else {
        char digits[20];
        char *end = digits + sizeof digits;
        bool negative = number.type == TOPK_BOUND_I64 && number.value.i64 < 0;
        const char *begin = output_digits(negative, number.value.u64, end);
        at = put(at, begin, (int)(end - begin));
    }
    text->length = (size_t)(at - text->text);
}
