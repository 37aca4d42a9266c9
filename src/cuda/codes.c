/* SPDX-License-Identifier: Apache-2.0 */
#include "codes.h"

/* The code of a point, before it is cut. */
static uint64_t code_of_point(const struct code_map *map, uint64_t ones, uint64_t point) {
    return ((point ^ map->always) + map->turn) & ones;
}

struct code_map topk_code_map(const struct order *order, const struct point_map *points) {
    const struct type_traits traits = topk_type_traits(order->type);
    const uint64_t ones = topk_ones(traits.bits);
    const bool largest = order->direction == TOPK_LARGEST;
    const uint64_t worst = topk_worst_point(order, points);
    struct code_map map = {.keep = points->keep,
                           .always = largest ? 0 : ones,
                           .negative = points->flip,
                           .turn = (largest ? 0 - worst : worst + 1) & ones,
                           .add = (largest ? points->add : 0 - points->add) & ones,
                           .lowest = 0,
                           .highest = ones,
                           .zeros = ones};
    if (!traits.is_float) {
        return map;
    }
    const struct arc nan = topk_nan_arc(order, points);
    const uint64_t one_end = code_of_point(&map, ones, nan.begin);
    const uint64_t other_end = code_of_point(&map, ones, nan.begin + nan.span);
    if (order->nan_best) {
        map.highest = one_end < other_end ? one_end : other_end;
    } else {
        map.lowest = one_end > other_end ? one_end : other_end;
    }
    if (order->rank == TOPK_BY_VALUE) {
        const uint64_t plus = code_of_point(&map, ones, 0), minus = code_of_point(&map, ones, ones);
        map.zeros = plus < minus ? plus : minus;
    }
    return map;
}

struct decode_args topk_decode_args(const struct order *order, const struct code_map *map) {
    const struct type_traits traits = topk_type_traits(order->type);
    struct decode_args d = {.map = *map,
                            .sign = 1ull << (traits.bits - 1),
                            .quiet_nan = traits.quiet_nan,
                            .has_nan = traits.is_float,
                            .is_by_value = order->rank == TOPK_BY_VALUE};
    d.unflip = order->rank == TOPK_BY_VALUE ? d.map.negative : 0;
    d.has_zeros = d.map.zeros != topk_ones(traits.bits);
    d.nan_key = order->nan_best ? map->highest : map->lowest;
    return d;
}
