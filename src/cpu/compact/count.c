/* SPDX-License-Identifier: Apache-2.0
 * topk_count: the masks of a unit are counted and forgotten. */
#include <string.h>

#include "../team.h"
#include "job.h"

/* A row that lies in one unit is counted at once; the units that share a row add up. */
static void run_unit(const struct job *job, const struct unit *unit, uint64_t *mask) {
    struct walk walk = walk_begin(&job->units, unit);
    for (int i = 0; i < unit->pieces; i++) {
        const struct piece piece = topk_cpu_walk_next(&job->units, &walk);
        const int64_t count = (int64_t)mask_piece(job, &piece, mask);
        int64_t *total = &job->call->counts[piece.row];
        if (piece.offset == 0 && piece.last) {
            *total = count;
        } else {
            (void)__atomic_fetch_add(total, count, __ATOMIC_RELAXED);
        }
    }
}

static void run_part(void *argument, int part, int parts) {
    struct job *job = argument;
    struct unit unit;
    (void)parts;
    while (topk_cpu_units_draw(&job->units, &unit)) {
        run_unit(job, &unit, job->masks[part].mask);
    }
}

void topk_cpu_compact_count(struct job *job) {
    memset(job->call->counts, 0, (size_t)job->call->plan->problem.rows * sizeof *job->call->counts);
    topk_cpu_team_run(job->call->context, job->threads, run_part, job);
}
