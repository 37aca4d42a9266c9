/* SPDX-License-Identifier: Apache-2.0
 * The digits of candidates, and a row whose candidates are selected from by them. */
#ifndef TOPK_SRC_CUDA_MERGE_DIGITS_CUH
#define TOPK_SRC_CUDA_MERGE_DIGITS_CUH

#include "candidates.cuh"

enum { MERGE_BINS = 1 << MERGE_DIGIT_BITS, MERGE_TILE = MERGE_ITEMS * MERGE_THREADS };
enum { MERGE_BINS_OF_THREAD = (MERGE_BINS + MERGE_THREADS - 1) / MERGE_THREADS };

struct merge_select_shared {
    simt_shared<struct merge_step> now; /* the step that the block works on */
    simt_shared<uint64_t> words;        /* one that threads tell each other, and one for each warp */
    simt_shared<uint32_t> sums;         /* likewise, for each warp */
    simt_shared<uint32_t> bins;
    simt_shared<uint32_t> kept; /* tiles that the block has taken, where the row has no more than these */
};

TOPK_HOST_DEVICE struct merge_select_shared carve_merge_select(simt_arena &arena) {
    struct merge_select_shared s = {};
    s.now = simt_carve<struct merge_step>(arena, 1);
    s.words = simt_carve<uint64_t>(arena, 1 + MERGE_THREADS / SIMT_WARP);
    s.sums = simt_carve<uint32_t>(arena, MERGE_THREADS / SIMT_WARP);
    s.bins = simt_carve<uint32_t>(arena, MERGE_BINS);
    s.kept = simt_carve<uint32_t>(arena, MERGE_KEPT);
    return s;
}

/* Where a digit is, and which bits of key and inverse are known before it is counted. */
struct merge_digit {
    bool of_index;
    uint32_t low, bits;
    uint64_t known_key, known_inverse;
};

/* All bits from `low` on. */
TOPK_DEVICE uint64_t bits_from(uint32_t low) {
    return low >= 64 ? 0 : ~(uint64_t)0 << low;
}

TOPK_DEVICE uint32_t index_bits(const struct merge_args &a) {
    return a.rows.wide_indices ? 63 : 31;
}

TOPK_DEVICE uint32_t digits_of(uint32_t bits) {
    return (bits + MERGE_DIGIT_BITS - 1) / MERGE_DIGIT_BITS;
}

template <typename Element>
TOPK_DEVICE struct merge_digit digit_at(const struct merge_args &a, uint32_t number) {
    const uint32_t of_key = digits_of(8 * sizeof(Element));
    const bool of_index = number >= of_key;
    const uint32_t width = of_index ? index_bits(a) : (uint32_t)(8 * sizeof(Element));
    const uint32_t high = width - (of_index ? number - of_key : number) * MERGE_DIGIT_BITS;
    const uint32_t bits = high < MERGE_DIGIT_BITS ? high : (uint32_t)MERGE_DIGIT_BITS;
    return merge_digit{of_index, high - bits, bits, of_index ? ~(uint64_t)0 : bits_from(high),
                       of_index ? bits_from(high) : 0};
}

/* A thread's candidates. */
template <typename Element> struct select_items {
    uint64_t keys[MERGE_ITEMS];
    int64_t indices[MERGE_ITEMS], elements[MERGE_ITEMS];
};

template <typename Element> struct select_task {
    const struct merge_args &a;
    const struct merge_select_shared &m;
    struct merge_state *const w; /* NULL: the block is alone */
    int64_t row;

    TOPK_MEMBER bool is_last(const struct merge_step &step) const {
        return step.digit == MERGE_STEPS;
    }
    TOPK_MEMBER uint64_t tiles(void) const {
        return (a.candidates + MERGE_TILE - 1) / MERGE_TILE;
    }
    /* Whether blocks do the same tiles in each step. */
    TOPK_MEMBER bool keeps(void) const {
        return w != nullptr && tiles() <= MERGE_KEPT;
    }
    TOPK_MEMBER uint64_t tiles_of_slots(const struct merge_step &step) const {
        return step.results == (uint64_t)a.rows.k_max
                   ? 0
                   : ((uint64_t)a.rows.k_max + MERGE_TILE - 1) / MERGE_TILE;
    }
    /* Of a step. The last one has no candidates to look at where there is no result, and slots to pad. */
    TOPK_MEMBER uint64_t tiles_of(const struct merge_step &step) const {
        return is_last(step) ? tiles_of_slots(step) + (step.results > 0 ? tiles() : 0) : tiles();
    }
    TOPK_MEMBER uint64_t inverse(int64_t index) const {
        return (((uint64_t)1 << index_bits(a)) - 1) - (uint64_t)index;
    }
    TOPK_MEMBER void load(uint64_t tile, select_items<Element> &items) const {
#pragma unroll
        for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
            const uint64_t candidate = tile * MERGE_TILE + i * MERGE_THREADS + simt_thread();
            items.elements[i] = candidate < a.candidates ? element_of_candidate(a, row, candidate) : -1;
            items.indices[i] = items.elements[i] < 0 ? MERGE_NONE : candidate_index(a, items.elements[i]);
            items.keys[i] = items.elements[i] < 0
                                ? 0
                                : key_of<Element>(candidate_bits<Element>(a, items.elements[i]), a.rows.map);
        }
    }
};

#endif
