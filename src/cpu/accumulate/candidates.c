/* SPDX-License-Identifier: Apache-2.0 */
#include "candidates.h"

#include "../output.h"

#include <string.h>

/* ---- Layout ---- */

enum { KTH, BEST, SORTED };

static size_t room_of(const struct plan *plan) {
    return plan->output_elements == 0 ? 0 : 2 * (size_t)plan->problem.k_max;
}

topk_status topk_candidates_choose(struct accumulator *a) {
    const int64_t room = (int64_t)room_of(&a->plan);
    const topk_problem positions = topk_accumulator_positions(a, room), *elements = &a->plan.problem;
    struct subcall *of = a->of_candidates;
    topk_status status = topk_accumulator_choose(a, TOPK_OPERATION_KTH, elements, room, room, &of[KTH]);
    if (status == TOPK_OK) {
        status = topk_accumulator_choose(a, TOPK_OPERATION_SELECT, elements, room, room, &of[BEST]);
    }
    return status != TOPK_OK
               ? status
               : topk_accumulator_choose(a, TOPK_OPERATION_SELECT, &positions, room, room, &of[SORTED]);
}

struct candidates topk_candidates_of(const struct accumulator *a) {
    const struct subcall *of = a->of_candidates;
    return (struct candidates){.context = a->context,
                               .plan = &a->plan,
                               .room = room_of(&a->plan),
                               .kth = &of[KTH],
                               .best = &of[BEST],
                               .sorted = &of[SORTED]};
}

static size_t row_count(const struct candidates *c) {
    return (size_t)c->plan->problem.rows;
}

void topk_candidates_take(struct candidates *c, struct arena *arena) {
    const size_t slots = 2 * c->plan->output_elements;
    c->rows = arena_take(arena, row_count(c), sizeof *c->rows);
    c->values = arena_take(arena, slots, c->plan->element_bytes);
    c->positions = arena_take(arena, slots, sizeof *c->positions);
    c->payload = arena_take(arena, slots, c->plan->index_bytes);
    c->lengths = arena_take(arena, row_count(c), sizeof *c->lengths);
    c->ks = arena_take(arena, row_count(c), sizeof *c->ks);
}

/* Each selection has the scratch to itself. Over NULL it is measured. */
struct kth_results {
    void *workspace;
    char *values;
    int64_t *better;
    size_t bytes;
};

static struct kth_results lay_out_kth(const struct candidates *c, void *scratch) {
    struct arena arena = {scratch, 0};
    struct kth_results results;
    results.workspace = arena_take(&arena, 1, c->kth->decision.workspace_bytes);
    results.values = arena_take(&arena, row_count(c), c->plan->element_bytes);
    results.better = arena_take(&arena, row_count(c), sizeof *results.better);
    results.bytes = arena.used;
    return results;
}

struct best_results {
    void *workspace;
    int64_t *places; /* of each row, k_max of them */
    size_t bytes;
};

static struct best_results lay_out_best(const struct candidates *c, void *scratch) {
    struct arena arena = {scratch, 0};
    struct best_results results;
    results.workspace = arena_take(&arena, 1, c->best->decision.workspace_bytes);
    results.places = arena_take(&arena, c->plan->output_elements, sizeof *results.places);
    results.bytes = arena.used;
    return results;
}

struct sorted_results {
    void *workspace;
    int64_t *positions, *places; /* of each row, `room` of them */
    size_t bytes;
};

static struct sorted_results lay_out_sorted(const struct candidates *c, void *scratch) {
    const size_t slots = 2 * c->plan->output_elements;
    struct arena arena = {scratch, 0};
    struct sorted_results results;
    results.workspace = arena_take(&arena, 1, c->sorted->decision.workspace_bytes);
    results.positions = arena_take(&arena, slots, sizeof *results.positions);
    results.places = arena_take(&arena, slots, sizeof *results.places);
    results.bytes = arena.used;
    return results;
}

static size_t greater(size_t a, size_t b) {
    return a > b ? a : b;
}

size_t topk_candidates_scratch_bytes(const struct candidates *c) {
    return greater(lay_out_kth(c, NULL).bytes,
                   greater(lay_out_best(c, NULL).bytes, lay_out_sorted(c, NULL).bytes));
}

void topk_candidates_clear(const struct candidates *c) {
    for (size_t row = 0; row < row_count(c); row++) {
        c->rows[row] = (struct candidate_row){.k = c->plan->problem.k_max, .ascends = true};
    }
}

/* ---- Elements ---- */

/* Little endian. `bytes` is a constant where these are called. */
static inline __attribute__((always_inline)) uint64_t load(const char *array, size_t at, size_t bytes) {
    uint64_t bits = 0;
    memcpy(&bits, array + at * bytes, bytes);
    return bits;
}

static inline __attribute__((always_inline)) void copy_one(char *to, size_t to_at, const char *from,
                                                           size_t from_at, size_t bytes) {
    memcpy(to + to_at * bytes, from + from_at * bytes, bytes);
}

static void copy_index(char *to, size_t to_at, const char *from, size_t from_at, size_t bytes) {
    if (bytes == 4) {
        copy_one(to, to_at, from, from_at, 4);
    } else {
        copy_one(to, to_at, from, from_at, 8);
    }
}

/* Calls a function that has the bytes of an element as its last argument with a constant. */
#define BY_ELEMENT_BYTES(element_bytes, function, ...)                                                       \
    do {                                                                                                     \
        switch (element_bytes) {                                                                             \
        case 1:                                                                                              \
            function(__VA_ARGS__, 1);                                                                        \
            break;                                                                                           \
        case 2:                                                                                              \
            function(__VA_ARGS__, 2);                                                                        \
            break;                                                                                           \
        case 4:                                                                                              \
            function(__VA_ARGS__, 4);                                                                        \
            break;                                                                                           \
        default:                                                                                             \
            function(__VA_ARGS__, 8);                                                                        \
        }                                                                                                    \
    } while (0)

/* One row's arrays. */
struct lists {
    char *values;
    int64_t *positions;
    char *payload;
};

static struct lists lists_of(const struct candidates *c, int64_t row) {
    const size_t first = (size_t)row * c->room;
    return (struct lists){c->values + first * c->plan->element_bytes, c->positions + first,
                          c->payload + first * c->plan->index_bytes};
}

/* ---- Selections from the candidates ---- */

static struct call call_on_candidates(const struct candidates *c, const struct subcall *inner,
                                      void *workspace, const void *values) {
    const struct call outer = {.context = c->context, .input = TOPK_INPUT_INIT};
    struct call call = topk_subcall_call(&outer, inner, workspace);
    call.input.values = values;
    call.input.lengths = c->lengths;
    return call;
}

static void run(const struct candidates *c, const struct call *call) {
    (void)c->context->backend->run(call); /* on the CPU nothing can fail */
}

static inline __attribute__((always_inline)) void gather(char *to, const char *from, const int64_t *places,
                                                         int64_t count, size_t bytes) {
    for (int64_t i = 0; i < count; i++) {
        copy_one(to, (size_t)i, from, (size_t)places[i], bytes);
    }
}

/* Puts a row's candidates into the order of `places`, over `spare`, which has 8 bytes for each. */
static void reorder(const struct candidates *c, int64_t row, const int64_t *places, char *spare) {
    const struct lists lists = lists_of(c, row);
    const size_t bytes = c->plan->element_bytes, index = c->plan->index_bytes;
    const int64_t count = c->rows[row].count;
    BY_ELEMENT_BYTES(bytes, gather, spare, lists.values, places, count);
    memcpy(lists.values, spare, (size_t)count * bytes);
    BY_ELEMENT_BYTES(index, gather, spare, lists.payload, places, count);
    memcpy(lists.payload, spare, (size_t)count * index);
}

/* Sorts rows by position, as far as they have a length. */
static void put_in_order(const struct candidates *c) {
    bool any = false;
    for (size_t row = 0; row < row_count(c); row++) {
        const bool sort = c->lengths[row] > 0 && !c->rows[row].ascends;
        c->ks[row] = c->lengths[row];
        c->lengths[row] = sort ? c->lengths[row] : 0;
        any = any || sort;
    }
    if (any) {
        const struct sorted_results sorted = lay_out_sorted(c, c->scratch);
        struct call call = call_on_candidates(c, c->sorted, sorted.workspace, c->positions);
        call.values = sorted.positions;
        call.indices = sorted.places;
        run(c, &call);
        for (size_t row = 0; row < row_count(c); row++) {
            if (c->lengths[row] > 0) {
                const size_t first = row * c->room;
                memcpy(c->positions + first, sorted.positions + first,
                       (size_t)c->lengths[row] * sizeof *c->positions);
                reorder(c, (int64_t)row, sorted.places + first, (char *)(sorted.positions + first));
                c->rows[row].ascends = true;
            }
        }
    }
    memcpy(c->lengths, c->ks, row_count(c) * sizeof *c->lengths);
}

/* Keeps the elements of keys above the bar, and of the bar's the first `equal`; the last one of these is the
 * bar's position. In order of position. */
static inline __attribute__((always_inline)) void keep_above(const struct candidates *c, int64_t row,
                                                             int64_t equal, size_t bytes) {
    struct candidate_row r = c->rows[row];
    const struct lists lists = lists_of(c, row);
    const struct key_map map = c->plan->map;
    const size_t count = (size_t)r.count, index = c->plan->index_bytes;
    r.count = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = topk_key_encode(load(lists.values, i, bytes), 8 * (unsigned)bytes, &map);
        const size_t to = (size_t)r.count;
        if (key < r.bar_key || (key == r.bar_key && equal == 0)) {
            continue;
        }
        if (key == r.bar_key) {
            equal--;
            r.bar_position = lists.positions[i];
        }
        copy_one(lists.values, to, lists.values, i, bytes);
        copy_index(lists.payload, to, lists.payload, i, index);
        lists.positions[to] = lists.positions[i];
        r.count++;
    }
    c->rows[row] = r;
}

/* Sets the bar, unless the row has one that ranks before it. */
static void raise_bar(struct candidate_row *r, uint64_t key, int64_t position) {
    if (!r->has_bar || key > r->bar_key || (key == r->bar_key && position < r->bar_position)) {
        r->has_bar = true;
        r->bar_key = key;
        r->bar_position = position;
    }
}

static void keep_best(const struct candidates *c, int64_t row, const struct kth_results *kth) {
    struct candidate_row *r = &c->rows[row];
    const struct candidate_row before = *r;
    uint64_t bits = 0;
    if (r->k == 0) {
        r->count = 0;
        return;
    }
    memcpy(&bits, kth->values + (size_t)row * c->plan->element_bytes, c->plan->element_bytes);
    r->bar_key = topk_key_encode(bits, c->plan->element_bits, &c->plan->map);
    r->has_bar = true;
    BY_ELEMENT_BYTES(c->plan->element_bytes, keep_above, c, row, r->k - kth->better[row]);
    if (before.has_bar) {
        raise_bar(r, before.bar_key, before.bar_position);
    }
}

void topk_candidates_bar(const struct candidates *c, void *values, int64_t *positions) {
    for (int64_t row = 0; row < c->plan->problem.rows; row++) {
        const struct candidate_row *r = &c->rows[row];
        if (values != NULL) {
            store_element(values, row, c->plan->element_bytes,
                          r->has_bar ? topk_key_decode(&c->plan->order, r->bar_key) : c->plan->padding);
        }
        if (positions != NULL) {
            positions[row] = r->has_bar ? r->bar_position : -1;
        }
    }
}

void topk_candidates_raise(const struct candidates *c, const void *values, const int64_t *positions) {
    for (int64_t row = 0; row < c->plan->problem.rows; row++) {
        const uint64_t element = read_element(values, row, c->plan->element_bytes);
        if (positions[row] >= 0) {
            raise_bar(&c->rows[row], topk_key_encode(element, c->plan->element_bits, &c->plan->map),
                      positions[row]);
        }
    }
}

static void set_ks(const struct candidates *c) {
    for (size_t row = 0; row < row_count(c); row++) {
        c->ks[row] = c->rows[row].k;
    }
}

/* Leaves the k best of the rows that have a length, in order of position. */
static void reduce(const struct candidates *c) {
    put_in_order(c);
    set_ks(c);
    const struct kth_results kth = lay_out_kth(c, c->scratch);
    struct call call = call_on_candidates(c, c->kth, kth.workspace, c->values);
    call.input.k = c->ks;
    call.values = kth.values;
    call.better = kth.better;
    run(c, &call);
    for (size_t row = 0; row < row_count(c); row++) {
        if (c->lengths[row] > 0) {
            keep_best(c, (int64_t)row, &kth);
        }
    }
}

void topk_candidates_make_room(const struct candidates *c, int64_t count) {
    bool any = false;
    for (size_t row = 0; row < row_count(c); row++) {
        const bool full = (size_t)(c->rows[row].count + count) > c->room;
        c->lengths[row] = full ? c->rows[row].count : 0;
        any = any || full;
    }
    if (any) {
        reduce(c);
    }
}

/* ---- Arrivals ---- */

static inline __attribute__((always_inline)) void append(const struct candidates *c, int64_t row,
                                                         const struct arrivals *arrivals, int64_t count,
                                                         size_t bytes) {
    struct candidate_row r = c->rows[row];
    const struct lists lists = lists_of(c, row);
    const struct arrivals in = *arrivals;
    const struct key_map map = c->plan->map;
    const size_t index = c->plan->index_bytes;
    int64_t last = r.count > 0 ? lists.positions[r.count - 1] : -1;
    for (size_t i = 0; i < (size_t)count; i++) {
        const size_t to = (size_t)r.count;
        const int64_t position = in.base + (in.places == NULL ? (int64_t)i : in.places[i]);
        const uint64_t key = topk_key_encode(load(in.values, i, bytes), 8 * (unsigned)bytes, &map);
        if (r.has_bar && (key < r.bar_key || (key == r.bar_key && position > r.bar_position))) {
            continue;
        }
        copy_one(lists.values, to, in.values, i, bytes);
        if (in.payload != NULL) {
            copy_index(lists.payload, to, in.payload, in.payload_at == NULL ? i : (size_t)in.payload_at[i],
                       index);
        }
        lists.positions[to] = position;
        r.ascends = r.ascends && last < position;
        last = position;
        r.count++;
    }
    c->rows[row] = r;
}

void topk_candidates_append(const struct candidates *c, int64_t row, const struct arrivals *arrivals,
                            int64_t count) {
    if (c->rows[row].k > 0) {
        BY_ELEMENT_BYTES(c->plan->element_bytes, append, c, row, arrivals, count);
    }
}

/* ---- Results ---- */

static void write_indices(const struct candidates *c, int64_t row, const int64_t *places, bool has_payload,
                          char *indices) {
    const struct lists lists = lists_of(c, row);
    const size_t index = c->plan->index_bytes;
    for (size_t i = 0; i < (size_t)c->plan->problem.k_max; i++) {
        const int64_t place = places[i];
        const int64_t position = place < 0 ? -1 : lists.positions[place] + c->plan->problem.index_base;
        if (place >= 0 && has_payload) {
            copy_index(indices, i, lists.payload, (size_t)place, index);
        } else {
            copy_index(indices, i, (const char *)&position, 0, index);
        }
    }
}

/* The result in `slot`, of a row whose candidates are the results, by position. */
static void write_slot(const struct candidates *c, int64_t row, size_t slot, bool has_payload, char *values,
                       char *indices) {
    const struct lists lists = lists_of(c, row);
    const bool is_result = (int64_t)slot < c->rows[row].count;
    const size_t bytes = c->plan->element_bytes, index = c->plan->index_bytes;
    const int64_t position = is_result ? lists.positions[slot] + c->plan->problem.index_base : -1;
    if (values != NULL) {
        memcpy(values, is_result ? lists.values + slot * bytes : (const char *)&c->plan->padding, bytes);
    }
    if (indices != NULL) {
        memcpy(indices, is_result && has_payload ? lists.payload + slot * index : (const char *)&position,
               index);
    }
}

void topk_candidates_settle(const struct candidates *c) {
    for (size_t row = 0; row < row_count(c); row++) {
        c->lengths[row] = c->rows[row].count > c->rows[row].k ? c->rows[row].count : 0;
    }
    reduce(c);
    for (size_t row = 0; row < row_count(c); row++) {
        c->lengths[row] = c->rows[row].count;
    }
    put_in_order(c);
}

static void write_by_position(const struct candidates *c, bool has_payload, char *values, char *indices) {
    const size_t k_max = (size_t)c->plan->problem.k_max;
    topk_candidates_settle(c);
    for (size_t at = 0; at < row_count(c) * k_max; at++) {
        write_slot(c, (int64_t)(at / k_max), at % k_max, has_payload,
                   values == NULL ? NULL : values + at * c->plan->element_bytes,
                   indices == NULL ? NULL : indices + at * c->plan->index_bytes);
    }
}

void topk_candidates_write(const struct candidates *c, bool has_payload, void *values, void *indices) {
    const size_t k_max = (size_t)c->plan->problem.k_max;
    if (c->plan->problem.order == TOPK_ORDER_BY_POSITION) {
        write_by_position(c, has_payload, values, indices);
        return;
    }
    for (size_t row = 0; row < row_count(c); row++) {
        c->lengths[row] = c->rows[row].count;
    }
    put_in_order(c);
    set_ks(c);
    const struct best_results best = lay_out_best(c, c->scratch);
    struct call call = call_on_candidates(c, c->best, best.workspace, c->values);
    call.input.k = c->ks;
    call.values = values;
    call.indices = best.places;
    run(c, &call);
    for (size_t row = 0; indices != NULL && row < row_count(c); row++) {
        write_indices(c, (int64_t)row, best.places + row * k_max, has_payload,
                      (char *)indices + row * k_max * c->plan->index_bytes);
    }
}
