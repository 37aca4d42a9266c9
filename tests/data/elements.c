/* SPDX-License-Identifier: Apache-2.0 */
#include "elements.h"

#include <math.h>
#include <string.h>

typedef struct format {
    int bits;
    int fraction_bits;  /* -1: an integer */
    int least_exponent; /* of a normal number */
    uint64_t largest;   /* finite */
    uint64_t infinity;  /* 0: none */
    bool is_signed;
} format;

static const format formats[] = {
    [TOPK_F16] = {16, 10, -14, 0x7bff, 0x7c00, true},
    [TOPK_BF16] = {16, 7, -126, 0x7f7f, 0x7f80, true},
    [TOPK_F32] = {32, 23, -126, 0x7f7fffff, 0x7f800000, true},
    [TOPK_F64] = {64, 52, -1022, UINT64_C(0x7fefffffffffffff), UINT64_C(0x7ff0000000000000), true},
    [TOPK_F8_E4M3] = {8, 3, -6, 0x7e, 0, true},
    [TOPK_F8_E5M2] = {8, 2, -14, 0x7b, 0x7c, true},
    [TOPK_I8] = {8, -1, 0, INT8_MAX, 0, true},
    [TOPK_I16] = {16, -1, 0, INT16_MAX, 0, true},
    [TOPK_I32] = {32, -1, 0, INT32_MAX, 0, true},
    [TOPK_I64] = {64, -1, 0, INT64_MAX, 0, true},
    [TOPK_U8] = {8, -1, 0, UINT8_MAX, 0, false},
    [TOPK_U16] = {16, -1, 0, UINT16_MAX, 0, false},
    [TOPK_U32] = {32, -1, 0, UINT32_MAX, 0, false},
    [TOPK_U64] = {64, -1, 0, UINT64_MAX, 0, false},
};

bool element_is_float(topk_type type) {
    return formats[type].fraction_bits > 0;
}

int element_bits(topk_type type) {
    return formats[type].bits;
}

static uint64_t sign_bit(topk_type type) {
    return UINT64_C(1) << (formats[type].bits - 1);
}

void element_put_bits(topk_type type, void *values, int64_t i, uint64_t bits) {
    switch (formats[type].bits) {
    case 8:
        ((uint8_t *)values)[i] = (uint8_t)bits;
        break;
    case 16:
        ((uint16_t *)values)[i] = (uint16_t)bits;
        break;
    case 32:
        ((uint32_t *)values)[i] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)values)[i] = bits;
    }
}

uint64_t element_get_bits(topk_type type, const void *values, int64_t i) {
    switch (formats[type].bits) {
    case 8:
        return ((const uint8_t *)values)[i];
    case 16:
        return ((const uint16_t *)values)[i];
    case 32:
        return ((const uint32_t *)values)[i];
    default:
        return ((const uint64_t *)values)[i];
    }
}

/* With the fraction scaled to an integer m in [2^p, 2^(p+1)], the bits are (E - 1) * 2^p + m, where E
 * is the biased exponent; a denormal has E = 1 and m < 2^p. A carry out of the rounding then runs into
 * the exponent by itself. */
static uint64_t float_bits(const format *f, double x) {
    double magnitude = fabs(x);
    uint64_t bits;
    int exponent;
    frexp(magnitude, &exponent);
    exponent = exponent - 1 < f->least_exponent ? f->least_exponent : exponent - 1;
    bits = (uint64_t)rint(ldexp(magnitude, f->fraction_bits - exponent));
    bits += (uint64_t)(exponent - f->least_exponent) << f->fraction_bits;
    bits = magnitude == 0 ? 0 : bits > f->largest ? f->largest : bits;
    return bits | (signbit(x) ? UINT64_C(1) << (f->bits - 1) : 0);
}

static uint64_t integer_bits(const format *f, double x) {
    double scaled = ldexp(x, f->bits - 3);
    double limit = ldexp(1.0, f->is_signed ? f->bits - 1 : f->bits);
    if (scaled >= limit) {
        return f->largest;
    }
    if (!f->is_signed) {
        return scaled <= 0 ? 0 : (uint64_t)scaled;
    }
    return scaled <= -limit ? ~f->largest : (uint64_t)(int64_t)scaled;
}

void element_put(topk_type type, void *values, int64_t i, double x) {
    const format *f = &formats[type];
    if (type == TOPK_F64) {
        memcpy((double *)values + i, &x, sizeof x);
    } else {
        element_put_bits(type, values, i, f->fraction_bits > 0 ? float_bits(f, x) : integer_bits(f, x));
    }
}

uint64_t element_largest(topk_type type, bool negative) {
    const format *f = &formats[type];
    if (element_is_float(type)) {
        return f->largest | (negative ? sign_bit(type) : 0);
    }
    return negative ? f->is_signed ? sign_bit(type) : 0 : f->largest;
}

uint64_t element_infinity(topk_type type, bool negative) {
    const format *f = &formats[type];
    return f->infinity != 0 ? f->infinity | (negative ? sign_bit(type) : 0) : element_largest(type, negative);
}

uint64_t element_zero(topk_type type, bool negative) {
    return element_is_float(type) && negative ? sign_bit(type) : 0;
}

uint64_t element_random_nan(topk_type type, random_state *random) {
    const format *f = &formats[type];
    uint64_t draw = random_bits(random);
    uint64_t sign = draw >> 63 ? sign_bit(type) : 0;
    uint64_t payloads = (UINT64_C(1) << (f->fraction_bits < 0 ? 1 : f->fraction_bits)) - 1;
    if (!element_is_float(type)) {
        return element_largest(type, sign != 0);
    }
    return sign | (f->infinity == 0 ? 0x7f : f->infinity + 1 + (draw >> 1) % payloads);
}

uint64_t element_random_denormal(topk_type type, random_state *random) {
    uint64_t draw = random_bits(random);
    if (!element_is_float(type)) {
        return draw % 3;
    }
    return (draw >> 63 ? sign_bit(type) : 0) | draw % (UINT64_C(1) << formats[type].fraction_bits);
}
