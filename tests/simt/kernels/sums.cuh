/* SPDX-License-Identifier: Apache-2.0
 * Kernels within a block, each with what it should compute in its comment. */
#ifndef TOPK_TESTS_SIMT_SUMS_CUH
#define TOPK_TESTS_SIMT_SUMS_CUH

#include "launch.cuh"

/* The sum of the values of the warp's lanes up to the caller's. */
TOPK_DEVICE uint32_t warp_inclusive_sum(uint32_t value) {
    for (uint32_t distance = 1; distance < SIMT_WARP; distance *= 2) {
        uint32_t before = simt_shuffle_up(SIMT_ALL_LANES, value, distance);
        value += simt_lane() >= distance ? before : 0;
    }
    return value;
}

/* The sum of the values of the block's threads before the caller. `sums` has an element per warp. */
TOPK_DEVICE uint32_t block_exclusive_sum(uint32_t value, simt_shared<uint32_t> sums) {
    uint32_t inclusive = warp_inclusive_sum(value);
    if (simt_lane() == SIMT_WARP - 1)
        sums[simt_warp()] = inclusive;
    simt_block_sync();
    if (simt_warp() == 0) {
        uint32_t sum = simt_lane() < simt_warps() ? (uint32_t)sums[simt_lane()] : 0;
        uint32_t scanned = warp_inclusive_sum(sum);
        if (simt_lane() < simt_warps())
            sums[simt_lane()] = scanned - sum;
    }
    simt_block_sync();
    return sums[simt_warp()] + inclusive - value;
}

struct sums_args {
    const uint32_t *in; /* one value per thread of the grid */
    uint32_t *out;
};

/* out = exclusive prefix sums within each block. */
TOPK_KERNEL TOPK_BOUNDS(1024, 1) void sums_of_block(struct sums_args args) {
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> sums = simt_carve<uint32_t>(arena, simt_warps());
    uint32_t tile = simt_block_y() * simt_blocks() + simt_block();
    uint32_t i = tile * simt_threads() + simt_thread();
    args.out[i] = block_exclusive_sum(simt_load_read_only(&args.in[i]), sums);
}

/* A wide word for a value below 40: the upper halves are few, the lower ones differ. */
TOPK_HOST_DEVICE uint64_t wide_of(uint32_t value) {
    return (uint64_t)(0xfffffff0u + value % 4) << 32 | value * 0x9e3779b9u;
}

/* What the reductions and counts of 64-bit words say, made of the value so that both halves and their carries
 * count. */
TOPK_DEVICE void wide_operations(uint32_t value, uint32_t mask, uint32_t *out) {
    uint64_t wide = wide_of(value);
    uint64_t sum = simt_reduce_add(mask, wide), all = simt_reduce_add(SIMT_ALL_LANES, wide);
    out[0] = (uint32_t)(sum >> 32) ^ (uint32_t)sum;
    out[1] = (uint32_t)(all >> 32) ^ (uint32_t)all;
    out[2] = (uint32_t)simt_reduce_min(SIMT_ALL_LANES, wide);
    out[3] = (uint32_t)simt_reduce_max(SIMT_ALL_LANES, wide);
    out[4] = (uint32_t)simt_reduce_min(mask, wide);
    out[5] = (uint32_t)simt_reduce_max(mask, wide);
    out[6] = simt_reduce_or(mask, value);
    out[7] = simt_reduce_or(SIMT_ALL_LANES, value | 64);
    out[8] = simt_popc(value) + 100 * simt_clz(value) + 10000 * simt_ffs(value);
    uint64_t shifted = (uint64_t)value << 30;
    out[9] = simt_popc(shifted) + 100 * simt_clz(shifted) + 10000 * simt_ffs(shifted);
}

enum { WARP_WORDS = 32 };

/* A lane appends pairs of its number and twice that, one if its value is even, else two. Returns the sum of
 * the neighbour's, the second words times 1000. */
TOPK_DEVICE uint32_t append_pairs(uint32_t value) {
    const uint32_t lane = simt_lane(), neighbour = lane ^ 1;
    simt_arena arena = simt_shared_arena();
    (void)simt_carve<uint16_t>(arena, 1 + 3 * SIMT_WARP); /* append_words() */
    const simt_shared<uint32_t> first = simt_carve<uint32_t>(arena, 2 * SIMT_WARP),
                                second = simt_carve<uint32_t>(arena, 2 * SIMT_WARP);
    simt_pair_appender to = simt_append_pairs_at(first, second, 2 * lane);
    to.append_if(value & 1, lane, 2 * lane);
    to.append_below(2 * SIMT_WARP, 1, lane, 2 * lane);
    to.append_below(2 * lane + 1, 1, 7, 7); /* the slot is not below that */
    simt_warp_sync(SIMT_ALL_LANES);
    const uint32_t odd = simt_shuffle(SIMT_ALL_LANES, value, neighbour) & 1;
    uint32_t sum = 0;
    for (uint32_t slot = 2 * neighbour; slot <= 2 * neighbour + odd; slot++) {
        const bool is_in_group = simt_spread_slot(slot) == 4 * simt_spread_group(slot / 4) + slot % 4;
        sum += is_in_group ? first[simt_spread_slot(slot)] + 1000 * second[simt_spread_slot(slot)] : 0;
    }
    return sum;
}

/* A lane appends its number, if its value is odd, and then its number and 100; and in front of them, from the
 * back, its number and 200. Returns what the neighbour's first word is, 1000 times its last, and 10^6 times
 * what is in front. */
TOPK_DEVICE uint32_t append_words(uint32_t value) {
    const uint32_t lane = simt_lane(), neighbour = lane ^ 1;
    simt_arena arena = simt_shared_arena();
    simt_shared<uint16_t> all = simt_carve<uint16_t>(arena, 1 + 3 * SIMT_WARP),
                          words = simt_shared_part(all, 1, 3 * SIMT_WARP);
    simt_appender list = simt_append_at(words, 3 * lane + 1), front = list;
    front.prepend_if(1, (uint16_t)(lane + 200));
    front.prepend_if(0, 1);
    list.append_if(value & 1, (uint16_t)lane);
    list.append_if(1, (uint16_t)(lane + 100));
    simt_warp_sync(SIMT_ALL_LANES);
    uint32_t odd = simt_shuffle(SIMT_ALL_LANES, value, neighbour) & 1;
    return words[3 * neighbour + 1] + 1000u * words[3 * neighbour + 1 + odd] +
           1000000u * words[3 * neighbour];
}

/* 10, or 17 if the first word is not below the second. */
TOPK_DEVICE uint32_t compare_words(uint32_t a, uint32_t b) {
    return simt_count_from(5, a, b, 3) + simt_count_from(5, a, b, 4, simt_unknown_one());
}

/* 311, or 332 if a is not below b: counts of comparisons, and what is the greater of two, or NaN. */
TOPK_DEVICE uint32_t compare_numbers(float a, float b) {
    const float nan = simt_float_of_bits(0x7fc00000u);
    const double wide = a, wide_nan = nan;
    simt_tally<float> tally;
    tally.add_if_at_least(a, b);
    tally.add_if_at_least(a, a);
    tally.add_if_at_least(nan, a);
    tally.add_if_at_least(a, nan);
    const double with_nan = simt_float_max_or_nan(wide, wide_nan),
                 nan_first = simt_float_max_or_nan(wide_nan, wide);
    return tally.count() + 10 * simt_count_from(1, a, b, 2, simt_unknown_one()) +
           100 * (simt_float_max_or_nan(wide, (double)b) == simt_float_max(wide, (double)b)) +
           200 * (with_nan != with_nan && nan_first != nan_first);
}

/* Whether a float16 is the number that its bits say. */
TOPK_DEVICE bool is_half_right(uint16_t bits) {
    const uint32_t magnitude = bits & 0x7fff, infinity = 0x7c00;
    const float number = simt_float_of_half(bits), size = simt_float_magnitude(number);
    const float finite = simt_float_multiply(simt_float_of_bits(magnitude << 13), 0x1p112f);
    const bool is_right = magnitude > infinity    ? number != number
                          : magnitude == infinity ? simt_bits_of_float(size) == 0x7f800000
                                                  : size == finite;
    return is_right && (magnitude > infinity || simt_bits_of_float(number) >> 31 == bits >> 15);
}

/* Three words: a sum of products and a quotient that a fused operation or a rounder division would change;
 * whether 2^-x and 1 / x are near enough, and float16 are right; and of a NaN and a number the greater, or
 * both. */
TOPK_DEVICE void float_operations(uint32_t value, uint32_t *out) {
    const float x = (float)(value + 1) * 0x1.5p-3f, third = simt_float_divide(x, 3.0f);
    const float nan = simt_float_of_bits(0x7fc00000u);
    const float power = simt_float_exp2_near((float)-(int)(value % 64)); /* exact: a power of two */
    const float one = simt_float_multiply(simt_float_reciprocal_near(x), x);
    const float exact = simt_float_of_bits((127 - value % 64) << 23), off = power / exact - 1.0f;
    out[0] = simt_bits_of_float(simt_float_add(simt_float_multiply(third, third), -1.0f));
    out[1] = (off < 0 ? -off : off) <= 0x1p-21f && one >= 1 - 0x1p-21f && one <= 1 + 0x1p-21f;
    out[1] += 2u * (is_half_right((uint16_t)value) && is_half_right((uint16_t)(value * 0x9e3779b1u >> 16)));
    const bool has_nan = simt_float_max_or_nan(x, nan) != x && simt_float_max_or_nan(nan, x) != x;
    out[2] = has_nan + 2u * (simt_float_max_or_nan(x, 2.0f) == simt_float_max(2.0f, x)) +
             4u * (simt_float_min(x, 2.0f) + simt_float_max(x, 2.0f) == x + 2.0f);
}

/* What the warp operations say of one value per lane, WARP_WORDS words for each lane. */
TOPK_KERNEL void warp_operations(struct sums_args args) {
    uint32_t i = simt_block() * simt_threads() + simt_thread(), lane = simt_lane();
    uint32_t value = args.in[i], *out = args.out + i * WARP_WORDS;
    out[0] = simt_reduce_add(SIMT_ALL_LANES, value);
    out[1] = simt_reduce_min(SIMT_ALL_LANES, value);
    out[2] = simt_reduce_max(SIMT_ALL_LANES, value);
    out[3] = simt_ballot(SIMT_ALL_LANES, value % 2 != 0);
    out[4] = simt_match_any(SIMT_ALL_LANES, value % 8);
    out[5] = simt_match_any(SIMT_ALL_LANES, (uint64_t)(value % 8) << 40);
    out[6] = simt_any(SIMT_ALL_LANES, value % 16 == 3) + 2u * simt_all(SIMT_ALL_LANES, value % 16 != 5);
    out[7] = simt_shuffle(SIMT_ALL_LANES, value, lane * 7);
    out[8] = simt_shuffle_down(SIMT_ALL_LANES, value, 3);
    out[9] = (uint32_t)(simt_shuffle_xor(SIMT_ALL_LANES, (uint64_t)value << 20, 5) >> 20);
    simt_warp_sync(SIMT_ALL_LANES);
    uint32_t third = 0x49249249u; /* lanes 0, 3, ... 30 */
    uint32_t mine = (third >> lane & 1) != 0 ? third : ~third;
    if (mine == third)
        out[10] = simt_reduce_add(mine, value);
    else
        out[10] = simt_reduce_max(mine, value);
    out[11] = simt_block_count(value % 2 != 0);
    wide_operations(value, mine, out + 12);
    out[22] = simt_add_lane_before(value, 4);
    out[23] = append_words(value);
    out[24] = compare_words(value * 0x9e3779b9u, args.in[i ^ 1] * 0x85ebca6bu) +
              1000 * compare_numbers((float)value, (float)args.in[i ^ 1]);
    float_operations(value, out + 25);
    out[28] = append_pairs(value);
    out[29] = simt_signs<1>(value * 0x9e3779b1u);
    out[30] = simt_signs<2>(value * 0x9e3779b1u);
    out[22] += 1000 * simt_add_lane_before(value, 3, 8);
    out[31] = simt_ballot_alike(*simt_global(args.in + i) & 4);
}

#endif
