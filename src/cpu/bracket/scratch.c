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
    const int64_t n = plan->operation == TOPK_OPERATION_KTH ? length_cap / 2 + 1 : length_cap;
    return (size_t)(plan->problem.k_max < n ? plan->problem.k_max : n);
}

struct scratch_sizes topk_cpu_scratch_sizes(const struct plan *plan, int threads, int64_t length_cap,
                                            bool pooled) {
    const size_t n = (size_t)length_cap, bytes = plan->element_bytes;
    const size_t k = topk_cpu_bracket_slots(plan, length_cap), slots = words_of(k) * WORD;
    const size_t cached = (size_t)(SAMPLES_MAX > BISECT_MAX ? SAMPLES_MAX : BISECT_MAX);
    const bool selects = operation_selects(plan->operation), wide = length_cap > WIDE_ROW;
    const bool sorts = selects && plan->problem.order == TOPK_ORDER_BEST_FIRST;
    const bool merges = selects && plan->problem.order == TOPK_ORDER_BY_POSITION && pooled;
    struct scratch_sizes s = {
        .threads = threads,
        .element_bytes = bytes,
        .position_bytes = wide ? 8 : 4,
        .tiles = pooled ? n / TILE + 1 : 0,
        .matches = plan->operation == TOPK_OPERATION_SELECT_WHERE ? TILE / WORD : 0,
        .sample_keys = words_of(cached < n ? cached : n) * WORD,
        .digit_counts = sorts ? RADIX_BINS : 0,
        .slots = {selects ? slots : 0, sorts || merges ? slots : 0},
        .sort_keys = sorts ? slots : 0,
        .short_row = topk_cpu_short_row_sizes(plan, length_cap < SHORT_ROW_MAX ? length_cap : SHORT_ROW_MAX)};
    const size_t place_bytes = bytes + (selects ? s.position_bytes : 0);
    s.capacity = pooled ? pool_capacity(n, k, bytes, place_bytes) : wide && selects ? k : 0;
    s.pool_values = words_of(s.capacity) * WORD;
    s.pool_positions = selects ? s.pool_values : 0;
    return s;
}

struct scratch topk_cpu_scratch_take(struct arena *arena, const struct scratch_sizes *sizes) {
    const size_t members = (size_t)sizes->threads;
    struct scratch s = {
        .threads = sizes->threads, .capacity = sizes->capacity, .position_bytes = sizes->position_bytes};
    s.pool_values = arena_take(arena, sizes->pool_values, sizes->element_bytes);
    s.pool_positions = arena_take(arena, sizes->pool_positions, sizes->position_bytes);
    s.tiles = arena_take(arena, sizes->tiles, sizeof *s.tiles);
    s.masks = arena_take(arena, members, 2 * (TILE_MAX / WORD) * sizeof *s.masks);
    s.matches = arena_take(arena, members, sizes->matches * sizeof *s.matches);
    s.totals = arena_take(arena, members, sizeof *s.totals);
    s.sample_keys = arena_take(arena, sizes->sample_keys, sizes->element_bytes);
    s.bins = arena_take(arena, members, HISTOGRAM_BINS * sizeof *s.bins);
    s.digit_counts = arena_take(arena, members, sizes->digit_counts * sizeof *s.digit_counts);
    for (int i = 0; i < 2; i++) {
        s.slots[i] = arena_take(arena, sizes->slots[i], sizeof *s.slots[i]);
        s.sort_keys[i] = arena_take(arena, sizes->sort_keys, sizes->element_bytes);
    }
    s.short_row = topk_cpu_short_row_take(arena, &sizes->short_row);
    return s;
}
