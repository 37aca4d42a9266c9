/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "topk_transfer.h"

enum { WORKSPACE = 8 << 20 };

/* ---- A problem, and what one call makes of it ---- */

job drawn;
bool jobs_have_nodes;
static unsigned char elements[JOBS_ROWS_MOST * JOBS_LENGTH_MOST * 8];
static topk_context *alone; /* on the CPU */

static results wanted, by_position;

static bool selects(void) {
    return drawn.operation == TOPK_OPERATION_SELECT || drawn.operation == TOPK_OPERATION_SELECT_WHERE;
}

static bool takes_predicate(void) {
    return drawn.operation == TOPK_OPERATION_SELECT_WHERE || drawn.operation == TOPK_OPERATION_COUNT;
}

/* Ranks of up to three nodes, or of the one that the group finds. */
static void draw_nodes(random_state *random, int count) {
    const int most = random_below(random, 8) == 0 ? 0 : 2 + (int)random_below(random, 2);
    drawn.operation = random_below(random, 3) == 0 ? TOPK_OPERATION_SELECT_WHERE : TOPK_OPERATION_SELECT;
    drawn.options.strategy = random_below(random, 8) == 0 ? TOPK_DIST_AUTO : TOPK_DIST_GATHER_NODES;
    drawn.options.root = (int)random_below(random, count);
    drawn.options.destination = (topk_dist_destination)random_below(random, 4);
    for (int r = 0; r < count; r++) {
        drawn.nodes[r] = most > 0 ? 1 + (int)random_below(random, most) : 0;
    }
}

void draw_problem(random_state *random, int count) {
    static const topk_type types[] = {TOPK_F32, TOPK_I64, TOPK_U8, TOPK_F16};
    static const topk_operation operations[] = {TOPK_OPERATION_SELECT, TOPK_OPERATION_SELECT_WHERE,
                                                TOPK_OPERATION_KTH, TOPK_OPERATION_COUNT};
    topk_problem p = TOPK_PROBLEM_INIT;
    p.type = types[random_below(random, 4)];
    p.index_type = TOPK_INDEX_I64;
    p.direction = random_below(random, 2) == 0 ? TOPK_LARGEST : TOPK_SMALLEST;
    p.order = random_below(random, 3) == 0 ? TOPK_ORDER_BY_POSITION : TOPK_ORDER_BEST_FIRST;
    p.rows = 1 + random_below(random, JOBS_ROWS_MOST);
    p.length_max = random_below(random, JOBS_LENGTH_MOST + 1);
    p.k_max = random_below(random, p.length_max + 6);
    drawn = (job){.operation = operations[random_below(random, 4)], .problem = p};
    drawn.options = (topk_dist_options)TOPK_DIST_OPTIONS_INIT;
    drawn.options.strategy = (topk_dist_strategy)random_below(random, 3);
    drawn.options.map = random_below(random, 3) == 0 ? TOPK_DIST_STRIDE : TOPK_DIST_BASE;
    if (selects()) {
        drawn.options.destination = (topk_dist_destination)random_below(random, 4);
        drawn.options.root = (int)random_below(random, count);
    }
    for (int r = 1; r < count; r++) { /* some ranks have nothing */
        const int64_t at = random_below(random, p.length_max + 1);
        drawn.first[r] = at > drawn.first[r - 1] ? at : drawn.first[r - 1];
    }
    drawn.first[count] = p.length_max;
    drawn.predicate = (topk_predicate)TOPK_PREDICATE_INIT;
    drawn.predicate.kind = TOPK_GE;
    drawn.predicate.low = topk_bound_f64(2);
    drawn.sources = random_below(random, 2) == 0 ? random_bits(random) : 0;
    drawn.piece = random_below(random, 3) == 0 ? 0 : 1 + p.length_max / (1 + random_below(random, 6));
    if (jobs_have_nodes) {
        draw_nodes(random, count);
    }
}

void take_problem(topk_operation operation, int count) {
    random_state random = {1};
    draw_problem(&random, count);
    drawn.operation = operation;
    drawn.options = (topk_dist_options)TOPK_DIST_OPTIONS_INIT;
    drawn.problem.rows = 2;
    drawn.problem.length_max = 10 * count;
    drawn.problem.k_max = 5;
    drawn.sources = 0;
    memset(drawn.nodes, 0, sizeof drawn.nodes);
    for (int r = 0; r <= count; r++) {
        drawn.first[r] = 10 * r;
    }
}

/* Any bits, or few values, so that most tie. */
static void draw_elements(random_state *random) {
    const size_t bytes = topk_type_size(drawn.problem.type);
    const bool any = random_below(random, 2) == 0;
    for (size_t i = 0; i < (size_t)(drawn.problem.rows * drawn.problem.length_max); i++) {
        const uint64_t bits =
            any ? random_bits(random) : (uint64_t)random_below(random, 4) << (8 * bytes - 6);
        memcpy(elements + i * bytes, &bits, bytes);
    }
}

static void run_alone(topk_order order, results *to) {
    topk_problem p = drawn.problem;
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    size_t bytes;
    p.order = order;
    input.values = elements;
    input.predicate = takes_predicate() ? &drawn.predicate : NULL;
    output.values = drawn.operation == TOPK_OPERATION_COUNT ? NULL : to->values;
    output.indices = selects() ? to->indices : NULL;
    output.better = drawn.operation == TOPK_OPERATION_KTH ? to->better : NULL;
    output.equal = drawn.operation == TOPK_OPERATION_KTH ? to->equal : NULL;
    output.counts = drawn.operation == TOPK_OPERATION_COUNT ? to->counts : NULL;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(alone, drawn.operation, &p, &bytes));
    void *const workspace = malloc(bytes + 1);
    CHECK_STATUS(TOPK_OK, topk_run(alone, drawn.operation, &p, &input, &output, workspace, bytes, NULL));
    free(workspace);
}

/* ---- Ranks ---- */

rank *ranks;
int rank_count;
static bool share_one; /* a GPU */
static pthread_barrier_t meeting;
static unsigned char filled[sizeof((rank *)0)->seen.indices]; /* for poison() */
static void (*open_groups)(void), (*close_groups)(void);

void jobs_start(void (*open)(void), void (*close)(void)) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    open_groups = open;
    close_groups = close;
    memset(filled, 0x5a, sizeof filled);
    options.threads = 1;
    ranks_start();
    if (!CHECK_STATUS(TOPK_OK, topk_context_create(&options, &alone))) {
        exit(1);
    }
}

topk_context *jobs_alone(void) {
    return alone;
}

void jobs_end(void) {
    topk_context_destroy(alone);
}

void jobs_open(int count, bool one_each) {
    ranks_open(count, one_each);
    rank_count = count;
    share_one = !one_each;
    ranks = calloc((size_t)count, sizeof *ranks);
    pthread_barrier_init(&meeting, NULL, (unsigned)count);
    for (int r = 0; r < count; r++) {
        topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
        options.backend = TOPK_BACKEND_CUDA;
        options.device = ranks_device(r);
        rank *const own = &ranks[r];
        own->number = r;
        CHECK_STATUS(TOPK_OK, topk_context_create(&options, &own->context));
        own->values = ranks_memory(r, sizeof elements);
        own->workspace = ranks_memory(r, WORKSPACE);
        own->out_values = ranks_memory(r, sizeof own->seen.values);
        own->out_indices = ranks_memory(r, sizeof own->seen.indices);
        own->numbers = ranks_memory(r, 5 * JOBS_ROWS_MOST * sizeof *own->numbers);
        void *pinned = NULL;
        CHECK_STATUS(TOPK_OK, topk_memory_allocate(own->context, TOPK_MEMORY_HOST, sizeof elements, &pinned));
        own->pinned = pinned;
    }
    open_groups();
    for (int r = 0; r < count; r++) {
        CHECK(topk_dist_group_rank(ranks[r].group) == r && topk_dist_group_ranks(ranks[r].group) == count);
    }
}

void jobs_close(void) {
    close_groups();
    for (int r = 0; r < rank_count; r++) {
        CHECK_STATUS(TOPK_OK, topk_memory_release(ranks[r].context, TOPK_MEMORY_HOST, ranks[r].pinned));
        topk_context_destroy(ranks[r].context);
    }
    free(ranks);
    pthread_barrier_destroy(&meeting);
    ranks_close();
}

void on_ranks(int first, void *(*work)(void *)) {
    pthread_t threads[JOBS_RANKS_MOST];
    for (int r = first; r < rank_count; r++) {
        if (pthread_create(&threads[r], NULL, work, &ranks[r]) != 0) {
            abort();
        }
    }
    for (int r = first; r < rank_count; r++) {
        pthread_join(threads[r], NULL);
    }
}

int64_t send_part(rank *own) {
    const bool turns = drawn.options.map == TOPK_DIST_STRIDE;
    const size_t bytes = topk_type_size(drawn.problem.type);
    const int64_t all = drawn.problem.length_max, first = turns ? own->number : drawn.first[own->number];
    const int64_t step = turns ? rank_count : 1, end = turns ? all : drawn.first[own->number + 1];
    const int64_t length = first < end ? (end - first + step - 1) / step : 0;
    for (int64_t row = 0; row < drawn.problem.rows; row++) {
        for (int64_t i = 0; i < length; i++) {
            memcpy(own->sent + (size_t)(row * length + i) * bytes,
                   elements + (size_t)(row * all + first + i * step) * bytes, bytes);
        }
    }
    ranks_send(own->number, own->values, own->sent, (size_t)(drawn.problem.rows * length) * bytes);
    memcpy(own->pinned, own->sent, (size_t)(drawn.problem.rows * length) * bytes);
    return own->length = length;
}

static bool has_parts(const rank *own) {
    return (drawn.sources >> (2 * own->number) & 1) != 0;
}

/* To a GPU that ranks share no parts are copied. */
static bool has_parts_on_device(const rank *own) {
    const bool drawn_so = (drawn.sources >> (2 * own->number) & 2) != 0;
    return has_parts(own) && (drawn_so || (share_one && rank_count > 1));
}

static topk_dist_output outputs_of(rank *own) {
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    const bool is_kth = drawn.operation == TOPK_OPERATION_KTH;
    output.values = drawn.operation == TOPK_OPERATION_COUNT ? NULL : own->out_values;
    output.indices = selects() ? own->out_indices : NULL;
    if (drawn.options.destination == TOPK_DIST_IN_PLACE) {
        output.own_k = own->numbers;
        output.before = own->numbers + JOBS_ROWS_MOST;
    }
    output.better = is_kth ? own->numbers + 2 * JOBS_ROWS_MOST : NULL;
    output.equal = is_kth ? own->numbers + 3 * JOBS_ROWS_MOST : NULL;
    output.counts = drawn.operation == TOPK_OPERATION_COUNT ? own->numbers + 4 * JOBS_ROWS_MOST : NULL;
    return output;
}

void fetch(rank *own) {
    const int r = own->number;
    ranks_fetch(r, own->seen.values, own->out_values, sizeof own->seen.values);
    ranks_fetch(r, own->seen.indices, own->out_indices, sizeof own->seen.indices);
    ranks_fetch(r, own->own_k, own->numbers, sizeof own->own_k);
    ranks_fetch(r, own->before, own->numbers + JOBS_ROWS_MOST, sizeof own->before);
    ranks_fetch(r, own->seen.better, own->numbers + 2 * JOBS_ROWS_MOST, sizeof own->seen.better);
    ranks_fetch(r, own->seen.equal, own->numbers + 3 * JOBS_ROWS_MOST, sizeof own->seen.equal);
    ranks_fetch(r, own->seen.counts, own->numbers + 4 * JOBS_ROWS_MOST, sizeof own->seen.counts);
    ranks_wait(r);
}

topk_status create_plan(rank *own, int64_t length, topk_dist_plan **plan) {
    topk_problem p = drawn.problem;
    topk_dist_options options = drawn.options;
    options.node = drawn.nodes[own->number];
    p.length_max = p.row_stride = length;
    p.index_base = drawn.options.map == TOPK_DIST_BASE ? drawn.first[own->number] : 0;
    if (has_parts(own)) {
        p.row_stride = 0;
        options.origin = TOPK_DIST_PARTS;
        options.piece = drawn.piece;
        options.parts_on_device = has_parts_on_device(own);
    }
    return topk_dist_plan_create(own->group, own->context, drawn.operation, &p, &options, plan);
}

/* The rank's rows, cut at a third. */
static topk_status run_parts(rank *own, topk_dist_plan *plan, topk_input *input,
                             const topk_dist_output *output) {
    const char *const values = has_parts_on_device(own) ? own->values : (const void *)own->pinned;
    const int64_t cut = own->length / 3;
    const topk_dist_part parts[2] = {
        {values, cut, own->length},
        {values + (size_t)cut * topk_type_size(drawn.problem.type), own->length - cut, own->length}};
    topk_dist_source source = TOPK_DIST_SOURCE_INIT;
    source.length = own->length;
    source.parts = parts;
    source.parts_count = 2;
    input->values = NULL;
    return topk_dist_plan_run_source(plan, &source, input, output, own->workspace, WORKSPACE,
                                     ranks_stream(own->number));
}

topk_status run_plan(rank *own, topk_dist_plan *plan) {
    topk_input input = TOPK_INPUT_INIT;
    const topk_dist_output output = outputs_of(own);
    input.values = own->values;
    input.predicate = takes_predicate() ? &drawn.predicate : NULL;
    if (has_parts(own)) {
        return run_parts(own, plan, &input, &output);
    }
    return topk_dist_plan_run(plan, &input, &output, own->workspace, WORKSPACE, ranks_stream(own->number));
}

/* What was written before is gone. */
static void poison(rank *own) {
    ranks_send(own->number, own->out_values, filled, sizeof own->seen.values);
    ranks_send(own->number, own->out_indices, filled, sizeof own->seen.indices);
    ranks_send(own->number, own->numbers, filled, 5 * JOBS_ROWS_MOST * sizeof *own->numbers);
}

/* Runs the plan, then once more: as a graph that is launched twice, where there are any. */
static void *run_problem(void *argument) {
    rank *const own = argument;
    topk_dist_plan *plan;
    own->properties = (topk_dist_properties)TOPK_DIST_PROPERTIES_INIT;
    if (!CHECK_STATUS(TOPK_OK, create_plan(own, send_part(own), &plan))) {
        fprintf(stderr, "rank %d: %s\n", own->number, topk_dist_last_error());
        abort(); /* the other ranks would wait */
    }
    CHECK_STATUS(TOPK_OK, topk_dist_plan_query(plan, &own->properties));
    CHECK(own->properties.workspace_bytes <= WORKSPACE);
    CHECK_STATUS(TOPK_OK, run_plan(own, plan));
    ranks_wait(own->number);
    pthread_barrier_wait(&meeting); /* making a graph may wait for the device */
    poison(own);
    const bool captures = ranks_capture(own->number);
    void *graph = NULL;
    CHECK_STATUS(TOPK_OK, run_plan(own, plan));
    if (captures) {
        graph = ranks_graph(own->number);
        pthread_barrier_wait(&meeting);
        ranks_launch(own->number, graph);
        poison(own);
        ranks_launch(own->number, graph);
    }
    fetch(own);
    if (captures) {
        ranks_forget(graph);
    }
    topk_dist_plan_destroy(plan);
    return NULL;
}

/* ---- Comparing ---- */

static bool rows_are_right(const rank *own) {
    const size_t bytes = topk_type_size(drawn.problem.type);
    const size_t slots = (size_t)(own->properties.rows * drawn.problem.k_max);
    const size_t first = (size_t)(own->properties.first_row * drawn.problem.k_max);
    return memcmp(own->seen.values, wanted.values + first * bytes, slots * bytes) == 0 &&
           memcmp(own->seen.indices, wanted.indices + first, slots * sizeof *wanted.indices) == 0;
}

static int by_number(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The ranks' results of a row together are the row's, and each rank has its own by position. */
static bool place_is_right(int64_t row) {
    int64_t got[JOBS_K_MOST], count = 0;
    for (int r = 0; r < rank_count; r++) {
        const rank *const own = &ranks[r];
        if (own->before[row] != count || own->own_k[row] < 0 || count + own->own_k[row] > JOBS_K_MOST) {
            return false;
        }
        for (int64_t i = 0; i < own->properties.pitch; i++) {
            const int64_t at = row * own->properties.pitch + i, index = own->seen.indices[at];
            if (i >= own->own_k[row] ? index != -1
                                     : index < 0 || (i > 0 && index <= own->seen.indices[at - 1])) {
                return false;
            }
            if (i < own->own_k[row]) {
                const size_t bytes = topk_type_size(drawn.problem.type);
                const unsigned char *const element =
                    elements + (size_t)(row * drawn.problem.length_max + index) * bytes;
                if (index >= drawn.problem.length_max ||
                    memcmp(own->seen.values + (size_t)at * bytes, element, bytes) != 0) {
                    return false;
                }
                got[count++] = index;
            }
        }
    }
    qsort(got, (size_t)count, sizeof *got, by_number);
    const int64_t *const all = by_position.indices + row * drawn.problem.k_max;
    return memcmp(got, all, (size_t)count * sizeof *got) == 0 &&
           (count == drawn.problem.k_max || all[count] == -1);
}

static bool is_right(const rank *own) {
    const size_t rows = (size_t)drawn.problem.rows;
    switch (drawn.operation) {
    case TOPK_OPERATION_KTH:
        return memcmp(own->seen.values, wanted.values, rows * topk_type_size(drawn.problem.type)) == 0 &&
               memcmp(own->seen.better, wanted.better, rows * 8) == 0 &&
               memcmp(own->seen.equal, wanted.equal, rows * 8) == 0;
    case TOPK_OPERATION_COUNT:
        return memcmp(own->seen.counts, wanted.counts, rows * 8) == 0;
    default:
        return rows_are_right(own);
    }
}

static void compare(int number) {
    bool right = true;
    if (selects() && drawn.options.destination == TOPK_DIST_IN_PLACE) {
        run_alone(TOPK_ORDER_BY_POSITION, &by_position);
        for (int64_t row = 0; row < drawn.problem.rows; row++) {
            right &= place_is_right(row);
        }
    } else {
        for (int r = 0; r < rank_count; r++) {
            right &= is_right(&ranks[r]);
        }
    }
    if (!CHECK(right)) {
        fprintf(stderr,
                "problem %d of %d ranks: operation %d, destination %d, strategy %d, map %d, sources %#" PRIx64
                ", piece %" PRId64 ", nodes",
                number, rank_count, (int)drawn.operation, (int)drawn.options.destination,
                (int)drawn.options.strategy, (int)drawn.options.map, drawn.sources, drawn.piece);
        for (int r = 0; r < rank_count; r++) {
            fprintf(stderr, " %d", drawn.nodes[r]);
        }
        fprintf(stderr, "\n");
    }
}

void check_problems(int count, bool one_each, int problems) {
    random_state random = {(uint64_t)count};
    jobs_open(count, one_each);
    for (int i = 0; i < problems; i++) {
        draw_problem(&random, count);
        draw_elements(&random);
        run_alone(drawn.problem.order, &wanted);
        on_ranks(0, run_problem);
        compare(i);
    }
    jobs_close();
}
