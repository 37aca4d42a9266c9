/* SPDX-License-Identifier: Apache-2.0 */
#include "keys.h"

struct type_traits topk_type_traits(topk_type type) {
    static const struct type_traits traits[] = {
        [TOPK_F16] = {16, true, true, 10, 0x7c00, 0x7e00},
        [TOPK_BF16] = {16, true, true, 7, 0x7f80, 0x7fc0},
        [TOPK_F32] = {32, true, true, 23, 0x7f800000, 0x7fc00000},
        [TOPK_F64] = {64, true, true, 52, 0x7ff0000000000000, 0x7ff8000000000000},
        [TOPK_F8_E4M3] = {8, true, true, 3, 0x7e, 0x7f},
        [TOPK_F8_E5M2] = {8, true, true, 2, 0x7c, 0x7e},
        [TOPK_I8] = {8, false, true, 0, 0, 0},
        [TOPK_I16] = {16, false, true, 0, 0, 0},
        [TOPK_I32] = {32, false, true, 0, 0, 0},
        [TOPK_I64] = {64, false, true, 0, 0, 0},
        [TOPK_U8] = {8, false, false, 0, 0, 0},
        [TOPK_U16] = {16, false, false, 0, 0, 0},
        [TOPK_U32] = {32, false, false, 0, 0, 0},
        [TOPK_U64] = {64, false, false, 0, 0, 0},
    };
    return traits[type];
}

struct order topk_order_of(topk_type type, topk_direction direction, topk_rank rank, topk_nan nan) {
    return (struct order){type, direction, rank, nan == TOPK_NAN_AS_LARGEST && direction == TOPK_LARGEST};
}

struct order topk_order_reversed(const struct order *order) {
    return (struct order){order->type, order->direction == TOPK_LARGEST ? TOPK_SMALLEST : TOPK_LARGEST,
                          order->rank, !order->nan_best};
}

struct key_map topk_key_map(const struct order *order) {
    const struct type_traits traits = topk_type_traits(order->type);
    const uint64_t ones = topk_ones(traits.bits);
    const uint64_t sign = 1ull << (traits.bits - 1);
    const bool by_magnitude = order->rank == TOPK_BY_MAGNITUDE, smallest = order->direction == TOPK_SMALLEST;
    const uint64_t reverse = smallest ? ones : 0;
    struct key_map map = {.keep = ones, .magnitude = ones, .largest_number = ones, .nan_key = 0};
    if (traits.is_float) {
        map.keep = by_magnitude ? ones ^ sign : ones;
        map.flip_negative = ones ^ reverse;
        map.flip_positive = sign ^ reverse;
        map.magnitude = ones ^ sign;
        map.largest_number = traits.infinity;
        map.nan_key = order->nan_best ? ones : 0;
    } else if (traits.is_signed && by_magnitude) {
        map.flip_negative = ones ^ reverse;
        map.add_negative = smallest ? ones : 1;
        map.flip_positive = reverse;
    } else {
        map.flip_positive = (traits.is_signed ? sign : 0) ^ reverse;
        map.flip_negative = map.flip_positive;
    }
    map.zero_key = map.flip_positive;
    return map;
}

uint64_t topk_key_decode(const struct order *order, uint64_t key) {
    const struct type_traits traits = topk_type_traits(order->type);
    const uint64_t ones = topk_ones(traits.bits);
    const uint64_t sign = 1ull << (traits.bits - 1);
    const uint64_t ascending = order->direction == TOPK_SMALLEST ? key ^ ones : key;
    if (traits.is_float) {
        if (key == topk_key_map(order).nan_key) {
            return traits.quiet_nan;
        }
        return ascending & sign ? ascending ^ sign : ascending ^ ones;
    }
    return traits.is_signed && order->rank == TOPK_BY_VALUE ? ascending ^ sign : ascending;
}

/* ---- Points ---- */

struct point_map topk_point_map(const struct order *order) {
    const struct type_traits traits = topk_type_traits(order->type);
    const uint64_t ones = topk_ones(traits.bits), sign = 1ull << (traits.bits - 1);
    if (order->rank == TOPK_BY_MAGNITUDE && traits.is_float) {
        return (struct point_map){ones ^ sign, 0, 0};
    }
    if (order->rank == TOPK_BY_MAGNITUDE && traits.is_signed) {
        return (struct point_map){ones, ones, 1};
    }
    return (struct point_map){ones, traits.is_float ? ones ^ sign : 0, 0};
}

/* Both ends of a class on the circle. */
struct ends {
    uint64_t first, last;
};

static uint64_t point_of(const struct point_map *point_map, unsigned bits, uint64_t element) {
    const uint64_t u = element & point_map->keep;
    return u >> (bits - 1) ? ((u ^ point_map->flip) + point_map->add) & topk_ones(bits) : u;
}

/* NaN patterns lie between +infinity and -infinity; by magnitude, between infinity and the top. */
static struct ends nan_ends(const struct order *order, const struct point_map *point_map) {
    const struct type_traits traits = topk_type_traits(order->type);
    const uint64_t ones = topk_ones(traits.bits), sign = 1ull << (traits.bits - 1);
    const uint64_t below_numbers = order->rank == TOPK_BY_MAGNITUDE
                                       ? ones
                                       : point_of(point_map, traits.bits, traits.infinity | sign) - 1;
    return (struct ends){traits.infinity + 1, below_numbers};
}

static struct ends class_ends(const struct order *order, const struct point_map *point_map,
                              uint64_t element) {
    const struct type_traits traits = topk_type_traits(order->type);
    const uint64_t point = point_of(point_map, traits.bits, element);
    if (traits.is_float && element == traits.quiet_nan) {
        return nan_ends(order, point_map);
    }
    if (traits.is_float && order->rank == TOPK_BY_VALUE && element == 0) {
        return (struct ends){topk_ones(traits.bits), 0}; /* -0.0 is one point below +0.0 */
    }
    return (struct ends){point, point};
}

struct arc topk_nan_arc(const struct order *order, const struct point_map *point_map) {
    const struct ends nan = nan_ends(order, point_map);
    return (struct arc){nan.first, (nan.last - nan.first) & topk_ones(topk_type_traits(order->type).bits)};
}

uint64_t topk_worst_point(const struct order *order, const struct point_map *point_map) {
    const struct type_traits traits = topk_type_traits(order->type);
    const bool by_value = order->rank == TOPK_BY_VALUE, largest = order->direction == TOPK_LARGEST;
    const uint64_t ones = topk_ones(traits.bits), sign = 1ull << (traits.bits - 1);
    if (traits.is_float) {
        const struct ends nan = nan_ends(order, point_map);
        const uint64_t below_nan = (largest ? nan.last + 1 : nan.first - 1) & ones;
        return order->nan_best ? below_nan : largest ? nan.first : nan.last;
    }
    const uint64_t least = traits.is_signed && by_value ? sign : 0;
    return largest ? least : (least - 1) & ones;
}

/* The next key at or below `key` that an element has; the lowest such key if there is none. */
static uint64_t live_key(const struct order *order, uint64_t key) {
    const struct type_traits traits = topk_type_traits(order->type);
    const uint64_t sign = 1ull << (traits.bits - 1), no_sign = sign - 1;
    if (!traits.is_float) {
        /* All keys, but that magnitudes of signed integers end at 2^(bits-1). */
        if (order->rank == TOPK_BY_VALUE || !traits.is_signed) {
            return key;
        }
        return order->direction == TOPK_LARGEST ? (key < sign ? key : sign) : (key > no_sign ? key : no_sign);
    }
    const struct key_map map = topk_key_map(order);
    const uint64_t plus = topk_key_encode(traits.infinity, traits.bits, &map);
    const uint64_t minus =
        topk_key_encode(order->rank == TOPK_BY_MAGNITUDE ? 0 : traits.infinity | sign, traits.bits, &map);
    const uint64_t least = plus < minus ? plus : minus, greatest = plus < minus ? minus : plus;
    if (key < least) {
        /* Below the numbers there is NaN at key 0, or nothing. */
        return map.nan_key == 0 ? 0 : least;
    }
    if (key > greatest) {
        return map.nan_key != 0 && key >= map.nan_key ? map.nan_key : greatest;
    }
    /* The one key among the numbers that nothing has belongs to the zero which is not zero_key. */
    const uint64_t other_zero = order->rank == TOPK_BY_MAGNITUDE   ? map.zero_key
                                : order->direction == TOPK_LARGEST ? map.zero_key - 1
                                                                   : map.zero_key + 1;
    if (key == other_zero && key != map.zero_key) {
        return order->direction == TOPK_LARGEST ? key - 1 : map.zero_key;
    }
    return key;
}

struct threshold_arcs topk_threshold_arcs(const struct order *order, uint64_t key) {
    const unsigned bits = topk_type_traits(order->type).bits;
    const struct point_map point_map = topk_point_map(order);
    const uint64_t live = live_key(order, key);
    const uint64_t element = topk_key_decode(order, live);
    const uint64_t ones = topk_ones(bits), worst = topk_worst_point(order, &point_map);
    const struct ends class = class_ends(order, &point_map, element);
    struct threshold_arcs arcs;
    arcs.key = live;
    arcs.equal = (struct arc){class.first, (class.last - class.first) & ones};
    if (order->direction == TOPK_LARGEST) {
        arcs.not_above = (struct arc){worst, (class.last - worst) & ones};
    } else {
        arcs.not_above = (struct arc){class.first, (worst - class.first) & ones};
    }
    return arcs;
}

uint64_t topk_padding_bits(topk_type type, topk_direction direction) {
    const struct type_traits traits = topk_type_traits(type);
    const uint64_t ones = topk_ones(traits.bits);
    const uint64_t sign = 1ull << (traits.bits - 1);
    if (traits.is_float) {
        return direction == TOPK_LARGEST ? traits.infinity | sign : traits.infinity;
    }
    if (traits.is_signed) {
        return direction == TOPK_LARGEST ? sign : ones ^ sign;
    }
    return direction == TOPK_LARGEST ? 0 : ones;
}

size_t topk_type_size(topk_type type) {
    if ((unsigned)type < TOPK_F16 || (unsigned)type > TOPK_U64) {
        return 0;
    }
    return topk_type_traits(type).bits / 8;
}

const char *topk_type_name(topk_type type) {
    static const char *const names[] = {
        [TOPK_F16] = "f16",         [TOPK_BF16] = "bf16",       [TOPK_F32] = "f32", [TOPK_F64] = "f64",
        [TOPK_F8_E4M3] = "f8_e4m3", [TOPK_F8_E5M2] = "f8_e5m2", [TOPK_I8] = "i8",   [TOPK_I16] = "i16",
        [TOPK_I32] = "i32",         [TOPK_I64] = "i64",         [TOPK_U8] = "u8",   [TOPK_U16] = "u16",
        [TOPK_U32] = "u32",         [TOPK_U64] = "u64",
    };
    return (unsigned)type < sizeof names / sizeof names[0] ? names[type] : NULL;
}
