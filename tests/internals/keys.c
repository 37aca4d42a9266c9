/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys, points and arcs of src/keys.h agree with each other: every threshold against every element of
 * the 8-bit types and a sample of the 16-bit ones, in every order. */
#include "keys.h"

#include <stdio.h>

#include "check.h"

static uint64_t point_of(uint64_t element, unsigned bits, const struct point_map *point_map) {
    const uint64_t u = element & point_map->keep;
    return u >> (bits - 1) ? ((u ^ point_map->flip) + point_map->add) & topk_ones(bits) : u;
}

static bool in_arc(uint64_t point, const struct arc *arc, unsigned bits) {
    return ((point - arc->begin) & topk_ones(bits)) <= arc->span;
}

/* The largest key at or below `key` that an element has; if there is none, the smallest. */
static uint64_t expected_key(const bool *has_key, uint64_t key, uint64_t greatest) {
    for (uint64_t candidate = key + 1; candidate-- > 0;) {
        if (has_key[candidate]) {
            return candidate;
        }
    }
    for (uint64_t candidate = key; candidate <= greatest; candidate++) {
        if (has_key[candidate]) {
            return candidate;
        }
    }
    return greatest;
}

static void check_threshold(const struct order *order, const bool *has_key, uint64_t threshold,
                            uint64_t step) {
    const unsigned bits = topk_type_traits(order->type).bits;
    const struct key_map map = topk_key_map(order);
    const struct point_map point_map = topk_point_map(order);
    const struct threshold_arcs arcs = topk_threshold_arcs(order, threshold);
    bool right = arcs.key == expected_key(has_key, threshold, topk_ones(bits));
    for (uint64_t element = 0; element <= topk_ones(bits); element += step) {
        const uint64_t key = topk_key_encode(element, bits, &map);
        const uint64_t point = point_of(element, bits, &point_map);
        right = right && in_arc(point, &arcs.equal, bits) == (key == arcs.key);
        right = right && in_arc(point, &arcs.not_above, bits) == (key <= arcs.key);
    }
    if (!CHECK(right)) {
        printf("type %s direction %d rank %d NaN best %d threshold %#llx\n", topk_type_name(order->type),
               (int)order->direction, (int)order->rank, order->nan_best, (unsigned long long)threshold);
    }
}

/* The reversed order has the complements of the keys, and its reverse is the order itself. */
static void check_reversed(const struct order *order, const struct order *reversed) {
    const unsigned bits = topk_type_traits(order->type).bits;
    const struct key_map map = topk_key_map(order), reversed_map = topk_key_map(reversed);
    const struct order again = topk_order_reversed(reversed);
    const struct key_map again_map = topk_key_map(&again);
    bool right = true;
    for (uint64_t element = 0; element <= topk_ones(bits); element++) {
        const uint64_t key = topk_key_encode(element, bits, &map);
        right = right && topk_key_encode(element, bits, &reversed_map) == (key ^ topk_ones(bits));
        right = right && topk_key_encode(element, bits, &again_map) == key;
    }
    CHECK(right);
}

static void check_order(const struct order *order) {
    static bool has_key[1 << 16];
    const unsigned bits = topk_type_traits(order->type).bits;
    const struct key_map map = topk_key_map(order);
    const uint64_t step = bits == 8 ? 1 : 37;
    for (uint64_t key = 0; key <= topk_ones(bits); key++) {
        has_key[key] = false;
    }
    for (uint64_t element = 0; element <= topk_ones(bits); element++) {
        has_key[topk_key_encode(element, bits, &map)] = true;
    }
    for (uint64_t key = 0; key <= topk_ones(bits); key += bits == 8 ? 1 : 101) {
        check_threshold(order, has_key, key, step);
        if (has_key[key]) {
            CHECK(topk_key_encode(topk_key_decode(order, key), bits, &map) == key);
        }
    }
}

int main(void) {
    for (int type = TOPK_F16; type <= TOPK_U64; type++) {
        for (int options = 0; options < 8 && topk_type_size((topk_type)type) <= 2; options++) {
            const struct order order = topk_order_of((topk_type)type, (topk_direction)(options & 1),
                                                     (topk_rank)(options >> 1 & 1), (topk_nan)(options >> 2));
            const struct order reversed = topk_order_reversed(&order);
            check_order(&order);
            check_order(&reversed);
            check_reversed(&order, &reversed);
        }
    }
    return check_report();
}
