/* SPDX-License-Identifier: Apache-2.0
 *
 * libtopk_dist over peer memory, between ranks that are threads of this process, each with a context and a
 * stream: random problems against one call over the whole rows; and a rank that never comes.
 *
 * Arguments: how many problems; `each` where each rank has a GPU of its own; else counts of ranks.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"
#include "ranks.h"
#include "topk_dist_peer.h"

enum {
    RANKS_MOST = 8,
    ROWS_MOST = 4,
    LENGTH_MOST = 400,
    K_MOST = LENGTH_MOST + 5,
    SLOTS = ROWS_MOST * K_MOST,
    WORKSPACE = 8 << 20
};

/* ---- A problem, and what one call makes of it ---- */

typedef struct job {
    topk_operation operation;
    topk_problem problem; /* of the whole rows */
    topk_dist_options options;
    int64_t first[RANKS_MOST + 1]; /* BASE: the position of each rank's first element */
    topk_predicate predicate;
} job;

static job drawn;
static unsigned char elements[ROWS_MOST * LENGTH_MOST * 8];
static topk_context *alone; /* on the CPU */

typedef struct results {
    unsigned char values[SLOTS * 8];
    int64_t indices[SLOTS], better[ROWS_MOST], equal[ROWS_MOST], counts[ROWS_MOST];
} results;

static results wanted, by_position;

static bool selects(void) {
    return drawn.operation == TOPK_OPERATION_SELECT || drawn.operation == TOPK_OPERATION_SELECT_WHERE;
}

static bool takes_predicate(void) {
    return drawn.operation == TOPK_OPERATION_SELECT_WHERE || drawn.operation == TOPK_OPERATION_COUNT;
}

static void draw_problem(random_state *random, int ranks) {
    static const topk_type types[] = {TOPK_F32, TOPK_I64, TOPK_U8, TOPK_F16};
    static const topk_operation operations[] = {TOPK_OPERATION_SELECT, TOPK_OPERATION_SELECT_WHERE,
                                                TOPK_OPERATION_KTH, TOPK_OPERATION_COUNT};
    topk_problem p = TOPK_PROBLEM_INIT;
    p.type = types[random_below(random, 4)];
    p.index_type = TOPK_INDEX_I64;
    p.direction = random_below(random, 2) == 0 ? TOPK_LARGEST : TOPK_SMALLEST;
    p.order = random_below(random, 3) == 0 ? TOPK_ORDER_BY_POSITION : TOPK_ORDER_BEST_FIRST;
    p.rows = 1 + random_below(random, ROWS_MOST);
    p.length_max = random_below(random, LENGTH_MOST + 1);
    p.k_max = random_below(random, p.length_max + 6);
    drawn = (job){.operation = operations[random_below(random, 4)], .problem = p};
    drawn.options = (topk_dist_options)TOPK_DIST_OPTIONS_INIT;
    drawn.options.strategy = (topk_dist_strategy)random_below(random, 3);
    drawn.options.map = random_below(random, 3) == 0 ? TOPK_DIST_STRIDE : TOPK_DIST_BASE;
    if (selects()) {
        drawn.options.destination = (topk_dist_destination)random_below(random, 4);
        drawn.options.root = (int)random_below(random, ranks);
    }
    for (int r = 1; r < ranks; r++) { /* some ranks have nothing */
        const int64_t at = random_below(random, p.length_max + 1);
        drawn.first[r] = at > drawn.first[r - 1] ? at : drawn.first[r - 1];
    }
    drawn.first[ranks] = p.length_max;
    drawn.predicate = (topk_predicate)TOPK_PREDICATE_INIT;
    drawn.predicate.kind = TOPK_GE;
    drawn.predicate.low = topk_bound_f64(2);
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

typedef struct rank {
    int number;
    topk_context *context;
    topk_dist_group *group;
    topk_peer_group peer;
    void *values, *workspace, *out_values, *report;
    int64_t *out_indices, *numbers; /* of each row: own_k, before, better, equal, counts */
    topk_dist_properties properties;
    unsigned char sent[sizeof elements];
    results seen;
    int64_t own_k[ROWS_MOST], before[ROWS_MOST];
} rank;

static rank *ranks;
static int rank_count;
static void *buffers[RANKS_MOST];
static uint64_t *flags[RANKS_MOST];
static pthread_barrier_t meeting;

static void open_ranks(int count, bool one_each) {
    ranks_open(count, one_each);
    rank_count = count;
    ranks = calloc((size_t)count, sizeof *ranks);
    pthread_barrier_init(&meeting, NULL, (unsigned)count);
    for (int r = 0; r < count; r++) {
        topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
        options.backend = TOPK_BACKEND_CUDA;
        options.device = ranks_device(r);
        rank *const own = &ranks[r];
        own->number = r;
        CHECK_STATUS(TOPK_OK, topk_context_create(&options, &own->context));
        buffers[r] = ranks_memory(r, topk_peer_buffer_bytes(count, ranks_block_bytes()));
        flags[r] = ranks_memory(r, TOPK_PEER_FLAG_BYTES);
        own->values = ranks_memory(r, sizeof elements);
        own->workspace = ranks_memory(r, WORKSPACE);
        own->out_values = ranks_memory(r, sizeof own->seen.values);
        own->out_indices = ranks_memory(r, sizeof own->seen.indices);
        own->numbers = ranks_memory(r, 5 * ROWS_MOST * sizeof *own->numbers);
        own->report = ranks_memory(r, sizeof(topk_peer_report));
        own->peer = (topk_peer_group)TOPK_PEER_GROUP_INIT;
        own->peer.rank = r;
        own->peer.ranks = count;
        own->peer.buffers = buffers;
        own->peer.flags = flags;
        own->peer.buffer_bytes = topk_peer_buffer_bytes(count, ranks_block_bytes());
        own->peer.abort = ranks_word();
    }
    for (int r = 0; r < count; r++) {
        CHECK_STATUS(TOPK_OK, topk_dist_group_create_peer(&ranks[r].peer, ranks[r].context, ranks_stream(r),
                                                          &ranks[r].group));
        CHECK(topk_dist_group_rank(ranks[r].group) == r && topk_dist_group_ranks(ranks[r].group) == count);
    }
}

static void close_ranks(void) {
    for (int r = 0; r < rank_count; r++) {
        topk_dist_group_destroy(ranks[r].group);
        topk_context_destroy(ranks[r].context);
    }
    free(ranks);
    pthread_barrier_destroy(&meeting);
    ranks_close();
}

/* work(rank), by a thread for each rank from `first` on. */
static void on_ranks(int first, void *(*work)(void *)) {
    pthread_t threads[RANKS_MOST];
    for (int r = first; r < rank_count; r++) {
        if (pthread_create(&threads[r], NULL, work, &ranks[r]) != 0) {
            abort();
        }
    }
    for (int r = first; r < rank_count; r++) {
        pthread_join(threads[r], NULL);
    }
}

/* Its part of the whole rows: how many elements of a row, which it sends to its device. */
static int64_t send_part(rank *own) {
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
    return length;
}

static topk_dist_output outputs_of(rank *own) {
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    const bool is_kth = drawn.operation == TOPK_OPERATION_KTH;
    output.values = drawn.operation == TOPK_OPERATION_COUNT ? NULL : own->out_values;
    output.indices = selects() ? own->out_indices : NULL;
    if (drawn.options.destination == TOPK_DIST_IN_PLACE) {
        output.own_k = own->numbers;
        output.before = own->numbers + ROWS_MOST;
    }
    output.better = is_kth ? own->numbers + 2 * ROWS_MOST : NULL;
    output.equal = is_kth ? own->numbers + 3 * ROWS_MOST : NULL;
    output.counts = drawn.operation == TOPK_OPERATION_COUNT ? own->numbers + 4 * ROWS_MOST : NULL;
    return output;
}

static void fetch(rank *own) {
    const int r = own->number;
    ranks_fetch(r, own->seen.values, own->out_values, sizeof own->seen.values);
    ranks_fetch(r, own->seen.indices, own->out_indices, sizeof own->seen.indices);
    ranks_fetch(r, own->own_k, own->numbers, sizeof own->own_k);
    ranks_fetch(r, own->before, own->numbers + ROWS_MOST, sizeof own->before);
    ranks_fetch(r, own->seen.better, own->numbers + 2 * ROWS_MOST, sizeof own->seen.better);
    ranks_fetch(r, own->seen.equal, own->numbers + 3 * ROWS_MOST, sizeof own->seen.equal);
    ranks_fetch(r, own->seen.counts, own->numbers + 4 * ROWS_MOST, sizeof own->seen.counts);
    ranks_wait(r);
}

static topk_status create_plan(rank *own, int64_t length, topk_dist_plan **plan) {
    topk_problem p = drawn.problem;
    p.length_max = p.row_stride = length;
    p.index_base = drawn.options.map == TOPK_DIST_BASE ? drawn.first[own->number] : 0;
    return topk_dist_plan_create(own->group, own->context, drawn.operation, &p, &drawn.options, plan);
}

static void run_plan(rank *own, topk_dist_plan *plan) {
    topk_input input = TOPK_INPUT_INIT;
    const topk_dist_output output = outputs_of(own);
    input.values = own->values;
    input.predicate = takes_predicate() ? &drawn.predicate : NULL;
    CHECK_STATUS(TOPK_OK, topk_dist_plan_run(plan, &input, &output, own->workspace, WORKSPACE,
                                             ranks_stream(own->number)));
}

/* Runs the plan, then once more: as a graph that is launched twice, where there are any. */
static void *run_problem(void *argument) {
    rank *const own = argument;
    topk_dist_plan *plan;
    own->properties = (topk_dist_properties)TOPK_DIST_PROPERTIES_INIT;
    if (!CHECK_STATUS(TOPK_OK, create_plan(own, send_part(own), &plan))) {
        abort(); /* the other ranks would wait */
    }
    CHECK_STATUS(TOPK_OK, topk_dist_plan_query(plan, &own->properties));
    CHECK(own->properties.workspace_bytes <= WORKSPACE);
    run_plan(own, plan);
    ranks_wait(own->number);
    pthread_barrier_wait(&meeting); /* making a graph may wait for the device */
    const bool captures = ranks_capture(own->number);
    run_plan(own, plan);
    if (captures) {
        void *const graph = ranks_graph(own->number);
        pthread_barrier_wait(&meeting);
        ranks_launch(own->number, graph);
        ranks_launch(own->number, graph);
    }
    fetch(own);
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
    int64_t got[K_MOST], count = 0;
    for (int r = 0; r < rank_count; r++) {
        const rank *const own = &ranks[r];
        if (own->before[row] != count || own->own_k[row] < 0 || count + own->own_k[row] > K_MOST) {
            return false;
        }
        for (int64_t i = 0; i < own->properties.pitch; i++) {
            const int64_t at = row * own->properties.pitch + i, index = own->seen.indices[at];
            if (i >= own->own_k[row] ? index != -1
                                     : index < 0 || (i > 0 && index <= own->seen.indices[at - 1])) {
                return false;
            }
            if (i < own->own_k[row]) {
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
        fprintf(stderr, "problem %d of %d ranks: operation %d, destination %d, strategy %d, map %d\n", number,
                rank_count, (int)drawn.operation, (int)drawn.options.destination, (int)drawn.options.strategy,
                (int)drawn.options.map);
    }
}

static void check_problems(int count, bool one_each, int problems) {
    random_state random = {(uint64_t)count};
    open_ranks(count, one_each);
    for (int i = 0; i < problems; i++) {
        draw_problem(&random, count);
        draw_elements(&random);
        run_alone(drawn.problem.order, &wanted);
        on_ranks(0, run_problem);
        compare(i);
    }
    close_ranks();
}

/* ---- A rank that never comes ---- */

static topk_dist_plan *plans[RANKS_MOST];

static void *make_plan(void *argument) {
    rank *const own = argument;
    own->properties = (topk_dist_properties)TOPK_DIST_PROPERTIES_INIT;
    if (!CHECK_STATUS(TOPK_OK, create_plan(own, send_part(own), &plans[own->number]))) {
        abort();
    }
    CHECK_STATUS(TOPK_OK, topk_dist_plan_query(plans[own->number], &own->properties));
    return NULL;
}

static void *run_without_rank_0(void *argument) {
    rank *const own = argument;
    topk_dist_plan *other;
    run_plan(own, plans[own->number]);
    fetch(own);
    CHECK_STATUS(TOPK_ERROR_DEVICE, create_plan(own, 10, &other));
    CHECK(other == NULL && strstr(topk_dist_last_error(), "rank ") != NULL);
    return NULL;
}

static bool says_that_it_failed(const rank *own) {
    const int64_t *const told = drawn.operation == TOPK_OPERATION_KTH             ? own->seen.better
                                : drawn.operation == TOPK_OPERATION_COUNT         ? own->seen.counts
                                : drawn.options.destination == TOPK_DIST_IN_PLACE ? own->before
                                                                                  : own->seen.indices;
    const int64_t slots =
        told == own->seen.indices ? own->properties.rows * drawn.problem.k_max : drawn.problem.rows;
    for (int64_t i = 0; i < slots; i++) {
        if (told[i] != -2) {
            return false;
        }
    }
    return slots > 0;
}

static void check_missing(int count, bool one_each) {
    static const struct {
        topk_operation operation;
        topk_dist_strategy strategy;
        topk_dist_destination destination;
    } ways[] = {{TOPK_OPERATION_SELECT, TOPK_DIST_GATHER, TOPK_DIST_EVERYWHERE},
                {TOPK_OPERATION_SELECT, TOPK_DIST_HISTOGRAM, TOPK_DIST_EVERYWHERE},
                {TOPK_OPERATION_SELECT, TOPK_DIST_GATHER, TOPK_DIST_IN_PLACE},
                {TOPK_OPERATION_SELECT, TOPK_DIST_HISTOGRAM, TOPK_DIST_IN_PLACE},
                {TOPK_OPERATION_KTH, TOPK_DIST_AUTO, TOPK_DIST_EVERYWHERE},
                {TOPK_OPERATION_COUNT, TOPK_DIST_AUTO, TOPK_DIST_EVERYWHERE}};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        random_state random = {1};
        open_ranks(count, one_each);
        draw_problem(&random, count);
        drawn.operation = ways[way].operation;
        drawn.options = (topk_dist_options)TOPK_DIST_OPTIONS_INIT;
        drawn.options.strategy = ways[way].strategy;
        drawn.options.destination = ways[way].destination;
        drawn.problem.rows = 2;
        drawn.problem.length_max = 10 * count;
        drawn.problem.k_max = 5;
        for (int r = 0; r <= count; r++) {
            drawn.first[r] = 10 * r;
        }
        on_ranks(0, make_plan);
        __atomic_store_n(ranks_word(), 1, __ATOMIC_RELEASE);
        on_ranks(1, run_without_rank_0);
        for (int r = 1; r < count; r++) {
            if (!CHECK(says_that_it_failed(&ranks[r]))) {
                fprintf(stderr, "way %zu, rank %d\n", way, r);
            }
        }
        for (int r = 0; r < count; r++) {
            topk_dist_plan_destroy(plans[r]);
        }
        close_ranks();
    }
}

/* What a group refuses. */
static void check_refused(bool one_each) {
    topk_dist_group *group;
    open_ranks(2, one_each);
    topk_peer_group peer = ranks[0].peer;
    topk_context *const context = ranks[0].context;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_create_peer(&peer, context, NULL, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_create_peer(&peer, NULL, NULL, &group));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_create_peer(NULL, context, NULL, &group));
    CHECK_STATUS(TOPK_ERROR_UNSUPPORTED, topk_dist_group_create_peer(&peer, alone, NULL, &group));
    CHECK(group == NULL);
    peer.ranks = 0;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_dist_group_create_peer(&peer, context, NULL, &group));
    peer = ranks[0].peer;
    peer.flags = NULL;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_create_peer(&peer, context, NULL, &group));
    CHECK(group == NULL);
    close_ranks();
}

int main(int argc, char **argv) {
    const int problems = argc > 1 ? atoi(argv[1]) : 0;
    const bool one_each = argc > 2 && strcmp(argv[2], "each") == 0;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.threads = 1;
    ranks_start();
    if (!CHECK_STATUS(TOPK_OK, topk_context_create(&options, &alone))) {
        return 1;
    }
    if (!ranks_fit(2, one_each)) {
        return RANKS_EXIT_NONE;
    }
    for (int i = 2 + one_each; i < argc; i++) {
        const int count = atoi(argv[i]);
        if (count >= 1 && count <= RANKS_MOST && ranks_fit(count, one_each)) {
            check_problems(count, one_each, problems);
        }
    }
    check_refused(one_each);
    check_missing(ranks_fit(3, one_each) ? 3 : 2, one_each);
    topk_context_destroy(alone);
    return check_report();
}
