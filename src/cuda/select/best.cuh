/* SPDX-License-Identifier: Apache-2.0
 * The k best of what a kernel computes, for kernels of one's own: values and indices around the queues that
 * gridselect has. include/topk_device.cuh describes it. All lanes of a warp call each function, but for
 * wants() and bound(). */
#ifndef TOPK_SRC_CUDA_SELECT_BEST_CUH
#define TOPK_SRC_CUDA_SELECT_BEST_CUH

#include "block_queue.cuh"

/* float32 by value. A rank ascends from the best value on, and is the same for both zeros and for all NaN:
 * numbers have 0x7fffff to 0xff800000. */
template <bool LARGEST, bool NAN_FIRST> struct float_order {
    typedef float value;
    static const uint32_t NAN_RANK = NAN_FIRST ? 0 : 0xffc00000u;

    /* In integers, since floating-point operations may flush denormals. */
    static TOPK_MEMBER uint32_t rank_of(float v) {
        const uint32_t sign = 1u << 31, bits = simt_bits_of_float(v);
        if ((bits & ~sign) > 0x7f800000u)
            return NAN_RANK;
        const uint32_t ascending = bits >= sign ? sign - bits : bits; /* as integers */
        return LARGEST ? ~(ascending ^ sign) : ascending ^ sign;
    }
    static TOPK_MEMBER float value_of(uint32_t rank) {
        const uint32_t sign = 1u << 31, ascending = (LARGEST ? ~rank : rank) ^ sign;
        if (rank == NAN_RANK)
            return simt_float_of_bits(0x7fc00000u);
        return simt_float_of_bits(ascending >= sign ? sign - ascending : ascending);
    }
    static TOPK_MEMBER bool may_precede(float v, float bound) {
        return LARGEST ? !(v < bound) : !(v > bound);
    }
    static TOPK_MEMBER float no_bound(void) {
        return simt_float_of_bits(0x7fc00000u);
    }
};

typedef float_order<false, false> smallest_floats;
typedef float_order<true, false> largest_floats;

/* Values with indices as entries: one word for indices of 32 bits, two for 64. */
template <typename Order, typename Index> struct best_entries {
    typedef typename Order::value value;
    static const bool TWO = sizeof(Index) == 8;

    static TOPK_MEMBER struct entry entry_of(value v, Index index) {
        const uint32_t rank = Order::rank_of(v);
        return TWO ? entry{rank, (uint64_t)index} : entry{(uint64_t)rank << 32 | (uint32_t)index, 0};
    }
    static TOPK_MEMBER value value_of(const struct entry &e) {
        return Order::value_of((uint32_t)(TWO ? e.high : e.high >> 32));
    }
    static TOPK_MEMBER Index index_of(const struct entry &e) {
        return (Index)(TWO ? e.low : (uint32_t)e.high);
    }
    /* What values are compared with before they are pushed. */
    static TOPK_MEMBER value limit_of(const struct entry &bound) {
        return bound.high == ~(uint64_t)0 ? Order::no_bound() : value_of(bound);
    }
};

/* ---- Lists of their own ---- */

/* Some lists and their queues, each with the state that it was saved in. */
template <bool TWO> struct list_memory {
    entry_list<TWO> lists;        /* `capacity` slots for each */
    entry_list<TWO> queues;       /* a slot for each lane and list */
    entry_list<TWO> bounds;       /* of each list */
    simt_shared<uint32_t> states; /* of each: entries of the list, and in the lowest 5 bits of the queue */
    uint32_t capacity;
};

template <typename Order, typename Index>
struct best_of_warp : warp_queue<sizeof(Index) == 8, best_of_warp<Order, Index>> {
    typedef best_entries<Order, Index> entries;
    static const bool TWO = entries::TWO;
    typedef warp_queue<TWO, best_of_warp> base;
    typedef typename Order::value value;
    typedef list_memory<TWO> memory_type;
    const memory_type &memory;
    uint32_t number; /* of the list */
    value limit;

    TOPK_MEMBER best_of_warp(const memory_type &of_block, uint32_t which)
        : base{}, memory(of_block), number(which), limit(Order::no_bound()) {
    }

    TOPK_MEMBER void begin(uint32_t results) {
        base::k = results;
        base::queued = 0;
        base::list = warp_list<TWO>{memory.lists, number * memory.capacity, 0};
        base::bound = no_entry<TWO>();
        limit = Order::no_bound();
    }
    TOPK_MEMBER void resume(uint32_t results) {
        const uint32_t state = memory.states[number];
        base::k = results;
        base::queued = state % SIMT_WARP;
        base::list = warp_list<TWO>{memory.lists, number * memory.capacity, state / SIMT_WARP};
        base::bound = memory.bounds.get(number);
        limit = entries::limit_of(base::bound);
    }
    TOPK_MEMBER void save(void) const {
        simt_warp_sync(SIMT_ALL_LANES);
        if (simt_lane() == 0) {
            memory.states[number] = base::list.count * SIMT_WARP + base::queued;
            memory.bounds.put(number, base::bound);
        }
        simt_warp_sync(SIMT_ALL_LANES);
    }

    TOPK_MEMBER bool wants(value v) const {
        return Order::may_precede(v, limit);
    }
    TOPK_MEMBER value bound_value(void) const {
        return limit;
    }
    TOPK_MEMBER void push(bool is_candidate, value v, Index index) {
        const struct entry e = entries::entry_of(v, index);
        base::push_to_warp(is_candidate && is_before(e, base::bound), e);
    }

    TOPK_MEMBER void finish(void) {
        if (base::queued > 0)
            base::merge_queue();
    }
    TOPK_MEMBER uint32_t count(void) const {
        return base::list.count;
    }
    TOPK_MEMBER value value_at(uint32_t rank) const {
        return entries::value_of(base::list.get(rank));
    }
    TOPK_MEMBER Index index_at(uint32_t rank) const {
        return entries::index_of(base::list.get(rank));
    }

    /* For warp_queue. */
    TOPK_MEMBER const entry_list<TWO> &queue_entries(void) const {
        return memory.queues;
    }
    TOPK_MEMBER uint32_t queue_slot(uint32_t slot) const {
        return number * SIMT_WARP + slot;
    }
    TOPK_MEMBER void merged(void) {
        limit = entries::limit_of(base::bound);
    }
};

/* Of lists that are saved. Each lane calls these for a list of its own, between two barriers of the warp. */
template <typename Best>
TOPK_DEVICE typename Best::value saved_bound(const typename Best::memory_type &memory, uint32_t list) {
    return Best::entries::limit_of(memory.bounds.get(list));
}

template <typename Best>
TOPK_DEVICE uint64_t saved_word(const typename Best::memory_type &memory, uint32_t list, uint32_t rank) {
    return rank < memory.states[list] / SIMT_WARP ? memory.lists.get(list * memory.capacity + rank).high
                                                  : ~(uint64_t)0;
}

template <typename Best>
TOPK_DEVICE void tighten_saved(const typename Best::memory_type &memory, uint32_t list, uint64_t word) {
    const struct entry to = {word, Best::TWO ? ~(uint64_t)0 : 0};
    if (is_before(to, memory.bounds.get(list)))
        memory.bounds.put(list, to);
}

/* Merges the full queues of saved lists: of the lanes' lists where `is_full`, whose states have less. */
template <typename Best>
TOPK_DEVICE void merge_full(const typename Best::memory_type &memory, uint32_t k, bool is_full,
                            uint32_t list) {
    uint32_t lanes = simt_ballot(SIMT_ALL_LANES, is_full);
#pragma unroll 1
    for (; lanes != 0; lanes &= lanes - 1) {
        Best best(memory, simt_shuffle(SIMT_ALL_LANES, list, simt_ffs(lanes) - 1));
        best.resume(k);
        best.queued = SIMT_WARP;
        best.finish();
        best.save();
    }
}

/* Each lane pushes to a saved list of its own choice, all with the same k. In two steps, too: what finds no
 * room goes in once the queue has been merged. */
template <typename Best, typename Index>
TOPK_DEVICE void push_saved(const typename Best::memory_type &memory, uint32_t k, bool is_candidate,
                            uint32_t list, typename Best::value v, Index index) {
    const struct entry e = Best::entries::entry_of(v, index);
    bool waits = is_candidate && is_before(e, memory.bounds.get(list));
    while (simt_any(SIMT_ALL_LANES, waits)) {
        const uint32_t none = 1u << 31 | simt_lane(); /* is no list */
        const uint32_t peers = simt_match_any(SIMT_ALL_LANES, waits ? list : none);
        const uint32_t state = waits ? (uint32_t)memory.states[list] : 0, queued = state % SIMT_WARP;
        const uint32_t before = simt_popc(peers & ((1u << simt_lane()) - 1)), all = queued + simt_popc(peers);
        const bool leads = waits && before == 0, has_room = queued + before < SIMT_WARP;
        if (waits && has_room)
            memory.queues.put(list * SIMT_WARP + queued + before, e);
        simt_warp_sync(SIMT_ALL_LANES);
        if (leads && all < SIMT_WARP)
            memory.states[list] = state - queued + all;
        simt_warp_sync(SIMT_ALL_LANES);
        merge_full<Best>(memory, k, leads && all >= SIMT_WARP, list);
        waits = waits && !has_room && is_before(e, memory.bounds.get(list));
    }
}

template <bool TWO>
TOPK_HOST_DEVICE void carve_best_memory(simt_arena &arena, uint32_t lists, uint32_t k, list_memory<TWO> *to) {
    to->lists = carve_entries<TWO>(arena, lists * k);
    to->queues = carve_entries<TWO>(arena, lists * SIMT_WARP);
    to->bounds = carve_entries<TWO>(arena, lists);
    to->states = simt_carve<uint32_t>(arena, lists);
    to->capacity = k;
}

/* ---- One selection of all warps ---- */

template <bool TWO> struct team_memory : block_memory<TWO> { uint32_t capacity; };

template <typename Order, typename Index>
struct best_of_block : block_queue<sizeof(Index) == 8, best_of_block<Order, Index>> {
    typedef best_entries<Order, Index> entries;
    static const bool TWO = entries::TWO;
    typedef block_queue<TWO, best_of_block> base;
    typedef typename Order::value value;
    typedef team_memory<TWO> memory_type;
    const memory_type &memory;
    value limit;

    TOPK_MEMBER explicit best_of_block(const memory_type &of_block)
        : base{}, memory(of_block), limit(Order::no_bound()) {
    }

    TOPK_MEMBER void begin(uint32_t results) {
        simt_block_sync();
        base::begin(memory.capacity, results, no_entry<TWO>());
        limit = Order::no_bound();
        simt_block_sync();
    }
    TOPK_MEMBER bool wants(value v) const {
        return Order::may_precede(v, limit);
    }
    TOPK_MEMBER value bound_value(void) const {
        return limit;
    }
    TOPK_MEMBER void push(bool is_candidate, value v, Index index) {
        const struct entry e = entries::entry_of(v, index);
        base::push_to_warp(is_candidate && is_before(e, base::bound), e);
    }
    TOPK_MEMBER void listen(void) {
        base::tighten_by_block();
        limit = entries::limit_of(base::bound);
    }

    /* Calls put(rank, value, index). */
    template <typename Put> TOPK_MEMBER uint32_t finish(const Put &put) {
        base::merge_queue();
        simt_block_sync();
        const uint32_t all = rank_block<TWO>(memory, base::list, base::k, memory.capacity,
                                             [&](uint32_t rank, const struct entry &e) TOPK_LAMBDA {
                                                 put(rank, entries::value_of(e), entries::index_of(e));
                                             });
        simt_block_sync();
        return all;
    }

    /* For warp_queue. */
    TOPK_MEMBER const entry_list<TWO> &queue_entries(void) const {
        return memory.queues;
    }
    TOPK_MEMBER uint32_t queue_slot(uint32_t slot) const {
        return simt_warp() * SIMT_WARP + slot;
    }
    TOPK_MEMBER void merged(void) {
        base::merged();
        limit = entries::limit_of(base::bound);
    }
};

template <bool TWO>
TOPK_HOST_DEVICE void carve_best_memory(simt_arena &arena, uint32_t warps, uint32_t k, team_memory<TWO> *to) {
    to->lists = carve_entries<TWO>(arena, warps * k);
    to->queues = carve_entries<TWO>(arena, warps * SIMT_WARP);
    to->bounds = simt_carve<uint64_t>(arena, warps);
    to->bound = simt_carve<uint64_t>(arena, 1);
    to->counts = simt_carve<uint32_t>(arena, warps);
    to->capacity = k;
}

/* The memory of `lists` lists of a warp each, or of the `lists` warps of a block. */
template <typename Best>
TOPK_HOST_DEVICE typename Best::memory_type carve_best(simt_arena &arena, uint32_t lists, uint32_t k) {
    typename Best::memory_type memory = {};
    carve_best_memory(arena, lists, k, &memory);
    return memory;
}

#endif
