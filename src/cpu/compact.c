/* SPDX-License-Identifier: Apache-2.0
 * The method for topk_where: one pass over the input, results in input order.
 *
 * The rows, laid end to end, are cut into units of about UNIT elements. A thread draws the next unit,
 * makes the masks of its elements and counts them; waits for its turn, when the units before it
 * have been counted; takes its places in the output; and moves its results there while the
 * units after it go on. After Bakunas-Milanowski et al., A fast parallel selection algorithm on GPUs:
 * masks first, places from a scan of counts, then the move; here the scan is the chain of turns. */
#include "compact.h"

#include <sched.h>
#include <stdatomic.h>

#include "kernels/kernels.h"
#include "output.h"
#include "team.h"

/* Pieces of a unit at most, each the part of one row; each has masks of whole words. */
enum { PIECES_MAX = UNIT / WORD, UNIT_WORDS = PIECES_MAX + UNIT / WORD };

/* A place in the rows laid end to end. */
struct place {
    int64_t row, offset;
};

struct unit {
    uint64_t mask[UNIT_WORDS];
    struct place begin;
    int64_t number; /* of the unit, from 0 */
    int pieces;
    uint32_t counts[PIECES_MAX];
};

struct job {
    const struct call *call;
    const struct kernels *kernels;
    const struct kernels *byte_kernels, *index_kernels;
    struct placing placing;
    struct match match;
    int64_t unit_elements;
    struct unit *units;  /* one for each thread */
    atomic_flag drawing; /* guards the next two */
    struct place next;
    int64_t next_number;
    _Atomic int64_t turn; /* the unit whose turn it is to take places */
    int64_t results;      /* of all units before it; its owner's while it has the turn */
};

/* One row's part in a unit. */
struct piece {
    int64_t row, offset, count;
    int64_t element; /* its first, in values */
};

static struct piece piece_at(const struct job *job, struct place place, int64_t room) {
    const struct row_extent extent = plan_row(job->call->plan, &job->call->input, place.row);
    const int64_t rest = extent.length - place.offset;
    return (struct piece){place.row, place.offset, rest < room ? rest : room, extent.begin + place.offset};
}

/* Where the next piece begins: in the same row only if `room` cut it. */
static struct place place_after(const struct job *job, struct piece piece) {
    const struct row_extent extent = plan_row(job->call->plan, &job->call->input, piece.row);
    const int64_t end = piece.offset + piece.count;
    return end < extent.length ? (struct place){piece.row, end} : (struct place){piece.row + 1, 0};
}

/* Draws the next unit; false if there is none. */
static bool draw(struct job *job, struct unit *unit) {
    const int64_t rows = job->call->plan->problem.rows;
    int64_t room = job->unit_elements;
    while (atomic_flag_test_and_set_explicit(&job->drawing, memory_order_acquire)) {
        sched_yield();
    }
    unit->begin = job->next;
    unit->number = job->next_number;
    for (unit->pieces = 0; job->next.row < rows && unit->pieces < PIECES_MAX && room > 0; unit->pieces++) {
        const struct piece piece = piece_at(job, job->next, room);
        room -= piece.count;
        job->next = place_after(job, piece);
    }
    job->next_number += unit->pieces > 0;
    atomic_flag_clear_explicit(&job->drawing, memory_order_release);
    return unit->pieces > 0;
}

/* Bits [first, first + n) of a bit mask, as a mask of words. */
static size_t copy_bits(const unsigned char *bits, size_t first, size_t n, uint64_t *mask) {
    size_t count = 0;
    for (size_t w = 0; w < words_of(n); w++) {
        const size_t begin = first + w * WORD, rest = n - w * WORD, wanted = rest < WORD ? rest : WORD;
        const size_t shift = begin % 8, bytes = (shift + wanted + 7) / 8;
        uint64_t word = 0;
        for (size_t i = 0; i < bytes && i < 8; i++) {
            word |= (uint64_t)bits[begin / 8 + i] << 8 * i;
        }
        word >>= shift;
        if (bytes > 8) {
            word |= (uint64_t)bits[begin / 8 + 8] << (64 - shift);
        }
        mask[w] = word & UINT64_MAX >> (WORD - wanted);
        count += (size_t)__builtin_popcountll(mask[w]);
    }
    return count;
}

static size_t match_piece(const struct job *job, struct piece piece, uint64_t *mask) {
    static const struct match not_zero = {{1, 254}, false};
    const topk_predicate *predicate = job->call->predicate;
    const size_t n = (size_t)piece.count, element = (size_t)piece.element;
    if (n == 0) {
        return 0;
    }
    if (predicate->kind == TOPK_BIT_MASK) {
        return copy_bits(predicate->mask, element, n, mask);
    }
    if (predicate->kind == TOPK_BYTE_MASK) {
        return job->byte_kernels->match((const char *)predicate->mask + element, n, &topk_unsigned_placing,
                                        &not_zero, mask);
    }
    const char *values = (const char *)job->call->input.values + element * job->call->plan->element_bytes;
    return job->kernels->match(values, n, &job->placing, &job->match, mask);
}

/* Writes the results of one piece, of which the first is number `at`. */
static void move_piece(const struct job *job, struct piece piece, uint64_t *mask, size_t count, int64_t at) {
    const struct call *call = job->call;
    const struct plan *plan = call->plan;
    const size_t words = words_of((size_t)piece.count), element = (size_t)piece.element;
    const int64_t room = call->capacity - at;
    if (room <= 0) {
        return;
    }
    if ((int64_t)count > room) {
        mask_keep_first(mask, words, (size_t)room);
        count = (size_t)room;
    }
    if (call->values != NULL) {
        (void)job->kernels->take((const char *)call->input.values + element * plan->element_bytes, mask,
                                 words, (char *)call->values + (size_t)at * plan->element_bytes, count);
    }
    if (call->indices == NULL) {
        return;
    }
    char *indices = (char *)call->indices + (size_t)at * plan->index_bytes;
    if (call->input.indices != NULL) {
        (void)job->index_kernels->take((const char *)call->input.indices + element * plan->index_bytes, mask,
                                       words, indices, count);
    } else if (plan->index_bytes == 4) {
        const uint32_t first = (uint32_t)(piece.offset + plan->problem.index_base);
        (void)job->kernels->positions32(mask, words, first, (uint32_t *)(void *)indices, count);
    } else {
        const uint64_t first = (uint64_t)(piece.offset + plan->problem.index_base);
        (void)job->kernels->positions64(mask, words, first, (uint64_t *)(void *)indices, count);
    }
}

/* Waits until all units before this one have their places, and takes `count` behind them. */
static int64_t take_places(struct job *job, const struct unit *unit, int64_t count) {
    for (unsigned spins = 0; atomic_load_explicit(&job->turn, memory_order_acquire) != unit->number;
         spins++) {
        if (spins > 1000) {
            sched_yield(); /* the owner of the turn may not be running */
        }
    }
    const int64_t at = job->results;
    job->results += count;
    atomic_store_explicit(&job->turn, unit->number + 1, memory_order_release);
    return at;
}

static void run_unit(struct job *job, struct unit *unit) {
    int64_t *offsets = job->call->offsets;
    int64_t count = 0, room = job->unit_elements;
    struct place place = unit->begin;
    size_t word = 0;
    for (int i = 0; i < unit->pieces; i++) {
        const struct piece piece = piece_at(job, place, room);
        unit->counts[i] = (uint32_t)match_piece(job, piece, unit->mask + word);
        count += unit->counts[i];
        word += words_of((size_t)piece.count);
        room -= piece.count;
        place = place_after(job, piece);
    }
    int64_t at = take_places(job, unit, count);
    place = unit->begin;
    room = job->unit_elements;
    word = 0;
    for (int i = 0; i < unit->pieces; i++) {
        const struct piece piece = piece_at(job, place, room);
        if (offsets != NULL && piece.offset == 0) {
            offsets[piece.row] = at;
        }
        move_piece(job, piece, unit->mask + word, unit->counts[i], at);
        at += unit->counts[i];
        word += words_of((size_t)piece.count);
        room -= piece.count;
        place = place_after(job, piece);
    }
}

static void run_part(void *argument, int part, int parts) {
    struct job *job = argument;
    struct unit *unit = &job->units[part];
    (void)parts;
    while (draw(job, unit)) {
        run_unit(job, unit);
    }
}

const char *topk_compact_refuse(const topk_context *context, const struct plan *plan) {
    (void)context, (void)plan;
    return NULL;
}

double topk_compact_cost_us(const topk_context *context, const struct plan *plan) {
    return 5.0 + (double)plan->input_elements * (double)plan->element_bytes / 2e4 / context->threads;
}

size_t topk_compact_workspace_bytes(const topk_context *context, const struct plan *plan) {
    struct arena arena = arena_over(NULL);
    (void)plan;
    (void)arena_take(&arena, (size_t)context->threads, sizeof(struct unit));
    return arena_bytes(&arena);
}

/* A few units for each thread, within the limits. */
static int64_t unit_elements(const struct plan *plan, int threads) {
    const size_t fair = words_of(plan->input_elements / (4 * (size_t)threads)) * WORD;
    return fair < UNIT_MIN ? UNIT_MIN : fair > UNIT ? UNIT : (int64_t)fair;
}

topk_status topk_compact_run(const struct call *call) {
    const struct plan *plan = call->plan;
    const int threads = team_size(topk_context_threads(call->context), plan->input_elements);
    struct arena arena = arena_over(call->workspace);
    struct job job = {
        .call = call,
        .kernels = topk_kernels_for(call->context, plan->element_bits),
        .byte_kernels = topk_kernels_for(call->context, 8),
        .index_kernels = topk_kernels_for(call->context, (unsigned)plan->index_bytes * 8),
        .placing = plan->placing,
        .units = arena_take(&arena, (size_t)call->context->threads, sizeof(struct unit)),
        .unit_elements = unit_elements(plan, threads),
        .drawing = ATOMIC_FLAG_INIT,
    };
    if (predicate_compares(call->predicate->kind)) {
        job.match = topk_predicate_match(call->predicate, plan->problem.type);
    }
    topk_team_run(plan->input_elements >= TEAM_ELEMENTS_MIN ? topk_context_threads(call->context) : 1,
                  run_part, &job);
    if (call->offsets != NULL) {
        call->offsets[plan->problem.rows] = job.results;
    }
    return TOPK_OK;
}
