/* SPDX-License-Identifier: Apache-2.0
 * The end of a row: one block has entries of all candidates that have to be put in order. */
#ifndef TOPK_SRC_CUDA_BRACKET_FINISH_CUH
#define TOPK_SRC_CUDA_BRACKET_FINISH_CUH

#include "../select/by_position.cuh"
#include "../select/ranked.cuh"
#include "../select/sorted_results.cuh"
#include "memory.cuh"

/* Where entries are sent: in shared memory if the block is alone. */
template <typename Element> struct row_entries {
    static const bool TWO = entry_size<Element>::TWO;
    const struct bracket_args &a;
    entry_list<TWO> own;
    int64_t first; /* of the row's in global memory */
    bool is_own;

    TOPK_MEMBER void put(uint32_t slot, key_word_t<Element> bits, int64_t position) const {
        const struct entry e = make_entry(TWO, key_of<Element>(bits, a.rows.map), position);
        if (is_own) {
            own.put(slot, e);
            return;
        }
        a.target.entries[first + slot] = e.high;
        if (TWO)
            a.target.entries_low[first + slot] = e.low;
    }
};

template <typename Element, typename Shape>
TOPK_DEVICE row_entries<Element> entries_of(const bracket_task<Element, Shape> &t) {
    return row_entries<Element>{t.a, t.m.entries, t.row * Shape::SENT, t.is_alone()};
}

template <typename Element, typename Shape>
TOPK_DEVICE Element element_of_entry(const bracket_task<Element, Shape> &t, const struct entry &e) {
    return element_of_entry<Element>(t.a.decode, t.values(), entry_size<Element>::TWO, e);
}

/* Writes the class of a key of one of `count` entries. `written` elements are better than all of them. All
 * threads. */
template <typename Element, typename Shape>
TOPK_DEVICE void write_class_of_key(const bracket_task<Element, Shape> &t, uint64_t key, uint32_t count,
                                    uint32_t written) {
    const bool TWO = entry_size<Element>::TWO;
    if (simt_thread() < 2)
        t.m.slots[simt_thread()] = 0;
    simt_block_sync();
    for (uint32_t i = simt_thread(); i < count; i += simt_threads()) {
        const uint64_t other = entry_key(TWO, t.m.entries.get(i));
        if (other >= key)
            simt_atomic_add(&t.m.slots[other > key ? 0 : 1], 1u);
    }
    simt_block_sync();
    if (simt_thread() == 0)
        write_kth<Element>(t.a.kth, t.row, decode_key(t.a.decode, key),
                           (int64_t)written + (uint32_t)t.m.slots[0], (uint32_t)t.m.slots[1]);
}

/* Writes the best `need` of few entries: an entry's slot is its rank. All threads, after a barrier. */
template <typename Element, typename Shape>
TOPK_DEVICE void write_ranked_row(const bracket_task<Element, Shape> &t, uint32_t need, uint32_t count,
                                  uint32_t written) {
    const bool TWO = entry_size<Element>::TWO;
    struct prepared {
        int64_t position;
        Element element;
    };
    if (t.a.target.kind == TARGET_KTH) {
        for_standings(t.m.entries, count, [&](uint64_t key, const struct standing &s) TOPK_LAMBDA {
            if (s.before == need - 1)
                write_kth<Element>(t.a.kth, t.row, decode_key(t.a.decode, key), (int64_t)written + s.better,
                                   s.equal);
        });
        return;
    }
    for_ranked(
        t.m.entries, count,
        [&](const struct entry &e, bool exists) TOPK_LAMBDA {
            return exists ? prepared{entry_position(TWO, e), element_of_entry(t, e)} : prepared{0, 0};
        },
        [&](const prepared &p, uint32_t rank) TOPK_LAMBDA {
            if (rank < need)
                write_result<Element>(t.a.rows, t.row, t.r, written + rank, p.element, p.position);
        });
}

/* Sorts `count` entries, and writes the part of the k best that is still missing. All threads of one
 * block, after a barrier. */
template <typename Element, typename Shape>
TOPK_NOINLINE void finish_by_sorting(const struct bracket_args &a, int64_t row, uint32_t k, uint32_t count,
                                     uint32_t written) {
    const bracket_task<Element, Shape> t = task_of<Element, Shape>(a, row);
    const bool TWO = entry_size<Element>::TWO, is_kth = a.target.kind == TARGET_KTH;
    const uint32_t need = k - written;
    /* Else each entry would have them loaded again. */
    const struct row_args rows = a.rows;
    const struct decode_args decode = a.decode;
    const Element *const values = t.values();
    for_sorted(t.m.entries, t.m.buckets, count, t.r.length,
               [&](uint32_t rank, const struct entry &e) TOPK_LAMBDA {
                   if (is_kth && rank == need - 1)
                       t.m.ends[0] = entry_key(TWO, e);
                   else if (!is_kth && rank < need)
                       write_result<Element>(rows, row, t.r, written + rank,
                                             element_of_entry<Element>(decode, values, TWO, e),
                                             entry_position(TWO, e));
               });
    simt_block_sync();
    clear_quads(t.m);
    if (is_kth)
        write_class_of_key(t, t.m.ends[0], count, written);
}

/* What is left of a row when all blocks have done their part: the leading one puts the entries in order
 * (finish_row), unless none are. */
struct row_rest {
    uint32_t k, count, written;
    uint32_t certain; /* this many of the first entries are results */
};

/* Writes the k best of the entries by position. Few that are not certain are compared with each other; for
 * many, all are sorted before. All threads of one block, after a barrier. */
template <typename Element, typename Shape>
TOPK_NOINLINE void finish_by_position(const struct bracket_args &a, int64_t row, struct row_rest rest) {
    const bracket_task<Element, Shape> t = task_of<Element, Shape>(a, row);
    const bool TWO = entry_size<Element>::TWO;
    const struct row_args rows = a.rows;
    const Element *const values = t.values();
    if (rest.count > rest.k && rest.count - rest.certain > BRACKET_COMPARED) {
        TOPK_REACHED(REACHED_BRACKET_GPU_SORTED_TWICE);
        sort_entries(t.m.entries, t.m.buckets, rest.count, t.r.length);
        rest.certain = rest.count = rest.k;
    }
    keep_positions(t.m.entries, rest.certain, rest.count, rest.k, t.r.length);
    for_sorted(t.m.entries, t.m.buckets, rest.count, t.r.length,
               [&](uint32_t rank, const struct entry &e) TOPK_LAMBDA {
                   const int64_t position = entry_position(TWO, e);
                   if (rank < rest.k)
                       write_result<Element>(rows, row, t.r, rank, simt_load_read_only(values + position),
                                             position);
               });
    simt_block_sync();
    clear_quads(t.m);
}

/* Selects the part of the k best that is still missing from at most Shape::SENT entries. All threads of
 * one block, after a barrier. */
template <typename Element, typename Shape>
TOPK_DEVICE void finish_row(const bracket_task<Element, Shape> &t, const struct row_rest &rest) {
    const uint32_t count = rest.count;
    const bool is_ranked = count <= BRACKET_RANKED && !t.a.target.by_position;
    if (!t.is_alone())
        load_entries(t.a.target, t.row, 0, count, t.m.entries);
    if (is_ranked)
        clear_entries(t.m.entries, count, count + RANK_SLOTS);
    simt_block_sync();
    if (is_ranked)
        write_ranked_row(t, rest.k - rest.written, count, rest.written);
    else if (t.a.target.by_position)
        finish_by_position<Element, Shape>(t.a, t.row, rest);
    else
        finish_by_sorting<Element, Shape>(t.a, t.row, rest.k, count, rest.written);
}

#endif
