/* SPDX-License-Identifier: Apache-2.0
 * What a warp has found and not yet counted: elements of the interval that go to the row's list, too.
 *
 * Each lane puts what it finds into a column of its own, in shared memory. That takes a store and an
 * addition: no lane asks where the others put theirs, and most elements are not found. Once a column may have
 * no room for what comes next, the warp counts and lists what all its columns hold.
 *
 * A warp waits for no other warp, and takes slots of the list for many elements at once: all warps take them
 * from one counter, which gives one answer in 1.3 ns. Slots for which a warp has no element in the end hold a
 * code outside the interval. No later round counts it. */
#ifndef TOPK_SRC_CUDA_SHARDED_QUEUE_CUH
#define TOPK_SRC_CUDA_SHARDED_QUEUE_CUH

#include "../simt/bytes.cuh"
#include "table.cuh"

/* Where a row's codes are kept. */
template <typename Element> struct code_list {
    Element *slots; /* NULL: they are not */
    int64_t room;
    int64_t spare; /* slots beside those for all codes of the row */
    uint64_t *filled;
};

/* The bits of an interval's elements, where these are one arc: so two instructions tell whether an element is
 * found, in place of eight. They are unless the interval has elements of both signs, as each has where
 * magnitudes are compared. */
template <typename Interval> struct bits_arc {
    typedef typename Interval::word word;
    word begin, span;
    bool exists;

    TOPK_MEMBER bool holds(word bits) const {
        return (word)(bits - begin) <= span;
    }
    static TOPK_MEMBER bits_arc of(const Interval &in) {
        bits_arc arc = {in.first, in.reach, Interval::IS_KEPT};
        if (!arc.exists && codes_follow_points<typename Interval::element>(in.a.rows.map)) {
            arc.find(in, 0, (word)in.a.rows.map.always);
            arc.find(in, 1, (word)(in.a.rows.map.always ^ in.a.rows.map.negative));
        }
        return arc;
    }

  private:
    /* Codes of elements with that sign are (bits ^ flip) + turn: they ascend with the bits, or descend. */
    TOPK_MEMBER void find(const Interval &in, word sign, word flip) {
        const uint32_t top = Interval::shape::BITS - 1;
        const word turn = (word)in.a.rows.map.turn, first = ((in.first - turn) ^ flip) & Interval::ONES,
                   last = ((in.first + in.reach - turn) ^ flip) & Interval::ONES;
        if (first >> top != sign || last >> top != sign || in.reach >> top != 0)
            return;
        begin = first < last ? first : last;
        exists = true;
    }
};

/* Place i of lane l's column is element i * SIMT_WARP + l of the warp's part of `columns`. */
template <typename Element> struct element_queue {
    static const uint32_t FULL = SHARDED_COLUMN_BYTES / sizeof(Element),
                          DEPTH = FULL - 1 + SHARDED_STEP_GROUPS * tile_shape<Element>::PER,
                          SIZE = DEPTH * SIMT_WARP, NEXT_BYTES = SIMT_WARP * sizeof(Element);
    code_list<Element> list;
    simt_shared<Element> columns; /* of all warps */
    uint32_t column, end;         /* where the lane's begins, and where it puts its next element: in bytes */
    /* Alike in all lanes: the slots that the warp has left, and how many it takes at once. */
    uint32_t left, taking;
    int64_t next;

    /* Where not all warps can leave slots over, each takes as many as it fills. */
    static TOPK_MEMBER element_queue of(const code_list<Element> &list, simt_shared<Element> columns) {
        const int64_t warps = (int64_t)simt_blocks() * simt_warps();
        const uint32_t column = (simt_warp() * SIZE + simt_lane()) * (uint32_t)sizeof(Element);
        uint32_t taking = SHARDED_SLOTS_MOST;
        while (taking * warps > list.spare && taking > 0)
            taking /= 2;
        return element_queue{list, columns, column, column, 0, taking, 0};
    }

    /* Takes the elements of a tile that are `among` those of the interval, which holds() tells. All lanes. */
    template <typename Interval, typename Among, typename Tile>
    TOPK_MEMBER void take(const Interval &in, const Among &among, const Tile &tile) {
#pragma unroll
        for (uint32_t first = 0; first < Tile::GROUPS; first += SHARDED_STEP_GROUPS) {
#pragma unroll
            for (uint32_t i = 0; i < SHARDED_STEP_GROUPS * Tile::PER; i++) {
                const uint32_t g = first + i / Tile::PER, e = i % Tile::PER;
                if (g < Tile::GROUPS)
                    take_if(((uint32_t)tile.valid(g) & (uint32_t)among.holds(tile.bits(g, e)) &
                             (uint32_t)is_match(tile, g, e)) != 0,
                            (Element)tile.bits(g, e));
            }
            if (simt_any(SIMT_ALL_LANES, end >= column + FULL * NEXT_BYTES))
                write(in);
        }
    }

    /* At the end of a row. All lanes. */
    template <typename Interval> TOPK_MEMBER void finish(const Interval &in) {
        taking = 0;
        write(in);
        const Element outside = (Element)(in.low != 0 ? in.low - 1 : in.high + 1);
        for (uint32_t i = simt_lane(); i < left; i += SIMT_WARP)
            put(next + i, outside);
    }

  private:
    TOPK_MEMBER void take_if(bool wanted, Element bits) {
        if (!wanted)
            return;
        simt_shared_store(columns, end, bits);
        end += NEXT_BYTES;
    }
    TOPK_MEMBER void put(int64_t slot, Element code) const {
        if (slot < list.room)
            list.slots[slot] = code;
    }
    /* The first of `count` slots. All lanes. */
    TOPK_MEMBER int64_t take_slots(uint32_t count) const {
        uint64_t slot = 0;
        if (simt_lane() == 0)
            slot = simt_atomic_add(list.filled, (uint64_t)count);
        return (int64_t)(uint64_t)simt_shuffle(SIMT_ALL_LANES, slot, 0);
    }
    /* Counts what the columns hold, and lists it: in the slots that are left, then in new ones. All lanes. */
    template <typename Interval> TOPK_MEMBER void write(const Interval &in) {
        const uint32_t held = (end - column) / NEXT_BYTES, total = simt_reduce_add(SIMT_ALL_LANES, held);
        const uint32_t missing = total > left ? total - left : 0, taken = missing > taking ? missing : taking;
        const int64_t fresh = missing > 0 ? take_slots(taken) : 0;
        for (uint32_t i = 0, done = 0; done < total; i++) {
            const uint32_t lanes = simt_ballot(SIMT_ALL_LANES, held > i);
            if (held > i) {
                const Element bits = columns[column / (uint32_t)sizeof(Element) + i * SIMT_WARP];
                const uint32_t nth = done + simt_popc(lanes & ((1u << simt_lane()) - 1));
                in.add(in.digit(bits));
                put(nth < left ? next + nth : fresh + (nth - left), (Element)in.code(bits));
            }
            done += simt_popc(lanes);
        }
        next = missing > 0 ? fresh + missing : next + total;
        left = missing > 0 ? taken - missing : left - total;
        end = column;
    }
};

#endif
