/* SPDX-License-Identifier: Apache-2.0
 * A cluster sorts the list of a row in shared memory, by a sample sort:
 *
 * 1. Each block holds an equal share of the list, as entries. All entries differ (entries.cuh), so ties
 *    cannot crowd any block.
 * 2. Each block draws samples of its share and sends them to all blocks, and ranks its own among all. Every
 *    n-th is a splitter, of n samples of each block: a block is to get what lies between two of these.
 * 3. Each block counts its entries for each block, and reserves slots in that block's list by one atomic.
 * 4. Entries move to their blocks. Each block sorts its list. Its first result follows the last one
 *    of the block before it.
 *
 * Where samples mislead and some list would overflow, blocks sort their shares instead, and an entry's slot
 * is the sum of its ranks in all shares.
 *
 * Shared memory of a block: the share; the list, which first holds the samples; where each entry of the share
 * goes; the buckets of the block's sort; the splitters and some words for each block. */
#ifndef TOPK_SRC_CUDA_ORDERING_CLUSTER_CUH
#define TOPK_SRC_CUDA_ORDERING_CLUSTER_CUH

#include "../select/chance.cuh"
#include "../select/small_sort.cuh"
#include "../select/sorted_results.cuh"
#include "kernels.h"

static_assert((int)ENTRIES_PER_THREAD == (int)ORDERING_HELD, "a list is sorted with as many as it holds");
static_assert(ORDERING_THREADS % (RANKED * ORDERING_CLUSTER_MAX) == 0, "samples are ranked together");

/* Samples of each block: with more entries than threads, a share has as many. */
TOPK_DEVICE uint32_t samples_of_block(void) {
    return simt_threads() / ORDERING_CLUSTER_MAX;
}

template <bool TWO> struct ordering_shared {
    entry_list<TWO> share; /* there is no room for entries of two words: they are loaded twice */
    entry_list<TWO> list;
    simt_shared<uint32_t> places; /* of the share's entries: a block, and a slot among all for that block */
    struct bucket_shared buckets;
    entry_list<TWO> splitters;    /* for each block the first entry that it gets; none for the first block */
    simt_shared<uint32_t> counts; /* of the share's entries for each block */
    simt_shared<uint32_t> begins; /* where these begin in that block's list */
    simt_shared<uint32_t> load;   /* one word: slots of this block's list that blocks have reserved */
    simt_shared<uint32_t> found;  /* results in each block's part of the row's list */
};

template <bool TWO>
TOPK_HOST_DEVICE struct ordering_shared<TWO> carve_ordering(simt_arena &arena, uint32_t threads) {
    const uint32_t blocks = ORDERING_CLUSTER_MAX;
    struct ordering_shared<TWO> s = {};
    s.share = carve_entries<TWO>(arena, TWO ? 0 : ORDERING_HELD *threads);
    s.list = carve_entries<TWO>(arena, ORDERING_HELD *threads);
    s.places = simt_carve<uint32_t>(arena, ORDERING_HELD *threads);
    s.buckets = carve_buckets(arena);
    s.buckets.words = simt_carve<uint32_t>(arena, BUCKET_WORDS *threads);
    s.splitters = carve_entries<TWO>(arena, blocks);
    s.counts = simt_carve<uint32_t>(arena, blocks);
    s.begins = simt_carve<uint32_t>(arena, blocks);
    s.load = simt_carve<uint32_t>(arena, 1);
    s.found = simt_carve<uint32_t>(arena, blocks);
    return s;
}

/* A row's list, of `count` entries. By position, an entry of one word has the position in its upper half,
 * where the key is else. */
template <typename Element, bool TWO>
struct list_task {
    const struct ordering_args &a;
    const struct ordering_shared<TWO> &s;
    int64_t row;
    struct row r;
    uint32_t count;

    /* Where the share of a block begins; of the block behind the last one: `count`. */
    TOPK_MEMBER uint32_t share_begin(uint32_t block) const {
        return (uint32_t)((uint64_t)count * block / simt_cluster_size());
    }
    TOPK_MEMBER uint32_t share_count(uint32_t block) const {
        return share_begin(block + 1) - share_begin(block);
    }
    TOPK_MEMBER int64_t position(uint32_t slot) const {
        return read_extent(a.positions, row * a.rows.k_max + slot, a.wide);
    }
    TOPK_MEMBER struct entry entry_at(uint32_t slot) const {
        const int64_t at = position(slot);
        if (a.by_position)
            return entry{TWO ? (uint64_t)at : (uint64_t)at << 32, 0};
        const key_word_t<Element> bits = ((const Element *)a.elements)[row * a.rows.k_max + slot];
        return make_entry(TWO, key_of<Element>(bits, a.rows.map), at);
    }
    /* An entry of the block's share. */
    TOPK_MEMBER struct entry shared_entry(uint32_t slot) const {
        return TWO ? entry_at(share_begin(simt_cluster_rank()) + slot) : s.share.get(slot);
    }
    TOPK_MEMBER void write(uint32_t slot, const struct entry &e) const {
        const Element *values = row_values<Element>(a.rows, r);
        if (a.by_position) {
            const int64_t at = (int64_t)(TWO ? e.high : e.high >> 32);
            write_result<Element>(a.rows, row, r, slot, simt_load_read_only(values + at), at);
        } else {
            write_result<Element>(a.rows, row, r, slot, element_of_entry<Element>(a.decode, values, TWO, e),
                                  entry_position(TWO, e));
        }
    }
};

/* Results in the first t.count slots of the list, behind which no others are. All threads of the cluster. */
template <typename Element, bool TWO> TOPK_DEVICE uint32_t count_results(const list_task<Element, TWO> &t) {
    const uint32_t rank = simt_cluster_rank(), end = t.share_begin(rank + 1);
    uint32_t mine = 0, total = 0;
    if (simt_thread() == 0)
        t.s.counts[0] = 0;
    simt_block_sync();
    for (uint32_t slot = t.share_begin(rank) + simt_thread(); slot < end; slot += simt_threads())
        mine += t.position(slot) >= 0;
    const uint32_t of_warp = simt_reduce_add(SIMT_ALL_LANES, mine);
    if (simt_lane() == 0)
        simt_atomic_add(&t.s.counts[0], of_warp);
    simt_block_sync();
    if (simt_thread() < simt_cluster_size())
        simt_remote_store(simt_shared_of_rank(t.s.found, simt_thread()), rank, (uint32_t)t.s.counts[0]);
    simt_cluster_sync();
    for (uint32_t block = 0; block < simt_cluster_size(); block++)
        total += t.s.found[block];
    return total;
}

/* Puts an entry into a list of some block. */
template <bool TWO>
TOPK_DEVICE void send_entry(const entry_list<TWO> &list, uint32_t block, uint32_t slot, struct entry e) {
    simt_remote_store(simt_shared_of_rank(list.high, block), slot, e.high);
    if (TWO)
        simt_remote_store(simt_shared_of_rank(list.low, block), slot, e.low);
}

template <bool TWO>
TOPK_DEVICE struct entry remote_entry(const entry_list<TWO> &list, uint32_t block, uint32_t slot) {
    return entry{simt_remote_load(simt_shared_of_rank(list.high, block), slot),
                 TWO ? simt_remote_load(simt_shared_of_rank(list.low, block), slot) : 0};
}

/* Loads entries `first` to first + count - 1 of the row into the block's memory. All threads. */
template <typename Element, bool TWO>
TOPK_DEVICE void load_list(const list_task<Element, TWO> &t, uint32_t first, uint32_t count,
                           const entry_list<TWO> &to) {
    in_batches<struct entry, RESULT_BATCH>(
        0, count, [&](uint32_t slot) TOPK_LAMBDA { return t.entry_at(first + slot); },
        [&](uint32_t slot, const struct entry &e) TOPK_LAMBDA { to.put(slot, e); });
}

/* Loads the block's share. All threads; ends with a barrier. */
template <typename Element, bool TWO> TOPK_DEVICE void load_share(const list_task<Element, TWO> &t) {
    const uint32_t rank = simt_cluster_rank();
    if (!TWO)
        load_list(t, t.share_begin(rank), t.share_count(rank), t.s.share);
    if (simt_thread() < simt_cluster_size())
        t.s.counts[simt_thread()] = 0;
    if (simt_thread() == 0)
        t.s.load[0] = 0;
    simt_block_sync();
}

/* Draws the block's samples, one from each of equal parts of its share, and sends them to all lists. All
 * threads. */
template <typename Element, bool TWO> TOPK_DEVICE void send_samples(const list_task<Element, TWO> &t) {
    const uint32_t rank = simt_cluster_rank(), share = t.share_count(rank), samples = samples_of_block();
    const uint32_t chance = hash_of(t.a.seed ^ hash_of((uint32_t)t.row * ORDERING_CLUSTER_MAX + rank));
    for (uint32_t at = simt_thread(); at < samples * simt_cluster_size(); at += simt_threads()) {
        const uint32_t i = at % samples, begin = share * i / samples, end = share * (i + 1) / samples;
        send_entry(t.s.list, at / samples, rank * samples + i,
                   t.shared_entry(begin + hash_of(chance ^ i) % (end - begin)));
    }
}

/* Ranks the block's samples among all, and sends those that are splitters to all blocks. All threads, after a
 * barrier of the cluster. */
template <typename Element, bool TWO> TOPK_DEVICE void send_splitters(const list_task<Element, TWO> &t) {
    const uint32_t blocks = simt_cluster_size(), samples = samples_of_block();
    const uint32_t first = simt_cluster_rank() * samples;
#pragma unroll 1
    for (uint32_t i = RANKED * simt_warp(); i < samples; i += RANKED * simt_warps()) {
        const struct entry ranked[RANKED] = {t.s.list.get(first + i), t.s.list.get(first + i + 1)};
        const uint32_t ranks = rank_entries(t.s.list, samples * blocks, ranked);
#pragma unroll
        for (uint32_t j = 0; j < RANKED; j++) {
            const uint32_t rank = ranks >> 16 * j & 0xffff;
            if (rank % samples == 0 && simt_lane() < blocks)
                send_entry(t.s.splitters, simt_lane(), rank / samples, ranked[j]);
        }
    }
}

/* The block that gets an entry. */
template <bool TWO>
TOPK_DEVICE uint32_t block_of_entry(const entry_list<TWO> &splitters, const struct entry &e) {
    uint32_t block = 0;
    for (uint32_t step = ORDERING_CLUSTER_MAX / 2; step > 0; step /= 2)
        if (block + step < simt_cluster_size() && !is_before(e, splitters.get(block + step)))
            block += step;
    return block;
}

/* Lanes with the same number, which is at most `greatest`. All lanes. */
TOPK_DEVICE uint32_t lanes_alike(uint32_t number, uint32_t greatest) {
    uint32_t alike = SIMT_ALL_LANES;
    for (uint32_t bit = 1; bit <= greatest; bit *= 2) {
        const bool is_set = (number & bit) != 0;
        const uint32_t with = simt_ballot(SIMT_ALL_LANES, is_set);
        alike &= is_set ? with : ~with;
    }
    return alike;
}

/* In a word of `places`. */
static const uint32_t PLACE_BITS = 16;
static_assert(ORDERING_HELD * ORDERING_THREADS_MAX <= 1 << PLACE_BITS, "a place fits a word");

/* Finds the places of the share's entries, and reserves slots for them. All threads, after a barrier of the
 * cluster; ends with one of the block. */
template <typename Element, bool TWO> TOPK_DEVICE void reserve_slots(const list_task<Element, TWO> &t) {
    const uint32_t blocks = simt_cluster_size(), lower = (1u << simt_lane()) - 1;
    const uint32_t share = t.share_count(simt_cluster_rank());
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot - simt_lane() < share; slot += simt_threads()) {
        const bool exists = slot < share;
        const uint32_t block = exists ? block_of_entry(t.s.splitters, t.shared_entry(slot)) : blocks;
        const uint32_t alike = lanes_alike(block, blocks), before = simt_popc(alike & lower);
        uint32_t first = 0;
        if (exists && before == 0)
            first = simt_atomic_add(&t.s.counts[block], simt_popc(alike));
        first = simt_shuffle(SIMT_ALL_LANES, first, simt_ffs(alike) - 1);
        if (exists)
            t.s.places[slot] = block << PLACE_BITS | (first + before);
    }
    simt_block_sync();
    if (simt_thread() < blocks)
        t.s.begins[simt_thread()] = simt_remote_add(simt_shared_of_rank(t.s.load, simt_thread()), 0,
                                                    (uint32_t)t.s.counts[simt_thread()]);
    simt_block_sync();
}

/* Moves the share's entries to their blocks, as far as lists have room. All threads. */
template <typename Element, bool TWO> TOPK_DEVICE void move_share(const list_task<Element, TWO> &t) {
    const uint32_t share = t.share_count(simt_cluster_rank()), room = ORDERING_HELD * simt_threads();
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < share; slot += simt_threads()) {
        const uint32_t place = t.s.places[slot], block = place >> PLACE_BITS;
        const uint32_t to = t.s.begins[block] + (place & ((1u << PLACE_BITS) - 1));
        if (to < room)
            send_entry(t.s.list, block, to, t.shared_entry(slot));
    }
}

/* Sorts the first `count` entries of the list, and writes them as results from `begin` on. All threads, after
 * a barrier. */
template <typename Element, bool TWO>
TOPK_DEVICE void write_sorted_list(const list_task<Element, TWO> &t, uint32_t count, uint32_t begin) {
    for_sorted(t.s.list, t.s.buckets, count, t.r.length,
               [&](uint32_t rank, const struct entry &e) TOPK_LAMBDA { t.write(begin + rank, e); });
}

/* The way out, whatever the entries are. All threads of the cluster. */
template <typename Element, bool TWO> TOPK_DEVICE void write_ranked_shares(const list_task<Element, TWO> &t) {
    const uint32_t rank = simt_cluster_rank(), share = t.share_count(rank);
    TOPK_REACHED(REACHED_ORDERING_OVERFLOW);
    load_list(t, t.share_begin(rank), share, t.s.list);
    simt_block_sync();
    sort_by_merging(t.s.list, share);
    simt_cluster_sync();
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < share; slot += simt_threads()) {
        const struct entry e = t.s.list.get(slot);
        uint32_t before = slot;
        for (uint32_t block = 0; block < simt_cluster_size(); block++) {
            uint32_t begin = 0, end = block == rank ? 0 : t.share_count(block);
            while (begin < end) {
                const uint32_t middle = (begin + end) / 2;
                if (is_before(remote_entry(t.s.list, block, middle), e))
                    begin = middle + 1;
                else
                    end = middle;
            }
            before += begin;
        }
        t.write(before, e);
    }
}

/* More entries than one block sorts alone. All threads of the cluster, all of whose blocks have begun. No
 * block ends before the others have read what it has. */
template <typename Element, bool TWO> TOPK_DEVICE void sort_together(const list_task<Element, TWO> &t) {
    load_share(t);
    send_samples(t);
    simt_cluster_sync();
    send_splitters(t);
    simt_cluster_sync();
    reserve_slots(t);
    move_share(t);
    simt_cluster_sync();
    const uint32_t load = simt_lane() < simt_cluster_size()
                              ? simt_remote_load(simt_shared_of_rank(t.s.load, simt_lane()), 0)
                              : 0;
    const uint32_t begin = simt_reduce_add(SIMT_ALL_LANES, simt_lane() < simt_cluster_rank() ? load : 0);
    if (simt_any(SIMT_ALL_LANES, load > ORDERING_HELD * simt_threads())) {
        write_ranked_shares(t);
        simt_cluster_sync();
    } else {
        simt_cluster_arrive_relaxed();
        write_sorted_list(t, t.s.load[0], begin);
        simt_cluster_wait();
    }
}

/* Few entries: the first block sorts them. All threads. */
template <typename Element, bool TWO> TOPK_DEVICE void sort_alone(const list_task<Element, TWO> &t) {
    if (simt_cluster_rank() != 0)
        return;
    load_list(t, 0, t.count, t.s.list);
    simt_block_sync();
    write_sorted_list(t, t.count, 0);
}

template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(ORDERING_THREADS_MAX, 1) void ordering_sort(struct ordering_args a) {
    simt_arena arena = simt_shared_arena();
    const struct ordering_shared<TWO> s = carve_ordering<TWO>(arena, simt_threads());
    const uint32_t blocks = simt_cluster_size(), clusters = simt_blocks() / blocks;
    const uint32_t alone = (blocks == 1 ? ORDERING_HELD : 1) * simt_threads();
    simt_cluster_arrive_relaxed();
    simt_wait_predecessor();
    simt_cluster_wait();
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block() / blocks; row < a.rows.rows; row += clusters) {
        list_task<Element, TWO> t = {a, s, row, row_at(a.rows, row), 0};
        if (row != simt_block() / blocks) {
            TOPK_REACHED(REACHED_ORDERING_NEXT_ROW);
            simt_cluster_sync();
        }
        t.count = (uint32_t)t.r.k;
        if (a.may_be_fewer)
            t.r.k = t.count = count_results(t);
        if (t.count <= alone)
            sort_alone(t);
        else
            sort_together(t);
        pad_row<Element>(a.rows, row, t.r, share{simt_cluster_rank(), blocks});
    }
}

#endif
