/* SPDX-License-Identifier: Apache-2.0
 * What the calls on shards launch, and over which memory. */
#include "../../sharded.h"

#include "../leaf.h"
#include "../lookback.h"
#include "../methods.h"
#include "kernels.h"

static const struct sharded_kernels *const kernels[WIDTHS] = {
    &topk_cuda_sharded_kernels_8, &topk_cuda_sharded_kernels_16, &topk_cuda_sharded_kernels_32,
    &topk_cuda_sharded_kernels_64};

/* The arrays of a state. Over NULL it is measured. */
struct layout {
    struct sharded_header *header;
    struct match *found; /* of bounds that the device reads */
    struct sharded_row *states;
    uint64_t *own;
    void *kept;
    struct selected_row *selected;
    struct sharded_written *written;
    uint64_t *ticket, *words;
    size_t own_bytes, bytes;
};

/* How a selection divides rows of up to `longest` elements: into segments of tiles, with words of
 * their own. The first group of 16 bytes may begin before the row. */
struct division {
    int64_t segments, tiles, words_of_segment, words_of_row;
};

static struct division divide(const struct sharded *s, int64_t longest) {
    const int64_t tile = SHARDED_SELECT_TILE((int64_t)s->plan.element_bytes), of_group = 16,
                  segment = least(longest, SHARDED_SEGMENT);
    struct division d = {.segments = greatest(divide_up(longest, SHARDED_SEGMENT), 1)};
    d.tiles = divide_up(segment + of_group, tile);
    d.words_of_segment = look_back_words(d.tiles);
    if (__builtin_mul_overflow(d.segments, d.words_of_segment, &d.words_of_row)) {
        d.words_of_row = INT64_MAX;
    }
    return d;
}

/* Rows whose words a state has room for, whatever the part: fewer than 2^32 tiles. */
static int64_t rows_at_once(const struct sharded *s) {
    const struct division d = divide(s, s->plan.problem.length_max);
    return least(s->plan.problem.rows, greatest(SHARDED_WORDS / d.words_of_row, 1));
}

static struct layout lay_out(const struct sharded *s, void *memory) {
    const size_t rows = (size_t)s->plan.problem.rows;
    struct arena arena = arena_over(memory);
    struct layout l = {.header = arena_take(&arena, 1, sizeof *l.header)};
    size_t counters, kept;
    if (__builtin_mul_overflow(rows, (size_t)s->bins, &counters)) {
        counters = SIZE_MAX;
    }
    if (__builtin_mul_overflow(rows, (size_t)s->capacity, &kept)) {
        kept = SIZE_MAX;
    }
    l.found = arena_take(&arena, 1, sizeof *l.found);
    l.states = arena_take(&arena, rows, sizeof *l.states);
    l.own = arena_take(&arena, counters, sizeof *l.own);
    l.kept = arena_take(&arena, kept, s->plan.element_bytes);
    l.selected = arena_take(&arena, rows, sizeof *l.selected);
    l.written = arena_take(&arena, rows, sizeof *l.written);
    l.ticket = arena_take(&arena, 1, sizeof *l.ticket);
    const struct division d = divide(s, s->plan.problem.length_max);
    l.words = arena_take(&arena, (size_t)rows_at_once(s), (size_t)d.words_of_row * sizeof *l.words);
    l.own_bytes = counters * sizeof *l.own;
    l.bytes = arena_bytes(&arena);
    return l;
}

/* Ranks may have shards of different lengths, so these do not matter here. */
static unsigned digit_bits(const struct plan *plan) {
    return plan->element_bits > 16 && plan->problem.rows <= SHARDED_FEW_ROWS ? SHARDED_DIGIT_FEW_ROWS
                                                                             : sharded_digit_bits(plan);
}

static void measure(struct sharded *s) {
    s->bytes = lay_out(s, NULL).bytes;
}

struct work {
    const struct sharded *s;
    enum sharded_kernel kernel;
    int round;
    topk_input input;
    int64_t *counters;
    const int64_t *sums, *before;
    topk_sharded_output output;
    void *values, *indices;
};

static bool is_of_part(const struct work *w) {
    return w->kernel == SHARDED_COUNT || w->kernel == SHARDED_OPEN || w->kernel == SHARDED_SELECT;
}

static struct sharded_args args_of(const struct work *w, const struct layout *l) {
    const struct sharded *s = w->s;
    const struct call call = {.context = s->context,
                              .plan = is_of_part(w) ? &s->part : &s->plan,
                              .input = w->input,
                              .values = w->values,
                              .indices = w->indices};
    const struct sharded_digit digit = sharded_digit_of(s, w->round);
    return (struct sharded_args){.rows = row_args_of(&call),
                                 .decode = device_order_of(&s->plan),
                                 .header = l->header,
                                 .problem = s->problem,
                                 .states = l->states,
                                 .own = l->own,
                                 .kept = l->kept,
                                 .capacity = s->capacity,
                                 .bins = (uint32_t)s->bins,
                                 .shift = digit.shift,
                                 .mask = (1u << digit.bits) - 1,
                                 .is_first = w->round == 0,
                                 .is_later_part = w->kernel == SHARDED_COUNT && s->part_number > 0,
                                 .keeps = w->round + 2 < s->rounds,
                                 .lists = w->round > 0 && w->round + 1 < s->rounds && s->capacity > 0,
                                 .counters = (uint64_t *)w->counters,
                                 .sums = (const uint64_t *)w->sums,
                                 .before = w->before,
                                 .kth = w->output.kth,
                                 .better = w->output.better,
                                 .equal = w->output.equal,
                                 .own_better = w->output.own_better,
                                 .own_equal = w->output.own_equal,
                                 .own_k = w->output.own_k,
                                 .after = w->output.after,
                                 .known = w->output.known};
}

static int64_t blocks_at_once(const struct work *w, int64_t per_sm) {
    return per_sm * (int64_t)device_of(w->s->context)->sms;
}

/* A grid that shares each of `rows` rows among blocks, with work for up to `most` of them. */
static struct launch_grid grid_of_rows(const struct work *w, int64_t rows, int64_t most, int64_t at_once,
                                       int64_t threads) {
    const struct call call = {.stream = w->s->stream};
    const int64_t of_row = greatest(at_once / least(rows, at_once), 1);
    struct launch_grid grid = grid_of(&call, greatest(most, 1), of_row, threads);
    grid.rows = (uint32_t)least(rows, SHARDED_GRID_ROWS);
    return grid;
}

static struct launch_grid grid_for(const struct work *w) {
    const struct sharded *s = w->s;
    const struct call call = {.stream = s->stream};
    const int64_t rows = s->plan.problem.rows;
    const int64_t at_once =
        blocks_at_once(w, w->round == 0 ? SHARDED_FIRST_BLOCKS_PER_SM : SHARDED_BLOCKS_PER_SM);
    if (w->kernel == SHARDED_COUNT) {
        const int64_t tiles = divide_up(s->longest, kernels[width_of(&s->plan)]->tile);
        return grid_of_rows(w, rows, tiles, at_once, SHARDED_THREADS);
    }
    if (w->kernel == SHARDED_ADVANCE) {
        const int64_t threads = least(s->bins / SHARDED_ADVANCE_BINS, SHARDED_ADVANCE_THREADS);
        return grid_of(&call, rows, 4 * at_once, greatest(threads, SHARDED_ROW_THREADS));
    }
    return grid_of(&call, divide_up(rows, SHARDED_ROW_THREADS), 4 * at_once, SHARDED_ROW_THREADS);
}

/* One segment of some rows: as the launch before it has left them, they are opened, and then selected from.
 */
static int select_segment(const struct work *w, struct sharded_args *args) {
    const struct call call = {.stream = w->s->stream};
    const struct sharded_kernels *of_width = kernels[width_of(&w->s->plan)];
    const struct selected_rows *rows = &args->selected;
    const int64_t slots = rows->is_first ? divide_up(args->rows.k_max, SHARDED_ROW_THREADS) : 1;
    const struct launch_grid opening = grid_of_rows(w, rows->count, slots, blocks_at_once(w, 4),
                                                    SHARDED_ROW_THREADS),
                             grid = grid_of(&call, rows->count * rows->tiles,
                                            blocks_at_once(w, SHARDED_SELECT_BLOCKS_PER_SM),
                                            SHARDED_SELECT_THREADS);
    const int error = of_width->launch(SHARDED_OPEN, &opening, args);
    return error != 0 ? error : of_width->launch(SHARDED_SELECT, &grid, args);
}

static int launch_selection(const struct work *w, const struct layout *l, struct sharded_args *args) {
    const struct division d = divide(w->s, w->s->longest);
    const int64_t rows = w->s->plan.problem.rows, at_once = rows_at_once(w->s);
    struct selected_rows *selected = &args->selected;
    int error = 0;
    *selected = (struct selected_rows){.tiles = (uint32_t)d.tiles,
                                       .ticket = l->ticket,
                                       .words_of_row = d.words_of_row,
                                       .rows = l->selected,
                                       .written = l->written};
    for (; selected->first < rows && error == 0; selected->first += at_once) {
        selected->count = least(at_once, rows - selected->first);
        error = topk_device_zero(w->s->stream, l->words,
                                 (size_t)(selected->count * d.words_of_row) * sizeof *l->words);
        for (int64_t segment = 0; segment < d.segments && error == 0; segment++) {
            selected->segment = segment * SHARDED_SEGMENT;
            selected->is_first = segment == 0 && w->s->part_number == 0;
            selected->words = l->words + segment * d.words_of_segment;
            error = select_segment(w, args);
        }
    }
    return error;
}

/* What is written so far is in bounds also where a later part comes first. */
static int begin_arrays(const struct work *w, const struct layout *l) {
    const size_t rows = (size_t)w->s->plan.problem.rows;
    int error = topk_device_zero(w->s->stream, l->own, l->own_bytes);
    error = error != 0 ? error : topk_device_zero(w->s->stream, l->written, rows * sizeof *l->written);
    return error != 0 ? error : topk_device_zero(w->s->stream, w->counters, l->own_bytes);
}

static int launch_work(const void *of) {
    const struct work *w = of;
    const struct layout l = lay_out(w->s, w->s->memory);
    struct sharded_args args = args_of(w, &l);
    const struct call call = {
        .plan = &w->s->part, .input = w->input, .predicate = w->input.predicate, .stream = w->s->stream};
    int error = call.predicate != NULL ? topk_cuda_take_predicate(&call, l.found, &args.predicate) : 0;
    if (w->kernel == SHARDED_BEGIN) {
        error = begin_arrays(w, &l);
    }
    if (error == 0 && w->kernel == SHARDED_SELECT) {
        return launch_selection(w, &l, &args);
    }
    const struct launch_grid grid = grid_for(w);
    return error != 0 ? error : kernels[width_of(&w->s->plan)]->launch(w->kernel, &grid, &args);
}

static topk_status run(const struct work *w) {
    return w->s->plan.problem.rows == 0 ? TOPK_OK : topk_cuda_do(w->s->context, launch_work, w);
}

static topk_status begin(const struct sharded *s, const void *k, int64_t *counters) {
    return run(&(struct work){.s = s, .kernel = SHARDED_BEGIN, .input = {.k = k}, .counters = counters});
}

static topk_status count(const struct sharded *s, int round, const topk_input *input, int64_t *counters) {
    return run(&(struct work){
        .s = s, .kernel = SHARDED_COUNT, .round = round, .input = *input, .counters = counters});
}

static topk_status advance(const struct sharded *s, int round, const int64_t *sums, int64_t *counters) {
    return run(&(struct work){
        .s = s, .kernel = SHARDED_ADVANCE, .round = round, .counters = counters, .sums = sums});
}

static topk_status result(const struct sharded *s, const int64_t *before, const topk_sharded_output *output) {
    return run(&(struct work){.s = s, .kernel = SHARDED_RESULT, .before = before, .output = *output});
}

static topk_status select_part(const struct sharded *s, const topk_input *input, const int64_t *before,
                               void *values, void *indices) {
    return run(&(struct work){.s = s,
                              .kernel = SHARDED_SELECT,
                              .input = *input,
                              .before = before,
                              .values = values,
                              .indices = indices});
}

int topk_cuda_prepare_sharding(const topk_context *context) {
    int error = topk_cuda_prepare_bounds();
    (void)context;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare();
    }
    return error;
}

const struct sharding topk_cuda_sharding = {.digit_bits = digit_bits,
                                            .measure = measure,
                                            .begin = begin,
                                            .count = count,
                                            .advance = advance,
                                            .result = result,
                                            .select = select_part};
