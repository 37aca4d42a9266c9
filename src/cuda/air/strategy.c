/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy.h"

#include <math.h>

#include "../../reached.h"
#include "../leaf.h"
#include "../lookback.h"
#include "../ordering/ordering.h"
#include "../select/in_place.h"

const struct air_kernels *const topk_cuda_air_kernels[] = {
    &topk_cuda_air_kernels_8, &topk_cuda_air_kernels_16, &topk_cuda_air_kernels_32,
    &topk_cuda_air_kernels_64};

/* ---- Knobs ---- */

enum { KNOB_DIGIT_BITS, KNOB_ALPHA, KNOB_ADAPTIVE_BUFFERING, KNOB_EARLY_STOP, KNOB_FUSED_FILTER };

const struct knob topk_cuda_air_knobs[] = {
    [KNOB_DIGIT_BITS] = {"digit_bits", KNOB_INTEGER, 1, SELECT_DIGIT_BITS_MAX, AIR_DIGIT_BITS,
                         "bits of a radix digit; by default fewer for short rows of one block"},
    [KNOB_ALPHA] = {"alpha", KNOB_INTEGER, 4, INT64_MAX, AIR_ALPHA,
                    "up to n / alpha candidates of a row are buffered, none from alpha = n on"},
    [KNOB_ADAPTIVE_BUFFERING] = {"adaptive_buffering", KNOB_SWITCH, 0, 1, 1,
                                 "0 buffers up to n candidates, whatever alpha says"},
    [KNOB_EARLY_STOP] = {"early_stop", KNOB_SWITCH, 0, 1, 1,
                         "0 finds all digits, also where all candidates are results"},
    [KNOB_FUSED_FILTER] = {"fused_filter", KNOB_SWITCH, 0, 1, 0,
                           "1 has the last block of the last pass filter the rest of its row"},
    {.name = NULL},
};

/* What they say, or what radix and bucket say in their place. */
struct settings {
    int64_t digit_bits, alpha;
    bool tells_digit_bits, tells_alpha; /* else the library may depart from it */
    bool adaptive_buffering, early_stop, fused_filter;
    bool is_shared; /* buffering is told, which rows of one block have not */
    bool by_extent;
};

static struct settings settings_of(const struct plan *plan) {
    const struct knob *knobs = topk_cuda_air_knobs;
    const char *const tuning = plan->problem.tuning;
    struct settings s = {.digit_bits = knobs[KNOB_DIGIT_BITS].default_value,
                         .alpha = knobs[KNOB_ALPHA].default_value,
                         .adaptive_buffering = tuning_value(tuning, &knobs[KNOB_ADAPTIVE_BUFFERING]) != 0,
                         .early_stop = tuning_value(tuning, &knobs[KNOB_EARLY_STOP]) != 0,
                         .fused_filter = tuning_value(tuning, &knobs[KNOB_FUSED_FILTER]) != 0};
    s.tells_digit_bits = topk_tuning_given(tuning, &knobs[KNOB_DIGIT_BITS], &s.digit_bits);
    s.tells_alpha = topk_tuning_given(tuning, &knobs[KNOB_ALPHA], &s.alpha);
    s.is_shared = s.tells_alpha || topk_tuning_given(tuning, &knobs[KNOB_ADAPTIVE_BUFFERING], NULL);
    return s;
}

static struct settings settings_in_place(int64_t digit_bits, bool by_extent) {
    return (struct settings){.digit_bits = digit_bits,
                             .alpha = INT64_MAX,
                             .tells_digit_bits = true,
                             .tells_alpha = true,
                             .adaptive_buffering = true,
                             .early_stop = true,
                             .is_shared = true,
                             .by_extent = by_extent};
}

/* ---- Strategy ---- */

/* Ways to do with less and less workspace. */
enum variant {
    AIR_USUAL,
    AIR_UNBUFFERED, /* no candidates are buffered */
    AIR_ONE_BLOCK,  /* one block for each row also where that is slow */
    AIR_VARIANTS
};

/* Elements of a tile of the body: 16-byte groups, as tiles.cuh has them. */
static int64_t tile_elements(const struct plan *plan) {
    return AIR_THREADS * (plan->element_bytes == 1 ? 2 : 4) * (16 / (int64_t)plan->element_bytes);
}

/* Spans and CSR rows share elements_max, so the host knows how long they are on average. Strided rows may all
 * be full. */
static int64_t mean_length(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    return p->shape == TOPK_SHAPE_STRIDED || p->rows == 0 ? p->length_max
                                                          : least(p->length_max, p->elements_max / p->rows);
}

/* The length that blocks with a row each are made for: twice the mean covers lengths that are spread evenly.
 * Longer rows are read more often. */
static int64_t usual_length(const struct plan *plan) {
    const int64_t length_max = plan->problem.length_max, mean = mean_length(plan);
    return mean >= length_max / 2 ? length_max : least(greatest(2 * mean, AIR_USUAL_LENGTH_MIN), length_max);
}

/* Candidates that are buffered at most, for each row. */
static int64_t capacity_of(const struct plan *plan, const struct settings *settings) {
    const int64_t n = plan->problem.length_max, alpha = settings->alpha;
    if (!settings->adaptive_buffering) {
        return n;
    }
    return settings->tells_alpha ? (alpha >= n ? 0 : n / alpha)
                                 : greatest(mean_length(plan) / alpha, AIR_FINISH_CANDIDATES);
}

/* Enough for the loads of a tile, for sorting, and for much padding. */
static uint32_t row_threads(const struct plan *plan, int64_t length) {
    const int64_t loads = length / (64 / (int64_t)plan->element_bytes);
    const int64_t results = least(least(plan->problem.k_max, plan->problem.length_max), INT32_MAX);
    const int64_t entries = results + SELECT_TIES_KEPT;
    const int64_t padding = plan->problem.k_max / 1024;
    uint32_t threads = AIR_ROW_THREADS_MIN;
    while (threads < AIR_ROW_THREADS_MAX && (threads < loads || 8 * threads < entries || threads < padding)) {
        threads = (uint32_t)least(2 * threads, AIR_ROW_THREADS_MAX);
    }
    return threads;
}

/* Negative: a block has no room for what it needs besides candidates. */
static int64_t row_room(const topk_context *context, const struct plan *plan, const struct strategy *s) {
    const struct air_args args = {.block_entries = s->block_entries, .target.two_words = s->two_words};
    return topk_cuda_air_kernels[width_of(plan)]->row_room(&args,
                                                           (uint32_t)device_of(context)->shared_bytes_max);
}

/* Blocks for each row, if `per_sm` blocks of the kernel are resident on a multiprocessor. No block counts
 * 2^32 elements. */
static uint32_t blocks_of(const topk_context *context, const struct plan *plan, int64_t tiles,
                          int64_t per_sm) {
    const int64_t rows = plan->problem.rows;
    const int64_t blocks = rows > 0 ? device_of(context)->sms * per_sm / rows : 1;
    const int64_t enough = plan->problem.length_max / AIR_BLOCK_ELEMENTS + 1;
    return (uint32_t)(blocks < enough ? enough : least(blocks, tiles));
}

/* The longest rows that get one block each. Where there are enough rows that each would get one block of a
 * shared grid anyway, what counts is how long they usually are. */
static bool fit_one_block(const topk_context *context, const struct plan *plan, enum variant variant) {
    const topk_problem *p = &plan->problem;
    const int64_t sms = device_of(context)->sms;
    const bool many = p->rows >= sms * AIR_ROWS_PER_16_SMS / 16,
               one_each = p->rows >= sms * AIR_BLOCKS_PER_SM;
    const int64_t longest = variant == AIR_ONE_BLOCK ? INT32_MAX : many ? AIR_LONG_ROW_MAX : AIR_ROW_MAX;
    return p->length_max <= INT32_MAX && (one_each ? usual_length(plan) : p->length_max) <= longest;
}

static void set_one_block(const topk_context *context, const struct plan *plan,
                          const struct settings *settings, int64_t room, struct strategy *s) {
    s->one_block = true;
    s->usual_length = usual_length(plan);
    s->row_threads = row_threads(plan, s->usual_length);
    s->resident_blocks = (int64_t)device_of(context)->sms * AIR_ROW_THREADS_MAX / s->row_threads;
    s->block_candidates = (uint32_t)least(least(s->usual_length, AIR_ROW_CANDIDATES), room);
    if (!settings->tells_digit_bits && s->usual_length <= AIR_SHORT_ROW_MAX) {
        s->digit_bits = AIR_SHORT_DIGIT_BITS;
    }
}

static void set_shared(const topk_context *context, const struct plan *plan, const struct settings *settings,
                       bool buffers, struct strategy *s) {
    const topk_problem *p = &plan->problem;
    const int64_t tiles = p->length_max / tile_elements(plan) + 1;
    const bool may_go_in_order =
        s->in_order || (s->target != TARGET_KTH && (p->ties == TOPK_TIES_LOWEST_INDEX || !s->fused));
    /* No row needs the last filter where the last pass writes them all, whatever they hold. */
    const bool writes_all = s->fused && p->ties == TOPK_TIES_ANY && !s->in_order;
    s->first_blocks =
        blocks_of(context, plan, tiles, has_predicate(plan) ? AIR_BLOCKS_PER_SM : AIR_FIRST_BLOCKS_PER_SM);
    s->blocks = blocks_of(context, plan, tiles, AIR_BLOCKS_PER_SM);
    s->block_candidates = s->wide ? 0 : finish_candidates((uint32_t)plan->element_bytes);
    s->capacity = s->in_order || !buffers || s->by_extent ? 0 : capacity_of(plan, settings);
    s->pitch = s->target == TARGET_ENTRIES ? p->k_max + SELECT_TIES_KEPT : 0;
    s->tiles = may_go_in_order ? tiles + 2 : 0;
    s->has_last = s->target != TARGET_KTH && !writes_all;
}

/* What all variants have in common. */
static struct strategy usual_strategy(const topk_context *context, const struct plan *plan,
                                      const struct settings *settings, struct room *room) {
    const topk_problem *p = &plan->problem;
    struct strategy s = {.target = radix_target_of(plan),
                         .by_extent = settings->by_extent,
                         .surplus = plan->surplus,
                         .digit_bits = (uint32_t)settings->digit_bits};
    s.in_order = goes_in_order(plan, s.target);
    s.passes = (plan->element_bits + s.digit_bits - 1) / s.digit_bits;
    s.early_stop = (s.target != TARGET_KTH || plan->surplus > 0) && settings->early_stop;
    s.fused = s.passes > 1 && settings->fused_filter && !has_predicate(plan);
    s.wide = p->length_max > AIR_NARROW_ROW;
    s.two_words = plan->element_bytes == 8 || p->length_max > AIR_ONE_WORD_ROW;
    s.block_entries = s.target == TARGET_ENTRIES ? room_for_entries(p->k_max + SELECT_TIES_KEPT) : 0;
    if (s.target == TARGET_LIST) {
        topk_cuda_plan_found(context, plan, s.wide ? 8 : 4, room, &s.sort);
    }
    return s;
}

/* The first variant that keeps to the limit, or the last. Returns its workspace. */
static size_t choose_variant(const topk_context *context, const struct plan *plan,
                             const struct settings *settings, struct strategy *s) {
    const size_t limit = plan_workspace_limit(plan);
    const struct strategy usual = *s;
    const int64_t room = row_room(context, plan, s);
    for (int variant = AIR_USUAL;; variant++) {
        if (!settings->is_shared && room >= 0 && fit_one_block(context, plan, (enum variant)variant)) {
            set_one_block(context, plan, settings, room, s);
        } else {
            set_shared(context, plan, settings, variant == AIR_USUAL || settings->is_shared, s);
        }
        const size_t bytes = topk_cuda_air_lay_out(plan, s, NULL).bytes;
        if (bytes <= limit || variant + 1 == AIR_VARIANTS) {
            return bytes;
        }
        TOPK_REACHED(variant == AIR_USUAL ? REACHED_AIR_LIMIT_UNBUFFERED : REACHED_AIR_LIMIT_ONE_BLOCK);
        *s = usual;
    }
}

static int launches_of(const struct plan *plan, const struct strategy *s) {
    const int of_list = s->target == TARGET_LIST ? s->sort.launches : 0;
    const int of_passes = s->by_extent + (int)s->passes + s->has_last + (s->target == TARGET_ENTRIES);
    return has_predicate(plan) + (s->one_block ? 1 : of_passes) + of_list;
}

static const struct strategy *decide(const topk_context *context, const struct plan *plan,
                                     const struct settings *settings, struct room *room,
                                     struct decision *decision) {
    struct strategy *s = topk_room_take(room, sizeof *s);
    *s = usual_strategy(context, plan, settings, room);
    decision->workspace_bytes = choose_variant(context, plan, settings, s);
    decision->launches = launches_of(plan, s);
    decision->own = s;
    return s;
}

void topk_cuda_plan_in_place(const topk_context *context, const struct plan *plan, int64_t digit_bits,
                             bool by_extent, struct room *room, struct decision *decision) {
    const struct settings settings = settings_in_place(digit_bits, by_extent);
    (void)decide(context, plan, &settings, room, decision);
}

/* ---- Cost ---- */

/* The time of blocks with a row each: as many as the device holds run at once. */
static double own_rows_us(const topk_context *context, const struct plan *plan, const struct strategy *s,
                          double sorted_us) {
    const double at_once = (double)device_of(context)->sms * AIR_ROW_THREADS_MAX / s->row_threads;
    const double row_us =
        topk_cuda_costs.air.row_us + (double)plan->problem.length_max / topk_cuda_costs.air.elements_per_us;
    return (block_us(context, row_us) + sorted_us) * fmax(1, (double)plan->problem.rows / at_once);
}

static double cost_us(const topk_context *context, const struct plan *plan, const struct strategy *s) {
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes;
    const double read_us = move_us(context, bytes, topk_cuda_costs.air.bytes_per_us);
    const double counting_us =
        work_us(context, (double)plan->input_elements, topk_cuda_costs.air.counted_per_us);
    const double sorted_us = sorting_us(context, plan, s->target);
    const topk_problem *p = &plan->problem;
    const double chosen = operation_is_kth(plan->operation) /* what is not worse is collected, too */
                              ? (double)p->rows * (double)least(p->k_max, p->length_max)
                              : (double)plan->output_elements;
    if (s->one_block) {
        const double of_list = s->target == TARGET_LIST ? sorted_us : 0; /* all rows together */
        return own_rows_us(context, plan, s, sorted_us - of_list) + of_list +
               topk_cuda_costs.air.own_reads * read_us;
    }
    /* Many elements of one byte tie, and then the last pass takes twice as long. */
    const int passes = s->passes + (plan->element_bytes == 1 ? 2 : 1);
    return topk_cuda_costs.air.pass_us * passes + listing_us(context, plan, s->target) + sorted_us +
           topk_cuda_costs.air.shared_reads * fmax(read_us, counting_us) +
           work_us(context, chosen, topk_cuda_costs.air.chosen_per_us);
}

/* The cheaper way, of blocks with a row each and blocks that share rows. */
double topk_cuda_air_least_us(const topk_context *context, const struct plan *plan) {
    const bool is_after = topk_cuda_orders_beyond(context, plan, SELECT_SORT_MAX);
    const int64_t digit_bits = tuning_value(plan->problem.tuning, &topk_cuda_air_knobs[KNOB_DIGIT_BITS]);
    struct strategy s = {.target = is_after ? TARGET_OUTPUTS : radix_target_of(plan),
                         .passes = (uint32_t)divide_up(plan->element_bits, digit_bits)};
    const double shared_us = cost_us(context, plan, &s);
    s.one_block = true;
    s.row_threads = row_threads(plan, usual_length(plan));
    return fmin(shared_us, cost_us(context, plan, &s)) +
           (is_after ? topk_cuda_ordering_least_us(context) : 0);
}

void topk_cuda_air_plan(const topk_context *context, const struct plan *plan, struct room *room,
                        struct decision *decision) {
    const struct settings settings = settings_of(plan);
    const struct strategy *s = decide(context, plan, &settings, room, decision);
    decision->variant = s->one_block ? "block" : "shared";
    decision->cost_us = cost_us(context, plan, s);
}

/* ---- Workspace ---- */

struct layout topk_cuda_air_lay_out(const struct plan *plan, const struct strategy *s, void *workspace) {
    struct arena arena = arena_over(workspace);
    const size_t rows = (size_t)plan->problem.rows;
    const size_t candidates = size_product(rows, (size_t)s->capacity),
                 entries = size_product(rows, (size_t)s->pitch);
    struct layout l = {.bytes = 0};
    struct target *target = &l.args.target;
    if (!s->one_block) {
        const size_t before = arena.used;
        l.args.states = arena_take(&arena, rows, sizeof *l.args.states);
        l.args.histograms =
            arena_take(&arena, size_product(rows, (size_t)1 << s->digit_bits), sizeof *l.args.histograms);
        l.args.lookback.words = arena_take(&arena, size_product(rows, 2 * (size_t)look_back_words(s->tiles)),
                                           sizeof *l.args.lookback.words);
        l.args.matches = has_predicate(plan) ? arena_take(&arena, rows, sizeof *l.args.matches) : NULL;
        l.zeroed = l.args.states;
        l.zeroed_bytes = arena_join(&arena, before);
        l.args.candidates.elements = arena_take(&arena, candidates, plan->element_bytes);
        l.args.candidates.positions = arena_take(&arena, candidates, s->wide ? 8 : 4);
        target->entries = arena_take(&arena, entries, sizeof *target->entries);
        if (s->two_words) {
            target->entries_low = arena_take(&arena, entries, sizeof *target->entries_low);
        }
    }
    if (s->target == TARGET_LIST) {
        if (has_predicate(plan) && s->one_block) {
            l.args.matches = arena_take(&arena, rows, sizeof *l.args.matches);
        }
        const size_t position_bytes = s->wide ? 8 : 4;
        l.found = found_take(plan, position_bytes, &arena);
        l.sort_workspace = arena_take(&arena, 1, s->sort.workspace_bytes);
        l.found.counts = l.args.matches;
        target->list.elements = l.found.elements;
        target->list.positions = l.found.positions;
    }
    if (has_predicate(plan)) {
        l.found_match = arena_take(&arena, 1, sizeof *l.found_match);
    }
    l.bytes = arena_bytes(&arena);
    return l;
}
