/* SPDX-License-Identifier: Apache-2.0
 *
 * topk_merge(): which problems and lists it takes, what it says of others, its buffers; and selections from
 * parts of rows, merged, against those from whole rows. */
#include <stddef.h>
#include <stdlib.h>

#include "fixture.h"
#include "random.h"

static fixture f;
static topk_context *context;

static void reset(void) {
    fixture_init(&f, context);
    f.input.indices = f.payload;
}

static void check_sentence(const char *part) {
    if (!CHECK(strstr(topk_last_error(), part) != NULL)) {
        fprintf(stderr, "    '%s' in '%s'\n", part, topk_last_error());
    }
}

static void expect(topk_status wanted, const char *sentence) {
    EXPECT(&f, call_merge, wanted);
    if (wanted != TOPK_OK) {
        check_sentence(sentence);
    }
}

static topk_status size_of_merge(fixture *g) {
    size_t bytes = 0;
    return topk_workspace_size(g->context, TOPK_OPERATION_MERGE, &g->problem, &bytes);
}

static void check_problems(void) {
    for (int type = TOPK_F16; type <= TOPK_U64; type++) {
        reset();
        f.problem.type = (topk_type)type;
        f.problem.rows = 1;
        f.problem.rank = TOPK_BY_MAGNITUDE;
        EXPECT(&f, call_merge, TOPK_OK);
    }
    for (int shape = TOPK_SHAPE_SPANS; shape <= TOPK_SHAPE_CSR; shape++) {
        reset();
        f.problem.shape = (topk_shape)shape;
        f.problem.elements_max = ELEMENTS;
        EXPECT(&f, size_of_merge, TOPK_ERROR_UNSUPPORTED);
        expect(TOPK_ERROR_UNSUPPORTED, "problem->shape");
    }
    reset();
    f.problem.max_iterations = 4;
    expect(TOPK_ERROR_CONTRADICTION, "problem->max_iterations");
    reset();
    f.problem.method = "rows";
    expect(TOPK_ERROR_METHOD_CANNOT, "does not do merge");
    reset();
    f.problem.k_max = INT64_MAX / 16;
    expect(TOPK_ERROR_OVERFLOW, "k_max");
}

static void check_lists(void) {
    reset();
    f.lists.lists = -1;
    expect(TOPK_ERROR_OUT_OF_RANGE, "lists->lists is -1");
    reset();
    f.lists.list_stride = -1;
    expect(TOPK_ERROR_OUT_OF_RANGE, "lists->list_stride is -1");
    reset();
    f.lists.sorted = (topk_sorted)2;
    expect(TOPK_ERROR_UNKNOWN_ENUM, "lists->sorted is 2");
    for (int64_t bytes = -1; bytes <= 17; bytes++) {
        reset();
        f.lists.payload_bytes = bytes;
        f.out_mask = f.results; /* each payload begins at a boundary of its own size */
        f.out_values = NULL;
        f.problem.rows = 1;
        f.problem.length_max = f.problem.k_max = 5;
        const bool is_known = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
        EXPECT(&f, call_merge,
               bytes == 0 ? TOPK_ERROR_CONTRADICTION
               : is_known ? TOPK_OK
                          : TOPK_ERROR_OUT_OF_RANGE);
    }
    reset();
    f.lists.payload_bytes = 0;
    expect(TOPK_ERROR_CONTRADICTION, "lists->payload");
    f.lists.payload = NULL;
    expect(TOPK_ERROR_CONTRADICTION, "output->payload");
    f.out_mask = NULL;
    expect(TOPK_OK, "");
    static const int64_t large[] = {INT64_MAX, INT64_MAX / LENGTH / ROWS + 1, INT64_MAX / 16 / LENGTH};
    for (int i = 0; i < 3; i++) {
        reset();
        f.lists.lists = large[i];
        expect(TOPK_ERROR_OVERFLOW, "exceed 2^63");
        reset();
        f.lists.lists = 2;
        f.lists.list_stride = INT64_MAX - i;
        expect(TOPK_ERROR_OVERFLOW, "exceed 2^63");
    }
}

static void check_missing_buffers(void) {
    reset();
    f.out_values = f.out_indices = f.out_mask = NULL;
    f.lists.payload = NULL; /* nobody asks for it */
    expect(TOPK_OK, "");
    f.out_mask = f.bits;
    expect(TOPK_ERROR_NULL_POINTER, "lists->payload is NULL");
    reset();
    f.input.values = NULL;
    expect(TOPK_ERROR_NULL_POINTER, "input->values is NULL");
    f.lists.lists = 0;
    expect(TOPK_OK, "");
    for (int i = 0; i < ROWS * K; i++) {
        CHECK(f.indices[i] == -1 && f.results[i] < -1e38F);
    }
    reset();
    f.problem.length_max = 0;
    f.input.values = NULL;
    expect(TOPK_OK, "");
    reset();
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_merge(context, &f.problem, &f.input, NULL, f.results,
                                                     f.indices, NULL, f.memory, sizeof f.memory, NULL));
    check_sentence("lists is NULL");
    f.input.indices = NULL;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_merge(context, &f.problem, &f.input, &f.lists, f.results,
                                                     f.indices, NULL, f.memory, sizeof f.memory, NULL));
    check_sentence("input->indices is NULL");
    const void **const fields[] = {&f.input.begins, &f.input.ends, &f.input.offsets};
    for (int i = 0; i < 3; i++) {
        reset();
        *fields[i] = f.extents;
        expect(TOPK_ERROR_CONTRADICTION, "does not go with merging");
    }
}

static void check_buffers(void) {
    reset();
    f.input.indices = (const char *)f.payload + 2;
    expect(TOPK_ERROR_MISALIGNED, "input->indices");
    reset();
    f.lists.payload_bytes = 2;
    f.problem.rows = 1;
    f.lists.payload = f.mask + 1;
    expect(TOPK_ERROR_MISALIGNED, "lists->payload");
    reset();
    f.out_mask = f.results;
    expect(TOPK_ERROR_OVERLAP, "payload");
    reset();
    f.lists.payload = f.results + ROWS * K;
    expect(TOPK_OK, "");
    f.lists.payload = (const char *)(f.results + ROWS * K) - 1;
    expect(TOPK_ERROR_OVERLAP, "lists->payload");
    reset(); /* lengths of two lists of each row */
    f.problem.extent_type = TOPK_INDEX_I64;
    f.problem.length_max = LENGTH / 2;
    f.problem.row_stride = LENGTH;
    f.lists.lists = 2;
    f.lists.list_stride = LENGTH / 2;
    f.input.lengths = f.counts + ROWS;
    f.out_values = f.results;
    f.workspace = f.counts + ROWS + 2 * ROWS - 1;
    EXPECT(&f, call_merge, TOPK_ERROR_OVERLAP);
}

/* ---- Parts of rows ---- */

enum { PARTS = 4, PART = 25, WHOLE = PARTS * PART, MOST = 12 };

/* Elements with many ties, some of them zeros of both signs and NaN. */
static float draw(random_state *random) {
    static const float odd[] = {0.0F, -0.0F, __builtin_nanf("1"), -__builtin_nanf("2"), __builtin_inff()};
    const int64_t drawn = random_below(random, 12);
    return drawn < 5 ? odd[drawn] : (float)(drawn - 8);
}

static void select_whole(const topk_problem *problem, const float *rows, float *values, int64_t *indices) {
    topk_problem whole = *problem;
    topk_input input = TOPK_INPUT_INIT;
    input.values = rows;
    whole.length_max = WHOLE;
    CHECK_STATUS(TOPK_OK,
                 topk_select(context, &whole, &input, values, indices, f.memory, sizeof f.memory, NULL));
}

static void check_split(const topk_problem *problem, random_state *random, bool sorted) {
    static float rows[ROWS * WHOLE], values[PARTS][ROWS * MOST], wanted[ROWS * MOST], got[ROWS * MOST];
    static int64_t indices[PARTS][ROWS * MOST], wanted_indices[ROWS * MOST], got_indices[ROWS * MOST];
    topk_lists lists = TOPK_LISTS_INIT;
    topk_input input = TOPK_INPUT_INIT;
    topk_problem part = *problem;
    for (int e = 0; e < ROWS * WHOLE; e++) {
        rows[e] = draw(random);
    }
    select_whole(problem, rows, wanted, wanted_indices);
    part.length_max = PART;
    part.row_stride = WHOLE;
    part.order = sorted ? TOPK_ORDER_BEST_FIRST : TOPK_ORDER_ANY;
    for (int p = 0; p < PARTS; p++) {
        part.index_base = (int64_t)p * PART;
        input.values = rows + (size_t)p * PART;
        CHECK_STATUS(TOPK_OK, topk_select(context, &part, &input, values[p], indices[p], f.memory,
                                          sizeof f.memory, NULL));
    }
    part = *problem;
    part.length_max = problem->k_max;
    input.values = values;
    input.indices = indices;
    lists.lists = PARTS;
    lists.list_stride = ROWS * MOST;
    lists.sorted = sorted ? TOPK_SORTED_BEST_FIRST : TOPK_SORTED_NOT;
    CHECK_STATUS(TOPK_OK, topk_merge(context, &part, &input, &lists, got, got_indices, NULL, f.memory,
                                     sizeof f.memory, NULL));
    const size_t slots = (size_t)(ROWS * problem->k_max);
    CHECK(memcmp(got, wanted, slots * sizeof *got) == 0);
    CHECK(memcmp(got_indices, wanted_indices, slots * sizeof *got_indices) == 0);
}

static void check_splits(void) {
    random_state random = {1};
    for (int i = 0; i < 192; i++) {
        topk_problem problem = TOPK_PROBLEM_INIT;
        problem.type = TOPK_F32;
        problem.index_type = TOPK_INDEX_I64;
        problem.rows = ROWS;
        problem.k_max = 1 + i % MOST;
        problem.direction = (topk_direction)(i / 12 % 2);
        problem.rank = (topk_rank)(i / 24 % 2);
        problem.nan = (topk_nan)(i / 48 % 2);
        problem.order = i % 2 == 0 ? TOPK_ORDER_BEST_FIRST : TOPK_ORDER_BY_POSITION;
        check_split(&problem, &random, i / 96 % 2 == 0);
    }
}

int main(void) {
    context = create_cpu_context(1);
    check_problems();
    check_lists();
    check_missing_buffers();
    check_buffers();
    check_splits();
    topk_context_destroy(context);
    return check_report();
}
