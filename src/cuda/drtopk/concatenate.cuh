/* SPDX-License-Identifier: Apache-2.0
 * Concatenation takes the delegates that rank up to the k-th of them, or reach the bound in place of it. It
 * scans a subrange again if all its delegates are taken. No other element can be a result: a delegate of its
 * subrange that is not taken ranks before it, and k other delegates rank before that one.
 *
 * Elements that tie go out in the order of positions, so that the second top-k finds them in that order.
 * Delegates with the key of the k-th are taken from the first on. Of flat subranges, which have no better
 * element, a tile need not give more than k. */
#ifndef TOPK_SRC_CUDA_DRTOPK_CONCATENATE_CUH
#define TOPK_SRC_CUDA_DRTOPK_CONCATENATE_CUH

#include "../lookback.cuh"
#include "subranges.cuh"

struct tile_memory {
    simt_shared<uint32_t> scratch; /* of scans */
    simt_shared<uint64_t> words;   /* 1: what one thread tells the others */
    /* Of subranges that are scanned again: their threads, and whether they are flat; where their elements go;
     * and for each part how many are wanted before it, with the sum of all behind the last. */
    simt_shared<uint32_t> scanned;
    simt_shared<uint64_t> slots;
    simt_shared<uint32_t> wanted;
    simt_shared<uint64_t>
        turns; /* 1: parts that warps have taken, and from bit 32 on what flat ones had; atomic */
};

TOPK_HOST_DEVICE struct tile_memory carve_tile(simt_arena &arena, uint32_t exponent) {
    struct tile_memory s;
    s.words = simt_carve<uint64_t>(arena, 1);
    s.turns = simt_carve<uint64_t>(arena, 1);
    s.slots = simt_carve<uint64_t>(arena, DRTOPK_TILE);
    s.scratch = simt_carve<uint32_t>(arena, SIMT_WARP);
    s.scanned = simt_carve<uint32_t>(arena, DRTOPK_TILE);
    s.wanted = simt_carve<uint32_t>(arena, DRTOPK_TILE * ((1u << parts_log2(exponent)) + 1));
    return s;
}

/* What the first top-k says about a row. */
template <typename Element> struct taken_delegates {
    key_word_t<Element> key; /* of the k-th delegate, or the bound in place of it */
    uint64_t ties;           /* delegates of that key that are taken, the first ones */
    int64_t last_slot;       /* of these, where it is known; then all before it are taken */
    bool all, all_ties;      /* all delegates are taken; all that reach the key */
};

template <typename Element>
TOPK_DEVICE taken_delegates<Element> taken_of(const struct drtopk_args &a, int64_t row) {
    const int64_t k = a.delegates.needed[row];
    taken_delegates<Element> taken = {0, 0, INT64_MAX, k >= a.delegates.lengths[row], true};
    if (taken.all)
        return taken;
    taken.key = ((const Element *)a.first.keys)[row];
    if (a.first.selects) {
        taken.last_slot = a.first.last[row];
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

/* The elements of 16 bytes, of those `inside`, for which is_wanted(bits). */
template <typename Element, typename Wanted>
TOPK_DEVICE uint32_t wanted_in(const simt_u32x4 &group, uint32_t inside, const Wanted &is_wanted) {
    uint32_t wanted = 0;
#pragma unroll
    for (uint32_t e = 0; e < tile_shape<Element>::PER; e++)
        wanted |= is_wanted(bits_in<Element>(group, e)) ? 1u << e : 0;
    return wanted & inside;
}

/* Counts the elements of a part for which is_wanted(bits). All lanes. */
template <typename Element, typename Wanted>
TOPK_DEVICE uint32_t count_in(const subranges<Element> &of, const struct part &part,
                              const Wanted &is_wanted) {
    uint32_t count = 0;
    for_part(of, part, simt_lane(), SIMT_WARP,
             [&](const simt_u32x4 &group, int64_t, uint32_t inside)
                 TOPK_LAMBDA { count += simt_popc(wanted_in<Element>(group, inside, is_wanted)); });
    return simt_reduce_add(SIMT_ALL_LANES, count);
}

/* Writes the elements of a part that are wanted, in order, from `slot` on. All lanes. */
template <typename Element>
TOPK_DEVICE void put_part(const concatenated_row<Element> &w, const struct part &part, uint64_t slot) {
    for_part(w.of, part, simt_lane(), SIMT_WARP,
             [&](const simt_u32x4 &group, int64_t at, uint32_t inside) TOPK_LAMBDA {
                 uint32_t wanted = wanted_in<Element>(
                     group, inside, [&](key_word_t<Element> bits) TOPK_LAMBDA { return w.wants(bits); });
                 uint32_t all, before = warp_scan(simt_popc(wanted), &all);
                 for (; wanted != 0; wanted &= wanted - 1, before++) {
                     const uint32_t e = simt_ffs(wanted) - 1;
                     w.put(slot + before, any_bits_in<Element>(group, e), at + e);
                 }
                 slot += all;
             });
}

/* The subranges of a tile that are scanned again, in order; their parts are shared out to the warps. */
template <typename Element> struct scanned_subranges {
    const subranges<Element> &of;
    const struct tile_memory &s;
    int64_t first;  /* the tile's first subrange */
    uint32_t count; /* of scanned ones */
    uint32_t own;   /* the number of the thread's, if it is one */

    /* A subrange is flat if no element is better than the one that all its delegates tie with. All threads.
     */
    static TOPK_MEMBER scanned_subranges list(const subranges<Element> &of, int64_t first, bool scans,
                                              bool is_flat, const struct tile_memory &s) {
        scanned_subranges list = {of, s, first, 0, 0};
        simt_block_sync(); /* scratch and the list of the tile before are read */
        list.own = block_scan(s.scratch, scans ? 1u : 0u, &list.count);
        if (scans)
            s.scanned[list.own] = 2 * simt_thread() + (is_flat ? 1 : 0);
        if (simt_thread() == 0)
            s.turns[0] = 0;
        simt_block_sync();
        return list;
    }
    TOPK_MEMBER struct part part_of(uint32_t number, uint32_t at) const {
        return part_of_subrange(of, first + (uint32_t)s.scanned[number] / 2, at);
    }
    TOPK_MEMBER uint32_t parts(void) const {
        return 1u << parts_log2(of.exponent);
    }
    TOPK_MEMBER simt_shared<uint32_t> wanted_of(uint32_t number) const {
        return simt_shared_part(s.wanted, number * (parts() + 1), parts() + 1);
    }
    /* Counts the elements for which is_wanted(bits). Parts of flat subranges may be left out once `flat_most`
     * of their elements have been counted. Returns how many there are in the thread's subrange, if it scans.
     * All threads. */
    template <typename Wanted>
    TOPK_MEMBER uint32_t count_wanted(bool scans, uint64_t flat_most, const Wanted &is_wanted) const {
        for (;;) {
            /* What has been counted when a part is taken is of parts before it: one word says both. */
            const uint64_t turn = simt_shuffle(
                SIMT_ALL_LANES, simt_lane() == 0 ? simt_atomic_add(&s.turns[0], (uint64_t)1) : 0, 0);
            const uint32_t done = (uint32_t)(turn >> 32), item = (uint32_t)turn;
            if (item >= count * parts())
                break;
            const uint32_t number = item / parts(), at = item % parts();
            const bool is_flat = (uint32_t)s.scanned[number] % 2 != 0;
            const uint32_t wanted =
                is_flat && done >= flat_most ? 0 : count_in(of, part_of(number, at), is_wanted);
            if (simt_lane() == 0) {
                wanted_of(number)[at] = wanted;
                if (is_flat)
                    simt_atomic_add(&s.turns[0], (uint64_t)wanted << 32);
            }
        }
        simt_block_sync();
        uint32_t sum = 0;
        for (uint32_t at = 0; scans && at <= parts(); at++) {
            const simt_shared<uint32_t> wanted = wanted_of(own);
            const uint32_t here = at < parts() ? (uint32_t)wanted[at] : 0;
            wanted[at] = sum;
            sum += here;
        }
        return sum;
    }
    /* Writes what was counted. All threads; after a barrier, ends with one. */
    TOPK_MEMBER void put(const concatenated_row<Element> &w) const {
        for (uint32_t item = simt_warp(); item < count * parts(); item += simt_warps()) {
            const uint32_t number = item / parts(), at = item % parts();
            const simt_shared<uint32_t> wanted = wanted_of(number);
            const uint32_t before = wanted[at];
            TOPK_REACHED(REACHED_DRTOPK_SCANNED);
            if (wanted[at + 1] > before)
                put_part(w, part_of(number, at), s.slots[number] + before);
        }
        simt_block_sync();
    }
};

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
        tied += key == w.taken.key && subrange * w.a.beta + rank <= w.taken.last_slot ? 1 : 0;
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

/* The subrange of the thread in a tile, if it is inside. */
template <typename Element> struct own_subrange {
    int64_t first, number; /* the tile's first one, and the thread's */
    uint32_t delegates;    /* 0 if it is not inside */

    static TOPK_MEMBER own_subrange in(const concatenated_row<Element> &w, int64_t tile) {
        const int64_t first = tile * w.a.tile, number = first + simt_thread();
        const bool inside = simt_thread() < w.a.tile && number < w.of.count();
        return {first, number, inside ? delegates_in(w.of, number, w.a.beta) : 0};
    }
    /* Whether there are other elements than the delegates. */
    TOPK_MEMBER bool has_others(const concatenated_row<Element> &w) const {
        return delegates > 0 && w.of.size(number) > delegates;
    }
};

/* All threads. */
template <typename Element>
TOPK_DEVICE void concatenate_tile(const concatenated_row<Element> &w, int64_t tile, bool is_last,
                                  const struct tile_memory &s) {
    const own_subrange<Element> own = own_subrange<Element>::in(w, tile);
    const int64_t subrange = own.number;
    const uint32_t taken = count_taken(w, tile, subrange, own.delegates, s);
    const bool scans = own.has_others(w) && taken == own.delegates;
    const bool is_flat = scans && w.a.filters && w.keys(subrange)[0] == w.taken.key;
    const scanned_subranges<Element> scanned =
        scanned_subranges<Element>::list(w.of, own.first, scans, is_flat, s);
    const uint32_t wanted =
        scanned.count_wanted(scans, (uint64_t)w.a.delegates.needed[w.row],
                             [&](key_word_t<Element> bits) TOPK_LAMBDA { return w.wants(bits); });
    uint64_t total;
    const uint64_t slot = sum_before(w.a, w.row, 1, tile, scans ? wanted : taken, s, &total);
    if (scans)
        s.slots[scanned.own] = slot;
    for (uint32_t rank = 0; !scans && rank < taken; rank++) {
        const int64_t position = w.position(subrange, rank);
        w.put(slot + rank, simt_load_read_only(w.of.values + position), position);
    }
    simt_block_sync();
    scanned.put(w);
    if (is_last && simt_thread() == 0)
        w.a.concatenated_lengths[w.row] = (int64_t)total;
}

template <typename Element>
TOPK_DEVICE void concatenate_row(const struct drtopk_args &a, int64_t row, const struct tile_memory &s) {
    const struct row r = row_at(a.rows, row);
    const concatenated_row<Element> w = {a, row, r, subranges_of<Element>(a, r), taken_of<Element>(a, row)};
    const int64_t tiles = r.k == 0 ? 0 : w.of.count() / a.tile + 1;
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
    const struct tile_memory s = carve_tile(arena, a.exponent);
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        if (row != simt_block_y())
            TOPK_REACHED(REACHED_DRTOPK_CONCATENATE_NEXT_ROW);
        concatenate_row<Element>(a, row, s);
    }
}

#endif
