/* SPDX-License-Identifier: Apache-2.0
 *
 * The way out of bracket on the emulated GPU, with the blocks that suit it, where the last digit leaves one
 * candidate less than a block puts in order, as many, and one more. The sample misses for sure: what is best
 * lies where it is drawn. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cuda/bracket/sizes.h"
#include "expected.h"
#include "gaps.h"
#include "guarded.h"
#include "reached.h"

enum {
    ROWS_MAX = 8, /* each has a block to itself; a row alone is shared */
    LENGTH = 6000,
    K_MAX = 60,
    GROUP = 4, /* elements of 16 bytes */
    PIECES = BRACKET_GROUPS_MANY * BRACKET_THREADS,
    SEED = 7
};

/* Of LENGTH elements the sample expects k / LENGTH of its own above the k-th; `best_ones` of them are, and
 * nothing else is: as many as the threshold's rank, and fewer than k. Where one block puts fewer candidates
 * in order it has fewer sorted results, too. */
static uint32_t k = K_MAX, best_ones = 50, sent = BRACKET_SENT;

static void take_small_blocks(void) {
    k = 40;
    best_ones = 38;
    sent = BRACKET_QUARTER_SENT;
}

/* What the first digit tells apart; candidates differ within a digit of theirs. */
static const uint32_t best = 0xf0000000, candidate = 0x80000000, other = 0x10000000;

enum { CANDIDATE_STEP = 0x40000, CANDIDATE_TURN = 131 };

static topk_context *context;
static _Alignas(16) uint32_t values[ROWS_MAX * LENGTH];

/* As in select/chance.cuh. */
static uint32_t hash_of(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* The first element of a sampled group, as in bracket/sample.cuh: rows begin on 16 bytes. */
static uint32_t sampled_position(uint32_t piece) {
    const uint64_t groups = LENGTH / GROUP;
    const uint32_t begin = (uint32_t)(groups * piece / PIECES),
                   end = (uint32_t)(groups * (piece + 1) / PIECES);
    return (begin + (uint32_t)((uint64_t)hash_of(piece ^ SEED) * (end - begin) >> 32)) * GROUP;
}

static void make_row(uint32_t *row, uint32_t candidates, bool are_tied) {
    static bool is_sampled[LENGTH];
    uint32_t made = 0;
    for (uint32_t e = 0; e < LENGTH; e++) {
        row[e] = other + e * 8;
        is_sampled[e] = false;
    }
    for (uint32_t piece = 0; piece < PIECES; piece++) {
        for (uint32_t e = 0; e < GROUP; e++) {
            is_sampled[sampled_position(piece) + e] = true;
        }
    }
    for (uint32_t b = 0; b < best_ones; b++) {
        row[sampled_position(b / GROUP * 10) + b % GROUP] = best + b;
    }
    for (uint32_t e = 5; made < candidates; e = (e + 31) % LENGTH) {
        if (!is_sampled[e] && row[e] < candidate) {
            row[e] = candidate + (are_tied ? 0 : made * 37 % CANDIDATE_TURN * CANDIDATE_STEP);
            made++;
        }
    }
}

static int by_index(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static topk_problem problem_of(int64_t rows, topk_order order) {
    topk_problem p = TOPK_PROBLEM_INIT;
    p.type = TOPK_U32;
    p.rows = rows;
    p.length_max = p.row_stride = LENGTH;
    p.k_max = k;
    p.order = order;
    p.method = "bracket";
    return p;
}

static guarded workspace_for(topk_operation operation, const topk_problem *p) {
    size_t bytes = 0;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, operation, p, &bytes));
    return guarded_allocate(bytes, GUARDED_AT_END);
}

static void check_select(int64_t rows, topk_order order) {
    static uint32_t best_values[ROWS_MAX * K_MAX], wanted_values[ROWS_MAX * K_MAX];
    static int32_t indices[ROWS_MAX * K_MAX], wanted[ROWS_MAX * K_MAX];
    const topk_problem p = problem_of(rows, order);
    topk_input input = TOPK_INPUT_INIT;
    guarded workspace = workspace_for(TOPK_OPERATION_SELECT, &p);
    input.values = values;
    expected_select(&p, &input, wanted_values, wanted);
    CHECK_STATUS(TOPK_OK, topk_select(context, &p, &input, best_values, indices, workspace.data,
                                      workspace.bytes, NULL));
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t s = 0; s < k; s++) {
            CHECK(best_values[r * k + s] == values[r * LENGTH + indices[r * k + s]]);
        }
        if (order == TOPK_ORDER_ANY) {
            qsort(indices + r * k, k, sizeof *indices, by_index);
            qsort(wanted + r * k, k, sizeof *wanted, by_index);
        }
    }
    CHECK(memcmp(indices, wanted, (size_t)rows * k * sizeof *wanted) == 0);
    CHECK(guarded_intact(&workspace));
    guarded_free(&workspace);
}

static void check_kth(int64_t rows) {
    static uint32_t kth[ROWS_MAX], wanted_kth[ROWS_MAX];
    static int64_t counts[2][ROWS_MAX], wanted[2][ROWS_MAX];
    const topk_problem p = problem_of(rows, TOPK_ORDER_BEST_FIRST);
    topk_input input = TOPK_INPUT_INIT;
    guarded workspace = workspace_for(TOPK_OPERATION_KTH, &p);
    input.values = values;
    expected_kth(&p, &input, wanted_kth, wanted[0], wanted[1]);
    CHECK_STATUS(TOPK_OK, topk_kth(context, &p, &input, kth, counts[0], counts[1], workspace.data,
                                   workspace.bytes, NULL));
    for (int64_t r = 0; r < rows; r++) {
        CHECK(kth[r] == wanted_kth[r]);
        CHECK(counts[0][r] == wanted[0][r] && counts[1][r] == wanted[1][r]);
    }
    CHECK(guarded_intact(&workspace));
    guarded_free(&workspace);
}

/* What a block puts in order: the candidates; or, of sorted results, also what is better than these. */
enum kind { ANY_ORDER, SORTED, KTH, KINDS };

static void check_way_out(enum kind kind, int64_t rows, int beyond, bool are_tied) {
    const enum topk_reached_path path =
        rows == 1 ? REACHED_BRACKET_GPU_WAY_OUT : REACHED_BRACKET_GPU_WAY_OUT_ALONE;
    const unsigned long before = topk_reached_counts[path];
    const uint32_t candidates = sent + (uint32_t)beyond - (kind == SORTED ? best_ones : 0);
    for (int64_t r = 0; r < rows; r++) {
        make_row(values + r * LENGTH, candidates, are_tied);
    }
    if (kind == KTH) {
        check_kth(rows);
    } else {
        check_select(rows, kind == SORTED ? TOPK_ORDER_BEST_FIRST : TOPK_ORDER_ANY);
    }
    CHECK(topk_reached_counts[path] != before);
    if (!CHECK(topk_gaps_intact())) {
        fprintf(stderr, "    kind %d, %lld rows, %d beyond, tied %d\n", kind, (long long)rows, beyond,
                are_tied);
    }
}

int main(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    const char *kib = getenv("TOPK_SHARED_KIB"); /* of the emulated device */
    if (kib != NULL && strtol(kib, NULL, 10) <= BRACKET_QUARTER_KIB) {
        take_small_blocks();
    }
    options.backend = TOPK_BACKEND_CUDA;
    options.seed = SEED;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    for (int kind = 0; kind < KINDS; kind++) {
        for (int beyond = -1; beyond <= 1; beyond++) {
            for (int tied = 0; tied < 2; tied++) {
                check_way_out((enum kind)kind, 1, beyond, tied != 0);
                check_way_out((enum kind)kind, ROWS_MAX, beyond, tied != 0);
            }
        }
    }
    topk_context_destroy(context);
    return check_report();
}
