/* SPDX-License-Identifier: Apache-2.0
 * Codes and keys, on the device. Element is the unsigned integer of an element's width. */
#ifndef TOPK_SRC_CUDA_CODES_CUH
#define TOPK_SRC_CUDA_CODES_CUH

#include "codes.h"
#include "simt.cuh"

/* Codes are computed in registers, which have 32 bits at least. */
template <typename Element> struct key_word { typedef uint32_t type; };
template <> struct key_word<uint64_t> { typedef uint64_t type; };
template <typename Element> using key_word_t = typename key_word<Element>::type;

/* The code of an element before it is cut: each NaN has one of its own. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> uncut_code_of(key_word_t<Element> bits, const struct code_map &map) {
    typedef key_word_t<Element> word;
    const uint32_t width = 8 * sizeof(Element);
    const word negative = (word)0 - (bits >> (width - 1)); /* all ones or none */
    const word flip = (negative & (word)map.negative) ^ (word)map.always;
    const word code = ((bits & (word)map.keep) ^ flip) + (word)map.turn + (negative & (word)map.add);
    return sizeof(Element) < sizeof(word) ? code & (word)(Element) ~(Element)0 : code;
}

/* Whether codes are the points of elements, turned, in either direction (keys.h): as where no sign is left
 * out and no sign has codes of its own. */
template <typename Element> TOPK_DEVICE bool codes_follow_points(const struct code_map &map) {
    typedef key_word_t<Element> word;
    const word ones = (word)(Element) ~(Element)0, flip = (word)map.negative & ones;
    return (word)map.add == 0 && ((word)map.keep & ones) == ones && (flip == 0 || flip == ones >> 1);
}

template <typename Element>
TOPK_DEVICE key_word_t<Element> cut_code(key_word_t<Element> code, const struct code_map &map) {
    typedef key_word_t<Element> word;
    code = code > (word)map.lowest ? code : (word)map.lowest;
    return code < (word)map.highest ? code : (word)map.highest;
}

/* The code of an element: codes.h. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> code_of(key_word_t<Element> bits, const struct code_map &map) {
    return cut_code<Element>(uncut_code_of<Element>(bits, map), map);
}

/* The key of a code: as the code, but the same for both zeros. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> key_of_code(key_word_t<Element> code, const struct code_map &map) {
    return code | (key_word_t<Element>)(code == (key_word_t<Element>)map.zeros);
}

/* The two codes of zero are one class (codes.h): the first and the last code of a code's class. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> class_first(key_word_t<Element> code, const struct code_map &map) {
    const key_word_t<Element> even = code & ~(key_word_t<Element>)1;
    return even == (key_word_t<Element>)map.zeros ? even : code;
}

template <typename Element>
TOPK_DEVICE key_word_t<Element> class_last(key_word_t<Element> code, const struct code_map &map) {
    const key_word_t<Element> even = code & ~(key_word_t<Element>)1;
    return even == (key_word_t<Element>)map.zeros ? even + 1 : code;
}

/* The same among uncut codes, where all NaN are one class, at an end of all codes. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> uncut_class_first(key_word_t<Element> code, const struct code_map &map) {
    typedef key_word_t<Element> word;
    if (code <= (word)map.lowest)
        return 0;
    return class_first<Element>(code < (word)map.highest ? code : (word)map.highest, map);
}

template <typename Element>
TOPK_DEVICE key_word_t<Element> uncut_class_last(key_word_t<Element> code, const struct code_map &map) {
    typedef key_word_t<Element> word;
    if (code >= (word)map.highest)
        return (word) ~(Element)0;
    return class_last<Element>(code > (word)map.lowest ? code : (word)map.lowest, map);
}

/* The key of an element: greater for the better one, and the same for elements that tie. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> key_of(key_word_t<Element> bits, const struct code_map &map) {
    return key_of_code<Element>(code_of<Element>(bits, map), map);
}

/* The bits that topk_kth writes for the class of a code or key. */
TOPK_DEVICE uint64_t decode_key(const struct decode_args &d, uint64_t key) {
    if (d.has_nan && key == d.nan_key)
        return d.quiet_nan;
    if (d.has_zeros && (key == d.map.zeros || key == d.map.zeros + 1))
        return 0;
    uint64_t point = ((key - d.map.turn) ^ d.map.always) & (d.sign | (d.sign - 1));
    return point ^ (point & d.sign ? d.unflip : 0);
}

/* Whether a key belongs to one pattern of bits alone. Then decode_key() tells these bits. */
TOPK_DEVICE bool is_one_pattern(const struct decode_args &d, uint64_t key) {
    return d.is_by_value && !(d.has_nan && key == d.nan_key) &&
           !(d.has_zeros && (key == d.map.zeros || key == d.map.zeros + 1));
}

#endif
