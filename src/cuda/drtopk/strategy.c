/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy.h"

#include <math.h>

#include "../lookback.h"
#include "../methods.h"
#include "../select/plan.h"

/* ---- Knobs ---- */

enum { KNOB_BASE, KNOB_BETA, KNOB_EXPONENT, KNOB_FILTER, KNOB_COALESCED, KNOB_SKIP };

/* By the number that `base` has. */
static const struct method *const bases[] = {&topk_cuda_radix,     &topk_cuda_air,    &topk_cuda_radik,
                                             &topk_cuda_bracket,   &topk_cuda_bucket, &topk_cuda_bitonic,
                                             &topk_cuda_gridselect};
enum { BASES = sizeof bases / sizeof bases[0] };

const struct knob topk_cuda_drtopk_knobs[] = {
    [KNOB_BASE] = {"base", KNOB_INTEGER, 0, BASES - 1, 0,
                   "the method of both top-k: 0 radix, 1 air, 2 radik, 3 bracket, 4 bucket, 5 bitonic, "
                   "6 gridselect"},
    [KNOB_BETA] = {"beta", KNOB_INTEGER, 1, DRTOPK_BETA_MAX, DRTOPK_BETA, "delegates of a subrange"},
    [KNOB_EXPONENT] =
        {"exponent", KNOB_INTEGER, DRTOPK_EXPONENT_MIN, DRTOPK_EXPONENT_MAX, DRTOPK_EXPONENT_MIN,
         "subranges have 2^exponent elements; by default the rule tells, and fewer where k needs "
         "more delegates"},
    [KNOB_FILTER] = {"filter", KNOB_SWITCH, 0, 1, 1,
                     "0 keeps also elements that are worse than the k-th delegate"},
    [KNOB_COALESCED] =
        {"coalesced", KNOB_SWITCH, 0, 1, 1,
         "0 has lanes of a warp make the delegates of subranges up to exponent 6, too, in place of "
         "a thread"},
    [KNOB_SKIP] =
        {"skip", KNOB_SWITCH, 0, 1, 1,
         "0 has the first top-k find all digits; 1 ends it once few delegates more than k are left, "
         "by the bases radix, air and bucket"},
    {.name = NULL},
};

static int64_t value_of(const struct plan *plan, int knob) {
    return tuning_value(&plan->tuning, &topk_cuda_drtopk_knobs[knob]);
}

bool topk_cuda_drtopk_names_base(const struct plan *plan) {
    return tuning_given(&plan->tuning, &topk_cuda_drtopk_knobs[KNOB_BASE]) != NULL;
}

/* ---- Strategy ---- */

static uint32_t exponent_min(const struct plan *plan) {
    return plan->element_bytes == 1 ? DRTOPK_EXPONENT_MIN_OF_BYTES : DRTOPK_EXPONENT_MIN;
}

/* What two delegates of a subrange cost, in elements that are scanned again, by width: of one of 64 elements
 * that is loaded side by side with others; of one of at least a chunk; and of one of several in a chunk.
 * bench/exponent.py fits them to times on an H100. */
static const struct {
    double coalesced, whole, part;
} delegate_costs[WIDTHS] = {{6, 45, 64}, {45, 91, 181}, {45, 128, 181}, {23, 45, 64}};

static bool is_coalesced(const struct plan *plan, int64_t exponent) {
    return exponent <= DRTOPK_COALESCED_MAX && value_of(plan, KNOB_COALESCED) != 0;
}

/* How it grows with the size of those that are loaded side by side, and with beta, is as was measured: lanes
 * that share a subrange agree on one delegate after the other. */
static double delegates_cost(const struct plan *plan, int64_t exponent, double beta) {
    const int width = width_of(plan);
    if (is_coalesced(plan, exponent)) {
        return delegate_costs[width].coalesced * (double)((1 << exponent) + 32) / 96;
    }
    const bool is_whole = plan->element_bytes << exponent >= 16 * DRTOPK_CHUNK;
    return (is_whole ? delegate_costs[width].whole : delegate_costs[width].part) * beta * beta / 4;
}

/* What subranges of 2^exponent elements cost, in the same unit: their delegates; what is scanned again; and,
 * since a warp has whole subranges, warps that wait for others at the end. */
static double work_of(const topk_context *context, const struct plan *plan, int64_t exponent, int64_t beta) {
    const double size = (double)(INT64_C(1) << exponent), rows = (double)plan->problem.rows;
    const double of_row = ceil((double)plan->problem.length_max / size), all = rows * of_row;
    const double warps = device_of(context)->sms * DRTOPK_BLOCKS_PER_SM * (DRTOPK_THREADS / 32);
    const double waiting = !is_coalesced(plan, exponent) ? ceil(all / warps) * warps - all : 0;
    const double scanned = rows * fmin((double)plan->problem.k_max / (double)beta + 1, of_row);
    return all * delegates_cost(plan, exponent, (double)beta) + (waiting / DRTOPK_WAITING + scanned) * size;
}

/* The exponent that is given, or that costs the least; then smaller until there are twice k delegates, for if
 * all are taken, everything is scanned again. 0: no size does. */
static uint32_t exponent_of(const topk_context *context, const struct plan *plan, int64_t beta) {
    const int64_t n = plan->problem.length_max, k = plan->problem.k_max, low = exponent_min(plan);
    const int64_t *given = tuning_given(&plan->tuning, &topk_cuda_drtopk_knobs[KNOB_EXPONENT]);
    int64_t high = least(greatest(given != NULL ? *given : DRTOPK_EXPONENT_MAX, low), DRTOPK_EXPONENT_MAX);
    while (high >= low && beta * (n >> high) / DRTOPK_DELEGATES_OF_K < k) {
        high--;
    }
    if (given != NULL || high < low) {
        return high < low ? 0 : (uint32_t)high;
    }
    int64_t best = high;
    for (int64_t exponent = high - 1; exponent >= low; exponent--) {
        if (work_of(context, plan, exponent, beta) < work_of(context, plan, best, beta)) {
            best = exponent;
        }
    }
    return (uint32_t)best;
}

/* Small enough that there is a tile for each block. */
static int64_t tile_of(const topk_context *context, int64_t rows, int64_t subranges) {
    const int64_t wanted = DRTOPK_TILES_PER_SM * device_of(context)->sms / rows;
    int64_t tile = DRTOPK_TILE;
    while (tile > DRTOPK_TILE_MIN && subranges / tile < wanted) {
        tile /= 2;
    }
    return tile;
}

/* Whether its kth may end with a bound. */
static bool skips_digits(const struct method *base) {
    return base == &topk_cuda_radix || base == &topk_cuda_air || base == &topk_cuda_bucket;
}

static struct strategy usual_strategy(const topk_context *context, const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const int64_t k = p->k_max, per = 16 / (int64_t)plan->element_bytes;
    struct strategy s = {.base = bases[value_of(plan, KNOB_BASE)],
                         .beta = (uint32_t)value_of(plan, KNOB_BETA)};
    s.exponent = p->rows == 0 || k == 0 ? 0 : exponent_of(context, plan, s.beta);
    s.is_base = s.exponent == 0;
    if (s.is_base) {
        return s;
    }
    const int64_t size = INT64_C(1) << s.exponent;
    s.coalesced = is_coalesced(plan, s.exponent);
    s.filters = value_of(plan, KNOB_FILTER) != 0;
    s.first_selects = (s.base->operations & OPERATION_BIT(TOPK_OPERATION_KTH)) == 0;
    s.surplus = skips_digits(s.base) && value_of(plan, KNOB_SKIP) != 0 ? k / DRTOPK_SURPLUS : 0;
    s.subranges = (p->length_max >> s.exponent) + (per - 1 + p->length_max % size + size - 1) / size;
    s.slots = s.subranges * s.beta;
    /* As many delegates are taken as k and the surplus; so many subranges are scanned at most, and there is
     * room for two more. */
    const int64_t taken = k + s.surplus;
    s.pitch = least(p->length_max, (taken / s.beta + 2) * size + taken);
    s.tile = tile_of(context, p->rows, s.subranges);
    s.tiles = s.subranges / s.tile + 1;
    return s;
}

/* ---- Inner calls ---- */

static topk_problem inner_problem(const struct plan *plan, const struct strategy *s) {
    topk_problem problem = plan->problem;
    problem.method = s->base->name;
    problem.tuning = NULL;
    problem.shape = TOPK_SHAPE_STRIDED;
    problem.extent_type = TOPK_INDEX_I64;
    problem.elements_max = 0;
    problem.index_base = 0;
    problem.workspace_limit = 0;
    return problem;
}

/* The k-th of the delegates, whose keys are unsigned integers; or the k best of them, with their slots. */
static topk_status plan_first(const topk_context *context, const struct plan *plan, const struct strategy *s,
                              struct subcall *first) {
    static const topk_type types[WIDTHS] = {TOPK_U8, TOPK_U16, TOPK_U32, TOPK_U64};
    topk_problem problem = inner_problem(plan, s);
    problem.type = types[width_of(plan)];
    problem.direction = TOPK_LARGEST;
    problem.rank = TOPK_BY_VALUE;
    problem.order = TOPK_ORDER_ANY;
    problem.ties = TOPK_TIES_LOWEST_INDEX;
    problem.index_type = TOPK_INDEX_I64;
    problem.length_max = problem.row_stride = s->slots;
    problem.k_max = least(problem.k_max, s->slots);
    const topk_status status = topk_subcall_choose(
        context, s->first_selects ? TOPK_OPERATION_SELECT : TOPK_OPERATION_KTH, &problem, NULL, first);
    first->plan.surplus = (uint64_t)s->surplus;
    return status;
}

/* The call's own operation on the concatenated vectors. */
static topk_status plan_second(const topk_context *context, const struct plan *plan, const struct strategy *s,
                               struct subcall *second) {
    topk_problem problem = inner_problem(plan, s);
    problem.length_max = problem.row_stride = s->pitch;
    return topk_subcall_choose(context, plan->operation, &problem, NULL, second);
}

/* The whole call, by the base, which keeps to the caller's limit where it can. */
static topk_status plan_base(const topk_context *context, const struct plan *plan, const struct strategy *s,
                             struct subcall *base) {
    topk_problem problem = plan->problem;
    problem.method = s->base->name;
    problem.tuning = NULL;
    const topk_status status = topk_subcall_choose(context, plan->operation, &problem, NULL, base);
    problem.workspace_limit = 0;
    return status == TOPK_OK || plan->problem.workspace_limit == 0
               ? status
               : topk_subcall_choose(context, plan->operation, &problem, NULL, base);
}

/* ---- Workspace ---- */

static void take_first(const struct plan *plan, const struct strategy *s, struct arena *arena,
                       struct layout *l) {
    const size_t rows = (size_t)plan->problem.rows;
    struct first_args *first = &l->args.first;
    const size_t selected = s->first_selects ? size_product(rows, (size_t)l->first.plan.problem.k_max) : 0;
    first->keys = arena_take(arena, rows, plan->element_bytes);
    first->better = arena_take(arena, s->first_selects ? 0 : rows, sizeof *first->better);
    first->equal = arena_take(arena, s->first_selects ? 0 : rows, sizeof *first->equal);
    first->last = arena_take(arena, s->first_selects ? rows : 0, sizeof *first->last);
    first->selected = arena_take(arena, selected, plan->element_bytes);
    first->selected_slots = arena_take(arena, selected, sizeof *first->selected_slots);
    first->selects = s->first_selects;
    first->k_max = l->first.plan.problem.k_max;
    first->surplus = (uint64_t)s->surplus;
}

static void take_buffers(const struct plan *plan, const struct strategy *s, struct arena *arena,
                         struct layout *l) {
    const size_t rows = (size_t)plan->problem.rows, slots = size_product(rows, (size_t)s->slots),
                 concatenated = size_product(rows, (size_t)s->pitch);
    const bool is_kth = plan->operation == TOPK_OPERATION_KTH;
    struct drtopk_args *a = &l->args;
    const size_t before = arena->used;
    a->lookback.tiles = s->tiles;
    a->lookback.sum_words = look_back_words(s->tiles);
    a->tickets = arena_take(arena, rows, sizeof *a->tickets);
    a->lookback.words =
        arena_take(arena, size_product(rows, 2 * (size_t)a->lookback.sum_words), sizeof *a->lookback.words);
    a->counts = arena_take(arena, is_kth ? rows : 0, sizeof *a->counts);
    a->retired = arena_take(arena, is_kth ? rows : 0, sizeof *a->retired);
    l->zeroed = a->tickets;
    l->zeroed_bytes = arena_join(arena, before);
    a->delegates.keys = arena_take(arena, slots, plan->element_bytes);
    a->delegates.offsets = arena_take(arena, slots, sizeof *a->delegates.offsets);
    a->delegates.pitch = s->slots;
    a->delegates.lengths = arena_take(arena, rows, sizeof *a->delegates.lengths);
    a->delegates.needed = arena_take(arena, rows, sizeof *a->delegates.needed);
    a->delegates.asked = arena_take(arena, rows, sizeof *a->delegates.asked);
    take_first(plan, s, arena, l);
    l->elements = arena_take(arena, concatenated, plan->element_bytes);
    l->indices = arena_take(arena, is_kth ? 0 : concatenated, plan->index_bytes);
    a->concatenated_pitch = s->pitch;
    a->concatenated_lengths = arena_take(arena, rows, sizeof *a->concatenated_lengths);
    l->kth_values = arena_take(arena, is_kth ? rows : 0, plan->element_bytes);
}

struct layout topk_cuda_drtopk_lay_out(const topk_context *context, const struct plan *plan,
                                       const struct strategy *s, void *workspace) {
    struct arena arena = arena_over(workspace);
    struct layout l = {.bytes = 0};
    if (s->is_base) {
        l.status = plan_base(context, plan, s, &l.base);
        if (l.status == TOPK_OK) {
            topk_subcall_take(&l.base, &arena);
        }
    } else {
        l.status = plan_first(context, plan, s, &l.first);
        l.status = l.status != TOPK_OK ? l.status : plan_second(context, plan, s, &l.second);
        if (l.status == TOPK_OK) {
            take_buffers(plan, s, &arena, &l);
            topk_subcall_take(&l.first, &arena);
            topk_subcall_take(&l.second, &arena);
        }
    }
    l.bytes = l.status == TOPK_OK ? arena_bytes(&arena) : SIZE_MAX; /* rows may overlap, vectors do not */
    return l;
}

struct strategy topk_cuda_drtopk_strategy(const topk_context *context, const struct plan *plan) {
    const size_t limit = plan->problem.workspace_limit;
    struct strategy s = usual_strategy(context, plan);
    if (!s.is_base && limit != 0 && topk_cuda_drtopk_lay_out(context, plan, &s, NULL).bytes > limit) {
        s.is_base = true;
    }
    return s;
}
