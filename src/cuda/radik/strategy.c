/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy.h"

#include <math.h>

#include "../../reached.h"
#include "../leaf.h"
#include "../lookback.h"
#include "../methods.h"
#include "../ordering/ordering.h"
#include "../select/plan.h"

const struct radik_kernels *const topk_cuda_radik_kernels[] = {
    &topk_cuda_radik_kernels_8, &topk_cuda_radik_kernels_16, &topk_cuda_radik_kernels_32,
    &topk_cuda_radik_kernels_64};

/* ---- Knobs ---- */

enum { KNOB_DIGIT_BITS, KNOB_WRITE_BUFFER, KNOB_RESCHEDULING, KNOB_PADDING, KNOB_SCALING, KNOBS };

const struct knob topk_cuda_radik_knobs[] = {
    [KNOB_DIGIT_BITS] = {"digit_bits", KNOB_INTEGER, 1, RADIK_DIGIT_BITS_MAX, RADIK_DIGIT_BITS,
                         "bits of a digit; by default fewer where the workspace has no room for the bins"},
    [KNOB_WRITE_BUFFER] = {"write_buffer", KNOB_SWITCH, 0, 1, 1,
                           "0 takes an atomic of the device for each element that is counted or written"},
    [KNOB_RESCHEDULING] = {"rescheduling", KNOB_SWITCH, 0, 1, 1, "0 launches for one row after the other"},
    [KNOB_PADDING] = {"padding", KNOB_SWITCH, 0, 1, 1,
                      "0 loads rows that do not begin on 16 bytes element by element"},
    [KNOB_SCALING] = {"scaling", KNOB_SWITCH, 0, 1, 1, "0 takes all digits of the keys as they are"},
    {.name = NULL},
};

static int64_t value_of(const struct plan *plan, int knob) {
    return tuning_value(plan->problem.tuning, &topk_cuda_radik_knobs[knob]);
}

static bool is_given(const struct plan *plan, int knob) {
    return topk_tuning_given(plan->problem.tuning, &topk_cuda_radik_knobs[knob], NULL);
}

static bool is_tuned(const struct plan *plan) {
    int knob = 0;
    while (knob < KNOBS && !is_given(plan, knob)) {
        knob++;
    }
    return knob < KNOBS;
}

/* ---- Strategy ---- */

/* Rows up to this length are left to another method: about twice the mean where the host knows it,
 * since most methods that give a row to a warp or a block take as long for a short row as for the longest.
 * They hold powers of two. */
static int64_t short_length(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const bool is_known = p->shape != TOPK_SHAPE_STRIDED && p->rows > 0;
    const int64_t mean = is_known ? p->elements_max / p->rows : p->length_max;
    int64_t length = RADIK_SHORT_ROW_MIN;
    while (length < RADIK_SHORT_ROW && 3 * length / 4 < mean) {
        length *= 2;
    }
    return is_known ? length - RADIK_SHORT_ROW_SPARE / (int64_t)plan->element_bytes : length;
}

/* A product, or the greatest number. */
static int64_t product(int64_t a, int64_t b) {
    int64_t c;
    return __builtin_mul_overflow(a, b, &c) ? INT64_MAX : c;
}

/* Rows and tiles that are read here, at most. Spans that overlap, and offsets that go back, may have more. */
static void set_bounds(const struct plan *plan, bool splits, struct radik_strategy *s) {
    const topk_problem *p = &plan->problem;
    s->states = p->rows;
    if (!s->reschedules) {
        s->tiles = s->tiles_of_row; /* of one row at a time */
        return;
    }
    if (p->shape == TOPK_SHAPE_STRIDED || p->rows == 1) {
        s->tiles = product(p->rows, s->tiles_of_row);
        return;
    }
    if (splits) {
        s->states = least(p->rows, p->elements_max / (s->short_length + 1) + 1);
    }
    const int64_t of_longest = product(s->states, s->tiles_of_row);
    s->tiles = p->elements_max / s->tile_elements + s->states;
    s->may_overflow = s->states < p->rows || of_longest / RADIK_SPARE_TILES > s->tiles;
    s->tiles = s->may_overflow ? s->tiles : of_longest;
}

/* Blocks enough that none counts 2^32 elements. */
static uint32_t blocks_of(const topk_context *context, const struct radik_strategy *s) {
    const int64_t usual = (int64_t)device_of(context)->sms * RADIK_BLOCKS_PER_SM;
    const int64_t enough = s->tiles / (RADIK_BLOCK_ELEMENTS / s->tile_elements) + 1;
    return (uint32_t)greatest(least(usual, s->tiles), enough);
}

static void set_digits(const struct plan *plan, uint32_t bits, struct radik_strategy *s) {
    s->digit_bits = bits;
    s->passes = (plan->element_bits + bits - 1) / bits + (s->scales ? 1 : 0);
}

/* The short rows, as spans whose ends and k the device knows. NULL: no method can serve them. */
static const struct subcall *choose_for_shorts(const topk_context *context, const struct plan *plan,
                                               int64_t short_length, struct room *room) {
    struct subcall *shorts = topk_room_take(room, sizeof *shorts);
    topk_problem problem = plan->problem;
    problem.method = NULL;
    problem.tuning = NULL;
    problem.shape = TOPK_SHAPE_SPANS;
    problem.extent_type = TOPK_INDEX_I64;
    problem.length_max = short_length;
    problem.row_stride = 0;
    problem.workspace_limit = 0;
    problem.elements_max = (int64_t)plan->input_elements;
    return topk_subcall_choose(context, plan->operation, &problem, room, shorts) == TOPK_OK ? shorts : NULL;
}

/* What runs inside the call. */
static void choose_inner(const topk_context *context, const struct plan *plan, bool splits, struct room *room,
                         struct radik_strategy *s) {
    const topk_problem *p = &plan->problem;
    /* Offsets go back by mistake alone: air then makes do with one launch. */
    const size_t limit = !s->is_air && p->shape == TOPK_SHAPE_CSR ? 1 : p->workspace_limit;
    if (s->is_air || s->may_overflow) {
        topk_subcall_decide_same(context, plan, limit, &topk_cuda_air, room, &s->air);
    }
    if (!s->is_air && s->target == TARGET_LIST) {
        topk_cuda_plan_found(context, plan, s->wide ? 8 : 4, room, &s->sort);
    }
    s->shorts = splits ? choose_for_shorts(context, plan, s->short_length, room) : NULL;
}

static bool fits_device(const topk_context *context, const struct plan *plan, bool many, uint32_t bits) {
    return topk_cuda_radik_kernels[width_of(plan)]->shared_bytes(many, bits) <=
           (uint32_t)device_of(context)->shared_bytes_max;
}

static void set_usual(const topk_context *context, const struct plan *plan, struct room *room,
                      struct radik_strategy *s) {
    const topk_problem *p = &plan->problem;
    const int64_t position_bytes = p->length_max > RADIK_NARROW_ROW ? 8 : 4;
    const int64_t element_bytes = (int64_t)plan->element_bytes;
    const bool tuned = is_tuned(plan);
    *s = (struct radik_strategy){
        .target = radix_target_of(plan), .order = device_order_of(plan), .short_length = short_length(plan)};
    s->is_empty = p->rows == 0 || (s->target != TARGET_KTH && p->k_max == 0);
    s->is_air = !tuned && p->length_max <= s->short_length;
    const bool splits = !tuned && !s->is_air && s->target != TARGET_LIST && p->shape != TOPK_SHAPE_STRIDED &&
                        p->rows > RADIK_ROWS_PER_SM * (int64_t)device_of(context)->sms;
    s->uses_buffer = value_of(plan, KNOB_WRITE_BUFFER) != 0;
    s->reschedules = value_of(plan, KNOB_RESCHEDULING) != 0;
    s->pads = value_of(plan, KNOB_PADDING) != 0;
    s->scales = value_of(plan, KNOB_SCALING) != 0 && plan->element_bits > 8;
    s->wide = position_bytes == 8;
    s->two_words = element_bytes == 8 || p->length_max > RADIK_ONE_WORD_ROW;
    s->tile_elements = RADIK_THREADS * (element_bytes == 1 ? 2 : 4) * (16 / element_bytes);
    s->tiles_of_row = p->length_max / s->tile_elements + 1;
    s->tile_capacity = s->tile_elements * element_bytes / (8 * (element_bytes + position_bytes));
    s->pitch = s->target == TARGET_ENTRIES ? p->k_max + SELECT_TIES_KEPT : 0;
    s->block_entries = s->target == TARGET_ENTRIES ? room_for_entries(s->pitch) : 0;
    s->in_order = goes_in_order(plan, s->target);
    s->may_go_in_order = s->in_order || (s->target != TARGET_KTH && p->ties == TOPK_TIES_LOWEST_INDEX);
    set_digits(plan, (uint32_t)value_of(plan, KNOB_DIGIT_BITS), s);
    s->has_many = s->uses_buffer && s->target != TARGET_KTH && !s->in_order && p->length_max <= INT32_MAX &&
                  p->k_max > p->length_max / RADIK_MANY_RESULTS &&
                  fits_device(context, plan, true, s->digit_bits);
    set_bounds(plan, splits, s);
    s->is_air = s->is_air || (s->may_overflow && s->target == TARGET_LIST); /* sort could not be called off */
    s->blocks = blocks_of(context, s);
    choose_inner(context, plan, splits, room, s);
}

/* Where the workspace has too little room candidates are not buffered, and then digits are shorter. Returns
 * its bytes. */
static size_t keep_to_limit(const struct plan *plan, struct radik_strategy *s) {
    const size_t limit = plan_workspace_limit(plan);
    size_t bytes = topk_cuda_radik_lay_out(plan, s, NULL).bytes;
    if (s->is_air || bytes <= limit) {
        return bytes;
    }
    TOPK_REACHED(REACHED_RADIK_LIMIT_UNBUFFERED);
    s->tile_capacity = 0;
    bytes = topk_cuda_radik_lay_out(plan, s, NULL).bytes;
    while (!is_given(plan, KNOB_DIGIT_BITS) && s->digit_bits > RADIK_DIGIT_BITS_MIN && bytes > limit) {
        TOPK_REACHED(REACHED_RADIK_LIMIT_DIGIT);
        set_digits(plan, s->digit_bits - 1, s);
        bytes = topk_cuda_radik_lay_out(plan, s, NULL).bytes;
    }
    return bytes;
}

/* ---- Decision ---- */

static const char *refuse(const topk_context *context, const struct plan *plan,
                          const struct radik_strategy *s) {
    if (s->is_air) {
        return NULL;
    }
    if (s->tiles > INT32_MAX) {
        return "rows have more than 2^31 tiles";
    }
    if (!fits_device(context, plan, false, s->digit_bits)) {
        return "the device has too little shared memory";
    }
    if (!s->reschedules && plan->problem.rows > RADIK_LAUNCHED_ROWS) {
        return "rescheduling=0 launches for at most 1024 rows";
    }
    return NULL;
}

static double cost_us(const topk_context *context, const struct plan *plan, const struct radik_strategy *s) {
    const double elements = (double)plan->input_elements, bytes = elements * (double)plan->element_bytes;
    const double chosen = plan->operation == TOPK_OPERATION_KTH ? 0 : (double)plan->output_elements;
    return topk_cuda_costs.radik.call_us + topk_cuda_costs.radik.pass_us * (s->passes + 1) +
           topk_cuda_costs.radik.reads *
               fmax(move_us(context, bytes, topk_cuda_costs.radik.bytes_per_us),
                    work_us(context, elements, topk_cuda_costs.radik.counted_per_us)) +
           work_us(context, chosen, topk_cuda_costs.radik.chosen_per_us) +
           listing_us(context, plan, s->target) + sorting_us(context, plan, s->target) +
           (s->shorts != NULL ? s->shorts->decision.cost_us : 0);
}

/* As air, or without the calls inside and with the longest digits. */
double topk_cuda_radik_least_us(const topk_context *context, const struct plan *plan) {
    const bool is_after = topk_cuda_orders_beyond(context, plan, SELECT_SORT_MAX);
    struct radik_strategy s = {.target = is_after ? TARGET_OUTPUTS : radix_target_of(plan),
                               .scales = value_of(plan, KNOB_SCALING) != 0 && plan->element_bits > 8};
    set_digits(plan, (uint32_t)value_of(plan, KNOB_DIGIT_BITS), &s);
    if (plan->problem.length_max <= short_length(plan)) {
        return 1.01 * topk_cuda_air.least_us(context, plan);
    }
    const double of_tiles =
        cost_us(context, plan, &s) + (is_after ? topk_cuda_ordering_least_us(context) : 0);
    return s.target == TARGET_LIST && plan->problem.shape != TOPK_SHAPE_STRIDED
               ? fmin(of_tiles, 1.01 * topk_cuda_air.least_us(context, plan))
               : of_tiles;
}

static int launches_of(const struct plan *plan, const struct radik_strategy *s) {
    const bool writes = s->target != TARGET_KTH && !s->in_order;
    const int of_passes = 1 + (int)s->passes + writes + s->may_go_in_order + (s->target == TARGET_ENTRIES);
    const int inside =
        s->air.launches + s->sort.launches + (s->shorts != NULL ? s->shorts->decision.launches : 0);
    const int of_rows = of_passes * (s->reschedules ? 1 : (int)plan->problem.rows);
    return has_predicate(plan) + s->reschedules + of_rows + inside; /* one lists rows */
}

void topk_cuda_radik_plan(const topk_context *context, const struct plan *plan, struct room *room,
                          struct decision *decision) {
    struct radik_strategy *s = topk_room_take(room, sizeof *s);
    set_usual(context, plan, room, s);
    decision->workspace_bytes = keep_to_limit(plan, s);
    decision->cannot = refuse(context, plan, s);
    decision->own = s;
    if (decision->cannot != NULL) {
        return;
    }
    decision->variant = s->is_air ? "air" : s->shorts != NULL ? "split" : s->reschedules ? "tiles" : "rows";
    decision->launches = s->is_air ? s->air.launches : launches_of(plan, s);
    decision->cost_us = s->is_air ? s->air.cost_us * 1.01 : cost_us(context, plan, s);
}

/* ---- Workspace ---- */

/* What must be zero before the first launch: look-back, and what several blocks share that list rows. */
static void take_zeroed(const struct plan *plan, const struct radik_strategy *s, struct arena *arena,
                        struct radik_layout *l) {
    struct task_args *tasks = &l->args.tasks;
    const size_t before = arena->used;
    tasks->list_tiles = divide_up(plan->problem.rows, RADIK_LIST_THREADS);
    tasks->sum_words = look_back_words(tasks->list_tiles);
    tasks->list_ticket = arena_take(arena, 1, sizeof *tasks->list_ticket);
    tasks->overflow = arena_take(arena, 1, sizeof *tasks->overflow);
    tasks->list_words = arena_take(arena, 2 * (size_t)tasks->sum_words, sizeof *tasks->list_words);
    if (s->may_go_in_order) {
        const size_t words = RADIK_WORDS_OF_TILE * (size_t)s->tiles + RADIK_WORDS_OF_ROW * (size_t)s->states;
        l->args.lookback = arena_take(arena, words, sizeof *l->args.lookback);
        l->lookback_bytes = words * sizeof *l->args.lookback;
    }
    l->zeroed = tasks->list_ticket;
    l->zeroed_bytes = arena_join(arena, before);
}

/* What is known of rows that are read here, their candidates and their entries. */
static void take_states(const struct plan *plan, const struct radik_strategy *s, struct arena *arena,
                        struct radik_args *args) {
    const size_t states = (size_t)s->states, bins = size_product(states, (size_t)1 << s->digit_bits);
    const size_t candidates = size_product((size_t)s->tiles, (size_t)s->tile_capacity);
    const size_t entries = size_product(states, (size_t)s->pitch);
    args->tasks.total = arena_take(arena, 2, sizeof *args->tasks.total);
    args->tasks.finished = arena_take(arena, 1, sizeof *args->tasks.finished);
    args->tasks.rows = arena_take(arena, states, sizeof *args->tasks.rows);
    args->states = arena_take(arena, states, sizeof *args->states);
    args->histograms = arena_take(arena, bins, sizeof *args->histograms);
    args->candidates.elements = arena_take(arena, candidates, plan->element_bytes);
    args->candidates.positions = arena_take(arena, candidates, s->wide ? 8 : 4);
    args->target.entries = arena_take(arena, entries, sizeof *args->target.entries);
    if (s->two_words) {
        args->target.entries_low = arena_take(arena, entries, sizeof *args->target.entries_low);
    }
}

static void take_shorts(const struct plan *plan, const struct radik_strategy *s, struct arena *arena,
                        struct radik_layout *l) {
    const size_t rows = (size_t)plan->problem.rows;
    struct short_rows *spans = &l->args.short_rows;
    spans->length = s->short_length;
    spans->begins = arena_take(arena, rows, sizeof *spans->begins);
    spans->ends = arena_take(arena, rows, sizeof *spans->ends);
    spans->k = arena_take(arena, rows, sizeof *spans->k);
    l->shorts_workspace = arena_take(arena, 1, s->shorts->decision.workspace_bytes);
}

static void take_found(const struct plan *plan, const struct radik_strategy *s, struct arena *arena,
                       struct radik_layout *l) {
    if (has_predicate(plan)) {
        l->args.matches = arena_take(arena, (size_t)plan->problem.rows, sizeof *l->args.matches);
    }
    l->found = found_take(plan, s->wide ? 8 : 4, arena);
    l->found.counts = l->args.matches;
    l->sort_workspace = arena_take(arena, 1, s->sort.workspace_bytes);
    l->args.target.list.elements = l->found.elements;
    l->args.target.list.positions = l->found.positions;
}

struct radik_layout topk_cuda_radik_lay_out(const struct plan *plan, const struct radik_strategy *s,
                                            void *workspace) {
    struct arena arena = arena_over(workspace);
    struct radik_layout l = {.bytes = 0};
    if (s->is_air || s->may_overflow) {
        l.air_workspace = arena_take(&arena, 1, s->air.workspace_bytes);
    }
    if (!s->is_air) {
        take_zeroed(plan, s, &arena, &l);
        take_states(plan, s, &arena, &l.args);
        if (s->shorts != NULL) {
            take_shorts(plan, s, &arena, &l);
        }
        if (s->target == TARGET_LIST) {
            take_found(plan, s, &arena, &l);
        }
        if (has_predicate(plan)) {
            l.found_match = arena_take(&arena, 1, sizeof *l.found_match);
        }
    }
    l.bytes = arena_bytes(&arena);
    return l;
}
