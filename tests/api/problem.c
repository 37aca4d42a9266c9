/* SPDX-License-Identifier: Apache-2.0
 *
 * Problems that make no sense, seen through every function that takes one. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "fixture.h"
#include "topk_accumulator.h"
#include "topk_advanced.h"

static fixture base;
static topk_context *context;

static topk_status size_of(const topk_problem *p, topk_operation operation) {
    size_t bytes = 77;
    topk_status status = topk_workspace_size(context, operation, p, &bytes);
    CHECK(status == TOPK_OK || bytes == 77);
    return status;
}

static topk_status accumulator_size_of(const topk_problem *p) {
    size_t bytes = 77;
    topk_status status = topk_accumulator_size(context, p, &bytes);
    CHECK(status == TOPK_OK || bytes == 77);
    return status;
}

static topk_status explained(const topk_problem *p) {
    char text[8] = "before";
    size_t needed = 77;
    topk_status status = topk_explain(context, TOPK_OPERATION_SELECT, p, text, sizeof text, &needed);
    CHECK(status == TOPK_OK || (strcmp(text, "before") == 0 && needed == 77));
    return status;
}

/* Every function refuses the problem with that status. */
#define REFUSED(p, status) refused(p, status, __LINE__)

static void refused(const topk_problem *p, topk_status status, int line) {
    fixture_init(&base, context);
    base.problem = *p;
    expect_all_at(&base, status, __FILE__, line);
    for (int operation = TOPK_OPERATION_SELECT; operation <= TOPK_OPERATION_MASK; operation++) {
        check_status(status, size_of(p, (topk_operation)operation), "workspace_size", __FILE__, line);
    }
    check_status(status, accumulator_size_of(p), "accumulator_size", __FILE__, line);
    check_status(status, explained(p), "explain", __FILE__, line);
}

static topk_problem valid_problem(void) {
    fixture_init(&base, context);
    return base.problem;
}

static void check_enums(void) {
    static const struct {
        size_t offset;
        int first, last;
    } fields[] = {{offsetof(topk_problem, type), TOPK_F16, TOPK_U64},
                  {offsetof(topk_problem, index_type), TOPK_INDEX_I32, TOPK_INDEX_I64},
                  {offsetof(topk_problem, extent_type), TOPK_INDEX_I32, TOPK_INDEX_I64},
                  {offsetof(topk_problem, direction), TOPK_LARGEST, TOPK_SMALLEST},
                  {offsetof(topk_problem, rank), TOPK_BY_VALUE, TOPK_BY_MAGNITUDE},
                  {offsetof(topk_problem, ties), TOPK_TIES_LOWEST_INDEX, TOPK_TIES_ANY},
                  {offsetof(topk_problem, order), TOPK_ORDER_BEST_FIRST, TOPK_ORDER_BY_POSITION},
                  {offsetof(topk_problem, nan), TOPK_NAN_AS_LARGEST, TOPK_NAN_LAST},
                  {offsetof(topk_problem, shape), TOPK_SHAPE_STRIDED, TOPK_SHAPE_CSR}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        int beyond[] = {fields[i].first - 1, fields[i].last + 1, INT32_MIN, INT32_MAX};
        for (int b = 0; b < 4; b++) {
            topk_problem p = valid_problem();
            memcpy((char *)&p + fields[i].offset, &beyond[b], sizeof beyond[b]);
            REFUSED(&p, TOPK_ERROR_UNKNOWN_ENUM);
        }
    }
}

static void check_operations(void) {
    topk_problem p = valid_problem();
    for (int operation = -1; operation <= TOPK_OPERATION_SELECT_BY + 2; operation++) {
        bool known = operation >= TOPK_OPERATION_SELECT && operation <= TOPK_OPERATION_SELECT_BY;
        topk_status wanted = known ? TOPK_OK : TOPK_ERROR_UNKNOWN_ENUM;
        CHECK_STATUS(wanted, size_of(&p, (topk_operation)operation));
        CHECK_STATUS(wanted, topk_explain(context, (topk_operation)operation, &p, NULL, 0, NULL));
    }
}

static void check_negative_counts(void) {
    static const size_t offsets[] = {
        offsetof(topk_problem, rows),         offsetof(topk_problem, length_max),
        offsetof(topk_problem, k_max),        offsetof(topk_problem, row_stride),
        offsetof(topk_problem, elements_max), offsetof(topk_problem, index_base)};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        int64_t negative[] = {-1, INT64_MIN};
        for (int n = 0; n < 2; n++) {
            topk_problem p = valid_problem();
            p.shape =
                offsets[i] == offsetof(topk_problem, elements_max) ? TOPK_SHAPE_SPANS : TOPK_SHAPE_STRIDED;
            memcpy((char *)&p + offsets[i], &negative[n], sizeof negative[n]);
            fixture_init(&base, context);
            CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, size_of(&p, TOPK_OPERATION_SELECT));
            base.problem = p;
            EXPECT_ALL(&base, TOPK_ERROR_OUT_OF_RANGE);
        }
    }
}

/* The sizes of a buffer, their sums and products stay below 2^63 bytes. */
static void check_overflow(void) {
    static const struct {
        int64_t rows, length_max, k_max, row_stride;
    } sizes[] = {{INT64_C(1) << 32, INT64_C(1) << 31, 0, 0},
                 {INT64_C(1) << 60, 0, 0, 0}, /* offsets and counts of rows */
                 {1, INT64_MAX, 1, 0},
                 {1, INT64_MAX / 4 + 1, 1, 0},
                 {INT64_MAX, 2, 1, 0},
                 {3, 10, 1, INT64_MAX},
                 {3, 10, 1, INT64_MAX / 2},
                 {2, 10, 1, INT64_MAX / 4 + 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        topk_problem p = valid_problem();
        p.index_type = TOPK_INDEX_I64;
        p.rows = sizes[i].rows;
        p.length_max = sizes[i].length_max;
        p.k_max = sizes[i].k_max;
        p.row_stride = sizes[i].row_stride;
        REFUSED(&p, TOPK_ERROR_OVERFLOW);
    }
    for (int i = 0; i < 4; i++) { /* only these two have k_max slots for each row */
        topk_problem p = valid_problem();
        p.rows = i == 0 ? INT64_C(1) << 40 : i == 3 ? 1 : 4;
        p.k_max = i == 0 ? INT64_C(1) << 40 : i == 1 ? INT64_MAX : i == 2 ? INT64_MAX / 16 : INT64_C(1) << 62;
        p.length_max = 1;
        for (int operation = TOPK_OPERATION_SELECT; operation <= TOPK_OPERATION_MASK; operation++) {
            const bool slots = operation == TOPK_OPERATION_SELECT || operation == TOPK_OPERATION_SELECT_WHERE;
            CHECK_STATUS(slots ? TOPK_ERROR_OVERFLOW : TOPK_OK, size_of(&p, (topk_operation)operation));
        }
        CHECK_STATUS(TOPK_ERROR_OVERFLOW, accumulator_size_of(&p));
    }
    topk_problem p = valid_problem();
    p.index_type = TOPK_INDEX_I64;
    p.index_base = INT64_MAX - LENGTH + 1;
    REFUSED(&p, TOPK_ERROR_OVERFLOW);
    p.index_base = INT64_MAX - LENGTH;
    CHECK_STATUS(TOPK_OK, size_of(&p, TOPK_OPERATION_SELECT));
}

/* topk_kth() has one slot for each row, so any k will do; beyond the row all is padding. */
static void check_kth_beyond_all_places(void) {
    static const char *const methods[] = {NULL, "rows", "rtopk", "bracket", "reference"};
    for (int m = 0; m < 5; m++) {
        fixture_init(&base, context);
        base.problem.method = methods[m];
        base.problem.k_max = INT64_C(1) << 62;
        EXPECT(&base, call_kth, TOPK_OK);
        for (int r = 0; r < ROWS; r++) {
            CHECK(base.results[r] == -INFINITY && base.counts[r] == LENGTH && base.equal[r] == 0);
        }
        base.problem.extent_type = TOPK_INDEX_I64;
        base.input.k = base.k;
        base.k[0] = 1;
        base.k[1] = INT64_MAX;
        base.k[2] = 0;
        EXPECT(&base, call_kth, TOPK_OK);
        CHECK(base.results[0] == 100 && base.counts[0] == 0 && base.equal[0] == 1);
        CHECK(base.results[1] == -INFINITY && base.counts[1] == LENGTH && base.equal[1] == 0);
        CHECK(base.results[2] == -INFINITY && base.counts[2] == 0 && base.equal[2] == 0);
    }
}

static void check_narrow_indices(void) {
    topk_problem p = valid_problem();
    p.index_base = INT32_MAX - LENGTH;
    CHECK_STATUS(TOPK_OK, size_of(&p, TOPK_OPERATION_SELECT));
    p.index_base++;
    REFUSED(&p, TOPK_ERROR_INDEX_TOO_NARROW);
    p = valid_problem();
    p.rows = 1;
    p.length_max = INT32_MAX;
    CHECK_STATUS(TOPK_OK, size_of(&p, TOPK_OPERATION_SELECT));
    p.length_max++;
    REFUSED(&p, TOPK_ERROR_INDEX_TOO_NARROW);
    p.index_type = TOPK_INDEX_I64;
    CHECK_STATUS(TOPK_OK, size_of(&p, TOPK_OPERATION_SELECT));
}

static void check_fields_of_other_shapes(void) {
    topk_problem p = valid_problem();
    p.elements_max = 1;
    REFUSED(&p, TOPK_ERROR_CONTRADICTION);
    for (int shape = TOPK_SHAPE_SPANS; shape <= TOPK_SHAPE_CSR; shape++) {
        p = valid_problem();
        p.shape = (topk_shape)shape;
        p.row_stride = LENGTH;
        REFUSED(&p, TOPK_ERROR_CONTRADICTION);
        p.row_stride = 0;
        CHECK_STATUS(TOPK_ERROR_UNSUPPORTED, accumulator_size_of(&p));
    }
}

static void check_null_arguments(void) {
    topk_problem p = valid_problem();
    size_t bytes;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_workspace_size(NULL, TOPK_OPERATION_SELECT, &p, &bytes));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_workspace_size(context, TOPK_OPERATION_SELECT, NULL, &bytes));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_workspace_size(context, TOPK_OPERATION_SELECT, &p, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_explain(NULL, TOPK_OPERATION_SELECT, &p, NULL, 0, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_explain(context, TOPK_OPERATION_SELECT, NULL, NULL, 0, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_explain(context, TOPK_OPERATION_SELECT, &p, NULL, 1, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_accumulator_size(NULL, &p, &bytes));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_accumulator_size(context, NULL, &bytes));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_accumulator_size(context, &p, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_select(context, NULL, &base.input, NULL, NULL, NULL, 0, NULL));
    fixture_init(&base, NULL);
    EXPECT_ALL(&base, TOPK_ERROR_NULL_POINTER);
}

/* Nothing to do needs neither workspace nor values, in any shape. */
static void check_nothing_to_do(void) {
    static const int64_t extents[] = {0, LENGTH, LENGTH};
    for (int i = 0; i < 6; i++) {
        topk_problem p = valid_problem();
        topk_input input = TOPK_INPUT_INIT;
        size_t bytes = 1;
        p.shape = (topk_shape)(i % 3);
        p.row_stride = i % 3 == 0 ? INT64_C(1) << 62 : 0;
        p.elements_max = i % 3 == 0 ? 0 : LENGTH;
        p.rows = i < 3 ? 0 : 2;
        p.length_max = i < 3 ? LENGTH : 0;
        p.index_type = TOPK_INDEX_I64;
        input.begins = p.shape == TOPK_SHAPE_SPANS ? extents : NULL;
        input.ends = p.shape == TOPK_SHAPE_SPANS ? extents + 1 : NULL;
        input.offsets = p.shape == TOPK_SHAPE_CSR ? extents : NULL;
        CHECK_STATUS(TOPK_OK, topk_workspace_size(context, TOPK_OPERATION_SELECT, &p, &bytes));
        CHECK(p.rows > 0 || bytes == 0);
        void *workspace = malloc(bytes + 1);
        CHECK_STATUS(TOPK_OK, topk_select(context, &p, &input, NULL, NULL, workspace, bytes, NULL));
        free(workspace);
    }
}

int main(void) {
    context = create_cpu_context(1);
    check_enums();
    check_operations();
    check_negative_counts();
    check_overflow();
    check_kth_beyond_all_places();
    check_narrow_indices();
    check_fields_of_other_shapes();
    check_null_arguments();
    check_nothing_to_do();
    topk_context_destroy(context);
    return check_report();
}
