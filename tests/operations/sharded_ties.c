/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows whose positions are dealt out to ranks: by a stride, or by a table. Ties are decided as
 * docs/sharded.md says, by more rounds over the positions of ties. All ranks together have the results
 * of one selection from the whole.
 *
 * Arguments: cpu and the number of threads; or cuda, over the emulated GPU, and N: one in N of the scenarios.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "generators.h"
#include "topk_sharded.h"
#include "topk_simple.h"

enum { SCENARIOS = 120, ROWS = 3, LENGTH_MOST = 700, RANKS_MOST = 5, SLOTS = ROWS * LENGTH_MOST };

typedef struct rank {
    int64_t length, table[LENGTH_MOST]; /* position in the row of each element */
    _Alignas(8) unsigned char values[SLOTS * 8];
    int64_t better[ROWS], equal[ROWS], own_better[ROWS], own_k[ROWS]; /* of the elements */
    int64_t ties[ROWS], tied[SLOTS];                                  /* their positions, row by row */
} rank;

/* The shards of one problem: elements, or the positions of ties. */
typedef struct shards {
    topk_problem problem[RANKS_MOST];
    topk_input input[RANKS_MOST];
    void *state[RANKS_MOST];
    size_t bytes[RANKS_MOST];
    int64_t *counters, *sums;
    int rounds;
} shards;

typedef struct scenario {
    topk_problem problem; /* of the whole, results by position */
    int64_t ks[ROWS];
    int count;
    size_t bytes; /* of an element */
    _Alignas(8) unsigned char values[SLOTS * 8], kth[ROWS * 8], classes[SLOTS * 8];
    int64_t last[ROWS]; /* tied position that is a result */
    rank ranks[RANKS_MOST];
} scenario;

static topk_simple *simple;
static topk_context *context;
static scenario s;

static void deal(random_state *random) {
    const bool by_stride = random_below(random, 2) == 0;
    int64_t order[LENGTH_MOST];
    const int64_t n = s.problem.length_max;
    for (int64_t i = 0; i < n; i++) { /* a table lists its positions in any order */
        const int64_t other = by_stride ? i : random_below(random, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (int i = 0; i < s.count; i++) {
        s.ranks[i].length = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        rank *to = &s.ranks[by_stride ? i % s.count : random_below(random, s.count)];
        to->table[to->length++] = order[i];
    }
    for (int i = 0; i < s.count; i++) {
        rank *to = &s.ranks[i];
        for (int64_t r = 0; r < s.problem.rows; r++) {
            for (int64_t e = 0; e < to->length; e++) {
                memcpy(to->values + (size_t)(r * to->length + e) * s.bytes,
                       s.values + (size_t)(r * n + to->table[e]) * s.bytes, s.bytes);
            }
        }
    }
}

static void draw(random_state *random) {
    topk_problem *p = &s.problem;
    *p = (topk_problem)TOPK_PROBLEM_INIT;
    p->type = (topk_type)(1 + random_below(random, TOPK_U64));
    p->index_type = TOPK_INDEX_I64;
    p->direction = (topk_direction)random_below(random, 2);
    p->rank = (topk_rank)random_below(random, 2);
    p->nan = (topk_nan)random_below(random, 2);
    p->order = TOPK_ORDER_BY_POSITION;
    p->rows = 1 + random_below(random, ROWS);
    p->length_max = 1 + random_below(random, LENGTH_MOST);
    p->k_max = p->length_max;
    s.bytes = topk_type_size(p->type);
    s.count = 1 + (int)random_below(random, RANKS_MOST);
    generate(&generators[random_below(random, generator_count)], p->type, s.values, p->rows * p->length_max,
             random);
    for (int64_t r = 0; r < p->rows; r++) {
        s.ks[r] = random_below(random, p->length_max + 1);
    }
    deal(random);
}

/* All rounds; `k` is the same on all ranks. */
static void narrow_down(shards *of, const int64_t *k) {
    size_t counters = 0;
    for (int i = 0; i < s.count; i++) {
        topk_sharded_properties properties = TOPK_SHARDED_PROPERTIES_INIT;
        CHECK_STATUS(TOPK_OK, topk_sharded_query(context, &of->problem[i], &properties));
        of->bytes[i] = properties.state_bytes;
        of->state[i] = malloc(properties.state_bytes);
        of->rounds = properties.rounds;
        counters = (size_t)properties.counters;
    }
    of->counters = malloc(counters * sizeof(int64_t) + 1);
    of->sums = malloc(counters * sizeof(int64_t) + 1);
    if (of->counters == NULL || of->sums == NULL) {
        abort();
    }
    for (int i = 0; i < s.count; i++) {
        CHECK_STATUS(TOPK_OK, topk_sharded_begin(context, &of->problem[i], of->state[i], of->bytes[i], k,
                                                 of->counters, NULL));
    }
    for (int round = 0; round < of->rounds; round++) {
        for (int i = 0; i < s.count; i++) {
            CHECK_STATUS(TOPK_OK, topk_sharded_count(context, &of->problem[i], of->state[i], of->bytes[i],
                                                     round, &of->input[i], of->counters, NULL));
        }
        memcpy(of->sums, of->counters, counters * sizeof(int64_t));
        for (int i = 0; i < s.count; i++) {
            CHECK_STATUS(TOPK_OK, topk_sharded_advance(context, &of->problem[i], of->state[i], of->bytes[i],
                                                       round, of->sums, of->counters, NULL));
        }
    }
    free(of->counters);
    free(of->sums);
}

static void find_kth(void) {
    shards of = {.rounds = 0};
    for (int i = 0; i < s.count; i++) {
        of.problem[i] = s.problem;
        of.problem[i].length_max = s.ranks[i].length;
        of.input[i] = (topk_input)TOPK_INPUT_INIT;
        of.input[i].values = s.ranks[i].values;
    }
    narrow_down(&of, s.ks);
    for (int i = 0; i < s.count; i++) {
        topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
        output.kth = s.kth;
        output.better = s.ranks[i].better;
        output.equal = s.ranks[i].equal;
        output.own_better = s.ranks[i].own_better;
        CHECK_STATUS(TOPK_OK, topk_sharded_result(context, &of.problem[i], of.state[i], of.bytes[i], NULL,
                                                  &output, NULL));
        free(of.state[i]);
    }
}

/* Elements that tie with the k-th have its class: the k-th of a row of one element is its own class, NaN and
 * magnitudes included. */
static void list_ties(rank *of) {
    unsigned char mask[SLOTS];
    int64_t offsets[ROWS + 1], found[SLOTS];
    topk_problem p = s.problem;
    topk_input input = TOPK_INPUT_INIT;
    topk_predicate ties = TOPK_PREDICATE_INIT;
    p.rows = s.problem.rows * of->length;
    p.length_max = p.k_max = 1;
    input.values = of->values;
    CHECK_STATUS(TOPK_OK, topk_simple_run_kth(simple, &p, &input, s.classes, NULL, NULL, NULL));
    for (int64_t i = 0; i < p.rows; i++) {
        mask[i] =
            memcmp(s.classes + (size_t)i * s.bytes, s.kth + (size_t)(i / of->length) * s.bytes, s.bytes) == 0;
    }
    ties.kind = TOPK_BYTE_MASK;
    ties.mask = mask;
    CHECK_STATUS(TOPK_OK, topk_simple_where(simple, s.problem.type, of->values, s.problem.rows, of->length,
                                            &ties, NULL, found, SLOTS, offsets));
    for (int64_t r = 0; r < s.problem.rows; r++) {
        of->ties[r] = offsets[r + 1] - offsets[r];
        for (int64_t t = 0; t < of->ties[r]; t++) {
            of->tied[r * of->length + t] = of->table[found[offsets[r] + t]];
        }
    }
}

/* The (k - better)-th smallest of the positions is the last one that is a result. */
static void decide_ties(void) {
    shards of = {.rounds = 0};
    int64_t wanted[ROWS];
    for (int64_t r = 0; r < s.problem.rows; r++) {
        wanted[r] = s.ks[r] - s.ranks[0].better[r];
    }
    for (int i = 0; i < s.count; i++) {
        list_ties(&s.ranks[i]);
        of.problem[i] = (topk_problem)TOPK_PROBLEM_INIT;
        of.problem[i].type = TOPK_I64;
        of.problem[i].direction = TOPK_SMALLEST;
        of.problem[i].rows = s.problem.rows;
        of.problem[i].length_max = s.ranks[i].length;
        of.problem[i].k_max = s.problem.k_max;
        of.input[i] = (topk_input)TOPK_INPUT_INIT;
        of.input[i].values = s.ranks[i].tied;
        of.input[i].lengths = s.ranks[i].ties;
    }
    narrow_down(&of, wanted);
    for (int i = 0; i < s.count; i++) {
        topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
        output.kth = s.last;
        output.own_k = s.ranks[i].own_k;
        CHECK_STATUS(TOPK_OK, topk_sharded_result(context, &of.problem[i], of.state[i], of.bytes[i], NULL,
                                                  &output, NULL));
        free(of.state[i]);
    }
}

/* The results of a rank: what is better than the k-th, and ties up to the last one. */
static void mark_results(const rank *of, bool *marks) {
    int64_t best[SLOTS];
    topk_problem p = s.problem;
    topk_input input = TOPK_INPUT_INIT;
    p.length_max = of->length;
    p.k_max = of->length;
    input.values = of->values;
    input.k = of->own_better;
    CHECK_STATUS(TOPK_OK, topk_simple_run_select(simple, &p, &input, NULL, best, NULL));
    for (int64_t r = 0; r < s.problem.rows; r++) {
        int64_t ties = 0;
        for (int64_t i = 0; i < of->own_better[r]; i++) {
            marks[r * s.problem.length_max + of->table[best[r * of->length + i]]] = true;
        }
        for (int64_t t = 0; t < of->ties[r] && s.ks[r] > 0; t++) {
            const int64_t position = of->tied[r * of->length + t];
            ties += position <= s.last[r];
            marks[r * s.problem.length_max + position] |= position <= s.last[r];
        }
        CHECK(ties == of->own_k[r]);
    }
}

static void compare(void) {
    bool marks[SLOTS] = {false};
    int64_t whole[SLOTS];
    topk_input input = TOPK_INPUT_INIT;
    input.values = s.values;
    input.k = s.ks;
    CHECK_STATUS(TOPK_OK, topk_simple_run_select(simple, &s.problem, &input, NULL, whole, NULL));
    for (int i = 0; i < s.count; i++) {
        mark_results(&s.ranks[i], marks);
    }
    for (int64_t r = 0; r < s.problem.rows; r++) {
        int64_t marked = 0;
        for (int64_t i = 0; i < s.problem.length_max; i++) {
            marked += marks[r * s.problem.length_max + i];
        }
        CHECK(marked == s.ks[r]);
        for (int64_t i = 0; i < s.ks[r]; i++) {
            CHECK(marks[r * s.problem.length_max + whole[r * s.problem.k_max + i]]);
        }
    }
}

int main(int argc, char **argv) {
    const bool on_gpu = argc > 1 && strcmp(argv[1], "cuda") == 0;
    const int number = argc > 2 ? atoi(argv[2]) : 1;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = on_gpu ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    options.threads = on_gpu ? 0 : number;
    if (!CHECK_STATUS(TOPK_OK, topk_simple_create(&options, &simple))) {
        return check_report();
    }
    context = topk_simple_context(simple);
    for (int i = 0; i < SCENARIOS; i += on_gpu ? number : 1) {
        random_state random = {(uint64_t)i};
        const int failed = check_failures;
        draw(&random);
        find_kth();
        decide_ties();
        compare();
        if (check_failures != failed) {
            fprintf(stderr, "    seed %d: %s, %d ranks, %" PRId64 " elements\n", i,
                    topk_type_name(s.problem.type), s.count, s.problem.length_max);
        }
    }
    topk_simple_destroy(simple);
    return check_report();
}
