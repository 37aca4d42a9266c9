/* SPDX-License-Identifier: Apache-2.0
 *
 * The accumulator against the oracle on everything that was pushed: random chunks in random order, with gaps
 * between them, rows that end early, predicates and k of their own, and peeks in between. Some streams are
 * split between two states, and one is merged into the other now and at the end. Now and then a state is
 * exported, and another one goes on from the bytes; some bytes have been a state on the CPU in between.
 *
 * Arguments: cpu and the number of threads, 1 by default; or cuda and N, then one in N of the scenarios is
 * run. Behind these `graphs`: each call is captured and replayed; or `paths`: fails if a rare path of the
 * library was never taken; or `edges`: one in N of the sequences of chunks that fill a list to its end. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "device.h"
#include "elements.h"
#include "generators.h"
#include "guarded.h"
#include "oracle.h"
#include "reached_paths.h"
#include "schedules.h"
#include "topk_accumulator.h"

enum { ROWS_DRAWN = 4, ROWS_MAX = 65, STREAM_MAX = 6000, CHUNKS_MAX = 40, SCENARIOS = 400, PATHS_MAX = 512 };

/* A piece of the streams: elements [begin, end) of each row, of which row r has lengths[r], and those take
 * part that match. */
typedef struct chunk {
    int64_t begin, end;
    int64_t lengths[ROWS_MAX];
    bool has_k, has_predicate;
    int64_t ks[ROWS_MAX];
    topk_predicate predicate; /* as the host knows it */
    bool has_bounds;          /* the call reads them where it runs */
    topk_bound bounds[2];
    unsigned char mask[ROWS_DRAWN * STREAM_MAX];
    char extents[2][ROWS_MAX * sizeof(int64_t)]; /* lengths and ks, in the width of the problem */
    device_buffer given[4];                      /* extents, bounds and mask */
} chunk;

enum { GIVEN_LENGTHS, GIVEN_KS, GIVEN_BOUNDS, GIVEN_MASK };

typedef struct scenario {
    topk_problem problem; /* row_stride is the length of a stream */
    bool has_lengths, has_payload, has_ks, has_predicates;
    int64_t first_position; /* of a stream */
    chunk chunks[CHUNKS_MAX];
    int chunk_count;
    guarded values, payload;
    device_buffer given_values, given_payload;
    device_buffer states[2]; /* the second one only if the stream is split */
    bool is_split;
} scenario;

/* What a result slot holds. */
typedef struct slot {
    int64_t index;
    uint64_t bits;
} slot;

static topk_context *context, *on_cpu; /* the second one is for bytes */
static bool in_graphs;

#define RUN(call) run(in_graphs &&device_capture_begin() ? call : in_graphs ? TOPK_ERROR_DEVICE : call)

/* The status of a call; of a captured one, which is replayed now. */
static topk_status run(topk_status status) {
    return in_graphs && !device_capture_launch() ? TOPK_ERROR_DEVICE : status;
}

static int64_t payload_of(const scenario *s, int64_t element) {
    return s->problem.index_type == TOPK_INDEX_I32 ? (int32_t)(7 - 3 * element) : 7 - 3 * element;
}

static void draw_predicate(chunk *c, random_state *random) {
    static const double bounds[] = {-100, -1, 0, 0.5, 1, 3, 100};
    const int64_t count = sizeof bounds / sizeof bounds[0], low = random_below(random, count);
    c->predicate = (topk_predicate)TOPK_PREDICATE_INIT;
    c->predicate.kind = (topk_predicate_kind)(TOPK_GT + random_below(random, TOPK_BIT_MASK - TOPK_GT + 1));
    c->predicate.low.value.f64 = bounds[low];
    c->predicate.high.value.f64 = bounds[low + random_below(random, count - low)];
    if (c->predicate.kind == TOPK_BYTE_MASK || c->predicate.kind == TOPK_BIT_MASK) {
        c->predicate.mask = c->mask;
        for (size_t i = 0; i < sizeof c->mask; i++) {
            c->mask[i] = (unsigned char)(random_below(random, 2) == 0 ? 0 : random_bits(random));
        }
        return;
    }
    c->has_bounds = bounds[low] == 1 || bounds[low] == 0.5;
    c->bounds[0] = c->predicate.low;
    c->bounds[1] = c->predicate.high;
}

static void draw_chunks(scenario *s, random_state *random) {
    int64_t stream = s->problem.row_stride, length = 0;
    const int64_t pieces = random_below(random, 2) == 0 ? 12 : 60;
    s->chunk_count = 0;
    for (int64_t at = random_below(random, 50); at < stream && s->chunk_count < CHUNKS_MAX;) {
        chunk *c = &s->chunks[s->chunk_count++];
        c->begin = at;
        c->end = at + random_below(random, stream / (1 + random_below(random, pieces)) + 1);
        c->end = c->end > stream ? stream : c->end;
        at = c->end + (random_below(random, 4) == 0 ? random_below(random, 30) : 0);
        length = c->end - c->begin > length ? c->end - c->begin : length;
        for (int64_t r = 0; r < s->problem.rows; r++) { /* some beyond both ends, to be clamped */
            c->lengths[r] =
                s->has_lengths ? random_below(random, c->end - c->begin + 20) - 10 : c->end - c->begin;
            c->ks[r] = random_below(random, s->problem.k_max + 20) - 5;
        }
        c->has_k = s->has_ks && random_below(random, 4) == 0;
        c->has_predicate = s->has_predicates && random_below(random, 3) > 0;
        draw_predicate(c, random);
    }
    s->problem.length_max = length + random_below(random, 3);
    for (int i = s->chunk_count - 1; i > 0; i--) {
        int other = random_below(random, 2) == 0 ? i : (int)random_below(random, i + 1);
        chunk swap = s->chunks[i];
        s->chunks[i] = s->chunks[other];
        s->chunks[other] = swap;
    }
}

static void draw_problem(scenario *s, random_state *random) {
    static const int64_t ks[] = {0, 1, 2, 7, 31, 32, 100, 1000, STREAM_MAX + 5};
    topk_problem *p = &s->problem;
    *p = (topk_problem)TOPK_PROBLEM_INIT;
    p->type = (topk_type)(1 + random_below(random, 14));
    p->index_type = (topk_index_type)random_below(random, 2);
    p->extent_type = (topk_index_type)random_below(random, 2);
    p->direction = (topk_direction)random_below(random, 2);
    p->rank = (topk_rank)random_below(random, 2);
    p->order = (topk_order)random_below(random, 3);
    p->nan = (topk_nan)random_below(random, 2);
    p->rows = random_below(random, ROWS_DRAWN + 1);
    p->k_max = ks[random_below(random, sizeof ks / sizeof ks[0])];
    p->row_stride = 1 + random_below(random, STREAM_MAX);
    s->has_lengths = random_below(random, 3) == 0;
    s->has_payload = random_below(random, 3) == 0;
    s->has_ks = random_below(random, 4) == 0;
    s->has_predicates = random_below(random, 3) == 0;
    s->is_split = random_below(random, 3) == 0;
    s->first_position = random_below(random, 2) * 1000000;
}

/* What a chunk's call reads beside its elements; the chunk is where it stays. */
static void give_chunk(const scenario *s, chunk *c) {
    const bool is_narrow = s->problem.extent_type == TOPK_INDEX_I32;
    const topk_type type = is_narrow ? TOPK_I32 : TOPK_I64;
    const size_t bytes = (size_t)s->problem.rows * (is_narrow ? 4 : 8);
    for (int64_t r = 0; r < s->problem.rows; r++) {
        element_put_bits(type, c->extents[GIVEN_LENGTHS], r, (uint64_t)c->lengths[r]);
        element_put_bits(type, c->extents[GIVEN_KS], r, (uint64_t)c->ks[r]);
    }
    c->given[GIVEN_LENGTHS] = device_input(c->extents[GIVEN_LENGTHS], bytes);
    c->given[GIVEN_KS] = device_input(c->extents[GIVEN_KS], bytes);
    if (c->has_predicate) {
        c->predicate.mask = c->predicate.mask != NULL ? c->mask : NULL;
        c->given[GIVEN_BOUNDS] = device_input(c->bounds, sizeof c->bounds);
        c->given[GIVEN_MASK] = device_input(c->mask, sizeof c->mask);
    }
}

static void allocate_streams(scenario *s) {
    const topk_problem *p = &s->problem;
    const size_t elements = (size_t)(p->rows * p->row_stride);
    s->values = guarded_allocate(elements * oracle_type_size(p->type), GUARDED_AT_END);
    s->payload = guarded_allocate(elements * (p->index_type == TOPK_INDEX_I32 ? 4 : 8), GUARDED_AT_END);
}

/* Once the values are there. */
static void give_streams(scenario *s) {
    const topk_problem *p = &s->problem;
    for (int64_t e = 0; e < p->rows * p->row_stride; e++) {
        element_put_bits(p->index_type == TOPK_INDEX_I32 ? TOPK_I32 : TOPK_I64, s->payload.data, e,
                         (uint64_t)payload_of(s, e));
    }
    guarded_make_read_only(&s->values);
    guarded_make_read_only(&s->payload);
    s->given_values = device_input(s->values.data, s->values.bytes);
    s->given_payload = device_input(s->payload.data, s->payload.bytes);
    for (int c = 0; c < s->chunk_count; c++) {
        give_chunk(s, &s->chunks[c]);
    }
}

static void scenario_build(scenario *s, random_state *random) {
    draw_problem(s, random);
    draw_chunks(s, random);
    const topk_problem *p = &s->problem;
    allocate_streams(s);
    for (int64_t r = 0; r < p->rows; r++) {
        char *row = (char *)s->values.data + (size_t)(r * p->row_stride) * oracle_type_size(p->type);
        generate(&generators[random_below(random, generator_count)], p->type, row, p->row_stride, random);
    }
    give_streams(s);
}

static void scenario_free(scenario *s) {
    guarded_free(&s->values);
    guarded_free(&s->payload);
    device_free(&s->states[0]);
    device_free(&s->states[1]);
    device_reset();
}

static int64_t clamped_length(const chunk *c, int64_t row) {
    int64_t length = c->end - c->begin;
    return c->lengths[row] < 0 ? 0 : c->lengths[row] > length ? length : c->lengths[row];
}

static const void *chunk_values(const scenario *s, const chunk *c) {
    return (const char *)s->values.data + (size_t)c->begin * oracle_type_size(s->problem.type);
}

/* Whether element `e` of a row of the chunk, from the chunk's beginning, takes part. */
static bool takes_part(const scenario *s, const chunk *c, int64_t row, int64_t e) {
    topk_input input = TOPK_INPUT_INIT;
    input.values = chunk_values(s, c);
    return !c->has_predicate ||
           oracle_matches(s->problem.type, &input, &c->predicate, row * s->problem.row_stride + e);
}

/* The elements of a row that the first `pushed` chunks brought, by position; returns how many. */
static int64_t collect(const scenario *s, int pushed, int64_t row, int64_t *positions) {
    static bool present[STREAM_MAX + 1];
    int64_t count = 0;
    memset(present, 0, sizeof present);
    for (int i = 0; i < pushed; i++) {
        const chunk *c = &s->chunks[i];
        for (int64_t e = 0; e < clamped_length(c, row); e++) {
            present[c->begin + e] = takes_part(s, c, row, e);
        }
    }
    for (int64_t e = 0; e < s->problem.row_stride; e++) {
        if (present[e]) {
            positions[count++] = e;
        }
    }
    return count;
}

/* The least k that the first `pushed` chunks gave a row. */
static int64_t row_k(const scenario *s, int pushed, int64_t row) {
    int64_t k = s->problem.k_max;
    for (int i = 0; i < pushed; i++) {
        const int64_t own = s->chunks[i].has_k ? s->chunks[i].ks[row] : k;
        k = own < 0 ? 0 : own < k ? own : k;
    }
    return k;
}

static int by_position(const void *a, const void *b) {
    const int64_t x = ((const oracle_entry *)a)->position, y = ((const oracle_entry *)b)->position;
    return (x > y) - (x < y);
}

/* The k_max slots that a row should hold; returns how many are results. */
static int64_t expected_row(const scenario *s, int pushed, int64_t row, slot *slots) {
    static int64_t positions[STREAM_MAX];
    static uint64_t gathered[STREAM_MAX];
    static oracle_entry ranking[STREAM_MAX];
    const topk_problem *p = &s->problem;
    uint64_t padding = 0;
    int64_t count = collect(s, pushed, row, positions), k_row = row_k(s, pushed, row);
    for (int64_t i = 0; i < count; i++) {
        element_put_bits(p->type, gathered, i,
                         element_get_bits(p->type, s->values.data, row * p->row_stride + positions[i]));
    }
    oracle_rank(p, gathered, count, ranking);
    oracle_write_padding(p->type, p->direction, &padding);
    if (p->order == TOPK_ORDER_BY_POSITION) {
        qsort(ranking, (size_t)(count < k_row ? count : k_row), sizeof *ranking, by_position);
    }
    for (int64_t k = 0; k < p->k_max; k++) {
        slots[k] = (slot){-1, element_get_bits(p->type, &padding, 0)};
        if (k < count && k < k_row) {
            int64_t position = positions[ranking[k].position];
            slots[k].bits = element_get_bits(p->type, gathered, ranking[k].position);
            slots[k].index =
                s->has_payload ? payload_of(s, row * p->row_stride + position) : s->first_position + position;
        }
    }
    return count < k_row ? count : k_row;
}

static int by_index(const void *a, const void *b) {
    int64_t x = ((const slot *)a)->index, y = ((const slot *)b)->index;
    return (x > y) - (x < y);
}

static bool row_is_right(const scenario *s, int pushed, int64_t row, const void *values,
                         const void *indices) {
    static slot wanted[STREAM_MAX + 5], got[STREAM_MAX + 5];
    const topk_problem *p = &s->problem;
    int64_t results = expected_row(s, pushed, row, wanted);
    for (int64_t k = 0; k < p->k_max; k++) {
        int64_t at = row * p->k_max + k;
        got[k].bits = element_get_bits(p->type, values, at);
        got[k].index =
            p->index_type == TOPK_INDEX_I32 ? ((const int32_t *)indices)[at] : ((const int64_t *)indices)[at];
    }
    if (p->order == TOPK_ORDER_ANY) {
        qsort(wanted, (size_t)results, sizeof *wanted, by_index);
        qsort(got, (size_t)results, sizeof *got, by_index);
    }
    for (int64_t k = 0; k < p->k_max; k++) {
        if (wanted[k].index != got[k].index || wanted[k].bits != got[k].bits) {
            fprintf(stderr,
                    "row %" PRId64 " slot %" PRId64 ": expected %" PRId64 " %#" PRIx64 ", got %" PRId64
                    " %#" PRIx64 "\n",
                    row, k, wanted[k].index, wanted[k].bits, got[k].index, got[k].bits);
            return false;
        }
    }
    return true;
}

/* Peeks, or finishes after the last push, and judges the result. */
static bool results_are_right(scenario *s, int pushed, bool finish) {
    const topk_problem *p = &s->problem;
    const device_buffer *state = &s->states[0];
    size_t slots = (size_t)(p->rows * p->k_max);
    device_buffer values = device_output(slots * oracle_type_size(p->type), 0x5a);
    device_buffer indices = device_output(slots * (p->index_type == TOPK_INDEX_I32 ? 4 : 8), 0x5a);
    topk_status (*call)(topk_context *, const topk_problem *, void *, size_t, void *, void *, topk_stream) =
        finish ? topk_accumulator_finish : topk_accumulator_peek;
    device_send();
    bool right = CHECK_STATUS(TOPK_OK, RUN(call(context, p, state->data, state->bytes, values.data,
                                                indices.data, device_stream()))) &&
                 CHECK(device_fetch());
    for (int64_t r = 0; right && r < p->rows; r++) {
        right = CHECK(row_is_right(s, pushed, r, values.seen, indices.seen));
    }
    right = CHECK(device_intact(&values) && device_intact(&indices) && device_intact(state)) && right;
    device_free(&values);
    device_free(&indices);
    return right;
}

static bool push_chunk(scenario *s, const chunk *c, const device_buffer *state) {
    const topk_problem *p = &s->problem;
    topk_input input = TOPK_INPUT_INIT;
    topk_predicate predicate = c->predicate;
    const int64_t length = c->end - c->begin, base = s->first_position + c->begin;
    input.values = (const char *)s->given_values.data + (size_t)c->begin * oracle_type_size(p->type);
    if (length == 0 ? c->begin % 2 == 0 : s->has_payload) { /* without elements it may be either */
        input.indices =
            (const char *)s->given_payload.data + c->begin * (p->index_type == TOPK_INDEX_I32 ? 4 : 8);
    }
    input.lengths = s->has_lengths ? c->given[GIVEN_LENGTHS].data : NULL;
    input.k = c->has_k ? c->given[GIVEN_KS].data : NULL;
    predicate.mask = predicate.mask != NULL ? c->given[GIVEN_MASK].data : NULL;
    if (c->has_bounds) {
        predicate.bounds = c->given[GIVEN_BOUNDS].data;
    }
    return CHECK_STATUS(TOPK_OK,
                        c->has_predicate
                            ? RUN(topk_accumulator_push_where(context, p, state->data, state->bytes, &input,
                                                              &predicate, length, base, device_stream()))
                            : RUN(topk_accumulator_push(context, p, state->data, state->bytes, &input, length,
                                                        base, device_stream())));
}

static bool begin_state(scenario *s, device_buffer *state, size_t bytes, random_state *random) {
    *state = device_workspace(bytes, random_below(random, 2) == 0 ? GUARDED_AT_END : 1,
                              (unsigned char)random_bits(random), 0);
    device_send();
    return CHECK_STATUS(
        TOPK_OK, RUN(topk_accumulator_init(context, &s->problem, state->data, bytes, device_stream())));
}

/* What the second state has goes to the first one; it begins anew. */
static bool merge(scenario *s) {
    const device_buffer *to = &s->states[0], *from = &s->states[1];
    return CHECK_STATUS(TOPK_OK, RUN(topk_accumulator_merge(context, &s->problem, to->data, to->bytes,
                                                            from->data, from->bytes, device_stream()))) &&
           CHECK_STATUS(TOPK_OK, RUN(topk_accumulator_init(context, &s->problem, from->data, from->bytes,
                                                           device_stream())));
}

/* A state on the CPU takes the bytes and exports them again: they must be the same. */
static bool pass_cpu(const scenario *s, const void *bytes, size_t size, void *passed) {
    topk_problem p = s->problem;
    size_t state_bytes = 0;
    p.method = NULL;
    p.length_max += 5;
    p.row_stride += 5;
    bool right = CHECK_STATUS(TOPK_OK, topk_accumulator_size(on_cpu, &p, &state_bytes));
    void *const state = malloc(state_bytes);
    right =
        right && CHECK(state != NULL) &&
        CHECK_STATUS(TOPK_OK, topk_accumulator_import(on_cpu, &p, state, state_bytes, bytes, size, NULL)) &&
        CHECK_STATUS(TOPK_OK, topk_accumulator_export(on_cpu, &p, state, state_bytes, passed, size, NULL)) &&
        CHECK(memcmp(bytes, passed, size) == 0);
    free(state);
    return right;
}

/* The state gives its place to one that begins with its bytes. */
static bool pass_bytes(scenario *s, device_buffer *state, random_state *random) {
    const topk_problem *p = &s->problem;
    size_t size = 0;
    bool right = CHECK_STATUS(TOPK_OK, topk_accumulator_export_size(context, p, &size));
    device_buffer bytes = device_output(size, 0x5a), from = bytes;
    device_buffer next = device_workspace(state->bytes, random_below(random, 2) == 0 ? GUARDED_AT_END : 1,
                                          DEVICE_GARBAGE, random_bits(random));
    guarded passed = guarded_allocate(size, GUARDED_AT_END);
    device_send();
    right = right && CHECK_STATUS(TOPK_OK, RUN(topk_accumulator_export(context, p, state->data, state->bytes,
                                                                       bytes.data, size, device_stream())));
    if (right && random_below(random, 2) == 0) {
        right = CHECK(device_fetch()) && pass_cpu(s, bytes.seen, size, passed.data);
        from = device_input(passed.data, size);
        device_send();
    }
    right = right && CHECK_STATUS(TOPK_OK, RUN(topk_accumulator_import(context, p, next.data, next.bytes,
                                                                       from.data, size, device_stream())));
    right = CHECK(device_fetch() && device_intact(state) && device_intact(&bytes)) && right;
    device_free(state);
    device_free(&bytes);
    guarded_free(&passed);
    *state = next;
    return right;
}

static bool begin_states(scenario *s, random_state *random) {
    size_t bytes = 0;
    bool right = CHECK_STATUS(TOPK_OK, topk_accumulator_size(context, &s->problem, &bytes));
    for (int i = 0; right && i <= s->is_split; i++) {
        right = begin_state(s, &s->states[i], bytes, random);
    }
    return right;
}

static bool run_scenario(scenario *s, random_state *random) {
    bool right = begin_states(s, random);
    for (int c = 0; right && c < s->chunk_count; c++) {
        device_buffer *const state = &s->states[s->is_split && random_below(random, 2) == 0];
        right = push_chunk(s, &s->chunks[c], state) &&
                (random_below(random, 6) > 0 || pass_bytes(s, state, random));
        if (right && random_below(random, 4) == 0) {
            right = (!s->is_split || merge(s)) && results_are_right(s, c + 1, false);
        }
    }
    return right && (!s->is_split || merge(s)) && results_are_right(s, s->chunk_count, true);
}

static void print_scenario(const char *kind, uint64_t number, int threads, const scenario *s) {
    fprintf(stderr, "    in %s %" PRIu64 ", %d threads: %s, rows %" PRId64 ", k %" PRId64 ", %d chunks\n",
            kind, number, threads, topk_type_name(s->problem.type), s->problem.rows, s->problem.k_max,
            s->chunk_count);
}

/* Every `step`-th scenario. */
static void run_scenarios(int threads, uint64_t step) {
    for (uint64_t seed = 0; seed < SCENARIOS && check_failures < 10; seed += step) {
        random_state random = {seed};
        static scenario s;
        s = (scenario){0};
        schedules_seed(seed);
        scenario_build(&s, &random);
        if (!run_scenario(&s, &random)) {
            print_scenario("scenario", seed, threads, &s);
        }
        scenario_free(&s);
    }
}

/* ---- Lists at their ends ---- */

/* A list on a GPU has room for four times k_max. Three chunks, all of whose elements pass a row's bar: the
 * first comes before there is a bar; then k_max candidates stay if it brings as many. The second fills the
 * list to one less than a third chunk of k_max needs, to just that, to one more, or to the end. */
static const struct {
    int64_t of_k, more; /* elements: of_k * k_max + more */
} lengths_of_chunks[3][10] = {
    {{1, -1}, {1, 0}, {1, 1}, {2, 0}},
    {{1, -1}, {1, 0}, {1, 1}, {2, -1}, {2, 0}, {2, 1}, {3, -1}, {3, 0}, {3, 1}, {4, 0}},
    {{1, -1}, {1, 0}, {1, 1}, {0, 0}},
};
enum { FIRSTS = 4, SECONDS = 10, THIRDS = 4, SEQUENCES = FIRSTS * SECONDS * THIRDS };

/* How its elements come to be better than those before: by value; as ties at lower positions; and by value,
 * where two states are merged in the end. */
enum edge_kind { ASCENDING, TIES, MERGED, EDGE_KINDS };

/* On both sides of the number of rows from which on a selection finds the best of a chunk; and with tiny
 * sizes so many that each kernel has several for a block. The last k_max is one for which blocks share a row.
 */
#ifdef TOPK_SHRINK
static const int64_t edge_rows[] = {2, 3, 9};
static const char *const edge_methods[] = {NULL};
#else
static const int64_t edge_rows[] = {64, 65};
/* Of a GPU: they find the best of a chunk by turns. NULL: the chooser's. */
static const char *const edge_methods[] = {NULL, "air", "radik", "bracket"};
#endif

static const int64_t edge_ks[] = {1, 5, 33, 200};
enum {
    EDGE_ROWS = sizeof edge_rows / sizeof edge_rows[0],
    EDGE_KS = sizeof edge_ks / sizeof edge_ks[0],
    EDGE_METHODS = sizeof edge_methods / sizeof edge_methods[0],
    EDGES = SEQUENCES * EDGE_KINDS * EDGE_ROWS * EDGE_KS
};

static void edge_chunks(scenario *s, int sequence, bool is_backward) {
    const int at[3] = {sequence / (SECONDS * THIRDS), sequence / THIRDS % SECONDS, sequence % THIRDS};
    topk_problem *p = &s->problem;
    int64_t lengths[3], before = 0;
    s->chunk_count = 3;
    for (int c = 0; c < s->chunk_count; c++) {
        lengths[c] = lengths_of_chunks[c][at[c]].of_k * p->k_max + lengths_of_chunks[c][at[c]].more;
        p->row_stride += lengths[c];
        p->length_max = lengths[c] > p->length_max ? lengths[c] : p->length_max;
    }
    for (int c = 0; c < s->chunk_count; before += lengths[c++]) {
        s->chunks[c].begin = is_backward ? p->row_stride - before - lengths[c] : before;
        s->chunks[c].end = s->chunks[c].begin + lengths[c];
        for (int64_t r = 0; r < p->rows; r++) {
            s->chunks[c].lengths[r] = lengths[c];
        }
    }
}

static void edge_build(scenario *s, int number, bool is_cuda) {
    static const topk_type types[] = {TOPK_F32, TOPK_U16, TOPK_I64, TOPK_U8};
    const int sequence = number % SEQUENCES, shape = number / SEQUENCES;
    const enum edge_kind kind = (enum edge_kind)(shape % EDGE_KINDS);
    topk_problem *p = &s->problem;
    *p = (topk_problem)TOPK_PROBLEM_INIT;
    p->rows = edge_rows[shape / EDGE_KINDS % EDGE_ROWS];
    p->k_max = edge_ks[shape / EDGE_KINDS / EDGE_ROWS];
    p->method = is_cuda ? edge_methods[number % EDGE_METHODS] : NULL;
    p->type = p->k_max == edge_ks[EDGE_KS - 1] ? TOPK_F64 : types[(sequence / THIRDS + shape) % 4];
    s->has_payload = sequence % 5 == 0;
    s->is_split = kind == MERGED;
    edge_chunks(s, sequence, kind == TIES);
    allocate_streams(s);
    for (int64_t e = 0; e < p->rows * p->row_stride; e++) { /* bits of positive numbers ascend with them */
        const int64_t position = e % p->row_stride;
        element_put_bits(p->type, s->values.data, e, kind == TIES ? 7 : (uint64_t)position + 1);
    }
    give_streams(s);
}

/* No call but pushes comes before the end: all others would make room. */
static bool run_edge(scenario *s, random_state *random) {
    bool right = begin_states(s, random);
    for (int c = 0; right && c < s->chunk_count; c++) {
        right = push_chunk(s, &s->chunks[c], &s->states[s->is_split && c == 1]);
    }
    return right && (!s->is_split || merge(s)) && results_are_right(s, s->chunk_count, true);
}

/* Every `step`-th. */
static void run_edges(int step, bool is_cuda) {
    for (int number = 0; number < EDGES && check_failures < 10; number += step) {
        random_state random = {(uint64_t)number};
        static scenario s;
        s = (scenario){0};
        schedules_seed((uint64_t)number);
        edge_build(&s, number, is_cuda);
        if (!run_edge(&s, &random)) {
            print_scenario("edge", (uint64_t)number, 1, &s);
        }
        scenario_free(&s);
    }
}

static void check_paths(const char *run) {
    static unsigned long counts[PATHS_MAX];
    memset(counts, 0, sizeof counts);
    reached_paths_read(counts, PATHS_MAX);
    CHECK(reached_paths_missing(counts, "cuda", run) == 0);
}

int main(int argc, char **argv) {
    const bool is_cuda = argc > 1 && strcmp(argv[1], "cuda") == 0;
    const int number = argc > 2 ? atoi(argv[2]) : 1;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = is_cuda ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    options.threads = is_cuda ? 1 : number;
    in_graphs = argc > 3 && strcmp(argv[3], "graphs") == 0;
    device_open();
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    options.backend = TOPK_BACKEND_CPU;
    options.threads = 1;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &on_cpu));
    if (argc > 3 && strcmp(argv[3], "edges") == 0) {
        run_edges(number, is_cuda);
        if (is_cuda) {
            check_paths("accumulator: another row");
            check_paths("accumulator-edges");
        }
    } else {
        run_scenarios(options.threads, is_cuda ? (uint64_t)number : 1);
    }
    topk_context_destroy(context);
    topk_context_destroy(on_cpu);
    if (argc > 3 && strcmp(argv[3], "paths") == 0) {
        check_paths("accumulator");
    }
    device_close();
    return check_report();
}
