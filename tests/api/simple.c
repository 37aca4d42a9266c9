/* SPDX-License-Identifier: Apache-2.0
 *
 * topk_simple.h: the results and statuses of topk.h, from a workspace that grows. With the argument `cuda` on
 * a GPU whose memory is the host's. */
#include "fixture.h"
#include "topk_advanced.h"
#include "topk_simple.h"

static fixture plain, other; /* the same call, by topk.h and by topk_simple.h */
static topk_simple *simple;

/* ---- Any problem ---- */

static topk_status run_select(fixture *f) {
    return topk_simple_run_select(simple, &f->problem, &f->input, f->out_values, f->out_indices, f->stream);
}

static topk_status run_kth(fixture *f) {
    return topk_simple_run_kth(simple, &f->problem, &f->input, f->out_values, f->out_counts, f->out_equal,
                               f->stream);
}

static topk_status run_where(fixture *f) {
    return topk_simple_run_where(simple, &f->problem, &f->input, &f->predicate, f->out_values, f->out_indices,
                                 f->capacity, f->out_counts, f->stream);
}

static topk_status run_select_where(fixture *f) {
    return topk_simple_run_select_where(simple, &f->problem, &f->input, &f->predicate, f->out_values,
                                        f->out_indices, f->stream);
}

static topk_status run_kth_where(fixture *f) {
    return topk_simple_run_kth_where(simple, &f->problem, &f->input, &f->predicate, f->out_values,
                                     f->out_counts, f->out_equal, f->stream);
}

static topk_status run_count(fixture *f) {
    return topk_simple_run_count(simple, &f->problem, &f->input, &f->predicate, f->out_counts, f->stream);
}

static topk_status run_mask(fixture *f) {
    return topk_simple_run_mask(simple, &f->problem, &f->input, &f->predicate, f->out_mask, f->stream);
}

static topk_status run_route(fixture *f) {
    return topk_simple_run_route(simple, &f->problem, &f->routing, f->input.values, f->out_indices,
                                 f->out_values, f->stream);
}

typedef topk_status (*call)(fixture *);

enum { CALLS = OPERATIONS + 2 };
static const call plain_calls[CALLS] = {call_select, call_kth,  call_where, call_select_where,
                                        call_count,  call_mask, call_route, call_kth_where};
static const call simple_calls[CALLS] = {run_select, run_kth,  run_where, run_select_where,
                                         run_count,  run_mask, run_route, run_kth_where};

static bool same_outputs(void) {
    return memcmp(plain.results, other.results, sizeof plain.results) == 0 &&
           memcmp(plain.indices, other.indices, sizeof plain.indices) == 0 &&
           memcmp(plain.counts, other.counts, sizeof plain.counts) == 0 &&
           memcmp(plain.equal, other.equal, sizeof plain.equal) == 0 &&
           memcmp(plain.bits, other.bits, sizeof plain.bits) == 0;
}

static void begin(void) {
    fixture_init(&plain, topk_simple_context(simple));
    fixture_init(&other, NULL);
}

/* Both ways have that status, and write the same or nothing. */
static void compare(int operation, topk_status wanted) {
    static fixture before;
    memcpy(&before, &other, sizeof before);
    CHECK_STATUS(wanted, plain_calls[operation](&plain));
    if (CHECK_STATUS(wanted, simple_calls[operation](&other)) && wanted == TOPK_OK) {
        CHECK(same_outputs());
    } else {
        CHECK(memcmp(&before, &other, sizeof before) == 0);
    }
}

static void check_any_problem(void) {
    for (int operation = 0; operation < CALLS; operation++) {
        begin();
        compare(operation, TOPK_OK);
        begin();
        CHECK_STATUS(TOPK_OK, simple_calls[operation](&other));
        CHECK(!same_outputs()); /* the call writes something */
    }
    for (int operation = 0; operation < OPERATIONS; operation++) { /* options are not lost */
        begin();
        plain.problem.direction = TOPK_SMALLEST;
        plain.problem.shape = TOPK_SHAPE_CSR;
        plain.problem.elements_max = ELEMENTS;
        plain.problem.index_base = 7;
        plain.input.offsets = plain.extents;
        other.problem = plain.problem;
        other.input.offsets = other.extents;
        compare(operation, TOPK_OK);
    }
}

static void check_errors_of_problems(void) {
    for (int operation = 0; operation < CALLS; operation++) {
        begin();
        plain.problem.rows = other.problem.rows = -1;
        compare(operation, TOPK_ERROR_OUT_OF_RANGE);
        begin();
        plain.input.values = other.input.values = NULL;
        compare(operation, TOPK_ERROR_NULL_POINTER);
    }
    simple_calls[0](&other);
    CHECK(strstr(topk_last_error(), "values") != NULL);
}

/* ---- Rows of one length ---- */

static int64_t positions[2][ELEMENTS];

/* The fixture's problem with int64_t positions in `positions`, plain[0] and simple[1]. */
static void begin_rows(topk_direction direction) {
    begin();
    plain.problem.index_type = TOPK_INDEX_I64;
    plain.problem.direction = direction;
    plain.out_indices = positions[0];
    memset(positions, 0, sizeof positions);
}

static void expect_same_rows(void) {
    CHECK(same_outputs());
    CHECK(memcmp(positions[0], positions[1], sizeof positions[0]) == 0);
}

static void check_rows(topk_direction direction) {
    begin_rows(direction);
    CHECK_STATUS(TOPK_OK, call_select(&plain));
    CHECK_STATUS(TOPK_OK, topk_simple_select(simple, direction, TOPK_F32, other.values, ROWS, LENGTH, K,
                                             other.results, positions[1]));
    expect_same_rows();
    begin_rows(direction);
    plain.out_counts = plain.out_equal = NULL;
    CHECK_STATUS(TOPK_OK, call_kth(&plain));
    CHECK_STATUS(TOPK_OK,
                 topk_simple_kth(simple, direction, TOPK_F32, other.values, ROWS, LENGTH, K, other.results));
    expect_same_rows();
}

static void check_predicates_on_rows(void) {
    begin_rows(TOPK_LARGEST);
    plain.predicate.low.value.f64 = other.predicate.low.value.f64 = 50;
    plain.capacity = 20;
    CHECK_STATUS(TOPK_OK, call_where(&plain));
    CHECK_STATUS(TOPK_OK, topk_simple_where(simple, TOPK_F32, other.values, ROWS, LENGTH, &other.predicate,
                                            other.results, positions[1], 20, other.counts));
    CHECK(other.counts[ROWS] > 20);
    expect_same_rows();
    CHECK_STATUS(TOPK_OK, call_count(&plain));
    CHECK_STATUS(TOPK_OK, topk_simple_count(simple, TOPK_F32, other.values, ROWS, LENGTH, &other.predicate,
                                            other.counts));
    expect_same_rows();
}

/* The three lines of the header's comment. */
static void check_example(void) {
    const float scores[] = {3, 1, 4, 1, 5};
    int64_t best[3];
    CHECK_STATUS(TOPK_OK, topk_simple_select(simple, TOPK_LARGEST, TOPK_F32, scores, 1, 5, 3, NULL, best));
    CHECK(best[0] == 4 && best[1] == 2 && best[2] == 0);
}

static void check_errors_on_rows(void) {
    begin();
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, topk_simple_select(simple, (topk_direction)TOPK_F32, TOPK_F32,
                                                             other.values, 1, 1, 1, NULL, positions[0]));
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, topk_simple_kth(simple, TOPK_LARGEST, TOPK_TYPE_UNDEFINED,
                                                          other.values, 1, 1, 1, other.results));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_simple_select(simple, TOPK_LARGEST, TOPK_F32, other.values, 1,
                                                             1, -1, NULL, positions[0]));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_simple_count(simple, TOPK_F32, other.values, 1, 1, &other.predicate, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_simple_where(simple, TOPK_F32, other.values, 1, 1, NULL, NULL, NULL, 0, NULL));
}

/* ---- The handle ---- */

static void check_nulls(void) {
    topk_simple *const kept = simple;
    begin();
    simple = NULL;
    for (int operation = 0; operation < CALLS; operation++) {
        CHECK_STATUS(TOPK_ERROR_NULL_POINTER, simple_calls[operation](&other));
        CHECK(strstr(topk_last_error(), "simple") != NULL);
    }
    simple = kept;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_simple_select(NULL, TOPK_LARGEST, TOPK_F32, other.values, 1, 1, 1, NULL, positions[0]));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_simple_create(NULL, NULL));
    CHECK(topk_simple_context(NULL) == NULL);
    topk_simple_destroy(NULL);
}

static void check_options(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    topk_simple *created = simple;
    options.threads = -1;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_simple_create(&options, &created));
    CHECK(created == NULL);
    CHECK_STATUS(TOPK_OK, topk_simple_create(NULL, &created));
    CHECK_STATUS(TOPK_OK, topk_context_query(topk_simple_context(created), &properties));
    CHECK(properties.backend == TOPK_BACKEND_CPU); /* also where there is a GPU */
    topk_simple_destroy(created);
}

/* ---- Growth ---- */

static size_t bytes_of(int64_t length) {
    size_t bytes = 0;
    begin();
    plain.problem.rows = 1;
    plain.problem.length_max = plain.problem.k_max = length;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(topk_simple_context(simple), TOPK_OPERATION_SELECT,
                                              &plain.problem, &bytes));
    return bytes;
}

enum { LONGEST = 3000 };

/* A descending row is in the order of its positions. */
static void select_descending(int64_t length) {
    static float row[LONGEST];
    static int64_t order[LONGEST];
    int64_t wrong = 0;
    for (int64_t i = 0; i < length; i++) {
        row[i] = (float)(length - i);
    }
    CHECK_STATUS(TOPK_OK,
                 topk_simple_select(simple, TOPK_LARGEST, TOPK_F32, row, 1, length, length, NULL, order));
    for (int64_t i = 0; i < length; i++) {
        wrong += order[i] != i;
    }
    CHECK(wrong == 0);
}

static void check_growth(void) {
    CHECK(bytes_of(10) < bytes_of(800) && bytes_of(800) < bytes_of(LONGEST));
    static const int64_t lengths[] = {10, 800, LONGEST, 20, LONGEST, 800};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        select_descending(lengths[i]);
    }
}

int main(int argc, char **argv) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = argc > 1 && strcmp(argv[1], "cuda") == 0 ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    options.threads = 1;
    CHECK_STATUS(TOPK_OK, topk_simple_create(&options, &simple));
    check_growth();
    check_any_problem();
    check_errors_of_problems();
    check_rows(TOPK_LARGEST);
    check_rows(TOPK_SMALLEST);
    check_predicates_on_rows();
    check_example();
    check_errors_on_rows();
    check_nulls();
    check_options();
    topk_simple_destroy(simple);
    return check_report();
}
