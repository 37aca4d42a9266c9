/* SPDX-License-Identifier: Apache-2.0
 * The accumulator on the CPU. A chunk of up to k_max elements in each row joins the candidates of the rows as
 * it is; of a longer one, or with a predicate, it is the k_max best. What is kept of them: candidates.h. */
#include "../../status.h"
#include "../methods.h"
#include "candidates.h"

enum payload { PAYLOAD_UNKNOWN, PAYLOAD_NONE, PAYLOAD_GIVEN };

struct header {
    uint64_t magic;   /* STATE_MAGIC while chunks may be pushed */
    uint64_t problem; /* of the accumulator that it was initialised for */
    enum payload payload;
};

#define STATE_MAGIC 0x746f706b61636332u /* "topkacc2" */

/* An accumulator over its memory. */
struct state {
    const struct accumulator *a;
    struct candidates candidates;
    struct header *header;
    size_t kept_bytes, bytes;
};

/* The best of a chunk, over the scratch. */
struct chunk_results {
    void *workspace; /* of the selection */
    char *values;
    int64_t *places;
    size_t bytes;
};

static struct chunk_results lay_out_chunk(const struct subcall *inner, void *scratch) {
    struct arena arena = {scratch, 0};
    struct chunk_results results;
    results.workspace = arena_take(&arena, 1, inner->decision.workspace_bytes);
    results.values = arena_take(&arena, inner->plan.output_elements, inner->plan.element_bytes);
    results.places = arena_take(&arena, inner->plan.output_elements, sizeof *results.places);
    results.bytes = arena.used;
    return results;
}

static size_t scratch_bytes(const struct state *s) {
    const size_t each[] = {lay_out_chunk(&s->a->select, NULL).bytes,
                           lay_out_chunk(&s->a->select_where, NULL).bytes,
                           topk_candidates_scratch_bytes(&s->candidates)};
    size_t most = 0;
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        most = each[i] > most ? each[i] : most;
    }
    return most;
}

/* What another state is read for. Over NULL it is measured. */
static struct arena lay_out_kept(struct state *s, void *memory) {
    struct arena arena = arena_over(memory);
    s->header = arena_take(&arena, 1, sizeof *s->header);
    topk_candidates_take(&s->candidates, &arena);
    s->kept_bytes = arena_bytes(&arena);
    return arena;
}

static struct state lay_out(const struct accumulator *a, void *memory) {
    struct state s = {.a = a, .candidates = topk_candidates_of(a)};
    struct arena arena = lay_out_kept(&s, memory);
    s.candidates.scratch = arena_take(&arena, 1, scratch_bytes(&s));
    s.bytes = arena_bytes(&arena);
    return s;
}

static void measure(struct accumulator *a) {
    const struct state s = lay_out(a, NULL);
    a->kept_bytes = s.kept_bytes;
    a->bytes = s.bytes;
}

/* Whether chunks may be pushed. */
static topk_status check_header(const struct state *s) {
    if (s->header->magic != STATE_MAGIC) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "the accumulator was not initialised, or is finished");
    }
    if (s->header->problem != s->a->problem) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "the accumulator was initialised for another problem");
    }
    return TOPK_OK;
}

static bool agree(enum payload payload, enum payload other) {
    return payload == PAYLOAD_UNKNOWN || other == PAYLOAD_UNKNOWN || payload == other;
}

static topk_status init(const struct accumulator *a) {
    const struct state s = lay_out(a, a->memory);
    *s.header = (struct header){STATE_MAGIC, a->problem, PAYLOAD_UNKNOWN};
    topk_candidates_clear(&s.candidates);
    return TOPK_OK;
}

/* ---- Pushing ---- */

/* The least k that chunks gave is the row's. */
static void limit_ks(const struct state *s, const topk_input *input) {
    for (int64_t row = 0; row < s->a->plan.problem.rows; row++) {
        struct candidate_row *r = &s->candidates.rows[row];
        const int64_t k = plan_row_k(&s->a->plan, input, row);
        r->k = k < r->k ? k : r->k;
    }
}

static int64_t row_length(const struct state *s, const struct chunk *chunk, int64_t row) {
    return chunk->input.lengths == NULL
               ? chunk->length
               : clamp_extent(read_extent(chunk->input.lengths, row, s->a->plan.problem.extent_type),
                              chunk->length);
}

/* A row's payload in a chunk, or NULL. */
static const char *row_payload(const struct state *s, const struct chunk *chunk, int64_t row) {
    const size_t first = (size_t)(row * s->a->plan.problem.row_stride);
    return chunk->input.indices == NULL ? NULL
                                        : (const char *)chunk->input.indices + first * s->a->plan.index_bytes;
}

/* All of a chunk. */
static void append_chunk(const struct state *s, const struct chunk *chunk) {
    for (int64_t row = 0; row < s->a->plan.problem.rows; row++) {
        const size_t first = (size_t)(row * s->a->plan.problem.row_stride);
        const struct arrivals arrivals = {.values = (const char *)chunk->input.values +
                                                    first * s->a->plan.element_bytes,
                                          .base = chunk->base,
                                          .payload = row_payload(s, chunk, row)};
        topk_candidates_append(&s->candidates, row, &arrivals, row_length(s, chunk, row));
    }
}

/* The best of a chunk that match. */
static void append_best(const struct state *s, const struct chunk *chunk) {
    const struct candidates *c = &s->candidates;
    const struct subcall *inner = chunk->predicate == NULL ? &s->a->select : &s->a->select_where;
    const struct chunk_results results = lay_out_chunk(inner, c->scratch);
    const size_t k = (size_t)inner->plan.problem.k_max;
    for (int64_t row = 0; row < s->a->plan.problem.rows; row++) {
        c->lengths[row] = row_length(s, chunk, row);
        c->ks[row] = c->rows[row].k;
    }
    const struct call outer = {.context = c->context, .input = chunk->input, .predicate = chunk->predicate};
    struct call call = topk_subcall_call(&outer, inner, results.workspace);
    call.input.lengths = c->lengths;
    call.input.k = c->ks;
    call.input.indices = NULL;
    call.values = results.values;
    call.indices = results.places;
    (void)c->context->backend->run(&call);
    for (int64_t row = 0; row < s->a->plan.problem.rows; row++) {
        const size_t first = (size_t)row * k;
        const int64_t *places = results.places + first;
        int64_t count = 0;
        while ((size_t)count < k && places[count] >= 0) {
            count++;
        }
        const struct arrivals arrivals = {.values = results.values + first * s->a->plan.element_bytes,
                                          .places = places,
                                          .base = chunk->base,
                                          .payload = row_payload(s, chunk, row),
                                          .payload_at = places};
        topk_candidates_append(c, row, &arrivals, count);
    }
}

static void take_chunk(const struct state *s, const struct chunk *chunk) {
    const int64_t k_max = s->a->plan.problem.k_max;
    topk_candidates_make_room(&s->candidates, chunk->length < k_max ? chunk->length : k_max);
    if (chunk->predicate == NULL && chunk->length <= k_max) {
        append_chunk(s, chunk);
    } else {
        append_best(s, chunk);
    }
}

/* Without elements a chunk settles nothing: its pointer may be NULL among chunks that carry indices. */
static enum payload payload_of(const struct chunk *chunk) {
    return chunk->length == 0 ? PAYLOAD_UNKNOWN : chunk->input.indices != NULL ? PAYLOAD_GIVEN : PAYLOAD_NONE;
}

static topk_status push(const struct accumulator *a, const struct chunk *chunk) {
    struct state s = lay_out(a, a->memory);
    const enum payload payload = payload_of(chunk);
    const topk_status status = check_header(&s);
    if (status != TOPK_OK) {
        return status;
    }
    if (!agree(s.header->payload, payload)) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "either all chunks carry indices or none does");
    }
    limit_ks(&s, &chunk->input);
    if (chunk->length > 0 && a->plan.output_elements > 0) {
        s.header->payload = payload;
        take_chunk(&s, chunk);
    }
    return TOPK_OK;
}

/* ---- Merging ---- */

static topk_status check_merge(const struct state *to, const struct state *from) {
    topk_status status = check_header(to);
    if (status != TOPK_OK || (status = check_header(from)) != TOPK_OK) {
        return status;
    }
    return agree(to->header->payload, from->header->payload)
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_BAD_STATE, "either both accumulators carry indices or none does");
}

/* Candidates first, first + 1, ... of each row, k_max of them at most. Returns whether there were any. */
static bool append_candidates(struct state *to, const struct state *from, int64_t first) {
    const struct candidates *c = &from->candidates;
    const struct plan *plan = &to->a->plan;
    const int64_t k_max = plan->problem.k_max;
    bool any = false;
    topk_candidates_make_room(&to->candidates, k_max);
    for (int64_t row = 0; row < plan->problem.rows; row++) {
        const size_t at = (size_t)row * c->room + (size_t)first;
        const int64_t left = c->rows[row].count - first;
        const struct arrivals arrivals = {
            .values = c->values + at * plan->element_bytes,
            .places = c->positions + at,
            .payload = from->header->payload == PAYLOAD_GIVEN ? c->payload + at * plan->index_bytes : NULL};
        if (left > 0) {
            topk_candidates_append(&to->candidates, row, &arrivals, left < k_max ? left : k_max);
            any = true;
        }
    }
    return any;
}

static topk_status merge(const struct accumulator *a, void *other) {
    struct state to = lay_out(a, a->memory), from = to;
    (void)lay_out_kept(&from, other);
    const topk_status status = check_merge(&to, &from);
    if (status != TOPK_OK || a->plan.output_elements == 0) {
        return status;
    }
    for (int64_t row = 0; row < a->plan.problem.rows; row++) {
        struct candidate_row *r = &to.candidates.rows[row];
        const int64_t k = from.candidates.rows[row].k;
        r->k = k < r->k ? k : r->k;
    }
    for (int64_t first = 0; append_candidates(&to, &from, first); first += a->plan.problem.k_max) {
    }
    if (to.header->payload == PAYLOAD_UNKNOWN) {
        to.header->payload = from.header->payload;
    }
    return TOPK_OK;
}

/* ---- Results ---- */

static topk_status write(const struct accumulator *a, void *values, void *indices, bool ends) {
    struct state s = lay_out(a, a->memory);
    const topk_status status = check_header(&s);
    if (status != TOPK_OK) {
        return status;
    }
    if (a->plan.output_elements > 0) {
        topk_candidates_write(&s.candidates, s.header->payload == PAYLOAD_GIVEN, values, indices);
    }
    if (ends) {
        s.header->magic = 0;
    }
    return TOPK_OK;
}

/* ---- Bars ---- */

static topk_status bar(const struct accumulator *a, void *values, int64_t *positions) {
    const struct state s = lay_out(a, a->memory);
    const topk_status status = check_header(&s);
    if (status == TOPK_OK) {
        topk_candidates_bar(&s.candidates, values, positions);
    }
    return status;
}

static topk_status raise_bars(const struct accumulator *a, const void *values, const int64_t *positions) {
    const struct state s = lay_out(a, a->memory);
    const topk_status status = check_header(&s);
    if (status == TOPK_OK) {
        topk_candidates_raise(&s.candidates, values, positions);
    }
    return status;
}

/* ---- Bytes ---- */

static topk_status export_bytes(const struct accumulator *a, void *bytes) {
    struct state s = lay_out(a, a->memory);
    const topk_status status = check_header(&s);
    if (status != TOPK_OK) {
        return status;
    }
    if (a->plan.output_elements > 0) {
        topk_candidates_settle(&s.candidates);
    }
    topk_candidates_export(&s.candidates, (uint64_t)s.header->payload, bytes);
    return TOPK_OK;
}

static topk_status import_bytes(const struct accumulator *a, const void *bytes, size_t size) {
    const topk_status status = topk_candidates_check(&a->plan, bytes, size);
    if (status != TOPK_OK) {
        return status;
    }
    const struct state s = lay_out(a, a->memory);
    const uint64_t payload = topk_candidates_import(&s.candidates, bytes);
    *s.header = (struct header){STATE_MAGIC, a->problem, (enum payload)payload};
    return TOPK_OK;
}

const struct accumulators topk_cpu_accumulators = {.choose = topk_candidates_choose,
                                                   .measure = measure,
                                                   .init = init,
                                                   .push = push,
                                                   .merge = merge,
                                                   .write = write,
                                                   .bar = bar,
                                                   .raise = raise_bars,
                                                   .export_bytes = export_bytes,
                                                   .import_bytes = import_bytes};
