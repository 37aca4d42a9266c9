/* SPDX-License-Identifier: Apache-2.0
 * The predicate as a mask of bits: phase 1 of the published method, and what topk_mask writes.
 *
 * A warp makes the bits of 1024 elements by 32 ballots, so that lane i ends with word i. Rows that lie in
 * memory end to end count as one. Others are cut as if they were laid end to end; then a word may belong to
 * parts of several rows, and each part adds its bits. */
#ifndef TOPK_SRC_CUDA_COMPACT_MASK_CUH
#define TOPK_SRC_CUDA_COMPACT_MASK_CUH

#include "hits.cuh"

/* Elements [begin, end) of memory. */
struct element_span {
    int64_t begin, end;

    TOPK_MEMBER bool has(int64_t element) const {
        return element >= begin && element < end;
    }
};

/* Words of 32 elements from `first` on, a multiple of 32: lane i gets word i, at least in the first `words`
 * lanes. FULL: all 1024 elements are in the span. All lanes. */
template <bool FULL, typename Source>
TOPK_DEVICE uint32_t ballot_words(const compact_source<Source> &source, const struct element_span &span,
                                  int64_t first, uint32_t words) {
    const uint32_t BATCH = COMPACT_BALLOTS;
    int64_t element = first + simt_lane();
    uint32_t mine = 0;
    for (uint32_t i = 0; i < (FULL ? 32 : words); i += BATCH, element += BATCH * SIMT_WARP) {
        typename compact_source<Source>::word fetched[BATCH];
#pragma unroll
        for (uint32_t j = 0; j < BATCH; j++)
            fetched[j] =
                FULL || span.has(element + j * SIMT_WARP) ? source.fetch(element + j * SIMT_WARP) : 0;
#pragma unroll
        for (uint32_t j = 0; j < BATCH; j++) {
            bool hit = source.is_hit(fetched[j], element) && (FULL || span.has(element + j * SIMT_WARP));
            uint32_t word = simt_ballot(SIMT_ALL_LANES, hit);
            if (simt_lane() == i + j)
                mine = word;
        }
    }
    return mine;
}

template <typename Source>
TOPK_DEVICE uint32_t ballot_span(const compact_source<Source> &source, const struct element_span &span,
                                 int64_t first) {
    const int64_t rest = span.end - first;
    return first >= span.begin && rest >= COMPACT_CHUNK
               ? ballot_words<true>(source, span, first, 32)
               : ballot_words<false>(source, span, first,
                                     rest < COMPACT_CHUNK ? (uint32_t)(rest + 31) / 32 : 32);
}

/* Writes a span's part of a word, if it has one. */
TOPK_DEVICE void add_word(const struct compact_args &a, const struct element_span &span, int64_t word,
                          uint32_t bits) {
    if (32 * word >= span.begin && 32 * (word + 1) <= span.end) {
        simt_store_relaxed(&a.masks[word], bits);
    } else if (bits != 0) {
        TOPK_REACHED(REACHED_COMPACT_SHARED_WORD);
        simt_atomic_or(&a.masks[word], bits);
    }
}

template <typename Source>
TOPK_DEVICE void mask_dense(const struct compact_args &a, const compact_source<Source> &source) {
    const struct element_span span = {0, a.total};
    const int64_t chunks = (a.total - 1) / COMPACT_CHUNK + 1, warps = (int64_t)simt_blocks() * simt_warps();
    for (int64_t chunk = (int64_t)simt_block() * simt_warps() + simt_warp(); chunk < chunks; chunk += warps) {
        uint32_t bits = ballot_span(source, span, chunk * COMPACT_CHUNK);
        if (chunk * COMPACT_CHUNK + 32 * simt_lane() < a.total)
            a.masks[chunk * SIMT_WARP + simt_lane()] = bits;
        if (a.chunk_counts != nullptr) {
            uint32_t count = simt_reduce_add(SIMT_ALL_LANES, simt_popc(bits));
            if (simt_lane() == 0)
                a.chunk_counts[chunk] = count;
        }
    }
}

/* Elements [from, to) of the sequence of all rows. All lanes. */
template <typename Source>
TOPK_DEVICE void mask_span_of_rows(const struct compact_args &a, const compact_source<Source> &source,
                                   int64_t from, int64_t to) {
    const int64_t rows = a.rows.rows, row = starts_below(a.starts, rows + 1, from + 1) - 1;
    struct row_cursor cursor = {row, a.starts[row], a.starts[row + 1], row_at(a.rows, row).begin};
    for (int64_t at = from; at < to;) {
        cursor.move_to(a, at, rows - 1);
        const int64_t end = cursor.end < to ? cursor.end : to, element = cursor.begin + (at - cursor.start);
        const struct element_span span = {element, element + (end - at)};
        for (int64_t first = element / 32 * 32; first < span.end; first += COMPACT_CHUNK)
            add_word(a, span, first / 32 + simt_lane(), ballot_span(source, span, first));
        at = end;
    }
}

template <typename Source>
TOPK_DEVICE void mask_ragged(const struct compact_args &a, const compact_source<Source> &source) {
    const int64_t total = a.starts[a.rows.rows], warps = (int64_t)simt_blocks() * simt_warps();
    for (int64_t chunk = (int64_t)simt_block() * simt_warps() + simt_warp(); chunk * COMPACT_CHUNK < total;
         chunk += warps) {
        int64_t from = chunk * COMPACT_CHUNK;
        mask_span_of_rows(a, source, from, total - from < COMPACT_CHUNK ? total : from + COMPACT_CHUNK);
    }
}

/* For rows without gaps, and for others. */
template <typename Source>
TOPK_KERNEL TOPK_BOUNDS(COMPACT_CHUNK_THREADS, CHUNK_BLOCKS) void compact_mask(struct compact_args a) {
    simt_wait_predecessor();
    if (a.has_successor)
        simt_allow_successor();
    mask_dense(a, compact_source<Source>::of(a));
}

template <typename Source>
TOPK_KERNEL TOPK_BOUNDS(COMPACT_CHUNK_THREADS,
                        COMPACT_RAGGED_BLOCKS_PER_SM) void compact_mask_ragged(struct compact_args a) {
    simt_wait_predecessor();
    mask_ragged(a, compact_source<Source>::of(a));
}

#endif
