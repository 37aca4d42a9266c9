/* SPDX-License-Identifier: Apache-2.0
 * One pass over a row: what reaches a threshold goes to the lists of its blocks. */
#ifndef TOPK_SRC_CUDA_BRACKET_STREAM_CUH
#define TOPK_SRC_CUDA_BRACKET_STREAM_CUH

#include "masked.cuh"

/* Lists what the edges of the row have of the candidates. All threads of one block. */
template <typename Element, typename Shape>
TOPK_DEVICE void list_edges(const bracket_task<Element, Shape> &t, const row_threshold<Element> &threshold,
                            const struct row_parts &parts, search<Element> *search) {
    const uint32_t i = simt_thread();
    if (i >= parts.head + parts.tail)
        return;
    const int64_t position = i < parts.head ? i : t.r.length - parts.tail + (i - parts.head);
    const key_word_t<Element> bits = simt_load_read_only(t.values() + position);
    if (!is_match_at(t, bits, position))
        return;
    search->ties += search->plateau.holds(bits);
    if (!search->lists || uncut_code_of<Element>(bits, t.a.rows.map) < search->from.low)
        return;
    put_candidate(t, threshold, simt_atomic_add(&t.m.listed[0], 1u), bits, position);
}

/* Reads the block's share of a row, and asks the predicate for what reaches the threshold. All threads. */
template <typename Element, typename Shape>
TOPK_DEVICE void stream_asking(const bracket_task<Element, Shape> &t, chunk_reader<Element, Shape> *chunks,
                               struct ring_turns *turns, const row_threshold<Element> &threshold,
                               const struct row_parts &parts, search<Element> *search) {
    const bool counts = search->use == PLATEAU_COUNTED;
    chunks->read(turns, [&](uint32_t chunk, uint32_t first, uint32_t groups) TOPK_LAMBDA {
        const struct ring_chunk c = ring_chunk_of<Element, Shape>(parts, chunk, first, groups);
        if (search->lists)
            list_chunk(t, threshold, c, search, asked_matches<Element, Shape>{t});
        if (counts)
            count_chunk(t, c, search);
        simt_warp_sync(SIMT_ALL_LANES);
        leave_wanted_ties(search);
        return search->lists || counts;
    });
    if (counts) {
        const uint32_t ties = simt_reduce_add(SIMT_ALL_LANES, search->ties);
        if (simt_lane() == 0 && ties != 0)
            simt_atomic_add(&t.m.digit.bins[0], ties);
    }
}

/* Counts in bins, and lists as far as there is room, what the block's share of the row has of the candidates.
 * Returns how many these are. Calls meet(), a barrier of the block, when all are listed. All threads, with an
 * empty list and cleared bins. */
template <typename Element, typename Shape, typename Meet>
TOPK_DEVICE uint32_t stream_row(const bracket_task<Element, Shape> &t, chunk_reader<Element, Shape> *chunks,
                                struct ring_turns *turns, const row_threshold<Element> &threshold,
                                const Meet &meet) {
    const struct row_parts parts = parts_of(t.values(), t.r.length);
    search<Element> search = search_of(t, threshold);
    if (t.leads())
        list_edges(t, threshold, parts, &search);
    if (!stream_with_mask(t, turns, threshold))
        stream_asking(t, chunks, turns, threshold, parts, &search);
    meet();
    const uint32_t listed = t.m.listed[0];
    if (listed > Shape::PAGE && t.a.room > Shape::PAGE)
        store_first_page<Element, Shape>(t.a);
    count_page(t, threshold, listed);
    simt_block_sync();
    return listed;
}

#endif
