/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include "nodes.h"

enum { ALIGNMENT = 64 };

struct arena {
    uintptr_t base;
    size_t used; /* from `base` on; SIZE_MAX: too much */
};

/* count x bytes, on a cache line of its own. */
static void *take(struct arena *arena, int64_t count, size_t bytes) {
    size_t size, end;
    const uintptr_t at = arena->base + arena->used;
    const size_t gap = (ALIGNMENT - at % ALIGNMENT) % ALIGNMENT;
    if (arena->used == SIZE_MAX || __builtin_mul_overflow((size_t)count, bytes, &size) ||
        __builtin_add_overflow(arena->used + gap, size, &end) || end > SIZE_MAX / 4) {
        arena->used = SIZE_MAX;
        return NULL;
    }
    arena->used = end;
    return (void *)(at + gap); /* NOLINT(performance-no-int-to-ptr) */
}

static void take_lists(const struct topk_dist_plan *p, struct arena *arena, struct buffers *out) {
    const size_t value = topk_type_size(p->problem.type),
                 index = topk_dist_integer_bytes(p->problem.index_type);
    const size_t extent = topk_dist_integer_bytes(p->problem.extent_type);
    const int64_t ranks = p->group->ranks;
    const bool by_owner = p->options.destination == TOPK_DIST_OWNER;
    const int64_t sent_rows = by_owner ? ranks * p->block_rows : p->problem.rows;
    const bool moves = !topk_dist_is_placed(p) || topk_dist_places_lists(p);
    /* To an owner without rows blocks of nothing are sent all the same. */
    const int64_t got = moves && (p->got_rows > 0 || by_owner) ? ranks * p->block_rows : 0;
    if (topk_dist_has_lists(p)) {
        out->values = take(arena, sent_rows, (size_t)p->list_max * value);
        out->indices = take(arena, sent_rows, (size_t)p->list_max * index);
    }
    if (topk_dist_selects(p)) {
        out->got_values = take(arena, got, (size_t)p->list_max * value);
        out->got_indices = take(arena, got, (size_t)p->list_max * index);
        out->lengths = take(arena, moves && !p->on_device ? ranks * p->got_rows : 0, extent);
        out->ks = take(arena, p->problem.rows, extent);
    }
    if (topk_dist_is_placed(p)) {
        const int64_t winners = topk_dist_places_lists(p) ? p->winners_max : 0;
        out->winners = take(arena, p->problem.rows, (size_t)winners * index);
        if (p->on_device) {
            out->won_values = take(arena, p->problem.rows, (size_t)winners * value);
            out->won_marks = take(arena, p->problem.rows, (size_t)winners);
            out->marks = take(arena, got, (size_t)p->list_max);
        }
    }
}

/* By nodes. */
static void take_nodes(const struct topk_dist_plan *p, struct arena *arena, struct buffers *out) {
    const size_t value = topk_type_size(p->problem.type),
                 index = topk_dist_integer_bytes(p->problem.index_type);
    const size_t extent = topk_dist_integer_bytes(p->problem.extent_type);
    const bool leads = topk_dist_leads(p), by_owner = p->options.destination == TOPK_DIST_OWNER;
    const bool is_root = p->options.destination == TOPK_DIST_ROOT;
    const int64_t rows = p->problem.rows, ranks = leads ? p->nodes->within->ranks : 0;
    const int64_t node_rows = !leads ? 0 : by_owner ? p->group->ranks * p->block_rows : rows;
    const int64_t met_rows = !leads || (is_root && p->got_rows == 0) ? 0 : p->node_count * p->node_rows;
    const int64_t won_rows = is_root ? 0 : leads ? p->node_rows : p->block_rows;
    out->values = take(arena, rows, (size_t)p->list_max * value);
    out->indices = take(arena, rows, (size_t)p->list_max * index);
    out->got_values = take(arena, ranks * rows, (size_t)p->list_max * value);
    out->got_indices = take(arena, ranks * rows, (size_t)p->list_max * index);
    out->lengths = take(arena, ranks * rows, extent);
    out->ks = take(arena, rows, extent);
    out->node_values = take(arena, node_rows, (size_t)p->node_max * value);
    out->node_indices = take(arena, node_rows, (size_t)p->node_max * index);
    out->node_ks = take(arena, leads ? rows : 0, extent);
    out->met_values = take(arena, met_rows, (size_t)p->node_max * value);
    out->met_indices = take(arena, met_rows, (size_t)p->node_max * index);
    if (by_owner) {
        out->owned_values = take(arena, met_rows, (size_t)p->node_max * value);
        out->owned_indices = take(arena, met_rows, (size_t)p->node_max * index);
    }
    const bool marks = topk_dist_marks_places(p), has_values = marks || !topk_dist_is_placed(p);
    out->won_values = take(arena, has_values ? won_rows : 0, (size_t)p->winners_max * value);
    out->winners = take(arena, won_rows, (size_t)p->winners_max * index);
    if (marks) {
        out->marks = take(arena, ranks * rows, (size_t)p->list_max);
        out->node_marks = take(arena, node_rows, (size_t)p->node_max);
        out->met_marks = take(arena, met_rows, (size_t)p->node_max);
        out->won_marks = take(arena, won_rows, (size_t)p->winners_max);
        out->own_mask = take(arena, won_rows, (size_t)p->winners_max / 8 + 1);
    }
}

static void take_exchange(const struct topk_dist_plan *p, struct arena *arena, struct buffers *out) {
    const size_t value = topk_type_size(p->problem.type),
                 index = topk_dist_integer_bytes(p->problem.index_type);
    const int64_t rows = p->problem.rows, all = rows * p->group->ranks;
    out->own_kth = take(arena, rows, value);
    out->own_kth_at = take(arena, rows, index);
    out->all_kth = take(arena, all, value);
    out->all_kth_at = take(arena, all, index);
    out->best_kth = take(arena, rows, value);
    out->best_kth_at = take(arena, rows, index);
    out->sent = take(arena, all, sizeof *out->sent);
    out->blocks = take(arena, p->group->ranks, 2 * sizeof *out->blocks);
    out->pairs = take(arena, rows, 2 * value);
    out->winner = take(arena, rows, sizeof *out->winner);
}

static void take_counters(const struct topk_dist_plan *p, struct arena *arena, struct buffers *out) {
    const int64_t rows = p->problem.rows;
    out->state = take(arena, 1, p->counting.state_bytes);
    out->counters = take(arena, p->counting.counters + 1, sizeof *out->counters);
    if (topk_dist_selects(p) && topk_dist_may_tie(p) && !p->on_device) {
        out->ties = take(arena, rows, (size_t)p->list_max * sizeof *out->ties);
        out->tie_lengths = take(arena, rows, sizeof *out->tie_lengths);
        out->tie_k = take(arena, rows, sizeof *out->tie_k);
        out->last_tie = take(arena, rows, sizeof *out->last_tie);
        out->tie_state = take(arena, 1, p->tying.state_bytes);
        out->tie_counters = take(arena, p->tying.counters + 1, sizeof *out->tie_counters);
    }
}

static void take_pieces(const struct topk_dist_plan *p, struct arena *arena, struct buffers *out) {
    const size_t value = topk_type_size(p->problem.type);
    size_t piece; /* bytes of a row */
    out->accumulator = take(arena, 1, p->accumulator_bytes);
    out->piece_lengths = take(arena, p->problem.rows, topk_dist_integer_bytes(p->problem.extent_type));
    if (topk_dist_loads(p)) {
        if (__builtin_mul_overflow((size_t)p->piece_max, value, &piece)) {
            piece = SIZE_MAX;
        }
        out->pieces[0] = take(arena, p->problem.rows, piece);
        out->pieces[1] = take(arena, p->problem.rows, piece);
    }
}

size_t topk_dist_lay_out(const struct topk_dist_plan *p, void *base, struct buffers *out) {
    const int64_t rows = p->problem.rows;
    struct arena arena = {(uintptr_t)base, 0};
    if (base == NULL) {
        arena.used = ALIGNMENT - 1; /* the base may have any alignment */
    }
    *out = (struct buffers){.values = NULL};
    int64_t **const numbers[] = {&out->k,         &out->better, &out->equal,  &out->own_better,
                                 &out->own_equal, &out->own_k,  &out->before, &out->descents};
    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
        *numbers[n] = take(&arena, rows, sizeof(int64_t));
    }
    out->all = take(&arena, topk_dist_selects(p) ? rows : 0, (size_t)p->group->ranks * sizeof(int64_t));
    if (p->nodes != NULL) {
        take_nodes(p, &arena, out);
    } else {
        take_lists(p, &arena, out);
    }
    if (topk_dist_counts(p)) {
        take_counters(p, &arena, out);
    }
    if (topk_dist_exchanges(p)) {
        take_exchange(p, &arena, out);
    }
    if (topk_dist_is_streamed(p)) {
        take_pieces(p, &arena, out);
    }
    out->core = take(&arena, 1, p->core_bytes);
    return arena.used;
}
