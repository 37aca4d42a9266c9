/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include "../team.h"

static struct sharded_scratch scratch_of(const struct sharded *s, struct arena *arena) {
    struct sharded_scratch scratch;
    scratch.tables = arena_take(arena, DIGIT_TABLES * topk_cpu_sharded_pitch(s), sizeof *scratch.tables);
    scratch.keys = arena_take(arena, TILE, s->plan.element_bytes);
    scratch.masks.above = arena_take(arena, UNIT / WORD, sizeof(uint64_t));
    scratch.masks.equal = arena_take(arena, UNIT / WORD, sizeof(uint64_t));
    scratch.masks.matches = arena_take(arena, UNIT / WORD, sizeof(uint64_t));
    return scratch;
}

struct sharded_state topk_cpu_sharded_lay_out(const struct sharded *s, void *memory) {
    const size_t rows = (size_t)s->plan.problem.rows, bins = (size_t)s->bins;
    struct sharded_state state = {.s = s};
    struct arena arena = arena_over(memory), part = {NULL, 0};
    size_t counters, kept, elements; /* no more than these, whatever the shape of a part */
    if (__builtin_mul_overflow(rows, bins, &counters)) {
        counters = SIZE_MAX;
    }
    if (__builtin_mul_overflow(rows, (size_t)s->capacity, &kept)) {
        kept = SIZE_MAX;
    }
    state.header = arena_take(&arena, 1, sizeof *state.header);
    state.rows = arena_take(&arena, rows, sizeof *state.rows);
    state.written = arena_take(&arena, rows, sizeof *state.written);
    state.own = arena_take(&arena, counters, sizeof *state.own);
    state.kept = arena_take(&arena, kept, s->plan.element_bytes);
    if (__builtin_mul_overflow(rows, (size_t)s->plan.problem.length_max, &elements)) {
        elements = SIZE_MAX;
    }
    state.threads = team_size(s->context->threads, elements);
    (void)scratch_of(s, &part);
    state.scratch_bytes = part.used;
    state.scratch = arena_take(&arena, (size_t)state.threads, part.used);
    state.bytes = arena_bytes(&arena);
    return state;
}

struct sharded_scratch topk_cpu_sharded_scratch(const struct sharded_state *state, int thread) {
    struct arena arena = arena_part(state->scratch, (size_t)thread, state->scratch_bytes);
    return scratch_of(state->s, &arena);
}
