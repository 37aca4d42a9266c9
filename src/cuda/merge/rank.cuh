/* SPDX-License-Identifier: Apache-2.0
 * Merging sorted lists: a candidate's rank is its place in its own list, and what searches in the other lists
 * find before it. Blocks share the lists of a row. A lane of the first warp has each list.
 *
 * Of the lists that have at least n entries, if these are at least k together, the last of the n-th entries
 * is the cut: nothing behind it is a result. So few entries are searched for. These gather in a queue in
 * shared memory, for threads share their searches: an entry and a list for each thread. */
#ifndef TOPK_SRC_CUDA_MERGE_RANK_CUH
#define TOPK_SRC_CUDA_MERGE_RANK_CUH

#include "candidates.cuh"

struct merge_rank_shared {
    simt_shared<int64_t> begins, lengths; /* of each list: its first element, and how many there are */
    simt_shared<uint64_t> cut;            /* its key and index; and how many entries there are, at least */
    simt_shared<uint32_t> sums;           /* of warps */
    /* Of each entry of the queue. */
    simt_shared<uint64_t> keys, indices, elements, ranks;
    simt_shared<uint32_t> lists;
};

TOPK_HOST_DEVICE struct merge_rank_shared carve_merge_rank(simt_arena &arena) {
    struct merge_rank_shared s = {};
    s.begins = simt_carve<int64_t>(arena, MERGE_LISTS);
    s.lengths = simt_carve<int64_t>(arena, MERGE_LISTS);
    s.cut = simt_carve<uint64_t>(arena, 3);
    s.keys = simt_carve<uint64_t>(arena, MERGE_QUEUE);
    s.indices = simt_carve<uint64_t>(arena, MERGE_QUEUE);
    s.elements = simt_carve<uint64_t>(arena, MERGE_QUEUE);
    s.ranks = simt_carve<uint64_t>(arena, MERGE_QUEUE);
    s.lists = simt_carve<uint32_t>(arena, MERGE_QUEUE);
    s.sums = simt_carve<uint32_t>(arena, MERGE_THREADS / SIMT_WARP);
    return s;
}

/* The lists of a row, or some of its runs; and the block's part of them. */
template <typename Element> struct rank_task {
    typedef merge_rank<Element> ranked;

    const struct merge_args &a;
    const struct merge_rank_shared &s;
    const void *values, *indices;
    bool has_runs;
    int64_t row;
    uint64_t first;    /* slot of the row that the first result goes to */
    uint64_t capacity; /* of a list */
    uint64_t wanted;   /* results */
    uint32_t lists, part;

    TOPK_MEMBER key_word_t<Element> bits(int64_t element) const {
        return ((const Element *)values)[element];
    }
    TOPK_MEMBER int64_t index(int64_t element) const {
        return read_extent(indices, element, a.rows.wide_indices);
    }
    TOPK_MEMBER ranked rank_of(int64_t element) const {
        return ranked{has_runs && a.by_position ? 0 : key_of<Element>(bits(element), a.rows.map),
                      index(element)};
    }
    /* Whether it is an entry, and before another one. */
    TOPK_MEMBER bool precedes(int64_t element, const ranked &other) const {
        const ranked here = rank_of(element);
        return here.index >= 0 && here.is_before(other);
    }
    /* Entries of a list before that one, up to `most`. Three at a time are asked, side by side. */
    TOPK_MEMBER uint64_t count_before(uint32_t list, const ranked &other, uint64_t most) const {
        const int64_t begin = s.begins[list];
        uint64_t low = 0, high = most;
        while (high - low > 3) {
            const uint64_t quarter = (high - low) / 4;
            const bool is_first = precedes(begin + (int64_t)(low + quarter), other);
            const bool is_second = precedes(begin + (int64_t)(low + 2 * quarter), other);
            const bool is_third = precedes(begin + (int64_t)(low + 3 * quarter), other);
            const uint64_t from = low;
            low = is_third    ? from + 3 * quarter + 1
                  : is_second ? from + 2 * quarter + 1
                  : is_first  ? from + quarter + 1
                              : from;
            high = is_third    ? high
                   : is_second ? from + 3 * quarter
                   : is_first  ? from + 2 * quarter
                               : from + quarter;
        }
        uint64_t before = low;
#pragma unroll
        for (uint32_t i = 0; i < 3; i++)
            before += low + i < high && precedes(begin + (int64_t)(low + i), other);
        return before;
    }
};

/* Notes begin and length of each list. The first warp. Returns the length of the lane's list. */
template <typename Element> TOPK_DEVICE uint64_t note_lists(const rank_task<Element> &t) {
    const struct merge_args &a = t.a;
    const uint32_t list = simt_lane();
    int64_t begin = 0, length = 0;
    if (list < t.lists && t.has_runs) {
        const int64_t slot = (int64_t)(t.first + list * t.capacity);
        begin = t.row * a.rows.k_max + slot;
        length = clamp_extent(a.counts[t.row] - slot, (int64_t)t.capacity);
    } else if (list < t.lists) {
        begin = list * a.list_stride + t.row * a.rows.row_stride;
        length = length_of_list(a, list, t.row);
    }
    t.s.begins[list] = begin;
    t.s.lengths[list] = length;
    return (uint64_t)length;
}

/* The last of the lanes' entries. All lanes. */
template <typename Element> TOPK_DEVICE merge_rank<Element> last_of_lanes(merge_rank<Element> mine) {
#pragma unroll
    for (uint32_t lanes = SIMT_WARP / 2; lanes != 0; lanes /= 2) {
        const merge_rank<Element> other = {
            simt_shuffle_xor(SIMT_ALL_LANES, mine.key, lanes),
            (int64_t)simt_shuffle_xor(SIMT_ALL_LANES, (uint64_t)mine.index, lanes)};
        if (mine.is_before(other))
            mine = other;
    }
    return mine;
}

/* Finds the cut. Returns whether there is one. The first warp. */
template <typename Element> TOPK_DEVICE bool find_cut(const rank_task<Element> &t, uint64_t length) {
    const merge_rank<Element> before_all = {(key_word_t<Element>)~(key_word_t<Element>)0, -1};
    uint32_t lists = t.lists;
    while (lists > 0 && t.wanted > 0) {
        const uint64_t depth = (t.wanted + lists - 1) / lists;
        merge_rank<Element> mine = before_all;
        bool has_entry = length >= depth;
        if (has_entry) {
            mine = t.rank_of((int64_t)t.s.begins[simt_lane()] + (int64_t)depth - 1);
            has_entry = mine.index >= 0;
        }
        const uint32_t deep = simt_popc(simt_ballot(SIMT_ALL_LANES, has_entry));
        if (deep == lists) {
            const merge_rank<Element> cut = last_of_lanes(has_entry ? mine : before_all);
            if (simt_lane() == 0) {
                t.s.cut[0] = cut.key;
                t.s.cut[1] = (uint64_t)cut.index;
                t.s.cut[2] = t.wanted;
            }
            return true;
        }
        lists = deep;
    }
    return false;
}

/* Counts a list's entries, behind which there is only padding. */
template <typename Element> TOPK_DEVICE uint64_t count_entries(const rank_task<Element> &t, uint64_t length) {
    const int64_t begin = t.s.begins[simt_lane()];
    uint64_t low = 0, high = length;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (t.index(begin + (int64_t)middle) >= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* All that the block has to know before. All threads; ends with a barrier. */
template <typename Element> TOPK_DEVICE void open_lists(const rank_task<Element> &t) {
    if (simt_warp() == 0) {
        const uint64_t length = note_lists(t);
        simt_warp_sync(SIMT_ALL_LANES);
        const bool has_cut = !t.has_runs && find_cut(t, length);
        const uint64_t entries = t.has_runs || has_cut ? length : count_entries(t, length);
        const uint64_t all = simt_reduce_add(SIMT_ALL_LANES, entries);
        if (simt_lane() == 0 && !has_cut) {
            TOPK_REACHED(REACHED_MERGE_NO_CUT);
            t.s.cut[0] = 0; /* behind all */
            t.s.cut[1] = INT64_MAX;
            t.s.cut[2] = all;
        }
    }
    simt_block_sync();
}

/* A thread's candidates. */
template <typename Element> struct rank_items {
    merge_rank<Element> ranks[MERGE_ITEMS];
    int64_t elements[MERGE_ITEMS];
    uint64_t places[MERGE_ITEMS]; /* in their lists */
    uint32_t lists[MERGE_ITEMS];
    uint32_t chosen; /* a bit for each that may be a result */
    bool is_invalid;
};

/* Loads the candidates of warps' pieces of 32: neighbouring ones go to different blocks, for results lie
 * together. */
template <typename Element>
TOPK_DEVICE void load_items(const rank_task<Element> &t, uint64_t round, rank_items<Element> &items) {
    const uint64_t pieces_of_list = (t.capacity + SIMT_WARP - 1) / SIMT_WARP,
                   pieces = t.lists * pieces_of_list;
    const merge_rank<Element> cut = {(key_word_t<Element>)t.s.cut[0], (int64_t)(uint64_t)t.s.cut[1]};
    items.chosen = 0;
#pragma unroll
    for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
        const uint64_t piece = ((round * MERGE_ITEMS + i) * simt_warps() + simt_warp()) * t.a.parts + t.part;
        items.lists[i] = 0;
        items.elements[i] = -1;
        if (piece < pieces) {
            const uint32_t list = (uint32_t)(pieces <= UINT32_MAX ? (uint32_t)piece / (uint32_t)pieces_of_list
                                                                  : piece / pieces_of_list);
            items.lists[i] = list;
            items.places[i] = (piece - list * pieces_of_list) * SIMT_WARP + simt_lane();
            if (items.places[i] < (uint64_t)(int64_t)t.s.lengths[list])
                items.elements[i] = (int64_t)t.s.begins[list] + (int64_t)items.places[i];
        }
        items.ranks[i] = {0, MERGE_NONE};
        if (items.elements[i] >= 0)
            items.ranks[i] = t.rank_of(items.elements[i]);
    }
#pragma unroll
    for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
        const int64_t index = items.ranks[i].index;
        const bool is_chosen = index >= 0 && items.places[i] < t.wanted && !cut.is_before(items.ranks[i]);
        items.is_invalid |= index < MERGE_NONE;
        items.chosen |= (uint32_t)is_chosen << i;
    }
}

/* Puts those chosen items into the queue whose numbers, from `before` on, are in it. */
template <typename Element>
TOPK_DEVICE void queue_items(const rank_task<Element> &t, const rank_items<Element> &items, uint32_t before,
                             uint32_t first) {
    uint32_t slot = before - first; /* wraps around for what was in the queue before */
#pragma unroll
    for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
        if ((items.chosen >> i & 1) == 0)
            continue;
        if (slot < MERGE_QUEUE) {
            t.s.keys[slot] = items.ranks[i].key;
            t.s.indices[slot] = (uint64_t)items.ranks[i].index;
            t.s.elements[slot] = (uint64_t)items.elements[i];
            t.s.ranks[slot] = items.places[i];
            t.s.lists[slot] = items.lists[i];
        }
        slot++;
    }
}

template <typename Element>
TOPK_DEVICE merge_rank<Element> queued(const rank_task<Element> &t, uint32_t slot) {
    return merge_rank<Element>{(key_word_t<Element>)t.s.keys[slot], (int64_t)(uint64_t)t.s.indices[slot]};
}

/* Finds the ranks of what is queued, and writes what is a result. All threads, after a barrier; ends with
 * one. */
template <typename Element> TOPK_DEVICE void rank_queue(const rank_task<Element> &t, uint32_t count) {
#pragma unroll 1
    for (uint32_t pair = simt_thread(); pair < count * t.lists; pair += simt_threads()) {
        const uint32_t slot = pair / t.lists, list = pair % t.lists;
        if (list == t.s.lists[slot])
            continue;
        const uint64_t length = (uint64_t)(int64_t)t.s.lengths[list],
                       most = length < t.wanted ? length : t.wanted;
        const uint64_t before = t.count_before(list, queued(t, slot), most);
        if (before > 0)
            simt_atomic_add(&t.s.ranks[slot], before);
    }
    simt_block_sync();
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < count; slot += simt_threads()) {
        const uint64_t rank = t.s.ranks[slot];
        const int64_t element = (int64_t)(uint64_t)t.s.elements[slot];
        if (rank < t.wanted)
            put_sorted<Element>(t.a, t.row * t.a.rows.k_max + (int64_t)(t.first + rank),
                                t.has_runs ? t.a.from.at[element] : element, t.bits(element),
                                (int64_t)(uint64_t)t.s.indices[slot]);
    }
    simt_block_sync();
}

/* Returns whether the thread saw an index that is not allowed. All threads. */
template <typename Element> TOPK_DEVICE bool rank_lists(const rank_task<Element> &t) {
    const uint64_t of_round = (uint64_t)MERGE_ITEMS * simt_warps() * t.a.parts;
    const uint64_t pieces = t.lists * ((t.capacity + SIMT_WARP - 1) / SIMT_WARP);
    rank_items<Element> items;
    items.is_invalid = false;
#pragma unroll 1
    for (uint64_t round = 0; round * of_round < pieces; round++) {
        uint32_t total;
        load_items(t, round, items);
        const uint32_t before = block_scan(t.s.sums, simt_popc(items.chosen), &total);
#pragma unroll 1
        for (uint32_t first = 0; first < total; first += MERGE_QUEUE) {
            if (first > 0)
                TOPK_REACHED(REACHED_MERGE_FULL_QUEUE);
            queue_items(t, items, before, first);
            simt_block_sync();
            rank_queue(t, total - first < MERGE_QUEUE ? total - first : (uint32_t)MERGE_QUEUE);
        }
        if (total == 0)
            simt_block_sync();
    }
    return items.is_invalid;
}

/* What remains of a row of lists: padding, and what becomes of it if it is invalid. All threads. */
template <typename Element> TOPK_DEVICE void end_row(const rank_task<Element> &t, bool is_invalid) {
    const struct merge_args &a = t.a;
    const bool is_known_invalid = simt_block_count(is_invalid) > 0;
    const uint64_t entries = t.s.cut[2], results = entries < t.wanted ? entries : t.wanted;
    if (a.parts > 1 && simt_thread() == 0)
        a.invalid[t.row * a.parts + t.part] = is_known_invalid;
    if (a.parts == 1 && is_known_invalid)
        pad_merged<Element>(a, t.row, simt_thread(), simt_threads(), (uint64_t)a.rows.k_max,
                            MERGE_NOT_ALLOWED);
    else
        pad_merged<Element>(a, t.row, results + (uint64_t)t.part * simt_threads() + simt_thread(),
                            (uint64_t)a.parts * simt_threads(), (uint64_t)a.rows.k_max, MERGE_NONE);
}

template <typename Element>
TOPK_DEVICE rank_task<Element> rank_task_of(const struct merge_args &a, const struct merge_rank_shared &s,
                                            uint64_t unit, uint64_t groups) {
    const bool has_runs = a.from.values != nullptr;
    rank_task<Element> t = {a, s, has_runs ? a.from.values : a.rows.values,
                            has_runs ? a.from.indices : a.rows.payload, has_runs};
    const uint64_t number = unit / a.parts;
    t.part = (uint32_t)(unit % a.parts);
    t.row = (int64_t)(number / groups);
    if (has_runs) {
        const uint64_t runs = ((uint64_t)a.rows.k_max + (uint64_t)a.run - 1) / (uint64_t)a.run;
        const uint64_t first_run = number % groups * MERGE_RUNS, rest = runs - first_run;
        t.first = first_run * (uint64_t)a.run;
        t.capacity = (uint64_t)a.run;
        t.lists = (uint32_t)(rest < MERGE_RUNS ? rest : MERGE_RUNS);
        t.wanted = ~(uint64_t)0;
    } else {
        t.first = 0;
        t.capacity = (uint64_t)a.rows.length_max;
        t.lists = (uint32_t)a.lists;
        t.wanted = (uint64_t)wanted_of_row(a.rows, t.row);
    }
    return t;
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(MERGE_THREADS, 1) void merge_rank_lists(struct merge_args a) {
    const uint64_t of_group = (uint64_t)a.run * MERGE_RUNS;
    const uint64_t groups = a.from.values != nullptr ? ((uint64_t)a.rows.k_max + of_group - 1) / of_group : 1;
    simt_arena arena = simt_shared_arena();
    const struct merge_rank_shared s = carve_merge_rank(arena);
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    if (a.has_successor)
        simt_allow_successor();
    for (uint64_t unit = simt_block(); unit < (uint64_t)a.rows.rows * groups * a.parts;
         unit += simt_blocks()) {
        const rank_task<Element> t = rank_task_of<Element>(a, s, unit, groups);
        if (unit != simt_block()) {
            TOPK_REACHED(REACHED_MERGE_NEXT_LISTS);
            simt_block_sync();
        }
        open_lists(t);
        const bool is_invalid = rank_lists(t);
        if (!t.has_runs)
            end_row(t, is_invalid);
    }
}

/* Rows that some block found invalid. */
template <typename Element> TOPK_KERNEL TOPK_BOUNDS(MERGE_THREADS, 1) void merge_finish(struct merge_args a) {
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        bool is_invalid = false;
        for (uint32_t part = simt_thread(); part < a.parts; part += simt_threads())
            is_invalid |= a.invalid[row * a.parts + part] != 0;
        if (simt_block_count(is_invalid) > 0)
            pad_merged<Element>(a, row, simt_thread(), simt_threads(), (uint64_t)a.rows.k_max,
                                MERGE_NOT_ALLOWED);
    }
}

#endif
