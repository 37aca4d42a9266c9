/* SPDX-License-Identifier: Apache-2.0
 * The k-th class of a row that has been sorted. */
#ifndef TOPK_SRC_CUDA_SORT_KTH_CUH
#define TOPK_SRC_CUDA_SORT_KTH_CUH

#include "digits.cuh"

/* The k-th class of a row whose keys are sorted: keys.key(at) is the key of the at-th best. One thread. */
template <typename Element, typename Keys>
TOPK_DEVICE void write_kth_class(const struct sort_args &a, int64_t row, const struct row &r,
                                 const Keys &keys) {
    bool exists = r.wanted > 0 && r.wanted <= r.length;
    uint64_t bits = a.rows.padding;
    int64_t better = r.wanted == 0 ? 0 : r.length, end = better;
    if (exists) {
        key_word_t<Element> key = keys.key(r.wanted - 1);
        int64_t above = 0, not_below = r.wanted - 1; /* the first of the class lies in this range */
        while (above < not_below) {
            int64_t middle = above + (not_below - above) / 2;
            if (keys.key(middle) > key)
                above = middle + 1;
            else
                not_below = middle;
        }
        better = above;
        int64_t inside = r.wanted, below = r.length; /* and the first after it in this one */
        while (inside < below) {
            int64_t middle = inside + (below - inside) / 2;
            if (keys.key(middle) == key)
                inside = middle + 1;
            else
                below = middle;
        }
        end = inside;
        bits = decode_key(a.decode, key);
    }
    write_kth<Element>(a.kth, row, bits, better, end - better);
}

template <typename Element> struct sorted_keys {
    const struct sort_list<Element> &elements;
    const struct code_map &map;

    TOPK_MEMBER key_word_t<Element> key(int64_t at) const {
        return key_of<Element>(elements.element(at), map);
    }
};

template <typename Element> TOPK_KERNEL TOPK_BOUNDS(SORT_THREADS, 1) void sort_kth(struct sort_args a) {
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    for (int64_t in_group = (int64_t)simt_block() * simt_threads() + simt_thread(); in_group < a.group_rows;
         in_group += (int64_t)simt_blocks() * simt_threads()) {
        struct row r = row_of(a, a.first_row + in_group);
        struct sort_list<Element> l = list_of<Element>(a, in_group, r);
        write_kth_class<Element>(a, a.first_row + in_group, r, sorted_keys<Element>{l, a.rows.map});
    }
}

#endif
