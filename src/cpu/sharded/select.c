/* SPDX-License-Identifier: Apache-2.0
 * The results of a shard, in order of position, in one pass over its elements.
 *
 * A unit is a part of a row, or a short row. A thread draws the next one, makes the masks of the elements
 * above the k-th and of those that tie with it, waits for its turn, when the units before it have been
 * counted, and takes its slots and its ties; then it moves its results while the units behind it go on. Rows
 * of one unit each wait for nothing. */
#include <limits.h>

#include "../matcher.h"
#include "../output.h"
#include "../team.h"
#include "../waiting.h"
#include "state.h"

struct selecting {
    const struct sharded_state *state;
    const struct call *call; /* k_max is the pitch of its outputs */
    const struct kernels *kernels;
    const struct matcher *matcher; /* NULL: all elements count */
    const int64_t *before;
    int64_t splits; /* units of each row */
    size_t unit_elements;
    _Atomic int64_t next;
    struct awaited turn; /* the lowest bits of the number of the unit whose turn it is */
};

/* Which elements of a row are results. */
struct wanted {
    bool all;                        /* that count */
    struct threshold_arcs threshold; /* all above it */
    int64_t own_k, ties;             /* results of the shard, and how many of them tie with the threshold */
};

/* The elements of a unit, and how many are above the threshold and equal to it. */
struct split_unit {
    struct masked from;
    size_t above, equal;
};

/* False if the row has no results that are known. */
static bool make_wanted(const struct sharded *s, const struct sharded_row *row, int64_t before,
                        struct wanted *wanted) {
    if (!sharded_row_selects(row, before)) {
        return false;
    }
    wanted->own_k = sharded_row_own_k(row, before);
    wanted->ties = row->open ? sharded_row_ties(row, before) : 0;
    wanted->all = !row->open;
    if (row->open && row->bits_left == 0) {
        wanted->threshold = topk_threshold_arcs(&s->plan.order, row->low);
    } else if (row->open) { /* no part of the interval is left out */
        wanted->ties = 0;
        wanted->threshold = topk_threshold_arcs(&s->plan.order, row->low - (row->low > 0));
        wanted->all = wanted->threshold.key >= row->low; /* no element has a key below the interval */
    }
    return true;
}

static void set_all(uint64_t *mask, size_t n) {
    memset(mask, 0xff, words_of(n) * sizeof *mask);
    if (n % WORD != 0) {
        mask[n / WORD] = UINT64_MAX >> (WORD - n % WORD);
    }
}

static size_t leave_matches(const struct selecting *job, uint64_t *mask, const uint64_t *matches,
                            size_t words) {
    for (size_t w = 0; w < words; w++) {
        mask[w] &= matches[w];
    }
    return job->kernels->count(mask, words);
}

/* Makes the masks of the unit's elements. */
static void split_elements(const struct selecting *job, const struct wanted *wanted,
                           const struct sharded_masks *masks, size_t n, struct split_unit *unit) {
    const struct plan *plan = job->call->plan;
    const size_t words = words_of(n);
    uint64_t *equal = wanted->ties > 0 ? masks->equal : NULL;
    if (wanted->all) {
        set_all(masks->above, n);
        unit->above = n;
    } else {
        const struct split_counts counts = job->kernels->split(
            (const char *)job->call->input.values + unit->from.element * plan->element_bytes, n,
            &plan->point_map, &wanted->threshold, masks->above, equal);
        unit->above = counts.above;
        unit->equal = equal != NULL ? counts.equal : 0;
    }
    if (job->matcher != NULL) {
        (void)topk_cpu_matcher_mask(job->matcher, unit->from.element, n, masks->matches);
        unit->above = leave_matches(job, masks->above, masks->matches, words);
        unit->equal = equal != NULL ? leave_matches(job, equal, masks->matches, words) : 0;
    }
}

/* Waits until the units before this one have taken their slots. */
static void await_turn(struct selecting *job, int64_t unit) {
    for (int turn; (turn = atomic_load(&job->turn.value)) != (int)unit;) {
        topk_cpu_await(&job->turn, turn, AWAKE_FOR_TURN_NS); /* the owner of the turn may not be running */
    }
}

static void end_turn(struct selecting *job, int64_t unit) {
    atomic_store(&job->turn.value, (int)(unit + 1));
    topk_cpu_wake(&job->turn, INT_MAX);
}

/* Takes slots for the unit's results, whose number becomes unit->from.count; returns the first. */
static int64_t take_slots(const struct wanted *wanted, struct split_unit *unit,
                          struct sharded_written *written) {
    const int64_t at = written->results, left = wanted->ties - written->ties;
    const size_t ties = left <= 0 ? 0 : (size_t)left < unit->equal ? (size_t)left : unit->equal;
    unit->from.count = unit->above + ties;
    written->results += (int64_t)unit->from.count;
    written->ties += (int64_t)unit->equal;
    return at;
}

/* Moves the unit's results to the row's slots from `at` on, as far as it has any. */
static void move_results(const struct selecting *job, const struct wanted *wanted,
                         const struct sharded_masks *masks, struct split_unit *unit, int64_t row,
                         int64_t at) {
    const int64_t pitch = job->call->plan->problem.k_max, end = wanted->own_k < pitch ? wanted->own_k : pitch;
    struct masked *from = &unit->from;
    from->mask = masks->above;
    if (from->count > unit->above) {
        if (from->count < unit->above + unit->equal) {
            mask_keep_first(masks->equal, from->words, from->count - unit->above);
        }
        for (size_t w = 0; w < from->words; w++) {
            masks->above[w] |= masks->equal[w];
        }
    }
    if (at >= end || from->count == 0) {
        return;
    }
    if ((int64_t)from->count > end - at) {
        from->count = (size_t)(end - at);
        mask_keep_first(from->mask, from->words, from->count);
    }
    topk_cpu_write_masked(job->call, from, row * pitch + at);
}

/* The unit's share of the slots behind the row's results; all slots of a row whose results are not known. */
static void pad(const struct selecting *job, int64_t row, int64_t split, int64_t filled, int64_t index) {
    const int64_t pitch = job->call->plan->problem.k_max;
    if (job->state->s->part_number > 0 || filled >= pitch) {
        return;
    }
    const size_t slots = (size_t)(pitch - filled);
    const size_t begin = share(slots, (int)split, (int)job->splits),
                 end = share(slots, (int)split + 1, (int)job->splits);
    topk_cpu_fill_slots(job->call, row * pitch + filled + (int64_t)begin, (int64_t)(end - begin), index);
}

static void run_unit(struct selecting *job, int64_t number, const struct sharded_masks *masks) {
    const int64_t row = number / job->splits, split = number % job->splits;
    const struct sharded_state *state = job->state;
    const struct row_extent extent = plan_row(job->call->plan, &job->call->input, row);
    const size_t n = (size_t)extent.length, first = (size_t)split * job->unit_elements;
    const size_t begin = first < n ? first : n;
    const size_t count = n - begin < job->unit_elements ? n - begin : job->unit_elements;
    struct wanted wanted;
    struct split_unit unit = {
        .from = {NULL, words_of(count), 0, (size_t)extent.begin + begin, (int64_t)begin}};
    const bool known =
        make_wanted(state->s, &state->rows[row], job->before != NULL ? job->before[row] : 0, &wanted);
    const bool reads = known && wanted.own_k > 0 && count > 0;
    if (reads) {
        split_elements(job, &wanted, masks, count, &unit);
    }
    if (job->splits > 1) {
        await_turn(job, number);
    }
    if (state->s->part_number == 0 && split == 0) {
        state->written[row] = (struct sharded_written){0, 0};
    }
    const int64_t at = reads ? take_slots(&wanted, &unit, &state->written[row]) : 0;
    if (job->splits > 1) {
        end_turn(job, number);
    }
    if (reads) {
        move_results(job, &wanted, masks, &unit, row, at);
    }
    pad(job, row, split, known ? wanted.own_k : 0, known ? -1 : -2);
}

static void run_part(void *argument, int part, int parts) {
    struct selecting *job = argument;
    const struct sharded_masks masks = topk_cpu_sharded_scratch(job->state, part).masks;
    const int64_t units = job->state->s->plan.problem.rows * job->splits;
    (void)parts;
    for (int64_t unit; (unit = atomic_fetch_add(&job->next, 1)) < units;) {
        run_unit(job, unit, &masks);
    }
}

/* Units that give each thread a few, and that masks have room for. */
static size_t unit_elements_of(const struct sharded *s, int threads) {
    const size_t fair = words_of((size_t)s->longest / (4 * (size_t)threads)) * WORD;
    return fair < UNIT_MIN ? UNIT_MIN : fair > UNIT ? UNIT : fair;
}

void topk_cpu_sharded_select(const struct sharded_state *state, const topk_input *input,
                             const int64_t *before, void *values, void *indices) {
    const struct sharded *s = state->s;
    const int threads = threads_here(s->context, state->threads);
    const struct call call = {.context = s->context,
                              .plan = &s->part,
                              .input = *input,
                              .predicate = input->predicate,
                              .values = values,
                              .indices = indices};
    const size_t unit = unit_elements_of(s, threads), longest = (size_t)s->longest;
    struct matcher matcher;
    struct selecting job = {.state = state,
                            .call = &call,
                            .kernels = topk_cpu_kernels_for(s->context, s->plan.element_bits),
                            .matcher = topk_cpu_matcher_if_any(&call, &matcher),
                            .before = before,
                            .splits = longest == 0 ? 1 : (int64_t)((longest - 1) / unit + 1),
                            .unit_elements = unit};
    topk_cpu_team_run(s->context, threads, run_part, &job);
}
