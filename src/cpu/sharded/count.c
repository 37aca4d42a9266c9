/* SPDX-License-Identifier: Apache-2.0
 * Counting a digit. Threads draw units, each a part of a row or a whole one. A unit counts in tables of its
 * thread, 32 bits wide and in the first-level cache, and adds them to the counters at its end. */
#include <stdatomic.h>
#include <string.h>

#include "../../reached.h"
#include "../../subcall.h"
#include "../kernels/kernels.h"
#include "../matcher.h"
#include "../team.h"
#include "state.h"

/* Elements that a table's counters of 32 bits can count. */
enum { RUN_MAX = 1 << 30 };

/* Rows of fewer elements than this many times the bins are counted without tables. */
enum { DIRECT_BINS = 2 };

struct job {
    const struct sharded_state *state;
    const struct kernels *kernels;
    struct sharded_digit digit;
    const topk_input *input;
    const struct matcher *matcher; /* NULL: all elements count */
    bool is_first;                 /* round */
    int64_t *counters;
    int64_t splits; /* units of each row */
    _Atomic int64_t next;
};

/* What a unit reads: elements that `map` turns into keys. */
struct part {
    const struct job *job;
    struct sharded_row *row;
    const struct key_map *map;
    const struct matcher *matcher; /* NULL: all of them count */
    const char *elements;
    size_t first; /* of the elements, in the input */
    size_t n;
    uint64_t high;      /* of the interval */
    int64_t *own, *all; /* counters of the row: of the shard, and the caller's */
    char *kept;         /* the row's list */
    struct sharded_scratch scratch;
};

/* Keys are elements that are their own keys. */
static const struct key_map same = {
    .keep = UINT64_MAX, .magnitude = UINT64_MAX, .largest_number = UINT64_MAX};

static size_t element_bytes(const struct part *p) {
    return p->job->state->s->plan.element_bytes;
}

/* Puts keys behind what the row's units have kept so far. */
static void keep(const struct part *p, const void *keys, size_t n) {
    if (p->row->target < 0 || n == 0) {
        return;
    }
    const int64_t at = __atomic_fetch_add(&p->row->filled, (int64_t)n, __ATOMIC_RELAXED);
    const int64_t room = p->job->state->s->capacity - p->row->target - at; /* too small if elements changed */
    const size_t fits = room <= 0 ? 0 : (size_t)room < n ? (size_t)room : n;
    memcpy(p->kept + (size_t)(p->row->target + at) * element_bytes(p), keys, fits * element_bytes(p));
}

/* Which of the `n` elements from `at` on count, at most a tile: NULL if all do. */
static const uint64_t *mask_of(const struct part *p, size_t at, size_t n, uint64_t mask[TILE / WORD]) {
    if (p->matcher == NULL) {
        return NULL;
    }
    (void)topk_cpu_matcher_mask(p->matcher, p->first + at, n, mask);
    return mask;
}

static const char *element_at(const struct part *p, size_t at) {
    return p->elements + at * element_bytes(p);
}

/* The keys of the interval among the `n` elements from `at` on, at most a tile: in the scratch. */
static size_t take(const struct part *p, size_t at, size_t n, const uint64_t *only) {
    const size_t taken = p->job->kernels->take_range(element_at(p, at), n, only, p->map, p->row->low, p->high,
                                                     p->scratch.keys);
    keep(p, p->scratch.keys, taken);
    return taken;
}

static void count_keys(const struct part *p, const void *elements, size_t n, const struct key_map *map) {
    p->job->kernels->count_digits(elements, n, map, p->row->low, p->high, p->job->digit.shift,
                                  p->scratch.tables, topk_cpu_sharded_pitch(p->job->state->s));
}

/* Adds the tables to the counters, and clears them. */
static void add_tables(const struct part *p) {
    const size_t bins = (size_t)p->job->state->s->bins, pitch = topk_cpu_sharded_pitch(p->job->state->s);
    for (size_t b = 0; b < bins >> (p->job->state->s->digit_bits - p->job->digit.bits); b++) {
        int64_t sum = 0;
        for (size_t t = 0; t < DIGIT_TABLES; t++) {
            sum += p->scratch.tables[t * pitch + b];
        }
        if (sum != 0) {
            __atomic_fetch_add(&p->own[b], sum, __ATOMIC_RELAXED);
            __atomic_fetch_add(&p->all[b], sum, __ATOMIC_RELAXED);
        }
    }
    memset(p->scratch.tables, 0, DIGIT_TABLES * pitch * sizeof *p->scratch.tables);
}

/* Counts the `n` elements from `at` on. Where keys are kept, or not all of them count, they are found first,
 * a tile at a time. */
static void count_run(const struct part *p, size_t at, size_t n) {
    const bool finds = p->row->target >= 0 || p->matcher != NULL;
    uint64_t mask[TILE / WORD];
    if (!finds) {
        count_keys(p, element_at(p, at), n, p->map);
    }
    for (size_t i = 0; finds && i < n; i += TILE) {
        const size_t rest = n - i < TILE ? n - i : TILE;
        const size_t taken = take(p, at + i, rest, mask_of(p, at + i, rest, mask));
        count_keys(p, p->scratch.keys, taken, &same);
    }
    add_tables(p);
}

/* A short row, which no other thread counts: clearing the tables would take longer. */
static void count_short(const struct part *p) {
    const size_t bins = (size_t)p->job->state->s->bins;
    uint64_t mask[TILE / WORD];
    for (size_t b = 0; p->job->state->s->part_number > 0 && b < bins; b++) {
        p->all[b] -= p->own[b]; /* of the parts before, which comes back below */
    }
    for (size_t i = 0; i < p->n; i += TILE) {
        const size_t rest = p->n - i < TILE ? p->n - i : TILE;
        const uint64_t *only = mask_of(p, i, rest, mask);
        if (p->row->target >= 0) {
            (void)take(p, i, rest, only);
        }
        (void)p->job->kernels->histogram(element_at(p, i), rest, only, p->map, p->row->low, p->high,
                                         p->job->digit.shift, (uint64_t *)p->own);
    }
    for (size_t b = 0; b < bins; b++) {
        p->all[b] += p->own[b];
    }
}

/* False if the row needs no counting. */
static bool open_part(const struct job *job, int64_t unit, struct part *p) {
    const struct sharded_state *state = job->state;
    const struct sharded *s = state->s;
    const int64_t r = unit / job->splits;
    const int split = (int)(unit % job->splits);
    const size_t bytes = s->plan.element_bytes;
    struct sharded_row *row = &state->rows[r];
    const bool kept = row->kept > 0;
    if (row->own == 0 || (kept && s->part_number > 0)) { /* what was kept is of all parts */
        return false;
    }
    const struct row_extent extent = plan_row(&s->part, job->input, r);
    if (job->is_first && split == 0) {
        row->length += extent.length;
    }
    const size_t n = (size_t)(kept ? row->kept : extent.length);
    const size_t begin = share(n, split, (int)job->splits), end = share(n, split + 1, (int)job->splits);
    p->kept = state->kept == NULL ? NULL : state->kept + (size_t)(r * s->capacity) * bytes;
    p->row = row;
    p->map = kept ? &same : &s->plan.map;
    p->matcher = kept ? NULL : job->matcher;
    p->first = (size_t)extent.begin + begin;
    p->elements = begin == end ? NULL
                  : kept       ? p->kept + ((size_t)row->kept_begin + begin) * bytes
                               : (const char *)job->input->values + ((size_t)extent.begin + begin) * bytes;
    p->n = end - begin;
    p->high = row->low + topk_ones(job->digit.shift + job->digit.bits);
    p->own = state->own + r * s->bins;
    p->all = job->counters + r * s->bins;
    return p->n > 0;
}

static void count_unit(const struct job *job, int64_t unit, int thread) {
    struct part p = {.job = job, .scratch = topk_cpu_sharded_scratch(job->state, thread)};
    if (!open_part(job, unit, &p)) {
        return;
    }
    if (job->splits == 1 && p.n < (size_t)(DIRECT_BINS * job->state->s->bins)) {
        TOPK_REACHED(REACHED_SHARDED_SHORT);
        count_short(&p);
        return;
    }
    for (size_t i = 0; i < p.n; i += RUN_MAX) {
        count_run(&p, i, p.n - i < RUN_MAX ? p.n - i : RUN_MAX);
    }
}

static void count_part(void *argument, int part, int parts) {
    struct job *job = argument;
    const int64_t units = job->state->s->plan.problem.rows * job->splits;
    (void)parts;
    for (int64_t unit; (unit = atomic_fetch_add(&job->next, 1)) < units;) {
        count_unit(job, unit, part);
    }
}

/* Units of each row, so that threads have several each. */
static int64_t splits_of(const struct sharded *s, int threads) {
    enum { UNITS_EACH = 4 };
    const int64_t wanted = ((int64_t)threads * UNITS_EACH + s->plan.problem.rows - 1) / s->plan.problem.rows;
    const int64_t most = s->longest / TEAM_ELEMENTS_MIN + 1;
    return threads == 1 || wanted < 1 ? 1 : wanted < most ? wanted : most;
}

void topk_cpu_sharded_count(const struct sharded_state *state, int round, const topk_input *input,
                            int64_t *counters) {
    const struct sharded *s = state->s;
    const int threads = threads_here(s->context, state->threads);
    if (s->plan.problem.rows == 0) {
        return;
    }
    const struct call call = {
        .context = s->context, .plan = &s->part, .input = *input, .predicate = input->predicate};
    struct matcher matcher;
    struct job job = {.state = state,
                      .kernels = topk_cpu_kernels_for(s->context, s->plan.element_bits),
                      .digit = sharded_digit_of(s, round),
                      .input = input,
                      .matcher = topk_cpu_matcher_if_any(&call, &matcher),
                      .is_first = round == 0,
                      .counters = counters,
                      .splits = splits_of(s, threads)};
    topk_cpu_team_run(s->context, threads, count_part, &job);
}
