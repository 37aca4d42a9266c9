/* SPDX-License-Identifier: Apache-2.0
 * Where hits of a filter go, and how they get there: each by itself; in queues of each warp, where hits are
 * rare; or through a write buffer of the block.
 *
 * In a step of the buffer each thread tests a few elements, so a step has BLOCK hits at most. The buffer has
 * room for twice as many, and is emptied only when more than BLOCK are in it: one atomic takes slots for so
 * many hits of a kind, and neighbouring threads write neighbouring slots. Winners fill it from its beginning,
 * the others from its end. */
#ifndef TOPK_SRC_CUDA_RADIK_WRITE_BUFFER_CUH
#define TOPK_SRC_CUDA_RADIK_WRITE_BUFFER_CUH

#include "state.cuh"

/* Where a row's hits go: winners to their slots of the target; what is in the range to the slots behind them,
 * or to the buffer of candidates, whose next digit is counted. */
template <typename Element, bool WHERE> struct outlet {
    const part_task<Element, WHERE> &t;
    uint64_t winners, ties; /* that are written */
    bool buffers;
    key_digit<Element> digit;
    bool full; /* no more ties are needed */

    TOPK_MEMBER row_target<Element> target(void) const {
        return row_target<Element>{t.a.rows, t.a.target, t.part.of.row, t.r, t.part.of.state};
    }
    TOPK_MEMBER uint64_t *counter(bool wins) const {
        return wins ? &t.state()->winners : buffers ? &t.state()->buffered : &t.state()->ties;
    }
    TOPK_MEMBER void put(bool wins, uint64_t slot, key_word_t<Element> bits, int64_t position) const {
        if (!wins && buffers) {
            t.buffer().put(slot, bits, position);
            t.count(digit, bits);
        } else if (slot < (wins ? winners : ties)) {
            target().put(wins ? slot : winners + slot, bits, position);
        }
    }
    /* Whether winners go to the outputs as they are, with positions of 32 bits. */
    TOPK_MEMBER bool is_plain(void) const {
        const struct row_args &rows = t.a.rows;
        return t.a.target.kind == TARGET_OUTPUTS && rows.out_values != nullptr &&
               rows.out_indices != nullptr && !rows.wide_indices && rows.payload == nullptr;
    }
    /* Which of the hits are wanted. */
    TOPK_MEMBER uint32_t wanted(uint32_t hits, uint32_t wins) const {
        return (winners == 0 ? hits & ~wins : hits) & (full ? wins : ~0u);
    }
};

/* A kind of hits as a sink of queues. */
template <typename Outlet, bool WINS> struct outlet_side {
    Outlet &to;

    TOPK_MEMBER uint64_t take(uint32_t count) const {
        const uint64_t slot = take_slots(to.counter(WINS), count);
        if (!WINS && !to.buffers)
            to.full = slot + count >= to.ties;
        return slot;
    }
    template <typename Word> TOPK_MEMBER void put(uint64_t slot, Word bits, int64_t position) const {
        to.put(WINS, slot, bits, position);
    }
};

/* ---- Queues of each warp ---- */

template <typename Element> struct warp_ways {
    hit_queue<Element> winners, others;

    TOPK_MEMBER void clear(void) const {
    }
    TOPK_MEMBER void begin(int64_t) {
    }
    template <typename Outlet, typename Range, typename Tile>
    TOPK_MEMBER void filter(Outlet &to, const Range &range, const Tile &tile) {
        uint32_t hits = find_hits<Element>(tile, range);
        if (!simt_any(SIMT_ALL_LANES, hits != 0))
            return;
        const uint32_t wins = find_winners<Element>(tile, range, hits);
        hits = to.wanted(hits, wins);
#pragma unroll 1
        while (simt_any(SIMT_ALL_LANES, hits != 0)) {
            const bool is_hit = hits != 0;
            const uint32_t item = is_hit ? simt_ffs(hits) - 1 : 0;
            const bool is_winner = (wins >> item & 1) != 0;
            const key_word_t<Element> bits = bits_of_item<Element>(tile, item);
            const int64_t position = tile.position(item / Tile::PER, item % Tile::PER);
            outlet_side<Outlet, true> winner_side = {to};
            outlet_side<Outlet, false> other_side = {to};
            hits &= hits - 1;
            if (to.t.a.uses_buffer) {
                push_hits(winners, is_hit && is_winner, bits, position, winner_side);
                push_hits(others, is_hit && !is_winner, bits, position, other_side);
            } else if (is_hit) {
                to.put(is_winner, simt_atomic_add(to.counter(is_winner), (uint64_t)1), bits, position);
            }
        }
    }
    template <typename Outlet> TOPK_MEMBER void drain(Outlet &to) {
        outlet_side<Outlet, true> winner_side = {to};
        outlet_side<Outlet, false> other_side = {to};
        drain_queue(winners, winner_side);
        drain_queue(others, other_side);
    }
};

template <typename Element> TOPK_HOST_DEVICE warp_ways<Element> carve_warp_ways(simt_arena &arena) {
    const uint32_t warps = RADIK_THREADS / SIMT_WARP;
    return warp_ways<Element>{{carve_queue<Element>(arena, warps), 0},
                              {carve_queue<Element>(arena, warps), 0}};
}

/* ---- The write buffer of a block ---- */

template <typename Element> struct block_ways {
    /* Elements of a thread in a step, and of all threads. */
    static const uint32_t TURNS = 3, MOST = RADIK_STEP,
                          ITEMS_MAX = tile_shape<Element>::PER * tile_shape<Element>::GROUPS,
                          PER_STEP = ITEMS_MAX < MOST ? ITEMS_MAX : MOST, BLOCK = RADIK_THREADS * PER_STEP;
    simt_shared<Element> bits;
    simt_shared<uint32_t>
        offsets; /* positions, as int32_t from `origin` on: the row's tail may lie before it */
    simt_shared<uint32_t>
        added; /* winners, and others in the upper 16 bits, of three steps by turns; atomic */
    simt_shared<uint64_t> slots; /* of the sinks: two */
    int64_t origin;              /* of the block's part */
    uint32_t held, turn;         /* as added, of all steps; the same in all threads */

    TOPK_MEMBER void clear(void) const {
        if (simt_thread() < TURNS)
            added[simt_thread()] = 0;
    }
    TOPK_MEMBER void begin(int64_t first) {
        origin = first;
    }
    /* All threads. */
    template <typename Outlet, typename Range, typename Tile>
    TOPK_MEMBER void filter(Outlet &to, const Range &range, const Tile &tile) {
        const uint32_t ITEMS = Tile::GROUPS * Tile::PER, PER = ITEMS < PER_STEP ? ITEMS : PER_STEP;
        const uint32_t found = find_hits<Element>(tile, range),
                       wins = find_winners<Element>(tile, range, found), hits = to.wanted(found, wins);
#pragma unroll 1
        for (uint32_t first = 0; first < ITEMS; first += PER) {
            const uint32_t mine = hits >> first & ((1u << PER) - 1), winners = mine & wins >> first;
            uint32_t all, base = 0,
                          before = warp_scan(simt_popc(winners) | simt_popc(mine & ~winners) << 16, &all);
            if (simt_lane() == 0 && all != 0)
                base = simt_atomic_add(&added[turn], all);
            before += held + simt_shuffle(SIMT_ALL_LANES, base, 0);
            uint32_t slot = before & 0xffff, end = 2 * BLOCK - 1 - (before >> 16);
#pragma unroll
            for (uint32_t e = 0; e < PER; e++) {
                const bool is_winner = (winners >> e & 1) != 0, is_hit = (mine >> e & 1) != 0;
                const uint32_t item = first + e, at = is_winner ? slot : end;
                if (is_hit) {
                    bits[at] = (Element)bits_of_step<PER>(tile, first, e);
                    offsets[at] = (uint32_t)(tile.position(item / Tile::PER, item % Tile::PER) - origin);
                }
                slot += is_winner;
                end -= is_hit && !is_winner;
            }
            end_step();
            if ((held & 0xffff) + (held >> 16) > BLOCK)
                empty(to);
        }
    }
    template <typename Outlet> TOPK_MEMBER void drain(Outlet &to) {
        simt_block_sync();
        if (held != 0)
            empty(to);
    }

  private:
    /* The bits of element first + e of a tile, where `first` is a multiple of PER. Without a load, which
     * would be one of local memory. */
    template <uint32_t PER, typename Tile>
    static TOPK_MEMBER key_word_t<Element> bits_of_step(const Tile &tile, uint32_t first, uint32_t e) {
        key_word_t<Element> chosen = 0;
#pragma unroll
        for (uint32_t i = 0; i < Tile::GROUPS * Tile::PER; i += PER)
            chosen = i == first ? tile.bits((i + e) / Tile::PER, (i + e) % Tile::PER) : chosen;
        return chosen;
    }
    /* All have added their hits. The next step's word is clear, and the one after it is being cleared: all
     * have read that before this barrier. All threads. */
    TOPK_MEMBER void end_step(void) {
        const uint32_t next = turn + 1 == TURNS ? 0 : turn + 1, last = next + 1 == TURNS ? 0 : next + 1;
        simt_block_sync();
        held += added[turn];
        if (simt_thread() == 0)
            added[last] = 0;
        turn = next;
    }
    /* Puts hits of a kind. All threads. */
    template <typename Outlet>
    TOPK_MEMBER void put_all(const Outlet &to, bool wins, uint64_t first, uint32_t count) const {
#pragma unroll 1
        for (uint32_t i = simt_thread(); i < count; i += simt_threads()) {
            const uint32_t at = wins ? i : 2 * BLOCK - 1 - i;
            to.put(wins, first + i, (Element)bits[at], origin + (int32_t)(uint32_t)offsets[at]);
        }
    }
    /* The same for winners that go to the outputs with positions of 32 bits: few instructions for each. */
    template <typename Outlet>
    TOPK_MEMBER void put_plainly(const Outlet &to, uint64_t first, uint32_t count) const {
        const struct row_args &rows = to.t.a.rows;
        const int64_t slot = to.t.part.of.row * rows.k_max + (int64_t)first;
        Element *const values = (Element *)rows.out_values + slot;
        int32_t *const indices = (int32_t *)rows.out_indices + slot;
        const int32_t base = (int32_t)(origin + rows.index_base);
        for (uint32_t i = simt_thread(); i < count; i += simt_threads()) {
            values[i] = bits[i];
            indices[i] = base + (int32_t)(uint32_t)offsets[i];
        }
    }
    /* Empties the buffer. All threads. */
    template <typename Outlet> TOPK_MEMBER void empty(Outlet &to) {
        const uint32_t winners = held & 0xffff, others = held >> 16;
        TOPK_REACHED(REACHED_RADIK_MANY);
        if (simt_thread() == 0)
            slots[0] = simt_atomic_add(to.counter(true), (uint64_t)winners);
        if (simt_thread() == SIMT_WARP)
            slots[1] = simt_atomic_add(to.counter(false), (uint64_t)others);
        held = 0;
        simt_block_sync();
        const uint64_t first = slots[0], other = slots[1];
        to.full = !to.buffers && other + others >= to.ties;
        if (to.is_plain())
            put_plainly(to, first, winners);
        else
            put_all(to, true, first, winners);
        put_all(to, false, other, others);
        simt_block_sync();
    }
};

template <typename Element> TOPK_HOST_DEVICE block_ways<Element> carve_block_ways(simt_arena &arena) {
    block_ways<Element> b;
    b.slots = simt_carve<uint64_t>(arena, 2);
    b.bits = simt_carve<Element>(arena, 2 * block_ways<Element>::BLOCK);
    b.offsets = simt_carve<uint32_t>(arena, 2 * block_ways<Element>::BLOCK);
    b.added = simt_carve<uint32_t>(arena, block_ways<Element>::TURNS);
    b.origin = 0;
    b.held = b.turn = 0;
    return b;
}

#endif
