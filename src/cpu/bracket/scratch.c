/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include "../short_row.h"

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

struct scratch topk_cpu_scratch_take(struct arena *arena, const struct plan *plan, int threads,
                                     int64_t length_cap, bool pooled) {
    const topk_problem *p = &plan->problem;
    const size_t n = (size_t)length_cap, members = (size_t)threads, bytes = plan->element_bytes;
    const size_t k = topk_cpu_bracket_slots(plan, length_cap);
    const size_t cached = (size_t)(SAMPLES_MAX > BISECT_MAX ? SAMPLES_MAX : BISECT_MAX);
    const size_t cached_keys = words_of(cached < n ? cached : n) * WORD;
    const bool selects = operation_selects(plan->operation);
    const bool sorts = selects && p->order == TOPK_ORDER_BEST_FIRST;
    const bool wide = length_cap > WIDE_ROW;
    struct scratch s = {.threads = threads, .position_bytes = wide ? 8 : 4};
    const size_t place_bytes = bytes + (selects ? s.position_bytes : 0);
    s.capacity = pooled ? pool_capacity(n, k, bytes, place_bytes) : wide && selects ? k : 0;
    const size_t pool = words_of(s.capacity) * WORD;
    s.pool_values = arena_take(arena, pool, bytes);
    s.pool_positions = arena_take(arena, selects ? pool : 0, s.position_bytes);
    s.tiles = arena_take(arena, pooled ? n / TILE + 1 : 0, sizeof *s.tiles);
    s.masks = arena_take(arena, members, 2 * (TILE_MAX / WORD) * sizeof *s.masks);
    s.matches = arena_take(arena, plan->operation == TOPK_OPERATION_SELECT_WHERE ? members : 0,
                           (TILE / WORD) * sizeof *s.matches);
    s.totals = arena_take(arena, members, sizeof *s.totals);
    s.sample_keys = arena_take(arena, cached_keys, bytes);
    s.bins = arena_take(arena, members, HISTOGRAM_BINS * sizeof *s.bins);
    s.digit_counts = arena_take(arena, sorts ? members : 0, RADIX_BINS * sizeof *s.digit_counts);
    for (int i = 0; i < 2; i++) {
        s.slots[i] =
            arena_take(arena, selects && (sorts || i == 0) ? words_of(k) * WORD : 0, sizeof *s.slots[i]);
        s.sort_keys[i] = arena_take(arena, sorts ? words_of(k) * WORD : 0, bytes);
    }
    s.short_row =
        topk_cpu_short_row_take(arena, plan, length_cap < SHORT_ROW_MAX ? length_cap : SHORT_ROW_MAX);
    return s;
}
