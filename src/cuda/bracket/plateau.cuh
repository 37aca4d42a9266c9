/* SPDX-License-Identifier: Apache-2.0
 * The first elements of a plateau, where these are results. They take the slots behind all that is better, in
 * the order of positions. The warps of a row's blocks look through its chunks in rounds, each through a part
 * of its own: they count the ties, tell each other, and write those that have a slot. A row is looked through
 * as far as needed. */
#ifndef TOPK_SRC_CUDA_BRACKET_PLATEAU_CUH
#define TOPK_SRC_CUDA_BRACKET_PLATEAU_CUH

#include "stream.cuh"
#include "team.cuh"

/* Chunks of a row. */
struct chunk_range {
    uint32_t first, end;
};

/* The warp's part of a round. */
template <typename Element, typename Shape>
TOPK_DEVICE struct chunk_range part_of_warp(const bracket_task<Element, Shape> &t,
                                            const struct chunk_range &round) {
    const uint32_t warps = t.share.blocks * simt_warps(), warp = t.share.block * simt_warps() + simt_warp();
    const uint32_t all = round.end - round.first, each = (all + warps - 1) / warps;
    const uint32_t first = warp * each < all ? warp * each : all, rest = all - first;
    return chunk_range{round.first + first, round.first + first + (each < rest ? each : rest)};
}

/* Of an element that the ring does not hold. */
static const uint32_t BRACKET_NOT_HELD = UINT32_MAX;

/* Calls work(ties, position, at) with what each lane has of the ties, in groups that follow each other: bit i
 * is the element at position + i, and element at + i of the ring, if that holds it. Ends if work() returns
 * false, as it does in all lanes or in none. All lanes. */
template <typename Element, typename Shape, typename Work>
TOPK_DEVICE void for_ties(const bracket_task<Element, Shape> &t, const tie_class<Element> &plateau,
                          const struct chunk_range &part, struct ring_turns *turns, const Work &work) {
    const uint32_t PER = body_tile<Element>::PER;
    const struct row_parts parts = parts_of(t.values(), t.r.length);
    const auto edge = [&](int64_t first, uint32_t count) TOPK_LAMBDA -> bool {
        const int64_t position = first + simt_lane();
        bool ties = false;
        if (simt_lane() < count) {
            const key_word_t<Element> bits = simt_load_read_only(t.values() + position);
            ties = plateau.holds(bits) && is_match_at(t, bits, position);
        }
        return work((uint32_t)ties, position, BRACKET_NOT_HELD);
    };
    if (part.first == part.end || (part.first == 0 && !edge(0, parts.head)))
        return;
    chunk_reader<Element, Shape> chunks = chunk_reader<Element, Shape>::of(t);
    const bool has_tail = part.end == chunks.chunks;
    bool goes_on = true;
    chunks.read_only(part.first, part.end, turns);
    chunks.read(turns, [&](uint32_t chunk, uint32_t first, uint32_t groups) TOPK_LAMBDA {
#pragma unroll 1
        for (uint32_t i = 0; goes_on && i < Shape::LANE_GROUPS; i++) {
            const uint32_t group = i * SIMT_WARP + simt_lane();
            const int64_t position = parts.head + ((int64_t)chunk * Shape::CHUNK + group) * PER;
            uint32_t ties = 0;
            if (group < groups) {
                const body_tile<Element> tile = {{t.m.ring[first + group]}, 1, position};
                ties = matches_among(t, tile, plateau.among(tile.raw[0]));
            }
            goes_on = work(ties, position, (first + group) * PER);
        }
        simt_warp_sync(SIMT_ALL_LANES);
        return goes_on;
    });
    if (goes_on && has_tail)
        edge(t.r.length - parts.tail, parts.tail);
}

/* Ties of a round: those before the warp's, and all. */
struct tie_counts {
    uint32_t before, all;
};

/* `mine`: of the warp. All threads of all blocks of the row. */
template <typename Element, typename Shape>
TOPK_DEVICE struct tie_counts tell_ties(const bracket_task<Element, Shape> &t, struct team_turn *turn,
                                        uint32_t mine) {
    uint32_t of_block, all = 0, earlier = 0;
    const uint32_t bins = turn->bins(), before = scan_of_warps(t.m.sums, mine, &of_block);
    if (!t.is_alone()) {
        clear_next_turn(t, *turn);
        if (simt_thread() == 0)
            simt_store_relaxed(&t.state()->turns[bins].bins[t.share.block], of_block);
    }
    meet_team(t, turn);
    if (t.is_alone())
        return tie_counts{before, of_block};
    for (uint32_t block = simt_lane(); block < t.share.blocks; block += SIMT_WARP) {
        const uint32_t ties = simt_load_relaxed(&t.state()->turns[bins].bins[block]);
        all += ties;
        earlier += block < t.share.block ? ties : 0;
    }
    return tie_counts{before + simt_reduce_add(SIMT_ALL_LANES, earlier),
                      simt_reduce_add(SIMT_ALL_LANES, all)};
}

/* Writes those ties of a part that have ranks below `wanted`: the first one has rank `rank`, and rank 0 goes
 * to slot `slot`. All lanes. */
template <typename Element, typename Shape>
TOPK_DEVICE void write_ties(const bracket_task<Element, Shape> &t, const tie_class<Element> &plateau,
                            const struct chunk_range &part, struct ring_turns *turns, uint32_t slot,
                            uint32_t rank, uint32_t wanted) {
    const simt_shared<Element> held = simt_shared_as<Element>(t.m.ring);
    for_ties(t, plateau, part, turns, [&](uint32_t ties, int64_t position, uint32_t at) TOPK_LAMBDA {
        if (!simt_any(SIMT_ALL_LANES, ties != 0))
            return true;
        uint32_t all, of_lane = rank + warp_scan(simt_popc(ties), &all);
        for (; ties != 0 && of_lane < wanted; ties &= ties - 1) {
            const uint32_t i = simt_ffs(ties) - 1;
            const Element bits = at == BRACKET_NOT_HELD ? t.values()[position] : (Element)held[at + i];
            write_result<Element>(t.a.rows, t.row, t.r, slot + of_lane++, bits, position + i);
        }
        rank += all;
        return rank < wanted;
    });
}

/* Chunks that are expected to hold the ties still wanted, and some more, after `done` chunks with `ties`
 * ties. At first a sample tells, if it has ties. */
template <typename Element, typename Shape>
TOPK_DEVICE uint32_t chunks_of_round(const bracket_task<Element, Shape> &t, uint32_t done, uint32_t ties,
                                     uint32_t wanted, uint32_t all) {
    const uint32_t least = t.share.blocks * simt_warps(), rest = all - done;
    const uint32_t sampled = done == 0 ? t.m.sampled_ties[0] : 0;
    uint64_t chunks = ties == 0 ? 8 * (uint64_t)done : (uint64_t)(wanted - ties) * done / ties;
    if (sampled != 0)
        chunks = (uint64_t)wanted * sample_size(t) / sampled / (Shape::CHUNK * body_tile<Element>::PER);
    chunks += chunks / 8;
    chunks = chunks < least ? least : chunks;
    return chunks < rest ? (uint32_t)chunks : rest;
}

struct placed_ties {
    struct ring_turns turns;
    uint32_t meetings, count;
};

/* Writes the first `wanted` elements of a plateau into the slots from `slot` on; returns how many there are.
 * All threads of all blocks of the row, which have met so often. */
template <typename Element, typename Shape>
TOPK_NOINLINE struct placed_ties place_ties(const struct bracket_args &a, int64_t row,
                                            struct ring_turns turns, uint32_t meetings,
                                            key_word_t<Element> key, uint32_t slot, uint32_t wanted) {
    const bracket_task<Element, Shape> t = task_of<Element, Shape>(a, row);
    const tie_class<Element> plateau = tie_class<Element>::of(a.rows.map, key);
    const uint32_t all = chunk_reader<Element, Shape>::of(t).chunks;
    struct team_turn turn = {};
    uint32_t placed = 0;
    turn.meetings = meetings;
    TOPK_REACHED(REACHED_BRACKET_GPU_FIRST_TIES);
    for (uint32_t done = 0; done < all && placed < wanted;) {
        const struct chunk_range round = {done, done + chunks_of_round(t, done, placed, wanted, all)};
        const struct chunk_range part = part_of_warp(t, round);
        uint32_t mine = 0;
        for_ties(t, plateau, part, &turns, [&](uint32_t ties, int64_t, uint32_t) TOPK_LAMBDA {
            mine += simt_popc(ties);
            return true;
        });
        mine = simt_reduce_add(SIMT_ALL_LANES, mine);
        const struct tie_counts counts = tell_ties(t, &turn, mine);
        if (mine != 0 && placed + counts.before < wanted)
            write_ties(t, plateau, part, &turns, slot, placed + counts.before, wanted);
        if (done != 0)
            TOPK_REACHED(REACHED_BRACKET_GPU_TIES_FURTHER);
        placed += counts.all;
        done = round.end;
    }
    return placed_ties{turns, turn.meetings, placed < wanted ? placed : wanted};
}

#endif
