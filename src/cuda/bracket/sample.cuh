/* SPDX-License-Identifier: Apache-2.0
 * The threshold, from a sample of the row: a key that k elements and a few more reach, with a very high
 * probability. All blocks of a row draw the same sample, so none waits for another. */
#ifndef TOPK_SRC_CUDA_BRACKET_SAMPLE_CUH
#define TOPK_SRC_CUDA_BRACKET_SAMPLE_CUH

#include "../select/chance.cuh"
#include "bins.cuh"

template <typename Element> struct sample_shape {
    static const uint32_t PER = 16 / sizeof(Element);
    static const uint32_t GROUPS = BRACKET_SAMPLES_OF_THREAD / PER < BRACKET_GROUPS_MANY
                                       ? BRACKET_SAMPLES_OF_THREAD / PER
                                       : (uint32_t)BRACKET_GROUPS_MANY;
};

/* The thread's groups of a sample, on their way. */
template <typename Element> struct sampled_groups {
    simt_u32x4 raw[sample_shape<Element>::GROUPS];
    uint32_t count;
};

/* Calls work() with the numbers below `count`, a power of two or 0, at most GROUPS; 1 only if there are no
 * more than 2. Code that is not used then is left out in one jump: each place that a short call jumps to has
 * to be waited for, and in each the compiler clears what has not been set. */
template <uint32_t GROUPS, typename Work> TOPK_DEVICE void for_groups(uint32_t count, const Work &work) {
#pragma unroll
    for (uint32_t g = 0; g < GROUPS; g++) {
        if ((g & (g - 1)) == 0 && (g != 1 || GROUPS <= 2) && g >= count)
            break;
        work(g);
    }
}

/* Samples of the whole block, or 0 if the row is so short that all of it is taken. */
template <typename Element, typename Shape>
TOPK_DEVICE uint32_t sample_size(const bracket_task<Element, Shape> &t) {
    const uint32_t pieces = t.groups * simt_threads();
    if (t.r.length <= Shape::PAGE / 2 || (uint32_t)parts_of(t.values(), t.r.length).groups < 2 * pieces)
        return 0;
    return pieces * sample_shape<Element>::PER;
}

/* Where a stretch of a row's body begins: pieces are a power of two, and as long as each other but for a
 * group. */
TOPK_DEVICE uint32_t stretch_at(int64_t groups, uint32_t piece, uint32_t pieces) {
    return (uint32_t)((uint64_t)groups * piece >> simt_popc(pieces - 1));
}

/* The position of the first element of a group of the thread's sample: each is from a stretch of its own of
 * the row's body. */
template <typename Element, typename Shape>
TOPK_DEVICE uint32_t position_of_group(const bracket_task<Element, Shape> &t, const struct row_parts &parts,
                                       uint32_t g) {
    const uint32_t piece = g * simt_threads() + simt_thread(), pieces = t.groups * simt_threads();
    const uint32_t random = hash_of(piece ^ (uint32_t)t.a.seed) ^ (uint32_t)(t.a.seed >> 32);
    const uint32_t stretch = stretch_at(parts.groups, piece, pieces);
    const uint32_t length = stretch_at(parts.groups, piece + 1, pieces) - stretch;
    const uint32_t within = (uint32_t)((uint64_t)random * length >> 32);
    return parts.head + (stretch + within) * sample_shape<Element>::PER;
}

/* Begins to load a sample. */
template <typename Element, typename Shape>
TOPK_DEVICE sampled_groups<Element> draw_sample(const bracket_task<Element, Shape> &t) {
    const Element *values = t.values();
    const struct row_parts parts = parts_of(values, t.r.length);
    sampled_groups<Element> s = {};
    s.count = sample_size(t) == 0 ? 0 : t.groups;
    for_groups<sample_shape<Element>::GROUPS>(s.count, [&](uint32_t g) TOPK_LAMBDA {
        s.raw[g] = simt_load16_read_only(values + position_of_group(t, parts, g));
    });
    return s;
}

/* A thread's samples. The key of an element that does not match is 0. */
template <typename Element> struct sampled_keys {
    static const uint32_t GROUPS = sample_shape<Element>::GROUPS, PER = sample_shape<Element>::PER;
    key_word_t<Element> keys[GROUPS * PER];
    uint32_t count; /* groups */

    /* Calls work() with each key. */
    template <typename Work> TOPK_MEMBER void for_each(const Work &work) const {
        for_groups<GROUPS>(count, [&](uint32_t g) TOPK_LAMBDA {
#pragma unroll
            for (uint32_t e = 0; e < PER; e++)
                work(keys[g * PER + e]);
        });
    }
};

/* The elements of a group of a sample that match the predicate, as bits. */
template <typename Element, typename Shape>
TOPK_DEVICE uint32_t matches_of_group(const bracket_task<Element, Shape> &t,
                                      const matcher<Element, true> &match, int64_t position) {
    const uint32_t PER = sample_shape<Element>::PER;
    const int64_t index = t.r.begin + position;
    if (match.mask != nullptr)
        return match.mask_has_bits ? load_mask_bits(match.mask, index, PER) & ((1u << PER) - 1)
                                   : bytes_of_mask<PER>(match.mask + index);
    const body_tile<Element> tile = {{simt_load16_read_only(t.values() + position)}, 1, position};
    uint32_t matches = 0;
#pragma unroll
    for (uint32_t e = 0; e < PER; e++)
        matches |= (uint32_t)match.in_arc(tile.bits(0, e)) << e;
    return matches;
}

/* The thread's samples that match the predicate, as bits; with a mask, m.matching counts the block's once
 * all threads have met. Samples that are compared are loaded once more. All threads. */
template <typename Element, typename Shape>
TOPK_NOINLINE uint32_t matches_of_sample(const struct bracket_args &a, int64_t row) {
    static_assert(BRACKET_SAMPLES_OF_THREAD <= 32, "a thread has a bit for each of its samples");
    const bracket_task<Element, Shape> t = task_of<Element, Shape>(a, row);
    const struct row_parts parts = parts_of(t.values(), t.r.length);
    const matcher<Element, true> match = kept_match(t);
    uint32_t matches = 0;
#pragma unroll 1
    for (uint32_t g = 0; g < t.groups; g++)
        matches |= matches_of_group(t, match, position_of_group(t, parts, g))
                   << g * sample_shape<Element>::PER;
    if (match.mask == nullptr)
        return matches;
    simt_block_sync();
    if (simt_thread() == 0)
        t.m.matching[0] = 0;
    simt_block_sync();
    const uint32_t of_warp = simt_reduce_add(SIMT_ALL_LANES, simt_popc(matches));
    if (simt_lane() == 0)
        simt_atomic_add(&t.m.matching[0], of_warp);
    return matches;
}

template <typename Element, typename Shape>
TOPK_DEVICE sampled_keys<Element> keys_of_sample(const bracket_task<Element, Shape> &t,
                                                 const sampled_groups<Element> &s) {
    const uint32_t PER = sample_shape<Element>::PER, GROUPS = sample_shape<Element>::GROUPS;
    sampled_keys<Element> k = {};
    k.count = s.count;
    for_groups<GROUPS>(s.count, [&](uint32_t g) TOPK_LAMBDA {
        const body_tile<Element> tile = {{s.raw[g]}, 1, 0};
#pragma unroll
        for (uint32_t e = 0; e < PER; e++)
            k.keys[g * PER + e] = key_of<Element>(tile.bits(0, e), t.a.rows.map);
    });
    if (!t.a.predicate.is_given)
        return k;
    const uint32_t matches = matches_of_sample<Element, Shape>(t.a, t.row);
    for_groups<GROUPS>(s.count, [&](uint32_t g) TOPK_LAMBDA {
#pragma unroll
        for (uint32_t i = g * PER; i < (g + 1) * PER; i++)
            k.keys[i] = (matches >> i & 1) != 0 ? k.keys[i] : 0;
    });
    return k;
}

/* The rank of the sample that is the threshold: more than k elements of the row reach it unless the sample is
 * off by five standard deviations. At least, all of one group and some of another reach it, since neighbours
 * may be alike. Where rows have one length and one k the host has found it. */
template <typename Element, typename Shape>
TOPK_DEVICE uint32_t rank_of_threshold(const bracket_task<Element, Shape> &t, uint32_t size) {
    if (t.a.rank != 0)
        return t.a.rank;
    const float mean = simt_float_divide((float)size * (float)t.r.k, (float)t.r.length);
    const uint32_t rank = (uint32_t)(mean + 5.2f * root_of(mean) + 4.5f),
                   least = sample_shape<Element>::PER + 2;
    return rank > least ? rank : least;
}

/* A lower bound of what as many as `rank` samples reach: the least of the greatest samples of warps, of four
 * lanes or of threads. All lanes. */
template <typename Word> TOPK_DEVICE Word bound_of_lanes(Word greatest, uint32_t rank) {
    if (rank > simt_threads())
        return 0;
    if (rank <= simt_warps())
        return simt_reduce_max(SIMT_ALL_LANES, greatest);
    if (rank <= simt_threads() / 4) {
        for (uint32_t lanes = 1; lanes < 4; lanes *= 2) {
            const Word other = simt_shuffle_xor(SIMT_ALL_LANES, greatest, lanes);
            greatest = other > greatest ? other : greatest;
        }
    }
    return greatest;
}

/* A threshold: all elements from its class on are candidates. */
template <typename Element> struct row_threshold {
    key_word_t<Element> key;
    uint32_t scale;  /* of bins of what reaches it */
    bool is_plateau; /* many samples are of its class */
};

/* The bin of a candidate. */
template <typename Element>
TOPK_DEVICE uint32_t bin_of_candidate(key_word_t<Element> bits, const row_threshold<Element> &threshold,
                                      const struct code_map &map) {
    const key_word_t<Element> distance = key_of<Element>(bits, map) - threshold.key;
    return candidate_bins<key_word_t<Element>>::of(distance >> threshold.scale);
}

/* Bins reach `beyond` octaves further than the key `best`. */
template <typename Element>
TOPK_DEVICE row_threshold<Element> threshold_at(key_word_t<Element> key, key_word_t<Element> best,
                                                bool is_plateau, uint32_t beyond) {
    typedef candidate_bins<key_word_t<Element>> bins;
    const uint32_t octave = bins::BITS - simt_clz((key_word_t<Element>)(best - key)) + beyond;
    const uint32_t most = bins::BITS < octave ? bins::BITS : octave;
    const bool is_scaled = !is_plateau && most > bins::OCTAVES; /* a plateau has a bin of its own */
    return row_threshold<Element>{key, is_scaled ? most - bins::OCTAVES : 0, is_plateau};
}

/* The key that `rank` of the samples reach, or up to `more` besides: none below `bound` counts, and none is
 * above `top`. A class is no plateau if is_listed(its samples). m.sampled_ties tells how many a plateau has.
 * All threads, with cleared bins. */
template <typename Element, typename Shape, typename Samples, typename IsListed>
TOPK_DEVICE row_threshold<Element>
key_at_rank(const bracket_memory<Element, Shape> &m, const Samples &samples, uint32_t rank, uint32_t more,
            key_word_t<Element> bound, key_word_t<Element> top, const IsListed &is_listed) {
    typedef key_word_t<Element> word;
    typedef sample_bins<word> bins;
    const word best = top;
    for (uint32_t round = 1;; round++) {
        samples.for_each([&](word key) TOPK_LAMBDA {
            if (key >= bound && key <= top)
                simt_atomic_add(&m.digit.bins[bins::of(top - key)], 1u);
        });
        simt_block_sync();
        const struct ranked_bin found = find_bin(
            [&](uint32_t quad) TOPK_LAMBDA { return take_quad(m.quads, quad); }, rank, m.sums, m.found);
        const word first = bins::first(found.bin), last = bins::last(found.bin);
        const bool is_class = first == last, is_crowded = found.held > more;
        if (is_class || !is_crowded || round == BRACKET_SAMPLE_ROUNDS) {
            const bool is_plateau = is_class && is_crowded && !is_listed(found.held);
            if (is_plateau && simt_thread() == 0)
                m.sampled_ties[0] = found.held;
            return threshold_at<Element>(last < top ? top - last : (word)0, best, is_plateau,
                                         BRACKET_OCTAVES_BEYOND);
        }
        top -= first;
        rank -= found.before;
        TOPK_REACHED(REACHED_BRACKET_GPU_FINER);
    }
}

/* Whether a class with so many samples is listed, though others would leave it: where the first ties are
 * results, they would have to be looked for afterwards. It takes a quarter of the lists' room then, or less.
 */
template <typename Element, typename Shape>
TOPK_DEVICE bool lists_class(const bracket_task<Element, Shape> &t, uint32_t sampled) {
    const uint64_t room = (uint64_t)t.share.blocks * (Shape::PAGE / 4) * sample_size(t);
    return !t.a.target.ties_free && t.a.target.kind == TARGET_OUTPUTS &&
           sampled * (uint64_t)t.r.length <= room;
}

/* The least key that is collected. Calls arrived() when the samples are there. All threads, with cleared
 * bins.
 */
template <typename Element, typename Shape, typename Arrived>
TOPK_DEVICE row_threshold<Element> threshold_of(const bracket_task<Element, Shape> &t,
                                                const sampled_groups<Element> &drawn,
                                                const Arrived &arrived) {
    typedef key_word_t<Element> word;
    const uint32_t size = sample_size(t);
    const uint32_t rank = size == 0 ? 1 : rank_of_threshold(t, size);
    if (rank > size) {
        arrived();
        simt_block_sync();
        return threshold_at<Element>(0, (word)(Element) ~(Element)0, false, 0);
    }
    const sampled_keys<Element> samples = keys_of_sample(t, drawn);
    word greatest = 0;
    samples.for_each([&](word key) TOPK_LAMBDA { greatest = key > greatest ? key : greatest; });
    const number_ends<word> ends = ends_of_block<word>(t.m.ends, bound_of_lanes(greatest, rank), greatest);
    arrived();
    return key_at_rank(t.m, samples, rank, rank / 4 + 1, ends.least, ends.greatest,
                       [&](uint32_t sampled) TOPK_LAMBDA { return lists_class(t, sampled); });
}

#endif
