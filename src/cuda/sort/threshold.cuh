/* SPDX-License-Identifier: Apache-2.0
 * The threshold of a row: a key that at least k elements reach with a very high probability, and not many
 * more.
 *
 * One block for each row draws a sample, an element from each of SORT_SAMPLES equal stretches, and takes the
 * sample of such a rank as k elements of the row would lead to expect, and a few deviations more. Of samples
 * with one key the nearest position ranks first, so a class of any size is divided by position. Filtering
 * counts what reaches the threshold: nothing else depends on chance. */
#ifndef TOPK_SRC_CUDA_SORT_THRESHOLD_CUH
#define TOPK_SRC_CUDA_SORT_THRESHOLD_CUH

#include "../select/chance.cuh"
#include "count.cuh"

static_assert((SORT_SAMPLES & (SORT_SAMPLES - 1)) == 0, "stretches begin at a product shifted");
static_assert(SORT_BINS <= SORT_SAMPLE_THREADS, "each digit has a thread");

/* Where a search among keys has come to. */
struct key_rank {
    uint32_t digit;  /* the next one of the key */
    uint32_t before; /* keys that have the digits before, and a greater one here */
    uint32_t equal;  /* and this one */
};

struct search_shared {
    simt_shared<uint32_t> counters; /* SORT_COUNT_WORDS; copies as in pass_sizes */
    simt_shared<uint32_t> scratch;  /* one for each warp */
    simt_shared<struct key_rank> rank;
    simt_shared<uint64_t> until; /* a position */
};

template <typename Element> TOPK_HOST_DEVICE struct search_shared carve_search(simt_arena &arena) {
    struct search_shared s = {};
    s.counters = carve_count<Element>(arena);
    s.scratch = simt_carve<uint32_t>(arena, SIMT_WARP);
    s.rank = simt_carve<struct key_rank>(arena, 1);
    s.until = simt_carve<uint64_t>(arena, 1);
    return s;
}

/* A key, and how many keys are above it and equal to it. */
template <typename Word> struct ranked_key {
    Word key;
    uint32_t above, equal;
};

/* The thread of a digit looks whether the key of rank `rank` has it. All threads; ends with a barrier. */
template <uint32_t COPIES> TOPK_DEVICE void find_digit(const struct search_shared &s, uint32_t rank) {
    const uint32_t digit = SORT_BINS - 1 - simt_thread();
    uint32_t count = 0, total;
    for (uint32_t copy = 0; copy < COPIES && simt_thread() < SORT_BINS; copy++)
        count += s.counters[digit * COPIES + copy];
    const uint32_t before = block_scan(s.scratch, count, &total);
    if (before < rank && rank - before <= count)
        s.rank[0] = key_rank{digit, before, count};
    simt_block_sync();
}

/* The greatest key that `rank` of the keys reach. keys.for_each(work) calls work() with each of the thread's.
 * All threads; at least `rank` keys; ends with a barrier. */
template <typename Element, typename Keys>
TOPK_DEVICE ranked_key<key_word_t<Element>> key_of_rank(const struct search_shared &s, const Keys &keys,
                                                        uint32_t rank) {
    typedef key_word_t<Element> word;
    const uint32_t COPIES = SORT_COUNT_WORDS / (8 * sizeof(Element) / SORT_DIGIT_BITS * SORT_BINS);
    const uint32_t copy = simt_lane() % COPIES;
    ranked_key<word> found = {};
#pragma unroll 1
    for (uint32_t shift = 8 * sizeof(Element); shift != 0;) {
        const word prefix = found.key;
        shift -= SORT_DIGIT_BITS;
        for (uint32_t i = simt_thread(); i < SORT_BINS * COPIES; i += simt_threads())
            s.counters[i] = 0;
        simt_block_sync();
        keys.for_each([&](word key) TOPK_LAMBDA {
            const word digits = key >> shift;
            if (digits >> SORT_DIGIT_BITS == prefix)
                simt_atomic_add(&s.counters[((uint32_t)digits & (SORT_BINS - 1)) * COPIES + copy], 1u);
        });
        simt_block_sync();
        find_digit<COPIES>(s, rank);
        const struct key_rank r = s.rank[0];
        found.key = prefix << SORT_DIGIT_BITS | r.digit;
        found.above += r.before;
        found.equal = r.equal;
        rank -= r.before;
    }
    simt_block_sync();
    return found;
}

/* A thread's samples. In the order of positions come all threads' first samples, then the second ones. */
template <typename Element> struct sort_samples {
    key_word_t<Element> keys[SORT_SAMPLES_OF_THREAD];

    template <typename Work> TOPK_MEMBER void for_each(const Work &work) const {
#pragma unroll
        for (uint32_t i = 0; i < SORT_SAMPLES_OF_THREAD; i++)
            work(keys[i]);
    }
};

/* Where a stretch of a row begins. */
TOPK_DEVICE int64_t stretch_of_row(int64_t length, uint32_t piece) {
    return (int64_t)((uint64_t)length * piece / SORT_SAMPLES);
}

template <typename Element>
TOPK_DEVICE sort_samples<Element> draw_samples(const struct sort_args &a, int64_t row, const struct row &r) {
    const Element *values = row_values<Element>(a.rows, r);
    const uint32_t seed = hash_of((uint32_t)a.filter.seed ^ (uint32_t)row) ^ (uint32_t)(a.filter.seed >> 32);
    sort_samples<Element> s;
#pragma unroll
    for (uint32_t i = 0; i < SORT_SAMPLES_OF_THREAD; i++) {
        const uint32_t piece = i * SORT_SAMPLE_THREADS + simt_thread();
        const int64_t first = stretch_of_row(r.length, piece);
        const uint32_t length = (uint32_t)(stretch_of_row(r.length, piece + 1) - first);
        s.keys[i] = values[first + (uint32_t)((uint64_t)hash_of(piece ^ seed) * length >> 32)];
    }
#pragma unroll
    for (uint32_t i = 0; i < SORT_SAMPLES_OF_THREAD; i++)
        s.keys[i] = key_of<Element>(s.keys[i], a.rows.map);
    return s;
}

/* Deviations of a number of samples whose variance is `variance`, and what rounding and few samples need. */
TOPK_DEVICE float deviations_of(float variance) {
    return SORT_DEVIATION_TENTHS * 0.1f * root_of(variance) + 4.5f;
}

/* How many samples the threshold of a row has at or above it. */
TOPK_DEVICE uint32_t rank_of_sample(const struct row &r) {
    const float share = simt_float_divide((float)r.k, (float)r.length), mean = SORT_SAMPLES * share;
    return (uint32_t)(mean + deviations_of(mean * (1 - share)));
}

/* Where the stretch of the threshold's own sample ends. It is number `rank` of the samples with its key. All
 * threads; ends with a barrier. */
template <typename Element>
TOPK_DEVICE int64_t end_of_sample(const struct search_shared &s, const sort_samples<Element> &samples,
                                  const struct row &r, key_word_t<Element> key, uint32_t rank) {
    const uint32_t WARPS = SORT_SAMPLE_THREADS / SIMT_WARP, COUNTS = SORT_SAMPLES_OF_THREAD * WARPS;
    static_assert(COUNTS <= SORT_SAMPLE_THREADS && COUNTS <= SORT_COUNT_WORDS, "each count has a thread");
    const uint32_t lower = (1u << simt_lane()) - 1;
    uint32_t ties[SORT_SAMPLES_OF_THREAD], total;
#pragma unroll
    for (uint32_t i = 0; i < SORT_SAMPLES_OF_THREAD; i++) {
        ties[i] = simt_ballot(SIMT_ALL_LANES, samples.keys[i] == key);
        if (simt_lane() == 0)
            s.counters[i * WARPS + simt_warp()] = simt_popc(ties[i]);
    }
    simt_block_sync();
    const uint32_t count = simt_thread() < COUNTS ? (uint32_t)s.counters[simt_thread()] : 0;
    const uint32_t before = block_scan(s.scratch, count, &total);
    if (before < rank && rank - before <= count)
        s.rank[0] = key_rank{simt_thread(), before, count};
    simt_block_sync();
    const struct key_rank found = s.rank[0];
#pragma unroll
    for (uint32_t i = 0; i < SORT_SAMPLES_OF_THREAD; i++) {
        const uint32_t piece = i * SORT_SAMPLE_THREADS + simt_thread();
        if (found.digit == i * WARPS + simt_warp() && samples.keys[i] == key &&
            found.before + simt_popc(ties[i] & lower) + 1 == rank)
            s.until[0] = (uint64_t)stretch_of_row(r.length, piece + 1);
    }
    simt_block_sync();
    return (int64_t)(uint64_t)s.until[0];
}

/* All threads. */
template <typename Element>
TOPK_DEVICE void find_threshold(const struct sort_args &a, const struct search_shared &s, int64_t in_group) {
    const struct row r = row_of(a, a.first_row + in_group);
    const uint32_t rank = r.k > 0 && r.length > a.filter.room ? rank_of_sample(r) : (uint32_t)SORT_SAMPLES;
    ranked_key<key_word_t<Element>> found = {};
    int64_t until = r.length;
    if (rank < SORT_SAMPLES) {
        const sort_samples<Element> samples = draw_samples<Element>(a, in_group, r);
        found = key_of_rank<Element>(s, samples, rank);
        until = end_of_sample<Element>(s, samples, r, found.key, rank - found.above);
    }
    if (simt_thread() == 0) {
        a.filter.thresholds[in_group] = found.key;
        a.filter.until[in_group] = until;
    }
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(SORT_SAMPLE_THREADS, 1) void sort_sample(struct sort_args a) {
    simt_arena arena = simt_shared_arena();
    const struct search_shared s = carve_search<Element>(arena);
    simt_wait_predecessor();
    simt_allow_successor();
    if (is_called_off(a.rows))
        return;
    const int64_t step = (int64_t)simt_blocks() * simt_threads();
    for (int64_t i = (int64_t)simt_block() * simt_threads() + simt_thread(); i < a.zeroed_bytes / 16;
         i += step)
        simt_store16((simt_u32x4 *)a.zeroed + i, simt_u32x4{0, 0, 0, 0});
    for (int64_t in_group = simt_block(); in_group < a.group_rows; in_group += simt_blocks()) {
        if (in_group != simt_block())
            TOPK_REACHED(REACHED_SORT_NEXT_FILTERED);
        find_threshold<Element>(a, s, in_group);
    }
}

#endif
