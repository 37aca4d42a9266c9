/* SPDX-License-Identifier: Apache-2.0
 *
 * How often a sample of bracket misleads it, on the emulated GPU: over 10^5 rows no oftener than
 * docs/methods/bracket-gpu.md proves. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "cuda/bracket/sizes.h"
#include "reached.h"

enum {
    BATCHES = 500,
    ROWS = 200, /* of a batch: so many that each block has rows of its own */
    LENGTH_MIN = 2048,
    LENGTH_MAX = 2900,
    K_MAX = 24,
    GROUP = 4, /* float32 elements of 16 bytes */
    SAMPLES = BRACKET_GROUPS_MORE * BRACKET_THREADS * GROUP
};

/* How alike the elements of a group are. */
enum kind { SHUFFLED, GROUPS_SHUFFLED, ROTATED, RUN, KINDS };

static const char *const kinds[KINDS] = {"shuffled", "groups shuffled", "rotated", "a run of the best"};

static uint64_t state = 20261123;

static uint32_t random_below(uint32_t end) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 32) * end >> 32);
}

/* Shuffles runs of so many elements. */
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
    const double drawn_together = kind == SHUFFLED ? 1 : GROUP;
    const double hits = ceil(rank / drawn_together);
    /* A stretch is as long as this on average, or at least. */
    const double stretch = kind == SHUFFLED || kind == GROUPS_SHUFFLED ? length / (double)SAMPLES
                                                                       : floor(length / (double)SAMPLES);
    const double mean = k / stretch / drawn_together;
    return hits <= mean ? 1 : exp(hits - mean - hits * log(hits / mean));
}

/* Selects from a batch of rows; returns how many of them missed. */
static unsigned long misses_of(uint64_t seed, const float *values, uint32_t length, uint32_t k, float *best) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    topk_context *context = NULL;
    size_t bytes = 0;
    const unsigned long before = topk_reached_counts[REACHED_BRACKET_GPU_MISSED];
    options.backend = TOPK_BACKEND_CUDA;
    options.seed = seed;
    problem.type = TOPK_F32;
    problem.rows = ROWS;
    problem.length_max = length;
    problem.k_max = k;
    problem.order = TOPK_ORDER_ANY;
    problem.ties = TOPK_TIES_ANY;
    problem.method = "bracket";
    input.values = values;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &bytes));
    void *workspace = malloc(bytes + 1);
    CHECK_STATUS(TOPK_OK, topk_select(context, &problem, &input, best, NULL, workspace, bytes, NULL));
    free(workspace);
    topk_context_destroy(context);
    return (topk_reached_counts[REACHED_BRACKET_GPU_MISSED] - before) / BRACKET_THREADS;
}

int main(void) {
    float *values = malloc((size_t)ROWS * LENGTH_MAX * sizeof(float));
    float *best = malloc((size_t)ROWS * K_MAX * sizeof(float));
    unsigned long misses[KINDS] = {0};
    double bounds[KINDS] = {0};
    for (uint64_t batch = 0; batch < BATCHES; batch++) {
        const enum kind kind = (enum kind)(batch % KINDS);
        const uint32_t length = LENGTH_MIN + GROUP * random_below((LENGTH_MAX - LENGTH_MIN) / GROUP + 1);
        const uint32_t k = 1 + random_below(K_MAX);
        for (size_t row = 0; row < ROWS; row++) {
            make_row(values + row * length, length, k, kind);
        }
        misses[kind] += misses_of(batch + 1, values, length, k, best);
        bounds[kind] += ROWS * bound_of(length, k, kind);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        printf("%s: %lu of %d rows missed; the bound is %.2g\n", kinds[kind], misses[kind],
               BATCHES / KINDS * ROWS, bounds[kind]);
        CHECK((double)misses[kind] <= bounds[kind] + 5 * sqrt(bounds[kind]) + 1);
    }
    free(values);
    free(best);
    return check_report();
}
