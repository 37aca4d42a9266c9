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

const struct drtopk_kernels *const topk_cuda_drtopk_kernels[WIDTHS] = {
    &topk_cuda_drtopk_kernels_8, &topk_cuda_drtopk_kernels_16, &topk_cuda_drtopk_kernels_32,
    &topk_cuda_drtopk_kernels_64};

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
    return tuning_value(plan->problem.tuning, &topk_cuda_drtopk_knobs[knob]);
}

bool topk_cuda_drtopk_names_base(const struct plan *plan) {
    return topk_tuning_given(plan->problem.tuning, &topk_cuda_drtopk_knobs[KNOB_BASE], NULL);
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
    int64_t high = DRTOPK_EXPONENT_MAX;
    const bool is_given =
        topk_tuning_given(plan->problem.tuning, &topk_cuda_drtopk_knobs[KNOB_EXPONENT], &high);
    high = least(greatest(high, low), DRTOPK_EXPONENT_MAX);
    while (high >= low && beta * (n >> high) / DRTOPK_DELEGATES_OF_K < k) {
        high--;
    }
    if (is_given || high < low) {
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

/* Blocks of a row, with `subranges` each, where a multiprocessor has some at once. */
static uint32_t blocks_of(const topk_context *context, const struct strategy *s, int64_t subranges_of_block,
                          int64_t blocks_per_sm) {
    const int64_t at_once = divide_up(device_of(context)->sms * blocks_per_sm, s->rows);
    return (uint32_t)least(divide_up(s->slots / s->beta, subranges_of_block), greatest(at_once, 1));
}

/* A block has one subrange for each thread, or one at least for each warp. */
static uint32_t delegate_blocks(const topk_context *context, const struct strategy *s) {
    return s->coalesced ? blocks_of(context, s, DRTOPK_COALESCED_THREADS, DRTOPK_COALESCED_BLOCKS_PER_SM)
                        : blocks_of(context, s, DRTOPK_THREADS / 32, DRTOPK_BLOCKS_PER_SM);
}

/* By delegates, of subranges with 2^s->exponent elements. */
static void set_sizes(const topk_context *context, const struct plan *plan, const struct method *base,
                      struct strategy *s) {
    const topk_problem *p = &plan->problem;
    const int64_t size = INT64_C(1) << s->exponent, per = 16 / (int64_t)plan->element_bytes;
    s->kernels = topk_cuda_drtopk_kernels[width_of(plan)];
    s->rows = p->rows;
    s->element_bytes = plan->element_bytes;
    s->is_kth = plan->operation == TOPK_OPERATION_KTH;
    s->index_bytes = s->is_kth ? 0 : plan->index_bytes;
    s->coalesced = is_coalesced(plan, s->exponent);
    s->filters = value_of(plan, KNOB_FILTER) != 0;
    s->first_selects = (base->operations & OPERATION_BIT(TOPK_OPERATION_KTH)) == 0;
    s->surplus = skips_digits(base) && value_of(plan, KNOB_SKIP) != 0 ? p->k_max / DRTOPK_SURPLUS : 0;
    s->subranges = (p->length_max >> s->exponent) + (per - 1 + p->length_max % size + size - 1) / size;
    s->slots = s->subranges * s->beta;
    /* The delegates are k and the surplus. No more subranges than that are scanned, and there is room for
     * two more. */
    const int64_t taken = p->k_max + s->surplus;
    s->pitch = least(p->length_max, (taken / s->beta + 2) * size + taken);
    s->tile = tile_of(context, p->rows, s->subranges);
    s->tiles = s->subranges / s->tile + 1;
    s->delegate_blocks = delegate_blocks(context, s);
    s->tile_blocks = blocks_of(context, s, s->tile, DRTOPK_TILE_BLOCKS_PER_SM);
}

/* ---- Inner calls ---- */

static topk_problem inner_problem(const struct plan *plan, const struct method *base) {
    topk_problem problem = plan->problem;
    problem.method = base->name;
    problem.tuning = NULL;
    problem.shape = TOPK_SHAPE_STRIDED;
    problem.extent_type = TOPK_INDEX_I64;
    problem.elements_max = 0;
    problem.index_base = 0;
    problem.workspace_limit = 0;
    return problem;
}

/* The k-th of the delegates, whose keys are unsigned integers; or the k best of them, with their slots. */
static topk_status decide_first(const topk_context *context, const struct plan *plan,
                                const struct method *base, struct room *room, struct strategy *s) {
    static const topk_type types[WIDTHS] = {TOPK_U8, TOPK_U16, TOPK_U32, TOPK_U64};
    struct subcall *first = topk_room_take(room, sizeof *first);
    topk_problem problem = inner_problem(plan, base);
    problem.type = types[width_of(plan)];
    problem.direction = TOPK_LARGEST;
    problem.rank = TOPK_BY_VALUE;
    problem.order = TOPK_ORDER_ANY;
    problem.ties = TOPK_TIES_LOWEST_INDEX;
    problem.index_type = TOPK_INDEX_I64;
    problem.length_max = problem.row_stride = s->slots;
    problem.k_max = least(problem.k_max, s->slots);
    s->first = first;
    const topk_status status =
        topk_plan_make(s->first_selects ? TOPK_OPERATION_SELECT : TOPK_OPERATION_KTH, &problem, &first->plan);
    first->plan.surplus = (uint64_t)s->surplus;
    return status != TOPK_OK ? status : topk_subcall_decide(context, room, first);
}

/* The call's own operation on the concatenated vectors. */
static topk_status decide_second(const topk_context *context, const struct plan *plan,
                                 const struct method *base, struct room *room, struct strategy *s) {
    struct subcall *second = topk_room_take(room, sizeof *second);
    topk_problem problem = inner_problem(plan, base);
    problem.length_max = problem.row_stride = s->pitch;
    s->second = second;
    return topk_subcall_choose(context, plan->operation, &problem, room, second);
}

/* The whole call, by the base, which keeps to the caller's limit where it can. */
static topk_status decide_base(const topk_context *context, const struct plan *plan,
                               const struct method *method, struct room *room, struct strategy *s) {
    struct subcall *base = topk_room_take(room, sizeof *base);
    topk_problem problem = plan->problem;
    problem.method = method->name;
    problem.tuning = NULL;
    s->base = base;
    const topk_status status = topk_subcall_choose(context, plan->operation, &problem, room, base);
    problem.workspace_limit = 0;
    return status == TOPK_OK || plan->problem.workspace_limit == 0
               ? status
               : topk_subcall_choose(context, plan->operation, &problem, room, base);
}

topk_status topk_cuda_drtopk_decide(const topk_context *context, const struct plan *plan, struct room *room,
                                    struct strategy *s) {
    const topk_problem *p = &plan->problem;
    const struct method *base = bases[value_of(plan, KNOB_BASE)];
    const size_t used = room->used;
    *s = (struct strategy){.beta = (uint32_t)value_of(plan, KNOB_BETA)};
    s->exponent = p->rows == 0 || p->k_max == 0 ? 0 : exponent_of(context, plan, s->beta);
    if (s->exponent != 0) {
        set_sizes(context, plan, base, s);
        topk_status status = decide_first(context, plan, base, room, s);
        status = status != TOPK_OK ? status : decide_second(context, plan, base, room, s);
        const bool fits =
            p->workspace_limit == 0 ||
            (status == TOPK_OK && topk_cuda_drtopk_lay_out(s, NULL).bytes <= p->workspace_limit);
        if (fits) {
            return status;
        }
        room->used = used;
    }
    return decide_base(context, plan, base, room, s);
}

/* ---- Workspace ---- */

static void take_first(const struct strategy *s, struct arena *arena, struct first_args *first) {
    const size_t rows = (size_t)s->rows;
    first->selects = s->first_selects;
    first->k_max = s->first->plan.problem.k_max;
    first->surplus = (uint64_t)s->surplus;
    const size_t selected = first->selects ? size_product(rows, (size_t)first->k_max) : 0;
    first->keys = arena_take(arena, rows, s->element_bytes);
    first->better = arena_take(arena, first->selects ? 0 : rows, sizeof *first->better);
    first->equal = arena_take(arena, first->selects ? 0 : rows, sizeof *first->equal);
    first->last = arena_take(arena, first->selects ? rows : 0, sizeof *first->last);
    first->selected = arena_take(arena, selected, s->element_bytes);
    first->selected_slots = arena_take(arena, selected, sizeof *first->selected_slots);
}

static void take_buffers(const struct strategy *s, struct arena *arena, struct layout *l) {
    const size_t rows = (size_t)s->rows, slots = size_product(rows, (size_t)s->slots),
                 concatenated = size_product(rows, (size_t)s->pitch);
    struct drtopk_args *a = &l->args;
    const size_t before = arena->used;
    a->lookback.tiles = s->tiles;
    a->lookback.sum_words = look_back_words(s->tiles);
    a->tickets = arena_take(arena, rows, sizeof *a->tickets);
    a->lookback.words =
        arena_take(arena, size_product(rows, 2 * (size_t)a->lookback.sum_words), sizeof *a->lookback.words);
    a->counts = arena_take(arena, s->is_kth ? rows : 0, sizeof *a->counts);
    a->retired = arena_take(arena, s->is_kth ? rows : 0, sizeof *a->retired);
    l->zeroed = a->tickets;
    l->zeroed_bytes = arena_join(arena, before);
    a->delegates.keys = arena_take(arena, slots, s->element_bytes);
    a->delegates.offsets = arena_take(arena, slots, sizeof *a->delegates.offsets);
    a->delegates.pitch = s->slots;
    a->delegates.lengths = arena_take(arena, rows, sizeof *a->delegates.lengths);
    a->delegates.needed = arena_take(arena, rows, sizeof *a->delegates.needed);
    a->delegates.asked = arena_take(arena, rows, sizeof *a->delegates.asked);
    take_first(s, arena, &a->first);
    l->elements = arena_take(arena, concatenated, s->element_bytes);
    l->indices = arena_take(arena, concatenated, s->index_bytes);
    a->concatenated_pitch = s->pitch;
    a->concatenated_lengths = arena_take(arena, rows, sizeof *a->concatenated_lengths);
    l->kth_values = arena_take(arena, s->is_kth ? rows : 0, s->element_bytes);
}

struct layout topk_cuda_drtopk_lay_out(const struct strategy *s, void *workspace) {
    struct arena arena = arena_over(workspace);
    struct layout l = {.bytes = 0};
    if (s->base != NULL) {
        l.base = arena_take(&arena, 1, s->base->decision.workspace_bytes);
    } else {
        take_buffers(s, &arena, &l);
        l.first = arena_take(&arena, 1, s->first->decision.workspace_bytes);
        l.second = arena_take(&arena, 1, s->second->decision.workspace_bytes);
    }
    l.bytes = arena_bytes(&arena); /* rows may overlap, vectors do not: it may be SIZE_MAX */
    return l;
}
