/* SPDX-License-Identifier: Apache-2.0
 *
 * topk-bench-sharded: how long the rounds of topk_sharded_*() take on one shard, in reads of its data, and
 * beside topk_kth() over the same rows; and topk_sharded_select() behind them, which writes elements and
 * indices of 64 bits, beside topk_select() by position. Each run is checked against topk_kth(): the one shard
 * must have all results. The warm run is also compared with topk_select().
 *
 * usage: topk-bench-sharded [cpu | cuda] [RUNS] [LOG2] [THREADS]
 *
 * The largest problem has 2^LOG2 bytes (default: 28 on a CPU, 32 on a GPU). Prints a table of comma-separated
 * values: a line for each problem, medians in microseconds. `to_read` is the median of each run's own ratio
 * for the rounds; `own_us` and `own_to_read` are of topk_sharded_select().
 */
#include "sharded/sharded.h"
#include "topk_sharded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MOST = 6, RUNS_MOST = 1001, NUMBERS = 6, exit_no_device = 77 };

/* Rows share the bytes of the largest problem, or a part of them: log2_less. k is 2^-log2_k of a row. */
static const struct shape {
    topk_type type;
    const char *distribution;
    int log2_less, log2_rows, log2_k;
} shapes[] = {
    {TOPK_F32, "uniform", 0, 0, 10}, {TOPK_F32, "uniform", 2, 0, 4},    {TOPK_F32, "normal", 0, 0, 10},
    {TOPK_F32, "uniform", 0, 0, 5},  {TOPK_F32, "uniform", 0, 0, 1},    {TOPK_BF16, "normal", 2, 0, 5},
    {TOPK_I64, "uniform", 0, 0, 5},  {TOPK_F32, "normal", 2, 0, 1},     {TOPK_F32, "all-equal", 0, 0, 1},
    {TOPK_F32, "uniform", 4, 6, 10}, {TOPK_F32, "uniform", 4, 12, 7},   {TOPK_F64, "uniform", 1, 0, 10},
    {TOPK_F64, "normal", 1, 0, 10},  {TOPK_F64, "all-equal", 1, 0, 10}, {TOPK_I64, "uniform", 1, 0, 10},
    {TOPK_BF16, "normal", 1, 0, 10}, {TOPK_U8, "uniform", 2, 0, 10},
};

typedef struct bench {
    const sharded_device *device;
    topk_context *context;
    topk_problem problem;
    topk_input input;
    topk_sharded_properties properties;
    bench_buffer elements, state, counters, workspace;
    bench_buffer kth[2], numbers[2];    /* of the rounds, and of topk_kth */
    bench_buffer values[2], indices[2]; /* of topk_sharded_select, and of topk_select */
} bench;

__attribute__((noreturn)) static void stop(const bench *b, const char *what) {
    const char *why = b->device->error();
    fprintf(stderr, "topk-bench-sharded: %s; %s\n", what, why[0] != '\0' ? why : topk_last_error());
    exit(EXIT_FAILURE);
}

static void require(const bench *b, bool ok, const char *what) {
    if (!ok) {
        stop(b, what);
    }
}

static int64_t *numbers_of(const bench *b, int which, int number) {
    return (int64_t *)b->numbers[which].data + number * b->problem.rows;
}

/* begin and then count and advance of each round, with a mark behind each. */
static bool run_rounds(void *self, int64_t turn) {
    const bench *b = self;
    const topk_stream stream = b->device->stream();
    void *state = b->state.data;
    int64_t *counters = b->counters.data;
    const size_t bytes = b->state.bytes;
    (void)turn;
    bool ok = b->device->mark() &&
              topk_sharded_begin(b->context, &b->problem, state, bytes, NULL, counters, stream) == TOPK_OK;
    ok = ok && b->device->mark();
    for (int round = 0; ok && round < b->properties.rounds; ++round) {
        ok = topk_sharded_count(b->context, &b->problem, state, bytes, round, &b->input, counters, stream) ==
                 TOPK_OK &&
             b->device->mark() &&
             topk_sharded_advance(b->context, &b->problem, state, bytes, round, counters, counters, stream) ==
                 TOPK_OK &&
             b->device->mark();
    }
    return ok;
}

static bool run_kth(void *self, int64_t turn) {
    const bench *b = self;
    (void)turn;
    return b->device->mark() &&
           topk_kth(b->context, &b->problem, &b->input, b->kth[1].data, numbers_of(b, 1, 0),
                    numbers_of(b, 1, 1), b->workspace.data, b->workspace.bytes,
                    b->device->stream()) == TOPK_OK &&
           b->device->mark();
}

static bool run_own(void *self, int64_t turn) {
    const bench *b = self;
    (void)turn;
    return b->device->mark() &&
           topk_sharded_select(b->context, &b->problem, b->state.data, b->state.bytes, &b->input, NULL,
                               b->problem.k_max, b->values[0].data, b->indices[0].data,
                               b->device->stream()) == TOPK_OK &&
           b->device->mark();
}

static bool run_select(void *self, int64_t turn) {
    const bench *b = self;
    (void)turn;
    return b->device->mark() &&
           topk_select(b->context, &b->problem, &b->input, b->values[1].data, b->indices[1].data,
                       b->workspace.data, b->workspace.bytes, b->device->stream()) == TOPK_OK &&
           b->device->mark();
}

static void make_buffers(bench *b) {
    const bench_memory *memory = b->device->memory;
    const size_t rows = (size_t)b->problem.rows, slots = rows * (size_t)b->problem.k_max;
    size_t bytes = 0, select_bytes = 0;
    b->properties = (topk_sharded_properties)TOPK_SHARDED_PROPERTIES_INIT;
    bool ok = topk_sharded_query(b->context, &b->problem, &b->properties) == TOPK_OK &&
              topk_workspace_size(b->context, TOPK_OPERATION_KTH, &b->problem, &bytes) == TOPK_OK &&
              topk_workspace_size(b->context, TOPK_OPERATION_SELECT, &b->problem, &select_bytes) == TOPK_OK &&
              bench_buffer_make(memory, &b->workspace, bytes > select_bytes ? bytes : select_bytes) &&
              bench_buffer_make(memory, &b->state, b->properties.state_bytes) &&
              bench_buffer_make(memory, &b->counters, (size_t)b->properties.counters * sizeof(int64_t));
    for (int which = 0; which < 2; ++which) {
        ok = ok && bench_buffer_make(memory, &b->kth[which], rows * topk_type_size(b->problem.type)) &&
             bench_buffer_make(memory, &b->numbers[which], rows * NUMBERS * sizeof(int64_t)) &&
             bench_buffer_make(memory, &b->values[which], slots * topk_type_size(b->problem.type)) &&
             bench_buffer_make(memory, &b->indices[which], slots * sizeof(int64_t));
    }
    require(b, ok, "no room for a problem");
}

/* Writes the results of the rounds over garbage. */
static void write_results(const bench *b) {
    topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
    output.kth = b->kth[0].data;
    output.better = numbers_of(b, 0, 0);
    output.equal = numbers_of(b, 0, 1);
    output.own_better = numbers_of(b, 0, 2);
    output.own_equal = numbers_of(b, 0, 3);
    output.own_k = numbers_of(b, 0, 4);
    output.after = numbers_of(b, 0, 5);
    require(b,
            bench_buffer_poison(&b->kth[0]) && bench_buffer_poison(&b->numbers[0]) &&
                topk_sharded_result(b->context, &b->problem, b->state.data, b->state.bytes, NULL, &output,
                                    b->device->stream()) == TOPK_OK,
            "results");
}

/* Copies two buffers to the host; whether nothing was written around them. */
static bool fetch(const bench *b, const bench_buffer buffers[2], void *copies[2]) {
    bool intact = true;
    for (int which = 0; which < 2; ++which) {
        const bench_buffer *from = &buffers[which];
        copies[which] = malloc(from->bytes + 1);
        require(b, copies[which] != NULL && b->device->memory->copy(copies[which], from->data, from->bytes),
                "a copy");
        intact = intact && bench_buffer_intact(from);
    }
    return intact;
}

static bool are_same(const bench *b, const bench_buffer buffers[2]) {
    void *copies[2];
    const bool intact = fetch(b, buffers, copies), same = memcmp(copies[0], copies[1], buffers[0].bytes) == 0;
    free(copies[0]);
    free(copies[1]);
    return intact && same;
}

/* Whether the rounds have the results of topk_kth, and nothing else was written. */
static bool is_right(const bench *b) {
    const int64_t rows = b->problem.rows;
    void *numbers[2];
    bool right = bench_buffer_intact(&b->state) && bench_buffer_intact(&b->counters) && are_same(b, b->kth);
    right = fetch(b, b->numbers, numbers) && right;
    for (int64_t r = 0; right && r < rows; ++r) {
        const int64_t *rounds = numbers[0], *kth = numbers[1], better = kth[r], equal = kth[rows + r];
        const int64_t wanted[NUMBERS] = {better, equal, better, equal, b->problem.k_max, equal};
        for (int n = 0; n < NUMBERS; ++n) {
            right = right && rounds[n * rows + r] == wanted[n];
        }
    }
    free(numbers[0]);
    free(numbers[1]);
    return right;
}

/* What is timed in each run: a read, all rounds, topk_kth, topk_sharded_select, topk_select, rounds and
 * topk_sharded_select in reads, and the steps of the rounds. */
enum { of_read, of_rounds, of_kth, of_own, of_select, to_read, own_to_read, of_steps };
enum { series_count = of_steps + SHARDED_STEPS };

static double median(double *samples, int count) {
    return bench_quartiles_of(samples, count).median;
}

static bool time_problem(bench *b, int runs, double medians[series_count]) {
    double(*series)[RUNS_MOST] = calloc(series_count, sizeof *series);
    bool right = series != NULL && bench_buffer_poison(&b->kth[1]) && bench_buffer_poison(&b->numbers[1]);
    for (int which = 0; which < 2; ++which) {
        right = right && bench_buffer_poison(&b->values[which]) && bench_buffer_poison(&b->indices[which]);
    }
    require(b, right, "no memory");
    for (int run = -1; run < runs; ++run) { /* the first one warms up, and loads kernels outside of a gate */
        double us[SHARDED_STEPS] = {0}, of_calls[3][SHARDED_STEPS] = {{0}}, read = 0, all = 0;
        const bool warms = run < 0;
        require(b,
                b->device->read_us(&read) && b->device->time((bench_work){run_rounds, b, warms}, us) &&
                    b->device->time((bench_work){run_kth, b, warms}, of_calls[0]) &&
                    b->device->time((bench_work){run_own, b, warms}, of_calls[1]) &&
                    b->device->time((bench_work){run_select, b, warms}, of_calls[2]),
                "a run");
        write_results(b);
        right = is_right(b) && right;
        right = right && (!warms || (are_same(b, b->values) && are_same(b, b->indices)));
        for (int step = 0; run >= 0 && step < SHARDED_STEPS; ++step) {
            all += us[step];
            series[of_steps + step][run] = us[step];
        }
        if (run >= 0) {
            series[of_read][run] = read;
            series[of_rounds][run] = all;
            series[of_kth][run] = of_calls[0][0];
            series[of_own][run] = of_calls[1][0];
            series[of_select][run] = of_calls[2][0];
            series[to_read][run] = all / read;
            series[own_to_read][run] = of_calls[1][0] / read;
        }
    }
    for (int s = 0; s < series_count; ++s) {
        medians[s] = median(series[s], runs);
    }
    free(series);
    return right;
}

static void print_head(void) {
    printf(
        "device,type,dist,rows,n,k,state_bytes,read_us,kth_us,select_us,own_us,own_to_read,rounds_us,to_read,"
        "begin_us");
    for (int round = 0; round < ROUNDS_MOST; ++round) {
        printf(",count%d_us,advance%d_us", round, round);
    }
    printf(",check\n");
}

static void print_line(const bench *b, const struct shape *shape, const double *medians, bool right) {
    const topk_problem *p = &b->problem;
    const int steps = 1 + 2 * b->properties.rounds;
    printf("%s,%s,%s,%lld,%lld,%lld,%zu,%.1f,%.1f,%.1f,%.1f,%.3f,%.1f,%.3f",
           b->device->backend == TOPK_BACKEND_CPU ? "cpu" : "cuda", topk_type_name(p->type),
           shape->distribution, (long long)p->rows, (long long)p->length_max, (long long)p->k_max,
           b->state.bytes, medians[of_read], medians[of_kth], medians[of_select], medians[of_own],
           medians[own_to_read], medians[of_rounds], medians[to_read]);
    for (int step = 0; step < 1 + 2 * ROUNDS_MOST; ++step) {
        if (step < steps) {
            printf(",%.1f", medians[of_steps + step]);
        } else {
            printf(",");
        }
    }
    printf(",%s\n", right ? "ok" : "FAIL");
    fflush(stdout);
}

static bool run_shape(bench *b, const struct shape *shape, int log2_bytes, int runs) {
    const int64_t bytes = INT64_C(1) << (log2_bytes - shape->log2_less);
    const int64_t count = bytes / (int64_t)topk_type_size(shape->type), n = count >> shape->log2_rows;
    const bench_source source = {.seed = 1};
    bench_point point = {.type = shape->type,
                         .distribution = bench_distribution_find(shape->distribution),
                         .rows = INT64_C(1) << shape->log2_rows,
                         .n = n,
                         .elements = count,
                         .length_max = n,
                         .k = n >> shape->log2_k};
    double medians[series_count];
    if (point.k < 1) {
        return true; /* too short */
    }
    const bench_filling filling = bench_filling_of(&point, &source);
    b->problem = (topk_problem)TOPK_PROBLEM_INIT;
    b->problem.type = shape->type;
    b->problem.index_type = TOPK_INDEX_I64;
    b->problem.order = TOPK_ORDER_BY_POSITION;
    b->problem.rows = point.rows;
    b->problem.length_max = n;
    b->problem.k_max = point.k;
    require(b, bench_buffer_make(b->device->memory, &b->elements, (size_t)bytes), "no room for the input");
    make_buffers(b);
    b->input = (topk_input)TOPK_INPUT_INIT;
    b->input.values = b->elements.data;
    require(b,
            b->device->fill(&filling, b->elements.data, count) &&
                b->device->find_reader(b->elements.data, (size_t)bytes),
            "the input");
    const bool right = time_problem(b, runs, medians);
    print_line(b, shape, medians, right);
    return right;
}

static int number_of(int argc, char **argv, int which, int usual, int least, int most) {
    const int number = argc > which ? atoi(argv[which]) : usual;
    if (number < least || number > most) {
        fprintf(stderr, "topk-bench-sharded: %s is not in %d to %d\n", argv[which], least, most);
        exit(EXIT_FAILURE);
    }
    return number;
}

int main(int argc, char **argv) {
    const bool on_gpu = argc > 1 && strcmp(argv[1], "cuda") == 0;
    const int runs = number_of(argc, argv, 2, 21, 1, RUNS_MOST);
    const int log2_bytes = number_of(argc, argv, 3, on_gpu ? 32 : 28, 12, 40);
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    bench b = {.device = &sharded_cpu};
    bool right = true;
#ifdef BENCH_HAS_CUDA
    b.device = on_gpu ? &sharded_cuda : &sharded_cpu;
#endif
    options.threads = number_of(argc, argv, 4, 0, 0, 1024);
    options.backend = on_gpu ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    if (topk_context_create(&options, &b.context) != TOPK_OK) {
        fprintf(stderr, "topk-bench-sharded: %s\n", topk_last_error());
        return exit_no_device;
    }
    require(&b, b.device->open(b.context), "no device");
    print_head();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        right = run_shape(&b, &shapes[i], log2_bytes, runs) && right;
    }
    bench_buffer *const all[] = {&b.elements,  &b.state,     &b.counters,   &b.workspace,
                                 &b.kth[0],    &b.kth[1],    &b.numbers[0], &b.numbers[1],
                                 &b.values[0], &b.values[1], &b.indices[0], &b.indices[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        bench_buffer_free(all[i]);
    }
    b.device->close();
    topk_context_destroy(b.context);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
