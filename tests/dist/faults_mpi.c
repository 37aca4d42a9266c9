/* SPDX-License-Identifier: Apache-2.0
 *
 * What goes wrong on one rank is an error on all, with the same status and text, and nothing is written:
 * wrong arguments of plans and runs, arguments that differ, memory that is missing, a read that fails.
 * Afterwards the group works. A call of the core that fails as a GPU does breaks it, on all ranks.
 *
 * With `killed PHASE` the last rank is killed: before it makes a plan, or instead of its second run, which
 * may be one by nodes.
 *
 * usage: mpirun -n PROCESSES faults_mpi [cuda | killed plan|run|nodes TOKEN], of at least two */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "ordered.h"
#include "topk_dist_mpi.h"

enum { LENGTH = 100, ROWS = 3, K = 7, TEXT = 512, POISON = 0x5d };

static int rank, ranks;
static bool is_cuda; /* the emulated GPU: data of the device go through the host */
static topk_context *context;
static topk_dist_group *group;

/* Of the allocations by this program, and by the libraries that are linked into it: MPI's own go on. */
static long until_failure = -1;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

static bool fails(void) {
    return until_failure >= 0 && until_failure-- == 0;
}

void *__wrap_malloc(size_t bytes) {
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes) {
    return fails() ? NULL : __real_calloc(count, bytes);
}

/* What the library receives in lists of varied lengths. */
static int64_t varied_bytes;

int MPI_Allgatherv(const void *from, int count, MPI_Datatype type, void *to, const int *counts,
                   const int *begins, MPI_Datatype to_type, MPI_Comm communicator) {
    for (int r = 0; r < ranks; r++) {
        varied_bytes += counts[r];
    }
    return PMPI_Allgatherv(from, count, type, to, counts, begins, to_type, communicator);
}

typedef struct arguments {
    topk_operation operation;
    topk_problem problem;
    topk_dist_options options;
    const topk_problem *given_problem;
    topk_input input;
    topk_predicate predicate;
    topk_dist_output output;
    size_t missing_bytes;
    topk_stream stream;
    topk_dist_source source;
    const topk_dist_source *given_source;
    topk_dist_part parts[2];
    long reads_left; /* before one fails; -1: none does */
    float values[ROWS * LENGTH];
    float best[ROWS * K];
    int64_t indices[ROWS * K], numbers[ROWS];
} arguments;

static void set_arguments(arguments *a, topk_operation operation) {
    memset(a, 0, sizeof *a);
    a->operation = operation;
    a->problem = (topk_problem)TOPK_PROBLEM_INIT;
    a->problem.type = TOPK_F32;
    a->problem.index_type = TOPK_INDEX_I64;
    a->problem.rows = ROWS;
    a->problem.length_max = LENGTH;
    a->problem.index_base = (int64_t)rank * LENGTH;
    a->problem.k_max = K;
    a->given_problem = &a->problem;
    a->options = (topk_dist_options)TOPK_DIST_OPTIONS_INIT;
    a->input = (topk_input)TOPK_INPUT_INIT;
    a->input.values = a->values;
    a->predicate = (topk_predicate)TOPK_PREDICATE_INIT;
    a->predicate.kind = TOPK_GE;
    a->predicate.low = topk_bound_f64(0);
    a->output = (topk_dist_output)TOPK_DIST_OUTPUT_INIT;
    if (operation == TOPK_OPERATION_SELECT) {
        a->output.values = a->best;
        a->output.indices = a->indices;
    } else if (operation == TOPK_OPERATION_KTH) {
        a->output.better = a->numbers;
    } else {
        a->output.counts = a->numbers;
        a->input.predicate = &a->predicate;
    }
    memset(a->best, POISON, sizeof a->best);
    memset(a->indices, POISON, sizeof a->indices);
    memset(a->numbers, POISON, sizeof a->numbers);
}

/* Ranks 0 and 2 are a node, and rank 1 is one. */
static void set_strategy(arguments *a, topk_dist_strategy strategy) {
    a->options.strategy = strategy;
    a->options.node = strategy == TOPK_DIST_GATHER_NODES ? 1 + rank % 2 : 0;
}

static bool is_poison(const void *array, size_t bytes) {
    bool poison = true;
    for (size_t b = 0; b < bytes; b++) {
        poison = poison && ((const unsigned char *)array)[b] == POISON;
    }
    return poison;
}

/* All ranks have this status, and one text, which names the rank that is at fault. */
static void expect_all(topk_status expected, topk_status got, int at_fault, const char *what) {
    char text[TEXT], first[TEXT] = "";
    (void)snprintf(text, sizeof text, "%s", topk_dist_last_error());
    (void)snprintf(first, sizeof first, "%s", text);
    MPI_Bcast(first, TEXT, MPI_CHAR, 0, MPI_COMM_WORLD);
    char begin[32];
    (void)snprintf(begin, sizeof begin, "rank %d: ", at_fault);
    if (!CHECK(got == expected && strcmp(text, first) == 0 && strncmp(text, begin, strlen(begin)) == 0)) {
        fprintf(stderr, "    rank %d, %s: expected %s of rank %d, got %s: %s\n", rank, what,
                topk_status_string(expected), at_fault, topk_status_string(got), text);
    }
}

static topk_status create(arguments *a, topk_dist_plan **plan) {
    return topk_dist_plan_create(group, context, a->operation, a->given_problem, &a->options, plan);
}

static topk_status run(arguments *a, topk_dist_plan *plan) {
    topk_dist_properties properties = TOPK_DIST_PROPERTIES_INIT;
    CHECK_STATUS(TOPK_OK, topk_dist_plan_query(plan, &properties));
    void *const workspace = malloc(properties.workspace_bytes + 1);
    const size_t bytes = properties.workspace_bytes - a->missing_bytes;
    const topk_status status =
        a->given_source != NULL
            ? topk_dist_plan_run_source(plan, a->given_source, &a->input, &a->output, workspace, bytes,
                                        a->stream)
            : topk_dist_plan_run(plan, &a->input, &a->output, workspace, bytes, a->stream);
    free(workspace);
    return status;
}

/* The ranks can go on, and have the right results. */
static void check_group_works(void) {
    arguments a;
    topk_dist_plan *plan;
    set_arguments(&a, TOPK_OPERATION_SELECT);
    if (CHECK_STATUS(TOPK_OK, create(&a, &plan))) {
        CHECK_STATUS(TOPK_OK, run(&a, plan));
        CHECK(a.indices[0] == 0 && a.indices[ROWS * K - 1] == K - 1);
        topk_dist_plan_destroy(plan);
    }
}

/* ---- Plans ---- */

static void no_problem(arguments *a) {
    a->given_problem = NULL;
}
static void small_struct(arguments *a) {
    a->problem.size = 8;
}
static void no_type(arguments *a) {
    a->problem.type = TOPK_TYPE_UNDEFINED;
}
static void negative_k(arguments *a) {
    a->problem.k_max = -1;
}
static void approximation(arguments *a) {
    a->problem.epsilon = 1;
}
static void several_ranks(arguments *a) {
    a->problem.ranks = 2;
}
static void no_destination(arguments *a) {
    a->options.destination = (topk_dist_destination)4;
}
static void no_map(arguments *a) {
    a->options.map = (topk_dist_map)-1;
}
static void no_strategy(arguments *a) {
    a->options.strategy = (topk_dist_strategy)4;
}
static void no_root(arguments *a) {
    a->options.root = ranks;
}
static void no_device_pointers(arguments *a) {
    a->options.device_pointers = -1;
}
static void no_trust(arguments *a) {
    a->options.trust_table = 2;
}
static void no_exchange(arguments *a) {
    a->options.exchange_kth = 2;
}
static void options_of_another_size(arguments *a) {
    a->options.size = 4;
}
static void other_operation(arguments *a) {
    a->operation = TOPK_OPERATION_WHERE;
}
static void narrow_stride(arguments *a) {
    a->options.map = TOPK_DIST_STRIDE;
    a->problem.index_type = TOPK_INDEX_I32;
    a->problem.index_base = INT32_MAX - LENGTH;
}
static void unknown_method(arguments *a) {
    a->problem.method = "none";
}
static void other_type(arguments *a) {
    a->problem.type = TOPK_I32;
}
static void other_k(arguments *a) {
    a->problem.k_max = K + 1;
}
static void other_order(arguments *a) {
    a->problem.order = TOPK_ORDER_ANY;
}
static void other_kind(arguments *a) {
    a->operation = TOPK_OPERATION_KTH;
}
static void other_root(arguments *a) {
    a->options.root = 1;
}
static void no_origin(arguments *a) {
    a->options.origin = (topk_dist_origin)4;
}
static void no_piece(arguments *a) {
    a->options.origin = TOPK_DIST_READ;
}
static void piece_of_an_input(arguments *a) {
    a->options.piece = 1;
}
static void read_once_in_rounds(arguments *a) {
    a->options.origin = TOPK_DIST_READ_ONCE;
    a->options.piece = 1;
    a->options.strategy = TOPK_DIST_HISTOGRAM;
}
static void table_of_parts(arguments *a) {
    a->options.origin = TOPK_DIST_PARTS;
    a->options.map = TOPK_DIST_TABLE;
}
static void strided_parts(arguments *a) {
    a->options.origin = TOPK_DIST_PARTS;
    a->problem.row_stride = LENGTH;
}
static void negative_node(arguments *a) {
    a->options.node = -1;
}
static void node_of_one(arguments *a) {
    a->options.node = 1;
}
static void overlap(arguments *a) {
    a->problem.index_base = rank == 0 ? 1 : 0;
}

static const struct {
    const char *name;
    void (*spoil)(arguments *a);
    topk_status status;
    bool by_first; /* of rank 0 alone: the others then differ from it */
} of_plans[] = {
    {"no problem", no_problem, TOPK_ERROR_NULL_POINTER, false},
    {"a small struct", small_struct, TOPK_ERROR_STRUCT_SIZE, false},
    {"no type", no_type, TOPK_ERROR_UNKNOWN_ENUM, false},
    {"a negative k", negative_k, TOPK_ERROR_OUT_OF_RANGE, false},
    {"an approximation", approximation, TOPK_ERROR_UNSUPPORTED, false},
    {"several k a row", several_ranks, TOPK_ERROR_UNSUPPORTED, false},
    {"no destination", no_destination, TOPK_ERROR_UNKNOWN_ENUM, false},
    {"no map", no_map, TOPK_ERROR_UNKNOWN_ENUM, false},
    {"no strategy", no_strategy, TOPK_ERROR_UNKNOWN_ENUM, false},
    {"no root", no_root, TOPK_ERROR_OUT_OF_RANGE, false},
    {"a negative node", negative_node, TOPK_ERROR_OUT_OF_RANGE, false},
    {"no trust in a table", no_trust, TOPK_ERROR_OUT_OF_RANGE, false},
    {"no exchange", no_exchange, TOPK_ERROR_OUT_OF_RANGE, false},
    {"no pointers of the device", no_device_pointers, TOPK_ERROR_OUT_OF_RANGE, false},
    {"options of another size", options_of_another_size, TOPK_ERROR_STRUCT_SIZE, false},
    {"another operation", other_operation, TOPK_ERROR_UNSUPPORTED, false},
    {"a stride beyond the indices", narrow_stride, TOPK_ERROR_INDEX_TOO_NARROW, false},
    {"an unknown method", unknown_method, TOPK_ERROR_UNKNOWN_METHOD, false},
    {"no origin", no_origin, TOPK_ERROR_UNKNOWN_ENUM, false},
    {"no piece", no_piece, TOPK_ERROR_OUT_OF_RANGE, false},
    {"a piece of an input", piece_of_an_input, TOPK_ERROR_OUT_OF_RANGE, false},
    {"rounds of what is read once", read_once_in_rounds, TOPK_ERROR_UNSUPPORTED, false},
    {"a table of parts", table_of_parts, TOPK_ERROR_UNSUPPORTED, false},
    {"a stride of parts", strided_parts, TOPK_ERROR_UNSUPPORTED, false},
    {"another type", other_type, TOPK_ERROR_CONTRADICTION, true},
    {"another k", other_k, TOPK_ERROR_CONTRADICTION, true},
    {"another order", other_order, TOPK_ERROR_CONTRADICTION, true},
    {"kth instead of select", other_kind, TOPK_ERROR_CONTRADICTION, true},
    {"another root", other_root, TOPK_ERROR_CONTRADICTION, true},
    {"a node on one rank alone", node_of_one, TOPK_ERROR_CONTRADICTION, true},
};

static void check_plans(void) {
    arguments a;
    topk_dist_plan *plan;
    for (size_t i = 0; i < sizeof of_plans / sizeof of_plans[0]; i++) {
        for (int at_fault = 0; at_fault < ranks; at_fault++) {
            set_arguments(&a, TOPK_OPERATION_SELECT);
            if (rank == at_fault) {
                of_plans[i].spoil(&a);
            }
            const topk_status status = create(&a, &plan);
            const int named = of_plans[i].by_first && at_fault == 0 ? 1 : at_fault;
            expect_all(of_plans[i].status, status, named, of_plans[i].name);
            CHECK(plan == NULL);
        }
    }
    set_arguments(&a, TOPK_OPERATION_SELECT);
    overlap(&a);
    expect_all(TOPK_ERROR_CONTRADICTION, create(&a, &plan), 0, "runs that overlap");
    check_group_works();
}

/* ---- Runs ---- */

static void no_input(arguments *a) {
    a->input.size = 0;
}
static void no_values(arguments *a) {
    a->input.values = NULL;
}
static void small_workspace(arguments *a) {
    a->missing_bytes = 1;
}
static void misaligned(arguments *a) {
    a->output.values = (char *)a->best + 1;
    a->output.better = (int64_t *)(void *)((char *)a->numbers + 1);
    a->output.counts = (int64_t *)(void *)((char *)a->numbers + 1);
    if (a->operation == TOPK_OPERATION_SELECT) {
        a->output.better = a->output.counts = NULL;
    } else {
        a->output.values = NULL;
        *(a->operation == TOPK_OPERATION_KTH ? &a->output.counts : &a->output.better) = NULL;
    }
}
static void other_output(arguments *a) {
    a->output.own_k = a->numbers;
}
static void a_stream(arguments *a) {
    a->stream = (topk_stream)(void *)a;
}
static void other_predicate(arguments *a) {
    const topk_predicate *const given = a->input.predicate;
    a->input.predicate = given == NULL ? &a->predicate : NULL;
}
static void useless_lengths(arguments *a) {
    a->input.offsets = a->numbers;
}

static const struct {
    const char *name;
    void (*spoil)(arguments *a);
    topk_status status;
} of_runs[] = {
    {"no input", no_input, TOPK_ERROR_STRUCT_SIZE},
    {"no values", no_values, TOPK_ERROR_NULL_POINTER},
    {"a small workspace", small_workspace, TOPK_ERROR_WORKSPACE_TOO_SMALL},
    {"a misaligned output", misaligned, TOPK_ERROR_MISALIGNED},
    {"another operation's output", other_output, TOPK_ERROR_CONTRADICTION},
    {"a stream", a_stream, TOPK_ERROR_CONTRADICTION},
    {"offsets", useless_lengths, TOPK_ERROR_CONTRADICTION},
    {"a predicate too many or too few", other_predicate, TOPK_ERROR_CONTRADICTION},
};

static void check_runs_of(topk_operation operation, topk_dist_strategy strategy) {
    arguments a;
    topk_dist_plan *plan;
    set_arguments(&a, operation);
    set_strategy(&a, strategy);
    if (!CHECK_STATUS(TOPK_OK, create(&a, &plan))) {
        return;
    }
    for (size_t i = 0; i < sizeof of_runs / sizeof of_runs[0]; i++) {
        for (int at_fault = 0; at_fault < ranks; at_fault++) {
            if (is_cuda && of_runs[i].spoil == a_stream) { /* which is none of its faults */
                continue;
            }
            set_arguments(&a, operation);
            if (rank == at_fault) {
                of_runs[i].spoil(&a);
            }
            const bool misses_one = of_runs[i].spoil == other_predicate && operation == TOPK_OPERATION_COUNT;
            expect_all(misses_one ? TOPK_ERROR_NULL_POINTER : of_runs[i].status, run(&a, plan), at_fault,
                       of_runs[i].name);
            CHECK(is_poison(a.best, sizeof a.best) && is_poison(a.indices, sizeof a.indices) &&
                  is_poison(a.numbers, sizeof a.numbers));
        }
    }
    set_arguments(&a, operation);
    CHECK_STATUS(TOPK_OK, run(&a, plan));
    CHECK(!is_poison(a.best, sizeof a.best) || !is_poison(a.numbers, sizeof a.numbers));
    topk_dist_plan_destroy(plan);
}

/* A table of positions that is misaligned. */
static void check_tables_of(topk_dist_strategy strategy, topk_dist_destination destination) {
    static int64_t table[ROWS * LENGTH + 1];
    arguments a;
    topk_dist_plan *plan;
    for (int i = 0; i < ROWS * LENGTH; i++) {
        table[i] = (int64_t)(i % LENGTH) * ranks + rank;
    }
    set_arguments(&a, TOPK_OPERATION_SELECT);
    a.options.map = TOPK_DIST_TABLE;
    a.options.strategy = strategy;
    a.options.destination = destination;
    if (!CHECK_STATUS(TOPK_OK, create(&a, &plan))) {
        return;
    }
    for (int at_fault = 0; at_fault < ranks; at_fault++) {
        set_arguments(&a, TOPK_OPERATION_SELECT);
        a.input.indices = (const char *)table + (rank == at_fault ? 4 : 0);
        expect_all(TOPK_ERROR_MISALIGNED, run(&a, plan), at_fault, "a misaligned table");
        CHECK(is_poison(a.best, sizeof a.best) && is_poison(a.indices, sizeof a.indices));
    }
    topk_dist_plan_destroy(plan);
}

/* Where element `at` of the middle row has the position `spoilt` on one rank, all ranks have an error; on a
 * GPU the row is -2 on all of them. In place without lists, where ties are free, it is so on that rank. */
static void check_descent(topk_dist_strategy strategy, topk_dist_destination destination, topk_ties ties,
                          int at, int64_t spoilt) {
    static int64_t table[ROWS * LENGTH];
    const bool alone =
        destination == TOPK_DIST_IN_PLACE && strategy == TOPK_DIST_HISTOGRAM && ties == TOPK_TIES_ANY;
    int64_t own_k[ROWS], before[ROWS];
    arguments a;
    topk_dist_plan *plan;
    set_arguments(&a, TOPK_OPERATION_SELECT);
    a.options.map = TOPK_DIST_TABLE;
    a.options.strategy = strategy;
    a.options.destination = destination;
    a.problem.ties = ties;
    if (!CHECK_STATUS(TOPK_OK, create(&a, &plan))) {
        return;
    }
    for (int at_fault = 0; at_fault < ranks; at_fault++) {
        for (int i = 0; i < ROWS * LENGTH; i++) {
            table[i] = (int64_t)(i % LENGTH) * ranks + rank;
        }
        table[LENGTH + at] = rank == at_fault ? spoilt : table[LENGTH + at];
        set_arguments(&a, TOPK_OPERATION_SELECT);
        a.input.indices = table;
        if (destination == TOPK_DIST_IN_PLACE) {
            a.output.own_k = own_k;
            a.output.before = before;
        }
        const topk_status status = run(&a, plan);
        if (!is_cuda) {
            expect_all(TOPK_ERROR_CONTRADICTION, status, at_fault, "a table that does not ascend");
            CHECK(is_poison(a.best, sizeof a.best) && is_poison(a.indices, sizeof a.indices));
            char where[64];
            (void)snprintf(where, sizeof where, "row 1 the position of element %d ", at);
            CHECK(strstr(topk_dist_last_error(), where) != NULL);
            continue;
        }
        CHECK_STATUS(TOPK_OK, status);
        for (int slot = 0; slot < ROWS * K; slot++) {
            const bool is_broken = slot / K == 1 && (!alone || rank == at_fault);
            CHECK((a.indices[slot] == -2) == is_broken);
            CHECK(destination != TOPK_DIST_IN_PLACE ||
                  ((own_k[slot / K] == -2) == is_broken && (before[slot / K] == -2) == is_broken));
        }
    }
    topk_dist_plan_destroy(plan);
}

/* A table that is trusted is not looked at: the other rows are right, and no other memory is touched. */
static void check_trust(void) {
    static int64_t table[ROWS * LENGTH];
    arguments a;
    topk_dist_plan *plan;
    for (int i = 0; i < ROWS * LENGTH; i++) {
        table[i] = (int64_t)(i % LENGTH) * ranks + rank;
    }
    table[LENGTH + 50] = 7;
    set_arguments(&a, TOPK_OPERATION_SELECT);
    a.options.map = TOPK_DIST_TABLE;
    a.options.trust_table = 1;
    a.input.indices = table;
    if (CHECK_STATUS(TOPK_OK, create(&a, &plan))) {
        CHECK_STATUS(TOPK_OK, run(&a, plan));
        for (int slot = 0; slot < K; slot++) {
            CHECK(a.indices[slot] == slot && a.indices[2 * K + slot] == slot);
        }
        topk_dist_plan_destroy(plan);
    }
}

static void check_descents(void) {
    static const topk_dist_strategy strategies[] = {TOPK_DIST_GATHER, TOPK_DIST_HISTOGRAM};
    check_trust();
    for (int s = 0; s < 2; s++) {
        check_descent(strategies[s], TOPK_DIST_EVERYWHERE, TOPK_TIES_LOWEST_INDEX, 0, -1);
        check_descent(strategies[s], TOPK_DIST_EVERYWHERE, TOPK_TIES_ANY, LENGTH - 1, 0);
        check_descent(strategies[s], TOPK_DIST_IN_PLACE, TOPK_TIES_LOWEST_INDEX, 50, 7);
        check_descent(strategies[s], TOPK_DIST_IN_PLACE, TOPK_TIES_ANY, 1, INT64_MIN);
    }
}

/* ---- Sources ---- */

enum { PIECE = 40 }; /* three pieces of each row */

static topk_status read_zeros(void *user, int64_t row, int64_t first, int64_t length, void *values) {
    arguments *const a = user;
    if (a->reads_left == 0) {
        return TOPK_ERROR_OUT_OF_MEMORY;
    }
    a->reads_left -= a->reads_left > 0;
    if (row < 0 || row >= ROWS || first < 0 || first + length > LENGTH || length < 1 || length > PIECE) {
        return TOPK_ERROR_BAD_STATE;
    }
    ordered_host_writes(values, (size_t)length * sizeof(float));
    memset(values, 0, (size_t)length * sizeof(float));
    return TOPK_OK;
}

static void set_source(arguments *a, topk_operation operation, topk_dist_strategy strategy,
                       topk_dist_origin origin) {
    set_arguments(a, operation);
    set_strategy(a, strategy);
    a->options.origin = origin;
    a->options.piece = PIECE;
    a->input.values = NULL;
    a->source = (topk_dist_source)TOPK_DIST_SOURCE_INIT;
    a->source.length = LENGTH;
    a->reads_left = -1;
    if (origin == TOPK_DIST_PARTS) {
        a->parts[0] = (topk_dist_part){a->values, 30, LENGTH};
        a->parts[1] = (topk_dist_part){a->values + 30, LENGTH - 30, LENGTH};
        a->source.parts = a->parts;
        a->source.parts_count = 2;
    } else {
        a->source.read = read_zeros;
        a->source.user = a;
    }
    a->given_source = &a->source;
}

static bool writes_nothing(const arguments *a) {
    return is_poison(a->best, sizeof a->best) && is_poison(a->indices, sizeof a->indices) &&
           is_poison(a->numbers, sizeof a->numbers);
}

/* Each read of a run fails in turn, on one rank, every fifth on an emulated GPU; in the end none does. */
static void check_reads(topk_operation operation, topk_dist_strategy strategy,
                        topk_dist_destination destination, topk_dist_map map) {
    for (int at_fault = is_cuda ? ranks - 1 : 0; at_fault < ranks; at_fault++) {
        arguments a;
        topk_dist_plan *plan;
        set_source(&a, operation, strategy, TOPK_DIST_READ);
        a.options.destination = destination;
        a.options.map = map;
        a.problem.index_base = map == TOPK_DIST_STRIDE ? 0 : a.problem.index_base;
        if (!CHECK_STATUS(TOPK_OK, create(&a, &plan))) {
            return;
        }
        topk_status status = TOPK_ERROR_OUT_OF_MEMORY;
        long allowed = 0;
        for (; status != TOPK_OK && CHECK(allowed < 200); allowed += is_cuda ? 5 : 1) {
            a.reads_left = rank == at_fault ? allowed : -1;
            status = run(&a, plan);
            if (status != TOPK_OK) {
                expect_all(TOPK_ERROR_OUT_OF_MEMORY, status, at_fault, "a read that fails");
                CHECK(strstr(topk_dist_last_error(), "source->read returned TOPK_ERROR_OUT_OF_MEMORY") !=
                      NULL);
                CHECK(writes_nothing(&a));
            }
        }
        CHECK(!writes_nothing(&a));
        CHECK(allowed - 1 >= 3 * ROWS && (operation != TOPK_OPERATION_SELECT ||
                                          strategy != TOPK_DIST_HISTOGRAM || allowed - 1 >= 2 * 3 * ROWS));
        topk_dist_plan_destroy(plan);
    }
}

static void no_source(arguments *a) {
    a->given_source = NULL;
}
static void small_source(arguments *a) {
    a->source.size = 8;
}
static void long_source(arguments *a) {
    a->source.length = LENGTH + 1;
}
static void unequal_parts(arguments *a) {
    a->parts[1].length--;
}
static void negative_part(arguments *a) {
    a->parts[0].length = -1;
}
static void endless_part(arguments *a) {
    a->parts[1].row_stride = INT64_C(1) << 62; /* whose bytes are 0 modulo 2^64 */
}
static void missing_part(arguments *a) {
    a->parts[1].values = NULL;
}
static void missing_parts(arguments *a) {
    a->source.parts = NULL;
}
static void reading_parts(arguments *a) {
    a->source.read = read_zeros;
}
static void input_and_source(arguments *a) {
    a->input.values = a->values;
}

static const struct {
    const char *name;
    void (*spoil)(arguments *a);
    topk_status status;
} of_sources[] = {
    {"no source", no_source, TOPK_ERROR_CONTRADICTION},
    {"a small source", small_source, TOPK_ERROR_STRUCT_SIZE},
    {"a source longer than the plan", long_source, TOPK_ERROR_OUT_OF_RANGE},
    {"parts of another length", unequal_parts, TOPK_ERROR_CONTRADICTION},
    {"a negative part", negative_part, TOPK_ERROR_OUT_OF_RANGE},
    {"a part beyond all memory", endless_part, TOPK_ERROR_OVERFLOW},
    {"a part without values", missing_part, TOPK_ERROR_NULL_POINTER},
    {"no parts", missing_parts, TOPK_ERROR_NULL_POINTER},
    {"parts that are read", reading_parts, TOPK_ERROR_CONTRADICTION},
    {"an input beside a source", input_and_source, TOPK_ERROR_CONTRADICTION},
};

static void check_sources_of(topk_operation operation, topk_dist_strategy strategy) {
    arguments a;
    topk_dist_plan *plan;
    set_source(&a, operation, strategy, TOPK_DIST_PARTS);
    if (!CHECK_STATUS(TOPK_OK, create(&a, &plan))) {
        return;
    }
    for (size_t i = 0; i < sizeof of_sources / sizeof of_sources[0]; i++) {
        for (int at_fault = 0; at_fault < ranks; at_fault++) {
            set_source(&a, operation, strategy, TOPK_DIST_PARTS);
            if (rank == at_fault) {
                of_sources[i].spoil(&a);
            }
            expect_all(of_sources[i].status, run(&a, plan), at_fault, of_sources[i].name);
            CHECK(writes_nothing(&a));
        }
    }
    set_source(&a, operation, strategy, TOPK_DIST_PARTS);
    CHECK_STATUS(TOPK_OK, run(&a, plan));
    CHECK(!writes_nothing(&a));
    topk_dist_plan_destroy(plan);
}

/* Where histogram would be chosen one rank that reads its elements once has all ranks gather. */
static void check_read_once(void) {
    for (int once = 0; once < 2; once++) {
        arguments a;
        topk_dist_plan *plan;
        topk_dist_properties properties = TOPK_DIST_PROPERTIES_INIT;
        set_source(&a, TOPK_OPERATION_SELECT, TOPK_DIST_AUTO,
                   once == 1 && rank == 0 ? TOPK_DIST_READ_ONCE : TOPK_DIST_READ);
        a.options.destination = TOPK_DIST_IN_PLACE;
        a.problem.rows = 1;
        a.problem.length_max = a.problem.k_max = 1 << 22;
        a.problem.index_base = (int64_t)rank << 22;
        if (CHECK_STATUS(TOPK_OK, create(&a, &plan))) {
            CHECK_STATUS(TOPK_OK, topk_dist_plan_query(plan, &properties));
            CHECK(properties.strategy == (once == 1 ? TOPK_DIST_GATHER : TOPK_DIST_HISTOGRAM));
            topk_dist_plan_destroy(plan);
        }
    }
}

static void check_sources(void) {
    check_reads(TOPK_OPERATION_SELECT, TOPK_DIST_GATHER, TOPK_DIST_EVERYWHERE, TOPK_DIST_BASE);
    check_reads(TOPK_OPERATION_SELECT, TOPK_DIST_GATHER, TOPK_DIST_IN_PLACE, TOPK_DIST_BASE);
    if (!is_cuda) {
        check_reads(TOPK_OPERATION_SELECT, TOPK_DIST_GATHER_NODES, TOPK_DIST_IN_PLACE, TOPK_DIST_STRIDE);
    }
    check_reads(TOPK_OPERATION_SELECT, TOPK_DIST_HISTOGRAM, TOPK_DIST_EVERYWHERE, TOPK_DIST_BASE);
    check_reads(TOPK_OPERATION_SELECT, TOPK_DIST_HISTOGRAM, TOPK_DIST_IN_PLACE, TOPK_DIST_BASE);
    check_reads(TOPK_OPERATION_SELECT, TOPK_DIST_HISTOGRAM, TOPK_DIST_IN_PLACE, TOPK_DIST_STRIDE);
    check_reads(TOPK_OPERATION_KTH, TOPK_DIST_AUTO, TOPK_DIST_EVERYWHERE, TOPK_DIST_BASE);
    check_reads(TOPK_OPERATION_COUNT, TOPK_DIST_AUTO, TOPK_DIST_EVERYWHERE, TOPK_DIST_BASE);
    check_sources_of(TOPK_OPERATION_SELECT, TOPK_DIST_GATHER);
    check_sources_of(TOPK_OPERATION_SELECT, TOPK_DIST_HISTOGRAM);
    check_sources_of(TOPK_OPERATION_KTH, TOPK_DIST_AUTO);
    check_sources_of(TOPK_OPERATION_COUNT, TOPK_DIST_AUTO);
    check_read_once();
    check_group_works();
    CHECK(ordered_faults() == 0 && (ordered_copies() > 0) == is_cuda);
}

/* ---- Lists that are needed after a part of them was sent ---- */

/* The exchange finds that no list need be sent beyond entry WANTED, and but for rank 0 none at all: it has
 * the best elements, in other places in each row. */
static void check_short_lists(topk_dist_strategy strategy) {
    enum { WANTED = 5 };
    static const int64_t wanted[ROWS] = {WANTED, WANTED, WANTED};
    int64_t own_k[ROWS];
    arguments a;
    topk_dist_plan *plan;
    set_arguments(&a, TOPK_OPERATION_SELECT);
    a.options.destination = TOPK_DIST_IN_PLACE;
    set_strategy(&a, strategy);
    a.options.exchange_kth = 1;
    a.problem.extent_type = TOPK_INDEX_I64;
    a.input.k = wanted;
    for (int e = 0; e < ROWS * WANTED && rank == 0; e++) {
        a.values[e / WANTED * (LENGTH + 10) + e % WANTED] = (float)(WANTED - e % WANTED);
    }
    a.output.own_k = own_k;
    varied_bytes = 0;
    if (!CHECK_STATUS(TOPK_OK, create(&a, &plan)) || !CHECK_STATUS(TOPK_OK, run(&a, plan))) {
        return;
    }
    const bool varies = strategy == TOPK_DIST_GATHER && !is_cuda; /* a GPU's lists go whole */
    CHECK(varied_bytes == (varies ? ROWS * WANTED * (4 + 8) : 0));
    for (int row = 0; row < ROWS; row++) {
        CHECK(own_k[row] == (rank == 0 ? WANTED : 0));
        for (int slot = 0; slot < K; slot++) {
            CHECK(a.indices[row * K + slot] == (slot < own_k[row] ? 10 * row + slot : -1));
        }
    }
    topk_dist_plan_destroy(plan);
}

/* No rank has K elements of a row, so nothing bounds what is sent; but padding is not. */
static void check_padding_stays(void) {
    enum { FEW = 2 };
    const int64_t lengths[ROWS] = {rank == 0 ? FEW : 0, rank == 0 ? FEW : 0, rank == 0 ? FEW : 0};
    arguments a;
    topk_dist_plan *plan;
    set_arguments(&a, TOPK_OPERATION_SELECT);
    set_strategy(&a, TOPK_DIST_GATHER);
    a.options.exchange_kth = 1;
    a.problem.extent_type = TOPK_INDEX_I64;
    a.input.lengths = lengths;
    varied_bytes = 0;
    if (!CHECK_STATUS(TOPK_OK, create(&a, &plan)) || !CHECK_STATUS(TOPK_OK, run(&a, plan))) {
        return;
    }
    CHECK(varied_bytes == ROWS * FEW * (4 + 8));
    for (int slot = 0; slot < ROWS * K; slot++) {
        CHECK(a.indices[slot] == (slot % K < FEW ? slot % K : -1));
    }
    topk_dist_plan_destroy(plan);
}

/* ---- Memory ---- */

/* Each allocation of a plan fails in turn, on one rank. By nodes a group keeps what the first plan made, so
 * each rank's turn has a division, or a leader, of its own. */
static void check_memory(topk_dist_strategy strategy, topk_dist_origin origin) {
    for (int at_fault = 0; at_fault < ranks; at_fault++) {
        topk_status status = TOPK_ERROR_OUT_OF_MEMORY;
        for (int allowed = 0; status != TOPK_OK; allowed++) {
            arguments a;
            topk_dist_plan *plan;
            set_arguments(&a, TOPK_OPERATION_SELECT);
            set_strategy(&a, strategy);
            a.options.origin = origin;
            a.options.piece = origin == TOPK_DIST_INPUT ? 0 : 1;
            if (strategy == TOPK_DIST_GATHER_NODES) {
                a.options.destination = TOPK_DIST_ROOT;
                a.options.root = at_fault;
                a.options.node = at_fault == 1 ? 1 : a.options.node;
            }
            until_failure = rank == at_fault ? allowed : -1;
            status = create(&a, &plan);
            until_failure = -1;
            if (status != TOPK_OK) {
                expect_all(TOPK_ERROR_OUT_OF_MEMORY, status, at_fault, "no memory");
                CHECK(plan == NULL);
            }
            topk_dist_plan_destroy(plan);
            if (!CHECK(allowed < 100)) {
                return;
            }
            CHECK(status != TOPK_OK || allowed >= (strategy == TOPK_DIST_GATHER_NODES ? 6 : 3));
        }
    }
    check_group_works();
}

/* ---- A GPU that fails ---- */

typedef struct gpu_run {
    topk_operation operation;
    topk_dist_strategy strategy;
    topk_dist_destination destination;
    topk_dist_map map;
    topk_dist_origin origin;
} gpu_run;

static void set_gpu_run(arguments *a, const gpu_run *of, int64_t *table, int64_t *own_k, int64_t *before) {
    set_source(a, of->operation, of->strategy, of->origin);
    if (of->origin == TOPK_DIST_INPUT) {
        a->given_source = NULL;
        a->options.piece = 0;
        a->input.values = a->values;
    }
    a->options.destination = of->destination;
    a->options.map = of->map;
    a->problem.index_base = of->map == TOPK_DIST_BASE ? a->problem.index_base : 0;
    for (int i = 0; i < ROWS * LENGTH; i++) {
        table[i] = (int64_t)(i % LENGTH) * ranks + rank;
    }
    a->input.indices = of->map == TOPK_DIST_TABLE ? table : NULL;
    if (of->destination == TOPK_DIST_IN_PLACE) {
        a->output.own_k = own_k;
        a->output.before = before;
    }
}

/* The group is of no more use, and the ranks are not in different calls of it. */
static void expect_broken(arguments *a, topk_dist_plan *plan, const char *what) {
    topk_dist_plan *other = NULL;
    if (!CHECK_STATUS(TOPK_ERROR_DEVICE, run(a, plan))) {
        fprintf(stderr, "    rank %d, %s\n", rank, what);
    }
    CHECK(strstr(topk_dist_last_error(), "broken") != NULL);
    CHECK_STATUS(TOPK_ERROR_DEVICE, create(a, &other));
    CHECK(other == NULL);
}

/* In a group of its own. False if the rank made no such call, so that all went well. */
static bool fails_at_call(const gpu_run *of, int at_fault, long at) {
    static int64_t table[ROWS * LENGTH], own_k[ROWS], before[ROWS];
    topk_dist_group *const of_all = group;
    arguments a;
    topk_dist_plan *plan = NULL;
    CHECK_STATUS(TOPK_OK, topk_dist_group_create_mpi(MPI_COMM_WORLD, &group));
    set_gpu_run(&a, of, table, own_k, before);
    CHECK_STATUS(TOPK_OK, create(&a, &plan));
    failing_call_at(rank == at_fault ? at : -1);
    const topk_status status = run(&a, plan);
    int has_failed = failing_calls() > at;
    failing_call_at(-1);
    MPI_Bcast(&has_failed, 1, MPI_INT, at_fault, MPI_COMM_WORLD);
    if (has_failed) {
        char what[128];
        (void)snprintf(what, sizeof what,
                       "call %ld that fails, operation %d, strategy %d, destination %d, map %d, origin %d",
                       at, (int)of->operation, (int)of->strategy, (int)of->destination, (int)of->map,
                       (int)of->origin);
        expect_all(TOPK_ERROR_DEVICE, status, at_fault, what);
        expect_broken(&a, plan, what);
    } else {
        CHECK_STATUS(TOPK_OK, status);
    }
    topk_dist_plan_destroy(plan);
    topk_dist_group_destroy(group);
    group = of_all;
    return has_failed != 0;
}

static void check_gpu_failures(void) {
    static const gpu_run runs[] = {
        {TOPK_OPERATION_SELECT, TOPK_DIST_GATHER, TOPK_DIST_EVERYWHERE, TOPK_DIST_BASE, TOPK_DIST_INPUT},
        {TOPK_OPERATION_SELECT, TOPK_DIST_GATHER, TOPK_DIST_OWNER, TOPK_DIST_STRIDE, TOPK_DIST_PARTS},
        {TOPK_OPERATION_SELECT, TOPK_DIST_GATHER, TOPK_DIST_IN_PLACE, TOPK_DIST_TABLE, TOPK_DIST_INPUT},
        {TOPK_OPERATION_SELECT, TOPK_DIST_GATHER_NODES, TOPK_DIST_EVERYWHERE, TOPK_DIST_BASE, TOPK_DIST_READ},
        {TOPK_OPERATION_SELECT, TOPK_DIST_GATHER_NODES, TOPK_DIST_ROOT, TOPK_DIST_BASE, TOPK_DIST_INPUT},
        {TOPK_OPERATION_SELECT, TOPK_DIST_GATHER_NODES, TOPK_DIST_IN_PLACE, TOPK_DIST_STRIDE,
         TOPK_DIST_INPUT},
        {TOPK_OPERATION_SELECT, TOPK_DIST_GATHER_NODES, TOPK_DIST_OWNER, TOPK_DIST_BASE, TOPK_DIST_INPUT},
        {TOPK_OPERATION_SELECT, TOPK_DIST_HISTOGRAM, TOPK_DIST_ROOT, TOPK_DIST_BASE, TOPK_DIST_READ},
        {TOPK_OPERATION_SELECT, TOPK_DIST_HISTOGRAM, TOPK_DIST_IN_PLACE, TOPK_DIST_BASE, TOPK_DIST_INPUT},
        {TOPK_OPERATION_SELECT, TOPK_DIST_HISTOGRAM, TOPK_DIST_IN_PLACE, TOPK_DIST_BASE, TOPK_DIST_READ},
        {TOPK_OPERATION_KTH, TOPK_DIST_AUTO, TOPK_DIST_EVERYWHERE, TOPK_DIST_BASE, TOPK_DIST_INPUT},
        {TOPK_OPERATION_COUNT, TOPK_DIST_AUTO, TOPK_DIST_EVERYWHERE, TOPK_DIST_BASE, TOPK_DIST_INPUT},
    };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        const int at_fault = i % 2 == 0 ? ranks - 1 : 0;             /* by nodes 0 leads one */
        const long step = runs[i].origin == TOPK_DIST_INPUT ? 1 : 2; /* pieces take many calls */
        long at = 0;
        while (fails_at_call(&runs[i], at_fault, at) && CHECK(at < 500)) {
            at += step;
        }
        CHECK(at >= 4);
    }
    check_group_works();
}

/* ---- What a rank finds alone ---- */

static void check_alone(void) {
    topk_dist_group *none = group;
    topk_dist_properties properties = TOPK_DIST_PROPERTIES_INIT;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_group_create_mpi(MPI_COMM_WORLD, NULL));
    CHECK_STATUS(TOPK_ERROR_UNSUPPORTED, topk_dist_group_create_mpi(MPI_COMM_NULL, &none));
    CHECK(none == NULL);
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_plan_query(NULL, &properties));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_dist_plan_run(NULL, NULL, NULL, NULL, 0, NULL));
    CHECK(topk_dist_group_rank(NULL) == -1 && topk_dist_group_ranks(NULL) == 0);
    topk_dist_group_destroy(NULL);
    topk_dist_plan_destroy(NULL);
}

/* All contexts are on the CPU, or all on a GPU. */
static void check_backends(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    arguments a;
    topk_dist_plan *plan;
    topk_context *own = NULL;
    options.threads = 1;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &own));
    set_arguments(&a, TOPK_OPERATION_SELECT);
    expect_all(
        TOPK_ERROR_CONTRADICTION,
        topk_dist_plan_create(group, rank == 1 ? own : context, a.operation, &a.problem, &a.options, &plan),
        1, "a context on the CPU");
    topk_context_destroy(own);
    set_arguments(&a, TOPK_OPERATION_SELECT);
}

static void check_groups(void) {
    topk_dist_group *none = group;
    for (int at_fault = 0; at_fault < ranks; at_fault++) {
        until_failure = rank == at_fault ? 0 : -1;
        const topk_status status = topk_dist_group_create_mpi(MPI_COMM_WORLD, &none);
        until_failure = -1;
        expect_all(TOPK_ERROR_OUT_OF_MEMORY, status, at_fault, "no memory for a group");
        CHECK(none == NULL);
    }
}

/* ---- A rank that is killed ---- */

static void run_and_die(const char *phase) {
    arguments a;
    topk_dist_plan *plan;
    const bool dies = rank == ranks - 1;
    printf("alive\n");
    (void)fflush(stdout);
    if (dies && strcmp(phase, "plan") == 0) {
        raise(SIGKILL);
    }
    set_arguments(&a, TOPK_OPERATION_SELECT);
    set_strategy(&a, strcmp(phase, "nodes") == 0 ? TOPK_DIST_GATHER_NODES : TOPK_DIST_AUTO);
    CHECK_STATUS(TOPK_OK, create(&a, &plan));
    CHECK_STATUS(TOPK_OK, run(&a, plan));
    if (dies) {
        raise(SIGKILL);
    }
    (void)run(&a, plan);
    printf("went on\n");
}

int main(int argc, char **argv) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_dist_group *too_early;
    is_cuda = argc == 2 && strcmp(argv[1], "cuda") == 0;
    options.threads = is_cuda ? 0 : 1;
    options.backend = is_cuda ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    CHECK_STATUS(TOPK_ERROR_BAD_STATE, topk_dist_group_create_mpi(MPI_COMM_WORLD, &too_early));
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS || topk_context_create(&options, &context) != TOPK_OK ||
        !CHECK_STATUS(TOPK_OK, topk_dist_group_create_mpi(MPI_COMM_WORLD, &group))) {
        return 2;
    }
    rank = topk_dist_group_rank(group);
    ranks = topk_dist_group_ranks(group);
    if (argc > 2) {
        run_and_die(argv[2]);
        return 0;
    }
    if (is_cuda) {
        check_backends();
        check_sources();
        check_gpu_failures();
        check_memory(TOPK_DIST_HISTOGRAM, TOPK_DIST_READ);
    } else {
        check_alone();
        check_groups();
        check_memory(TOPK_DIST_AUTO, TOPK_DIST_INPUT);
        check_memory(TOPK_DIST_GATHER_NODES, TOPK_DIST_INPUT);
        check_sources();
    }
    check_plans();
    check_runs_of(TOPK_OPERATION_SELECT, TOPK_DIST_GATHER);
    check_runs_of(TOPK_OPERATION_SELECT, TOPK_DIST_HISTOGRAM);
    check_runs_of(TOPK_OPERATION_KTH, TOPK_DIST_AUTO);
    check_runs_of(TOPK_OPERATION_COUNT, TOPK_DIST_AUTO);
    check_tables_of(TOPK_DIST_GATHER, TOPK_DIST_EVERYWHERE);
    check_tables_of(TOPK_DIST_HISTOGRAM, TOPK_DIST_EVERYWHERE);
    check_tables_of(TOPK_DIST_HISTOGRAM, TOPK_DIST_IN_PLACE);
    check_descents();
    check_short_lists(TOPK_DIST_GATHER);
    check_runs_of(TOPK_OPERATION_SELECT, TOPK_DIST_GATHER_NODES);
    if (!is_cuda) {
        check_padding_stays();
        check_short_lists(TOPK_DIST_GATHER_NODES);
    }
    topk_dist_group_destroy(group);
    topk_context_destroy(context);
    MPI_Finalize();
    return check_report();
}
