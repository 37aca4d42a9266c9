/* SPDX-License-Identifier: Apache-2.0
 * Short sorted lists of ranks that reach each other's memory: one kernel sends this rank's candidates to
 * where they are merged, receives the other ranks' candidates, and merges.
 *
 * A candidate travels as two words that each tell that they are there, so that no flag follows and nothing is
 * fenced. Each rank has a slot for every candidate that another one sends it, in the half of the run:
 *
 *   a.lists[rank]   | half 0: slots for rank 0's lists, rank 1's, ... | half 1: likewise |
 *   a slot          | bits of the element, low 31 bits of the index, 1 | the index's other 33 bits, 0, 1 |
 *
 * A slot is 0, or holds a candidate of the run: the thread that takes one puts the 0 back. So nothing tells
 * runs apart, and no number wraps around. That no rank stores to a slot too early follows as in
 * ../peer/kernels.h: a rank that has received something of run e - 1 from every other one knows that all have
 * ended run e - 2. A rank that gets no rows waits instead until all have told it that they have begun the
 * run. They do so where there may be such a rank, by words behind the flags of as many ranks as have lists
 * here. A flag itself only tells that a rank is gone: nothing may overwrite that.
 *
 * A block sends its share before it waits. If it waits beside other blocks, they are no more than fit on the
 * GPU at once, and no other rank has the same GPU. */
#ifndef TOPK_SRC_CUDA_MERGE_EXCHANGE_CUH
#define TOPK_SRC_CUDA_MERGE_EXCHANGE_CUH

#include "../peer/wait.cuh"
#include "short.cuh"

enum { EXCHANGE_INDEX_BITS = 31 };

static_assert(2 * MERGE_LISTS <= TOPK_PEER_RANKS_MAX, "behind the flags of so many ranks are as many words");
static_assert(MERGE_LISTS <= (uint32_t)SIMT_WARP, "a lane tells a rank");

template <typename Element> TOPK_DEVICE simt_pair pack_candidate(Element bits, int64_t index) {
    static_assert(sizeof(Element) <= 4, "the first word has 32 bits for them");
    const uint64_t low = (uint64_t)index & ((1u << EXCHANGE_INDEX_BITS) - 1);
    return {(uint64_t)bits << 32 | low << 1 | 1, (uint64_t)(index >> EXCHANGE_INDEX_BITS) << 2 | 1};
}

TOPK_DEVICE bool is_candidate(simt_pair slot) {
    return (slot.first & slot.second & 1) != 0;
}

TOPK_DEVICE int64_t index_in_slot(simt_pair slot) {
    const uint64_t high = (uint64_t)((int64_t)slot.second >> 2) << EXCHANGE_INDEX_BITS;
    return (int64_t)(high | (slot.first >> 1 & ((1u << EXCHANGE_INDEX_BITS) - 1)));
}

/* The slot of a candidate of rank `from` at rank `at`. */
TOPK_DEVICE uint64_t *slot_of_rank(const struct exchange_args &a, uint64_t run, uint32_t at, uint32_t from,
                                   uint64_t candidate) {
    return a.lists[at] + 2 * ((run % 2 * a.ranks + from) * a.slots + candidate);
}

/* The block's rows of this rank's lists go to the ranks that get them, if the run is intact. What a thread
 * has to load first is under way before it knows. */
template <typename Element>
TOPK_DEVICE void send_candidates(const struct exchange_args &a, uint64_t run, bool intact) {
    const uint32_t length = (uint32_t)a.merge.rows.length_max;
    for (int64_t row = simt_block(); row < a.rows; row += simt_blocks()) {
        const bool to_all = a.root == TOPK_PEER_ALL, to_owner = a.root == TOPK_PEER_OWNER;
        const uint32_t owner = to_owner ? (uint32_t)(row / a.block_rows) : (uint32_t)a.root;
        const uint32_t targets = to_all ? a.ranks - 1 : owner != a.rank;
        const int64_t slot = (to_owner ? row - owner * a.block_rows : row) * length;
        for (uint32_t first = simt_thread(); targets > 0 && first < length; first += 2 * simt_threads()) {
            simt_pair pairs[2];
#pragma unroll
            for (uint32_t i = 0; i < 2; i++) {
                const int64_t at = row * length + first + i * simt_threads();
                if (first + i * simt_threads() < length)
                    pairs[i] = pack_candidate(((const Element *)a.values)[at],
                                              read_extent(a.indices, at, a.merge.rows.wide_indices));
            }
            for (uint32_t number = 1; intact && number <= targets; number++) {
                const uint32_t next = a.rank + number, to = !to_all          ? owner
                                                            : next < a.ranks ? next
                                                                             : next - a.ranks;
                uint64_t *const slots = slot_of_rank(a, run, to, a.rank, (uint64_t)slot + first);
#pragma unroll
                for (uint32_t i = 0; i < 2; i++)
                    if (first + i * simt_threads() < length)
                        simt_store_pair_system(slots + 2 * i * simt_threads(), pairs[i]);
            }
        }
    }
}

/* The group is broken: notes why, and tells all ranks. One thread. */
TOPK_DEVICE void leave_group(const struct exchange_args &a, uint32_t outcome, uint32_t rank) {
    (void)simt_atomic_max(&peer_control_of(a)->state, (uint64_t)outcome << 32 | rank);
    simt_fence_system();
    for (uint32_t to = 0; to < a.ranks; to++)
        if (to != a.rank)
            simt_store_release_system(&a.flags[to][a.rank], PEER_GONE);
}

/* Why a wait for that rank ends without what it is for; or 0. */
TOPK_DEVICE uint32_t why_end(const struct exchange_args &a, uint32_t rank, uint64_t begun) {
    return simt_load_acquire_system(&a.flags[a.rank][rank]) == PEER_GONE ? (uint32_t)TOPK_PEER_LEFT
                                                                         : peer_why_end(a, begun);
}

/* Takes the thread's candidates that have arrived. A bit of *missing is set for each that has not. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void take_candidates(uint64_t *const slots[ITEMS], uint32_t *missing,
                                 short_items<Element, ITEMS> &items) {
    simt_pair seen[ITEMS];
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        if ((*missing >> i & 1) != 0)
            seen[i] = simt_load_pair_system(slots[i]);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        if ((*missing >> i & 1) != 0 && is_candidate(seen[i])) {
            items.ranks[i].index = index_in_slot(seen[i]);
            items.bits[i] = (key_word_t<Element>)(seen[i].first >> 32);
            simt_store_pair_system(slots[i], simt_pair{0, 0});
            *missing &= ~(1u << i);
        }
}

/* A thread's candidates of a row, as load_short() has them: from this rank's lists, or from other ranks as
 * they arrive. If the run is not intact, or does not stay so, they have an index that is not allowed. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void receive_short(const struct exchange_args &a, int64_t row, uint64_t run, bool intact,
                               short_items<Element, ITEMS> &items) {
    const uint32_t length = (uint32_t)a.merge.rows.length_max;
    uint64_t *slots[ITEMS];
    uint32_t missing = 0, looks = 0;
    uint64_t begun = 0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t number = i * simt_threads() + simt_thread(), list = number / length;
        const bool is_there = number < a.merge.candidates;
        items.places[i] = number - list * length;
        items.elements[i] = -1;
        items.ranks[i].index = is_there ? MERGE_NOT_ALLOWED : MERGE_NONE;
        items.bits[i] = 0;
        if (is_there && intact && list != a.rank) {
            slots[i] = slot_of_rank(a, run, a.rank, list, (uint64_t)row * length + items.places[i]);
            missing |= 1u << i;
        } else if (is_there && intact) {
            const int64_t at = (a.first_row + row) * length + items.places[i];
            items.ranks[i].index = read_extent(a.indices, at, a.merge.rows.wide_indices);
            items.bits[i] = ((const Element *)a.values)[at];
        }
    }
    while (missing != 0) {
        take_candidates<Element, ITEMS>(slots, &missing, items);
        if (missing == 0 || ++looks % PEER_LOOKS != 0)
            continue;
        begun = begun == 0 ? simt_nanoseconds() : begun;
        const uint32_t rank = ((simt_ffs(missing) - 1) * simt_threads() + simt_thread()) / length;
        const uint32_t outcome = why_end(a, rank, begun);
        if (outcome != TOPK_PEER_INTACT) {
            leave_group(a, outcome, rank);
            break;
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        items.ranks[i].key = items.ranks[i].index < 0 ? 0 : key_of<Element>(items.bits[i], a.merge.rows.map);
}

/* The last warp tells all ranks that this one has begun the run. */
TOPK_DEVICE void announce_begin(const struct exchange_args &a, uint64_t run) {
    const uint32_t to = simt_lane();
    if (simt_warp() + 1 == simt_warps() && to < a.ranks && to != a.rank)
        simt_store_release_system(&a.flags[to][MERGE_LISTS + a.rank], run);
}

/* Until all ranks have begun the run. One block. */
TOPK_DEVICE void wait_for_begin(const struct exchange_args &a, uint64_t run) {
    const uint32_t rank = simt_thread();
    const uint64_t begun = simt_nanoseconds();
    uint32_t outcome = TOPK_PEER_INTACT, looks = 0;
    if (rank >= a.ranks || rank == a.rank)
        return;
    while (outcome == TOPK_PEER_INTACT &&
           simt_load_acquire_system(&a.flags[a.rank][MERGE_LISTS + rank]) < run)
        if (++looks % PEER_LOOKS == 0)
            outcome = why_end(a, rank, begun);
    if (outcome != TOPK_PEER_INTACT)
        leave_group(a, outcome, rank);
}

/* Counts the run, once all blocks have come here. All threads. */
TOPK_DEVICE void end_run(const struct exchange_args &a, uint64_t run) {
    struct peer_control *control = peer_control_of(a);
    if (simt_blocks() > 1)
        simt_block_sync(); /* all have read the number of runs */
    if (simt_thread() != 0)
        return;
    if (simt_blocks() == 1) {
        control->runs = run;
    } else if (simt_atomic_ticket(&control->ticket) + 1 == simt_blocks()) {
        simt_store_relaxed(&control->ticket, 0);
        control->runs = run;
    }
}

template <typename Element, uint32_t ITEMS>
TOPK_KERNEL TOPK_BOUNDS(MERGE_SHORT_THREADS,
                        1) void merge_exchanged(TOPK_CONSTANT_ARGS struct exchange_args a) {
    simt_arena arena = simt_shared_arena();
    const merge_short_shared<Element> s = carve_merge_short<Element>(arena, (uint32_t)a.merge.candidates);
    simt_wait_predecessor();
    struct peer_control *control = peer_control_of(a);
    const uint64_t run = control->runs + 1;
    const bool intact = simt_load_relaxed(&control->state) == 0;
    if (intact && a.root != TOPK_PEER_ALL && simt_block() == 0)
        announce_begin(a, run);
    send_candidates<Element>(a, run, intact);
    if (a.merge.rows.rows == 0 && simt_block() == 0) {
        simt_block_sync(); /* all have read the state and the number of runs */
        if (intact)
            wait_for_begin(a, run);
        simt_block_sync(); /* all have waited before the run is counted */
    }
    for (int64_t row = simt_block(); row < a.merge.rows.rows; row += simt_blocks()) {
        short_items<Element, ITEMS> items;
        receive_short(a, row, run, intact, items);
        if (row != (int64_t)simt_block())
            simt_block_sync();
        merge_short_lists(a.merge, s, row, items);
    }
    end_run(a, run);
}

#endif
