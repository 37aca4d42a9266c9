/* SPDX-License-Identifier: Apache-2.0
 * A warp's results as leads and positions in shared memory, where many elements of a row are results: lanes
 * put them there without a branch. Elements come from leads, so that few are read twice, unless results go
 * best first or the order leaves signs out. */
#ifndef TOPK_SRC_CUDA_RTOPK_LEAD_LIST_CUH
#define TOPK_SRC_CUDA_RTOPK_LEAD_LIST_CUH

#include "part_results.cuh"

/* Slots of a list, from slot `first` on, that are spread over the banks of shared memory. */
struct spread_words {
    simt_shared<uint32_t> words;
    uint32_t first;

    TOPK_MEMBER decltype(auto) operator[](uint32_t slot) const {
        return words[simt_spread_slot(first + slot)];
    }
};

/* In place of leads, where these are not listed. */
struct no_leads {};

TOPK_DEVICE spread_words slots_from(const spread_words &list, uint32_t first, uint32_t) {
    return spread_words{list.words, list.first + first};
}
TOPK_DEVICE simt_shared<uint16_t> slots_from(simt_shared<uint16_t> list, uint32_t first, uint32_t count) {
    return simt_shared_part(list, first, count);
}
TOPK_DEVICE no_leads slots_from(no_leads list, uint32_t, uint32_t) {
    return list;
}

TOPK_DEVICE void put_position(const spread_words &list, uint32_t slot, uint32_t position) {
    list[slot] = position;
}
TOPK_DEVICE void put_position(simt_shared<uint16_t> list, uint32_t slot, uint32_t position) {
    list[slot] = (uint16_t)position;
}

/* Slots of a warp, in groups of four. The arrays are the block's, so that all threads have their addresses in
 * common. */
struct lead_list {
    simt_shared<simt_u32x4> lead_groups, position_groups;
    uint32_t first_group;

    TOPK_MEMBER spread_words leads(void) const {
        return spread_words{simt_shared_as<uint32_t>(lead_groups), 4 * first_group};
    }
    TOPK_MEMBER spread_words positions(void) const {
        return spread_words{simt_shared_as<uint32_t>(position_groups), 4 * first_group};
    }
    TOPK_MEMBER simt_u32x4 leads_of(uint32_t group) const {
        return lead_groups[simt_spread_group(first_group + group)];
    }
    TOPK_MEMBER simt_u32x4 positions_of(uint32_t group) const {
        return position_groups[simt_spread_group(first_group + group)];
    }
};

/* The list of a warp of the block. */
TOPK_HOST_DEVICE lead_list carve_lead_list(simt_arena &arena, const struct rtopk_args &a, uint32_t warp) {
    const uint32_t groups = (a.slots + 31) / 32 * 8, warps = RTOPK_THREADS / SIMT_WARP;
    lead_list list;
    list.lead_groups = simt_carve<simt_u32x4>(arena, warps * groups);
    list.position_groups = simt_carve<simt_u32x4>(arena, warps * groups);
    list.first_group = warp * groups;
    return list;
}

/* Lists a lane's results from slot `begin` on. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_leads(const part_row<Element, ITEMS> &row, const item_set<ITEMS> &results,
                            const lead_list &list, uint32_t begin) {
    const spread_words leads = list.leads(), positions = list.positions();
    simt_pair_appender to = simt_append_pairs_at(leads.words, positions.words, leads.first + begin);
    uint32_t position = row.position(0);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        to.append_if(results.words[i / 32] & 1u << i % 32, row.leads[i], position);
        position += row.step_from(i);
    }
}

/* How a list's first words tell elements: here they are leads. */
template <typename Element_> struct leads_as_elements {
    typedef Element_ Element;
    const struct lead_map &map;

    TOPK_MEMBER bool tells(void) const {
        return tells_elements<Element>(map);
    }
    TOPK_MEMBER Element element(uint32_t lead) const {
        return element_of_lead<Element>(lead, map);
    }
};

/* The elements of four slots, of one row that begins at `values` if they are to be read. */
template <typename Words, typename Element>
TOPK_DEVICE void elements_of_group(const Words &words, bool tells, const lead_list &list, uint32_t group,
                                   const Element *values, Element (&elements)[4]) {
    if (tells) {
        const simt_u32x4 four = list.leads_of(group);
        elements[0] = words.element(four.x);
        elements[1] = words.element(four.y);
        elements[2] = words.element(four.z);
        elements[3] = words.element(four.w);
    } else {
        const simt_u32x4 positions = list.positions_of(group);
        elements[0] = simt_load_read_only(values + positions.x);
        elements[1] = simt_load_read_only(values + positions.y);
        elements[2] = simt_load_read_only(values + positions.z);
        elements[3] = simt_load_read_only(values + positions.w);
    }
}

/* Where the results of a warp's rows go. */
template <typename Element> struct listed_outputs {
    const struct rtopk_args &a;
    const served_rows &s;
    const Element *rows;
    Element *values;
    int32_t *indices;
    bool tells; /* elements come from the list: words are not put in order with the positions */

    template <typename Words>
    TOPK_MEMBER listed_outputs(const struct rtopk_args &args, const served_rows &served, const Words &words)
        : a(args), s(served), rows(simt_in_register(uniform_row<Element>(args, served.first))),
          values(nullptr), indices(nullptr), tells(!args.is_sorted && words.tells()) {
        if (!is_plain())
            return; /* one of the outputs may be missing */
        values = (Element *)args.rows.out_values + served.first * args.uniform.k;
        indices = (int32_t *)args.rows.out_indices + served.first * args.uniform.k;
    }
    TOPK_MEMBER bool is_plain(void) const {
        return a.uniform.has_plain_outputs && !a.uniform.has_padding;
    }
    TOPK_MEMBER uint32_t slots(void) const {
        return s.count * a.uniform.k;
    }
    TOPK_MEMBER uint32_t row_of(uint32_t slot) const {
        return slot * a.uniform.reciprocal >> RTOPK_RECIPROCAL_BITS;
    }
};

/* Writes groups of four slots to outputs at multiples of 16 bytes. Returns how many slots these are. All
 * lanes. */
template <typename Words, typename Element>
TOPK_DEVICE uint32_t write_groups(const listed_outputs<Element> &to, const Words &words,
                                  const lead_list &list) {
    const uint32_t base = (uint32_t)to.a.rows.index_base, groups = to.slots() / 4;
#pragma unroll 1
    for (uint32_t g = simt_lane(); g < groups; g += SIMT_WARP) {
        const simt_u32x4 p = list.positions_of(g);
        Element e[4];
        elements_of_group(words, to.tells, list, g, to.rows + to.row_of(4 * g) * to.a.rows.row_stride, e);
        if constexpr (sizeof(Element) == 4)
            simt_store16(to.values + 4 * g, simt_u32x4{e[0], e[1], e[2], e[3]});
        else
            for (uint32_t i = 0; i < 4; i++)
                to.values[4 * g + i] = e[i];
        simt_store16(to.indices + 4 * g, simt_u32x4{p.x + base, p.y + base, p.z + base, p.w + base});
    }
    return 4 * groups;
}

/* Writes the results of rows, k for each row. All lanes. */
template <typename Words>
TOPK_DEVICE void write_listed(const struct rtopk_args &a, const served_rows &s, const lead_list &list,
                              const Words &words) {
    typedef typename Words::Element Element;
    const listed_outputs<Element> to(a, s, words);
    const uint32_t k = a.uniform.k;
    uint32_t first = 0;
    if (to.is_plain() && (to.tells || k % 4 == 0) && ((uintptr_t)to.values | (uintptr_t)to.indices) % 16 == 0)
        first = write_groups(to, words, list);
#pragma unroll 1
    for (uint32_t at = first + simt_lane(); at < to.slots(); at += SIMT_WARP) {
        const uint32_t position = list.positions()[at];
        if (to.is_plain() && to.tells) {
            to.values[at] = words.element((uint32_t)list.leads()[at]);
            to.indices[at] = (int32_t)position + (int32_t)a.rows.index_base;
            continue;
        }
        const uint32_t r = to.row_of(at);
        const Element *of_row = to.rows + r * a.rows.row_stride;
        const Element bits =
            to.tells ? words.element((uint32_t)list.leads()[at]) : simt_load_read_only(of_row + position);
        write_uniform(a, (s.first + r) * a.rows.k_max + (at - r * k), of_row, bits, position);
    }
}

#endif
