/* SPDX-License-Identifier: Apache-2.0
 *
 * How often a sample of bracket misleads it, on the emulated GPU: no oftener than docs/methods/bracket-gpu.md
 * proves.
 *
 * usage: test_bracket_misses [ROWS]    of each kind */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"
#include "cuda/bracket/sizes.h"
#include "reached.h"

/* Rows for all blocks of the emulated GPU, so short beside k that samples can miss at all. */
enum {
    ROWS = 1500,
    LENGTH_MIN = 12000,
    LENGTH_MAX = 16000,
    K_MIN = 100,
    K_MAX = 150,
    GROUP = 4, /* float32 elements of 16 bytes */
    SAMPLES = BRACKET_GROUPS_MANY * BRACKET_THREADS * GROUP
};

/* How alike the elements of a group are. */
enum kind { SHUFFLED, GROUPS_SHUFFLED, ROTATED, RUN, KINDS };

static const char *const kinds[KINDS] = {"shuffled", "groups shuffled", "rotated", "a run of the best"};

static uint64_t state = 20261123;

static uint32_t random_below(uint32_t end) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 32) * end >> 32);
}

/* Shuffles runs of `run` elements. */
static void shuffle(float *row, uint32_t length, uint32_t run) {
    for (uint32_t i = length / run - 1; i > 0; i--) {
        const uint32_t j = random_below(i + 1);
        for (uint32_t e = 0; e < run; e++) {
            const float held = row[i * run + e];
            row[i * run + e] = row[j * run + e];
            row[j * run + e] = held;
        }
    }
}

/* Distinct elements. */
static void make_row(float *row, uint32_t length, uint32_t k, enum kind kind) {
    const uint32_t turn = kind == ROTATED ? random_below(length) : 0;
    for (uint32_t i = 0; i < length; i++) {
        row[i] = (float)((i + turn) % length);
    }
    if (kind == SHUFFLED || kind == RUN) {
        shuffle(row, kind == RUN ? length - k : length, 1);
    }
    if (kind == GROUPS_SHUFFLED) {
        shuffle(row, length, GROUP);
    }
    if (kind == RUN) { /* the best lie last so far */
        const uint32_t first = random_below(length - k + 1);
        for (uint32_t i = 0; i < k; i++) {
            const float held = row[first + i];
            row[first + i] = row[length - k + i];
            row[length - k + i] = held;
        }
    }
}

/* The bound of a row's probability to miss. */
static double bound_of(uint32_t length, uint32_t k, enum kind kind) {
    const double asked = SAMPLES * (double)k / length;
    const double rank = floor(fmax(asked + 5 * sqrt(asked) + 4.5, GROUP + 2));
    const bool is_shuffled = kind == SHUFFLED || kind == GROUPS_SHUFFLED;
    /* Of a stretch: its elements for each sample, on average or at least. */
    const double stretch = is_shuffled ? length / (double)SAMPLES : floor(length / (double)SAMPLES);
    const double mean = (k - 1) / stretch, drawn_together = kind == SHUFFLED ? 1 : GROUP;
    return rank <= mean ? 1 : exp((rank - mean - rank * log(rank / mean)) / drawn_together);
}

/* Selects from a row; returns whether its sample missed. */
static bool misses(topk_context *context, const float *values, uint32_t length, uint32_t k, float *best) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    size_t bytes = 0;
    const unsigned long before = topk_reached_counts[REACHED_BRACKET_GPU_MISSED];
    problem.type = TOPK_F32;
    problem.rows = 1;
    problem.length_max = length;
    problem.k_max = k;
    problem.order = TOPK_ORDER_ANY;
    problem.ties = TOPK_TIES_ANY;
    problem.method = "bracket";
    input.values = values;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &bytes));
    void *workspace = malloc(bytes + 1);
    CHECK_STATUS(TOPK_OK, topk_select(context, &problem, &input, best, NULL, workspace, bytes, NULL));
    free(workspace);
    return topk_reached_counts[REACHED_BRACKET_GPU_MISSED] != before;
}

/* Counts the rows of a kind that miss, and adds up their bounds. */
static void count_misses(enum kind kind, uint64_t rows) {
    float *values = malloc(LENGTH_MAX * sizeof(float)), *best = malloc(K_MAX * sizeof(float));
    uint64_t missed = 0;
    double bounds = 0;
    for (uint64_t row = 0; row < rows; row++) {
        const uint32_t length = LENGTH_MIN + GROUP * random_below((LENGTH_MAX - LENGTH_MIN) / GROUP + 1);
        const uint32_t k = K_MIN + random_below(K_MAX - K_MIN + 1);
        topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
        topk_context *context = NULL;
        options.backend = TOPK_BACKEND_CUDA;
        options.seed = row + 1;
        CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
        make_row(values, length, k, kind);
        missed += misses(context, values, length, k, best);
        bounds += bound_of(length, k, kind);
        topk_context_destroy(context);
    }
    printf("%s: %llu of %llu rows missed; the bound is %.2g\n", kinds[kind], (unsigned long long)missed,
           (unsigned long long)rows, bounds);
    CHECK((double)missed <= bounds + 5 * sqrt(bounds) + 1);
    CHECK(missed > 0 || kind != GROUPS_SHUFFLED); /* the rows are such that some do */
    free(values);
    free(best);
}

int main(int argc, char **argv) {
    const uint64_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : ROWS;
    for (enum kind kind = 0; kind < KINDS; kind++) {
        count_misses(kind, rows);
    }
    return check_report();
}
