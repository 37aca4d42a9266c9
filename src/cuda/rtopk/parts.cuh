/* SPDX-License-Identifier: Apache-2.0
 * Rows of one length in parts of a warp: 1, 2, 4 or more lanes share a row, and several rows are served at
 * once.
 *
 * Lanes keep leads (leads.cuh). What is not of the row has lead 0. */
#ifndef TOPK_SRC_CUDA_RTOPK_PARTS_CUH
#define TOPK_SRC_CUDA_RTOPK_PARTS_CUH

#include "entries.cuh"
#include "leads.cuh"
#include "uniform.cuh"

/* The lanes that share a row. */
struct lane_part {
    uint32_t shift; /* there are 1 << shift */
    uint32_t lane;  /* this one among them */

    TOPK_MEMBER uint32_t lanes(void) const {
        return 1u << shift;
    }
};

TOPK_DEVICE lane_part part_of_lane(uint32_t shift) {
    return lane_part{shift, simt_lane() & ((1u << shift) - 1)};
}

/* The sum of lower lanes of the part. *total: of all of its lanes. All lanes of the warp. */
TOPK_DEVICE uint32_t part_scan(const lane_part &part, uint32_t value, uint32_t *total) {
    uint32_t before = 0;
#pragma unroll 1
    for (uint32_t s = 0; s < part.shift; s++) {
        const uint32_t other = exchange(value, 1u << s);
        before += (part.lane >> s & 1) != 0 ? other : 0;
        value += other;
    }
    *total = value;
    return before;
}

TOPK_DEVICE uint32_t part_sum(const lane_part &part, uint32_t value) {
    uint32_t total;
    (void)part_scan(part, value, &total);
    return total;
}

/* Some of a lane's items. */
template <uint32_t ITEMS> struct item_set {
    static const uint32_t WORDS = (ITEMS + 31) / 32;
    uint32_t words[WORDS];

    TOPK_MEMBER uint32_t count(void) const {
        uint32_t sum = 0;
#pragma unroll
        for (uint32_t w = 0; w < WORDS; w++)
            sum += simt_popc(words[w]);
        return sum;
    }
    /* Takes the last one out. */
    TOPK_MEMBER void drop_last(void) {
        bool is_done = false;
#pragma unroll
        for (uint32_t w = WORDS; w-- > 0;) {
            const uint32_t last = simt_clz(words[w]);
            words[w] &= is_done || words[w] == 0 ? ~0u : ~(1u << (31 - last));
            is_done |= last < 32;
        }
    }
    /* Those below `item`, up to ITEMS. */
    TOPK_MEMBER item_set below(uint32_t item) const {
        item_set set;
#pragma unroll
        for (uint32_t w = 0; w < WORDS; w++) {
            const uint32_t bits = item < 32 * w ? 0 : item - 32 * w;
            set.words[w] = bits < 32 ? words[w] & ((1u << bits) - 1) : words[w];
        }
        return set;
    }
};

/* How many bits each group of PER in a word has: in PER bits each. */
template <uint32_t PER> TOPK_DEVICE uint32_t bits_of_groups(uint32_t word) {
    static_assert(PER == 4 || PER == 8, "groups of 16 bytes");
    const uint32_t of_two = word - (word >> 1 & 0x55555555);
    const uint32_t of_four = (of_two & 0x33333333) + (of_two >> 2 & 0x33333333);
    return PER == 4 ? of_four : (of_four + (of_four >> 4)) & 0x0f0f0f0f;
}

/* The lanes have groups of 1 << group_shift elements in turns. */
template <typename Element, uint32_t ITEMS> struct part_row {
    typedef held_shape<Element, ITEMS> shape;
    /* The greatest power of two below ITEMS. */
    static const uint32_t HALF = ITEMS > 32 ? 32 : ITEMS > 16 ? 16 : ITEMS / 2;
    lane_part part;
    uint32_t group_shift;
    uint32_t gap; /* elements of other lanes between two groups of this one */
    uint32_t leads[ITEMS];

    TOPK_MEMBER part_row(const struct uniform_rows &u)
        : part(part_of_lane(u.part_shift)), group_shift(u.group_shift),
          gap(simt_in_register((part.lanes() - 1) << group_shift)) {
    }

    TOPK_MEMBER uint32_t position(uint32_t item) const {
        return (part.lane << group_shift) + item + (item >> group_shift) * gap;
    }
    /* From the position of an item to the next one's. */
    TOPK_MEMBER uint32_t step_from(uint32_t item) const {
        return (item + 1) % shape::PER != 0 && group_shift != 0 ? 1 : gap + 1;
    }
};

/* Has the L2 cache read what a later warp will. Rows lie one behind the other. All lanes. */
template <typename Element> TOPK_DEVICE void read_ahead(const struct rtopk_args &a, const served_rows &s) {
    const uint32_t LINE = 128;
    const int64_t first = s.first + a.uniform.ahead, end = first + s.count;
    if (a.uniform.ahead == 0 || end > a.rows.rows)
        return;
    const char *from = (const char *)uniform_row<Element>(a, first);
    const uint32_t bytes = s.count * a.uniform.length * (uint32_t)sizeof(Element);
#pragma unroll 1
    for (uint32_t at = simt_lane() * LINE; at < bytes; at += SIMT_WARP * LINE)
        simt_read_ahead(from + at);
}

/* The lead of the row's element at `position`. */
template <typename Element>
TOPK_DEVICE uint32_t numbered_lead(Element bits, uint32_t position, const struct uniform_rows &u) {
    return lead_of<Element>(bits, u.map) + number_of_position<Element>(position, u.map);
}

/* The lead of an item of a group. */
template <typename Element>
TOPK_DEVICE uint32_t lead_in_group(const held_group &group, uint32_t item, const struct lead_map &map,
                                   uint32_t position) {
    if constexpr (sizeof(Element) >= 4) {
        return lead_of<Element>(bits_of_group<Element>(group, item), map);
    } else {
        const uint32_t byte = item * (uint32_t)sizeof(Element);
        return lead_in_word<Element>(group.words[byte / 4], byte % 4, map,
                                     number_of_position<Element>(position, map));
    }
}

/* Where elements stay once they are leads: nowhere, or in a row_stage (row_stage.cuh). */
struct no_stage {
    template <typename Element> TOPK_MEMBER void put_group(uint32_t, const held_group &) const {
    }
    template <typename Element> TOPK_MEMBER void put(uint32_t, Element) const {
    }
};

/* Reads rows that consist of whole groups. Lanes that lie behind a row read its last group. */
template <typename Element, uint32_t ITEMS, typename Stage>
TOPK_DEVICE void load_part_groups(const Element *values, const struct uniform_rows &u, const Stage &stage,
                                  part_row<Element, ITEMS> *row) {
    typedef held_shape<Element, ITEMS> shape;
    const uint32_t last = u.length - shape::PER, step = shape::PER << row->part.shift;
    held_group groups[shape::GROUPS];
    uint32_t begin = row->part.lane * shape::PER;
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++, begin += step)
        groups[g] = load_held_group<shape::BYTES>(values + (begin < last ? begin : last));
    begin = row->part.lane * shape::PER;
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++, begin += step) {
        stage.template put_group<Element>(begin, groups[g]);
#pragma unroll
        for (uint32_t i = 0; i < shape::PER; i++)
            row->leads[g * shape::PER + i] = lead_in_group<Element>(groups[g], i, u.map, begin + i);
    }
    if (u.is_full)
        return;
    begin = row->part.lane * shape::PER;
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++, begin += step)
#pragma unroll
        for (uint32_t i = g * shape::PER; i < (g + 1) * shape::PER; i++)
            row->leads[i] = begin < u.length ? row->leads[i] : 0;
}

/* Reads rows element by element. Lanes that lie behind a row read its last one. */
template <typename Element, uint32_t ITEMS, typename Stage>
TOPK_DEVICE void load_part_items(const Element *values, const struct uniform_rows &u, const Stage &stage,
                                 part_row<Element, ITEMS> *row) {
    const uint32_t last = u.length - 1, step = row->part.lanes();
    uint32_t position = row->part.lane;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++, position += step) {
        const Element element = simt_load_read_only(values + (position < last ? position : last));
        stage.put(position, element);
        row->leads[i] = numbered_lead<Element>(element, position, u);
    }
    position = row->part.lane;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++, position += step)
        row->leads[i] = position < u.length ? row->leads[i] : 0;
}

/* The same where lanes have groups of neighbours. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void load_grouped_items(const Element *values, const struct uniform_rows &u,
                                    part_row<Element, ITEMS> *row) {
    const uint32_t last = u.length - 1;
    uint32_t position = row->position(0);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; position += row->step_from(i), i++) {
        const Element element = simt_load_read_only(values + (position < last ? position : last));
        row->leads[i] = numbered_lead<Element>(element, position, u);
    }
    position = row->position(0);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; position += row->step_from(i), i++)
        row->leads[i] = position < u.length ? row->leads[i] : 0;
}

/* The items whose leads are at or above `low`; if this is 0, all of the row. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE item_set<ITEMS> items_from(const part_row<Element, ITEMS> &row, const struct uniform_rows &u,
                                       uint32_t low) {
    const uint32_t one = simt_unknown_one();
    item_set<ITEMS> set = {};
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        set.words[i / 32] = simt_count_from(set.words[i / 32], row.leads[i], low, 1u << i % 32, one);
    if (simt_any(SIMT_ALL_LANES, low == 0)) {
#pragma unroll
        for (uint32_t w = 0; w < item_set<ITEMS>::WORDS; w++)
#pragma unroll 1
            for (uint32_t i = 32 * w; i < ITEMS && i < 32 * w + 32; i++)
                if (row.position(i) >= u.length)
                    set.words[w] &= ~(1u << i % 32);
    }
    return set;
}

/* Of a row's ties the first `count` by position; there are as many at least. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE item_set<ITEMS> first_ties(const part_row<Element, ITEMS> &row, const item_set<ITEMS> &ties,
                                       uint32_t count) {
    const uint32_t group_shift = row.group_shift;
    /* Lanes keep all of their first groups, with fewer ties than `count`, and then some of one more. */
    uint32_t kept = 0, all = 0;
#pragma unroll 1
    for (uint32_t items = part_row<Element, ITEMS>::HALF; items >> group_shift != 0; items /= 2) {
        const uint32_t sum = part_sum(row.part, ties.below(kept + items).count());
        kept += sum < count ? items : 0;
        all = sum < count ? sum : all;
    }
    const item_set<ITEMS> first = ties.below(kept);
    item_set<ITEMS> next = ties.below(kept + (1u << group_shift));
    uint32_t total;
    const uint32_t before = part_scan(row.part, next.count() - first.count(), &total);
    const uint32_t wanted = count > all + before ? count - all - before : 0;
    if (wanted == 0)
        return first;
#pragma unroll 1
    for (uint32_t surplus = next.count() - first.count(); surplus > wanted; surplus--)
        next.drop_last();
    return next;
}

#endif
