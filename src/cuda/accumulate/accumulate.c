/* SPDX-License-Identifier: Apache-2.0
 * What the calls of an accumulator launch, and over which memory. */
#include "../../accumulator.h"

#include "../../status.h"
#include "../leaf.h"
#include "../methods.h"
#include "kernels.h"

static const struct accumulate_kernels *const kernels[WIDTHS] = {
    &topk_cuda_accumulate_kernels_8, &topk_cuda_accumulate_kernels_16, &topk_cuda_accumulate_kernels_32,
    &topk_cuda_accumulate_kernels_64};

static const struct accumulate_kernels *kernels_of(const struct accumulator *a) {
    return kernels[width_of(&a->plan)];
}

/* ---- Layout ---- */

/* Places of candidates by their position, and the k best of them. */
enum { SORTED, BEST };

/* So that bins of 32 bits count all candidates of a row. */
#define K_MAX (INT64_C(1) << 29)

/* Whether a selection finds the best of a chunk. */
static bool selects(const struct accumulator *a) {
    return a->plan.problem.rows > ACCUMULATE_WAYS_OUT;
}

/* Blocks that share a row of a chunk, at most. */
static int64_t blocks_of_row(const struct accumulator *a) {
    return greatest(ACCUMULATE_HOLDERS / greatest(a->plan.problem.rows, 1), 1);
}

/* Slots for what they hold back. Where a selection follows it need not find room. */
static int64_t reserve_of(const struct accumulator *a) {
    return selects(a) ? 0 : blocks_of_row(a) * ACCUMULATE_HELD;
}

static topk_status choose(struct accumulator *a) {
    const int64_t k = a->plan.problem.k_max, pitch = ACCUMULATE_ROOM * k + reserve_of(a);
    if (k > K_MAX) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "k_max is %lld, an accumulator on a GPU keeps up to 2^29",
                         (long long)k);
    }
    const topk_problem positions = topk_accumulator_positions(a, k);
    const topk_status status =
        topk_accumulator_choose(a, TOPK_OPERATION_SELECT, &positions, k, pitch, &a->of_candidates[SORTED]);
    return status != TOPK_OK ? status
                             : topk_accumulator_choose(a, TOPK_OPERATION_SELECT, &a->plan.problem, k, k,
                                                       &a->of_candidates[BEST]);
}

struct layout {
    struct accumulate_state state;
    size_t kept_bytes;
    void *scratch;
    size_t bytes;
};

static struct accumulate_list take_list(struct arena *arena, const struct plan *plan, int64_t pitch) {
    const size_t slots = (size_t)plan->problem.rows * (size_t)pitch;
    struct accumulate_list list = {.pitch = pitch};
    list.elements = arena_take(arena, slots, plan->element_bytes);
    list.positions = arena_take(arena, slots, sizeof *list.positions);
    list.payload = arena_take(arena, slots, plan->index_bytes);
    return list;
}

/* What another state is read for. */
static struct accumulate_state take_state(struct arena *arena, const struct accumulator *a) {
    const topk_problem *p = &a->plan.problem;
    const size_t rows = (size_t)p->rows;
    const int64_t most = least(p->k_max, p->length_max);
    struct accumulate_state state;
    state.header = arena_take(arena, 1, sizeof *state.header);
    state.rows = arena_take(arena, rows, sizeof *state.rows);
    state.reserve = reserve_of(a);
    state.candidates = take_list(arena, &a->plan, ACCUMULATE_ROOM * p->k_max + state.reserve);
    state.best =
        take_list(arena, &a->plan,
                  selects(a) ? most : ACCUMULATE_LISTED * most + state.reserve / ACCUMULATE_HELD_OF_LISTED);
    state.ways_out = arena_take(arena, selects(a) ? 0 : rows, sizeof *state.ways_out);
    state.lengths = arena_take(arena, rows, sizeof *state.lengths);
    state.ks = arena_take(arena, rows, sizeof *state.ks);
    return state;
}

/* What a push needs besides, over the scratch. */
struct push_scratch {
    struct match *match; /* of bounds that the device reads */
    void *selection;     /* its workspace */
    size_t bytes;
};

static struct push_scratch lay_out_push(const struct accumulator *a, const struct subcall *inner,
                                        void *scratch) {
    struct arena arena = {scratch, 0};
    struct push_scratch s;
    s.match = arena_take(&arena, has_predicate(&inner->plan) ? 1 : 0, sizeof *s.match);
    s.selection = arena_take(&arena, selects(a) ? 1 : 0, inner->decision.workspace_bytes);
    s.bytes = arena.used;
    return s;
}

/* And results. */
struct write_scratch {
    void *selections[2]; /* workspaces: SORTED, BEST */
    int64_t *positions, *places, *sorted;
    void *arranged;
    size_t bytes;
};

static struct write_scratch lay_out_write(const struct accumulator *a, void *scratch) {
    const size_t slots = a->plan.output_elements;
    struct arena arena = {scratch, 0};
    struct write_scratch s;
    s.selections[SORTED] = arena_take(&arena, 1, a->of_candidates[SORTED].decision.workspace_bytes);
    s.selections[BEST] = arena_take(&arena, 1, a->of_candidates[BEST].decision.workspace_bytes);
    s.positions = arena_take(&arena, slots, sizeof *s.positions);
    s.places = arena_take(&arena, slots, sizeof *s.places);
    s.sorted = arena_take(&arena, slots, sizeof *s.sorted);
    s.arranged = arena_take(&arena, slots, a->plan.element_bytes);
    s.bytes = arena.used;
    return s;
}

static size_t scratch_bytes(const struct accumulator *a) {
    const size_t of_push = lay_out_push(a, &a->select, NULL).bytes,
                 of_where = lay_out_push(a, &a->select_where, NULL).bytes,
                 of_write = lay_out_write(a, NULL).bytes;
    const size_t most = of_push > of_where ? of_push : of_where;
    return most > of_write ? most : of_write;
}

static struct layout lay_out(const struct accumulator *a, void *memory) {
    struct arena arena = arena_over(memory);
    struct layout l = {.state = take_state(&arena, a)};
    l.kept_bytes = arena_bytes(&arena);
    l.scratch = arena_take(&arena, 1, scratch_bytes(a));
    l.bytes = arena_bytes(&arena);
    return l;
}

static void measure(struct accumulator *a) {
    const struct layout l = lay_out(a, NULL);
    a->kept_bytes = l.kept_bytes;
    a->bytes = l.bytes;
}

/* ---- Launches ---- */

/* A call with no chunk and no outputs. */
static struct accumulate_args args_of(const struct accumulator *a, const struct accumulate_state *state) {
    const struct call none = {.context = a->context, .plan = &a->plan, .stream = a->stream};
    return (struct accumulate_args){
        .rows = row_args_of(&none), .problem = a->problem, .payload = PAYLOAD_UNKNOWN, .state = *state};
}

/* For the kernels that work on lists: so many blocks, at most some for each multiprocessor. */
static struct launch_grid list_grid(const struct accumulator *a, int64_t blocks, int64_t of_sm) {
    const struct call call = {.stream = a->stream};
    return grid_of(&call, blocks, of_sm * device_of(a->context)->sms, ACCUMULATE_LIST_THREADS);
}

/* A thread for each of so many slots, or as many as the device has room for. */
static struct launch_grid grid_for(const struct accumulator *a, int64_t slots) {
    return list_grid(a, divide_up(slots, ACCUMULATE_LIST_THREADS), 4);
}

/* Blocks that read a chunk. They have fewer threads where shared memory has no room for the rings of all. */
static struct launch_grid grid_of_chunk(const struct accumulator *a, int64_t length) {
    const struct device_info *device = device_of(a->context);
    const int64_t of_thread = a->plan.element_bytes == 1 ? 32 : 64 / (int64_t)a->plan.element_bytes;
    const bool is_short = length <= 4 * ACCUMULATE_THREADS_FEW * of_thread;
    int64_t threads = is_short ? ACCUMULATE_THREADS_FEW : ACCUMULATE_THREADS;
    int64_t bytes = kernels_of(a)->shared_bytes((uint32_t)threads);
    while (threads > ACCUMULATE_THREADS_FEW && bytes > device->shared_bytes_max) {
        threads /= 2;
        bytes = kernels_of(a)->shared_bytes((uint32_t)threads);
    }
    const int64_t of_sm = least(ACCUMULATE_THREADS_PER_SM / threads, device->shared_bytes_max / bytes);
    const int64_t at_once = device->sms * greatest(of_sm, 1);
    const int64_t rows = least(a->plan.problem.rows, ACCUMULATE_GRID_ROWS);
    const int64_t of_block = ACCUMULATE_TILES_OF_BLOCK * threads * of_thread;
    const int64_t blocks = least(divide_up(length, of_block), least(at_once / rows, blocks_of_row(a)));
    return (struct launch_grid){.blocks = (uint32_t)greatest(blocks, 1),
                                .rows = (uint32_t)rows,
                                .threads = (uint32_t)threads,
                                .stream = a->stream};
}

struct work {
    const struct accumulator *a;
    const struct chunk *chunk;
    void *other;
    void *values, *indices;
    bool ends;
};

static int launch_init(const void *of) {
    const struct accumulator *a = ((const struct work *)of)->a;
    const struct layout l = lay_out(a, a->memory);
    const struct accumulate_args args = args_of(a, &l.state);
    const struct launch_grid grid = grid_for(a, a->plan.problem.rows);
    const size_t bytes = (size_t)a->plan.problem.rows * sizeof *l.state.ways_out;
    const int error = selects(a) ? 0 : topk_device_zero(a->stream, l.state.ways_out, bytes);
    return error != 0 ? error : kernels_of(a)->init(&grid, &args);
}

/* Selects the best of the chunk, in rows that were left to this. */
static int select_best(const struct work *w, const struct subcall *inner, void *workspace,
                       const struct accumulate_args *args) {
    const struct accumulate_state *state = &args->state;
    const struct call outer = {.context = w->a->context,
                               .input = w->chunk->input,
                               .predicate = w->chunk->predicate,
                               .stream = w->a->stream};
    struct call call = topk_subcall_call(&outer, inner, workspace);
    call.base = w->chunk->base;
    call.input.lengths = state->lengths;
    call.input.k = state->ks;
    call.input.indices = NULL;
    call.values = state->best.elements;
    call.indices = state->best.positions;
    call.condition = &state->header->selects;
    const int error = inner->decision.run(&call);
    const struct launch_grid grid = grid_for(w->a, w->a->plan.problem.rows * state->best.pitch);
    return error != 0 || args->payload != PAYLOAD_GIVEN ? error : kernels_of(w->a)->carry(&grid, args);
}

static int read_chunk(const struct work *w, const struct subcall *inner, const struct accumulate_args *args,
                      struct match *found) {
    const struct launch_grid grid = grid_of_chunk(w->a, w->chunk->length);
    const struct call call = {.plan = &inner->plan, .predicate = w->chunk->predicate, .stream = w->a->stream};
    if (w->chunk->predicate == NULL) {
        return kernels_of(w->a)->push(&grid, args);
    }
    const struct accumulate_where_args where = {*args, topk_cuda_predicate_args(&call, found)};
    const int error = topk_cuda_read_bounds(&call, &where.predicate);
    return error != 0 ? error : kernels_of(w->a)->where(&grid, &where);
}

/* There is always room for k_max elements. */
static int launch_push(const void *of) {
    const struct work *w = of;
    const struct accumulator *a = w->a;
    const struct chunk *chunk = w->chunk;
    const struct layout l = lay_out(a, a->memory);
    const struct subcall *inner = chunk->predicate == NULL ? &a->select : &a->select_where;
    const struct push_scratch scratch = lay_out_push(a, inner, l.scratch);
    const struct call call = {.context = a->context, .plan = &a->plan, .input = chunk->input};
    struct accumulate_args args = args_of(a, &l.state);
    args.rows = row_args_of(&call);
    args.rows.length_max = chunk->length;
    args.base = chunk->base;
    args.payload = chunk->input.indices != NULL ? PAYLOAD_GIVEN : PAYLOAD_NONE;
    args.payload = chunk->length > 0 ? args.payload : PAYLOAD_UNKNOWN;
    const int error = read_chunk(w, inner, &args, scratch.match);
    return error != 0 || chunk->length <= a->plan.problem.k_max || !selects(a)
               ? error
               : select_best(w, inner, scratch.selection, &args);
}

static int launch_merge(const struct accumulator *a, const struct accumulate_args *args) {
    const struct launch_grid grid = list_grid(a, a->plan.problem.rows, 2);
    return kernels_of(a)->merge(&grid, args);
}

static int launch_merge_of(const void *of) {
    const struct work *w = of;
    const struct layout l = lay_out(w->a, w->a->memory);
    struct arena arena = arena_over(w->other);
    struct accumulate_args args = args_of(w->a, &l.state);
    args.other = take_state(&arena, w->a);
    return launch_merge(w->a, &args);
}

/* A selection from rows of candidates, if the state is open. */
static int select_from(const struct accumulator *a, int of, const struct write_scratch *scratch,
                       const struct accumulate_state *state, const void *from, void *values,
                       int64_t *places) {
    const struct subcall *inner = &a->of_candidates[of];
    const struct call outer = {.context = a->context, .input = TOPK_INPUT_INIT, .stream = a->stream};
    struct call call = topk_subcall_call(&outer, inner, scratch->selections[of]);
    call.input.values = from;
    call.input.lengths = state->lengths;
    call.values = values;
    call.indices = places;
    call.condition = &state->header->is_open;
    return inner->decision.run(&call);
}

static int launch_write(const void *of) {
    const struct work *w = of;
    const struct accumulator *a = w->a;
    const struct layout l = lay_out(a, a->memory);
    const struct write_scratch s = lay_out_write(a, l.scratch);
    const struct launch_grid grid = grid_for(a, (int64_t)a->plan.output_elements);
    struct accumulate_args args = args_of(a, &l.state);
    args.ends = w->ends;
    args.rows.out_values = w->values;
    args.rows.out_indices = w->indices;
    args.places = s.places;
    args.sorted = a->plan.problem.order == TOPK_ORDER_BY_POSITION ? NULL : s.sorted;
    args.arranged = s.arranged;
    const int64_t *candidates = l.state.candidates.positions;
    int error = launch_merge(a, &args);
    error = error != 0 ? error : select_from(a, SORTED, &s, &l.state, candidates, s.positions, s.places);
    error = error != 0 ? error : kernels_of(a)->arrange(&grid, &args);
    const bool is_done = error != 0 || args.sorted == NULL; /* the results are arranged */
    error = is_done ? error : select_from(a, BEST, &s, &l.state, s.arranged, w->values, s.sorted);
    return error != 0 ? error : kernels_of(a)->write(&grid, &args);
}

/* ---- Calls ---- */

/* Rows without results keep no state. */
static topk_status run(const struct accumulator *a, int (*launch)(const void *), const struct work *work) {
    return a->plan.output_elements == 0 ? TOPK_OK : topk_cuda_do(a->context, launch, work);
}

static topk_status init(const struct accumulator *a) {
    return run(a, launch_init, &(struct work){.a = a});
}

static topk_status push(const struct accumulator *a, const struct chunk *chunk) {
    return run(a, launch_push, &(struct work){.a = a, .chunk = chunk});
}

static topk_status merge(const struct accumulator *a, void *other) {
    return run(a, launch_merge_of, &(struct work){.a = a, .other = other});
}

static topk_status write(const struct accumulator *a, void *values, void *indices, bool ends) {
    return run(a, launch_write, &(struct work){.a = a, .values = values, .indices = indices, .ends = ends});
}

int topk_cuda_prepare_accumulators(const topk_context *context) {
    const uint32_t shared_bytes_max = (uint32_t)device_of(context)->shared_bytes_max;
    int error = topk_cuda_prepare_bounds();
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare(shared_bytes_max);
    }
    return error;
}

const struct accumulators topk_cuda_accumulators = {
    .choose = choose, .measure = measure, .init = init, .push = push, .merge = merge, .write = write};
