/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

/* Beyond k the pool takes a ninth of the row's bytes at most, because the bound of CONTRACT.md 7.2 has an
 * eighth for all that grows with the row. */
static size_t pool_capacity(size_t n, size_t k, size_t element_bytes, size_t place_bytes) {
    const size_t ninth = 9 * place_bytes / element_bytes, share = ninth > POOL_SHARE ? ninth : POOL_SHARE;
    const size_t wanted = k + n / share + POOL_SLACK;
    return wanted < n ? wanted : n;
}

size_t topk_cpu_bracket_slots(const struct plan *plan, int64_t length_cap) {
    /* kth counts from the nearer end. */
    const int64_t n = operation_is_kth(plan->operation) ? length_cap / 2 + 1 : length_cap;
    return (size_t)(plan->problem.k_max < n ? plan->problem.k_max : n);
}

/* Of a list (kernels.h). */
static size_t entry_bytes(size_t element_bytes) {
    return element_bytes == 8 ? sizeof(uint64_t) + sizeof(uint32_t) : sizeof(uint64_t);
}

/* More threads than caches full of results would only take memory, and so would many with large scratches. */
static int sort_threads(int threads, size_t k, size_t in_cache) {
    const size_t most = in_cache > IN_CACHE_MAX ? SORT_THREADS_MAX / 2 : SORT_THREADS_MAX;
    const size_t caches = k / IN_CACHE_MAX + 1, worthwhile = caches < most ? caches : most;
    return worthwhile < (size_t)threads ? (int)worthwhile : threads;
}

struct scratch_sizes topk_cpu_scratch_sizes(const struct plan *plan, int threads, int64_t length_cap,
                                            bool pooled) {
    const size_t n = (size_t)length_cap, bytes = plan->element_bytes;
    const size_t k = topk_cpu_bracket_slots(plan, length_cap), slots = words_of(k) * WORD;
    const size_t cached = (size_t)(SAMPLES_MAX > BISECT_MAX ? SAMPLES_MAX : BISECT_MAX);
    const bool selects = operation_selects(plan->operation), wide = length_cap > WIDE_ROW;
    const bool sorts = selects && plan->problem.order == TOPK_ORDER_BEST_FIRST;
    const bool merges = selects && plan->problem.order == TOPK_ORDER_BY_POSITION && pooled;
    const bool listed = sorts && k >= LISTED_MIN;
    const size_t in_cache =
        k > (size_t)BUCKETS_FEW * BUCKET_ENTRIES ? LARGE_IN_CACHE_MAX : (size_t)IN_CACHE_MAX;
    struct scratch_sizes s = {
        .threads = threads,
        .element_bytes = bytes,
        .position_bytes = wide ? 8 : 4,
        .tiles = pooled ? n / TILE + 1 : 0,
        .matches = operation_filters(plan->operation) ? TILE / WORD : 0,
        .sample_keys = words_of(cached < n ? cached : n) * WORD,
        .slots = {listed    ? words_of(LISTED_MIN) * WORD
                  : selects ? slots
                            : 0,
                  merges ? slots : 0},
        .sort_threads = listed ? sort_threads(threads, k, in_cache) : 0,
        .in_cache = in_cache,
        .short_row = topk_cpu_short_row_sizes(plan, length_cap < SHORT_ROW_MAX ? length_cap : SHORT_ROW_MAX)};
    const size_t pool_bytes = bytes + (selects ? s.position_bytes : 0), list_bytes = entry_bytes(bytes);
    const size_t place_bytes = !listed ? pool_bytes : wide ? pool_bytes + 2 * list_bytes : 2 * list_bytes;
    s.capacity = pooled ? pool_capacity(n, k, bytes, place_bytes) : listed || (wide && selects) ? k : 0;
    s.lists = listed ? words_of(s.capacity) * WORD : 0;
    s.pool_values = words_of(s.capacity) * WORD;
    s.pool_positions = selects ? s.pool_values : 0;
    return s;
}

static struct list take_list(struct arena *arena, const struct scratch_sizes *sizes) {
    const size_t slots = sizes->element_bytes == 8 ? sizes->lists : 0;
    struct list list = {.entries = arena_take(arena, sizes->lists, sizeof *list.entries)};
    list.slots = arena_take(arena, slots, sizeof *list.slots);
    return list;
}

/* The pool, and the lists. A list's memory is the pool's where 4 bytes hold a position: then it is read
 * before anything is written there, and an entry takes as much room as an element and its position, or more.
 */
static void take_pool(struct arena *arena, const struct scratch_sizes *sizes, struct scratch *s) {
    s->lists[0] = take_list(arena, sizes);
    s->lists[1] = take_list(arena, sizes);
    if (sizes->lists == 0 || sizes->position_bytes == 8) {
        s->pool_values = arena_take(arena, sizes->pool_values, sizes->element_bytes);
        s->pool_positions = arena_take(arena, sizes->pool_positions, sizes->position_bytes);
    } else {
        char *values = (char *)s->lists[1].entries;
        s->pool_values = values;
        s->pool_positions = sizes->element_bytes == 8 ? (void *)s->lists[1].slots
                            : values == NULL          ? NULL
                                                      : values + sizes->pool_values * sizes->element_bytes;
    }
}

struct scratch topk_cpu_scratch_take(struct arena *arena, const struct scratch_sizes *sizes) {
    const size_t members = (size_t)sizes->threads;
    struct scratch s = {
        .threads = sizes->threads, .capacity = sizes->capacity, .position_bytes = sizes->position_bytes};
    take_pool(arena, sizes, &s);
    s.tiles = arena_take(arena, sizes->tiles, sizeof *s.tiles);
    s.masks = arena_take(arena, members, 2 * (TILE_MAX / WORD) * sizeof *s.masks);
    s.matches = arena_take(arena, members, sizes->matches * sizeof *s.matches);
    s.totals = arena_take(arena, members, sizeof *s.totals);
    s.sample_keys = arena_take(arena, sizes->sample_keys, sizes->element_bytes);
    s.bins = arena_take(arena, members, HISTOGRAM_BINS * sizeof *s.bins);
    const size_t sorters = (size_t)sizes->sort_threads;
    s.sort_threads = sizes->sort_threads;
    s.in_cache = sizes->in_cache;
    s.sort_pitch = s.in_cache > BUCKET_LINES ? s.in_cache : BUCKET_LINES;
    s.sort_scratch = arena_take(arena, sorters, s.sort_pitch * sizeof *s.sort_scratch);
    s.slot_lines =
        arena_take(arena, sizes->element_bytes == 8 ? sorters : 0, BUCKET_LINES * sizeof(uint64_t));
    s.prefix_counts = arena_take(arena, sorters, PREFIXES * sizeof *s.prefix_counts);
    s.bucket_offsets = arena_take(arena, sorters, (size_t)2 * BUCKETS_MAX * sizeof *s.bucket_offsets);
    s.prefix_buckets = arena_take(arena, sorters > 0 ? PREFIXES : 0, sizeof *s.prefix_buckets);
    s.bucket_begins = arena_take(arena, sorters > 0 ? BUCKETS_MAX + 1 : 0, sizeof *s.bucket_begins);
    for (int i = 0; i < 2; i++) {
        s.slots[i] = arena_take(arena, sizes->slots[i], sizeof *s.slots[i]);
    }
    s.short_row = topk_cpu_short_row_take(arena, &sizes->short_row);
    return s;
}
