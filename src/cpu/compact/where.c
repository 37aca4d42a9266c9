/* SPDX-License-Identifier: Apache-2.0
 * topk_where in one pass over the input, results in input order.
 *
 * A thread draws the next unit, makes the masks of its elements and counts them; waits for its turn, when
 * the units before it have been counted; takes its slots in the output; and moves its results there
 * while the units after it go on. After Bakunas-Milanowski et al., A fast parallel selection algorithm
 * on GPUs: masks first, slots from a scan of counts, then the move; here the scan is the chain of turns. */
#include <limits.h>

#include "../output.h"
#include "../team.h"
#include "../waiting.h"
#include "job.h"

struct where {
    struct job *job;
    struct awaited
        turn; /* the number of the unit whose turn it is to take slots: the lowest bits tell units apart */
    int64_t results; /* of all units before it; its owner's while it has the turn */
};

/* Writes the results of one piece; the first is number `at`. */
static void move_piece(const struct where *where, struct piece piece, uint64_t *mask, size_t count,
                       int64_t at) {
    const struct call *call = where->job->call;
    struct masked from = {mask, words_of((size_t)piece.count), count, piece.element, piece.offset};
    const int64_t room = call->capacity - at;
    if (room <= 0) {
        return;
    }
    if ((int64_t)count > room) {
        from.count = (size_t)room;
        mask_keep_first(mask, from.words, from.count);
    }
    topk_cpu_write_masked(call, &from, at);
}

/* Waits until all units before this one have their slots, and takes `count` behind them. */
static int64_t take_slots(struct where *where, const struct unit *unit, int64_t count) {
    const bool shared = where->job->units.shared;
    for (int turn; shared && (turn = atomic_load(&where->turn.value)) != (int)unit->number;) {
        topk_cpu_await(&where->turn, turn, AWAKE_FOR_TURN_NS); /* the owner of the turn may not be running */
    }
    const int64_t at = where->results;
    where->results += count;
    if (shared) {
        atomic_store(&where->turn.value, (int)(unit->number + 1));
        topk_cpu_wake(&where->turn, INT_MAX);
    }
    return at;
}

static void run_unit(struct where *where, const struct unit *unit, struct unit_masks *masks) {
    const struct job *job = where->job;
    int64_t *offsets = job->call->offsets;
    int64_t count = 0;
    struct walk walk = walk_begin(&job->units, unit);
    uint64_t *mask = masks->mask;
    for (int i = 0; i < unit->pieces; i++) {
        const struct piece piece = topk_cpu_walk_next(&job->units, &walk);
        masks->counts[i] = (uint32_t)mask_piece(job, &piece, mask);
        count += masks->counts[i];
        mask += words_of((size_t)piece.count);
    }
    int64_t at = take_slots(where, unit, count);
    walk = walk_begin(&job->units, unit);
    mask = masks->mask;
    for (int i = 0; i < unit->pieces; i++) {
        const struct piece piece = topk_cpu_walk_next(&job->units, &walk);
        if (offsets != NULL && piece.offset == 0) {
            offsets[piece.row] = at;
        }
        move_piece(where, piece, mask, masks->counts[i], at);
        at += masks->counts[i];
        mask += words_of((size_t)piece.count);
    }
}

static void run_part(void *argument, int part, int parts) {
    struct where *where = argument;
    struct unit unit;
    (void)parts;
    while (topk_cpu_units_draw(&where->job->units, &unit)) {
        run_unit(where, &unit, &where->job->masks[part]);
    }
}

void topk_cpu_compact_where(struct job *job) {
    const struct call *call = job->call;
    const struct plan *plan = call->plan;
    struct where where = {.job = job};
    topk_cpu_team_run(job->call->context, job->threads, run_part, &where);
    if (call->offsets != NULL) {
        call->offsets[plan->problem.rows] = where.results;
    }
}
