/* SPDX-License-Identifier: Apache-2.0
 * What a call of air launches, and over which workspace. */
#include "../methods.h"

#include "../../reached.h"
#include "../../subcall.h"
#include "../leaf.h"
#include "../lookback.h"
#include "kernels.h"

enum { KNOB_DIGIT_BITS, KNOB_ALPHA, KNOB_ADAPTIVE_BUFFERING, KNOB_EARLY_STOP, KNOB_FUSED_FILTER };

static const struct knob knobs[] = {
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

static const int64_t *given(const struct plan *plan, int knob) {
    return tuning_given(&plan->tuning, &knobs[knob]);
}

static int64_t value_of(const struct plan *plan, int knob) {
    return tuning_value(&plan->tuning, &knobs[knob]);
}

/* Ways to do with less and less workspace. */
enum variant {
    AIR_USUAL,
    AIR_UNBUFFERED, /* no candidates are buffered */
    AIR_ONE_BLOCK,  /* one block for each row also where that is slow */
    AIR_VARIANTS
};

/* How a problem is served; follows from the plan and the device alone. */
struct strategy {
    enum target_kind target;
    bool one_block;       /* for each row */
    bool can_go_in_order; /* the last filter may need state words of tiles */
    uint32_t digit_bits;
    uint32_t passes;
    uint32_t first_blocks, blocks; /* for each row in the first pass and after, unless it has one block */
    int64_t capacity;
    int64_t pitch;
    int64_t tiles;
    uint32_t block_entries;
    int64_t row_room; /* candidates that one block has room for */
    bool wide, two_words;
};

static const struct air_kernels *const kernels[WIDTHS] = {&topk_cuda_air_kernels_8, &topk_cuda_air_kernels_16,
                                                          &topk_cuda_air_kernels_32,
                                                          &topk_cuda_air_kernels_64};

/* Whether elements have to meet a predicate. */
static bool filters(const struct plan *plan) {
    return plan->operation == TOPK_OPERATION_SELECT_WHERE;
}

/* Elements of a tile of the body: 16-byte groups, as tiles.cuh has them. */
static int64_t tile_elements(const struct plan *plan) {
    return AIR_THREADS * (plan->element_bytes == 1 ? 2 : 4) * (16 / (int64_t)plan->element_bytes);
}

/* Whether the last block of the last pass writes what is missing of a row. */
static bool fuses(const struct plan *plan, uint32_t passes) {
    return passes > 1 && value_of(plan, KNOB_FUSED_FILTER) == 1 && !filters(plan);
}

static enum target_kind target_of(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const bool sorted = p->order == TOPK_ORDER_BEST_FIRST;
    if (plan->operation == TOPK_OPERATION_KTH) {
        return TARGET_KTH;
    }
    if (!sorted && p->ties == TOPK_TIES_ANY) {
        return TARGET_OUTPUTS;
    }
    return p->k_max <= SELECT_SORT_MAX ? TARGET_ENTRIES : sorted ? TARGET_LIST : TARGET_OUTPUTS;
}

/* Candidates that are buffered at most, for each row. */
static int64_t capacity_of(const struct plan *plan) {
    const int64_t n = plan->problem.length_max, alpha = value_of(plan, KNOB_ALPHA);
    if (value_of(plan, KNOB_ADAPTIVE_BUFFERING) == 0) {
        return n;
    }
    if (given(plan, KNOB_ALPHA) == NULL) {
        /* Ragged rows cannot all be long. */
        const int64_t rows = plan->problem.rows > 0 ? plan->problem.rows : 1;
        const int64_t share = least(n, (int64_t)plan->input_elements / rows) / alpha;
        return share > AIR_FINISH_CANDIDATES ? share : AIR_FINISH_CANDIDATES;
    }
    return alpha >= n ? 0 : n / alpha;
}

/* A power of two. */
static uint32_t entries_of(int64_t count) {
    uint32_t entries = 64;
    while (entries < count) {
        entries *= 2;
    }
    return entries;
}

/* Enough for the loads of a tile, for sorting, and for much padding. */
static uint32_t row_threads(const struct plan *plan) {
    const int64_t loads = plan->problem.length_max / (64 / (int64_t)plan->element_bytes);
    const int64_t entries = least(plan->problem.k_max, plan->problem.length_max) + SELECT_TIES_KEPT;
    uint32_t threads = AIR_ROW_THREADS_MIN;
    const int64_t padding = plan->problem.k_max / 1024;
    while (threads < AIR_ROW_THREADS_MAX && (threads < loads || 8 * threads < entries || threads < padding)) {
        threads = (uint32_t)least(2 * threads, AIR_ROW_THREADS_MAX);
    }
    return threads;
}

static int64_t row_room(const topk_context *context, const struct plan *plan, const struct strategy *s) {
    const struct air_args args = {.block_entries = s->block_entries, .target.two_words = s->two_words};
    return kernels[width_of(plan)]->row_room(&args, (uint32_t)device_of(context)->shared_bytes_max);
}

/* Blocks for each row of a kernel of which so many blocks are resident on a multiprocessor; and so many that
 * none can count 2^32 elements. */
static uint32_t blocks_of(const topk_context *context, const struct plan *plan, int64_t tiles,
                          int64_t per_sm) {
    const int64_t rows = plan->problem.rows;
    const int64_t blocks = rows > 0 ? device_of(context)->sms * per_sm / rows : 1;
    const int64_t enough = plan->problem.length_max / AIR_BLOCK_ELEMENTS + 1;
    return (uint32_t)(blocks < enough ? enough : least(blocks, tiles));
}

static struct strategy strategy_with(const topk_context *context, const struct plan *plan,
                                     enum variant variant) {
    const topk_problem *p = &plan->problem;
    struct strategy s = {
        .target = target_of(plan),
    };
    const bool tuned = given(plan, KNOB_ALPHA) != NULL || given(plan, KNOB_ADAPTIVE_BUFFERING) != NULL;
    const int64_t tile = tile_elements(plan);
    const int64_t tiles = p->length_max / tile + 1;
    s.digit_bits = (uint32_t)value_of(plan, KNOB_DIGIT_BITS);
    s.passes = (plan->element_bits + s.digit_bits - 1) / s.digit_bits;
    s.wide = p->length_max > AIR_NARROW_ROW;
    s.two_words = plan->element_bytes == 8 || p->length_max > AIR_ONE_WORD_ROW;
    s.block_entries = s.target == TARGET_ENTRIES ? entries_of(p->k_max + SELECT_TIES_KEPT) : 0;
    s.row_room = row_room(context, plan, &s);
    const bool many = p->rows >= device_of(context)->sms * AIR_ROWS_PER_16_SMS / 16;
    const int64_t longest = variant == AIR_ONE_BLOCK ? INT32_MAX : many ? AIR_LONG_ROW_MAX : AIR_ROW_MAX;
    s.one_block = !tuned && p->length_max <= longest && s.row_room >= 0;
    if (s.one_block) {
        if (given(plan, KNOB_DIGIT_BITS) == NULL && p->length_max <= AIR_SHORT_ROW_MAX) {
            s.digit_bits = AIR_SHORT_DIGIT_BITS;
        }
        return s;
    }
    s.first_blocks =
        blocks_of(context, plan, tiles, filters(plan) ? AIR_BLOCKS_PER_SM : AIR_FIRST_BLOCKS_PER_SM);
    s.blocks = blocks_of(context, plan, tiles, AIR_BLOCKS_PER_SM);
    s.can_go_in_order =
        s.target == TARGET_LIST ||
        (s.target != TARGET_KTH && (p->ties == TOPK_TIES_LOWEST_INDEX || !fuses(plan, s.passes)));
    s.capacity = s.target == TARGET_LIST || (variant != AIR_USUAL && !tuned) ? 0 : capacity_of(plan);
    s.pitch = s.target == TARGET_ENTRIES ? p->k_max + SELECT_TIES_KEPT : 0;
    s.tiles = s.can_go_in_order ? tiles + 2 : 0;
    return s;
}

struct layout {
    struct air_args args;
    void *zeroed; /* what must be zero before the first launch */
    size_t zeroed_bytes;
    struct found found;
    struct subcall sort;       /* of what was found */
    struct match *found_match; /* of bounds that the device reads */
    size_t bytes;
};

/* A product that says "too many" instead of overflowing. */
static size_t times(size_t a, size_t b) {
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

static struct layout lay_out(const topk_context *context, const struct plan *plan, const struct strategy *s,
                             void *workspace) {
    struct arena arena = arena_over(workspace);
    const size_t rows = (size_t)plan->problem.rows;
    const size_t candidates = times(rows, (size_t)s->capacity), entries = times(rows, (size_t)s->pitch);
    struct layout l = {.bytes = 0};
    struct target *target = &l.args.target;
    if (!s->one_block) {
        const size_t before = arena.used;
        l.args.states = arena_take(&arena, rows, sizeof *l.args.states);
        l.args.histograms =
            arena_take(&arena, times(rows, (size_t)1 << s->digit_bits), sizeof *l.args.histograms);
        l.args.lookback.words = arena_take(&arena, times(rows, 2 * (size_t)look_back_words(s->tiles)),
                                           sizeof *l.args.lookback.words);
        l.args.matches = filters(plan) ? arena_take(&arena, rows, sizeof *l.args.matches) : NULL;
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
        if (filters(plan) && s->one_block) {
            l.args.matches = arena_take(&arena, rows, sizeof *l.args.matches);
        }
        const size_t position_bytes = s->wide ? 8 : 4;
        l.found = topk_found_take(plan, position_bytes, &arena);
        l.sort = topk_subcall_on_found(context, plan, &topk_cuda_sort, position_bytes);
        topk_subcall_take(&l.sort, &arena);
        l.found.counts = l.args.matches;
        target->list.elements = l.found.elements;
        target->list.positions = l.found.positions;
    }
    if (filters(plan)) {
        l.found_match = arena_take(&arena, 1, sizeof *l.found_match);
    }
    l.bytes = arena_bytes(&arena);
    return l;
}

/* The first variant that keeps to the limit, or the last. */
static struct strategy strategy_of(const topk_context *context, const struct plan *plan) {
    const size_t limit = plan_workspace_limit(plan);
    struct strategy s = strategy_with(context, plan, AIR_USUAL);
    for (int variant = AIR_UNBUFFERED;
         variant < AIR_VARIANTS && lay_out(context, plan, &s, NULL).bytes > limit; variant++) {
        TOPK_REACHED(variant == AIR_UNBUFFERED ? REACHED_AIR_LIMIT_UNBUFFERED : REACHED_AIR_LIMIT_ONE_BLOCK);
        s = strategy_with(context, plan, (enum variant)variant);
    }
    return s;
}

static const char *refuse(const topk_context *context, const struct plan *plan) {
    (void)context;
    (void)plan;
    return NULL;
}

/* Fitted on an H200 (driver 580, 2026-11-20): what a pass takes besides reading; a wave of blocks that have a
 * row each; how often the input is read; and bytes for each microsecond. */
static const double pass_us = 5, wave_us = 6, reads = 2.5, bytes_per_us = 4.6e6;

static double cost_us(const topk_context *context, const struct plan *plan) {
    const struct strategy s = strategy_of(context, plan);
    const double read_us = (double)plan->input_elements * (double)plan->element_bytes / bytes_per_us;
    const double blocks = (double)device_of(context)->sms * AIR_ROW_THREADS_MAX / row_threads(plan);
    double cost =
        s.one_block ? wave_us * (1 + (double)plan->problem.rows / blocks) : pass_us * (s.passes + 1);
    if (s.target == TARGET_LIST) { /* then all that was found is sorted, byte by byte */
        cost +=
            (double)plan->element_bytes *
            (pass_us + 2 * (double)plan->output_elements * (double)(plan->element_bytes + 4) / bytes_per_us);
    }
    return cost + reads * read_us;
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    const struct strategy s = strategy_of(context, plan);
    return lay_out(context, plan, &s, NULL).bytes;
}

static void fill_args(const struct call *call, const struct strategy *s, struct layout *l) {
    struct air_args *args = &l->args;
    const struct plan *plan = call->plan;
    args->rows = row_args_of(call);
    if (filters(plan)) {
        args->predicate = topk_cuda_predicate_args(call, l->found_match);
    }
    args->decode = topk_decode_args(&plan->order);
    args->kth = kth_outputs_of(call);
    args->target.kind = s->target;
    args->target.ties_free = plan->problem.ties == TOPK_TIES_ANY;
    args->target.two_words = s->two_words;
    args->target.pitch = s->pitch;
    args->target.list.wide = s->wide;
    args->digits.bits = s->digit_bits;
    args->digits.early_stop = s->target != TARGET_KTH && value_of(plan, KNOB_EARLY_STOP) != 0;
    args->capacity = s->capacity;
    args->candidates.wide = s->wide;
    args->lookback.tiles = s->tiles;
    args->lookback.sum_words = look_back_words(s->tiles);
    args->block_entries = s->block_entries;
    args->block_candidates = s->wide ? 0 : finish_candidates((uint32_t)plan->element_bytes);
}

static uint32_t grid_side(int64_t count, int64_t limit) {
    return (uint32_t)least(count, limit);
}

static int launch_row(const struct call *call, const struct strategy *s, struct air_args *args) {
    const struct plan *plan = call->plan;
    const struct launch_grid grid = {.blocks = grid_side(plan->problem.rows, AIR_GRID_BLOCKS),
                                     .rows = 1,
                                     .threads = row_threads(plan),
                                     .stream = call->stream};
    args->block_candidates =
        (uint32_t)least(least(plan->problem.length_max, AIR_ROW_CANDIDATES), s->row_room);
    return kernels[width_of(plan)]->row(&grid, args);
}

/* Ranks the results with the whole device, or sorts each row's in one block. */
static int launch_sort(const struct call *call, const struct launch_grid *passes,
                       const struct air_args *args) {
    const struct plan *plan = call->plan;
    const int64_t rows = plan->problem.rows, k = plan->problem.k_max;
    struct launch_grid grid = *passes;
    if (rows <= (int64_t)AIR_RANK_ROWS * SELECT_SORT_MAX * SELECT_SORT_MAX / ((k + 1) * (k + 1))) {
        const int64_t warps = AIR_RANK_THREADS / 32;
        TOPK_REACHED(REACHED_AIR_RANK);
        grid.threads = AIR_RANK_THREADS;
        grid.blocks = (uint32_t)(k / (2 * warps) + 1);
        return kernels[width_of(plan)]->rank(&grid, args);
    }
    TOPK_REACHED(REACHED_AIR_SORT);
    grid.blocks = grid_side(rows, AIR_GRID_BLOCKS);
    grid.rows = 1;
    grid.threads = AIR_SORT_THREADS;
    return kernels[width_of(plan)]->sort(&grid, args);
}

static int launch_passes(const struct call *call, const struct strategy *s, struct air_args *args) {
    const struct plan *plan = call->plan;
    const struct air_kernels *launch = kernels[width_of(plan)];
    struct launch_grid grid = {.blocks = s->blocks,
                               .rows = grid_side(plan->problem.rows, AIR_GRID_ROWS),
                               .threads = AIR_THREADS,
                               .stream = call->stream};
    uint32_t unknown = plan->element_bits;
    const bool fused = fuses(plan, s->passes);
    /* No row needs the last filter where the last pass writes them all, whatever they hold. */
    const bool writes_all = fused && args->target.ties_free && s->target != TARGET_LIST;
    const bool filtered_last = s->target != TARGET_KTH && !writes_all,
               sorted_last = s->target == TARGET_ENTRIES;
    int error = 0;
    for (uint32_t pass = 0; pass < s->passes && error == 0; pass++) {
        const bool is_last = pass + 1 == s->passes;
        const uint32_t bits = unknown < s->digit_bits ? unknown : s->digit_bits;
        unknown -= bits;
        args->digit = (struct digit){unknown, ((uint32_t)1 << bits) - 1};
        args->has_successor = !is_last || filtered_last || sorted_last;
        grid.blocks = pass == 0 ? s->first_blocks : s->blocks;
        error = pass == 0          ? launch->first(&grid, args)
                : is_last && fused ? launch->fused(&grid, args)
                                   : launch->next(&grid, args);
        grid.dependent = device_of(call->context)->dependent_launch;
    }
    args->has_successor = sorted_last;
    if (error == 0 && filtered_last) {
        error = launch->last(&grid, args);
    }
    if (error == 0 && sorted_last) {
        error = launch_sort(call, &grid, args);
    }
    return error;
}

static int run(const struct call *call) {
    const struct strategy s = strategy_of(call->context, call->plan);
    struct layout l = lay_out(call->context, call->plan, &s, call->workspace);
    int error = 0;
    fill_args(call, &s, &l);
    if (l.args.predicate.bounds.values != NULL) {
        const struct launch_grid one = {.blocks = 1, .rows = 1, .threads = 32, .stream = call->stream};
        error = topk_cuda_air_launch_bounds(&one, &l.args);
    }
    if (error == 0 && s.one_block) {
        error = launch_row(call, &s, &l.args);
    } else if (error == 0) {
        error = topk_device_zero(call->stream, l.zeroed, l.zeroed_bytes);
        error = error != 0 ? error : launch_passes(call, &s, &l.args);
    }
    if (error == 0 && s.target == TARGET_LIST) {
        struct call sort = topk_subcall_call(&l.sort, call);
        sort.found = &l.found;
        error = l.sort.method->run(&sort);
    }
    return error;
}

static int prepare(const topk_context *context) {
    const uint32_t shared_bytes_max = (uint32_t)device_of(context)->shared_bytes_max;
    int error = topk_cuda_air_prepare_bounds();
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare(shared_bytes_max);
    }
    return error;
}

const struct method topk_cuda_air = {.name = "air",
                                     .operations = SELECTS_WHERE,
                                     .knobs = knobs,
                                     .refuse = refuse,
                                     .cost_us = cost_us,
                                     .workspace_bytes = workspace_bytes,
                                     .prepare = prepare,
                                     .run = run};
