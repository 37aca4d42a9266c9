/* SPDX-License-Identifier: Apache-2.0
 * Delegates: the best elements of each subrange. Their keys go out, so that the first top-k selects among
 * unsigned integers. */
#ifndef TOPK_SRC_CUDA_DRTOPK_DELEGATES_CUH
#define TOPK_SRC_CUDA_DRTOPK_DELEGATES_CUH

#include "../../reached.h"
#include "best.cuh"

/* Where the delegates of a row go. */
template <typename Element> struct delegate_slots {
    Element *keys;
    uint16_t *offsets;
    uint32_t beta;

    TOPK_MEMBER void put(int64_t subrange, uint32_t rank, key_word_t<Element> key, uint32_t offset) const {
        keys[subrange * beta + rank] = (Element)key;
        offsets[subrange * beta + rank] = (uint16_t)offset;
    }
};

template <typename Element>
TOPK_DEVICE delegate_slots<Element> slots_of(const struct drtopk_args &a, int64_t row) {
    const int64_t first = row * a.delegates.pitch;
    return {(Element *)a.delegates.keys + first, a.delegates.offsets + first, a.beta};
}

/* Calls work(subranges, where the delegates go) for each row of the block. NEXT_ROW: the path that counts
 * further rows. */
template <typename Element, int NEXT_ROW, typename Work>
TOPK_DEVICE void for_delegates(const struct drtopk_args &a, const Work &work) {
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        if (row != simt_block_y())
            TOPK_REACHED(NEXT_ROW);
        const struct row r = row_at(a.rows, row);
        const subranges<Element> of = subranges_of<Element>(a, r);
        if (simt_block() == 0 && simt_thread() == 0) {
            a.delegates.lengths[row] = delegates_of(of, a.beta);
            a.delegates.needed[row] = r.k;
            a.delegates.asked[row] = r.wanted;
        }
        work(of, slots_of<Element>(a, row));
    }
}

#endif
