/* SPDX-License-Identifier: Apache-2.0
 * Results of rows in the order of their positions, without a sort.
 *
 * A lane has groups of neighbours of its row, and the groups of all lanes take turns. So the number of a lane
 * stands in the middle of a position:
 *
 *     a position    word, group, lane, item of the group
 *     a bit         of a lane's word: group, item of the group
 *
 * Lanes exchange bits, so that digits of the lane's number and of the group's change places. Then a word has
 * results of neighbours, and lanes in their order have neighbouring words. Results that are listed with their
 * leads cannot leave their lanes: these add up how many are in each group. */
#ifndef TOPK_SRC_CUDA_RTOPK_PART_IN_ORDER_CUH
#define TOPK_SRC_CUDA_RTOPK_PART_IN_ORDER_CUH

#include "lead_list.cuh"

/* How a word of an item_set stands for items. The last word may lack its upper half. */
template <typename Element, uint32_t ITEMS> struct word_shape {
    static const uint32_t PER = held_shape<Element, ITEMS>::PER;
    static const uint32_t PER_SHIFT = held_shape<Element, ITEMS>::PER_SHIFT;
    static const uint32_t BITS = ITEMS < 32 ? ITEMS : 32, GROUPS = BITS / PER;
    static const uint32_t GROUPS_SHIFT = GROUPS == 1 ? 0 : GROUPS == 2 ? 1 : GROUPS == 4 ? 2 : 3;
    static_assert(GROUPS == 1 << GROUPS_SHIFT, "a word has at most 8 groups");
};

/* The bits of a word in whose numbers a binary digit is 0. */
TOPK_DEVICE constexpr uint32_t bits_without(uint32_t digit) {
    return ~0u / ((1u << (1u << digit)) + 1);
}

/* Exchanges a digit of bits' numbers and the next one. */
template <uint32_t ITEMS> TOPK_DEVICE void exchange_digits(item_set<ITEMS> *set, uint32_t digit) {
    const uint32_t apart = 1u << digit, lower = bits_without(digit + 1) & ~bits_without(digit);
#pragma unroll
    for (uint32_t w = 0; w < item_set<ITEMS>::WORDS; w++) {
        const uint32_t word = set->words[w], differing = (word ^ word >> apart) & lower;
        set->words[w] = word ^ differing ^ differing << apart;
    }
}

/* Exchanges a digit of bits' numbers and the one of lanes' numbers whose value is `lanes`. All lanes. */
template <uint32_t ITEMS>
TOPK_DEVICE void exchange_with_lanes(item_set<ITEMS> *set, uint32_t digit, uint32_t lanes) {
    const bool is_upper = (simt_lane() & lanes) != 0;
    const uint32_t kept = is_upper ? ~bits_without(digit) : bits_without(digit);
    const uint32_t left = is_upper ? 32 - (1u << digit) : 1u << digit;
#pragma unroll
    for (uint32_t w = 0; w < item_set<ITEMS>::WORDS; w++) {
        const uint32_t other = exchange(set->words[w], lanes);
        set->words[w] = (set->words[w] & kept) | ((other << left | other >> (32 - left)) & ~kept);
    }
}

/* Exchanges a row's bits until each word has bits of neighbours: word w of a lane begins at position
 * (w * lanes + lane) * BITS. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE item_set<ITEMS> set_of_neighbours(const lane_part &part, item_set<ITEMS> set) {
    typedef word_shape<Element, ITEMS> shape;
    const uint32_t DIGITS = shape::GROUPS_SHIFT, shift = part.shift;
    const uint32_t unused = shift < DIGITS ? DIGITS - shift : 0; /* the group's lower digits */
#pragma unroll
    for (uint32_t d = 0; d < DIGITS; d++)
        if (d >= unused)
            exchange_with_lanes(&set, shape::PER_SHIFT + d, 1u << (d - unused));
            /* Few lanes: the upper digits are the lanes' now, and the lower ones go above these. */
#pragma unroll
    for (uint32_t few = 1; few < DIGITS; few++) {
        if (few != shift)
            continue;
#pragma unroll
        for (uint32_t from = DIGITS - few; from-- > 0;)
#pragma unroll
            for (uint32_t d = from; d < from + few; d++)
                exchange_digits(&set, shape::PER_SHIFT + d);
    }
    /* Many lanes: the lower digits of their numbers were the group's, and go above all others. */
    if (shift > DIGITS) {
        const uint32_t others = shift - DIGITS, begin = simt_lane() - part.lane;
        const uint32_t from = begin + (part.lane >> others) + ((part.lane & ((1u << others) - 1)) << DIGITS);
#pragma unroll
        for (uint32_t w = 0; w < item_set<ITEMS>::WORDS; w++)
            set.words[w] = simt_shuffle(SIMT_ALL_LANES, set.words[w], from);
    }
    return set;
}

/* Lists the positions of a row's results, if they are `listed`, from slot 0 on. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_in_order(const part_row<Element, ITEMS> &row, const item_set<ITEMS> &results,
                               bool listed, simt_shared<uint16_t> list) {
    static const uint32_t WORDS = item_set<ITEMS>::WORDS, BITS = word_shape<Element, ITEMS>::BITS;
    static_assert(WORDS <= 2, "sums of two words share one");
    const lane_part &part = row.part;
    item_set<ITEMS> set = set_of_neighbours<Element>(part, results);
    uint32_t sums = simt_popc(set.words[0]), total, ends[WORDS], begins[WORDS];
    sums += WORDS == 2 ? simt_popc(set.words[WORDS - 1]) << 16 : 0;
    sums += part_scan(part, sums, &total);
    ends[0] = WORDS == 2 ? sums & 0xffff : sums;
    begins[0] = part.lane * BITS;
    if (WORDS == 2) {
        ends[WORDS - 1] = (sums >> 16) + (total & 0xffff);
        begins[WORDS - 1] = begins[0] + (BITS << part.shift);
    }
    if (!listed)
        return;
    list_bits(set.words, ends, list, [&](uint32_t w, uint32_t bit) TOPK_LAMBDA { return begins[w] + bit; });
}

/* The sums of lower lanes of the part. *totals: of all of its lanes. All lanes of the warp. */
template <uint32_t COUNT>
TOPK_DEVICE void part_scans(const lane_part &part, uint32_t (&before)[COUNT], uint32_t (&totals)[COUNT]) {
#pragma unroll
    for (uint32_t i = 0; i < COUNT; i++) {
        totals[i] = before[i];
        before[i] = 0;
    }
#pragma unroll 1
    for (uint32_t s = 0; s < part.shift; s++) {
        const uint32_t taken = (part.lane >> s & 1) != 0 ? ~0u : 0;
#pragma unroll
        for (uint32_t i = 0; i < COUNT; i++) {
            const uint32_t other = exchange(totals[i], 1u << s);
            before[i] += other & taken;
            totals[i] += other;
        }
    }
}

/* Lists the leads and positions of a row's results, if they are `listed`, from slot `first` on. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_leads_in_order(const part_row<Element, ITEMS> &row, const item_set<ITEMS> &results,
                                     bool listed, const lead_list &list, uint32_t first) {
    typedef word_shape<Element, ITEMS> shape;
    static const uint32_t WORDS = item_set<ITEMS>::WORDS, PER = shape::PER;
    /* Every other group, so that a field has room for the results of all lanes: 128 of bytes, 256 of more. */
    static const uint32_t FIELD = 2 * PER, MASK = (1u << FIELD) - 1, FIELDS = ~0u / MASK * ((1u << PER) - 1);
    uint32_t before[2 * WORDS], totals[2 * WORDS];
#pragma unroll
    for (uint32_t w = 0; w < WORDS; w++) {
        const uint32_t counts = bits_of_groups<PER>(results.words[w]);
        before[2 * w] = counts & FIELDS;
        before[2 * w + 1] = counts >> PER & FIELDS;
    }
    part_scans(row.part, before, totals);
    if (!listed)
        return;
    const spread_words leads = list.leads(), positions = list.positions();
    simt_pair_appender to = simt_append_pairs_at(leads.words, positions.words, 0);
    uint32_t position = row.part.lane * PER, slot = leads.first + first;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t group = i % 32 / PER, at = i / 32 * 2 + group % 2, up = group / 2 * FIELD;
        if (i % PER == 0)
            to.go_to(slot + (before[at] >> up & MASK));
        to.append_if(results.words[i / 32] & 1u << i % 32, row.leads[i], position + i % PER);
        if (i % PER == PER - 1) {
            slot += totals[at] >> up & MASK;
            position += PER << row.part.shift;
        }
    }
}

#endif
