/* SPDX-License-Identifier: Apache-2.0 */
#include "large.h"

#include <string.h>

#include "../base/alloc.h"
#include "../base/fail.h"

enum {
    RESULT_BYTES = 32, /* memory of a result */
    BUCKET_BYTES =
        64, /* of one in a bucket: its value, position, both again where it is ranked, and workspace */
    SLACK_DIVISOR = 4, /* elements that are no results have room in this part of a piece's bytes */
};

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void large_begin(struct large *large, struct session *session, const struct options *options,
                 const struct matrix *matrix, const topk_predicate *predicate, struct progress *progress) {
    const topk_type type = matrix->layout.type;
    const int64_t listed_bytes = (int64_t)(topk_type_size(type) + sizeof *large->indices);
    const int64_t results = least(options->k, matrix->layout.cols);
    if (predicate == NULL) /* else nobody knows how many results there will be */
        require_memory((uint64_t)results,
                       options->problem.order == TOPK_ORDER_BEST_FIRST ? RESULT_BYTES : (size_t)listed_bytes,
                       "the results of -k");
    *large = (struct large){.options = options, .problem = session_problem(options, type, 1, 0, 0)};
    session_choose_freely(&large->problem);
    large->room = results + options->piece_bytes / SLACK_DIVISOR / listed_bytes;
    large->values = allocate((uint64_t)large->room, topk_type_size(type));
    large->indices = allocate((uint64_t)large->room, sizeof *large->indices);
    large->bucket_max =
        (options->piece_bytes / 2 + results * (RESULT_BYTES - listed_bytes)) / BUCKET_BYTES + 2;
    reader_begin(&large->reader, session, options, matrix, predicate, progress);
    classes_begin(&large->classes, session->host, options, type, large->reader.chunk);
}

void large_end(struct large *large) {
    classes_end(&large->classes);
    reader_end(&large->reader);
    release(large->values);
    release(large->indices);
}

static char *value_at(const struct large *large, int64_t slot) {
    return large->values + (size_t)slot * topk_type_size(large->problem.type);
}

/* ---- The list -------------------------------------------------------------------------------- */

static void take_chunk(void *state, const struct shown *shown) {
    struct large *large = state;
    int64_t *indices = large->indices + large->listed;
    const int64_t room = large->listed_max - large->listed;
    const int64_t found = classes_collect(&large->classes, large->range, shown->values, shown->count,
                                          shown->indices == NULL ? shown->base : 0,
                                          value_at(large, large->listed), indices, room);
    const int64_t listed = least(found, room);
    for (int64_t i = 0; shown->indices != NULL && i < listed; i++)
        indices[i] = shown->indices[indices[i]];
    large->listed += listed;
    large->found += found;
}

static void list(struct large *large, struct class_range range, int64_t most) {
    large->range = range;
    large->listed_max = large->listed + most;
    large->found = 0;
    reader_pass(&large->reader, take_chunk, large);
}

/* False: there are fewer than k elements in and above the class, and others below, or too many for the list.
 */
static bool list_by_guess(struct large *large) {
    uint64_t class;
    if (!narrow_guess(&large->reader, large->options, large->options->k, large->room, &class))
        return false;
    list(large, (struct class_range){class, CLASS_BEST}, large->room);
    return large->found == large->listed && (large->listed >= large->options->k || class == CLASS_WORST);
}

static void list_exactly(struct large *large) {
    struct place place;
    reader_expect(&large->reader, 1 + 2); /* to narrow down, and for the two lists below */
    narrow_row(&large->reader, large->options, &large->options->k, 1, &place);
    const uint64_t worst = place.equal > 0 ? place.class + 1 : CLASS_WORST;
    const int64_t equal = place.equal > 0 ? large->options->k - place.better : 0;
    large->listed = 0;
    reader_expect(&large->reader, (place.better > 0) + (equal > 0));
    if (place.better > 0)
        list(large, (struct class_range){worst, CLASS_BEST}, place.better);
    if (equal > 0)
        list(large, (struct class_range){place.class, place.class}, equal);
    if (large->listed != place.better + equal)
        fail("the input file changes while it is read");
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Emits the `k` best of some elements. */
static void rank(struct large *large, const void *values, const int64_t *indices, int64_t count, int64_t k,
                 large_emit *emit, void *state) {
    topk_problem problem = large->problem;
    problem.length_max = count;
    problem.k_max = k;
    session_rank(large->reader.host, &problem, values, indices, large->ranked_values, large->ranked_indices);
    emit(state, large->ranked_values, large->ranked_indices, k);
}

/* The k-th of the list. */
static void place_of(struct large *large, int64_t k, struct place *place) {
    topk_problem problem = large->problem;
    problem.length_max = large->listed;
    problem.k_max = k;
    session_kth(large->reader.host, &problem, large->values, NULL, place->kth, &place->better, &place->equal);
    place->class = classes_of(&large->classes, place->kth);
}

/* Copies what is in the range, of `block` elements of the list from `slot` on, into the bucket behind what
 * fills it. Returns how many there are. */
static int64_t add_to_bucket(struct large *large, struct class_range range, int64_t slot, int64_t block,
                             int64_t filled) {
    int64_t *indices = large->bucket_indices + filled;
    const int64_t found =
        classes_collect(&large->classes, range, value_at(large, slot), block, slot,
                        large->bucket_values + (size_t)filled * topk_type_size(large->problem.type), indices,
                        large->bucket_max - filled);
    for (int64_t i = 0; i < found; i++)
        indices[i] = large->indices[indices[i]];
    return found;
}

static int64_t block_max(const struct large *large) {
    return least(large->reader.chunk, large->bucket_max);
}

/* Emits the first `most` elements of the list that are in the range, in the list's order. */
static void emit_range(struct large *large, struct class_range range, int64_t most, large_emit *emit,
                       void *state) {
    const int64_t block = block_max(large);
    for (int64_t slot = 0; slot < large->listed && most > 0; slot += block) {
        const int64_t found = add_to_bucket(large, range, slot, least(block, large->listed - slot), 0);
        emit(state, large->bucket_values, large->bucket_indices, least(found, most));
        most -= least(found, most);
    }
}

/* What of the list is in a range, block by block, in a half of the bucket. */
struct cursor {
    struct class_range range;
    int64_t slot;           /* the next block of the list */
    int64_t most;           /* elements that are still wanted, of the half and of the list */
    int64_t first, at, end; /* of the bucket: the half begins, and these are there */
};

/* Whether there is another element. Refills the half if it has none. */
static bool refill(struct large *large, struct cursor *c, int64_t block) {
    while (c->at == c->end && c->slot < large->listed && c->most > 0) {
        const int64_t count = least(block, large->listed - c->slot);
        c->at = c->first;
        c->end = c->first + add_to_bucket(large, c->range, c->slot, count, c->first);
        c->slot += count;
    }
    return c->at < c->end && c->most > 0;
}

/* Emits the results by position: all elements above a class, and the first `equal` of it. Each come so. */
static void emit_by_position(struct large *large, const struct place *place, int64_t equal, large_emit *emit,
                             void *state) {
    const size_t bytes = topk_type_size(large->problem.type);
    const int64_t room = least(large->listed, large->bucket_max), half = (room + 1) / 2;
    const int64_t block = least(large->reader.chunk, least(half, large->bucket_max / 2));
    struct cursor better = {.range = {place->class + 1, CLASS_BEST}, .most = place->better};
    struct cursor ties = {{place->class, place->class}, 0, equal, half, half, half};
    int64_t count = 0;
    while (true) {
        const bool has_better = refill(large, &better, block), has_tie = refill(large, &ties, block);
        if (count == room || (!has_better && !has_tie)) {
            emit(state, large->ranked_values, large->ranked_indices, count);
            count = 0;
        }
        if (!has_better && !has_tie)
            return;
        const bool takes_tie =
            has_tie && (!has_better || large->bucket_indices[ties.at] < large->bucket_indices[better.at]);
        struct cursor *const c = takes_tie ? &ties : &better;
        memcpy(large->ranked_values + (size_t)count * bytes, large->bucket_values + (size_t)c->at * bytes,
               bytes);
        large->ranked_indices[count++] = large->bucket_indices[c->at++];
        c->most--;
    }
}

/* Emits all that are in the range, which have room in the bucket, best first. */
static void rank_range(struct large *large, struct class_range range, large_emit *emit, void *state) {
    const int64_t block = block_max(large);
    int64_t filled = 0;
    for (int64_t slot = 0; slot < large->listed; slot += block)
        filled += add_to_bucket(large, range, slot, least(block, large->listed - slot), filled);
    rank(large, large->bucket_values, large->bucket_indices, filled, filled, emit, state);
}

/* Emits the `count` elements above a class, best first: bucket by bucket, and the class behind each. */
static void emit_ranked(struct large *large, uint64_t class, int64_t count, large_emit *emit, void *state) {
    struct class_range range = {class + 1, CLASS_BEST};
    int64_t emitted = 0;
    while (count - emitted > large->bucket_max) {
        struct place place;
        place_of(large, emitted + large->bucket_max, &place);
        if (place.better > emitted)
            rank_range(large, (struct class_range){place.class + 1, range.best}, emit, state);
        emit_range(large, (struct class_range){place.class, place.class}, place.equal, emit, state);
        emitted = place.better + place.equal;
        range.best = place.class - 1;
    }
    if (emitted < count)
        rank_range(large, range, emit, state);
}

static void emit_results(struct large *large, int64_t k, large_emit *emit, void *state) {
    const topk_order order = large->problem.order;
    struct place place;
    if (order == TOPK_ORDER_BEST_FIRST && large->listed <= large->bucket_max) {
        rank(large, large->values, large->indices, large->listed, k, emit, state);
        return;
    }
    place_of(large, k, &place);
    if (order == TOPK_ORDER_BY_POSITION) {
        emit_by_position(large, &place, k - place.better, emit, state);
        return;
    }
    if (order == TOPK_ORDER_ANY)
        emit_range(large, (struct class_range){place.class + 1, CLASS_BEST}, place.better, emit, state);
    else
        emit_ranked(large, place.class, place.better, emit, state);
    emit_range(large, (struct class_range){place.class, place.class}, k - place.better, emit, state);
}

static void allocate_bucket(struct large *large) {
    const size_t element = topk_type_size(large->problem.type);
    const uint64_t room = (uint64_t)least(large->listed, large->bucket_max);
    large->bucket_values = allocate(room + 1, element); /* two halves */
    large->bucket_indices = allocate(room + 1, sizeof *large->bucket_indices);
    large->ranked_values = allocate(room, element);
    large->ranked_indices = allocate(room, sizeof *large->ranked_indices);
}

static void release_bucket(struct large *large) {
    release(large->bucket_values);
    release(large->bucket_indices);
    release(large->ranked_values);
    release(large->ranked_indices);
}

void large_row(struct large *large, int64_t row, large_emit *emit, void *state) {
    reader_go(&large->reader, row);
    large->listed = 0;
    if (!list_by_guess(large))
        list_exactly(large);
    const int64_t k = least(large->listed, large->options->k);
    if (k == 0)
        return;
    allocate_bucket(large);
    emit_results(large, k, emit, state);
    release_bucket(large);
}
