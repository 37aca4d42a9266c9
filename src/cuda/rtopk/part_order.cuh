/* SPDX-License-Identifier: Apache-2.0
 * Results in their order: the listed positions of a row go to the slots of their ranks. */
#ifndef TOPK_SRC_CUDA_RTOPK_PART_ORDER_CUH
#define TOPK_SRC_CUDA_RTOPK_PART_ORDER_CUH

#include "lists.cuh"
#include "part_list.cuh"
#include "uniform.cuh"

/* A row's part of the lists in shared memory. */
template <typename Element> struct listed_row {
    row_part part;
    const Element *values;
    uint32_t k;     /* 0: the lanes have no row */
    uint32_t first; /* slot of the row's first entry */
    const warp_lists<Element> &lists;
    simt_shared<uint16_t> listed, ordered; /* positions */

    TOPK_MEMBER Element element(uint32_t slot) const {
        return simt_load_read_only(values + (uint16_t)listed[slot]);
    }
};

/* The last lead of the class of a lead, for all classes. */
TOPK_DEVICE uint32_t lead_class(uint32_t lead, const struct lead_map &map) {
    lead = (lead & ~map.unit) == map.zeros ? lead | map.unit : lead;
    lead = lead > map.lowest ? lead : map.lowest;
    return lead < map.highest ? lead : map.highest;
}

/* By the list of the row's best leads, sorted, which becomes the row's entries. Returns false if a lead of
 * the lane's results is not the only one of its class. All lanes. */
template <uint32_t KEPT, typename Element>
TOPK_DEVICE bool order_by_list(const listed_row<Element> &row, const struct lead_map &map,
                               const part_list<KEPT> &list) {
    const uint32_t begin = row.part.lane * KEPT;
    const uint32_t count = row.part.lane >> list.span == 0 && begin < row.k ? row.k - begin : 0;
    bool is_clear = true;
#pragma unroll
    for (uint32_t i = 0; i < KEPT; i++)
        if (i < count)
            row.lists.entries[row.first + begin + i] = lead_class(list.leads[i], map);
    simt_warp_sync(SIMT_ALL_LANES);
#pragma unroll 1
    for (uint32_t slot = row.part.lane; slot < row.k; slot += row.part.lanes()) {
        const uint32_t own = lead_class(lead_of<Element>(row.element(slot), map), map);
        uint32_t rank = 0; /* so many are above */
#pragma unroll 1
        for (uint32_t step = 1u << (31 - simt_clz(row.k)); step != 0; step /= 2)
            if (rank + step <= row.k && (uint32_t)row.lists.entries[row.first + rank + step - 1] > own)
                rank += step;
        const bool is_alone = rank + 1 == row.k || (uint32_t)row.lists.entries[row.first + rank + 1] != own;
        if (is_alone)
            row.ordered[rank] = (uint16_t)row.listed[slot];
        is_clear = is_clear && is_alone;
    }
    return is_clear;
}

/* By comparing each result with all others. All lanes. */
template <typename Element>
TOPK_DEVICE void order_by_keys(const listed_row<Element> &row, const struct code_map &codes) {
    typedef row_entry<Element> format;
#pragma unroll 1
    for (uint32_t slot = row.part.lane; slot < row.k; slot += row.part.lanes())
        row.lists.put(row.first + slot,
                      format::of(key_of<Element>(row.element(slot), codes), (uint16_t)row.listed[slot]));
    simt_warp_sync(SIMT_ALL_LANES);
#pragma unroll 1
    for (uint32_t slot = row.part.lane; slot < row.k; slot += row.part.lanes()) {
        const row_entry_t<Element> entry = row.lists.get(row.first + slot);
        uint32_t rank = 0;
#pragma unroll 4
        for (uint32_t other = 0; other < row.k; other++)
            rank += row.lists.get(row.first + other) > entry ? 1 : 0;
        row.ordered[rank] = (uint16_t)format::position(entry);
    }
}

/* Puts the results of the lanes' rows in order. All lanes. */
template <uint32_t KEPT, typename Element>
TOPK_DEVICE void order_results(const listed_row<Element> &row, const struct rtopk_args &a,
                               const part_list<KEPT> &list, bool has_leads) {
    if (has_leads && simt_all(SIMT_ALL_LANES, order_by_list(row, a.uniform.map, list)))
        return;
    TOPK_REACHED(REACHED_RTOPK_NETWORK_KEYS);
    simt_warp_sync(SIMT_ALL_LANES);
    order_by_keys(row, a.rows.map);
}

#endif
