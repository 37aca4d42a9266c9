/* SPDX-License-Identifier: Apache-2.0 */
#include "number.h"

#include <limits.h>
#include <string.h>

enum { EXPONENT_OF_ZERO = INT_MIN, EXPONENT_OF_INFINITY = INT_MAX };

/* A binary floating-point format: one sign bit, then the exponent, then the fraction. */
typedef struct float_format {
    int exponent_bits;
    int fraction_bits;
    int bias;
    bool has_infinity; /* e4m3 has none: its all-ones exponent holds numbers, and one pattern is NaN */
} float_format;

static const float_format *format_of(topk_type type) {
    static const float_format f16 = {5, 10, 15, true};
    static const float_format bf16 = {8, 7, 127, true};
    static const float_format f32 = {8, 23, 127, true};
    static const float_format f64 = {11, 52, 1023, true};
    static const float_format e4m3 = {4, 3, 7, false};
    static const float_format e5m2 = {5, 2, 15, true};
    switch (type) {
    case TOPK_F16:
        return &f16;
    case TOPK_BF16:
        return &bf16;
    case TOPK_F32:
        return &f32;
    case TOPK_F64:
        return &f64;
    case TOPK_F8_E4M3:
        return &e4m3;
    case TOPK_F8_E5M2:
        return &e5m2;
    default:
        return NULL;
    }
}

size_t oracle_type_size(topk_type type) {
    static const unsigned char sizes[] = {0, 2, 2, 4, 8, 1, 1, 1, 2, 4, 8, 1, 2, 4, 8};
    return sizes[type];
}

static bool is_signed_integer(topk_type type) {
    return type == TOPK_I8 || type == TOPK_I16 || type == TOPK_I32 || type == TOPK_I64;
}

static uint64_t read_bits(topk_type type, const void *element) {
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    uint64_t bits = 0;
    switch (oracle_type_size(type)) {
    case 1:
        memcpy(&byte, element, sizeof byte);
        return byte;
    case 2:
        memcpy(&half, element, sizeof half);
        return half;
    case 4:
        memcpy(&word, element, sizeof word);
        return word;
    default:
        memcpy(&bits, element, sizeof bits);
        return bits;
    }
}

static void write_bits(topk_type type, uint64_t bits, void *element) {
    uint8_t byte = (uint8_t)bits;
    uint16_t half = (uint16_t)bits;
    uint32_t word = (uint32_t)bits;
    switch (oracle_type_size(type)) {
    case 1:
        memcpy(element, &byte, sizeof byte);
        break;
    case 2:
        memcpy(element, &half, sizeof half);
        break;
    case 4:
        memcpy(element, &word, sizeof word);
        break;
    default:
        memcpy(element, &bits, sizeof bits);
    }
}

static uint64_t low_ones(int count) {
    return (UINT64_C(1) << count) - 1;
}

/* The number whose magnitude is integer * 2^scale. */
static oracle_number normalised(uint64_t integer, int scale, bool negative) {
    oracle_number number = {integer, scale + 63, negative ? -1 : 1, false};
    if (integer == 0) {
        return (oracle_number){0, EXPONENT_OF_ZERO, 0, false};
    }
    for (int step = 32; step != 0; step /= 2) {
        if (number.mantissa >> (64 - step) == 0) {
            number.mantissa <<= step;
            number.exponent -= step;
        }
    }
    return number;
}

static oracle_number decode_float(const float_format *format, uint64_t bits) {
    uint64_t fraction = bits & low_ones(format->fraction_bits);
    uint64_t exponent = (bits >> format->fraction_bits) & low_ones(format->exponent_bits);
    bool negative = (bits >> (format->fraction_bits + format->exponent_bits)) & 1;
    bool top_exponent = exponent == low_ones(format->exponent_bits);
    int scale_of_one =
        1 - format->bias - format->fraction_bits; /* of the lowest fraction bit of a denormal */

    if (top_exponent && format->has_infinity) {
        return fraction != 0 ? (oracle_number){0, 0, 0, true}
                             : (oracle_number){0, EXPONENT_OF_INFINITY, negative ? -1 : 1, false};
    }
    if (top_exponent && fraction == low_ones(format->fraction_bits)) {
        return (oracle_number){0, 0, 0, true};
    }
    if (exponent == 0) {
        return normalised(fraction, scale_of_one, negative);
    }
    return normalised(fraction + low_ones(format->fraction_bits) + 1, scale_of_one + (int)exponent - 1,
                      negative);
}

static oracle_number decode_signed(int64_t value) {
    return normalised(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 0, value < 0);
}

static int64_t read_signed(topk_type type, const void *element) {
    uint64_t bits = read_bits(type, element);
    switch (type) {
    case TOPK_I8:
        return (int8_t)bits;
    case TOPK_I16:
        return (int16_t)bits;
    case TOPK_I32:
        return (int32_t)bits;
    default:
        return (int64_t)bits;
    }
}

oracle_number oracle_decode(topk_type type, const void *element) {
    const float_format *format = format_of(type);
    if (format != NULL) {
        return decode_float(format, read_bits(type, element));
    }
    return is_signed_integer(type) ? decode_signed(read_signed(type, element))
                                   : normalised(read_bits(type, element), 0, false);
}

oracle_number oracle_decode_bound(const topk_bound *bound) {
    switch (bound->type) {
    case TOPK_BOUND_I64:
        return decode_signed(bound->value.i64);
    case TOPK_BOUND_U64:
        return normalised(bound->value.u64, 0, false);
    default:
        return oracle_decode(TOPK_F64, &bound->value.f64);
    }
}

static uint64_t float_class(const float_format *format, topk_rank rank, uint64_t bits) {
    oracle_number number = decode_float(format, bits);
    int sign_position = format->fraction_bits + format->exponent_bits;
    if (number.nan) {
        uint64_t exponent = low_ones(format->exponent_bits) << format->fraction_bits;
        return exponent | (format->has_infinity ? UINT64_C(1) << (format->fraction_bits - 1)
                                                : low_ones(format->fraction_bits));
    }
    if (number.sign == 0) {
        return 0;
    }
    return rank == TOPK_BY_MAGNITUDE ? bits & low_ones(sign_position) : bits;
}

void oracle_write_class(topk_type type, topk_rank rank, const void *element, void *class_value) {
    const float_format *format = format_of(type);
    uint64_t bits = read_bits(type, element);
    if (format != NULL) {
        bits = float_class(format, rank, bits);
    } else if (rank == TOPK_BY_MAGNITUDE && is_signed_integer(type) && read_signed(type, element) < 0) {
        bits = 0 - bits; /* of the minimum this is the minimum itself */
    }
    write_bits(type, bits, class_value);
}

void oracle_write_padding(topk_type type, topk_direction direction, void *value) {
    bool lowest = direction == TOPK_LARGEST;
    const float_format *format = format_of(type);
    int bits_of_type = (int)oracle_type_size(type) * 8;
    uint64_t sign_bit = UINT64_C(1) << (bits_of_type - 1);
    uint64_t bits;
    if (format != NULL) {
        uint64_t infinity = low_ones(format->exponent_bits) << format->fraction_bits;
        uint64_t largest_e4m3 = 0x7e; /* 448 */
        bits = format->has_infinity ? infinity : largest_e4m3;
        bits |= lowest ? sign_bit : 0;
    } else if (is_signed_integer(type)) {
        bits = lowest ? sign_bit : sign_bit - 1;
    } else {
        bits = lowest ? 0 : UINT64_MAX;
    }
    write_bits(type, bits, value);
}
