/* SPDX-License-Identifier: Apache-2.0 */
#include "short_row.h"

struct short_row_sizes topk_cpu_short_row_sizes(const struct plan *plan, int64_t length_max) {
    const int64_t k_max = plan->problem.k_max < length_max ? plan->problem.k_max : length_max;
    if (length_max <= FEW_KEYS && !plan->approximate) {
        return (struct short_row_sizes){.element_bytes = plan->element_bytes}; /* run_few() takes none */
    }
    const size_t keys = words_of((size_t)length_max) * WORD;
    const size_t hits = (words_of(hits_room((size_t)length_max, (size_t)k_max)) + 1) * WORD;
    const bool sorts = operation_selects(plan->operation) && plan->problem.order == TOPK_ORDER_BEST_FIRST;
    return (struct short_row_sizes){.element_bytes = plan->element_bytes,
                                    .matches = operation_filters(plan->operation) ? keys : 0,
                                    .keys = keys,
                                    .hits = hits,
                                    .entries = sorts ? hits : 0};
}

struct short_row topk_cpu_short_row_take(struct arena *arena, const struct short_row_sizes *sizes) {
    struct short_row row = {.guesses = false};
    row.matches = arena_take(arena, sizes->matches, sizes->element_bytes);
    row.positions = arena_take(arena, sizes->matches, sizeof *row.positions);
    row.keys = arena_take(arena, sizes->keys, sizes->element_bytes);
    row.hits = arena_take(arena, sizes->keys / WORD, sizeof *row.hits);
    for (int i = 0; i < 2; i++) {
        row.hit_keys[i] = arena_take(arena, sizes->hits, sizes->element_bytes);
        row.slots[i] = arena_take(arena, sizes->hits, sizeof *row.slots[i]);
        row.entries[i] = arena_take(arena, sizes->entries, sizeof *row.entries[i]);
    }
    return row;
}

/* Rows of a call often resemble each other: the threshold that was found for one is the guess for the next.
 */
static void guess_anew(const struct order *order, struct short_row *buffers) {
    if (buffers->searched && buffers->guesses) {
        buffers->not_above = topk_threshold_arcs(order, buffers->threshold).not_above;
    }
}

/* The k-th of n elements. */
static void kth_short(const struct call *call, const struct kernels *kernels, int64_t row,
                      const void *elements, size_t n, int64_t k, struct short_row *buffers) {
    const struct plan *plan = call->plan;
    struct kth_search search;
    topk_cpu_kth_search(plan, n, (size_t)k, &search);
    const struct maps maps = {search.map, &plan->point_map};
    buffers->guesses = buffers->guesses && buffers->reversed == search.reversed;
    buffers->reversed = search.reversed;
    struct kth kth = kernels->kth_short(elements, n, search.k, &maps, buffers);
    guess_anew(search.order, buffers);
    topk_cpu_kth_found(&search, n, &kth);
    topk_cpu_write_kth(call, row, &kth);
}

/* Moves the matches of a row together, `with_positions` or without, unless they are the whole row; returns
 * their number. */
static size_t gather_matches(const struct kernels *kernels, const struct matcher *matcher,
                             const char *elements, struct row_extent extent, bool with_positions,
                             const struct short_row *buffers) {
    const size_t n = (size_t)extent.length, words = words_of(n);
    uint64_t *mask = buffers->hits; /* which is not in use yet */
    const size_t count = topk_cpu_matcher_mask(matcher, (size_t)extent.begin, n, mask);
    if (count < n) {
        (void)kernels->take(elements, mask, words, buffers->matches, count);
    }
    if (count < n && with_positions) {
        (void)kernels->positions32(mask, words, 0, buffers->positions, count);
    }
    return count;
}

static uint64_t key_at(const struct plan *plan, const void *elements, uint32_t slot) {
    return topk_key_encode(read_element(elements, slot, plan->element_bytes), plan->element_bits, &plan->map);
}

/* The k-th of n elements that are sorted: its equals are its neighbours. */
static void kth_few(const struct call *call, int64_t row, const void *elements, size_t n, size_t k,
                    const uint32_t *slots) {
    const struct plan *plan = call->plan;
    const uint64_t kth = key_at(plan, elements, slots[k - 1]);
    size_t above = k - 1, end = k;
    while (above > 0 && key_at(plan, elements, slots[above - 1]) == kth) {
        above--;
    }
    while (end < n && key_at(plan, elements, slots[end]) == kth) {
        end++;
    }
    topk_cpu_write_kth(call, row, &(struct kth){kth, above, end - above});
}

/* Puts different slots below FEW_KEYS in ascending order. */
static void sort_slots(uint32_t *slots, size_t count) {
    uint64_t mask = 0;
    for (size_t i = 0; i < count; i++) {
        mask |= 1ull << slots[i];
    }
    for (; mask != 0; mask &= mask - 1) {
        *slots++ = (uint32_t)__builtin_ctzll(mask);
    }
}

/* Selects 1 or more of a row of 1 to FEW_KEYS elements; returns how many results there are. */
static size_t run_few(const struct call *call, const struct kernels *kernels, const struct matcher *matcher,
                      int64_t row, struct row_extent extent, int64_t wanted) {
    const struct plan *plan = call->plan;
    const struct source source = {
        (const char *)call->input.values + (size_t)extent.begin * plan->element_bytes, NULL, 0};
    const size_t n = (size_t)extent.length;
    uint32_t slots[FEW_KEYS];
    uint64_t only = (1ull << n) - 1;
    const size_t count = matcher == NULL ? n : topk_cpu_matcher_mask(matcher, (size_t)extent.begin, n, &only);
    const size_t k = (size_t)wanted < count ? (size_t)wanted : count;
    kernels->sort_few(source.values, n, only, &plan->map, slots);
    if (operation_is_kth(plan->operation)) {
        if (k < (size_t)wanted) {
            topk_cpu_write_kth_padding(call, row, wanted, (int64_t)count);
        } else {
            kth_few(call, row, source.values, count, k, slots);
        }
    } else {
        if (plan->problem.order == TOPK_ORDER_BY_POSITION) {
            sort_slots(slots, k);
        }
        topk_cpu_write_slots(call, row * plan->problem.k_max, &source, extent.begin, slots, k);
    }
    return k;
}

static void kth_row(const struct call *call, const struct kernels *kernels, const struct matcher *matcher,
                    int64_t row, struct row_extent extent, int64_t wanted, struct short_row *buffers) {
    const void *elements =
        (const char *)call->input.values + (size_t)extent.begin * call->plan->element_bytes;
    int64_t n = extent.length;
    if (wanted > 0 && n > 0 && n <= FEW_KEYS) {
        (void)run_few(call, kernels, matcher, row, extent, wanted);
        return;
    }
    if (matcher != NULL && wanted > 0 && n > 0) {
        n = (int64_t)gather_matches(kernels, matcher, elements, extent, false, buffers);
        elements = n < extent.length ? buffers->matches : elements;
    }
    if (wanted == 0 || wanted > n) {
        topk_cpu_write_kth_padding(call, row, wanted, n);
    } else {
        kth_short(call, kernels, row, elements, (size_t)n, wanted, buffers);
    }
}

void topk_cpu_short_row_run(const struct call *call, const struct kernels *kernels,
                            const struct matcher *matcher, const struct approximation *approximation,
                            int64_t row, struct row_extent extent, struct short_row *buffers) {
    const struct plan *plan = call->plan;
    const int64_t wanted = plan_row_k(plan, &call->input, row);
    if (operation_is_kth(plan->operation)) {
        kth_row(call, kernels, matcher, row, extent, wanted, buffers);
        return;
    }
    size_t n = (size_t)extent.length, k = 0;
    if (wanted > 0 && n > 0 && n <= FEW_KEYS && approximation == NULL) {
        k = run_few(call, kernels, matcher, row, extent, wanted);
    } else if (wanted > 0 && n > 0) {
        const char *elements = (const char *)call->input.values + (size_t)extent.begin * plan->element_bytes;
        struct source source = {elements, NULL, 0};
        const bool sorted = plan->problem.order == TOPK_ORDER_BEST_FIRST;
        if (matcher != NULL) {
            n = gather_matches(kernels, matcher, elements, extent, true, buffers);
        }
        if (n < (size_t)extent.length) {
            source = (struct source){buffers->matches, buffers->positions, sizeof *buffers->positions};
        }
        k = (size_t)wanted < n ? (size_t)wanted : n;
        if (k > 0) {
            const struct maps maps = {&plan->map, &plan->point_map};
            const uint32_t *slots =
                kernels->select_short(source.values, n, k, &maps, approximation, sorted, buffers);
            guess_anew(&plan->order, buffers);
            topk_cpu_write_slots(call, row * plan->problem.k_max, &source, extent.begin, slots, k);
        }
    }
    topk_cpu_write_padding(call, row, k);
}
