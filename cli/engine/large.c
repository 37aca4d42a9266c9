/* SPDX-License-Identifier: Apache-2.0 */
#include "large.h"

#include <string.h>

#include "../base/alloc.h"
#include "../base/fail.h"

enum {
    RESULT_BYTES = 32, /* memory of a result */
    BUCKET_BYTES =
        64, /* of one in a bucket: its value, position, both again where it is ranked, and workspace */
};

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void large_begin(struct large *large, struct session *session, const struct options *options,
                 const struct matrix *matrix, const topk_predicate *predicate, struct progress *progress) {
    const topk_type type = matrix->layout.type;
    const size_t element = topk_type_size(type);
    const int64_t results = least(options->k, matrix->layout.cols);
    const int64_t spare = RESULT_BYTES - (int64_t)(element + sizeof *large->indices);
    *large = (struct large){.options = options, .problem = session_problem(options, type, 1, 0, 0)};
    session_choose_freely(&large->problem);
    require_memory((uint64_t)results, RESULT_BYTES, "the results of -k");
    large->values = allocate((uint64_t)results, element);
    large->indices = allocate((uint64_t)results, sizeof *large->indices);
    large->bucket_max =
        (options->piece_bytes / 2 + least(results, INT64_MAX / RESULT_BYTES) * spare) / BUCKET_BYTES + 1;
    reader_begin(&large->reader, session, options, matrix, predicate, progress);
    classes_begin(&large->classes, session->host, options, type, large->reader.chunk);
}

void large_end(struct large *large) {
    classes_end(&large->classes);
    reader_end(&large->reader);
    release(large->values);
    release(large->indices);
}

/* ---- Collecting ------------------------------------------------------------------------------ */

/* Collects from a chunk into slots from `slot` on. Returns how many there are, of which no more than `wanted`
 * are written. */
static int64_t collect(struct large *large, struct class_range range, const struct shown *shown, int64_t slot,
                       int64_t wanted) {
    int64_t *indices = large->indices + slot;
    const int64_t found = classes_collect(
        &large->classes, range, shown->values, shown->count, shown->indices == NULL ? shown->base : 0,
        large->values + (size_t)slot * topk_type_size(large->problem.type), indices, wanted);
    for (int64_t i = 0; shown->indices != NULL && i < least(found, wanted); i++)
        indices[i] = shown->indices[indices[i]];
    return found;
}

static void take_chunk(void *state, const struct shown *shown) {
    struct large *large = state;
    const struct place *place = &large->place;
    const struct class_range equal = {place->class, place->class};
    const struct class_range better = {place->equal > 0 ? place->class + 1 : CLASS_WORST, CLASS_BEST};
    if (large->better < place->better)
        large->better += collect(large, better, shown, large->better, place->better - large->better);
    const int64_t wanted = large->equal_wanted - large->equal;
    if (wanted > 0)
        large->equal += least(wanted, collect(large, equal, shown, place->better + large->equal, wanted));
}

/* ---- Order ----------------------------------------------------------------------------------- */

static void rank(struct large *large, const void *values, const int64_t *indices, int64_t count,
                 large_emit *emit, void *state) {
    topk_problem problem = large->problem;
    problem.length_max = problem.k_max = count;
    session_rank(large->reader.host, &problem, values, indices, large->ranked_values, large->ranked_indices);
    emit(state, large->ranked_values, large->ranked_indices, count);
}

/* Copies what is in the range, of `block` results from `slot` on, into the bucket behind what fills it.
 * Returns how many there are. */
static int64_t add_to_bucket(struct large *large, struct class_range range, int64_t slot, int64_t block,
                             int64_t filled) {
    const size_t element = topk_type_size(large->problem.type);
    int64_t *indices = large->bucket_indices + filled;
    const int64_t found =
        classes_collect(&large->classes, range, large->values + (size_t)slot * element, block, slot,
                        large->bucket_values + (size_t)filled * element, indices, large->bucket_max - filled);
    for (int64_t i = 0; i < found; i++)
        indices[i] = large->indices[indices[i]];
    return found;
}

/* Emits the results in a range, which all have room in the bucket, or all tie. */
static void emit_range(struct large *large, struct class_range range, large_emit *emit, void *state) {
    const int64_t block_max = least(large->reader.chunk, large->bucket_max);
    int64_t filled = 0;
    for (int64_t slot = 0; slot < large->better; slot += block_max) {
        filled += add_to_bucket(large, range, slot, least(block_max, large->better - slot), filled);
        if (range.worst == range.best) {
            emit(state, large->bucket_values, large->bucket_indices, filled);
            filled = 0;
        }
    }
    if (filled > 0)
        rank(large, large->bucket_values, large->bucket_indices, filled, emit, state);
}

/* Emits all but the equal results, best first: bucket by bucket, and the class behind each. */
static void emit_ranked(struct large *large, large_emit *emit, void *state) {
    struct class_range range = {CLASS_WORST, CLASS_BEST};
    int64_t emitted = 0;
    while (large->better - emitted > large->bucket_max) {
        topk_problem problem = large->problem;
        char kth[8];
        int64_t better, equal;
        problem.length_max = large->better;
        problem.k_max = emitted + large->bucket_max;
        session_kth(large->reader.host, &problem, large->values, kth, &better, &equal);
        const uint64_t class = classes_of(&large->classes, kth);
        if (better > emitted)
            emit_range(large, (struct class_range){class + 1, range.best}, emit, state);
        emit_range(large, (struct class_range){class, class}, emit, state);
        emitted = better + equal;
        range.best = class - 1;
    }
    if (emitted == 0)
        rank(large, large->values, large->indices, large->better, emit, state);
    else if (emitted < large->better)
        emit_range(large, range, emit, state);
}

static void allocate_bucket(struct large *large, int64_t results) {
    const size_t element = topk_type_size(large->problem.type);
    const uint64_t room = (uint64_t)least(results, large->bucket_max);
    large->bucket_values = allocate(room, element);
    large->bucket_indices = allocate(room, sizeof *large->bucket_indices);
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
    narrow_row(&large->reader, large->options, large->options->k, &large->place);
    large->better = large->equal = 0;
    large->equal_wanted = large->place.equal > 0 ? large->options->k - large->place.better : 0;
    reader_pass(&large->reader, take_chunk, large);
    if (large->better != large->place.better || large->equal != large->equal_wanted)
        fail("the input file changes while it is read");
    if (large->problem.order == TOPK_ORDER_ANY) {
        emit(state, large->values, large->indices, large->better);
    } else if (large->better > 0) {
        allocate_bucket(large, large->better);
        emit_ranked(large, emit, state);
        release_bucket(large);
    }
    emit(state, large->values + (size_t)large->better * topk_type_size(large->problem.type),
         large->indices + large->better, large->equal);
}
