/* SPDX-License-Identifier: Apache-2.0
 * Concatenation takes the delegates that rank up to the k-th of them. It scans a subrange again if all its
 * delegates are taken. No other element can be a result: a delegate of its subrange that is not taken ranks
 * before it, and k other delegates rank before that one.
 *
 * Elements that tie go out in the order of positions, so that the second top-k finds them in that order.
 * Delegates with the key of the k-th are taken from the first on. */
#ifndef TOPK_SRC_CUDA_DRTOPK_CONCATENATE_CUH
#define TOPK_SRC_CUDA_DRTOPK_CONCATENATE_CUH

#include "../lookback.cuh"
#include "subranges.cuh"

struct tile_memory {
    simt_shared<uint32_t> scratch; /* of scans */
    simt_shared<uint64_t> words;   /* 1: what one thread tells the others */
};

TOPK_HOST_DEVICE struct tile_memory carve_tile(simt_arena &arena) {
    struct tile_memory s;
    s.words = simt_carve<uint64_t>(arena, 1);
    s.scratch = simt_carve<uint32_t>(arena, SIMT_WARP);
    return s;
}

/* What the first top-k says about a row. */
template <typename Element> struct taken_delegates {
    key_word_t<Element> key; /* of the k-th delegate */
    uint64_t ties;           /* delegates of that key that are taken, the first ones */
    int64_t last;            /* slot of the last of these, where it is known; then all before it are taken */
    bool all, all_ties;      /* all delegates are taken; all that have the key or, of a bound, reach it */
};

template <typename Element>
TOPK_DEVICE taken_delegates<Element> taken_of(const struct drtopk_args &a, int64_t row) {
    const int64_t k = a.delegates.needed[row];
    taken_delegates<Element> taken = {0, 0, INT64_MAX, k >= a.delegates.lengths[row], true};
    if (taken.all)
        return taken;
    taken.key = ((const Element *)a.first.keys)[row];
    if (a.first.selects) {
        taken.last = a.first.last[row];
    } else {
        taken.ties = (uint64_t)(k - a.first.better[row]);
        taken.all_ties = (uint64_t)a.first.equal[row] <= taken.ties + a.first.surplus;
    }
    return taken;
}

/* A row in concatenation. */
template <typename Element> struct concatenated_row {
    const struct drtopk_args &a;
    int64_t row;
    struct row r;
    subranges<Element> of;
    taken_delegates<Element> taken;

    TOPK_MEMBER const Element *keys(int64_t subrange) const {
        return (const Element *)a.delegates.keys + row * a.delegates.pitch + subrange * a.beta;
    }
    TOPK_MEMBER int64_t position(int64_t subrange, uint32_t rank) const {
        return of.origin(subrange) + a.delegates.offsets[row * a.delegates.pitch + subrange * a.beta + rank];
    }
    /* Whether an element of a subrange whose delegates are all taken goes into the vector. */
    TOPK_MEMBER bool wants(key_word_t<Element> bits) const {
        return !a.filters || key_of<Element>(bits, a.rows.map) >= taken.key;
    }
    TOPK_MEMBER void put(uint64_t slot, key_word_t<Element> bits, int64_t position) const {
        write_output<Element>(a.rows, row * a.concatenated_pitch + (int64_t)slot, r.begin, (Element)bits,
                              position);
    }
};

/* Counts the elements of a subrange for which is_wanted(bits). All lanes. */
template <typename Element, typename Wanted>
TOPK_DEVICE uint32_t count_in(const subranges<Element> &of, int64_t subrange, const Wanted &is_wanted) {
    uint32_t count = 0;
    for_subrange(
        of, subrange, simt_lane(), SIMT_WARP,
        [&](uint32_t, key_word_t<Element> bits, int64_t, bool inside)
            TOPK_LAMBDA { count += inside && is_wanted(bits) ? 1 : 0; },
        [] {});
    return simt_reduce_add(SIMT_ALL_LANES, count);
}

/* Writes the elements of a subrange that are wanted, in order, from `slot` on. All lanes. */
template <typename Element>
TOPK_DEVICE void put_subrange(const concatenated_row<Element> &w, int64_t subrange, uint64_t slot) {
    const uint32_t PER = tile_shape<Element>::PER;
    key_word_t<Element> kept[PER];
    uint32_t wanted = 0;
    int64_t first = 0;
    for_subrange(
        w.of, subrange, simt_lane(), SIMT_WARP,
        [&](uint32_t e, key_word_t<Element> bits, int64_t position, bool inside) TOPK_LAMBDA {
            first = e == 0 ? position : first;
            kept[e] = bits;
            wanted |= inside && w.wants(bits) ? 1u << e : 0;
        },
        [&]() TOPK_LAMBDA {
            uint32_t all, before = warp_scan(simt_popc(wanted), &all);
#pragma unroll
            for (uint32_t e = 0; e < PER; e++)
                if (wanted >> e & 1)
                    w.put(slot + before++, kept[e], first + e);
            slot += all;
            wanted = 0;
        });
}

/* Calls work(lane) for each lane of the warp that `has` something to do. All lanes. */
template <typename Work> TOPK_DEVICE void for_each_lane_that(bool has, const Work &work) {
    for (uint32_t lanes = simt_ballot(SIMT_ALL_LANES, has); lanes != 0; lanes &= lanes - 1)
        work(simt_ffs(lanes) - 1);
}

/* The threads of all tiles have a `count` each. Returns the sum over the threads before this one; *total is
 * the sum up to the end of this tile, which has number `number`. All threads. */
TOPK_DEVICE uint64_t sum_before(const struct drtopk_args &a, int64_t row, uint32_t sum, int64_t number,
                                uint32_t count, const struct tile_memory &s, uint64_t *total) {
    uint64_t *const of_row = a.lookback.words + (2 * row + sum) * a.lookback.sum_words;
    const struct sum_words words = sum_words_of(of_row, a.lookback.tiles);
    uint32_t of_tile;
    simt_block_sync(); /* scratch and words are read */
    const uint32_t before = block_scan(s.scratch, count, &of_tile);
    if (simt_warp() == 0) {
        if (simt_lane() == 0)
            publish_sum(words, number, of_tile);
        const uint64_t tiles = look_back(words, number, of_tile, look_ahead(words, number));
        if (simt_lane() == 0)
            s.words[0] = tiles;
    }
    simt_block_sync();
    const uint64_t base = s.words[0];
    *total = base + of_tile;
    return base + before;
}

/* How many of the `count` delegates of a thread's subrange are taken. All threads. */
template <typename Element>
TOPK_DEVICE uint32_t count_taken(const concatenated_row<Element> &w, int64_t tile, int64_t subrange,
                                 uint32_t count, const struct tile_memory &s) {
    if (w.taken.all)
        return count;
    uint32_t above = 0, tied = 0;
    for (uint32_t rank = 0; rank < count; rank++) {
        const key_word_t<Element> key = w.keys(subrange)[rank];
        above += key > w.taken.key ? 1 : 0;
        tied += key == w.taken.key && subrange * w.a.beta + rank <= w.taken.last ? 1 : 0;
    }
    if (!w.taken.all_ties) {
        uint64_t total;
        TOPK_REACHED(REACHED_DRTOPK_TIES);
        const uint64_t before = sum_before(w.a, w.row, 0, tile, tied, s, &total);
        const uint64_t left = before < w.taken.ties ? w.taken.ties - before : 0;
        tied = tied < left ? tied : (uint32_t)left;
    }
    return above + tied;
}

/* A tile of subranges, one for each thread. All threads. */
template <typename Element>
TOPK_DEVICE void concatenate_tile(const concatenated_row<Element> &w, int64_t tile, bool is_last,
                                  const struct tile_memory &s) {
    const int64_t first = tile * simt_threads(), subrange = first + simt_thread();
    const bool inside = subrange < w.of.count();
    const uint32_t delegates = inside ? delegates_in(w.of, subrange, w.a.beta) : 0;
    const uint32_t taken = count_taken(w, tile, subrange, delegates, s);
    const bool scans = inside && taken == delegates && w.of.size(subrange) > delegates;
    const int64_t of_warp = first + simt_warp() * SIMT_WARP;
    uint32_t count = taken;
    for_each_lane_that(scans, [&](uint32_t lane) {
        const uint32_t wanted = count_in(w.of, of_warp + lane,
                                         [&](key_word_t<Element> bits) TOPK_LAMBDA { return w.wants(bits); });
        count = simt_lane() == lane ? wanted : count;
    });
    uint64_t total;
    const uint64_t slot = sum_before(w.a, w.row, 1, tile, count, s, &total);
    if (!scans) {
        for (uint32_t rank = 0; rank < taken; rank++) {
            const int64_t position = w.position(subrange, rank);
            w.put(slot + rank, simt_load_read_only(w.of.values + position), position);
        }
    }
    for_each_lane_that(scans, [&](uint32_t lane) {
        TOPK_REACHED(REACHED_DRTOPK_SCANNED);
        put_subrange(w, of_warp + lane, simt_shuffle(SIMT_ALL_LANES, slot, lane));
    });
    if (is_last && simt_thread() == 0)
        w.a.concatenated_lengths[w.row] = (int64_t)total;
}

template <typename Element>
TOPK_DEVICE void concatenate_row(const struct drtopk_args &a, int64_t row, const struct tile_memory &s) {
    const struct row r = row_at(a.rows, row);
    const concatenated_row<Element> w = {a, row, r, subranges_of<Element>(a, r), taken_of<Element>(a, row)};
    const int64_t tiles = r.k == 0 ? 0 : w.of.count() / simt_threads() + 1;
    if (r.k == 0 && simt_block() == 0 && simt_thread() == 0)
        a.concatenated_lengths[row] = 0;
    while (tiles > 0) {
        simt_block_sync();
        if (simt_thread() == 0)
            s.words[0] = simt_atomic_add(&a.tickets[row], (uint64_t)1);
        simt_block_sync();
        const int64_t tile = (int64_t)(uint64_t)s.words[0];
        if (tile >= tiles)
            return;
        concatenate_tile(w, tile, tile == tiles - 1, s);
    }
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(DRTOPK_TILE,
                        DRTOPK_TILE_BLOCKS_PER_SM) void drtopk_concatenate(struct drtopk_args a) {
    simt_arena arena = simt_shared_arena();
    const struct tile_memory s = carve_tile(arena);
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y())
        concatenate_row<Element>(a, row, s);
}

#endif
