/* SPDX-License-Identifier: Apache-2.0
 * Candidates of lists, and where results go. Element is the unsigned integer of an element's width. */
#ifndef TOPK_SRC_CUDA_MERGE_CANDIDATES_CUH
#define TOPK_SRC_CUDA_MERGE_CANDIDATES_CUH

#include "../block.cuh"
#include "../rows.cuh"
#include "kernels.h"

/* Indices of candidates that are none, and of the results of a row with an index that is not allowed. */
static const int64_t MERGE_NONE = -1, MERGE_NOT_ALLOWED = -2;

/* What decides between candidates. */
template <typename Element> struct merge_rank {
    key_word_t<Element> key;
    int64_t index;

    TOPK_MEMBER bool is_before(const merge_rank &other) const {
        return key != other.key ? key > other.key : index < other.index;
    }
};

/* What orders sorted entries. Padding has the key 0 and the index -1, which is the greatest one: it is behind
 * all others. */
template <typename Element> struct merge_place {
    key_word_t<Element> key;
    uint64_t index;

    TOPK_MEMBER bool is_padding(void) const {
        return (int64_t)index < 0;
    }
    TOPK_MEMBER bool is_before(const merge_place &other) const {
        return key != other.key ? key > other.key : index < other.index;
    }
};

/* The last of the lanes' entries: of a merge_rank or a merge_place each. All lanes. */
template <typename Entry> TOPK_DEVICE Entry last_of_lanes(Entry mine) {
#pragma unroll
    for (uint32_t lanes = SIMT_WARP / 2; lanes != 0; lanes /= 2) {
        Entry other = mine;
        other.key = simt_shuffle_xor(SIMT_ALL_LANES, mine.key, lanes);
        other.index = simt_shuffle_xor(SIMT_ALL_LANES, (uint64_t)mine.index, lanes);
        if (mine.is_before(other))
            mine = other;
    }
    return mine;
}

TOPK_DEVICE int64_t wanted_of_row(const struct row_args &a, int64_t row) {
    return a.k == nullptr ? a.k_max : clamp_extent(read_extent(a.k, row, a.wide_extents), a.k_max);
}

TOPK_DEVICE int64_t length_of_list(const struct merge_args &a, int64_t list, int64_t row) {
    return a.rows.lengths == nullptr
               ? a.rows.length_max
               : clamp_extent(read_extent(a.rows.lengths, list * a.rows.rows + row, a.rows.wide_extents),
                              a.rows.length_max);
}

/* The element of a row's candidate, numbered list after list; negative: its list is shorter. */
TOPK_DEVICE int64_t element_of_candidate(const struct merge_args &a, int64_t row, uint64_t candidate) {
    const uint64_t length = (uint64_t)a.rows.length_max;
    const bool is_small = a.candidates <= UINT32_MAX;
    const int64_t list = (int64_t)(is_small ? (uint32_t)candidate / (uint32_t)length : candidate / length);
    const int64_t place = (int64_t)candidate - list * (int64_t)length;
    if (a.rows.lengths != nullptr && place >= length_of_list(a, list, row))
        return -1;
    return list * a.list_stride + row * a.rows.row_stride + place;
}

TOPK_DEVICE int64_t candidate_index(const struct merge_args &a, int64_t element) {
    return read_extent(a.rows.payload, element, a.rows.wide_indices);
}

template <typename Element>
TOPK_DEVICE key_word_t<Element> candidate_bits(const struct merge_args &a, int64_t element) {
    return ((const Element *)a.rows.values)[element];
}

TOPK_DEVICE void store_merged_index(void *indices, bool wide, int64_t slot, int64_t index) {
    if (wide)
        ((int64_t *)indices)[slot] = index;
    else
        ((int32_t *)indices)[slot] = (int32_t)index;
}

/* Copies the payload of an element of the input; a negative element has zeros. */
template <typename Word>
TOPK_DEVICE void copy_payload(const struct merge_args &a, int64_t slot, int64_t element) {
    ((Word *)a.out_payload)[slot] = element < 0 ? (Word)0 : ((const Word *)a.payload)[element];
}

TOPK_DEVICE void write_payload(const struct merge_args &a, int64_t slot, int64_t element) {
    const simt_u32x4 zeros = {0, 0, 0, 0};
    if (a.payload_bytes == 16)
        simt_store16((simt_u32x4 *)a.out_payload + slot,
                     element < 0 ? zeros : simt_load16((const simt_u32x4 *)a.payload + element));
    else if (a.payload_bytes == 8)
        copy_payload<uint64_t>(a, slot, element);
    else if (a.payload_bytes == 4)
        copy_payload<uint32_t>(a, slot, element);
    else if (a.payload_bytes == 2)
        copy_payload<uint16_t>(a, slot, element);
    else
        copy_payload<uint8_t>(a, slot, element);
}

/* A result; a negative element is padding. `slot` is of the outputs. */
template <typename Element>
TOPK_DEVICE void write_merged(const struct merge_args &a, int64_t slot, int64_t element,
                              key_word_t<Element> bits, int64_t index) {
    if (a.rows.out_values != nullptr)
        ((Element *)a.rows.out_values)[slot] = (Element)bits;
    if (a.rows.out_indices != nullptr)
        store_merged_index(a.rows.out_indices, a.rows.wide_indices, slot, index);
    if (a.out_payload != nullptr)
        write_payload(a, slot, element);
}

/* Pads slots `first`, first + step and so on, up to `end`, of a row. */
template <typename Element>
TOPK_DEVICE void pad_merged(const struct merge_args &a, int64_t row, uint64_t first, uint64_t step,
                            uint64_t end, int64_t index) {
#pragma unroll 1
    for (uint64_t slot = first; slot < end; slot += step)
        write_merged<Element>(a, row * a.rows.k_max + (int64_t)slot, -1, (key_word_t<Element>)a.rows.padding,
                              index);
}

/* A result, or an entry of a run. */
template <typename Element>
TOPK_DEVICE void put_sorted(const struct merge_args &a, int64_t slot, int64_t element,
                            key_word_t<Element> bits, int64_t index) {
    if (a.is_last) {
        write_merged<Element>(a, slot, element, bits, index);
        return;
    }
    ((Element *)a.to.values)[slot] = (Element)bits;
    store_merged_index(a.to.indices, a.rows.wide_indices, slot, index);
    a.to.at[slot] = element;
}

#endif
