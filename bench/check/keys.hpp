/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements as unsigned keys, larger is better. Written from CONTRACT.md section 1. A GPU's
 * code calls what is constexpr too. */
#ifndef BENCH_KEYS_HPP
#define BENCH_KEYS_HPP

#include "check/check.h"
#include "encode.h"
#include "random.h"

#include <cstdint>
#include <cstring>

namespace bench {

/* Calls f with an unsigned number of the width of the type. */
template <typename F> auto with_width(topk_type type, F f) {
    switch (topk_type_size(type)) {
    case 1:
        return f(std::uint8_t());
    case 2:
        return f(std::uint16_t());
    case 4:
        return f(std::uint32_t());
    default:
        return f(std::uint64_t());
    }
}

EVERYWHERE inline bool is_signed(topk_type type) {
    return type >= TOPK_I8 && type <= TOPK_I64;
}

/* W is the unsigned type as wide as an element. */
template <typename W> EVERYWHERE W sign_bit() {
    return static_cast<W>(W(1) << (8 * sizeof(W) - 1));
}

/* The bits of +infinity, or of the largest number of a type that has none. */
template <typename W> EVERYWHERE W infinity_bits(topk_type type) {
    return static_cast<W>(element_format_of(type).infinity);
}

template <typename W> EVERYWHERE bool is_nan(topk_type type, W bits) {
    return element_is_float(type) && static_cast<W>(bits & ~sign_bit<W>()) > infinity_bits<W>(type);
}

/* Of elements but for NaN, in ascending order. */
template <typename W> EVERYWHERE W ascending_key(topk_type type, W bits) {
    const W sign = sign_bit<W>();
    if (element_is_float(type)) {
        const bool zero = static_cast<W>(bits & ~sign) == 0;
        return static_cast<W>(zero ? sign : bits & sign ? ~bits : bits | sign);
    }
    return static_cast<W>(is_signed(type) ? bits ^ sign : bits);
}

/* An element that has the key; of both zeros +0. */
template <typename W> EVERYWHERE W bits_of_key(topk_type type, W key) {
    const W sign = sign_bit<W>();
    return static_cast<W>(!element_is_float(type) ? (is_signed(type) ? key ^ sign : key)
                          : key & sign            ? key ^ sign
                                                  : ~key);
}

template <typename W> EVERYWHERE W key_of(const bench_point &point, W bits) {
    const bool largest = point.direction == TOPK_LARGEST;
    if (is_nan(point.type, bits)) {
        return static_cast<W>(largest && point.nan == TOPK_NAN_AS_LARGEST ? ~W(0) : W(0));
    }
    const W key = ascending_key(point.type, bits);
    return static_cast<W>(largest ? key : ~key);
}

/* What fills the slots beyond the end of a row. */
template <typename W> EVERYWHERE W padding_bits(const bench_point &point) {
    const bool largest = point.direction == TOPK_LARGEST;
    if (element_is_float(point.type)) {
        return static_cast<W>(infinity_bits<W>(point.type) | (largest ? sign_bit<W>() : W(0)));
    }
    return bits_of_key<W>(point.type, static_cast<W>(largest ? W(0) : ~W(0)));
}

/* What a mask says of element e. */
EVERYWHERE inline bool masked(const unsigned char *mask, bool in_bits, std::int64_t e) {
    return in_bits ? (mask[e / 8] >> (e % 8) & 1) != 0 : mask[e] != 0;
}

/* Whether an element matches; it lies at e, counted through all rows. */
template <typename W>
EVERYWHERE bool matches(const bench_truth &truth, topk_type type, W bits, std::int64_t e) {
    constexpr std::uint64_t seed = 0x706C616365; /* that no data has */
    if (truth.chosen != nullptr) {
        return masked(truth.chosen, true, e);
    }
    if (truth.rule == BENCH_BY_POSITION) {
        return random_at(seed, e) % 100 < static_cast<std::uint64_t>(truth.keep_percent);
    }
    const bool above = truth.all_above || ascending_key(type, bits) > truth.key;
    return !is_nan(type, bits) && above == (truth.rule == BENCH_ABOVE_BOUND);
}

} // namespace bench

#endif // BENCH_KEYS_HPP
