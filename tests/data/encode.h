/* SPDX-License-Identifier: Apache-2.0
 *
 * The formats of elements, and numbers as elements. */
#ifndef TESTS_ENCODE_H
#define TESTS_ENCODE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "everywhere_cuda.h"
#include "topk.h"

typedef struct element_format {
    int bits;
    int fraction_bits; /* -1: an integer */
    bool is_signed;
    uint64_t largest;  /* finite */
    uint64_t infinity; /* of floats; e4m3 has none, and gets its largest number here */
} element_format;

static inline EVERYWHERE bool element_is_float(topk_type type) {
    return type >= TOPK_F16 && type <= TOPK_F8_E5M2;
}

static inline EVERYWHERE element_format element_format_of(topk_type type) {
    element_format f = {0, -1, type <= TOPK_I64, 0, 0};
    if (!element_is_float(type)) {
        f.bits = 8 << (type - TOPK_I8) % 4;
        f.largest = UINT64_MAX >> (64 - f.bits + f.is_signed);
        return f;
    }
    f.bits = type == TOPK_F64 ? 64 : type == TOPK_F32 ? 32 : type == TOPK_F16 || type == TOPK_BF16 ? 16 : 8;
    f.fraction_bits = type == TOPK_F64       ? 52
                      : type == TOPK_F32     ? 23
                      : type == TOPK_F16     ? 10
                      : type == TOPK_BF16    ? 7
                      : type == TOPK_F8_E4M3 ? 3
                                             : 2;
    f.infinity = (UINT64_C(1) << (f.bits - 1)) - (UINT64_C(1) << f.fraction_bits);
    f.largest = f.infinity - 1;
    if (type == TOPK_F8_E4M3) {
        f.infinity = f.largest = 0x7e;
    }
    return f;
}

/* With the fraction scaled to an integer m in [2^p, 2^(p+1)], the bits are (E - 1) * 2^p + m, where E is the
 * biased exponent; a denormal has E = 1 and m < 2^p. A carry out of the rounding then runs into the exponent
 * by itself. */
static inline EVERYWHERE uint64_t element_round(element_format f, double magnitude) {
    const int least_exponent = 2 - (1 << (f.bits - 2 - f.fraction_bits)); /* of a normal number */
    if (isinf(magnitude)) {                                               /* which has no exponent */
        return f.infinity;
    }
    const bool normal = magnitude >= ldexp(1.0, least_exponent);
    const int exponent = normal ? ilogb(magnitude) : least_exponent;
    return ((uint64_t)(exponent - least_exponent) << f.fraction_bits) +
           (uint64_t)rint(ldexp(magnitude, f.fraction_bits - exponent));
}

static inline EVERYWHERE uint64_t element_encode_float(topk_type type, double x) {
    const element_format f = element_format_of(type);
    const float narrow = (float)x;
    uint32_t word;
    uint64_t bits;
    if (type == TOPK_F64) {
        memcpy(&bits, &x, sizeof bits);
        return bits;
    }
    memcpy(&word, &narrow, sizeof word);
    /* bfloat16 is made from float32, as programs do it: rounded twice. */
    bits = type == TOPK_F32    ? word & INT32_MAX
           : type == TOPK_BF16 ? element_round(f, fabs((double)narrow))
                               : element_round(f, fabs(x));
    bits = bits > f.largest ? f.largest : bits;
    return bits | (signbit(x) ? UINT64_C(1) << (f.bits - 1) : 0);
}

static inline EVERYWHERE uint64_t element_encode_integer(topk_type type, double x) {
    const element_format f = element_format_of(type);
    const double limit = ldexp(1.0, f.bits - f.is_signed), rounded = rint(x);
    if (rounded >= limit) {
        return f.largest;
    }
    if (f.is_signed) {
        return rounded <= -limit ? ~f.largest : (uint64_t)(int64_t)rounded;
    }
    return rounded <= 0 ? 0 : (uint64_t)rounded;
}

/* The element nearest to x, ties to even, in the low bits. Beyond the largest finite one it is that. */
static inline EVERYWHERE uint64_t element_encode(topk_type type, double x) {
    return element_is_float(type) ? element_encode_float(type, x) : element_encode_integer(type, x);
}

#endif
