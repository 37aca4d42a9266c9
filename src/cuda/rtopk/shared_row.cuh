/* SPDX-License-Identifier: Apache-2.0
 * A warp's row in shared memory, as codes. Loops over it are as long as the row, so the time of rows of
 * different lengths follows the length of each.
 *
 * Rows are read in groups of 16 bytes, which begin at multiples of 16. So the first group may begin with
 * elements to the left of the row: `left` of them. Index i of a row is position i - left. What is not of the
 * row has code 0. */
#ifndef TOPK_SRC_CUDA_RTOPK_SHARED_ROW_CUH
#define TOPK_SRC_CUDA_RTOPK_SHARED_ROW_CUH

#include "results.cuh"

/* The codes that a lane reads at once. */
template <typename Element> struct lane_codes {
    static const uint32_t COUNT = 16 / sizeof(key_word_t<Element>);
    key_word_t<Element> words[COUNT];
};

template <typename Element> struct shared_row {
    typedef key_word_t<Element> word;
    static const uint32_t PER = lane_codes<Element>::COUNT; /* codes */
    static const uint32_t STEP = SIMT_WARP * PER;           /* from a lane's codes to its next ones */
    simt_shared<simt_u32x4> quads;
    uint32_t left, end;
    uint32_t count;        /* elements of the row */
    word greatest_of_lane; /* of what the lane has loaded */

    TOPK_MEMBER lane_codes<Element> codes(uint32_t index) const {
        const simt_u32x4 quad = quads[index / PER];
        lane_codes<Element> codes;
        if constexpr (PER == 4)
            codes = lane_codes<Element>{{quad.x, quad.y, quad.z, quad.w}};
        else
            codes = lane_codes<Element>{{quad.x | (uint64_t)quad.y << 32, quad.z | (uint64_t)quad.w << 32}};
        return codes;
    }
    TOPK_MEMBER void put(uint32_t index, const lane_codes<Element> &codes) const {
        const auto &w = codes.words;
        if constexpr (PER == 4)
            quads[index / PER] = simt_u32x4{w[0], w[1], w[2], w[3]};
        else
            quads[index / PER] =
                simt_u32x4{(uint32_t)w[0], (uint32_t)(w[0] >> 32), (uint32_t)w[1], (uint32_t)(w[1] >> 32)};
    }
    TOPK_MEMBER word code(uint32_t position) const {
        return simt_shared_as<word>(quads)[left + position];
    }
    /* Calls work(code, index) for all codes, and for zeros that are not of the row. All lanes. */
    template <typename Work> TOPK_MEMBER void for_codes(const Work &work) const {
#pragma unroll 2
        for (uint32_t index = simt_lane() * PER; index < end; index += STEP) {
            const lane_codes<Element> c = codes(index);
#pragma unroll
            for (uint32_t i = 0; i < PER; i++)
                work(c.words[i], index + i);
        }
    }
};

/* How the lanes load a row. */
template <typename Element> struct row_loads {
    static const uint32_t PER = 16 / sizeof(Element); /* elements of a group */
    static const uint32_t STEP = SIMT_WARP * PER;     /* elements of a group of each lane */
    static const uint32_t AHEAD =
        PER <= 4 ? 4 : 16 / PER; /* groups of a lane that are on their way at once */
};

/* Room for a row: groups of 16 bytes of codes. */
template <typename Element> TOPK_HOST_DEVICE uint32_t shared_quads(uint32_t length) {
    typedef row_loads<Element> loads;
    const uint32_t steps = (length + loads::PER - 1 + loads::STEP - 1) / loads::STEP;
    return steps * loads::STEP / shared_row<Element>::PER;
}

/* The code of an element, or 0. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> code_if(bool exists, key_word_t<Element> bits, const struct code_map &map) {
    const key_word_t<Element> code = code_of<Element>(bits, map); /* in any case: without a branch */
    return exists ? code : 0;
}

/* Stores the codes of the next groups, from index `begin` on; zeros for groups that are not whole. */
template <typename Element>
TOPK_DEVICE void share_groups(const Element *first, const struct code_map &map, uint32_t begin,
                              shared_row<Element> *row) {
    typedef row_loads<Element> loads;
    typedef shared_row<Element> shared;
    held_group groups[loads::AHEAD] = {};
    const uint32_t index = begin + simt_lane() * loads::PER;
#pragma unroll
    for (uint32_t g = 0; g < loads::AHEAD; g++) {
        const uint32_t at = index + g * loads::STEP;
        if (at >= row->left && at + loads::PER <= row->end)
            groups[g] = load_held_group<16>(first + at);
    }
#pragma unroll
    for (uint32_t g = 0; g < loads::AHEAD; g++) {
        const uint32_t at = index + g * loads::STEP;
        const bool is_whole = at >= row->left && at + loads::PER <= row->end;
        if (begin + g * loads::STEP >= row->end)
            break;
#pragma unroll
        for (uint32_t i = 0; i < loads::PER; i += shared::PER) {
            lane_codes<Element> codes;
#pragma unroll
            for (uint32_t j = 0; j < shared::PER; j++) {
                codes.words[j] = code_if<Element>(is_whole, bits_of_group<Element>(groups[g], i + j), map);
                row->greatest_of_lane =
                    codes.words[j] > row->greatest_of_lane ? codes.words[j] : row->greatest_of_lane;
            }
            row->put(at + i, codes);
        }
    }
}

/* Stores the code of an element of the row. */
template <typename Element>
TOPK_DEVICE void share_element(const Element *first, const struct code_map &map, uint32_t index,
                               shared_row<Element> *row) {
    const key_word_t<Element> code = code_of<Element>(simt_load_read_only(first + index), map);
    simt_shared_as<key_word_t<Element>>(row->quads)[index] = code;
    row->greatest_of_lane = code > row->greatest_of_lane ? code : row->greatest_of_lane;
}

/* Brings a row into shared memory, which has room for it (shared_quads). All lanes. */
template <typename Element>
TOPK_DEVICE shared_row<Element> share_row(const struct row_args &a, const struct row &r,
                                          const simt_shared<simt_u32x4> &quads) {
    typedef row_loads<Element> loads;
    const Element *values = row_values<Element>(a, r);
    const uint32_t left = (uint32_t)((uintptr_t)values % 16 / sizeof(Element)), lane = simt_lane();
    shared_row<Element> row = {quads, left, left + (uint32_t)r.length, (uint32_t)r.length, 0};
    const Element *first = values - left;
    simt_warp_sync(SIMT_ALL_LANES); /* the row before this one has been read */
    for (uint32_t begin = 0; begin < row.end; begin += loads::AHEAD * loads::STEP)
        share_groups(first, a.map, begin, &row);
    simt_warp_sync(SIMT_ALL_LANES);
    /* The groups that the row has a part of. */
    const uint32_t last = row.end - row.end % loads::PER;
    if (left != 0 && lane < loads::PER && lane >= left && lane < row.end)
        share_element(first, a.map, lane, &row);
    if ((left == 0 || last != 0) && last + lane < row.end)
        share_element(first, a.map, last + lane, &row);
    simt_warp_sync(SIMT_ALL_LANES);
    return row;
}

/* ---- As of held rows (held.cuh, search.cuh). All lanes. ---- */

template <typename Element> TOPK_DEVICE key_word_t<Element> greatest_of_lane(const shared_row<Element> &row) {
    return row.greatest_of_lane;
}

template <typename Element> TOPK_DEVICE key_word_t<Element> sample_of_lane(const shared_row<Element> &row) {
    return row.code(row.count * simt_lane() / SIMT_WARP);
}

template <typename Element>
TOPK_DEVICE uint32_t count_from(const shared_row<Element> &row, key_word_t<Element> low) {
    simt_tally<key_word_t<Element>> tally;
    if (low == 0)
        return row.count;
    row.for_codes([&](key_word_t<Element> code, uint32_t) TOPK_LAMBDA { tally.add_if_at_least(code, low); });
    return simt_reduce_add(SIMT_ALL_LANES, tally.count());
}

template <typename Element>
TOPK_DEVICE key_word_t<Element> least_from(const shared_row<Element> &row, key_word_t<Element> low) {
    key_word_t<Element> least = ~(key_word_t<Element>)0;
    row.for_codes([&](key_word_t<Element> code, uint32_t)
                      TOPK_LAMBDA { least = code >= low && code < least ? code : least; });
    return simt_reduce_min(SIMT_ALL_LANES, least);
}

template <typename Element> TOPK_DEVICE key_word_t<Element> least_of_row(const shared_row<Element> &row) {
    key_word_t<Element> least = ~(key_word_t<Element>)0;
    row.for_codes([&](key_word_t<Element> code, uint32_t index) TOPK_LAMBDA {
        least = index >= row.left && index < row.end && code < least ? code : least;
    });
    return simt_reduce_min(SIMT_ALL_LANES, least);
}

/* The lane's codes of a step that are at least `low`: a bit for each. */
template <typename Element>
TOPK_DEVICE uint32_t hits_in_step(const shared_row<Element> &row, uint32_t index, key_word_t<Element> low) {
    const lane_codes<Element> c = row.codes(index);
    uint32_t hits = 0;
#pragma unroll
    for (uint32_t i = 0; i < c.COUNT; i++)
        hits = simt_count_from(hits, c.words[i], low, 1u << i);
    if (low == 0) /* then places outside of the row, which have code 0, are no hits */
#pragma unroll
        for (uint32_t i = 0; i < c.COUNT; i++)
            hits &= index + i >= row.left && index + i < row.end ? ~0u : ~(1u << i);
    return hits;
}

/* Lists the positions of all codes at or above `low`; returns how many these are. */
template <typename Element>
TOPK_DEVICE uint32_t list_from(const shared_row<Element> &row, key_word_t<Element> low,
                               simt_shared<uint16_t> to) {
    typedef shared_row<Element> shared;
    const uint32_t of_word = 32 / shared::PER; /* steps whose hits are bits of a word */
    uint32_t first = 0;
#pragma unroll 1
    for (uint32_t begin = 0; begin < row.end; begin += of_word * shared::STEP) {
        const uint32_t index = begin + simt_lane() * shared::PER;
        uint32_t hits = 0, all;
        for (uint32_t s = 0; s < of_word && index + s * shared::STEP < row.end; s++)
            hits |= hits_in_step(row, index + s * shared::STEP, low) << s * shared::PER;
        uint32_t slot = first + warp_scan(simt_popc(hits), &all);
        for (; hits != 0; hits &= hits - 1) {
            const uint32_t bit = simt_ffs(hits) - 1;
            to[slot++] = (uint16_t)(index - row.left + bit / shared::PER * shared::STEP + bit % shared::PER);
        }
        first += all;
    }
    return first;
}

/* Lists codes from `low` to `last` in the order of their positions, from slot `first` to k - 1: there are as
 * many at least. */
template <typename Element>
TOPK_DEVICE void list_ties(const shared_row<Element> &row, key_word_t<Element> low, key_word_t<Element> last,
                           uint32_t first, uint32_t k, simt_shared<uint16_t> to) {
    typedef shared_row<Element> shared;
    const bool are_greatest = (key_word_t<Element>)(last + 1) == 0;
#pragma unroll 1
    for (uint32_t begin = 0; first < k; begin += shared::STEP) {
        const uint32_t index = begin + simt_lane() * shared::PER;
        const bool exists = index < row.end;
        const uint32_t above = exists && !are_greatest ? hits_in_step<Element>(row, index, last + 1) : 0;
        uint32_t hits = (exists ? hits_in_step(row, index, low) : 0) & ~above, all;
        uint32_t slot = first + warp_scan(simt_popc(hits), &all);
        for (; hits != 0 && slot < k; hits &= hits - 1)
            to[slot++] = (uint16_t)(index - row.left + simt_ffs(hits) - 1);
        first += all;
    }
}

/* Lists the k best of a row, in any order. */
template <bool IN_ORDER, typename Element>
TOPK_DEVICE void list_best(const shared_row<Element> &row, const warp_bracket<Element> &b,
                           const struct code_map &map, uint32_t k, simt_shared<uint16_t> to) {
    static_assert(!IN_ORDER, "rows in shared memory are listed in steps, of which lanes have some each");
    if (b.count == k) {
        (void)list_from(row, b.low, to);
        return;
    }
    TOPK_REACHED(REACHED_RTOPK_SURPLUS_TIES);
    const key_word_t<Element> last = class_last<Element>(b.low, map);
    const uint32_t winners = b.above > 0 ? list_from<Element>(row, last + 1, to) : 0;
    list_ties(row, b.low, last, winners, k, to);
}

#endif
