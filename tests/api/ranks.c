/* SPDX-License-Identifier: Apache-2.0
 *
 * problem.ranks and k_stride: what they may be, which operations take them, how large their arrays are, and
 * who refuses them. */
#include "fixture.h"
#include "topk_accumulator.h"
#include "topk_advanced.h"
#include "topk_sharded.h"

enum { RANKS = 4 };

static fixture f;
static topk_context *context;
static int64_t ks[ROWS * RANKS + 1], better[ROWS * RANKS + 1], equal[ROWS * RANKS + 1];

static void begin(int64_t ranks, int64_t k_stride) {
    fixture_init(&f, context);
    f.problem.ranks = ranks;
    f.problem.k_stride = k_stride;
    f.problem.k_max = LENGTH;
    f.input.k = ks;
    f.out_counts = better;
    f.out_equal = equal;
}

static void check_sentence(const char *part) {
    if (!CHECK(strstr(topk_last_error(), part) != NULL)) {
        fprintf(stderr, "    '%s' in '%s'\n", part, topk_last_error());
    }
}

static void check_values(void) {
    begin(-1, 0);
    EXPECT_ALL(&f, TOPK_ERROR_OUT_OF_RANGE);
    check_sentence("problem->ranks is -1");
    begin(2, -1);
    EXPECT_ALL(&f, TOPK_ERROR_OUT_OF_RANGE);
    check_sentence("problem->k_stride is -1");
    begin(0, 1);
    EXPECT_ALL(&f, TOPK_ERROR_CONTRADICTION);
    check_sentence("problem->k_stride belongs to problem->ranks");
}

/* Operations that find no k-th have no ranks. */
static void check_operations(void) {
    size_t bytes;
    for (int operation = TOPK_OPERATION_SELECT; operation <= TOPK_OPERATION_SELECT_BY; operation++) {
        const bool is_kth = operation == TOPK_OPERATION_KTH || operation == TOPK_OPERATION_KTH_WHERE;
        begin(1, 0);
        CHECK_STATUS(is_kth ? TOPK_OK : TOPK_ERROR_CONTRADICTION,
                     topk_workspace_size(context, (topk_operation)operation, &f.problem, &bytes));
        if (!is_kth) {
            check_sentence("problem->ranks belongs to kth and kth_where");
        }
    }
}

/* Accumulators select, so ranks contradict them; a shard finds one k. */
static void check_refused(void) {
    size_t bytes;
    topk_sharded_properties properties = TOPK_SHARDED_PROPERTIES_INIT;
    begin(1, 0);
    CHECK_STATUS(TOPK_ERROR_CONTRADICTION, topk_accumulator_size(context, &f.problem, &bytes));
    check_sentence("problem->ranks belongs to");
    CHECK_STATUS(TOPK_ERROR_UNSUPPORTED, topk_sharded_query(context, &f.problem, &properties));
    check_sentence("problem->ranks is 1: shards find one");
}

static void check_overflow(void) {
    const int64_t huge = INT64_MAX / 8 / ROWS;
    begin(huge, 0);
    size_t bytes;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, TOPK_OPERATION_KTH, &f.problem, &bytes));
    f.problem.ranks++;
    EXPECT(&f, call_kth, TOPK_ERROR_OVERFLOW);
    check_sentence("ranks of 3 rows");
    begin(1, INT64_MAX / 8);
    EXPECT(&f, call_kth_where, TOPK_ERROR_OVERFLOW);
    check_sentence("with k_stride");
    f.problem.rows = 1;
    EXPECT(&f, call_kth, TOPK_OK);
}

/* Outputs and k are as large as rows and ranks say: a buffer one slot behind them does not overlap. */
static void check_buffers(void) {
    begin(RANKS, RANKS);
    f.out_equal = better + ROWS * RANKS - 1;
    EXPECT(&f, call_kth, TOPK_ERROR_OVERLAP);
    begin(RANKS, RANKS);
    f.out_counts = ks + ROWS * RANKS - 1;
    EXPECT(&f, call_kth, TOPK_ERROR_OVERLAP);
    begin(RANKS, 0);
    f.problem.rows = 1;
    f.out_counts = ks + RANKS;
    EXPECT(&f, call_kth, TOPK_OK);
    begin(RANKS, 0);
    f.out_counts = NULL;
    f.out_equal = ks + RANKS;
    f.problem.rows = 2;
    EXPECT(&f, call_kth, TOPK_OK);
}

/* Row 0 of the fixture holds 0 and 39 other numbers; repeats and any order. */
static void check_results(void) {
    static const int64_t wanted[RANKS] = {40, 1, 0, 40};
    begin(RANKS, 0);
    memcpy(ks, wanted, sizeof wanted);
    EXPECT(&f, call_kth, TOPK_OK);
    CHECK(f.results[0] == 0 && f.results[3] == 0 && f.results[1] > f.results[0]);
    CHECK(better[0] + equal[0] == LENGTH && better[1] == 0 && better[2] == 0 && equal[2] == 0);
    f.input.k = NULL; /* k_max, each */
    EXPECT(&f, call_kth, TOPK_OK);
    CHECK(f.results[1] == 0 && better[ROWS * RANKS - 1] + equal[ROWS * RANKS - 1] == LENGTH);
}

int main(void) {
    context = create_cpu_context(1);
    check_values();
    check_operations();
    check_refused();
    check_overflow();
    check_buffers();
    check_results();
    topk_context_destroy(context);
    return check_report();
}
