/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements as unsigned keys, larger is better; and as numbers. Written from CONTRACT.md section 1.
 * What is constexpr can be called by code for a GPU too. */
#ifndef BENCH_KEYS_HPP
#define BENCH_KEYS_HPP

#include "topk.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace bench {

constexpr bool is_float(topk_type type) {
    return type >= TOPK_F16 && type <= TOPK_F8_E5M2;
}

/* Bits of the significand that are stored. */
constexpr int significand_bits(topk_type type) {
    switch (type) {
    case TOPK_F16:
        return 10;
    case TOPK_BF16:
        return 7;
    case TOPK_F32:
        return 23;
    case TOPK_F64:
        return 52;
    case TOPK_F8_E4M3:
        return 3;
    case TOPK_F8_E5M2:
        return 2;
    default:
        return 0;
    }
}

/* W is the unsigned type as wide as an element. */
template <typename W> constexpr W sign_bit() {
    return static_cast<W>(W(1) << (8 * sizeof(W) - 1));
}

/* The bits of +infinity, or of the largest number of a type that has none. */
template <typename W> constexpr W infinity_bits(topk_type type) {
    const W exponent_and_significand = static_cast<W>(~sign_bit<W>());
    if (type == TOPK_F8_E4M3) {
        return static_cast<W>(exponent_and_significand - 1);
    }
    return static_cast<W>(exponent_and_significand >> significand_bits(type) << significand_bits(type));
}

/* NaN ranks above infinity, as the default policy has it. */
template <typename W> constexpr W key_of(topk_type type, topk_direction direction, W bits) {
    W key = bits;
    if (is_float(type)) {
        const W magnitude = static_cast<W>(bits & ~sign_bit<W>());
        if (magnitude > infinity_bits<W>(type)) {
            key = static_cast<W>(~W(0));
        } else if (magnitude == 0) {
            key = sign_bit<W>();
        } else {
            key = static_cast<W>(bits & sign_bit<W>() ? ~bits : bits | sign_bit<W>());
        }
    } else if (type >= TOPK_I8 && type <= TOPK_I64) {
        key = static_cast<W>(bits ^ sign_bit<W>());
    }
    return direction == TOPK_SMALLEST ? static_cast<W>(~key) : key;
}

/* What fills the slots beyond the end of a row. */
template <typename W> constexpr W padding_bits(topk_type type, topk_direction direction) {
    const bool largest = direction == TOPK_LARGEST;
    if (is_float(type)) {
        return static_cast<W>(infinity_bits<W>(type) | (largest ? sign_bit<W>() : W(0)));
    }
    if (type >= TOPK_I8 && type <= TOPK_I64) {
        return static_cast<W>(largest ? sign_bit<W>() : ~sign_bit<W>());
    }
    return static_cast<W>(largest ? W(0) : ~W(0));
}

/* The number that an element is; long double holds them all. */
template <typename W> long double number_of(topk_type type, W bits) {
    if (type == TOPK_F64) {
        double number;
        const std::uint64_t wide = bits;
        std::memcpy(&number, &wide, sizeof number);
        return static_cast<long double>(number);
    }
    if (is_float(type)) {
        const int stored = significand_bits(type);
        const W magnitude = static_cast<W>(bits & ~sign_bit<W>());
        const int exponent = static_cast<int>(magnitude >> stored);
        const int bias = (1 << (8 * static_cast<int>(sizeof(W)) - 2 - stored)) - 1;
        const W fraction = static_cast<W>(magnitude & ((W(1) << stored) - 1));
        const long double significand =
            static_cast<long double>(exponent ? fraction + (W(1) << stored) : fraction);
        const long double number = std::ldexp(significand, (exponent ? exponent : 1) - bias - stored);
        return bits & sign_bit<W>() ? -number : number;
    }
    if (type >= TOPK_I8 && type <= TOPK_I64) {
        const long double modulus = std::ldexp(1.0L, 8 * static_cast<int>(sizeof(W)));
        const long double number = static_cast<long double>(bits);
        return bits & sign_bit<W>() ? number - modulus : number;
    }
    return static_cast<long double>(bits);
}

} // namespace bench

#endif // BENCH_KEYS_HPP
