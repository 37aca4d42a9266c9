/* SPDX-License-Identifier: Apache-2.0 */
#include "element.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A binary floating-point format. */
struct format {
    int precision;    /* bits of the significand, the implicit one included */
    int quantum;      /* exponent of the smallest positive number */
    int digits_exact; /* decimals of so many digits survive the way to the type and back */
};

static struct format format_of(topk_type type) {
    switch (type) {
    case TOPK_F16:
        return (struct format){11, -24, 3};
    case TOPK_BF16:
        return (struct format){8, -133, 2};
    case TOPK_F32:
        return (struct format){24, -149, 6};
    case TOPK_F8_E4M3:
        return (struct format){4, -9, 1};
    case TOPK_F8_E5M2:
        return (struct format){3, -16, 1};
    default:
        return (struct format){53, -1074, 15};
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

/* A positive decimal: 0.DIGITS * 10^point. */
struct decimal {
    char digits[20];
    int count;
    int point;
};

/* The decimal of `count` digits that is nearest to x. */
static void decimal_round(double x, int count, struct decimal *decimal) {
    char text[40];
    snprintf(text, sizeof text, "%.*e", count - 1, x);
    decimal->digits[0] = text[0];
    memcpy(decimal->digits + 1, text + 2, (size_t)count - 1);
    decimal->count = count;
    decimal->point = atoi(strchr(text, 'e') + 1) + 1;
}

/* Adds one to the last digit; false if that would carry into a new digit. */
static bool decimal_increment(struct decimal *decimal) {
    int at = decimal->count - 1;
    while (at > 0 && decimal->digits[at] == '9')
        decimal->digits[at--] = '0';
    return ++decimal->digits[at] <= '9';
}

/* Whether the decimal, rounded to nearest even, is x. */
static bool reads_as(const struct decimal *decimal, double x, topk_type type) {
    char text[40];
    snprintf(text, sizeof text, "%.*se%d", decimal->count, decimal->digits, decimal->point - decimal->count);
    if (type == TOPK_F64)
        return strtod(text, NULL) == x;
    if (type == TOPK_F32)
        return (double)strtof(text, NULL) == x;
    /* The other types have so few digits that rounding to a double before changes nothing. */
    struct format format = format_of(type);
    double y = strtod(text, NULL);
    int exponent;
    frexp(y, &exponent);
    int quantum = exponent - format.precision > format.quantum ? exponent - format.precision : format.quantum;
    return ldexp(nearbyint(ldexp(y, -quantum)), quantum) == x;
}

static void decimal_shortest(double x, topk_type type, struct decimal *decimal) {
    struct format format = format_of(type);
    int exponent;
    bool power_of_two = frexp(x, &exponent) == 0.5;
    bool denormal = exponent - format.precision < format.quantum;
    for (int count = denormal ? 1 : format.digits_exact;; count++) {
        decimal_round(x, count, decimal);
        if (reads_as(decimal, x, type))
            break;
        /* Below a power of two its neighbours are half as far, so that a decimal above it may do where
         * the nearer one below does not. */
        if (power_of_two && decimal_increment(decimal) && reads_as(decimal, x, type))
            break;
    }
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
}

static size_t write_decimal(const struct decimal *decimal, char *text) {
    enum { FIXED_MIN = -3, FIXED_MAX = 16 };
    int count = decimal->count;
    int point = decimal->point;
    const char *digits = decimal->digits;
    if (point < FIXED_MIN || point > FIXED_MAX)
        return (size_t)sprintf(text, "%c%s%.*se%c%02d", digits[0], count > 1 ? "." : "", count - 1,
                               digits + 1, point > 0 ? '+' : '-', abs(point - 1));
    if (point <= 0)
        return (size_t)sprintf(text, "0.%.*s%.*s", -point, "000", count, digits);
    if (point >= count)
        return (size_t)sprintf(text, "%.*s%.*s", count, digits, point - count, "0000000000000000");
    return (size_t)sprintf(text, "%.*s.%.*s", point, digits, count - point, digits + point);
}

static void format_float(topk_type type, double value, struct element_text *text) {
    char *at = text->text;
    if (signbit(value) && !isnan(value))
        *at++ = '-';
    double magnitude = fabs(value);
    /* Integers whose unit is within the precision need all their digits. */
    if (magnitude < ldexp(1.0, format_of(type).precision) && magnitude < 1e15 &&
        magnitude == (double)(int64_t)magnitude) {
        at += sprintf(at, "%" PRId64, (int64_t)magnitude);
    } else if (!isfinite(value)) {
        memcpy(at, isnan(value) ? "nan" : "inf", 3);
        at += 3;
    } else {
        struct decimal decimal;
        decimal_shortest(magnitude, type, &decimal);
        at += write_decimal(&decimal, at);
    }
    text->length = (size_t)(at - text->text);
}

void element_format(topk_type type, const void *element, struct element_text *text) {
    topk_bound number = element_decode(type, element);
    if (number.type == TOPK_BOUND_F64)
        format_float(type, number.value.f64, text);
    else if (number.type == TOPK_BOUND_I64)
        text->length = (size_t)sprintf(text->text, "%" PRId64, number.value.i64);
    else
        text->length = (size_t)sprintf(text->text, "%" PRIu64, number.value.u64);
}
