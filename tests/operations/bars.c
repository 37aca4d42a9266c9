/* SPDX-License-Identifier: Apache-2.0
 *
 * Bars of accumulators on the CPU, against the oracle: random streams in chunks, whose rows have bars raised
 * to random elements now and then, and are merged. After each push the bar of a row must be one: its k best
 * so far rank before it, or are it. A bar that is passed on loses no result of two states that share a
 * stream. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "elements.h"
#include "generators.h"
#include "oracle.h"
#include "random.h"
#include "topk_accumulator.h"

enum {
    ROWS = 3,
    STREAM = 900,
    CHUNKS = 30,
    SCENARIOS = 600,
    FIRST = 1000,
    ELEMENT_BYTES = 8,
    K_MOST = STREAM
};

static topk_context *context;
static topk_problem problem;
static char values[ROWS * STREAM * ELEMENT_BYTES];
static bool takes_part[ROWS][STREAM];
static int64_t raised[ROWS]; /* the best of the elements that bars were raised to, or -1 */
static long bars_seen;

typedef struct state {
    void *memory;
    size_t bytes;
} state;

static void *element(int64_t row, int64_t e) {
    return values + (size_t)(row * STREAM + e) * oracle_type_size(problem.type);
}

/* Whether an element of a stream ranks behind another one, by position if they tie. */
static bool is_behind(int64_t row, int64_t e, int64_t other) {
    const oracle_number a = oracle_decode(problem.type, element(row, e)),
                        b = oracle_decode(problem.type, element(row, other));
    const int order = oracle_order(&problem, &a, &b);
    return order > 0 || (order == 0 && e > other);
}

static state begin(void) {
    state s = {NULL, 0};
    CHECK_STATUS(TOPK_OK, topk_accumulator_size(context, &problem, &s.bytes));
    s.memory = malloc(s.bytes);
    CHECK_STATUS(TOPK_OK, topk_accumulator_init(context, &problem, s.memory, s.bytes, NULL));
    return s;
}

static void push(const state *s, int64_t first, int64_t length) {
    topk_input chunk = TOPK_INPUT_INIT;
    chunk.values = element(0, first);
    CHECK_STATUS(TOPK_OK, topk_accumulator_push(context, &problem, s->memory, s->bytes, &chunk, length,
                                                FIRST + first, NULL));
}

/* Elements that a state gets now: those that no bar leaves out. */
static void mark(int64_t first, int64_t length) {
    for (int64_t row = 0; row < ROWS; row++) {
        for (int64_t e = first; e < first + length; e++) {
            takes_part[row][e] = raised[row] < 0 || !is_behind(row, e, raised[row]);
        }
    }
}

/* To some element of each row, or not at all. */
static void raise_bars(const state *s, random_state *random) {
    char bars[ROWS * ELEMENT_BYTES];
    int64_t positions[ROWS];
    for (int64_t row = 0; row < ROWS; row++) {
        const int64_t e = random_below(random, STREAM);
        element_put_bits(problem.type, bars, row, element_get_bits(problem.type, values, row * STREAM + e));
        positions[row] = random_below(random, 3) == 0 ? -1 : FIRST + e;
        if (positions[row] >= 0 && (raised[row] < 0 || is_behind(row, raised[row], e))) {
            raised[row] = e;
        }
    }
    CHECK_STATUS(TOPK_OK,
                 topk_accumulator_raise(context, &problem, s->memory, s->bytes, bars, positions, NULL));
}

/* Without a bar a row has the padding value. */
static void check_bar(int64_t row, uint64_t bits, int64_t position) {
    uint64_t wanted = 0;
    int64_t count = 0;
    if (position < 0) {
        oracle_write_padding(problem.type, problem.direction, &wanted);
        CHECK(position == -1 && raised[row] < 0);
    } else {
        const int64_t bar = position - FIRST;
        oracle_write_class(problem.type, problem.rank, element(row, bar), &wanted);
        for (int64_t e = 0; e < STREAM; e++) {
            count += takes_part[row][e] && !is_behind(row, e, bar);
        }
        CHECK(count >= problem.k_max || bar == raised[row]);
        CHECK(raised[row] < 0 || !is_behind(row, bar, raised[row]));
        bars_seen++;
    }
    CHECK(bits == element_get_bits(problem.type, &wanted, 0));
}

static void check_bars(const state *s) {
    char bars[ROWS * ELEMENT_BYTES];
    int64_t positions[ROWS];
    CHECK_STATUS(TOPK_OK,
                 topk_accumulator_bar(context, &problem, s->memory, s->bytes, bars, positions, NULL));
    for (int64_t row = 0; row < ROWS; row++) {
        check_bar(row, element_get_bits(problem.type, bars, row), positions[row]);
    }
}

/* The k best of what took part. */
static void check_results(const state *s) {
    static int64_t indices[ROWS * K_MOST];
    static oracle_entry ranking[STREAM];
    CHECK_STATUS(TOPK_OK, topk_accumulator_peek(context, &problem, s->memory, s->bytes, NULL, indices, NULL));
    for (int64_t row = 0; row < ROWS; row++) {
        int64_t at = 0;
        oracle_rank(&problem, element(row, 0), STREAM, ranking);
        for (int64_t i = 0; i < STREAM && at < problem.k_max; i++) {
            if (takes_part[row][ranking[i].position]) {
                CHECK(indices[row * problem.k_max + at++] == FIRST + ranking[i].position);
            }
        }
        CHECK(at == problem.k_max || indices[row * problem.k_max + at] == -1);
    }
}

static void draw(random_state *random) {
    static const int64_t ks[] = {1, 2, 7, 40, 300, K_MOST};
    problem = (topk_problem)TOPK_PROBLEM_INIT;
    problem.type = (topk_type)(1 + random_below(random, 14));
    problem.index_type = TOPK_INDEX_I64;
    problem.direction = (topk_direction)random_below(random, 2);
    problem.rank = (topk_rank)random_below(random, 2);
    problem.nan = (topk_nan)random_below(random, 2);
    problem.rows = ROWS;
    problem.k_max = ks[random_below(random, sizeof ks / sizeof ks[0])];
    problem.row_stride = problem.length_max = STREAM;
    for (int64_t row = 0; row < ROWS; row++) {
        generate(&generators[random_below(random, generator_count)], problem.type, element(row, 0), STREAM,
                 random);
        raised[row] = -1;
    }
    memset(takes_part, 0, sizeof takes_part);
}

static void run_scenario(random_state *random) {
    draw(random);
    state s = begin();
    int64_t length;
    for (int64_t first = 0; first < STREAM; first += length) {
        length = 1 + random_below(random, random_below(random, 3) == 0 ? STREAM - first : STREAM / CHUNKS);
        length = length < STREAM - first ? length : STREAM - first;
        if (random_below(random, 6) == 0) {
            raise_bars(&s, random);
        }
        mark(first, length);
        if (random_below(random, 4) > 0) {
            push(&s, first, length);
        } else { /* a merge is a later chunk */
            state other = begin();
            push(&other, first, length);
            CHECK_STATUS(TOPK_OK, topk_accumulator_merge(context, &problem, s.memory, s.bytes, other.memory,
                                                         other.bytes, NULL));
            free(other.memory);
        }
        check_bars(&s);
        if (random_below(random, 8) == 0) {
            check_results(&s);
        }
    }
    check_results(&s);
    free(s.memory);
}

/* Each of two states gets half of a stream, and the bar of the other: merged, they have the k best of all. */
static void run_shared(random_state *random) {
    draw(random);
    const state s[2] = {begin(), begin()};
    char bars[ROWS * ELEMENT_BYTES];
    int64_t positions[ROWS];
    memset(takes_part, true, sizeof takes_part);
    for (int64_t first = 0, which = 0; first < STREAM; first += STREAM / CHUNKS, which ^= 1) {
        push(&s[which], first, STREAM / CHUNKS);
        CHECK_STATUS(TOPK_OK, topk_accumulator_bar(context, &problem, s[which].memory, s[which].bytes, bars,
                                                   positions, NULL));
        CHECK_STATUS(TOPK_OK, topk_accumulator_raise(context, &problem, s[which ^ 1].memory,
                                                     s[which ^ 1].bytes, bars, positions, NULL));
    }
    CHECK_STATUS(TOPK_OK, topk_accumulator_merge(context, &problem, s[0].memory, s[0].bytes, s[1].memory,
                                                 s[1].bytes, NULL));
    check_results(&s[0]);
    free(s[0].memory);
    free(s[1].memory);
}

int main(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.threads = 1;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    for (uint64_t seed = 0; seed < SCENARIOS && check_failures < 10; seed++) {
        random_state random = {seed};
        if (seed % 4 == 0) {
            run_shared(&random);
        } else {
            run_scenario(&random);
        }
        if (check_failures > 0) {
            fprintf(stderr, "    in scenario %" PRIu64 "\n", seed);
        }
    }
    CHECK(bars_seen > SCENARIOS);
    topk_context_destroy(context);
    return check_report();
}
