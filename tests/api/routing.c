/* SPDX-License-Identifier: Apache-2.0
 *
 * topk_route(): which problems and routings it takes, what it says of others, and its buffers. */
#include <math.h>
#include <stddef.h>

#include "fixture.h"

static fixture f;
static topk_context *context;

static void reset(void) {
    fixture_init(&f, context);
}

static topk_status size_of_route(fixture *g) {
    size_t bytes = 0;
    return topk_workspace_size(g->context, TOPK_OPERATION_ROUTE, &g->problem, &bytes);
}

static void check_sentence(const char *part) {
    if (!CHECK(strstr(topk_last_error(), part) != NULL)) {
        fprintf(stderr, "    '%s' in '%s'\n", part, topk_last_error());
    }
}

/* What is wrong with the problem shows without data, too. */
static void expect_problem(topk_status wanted, const char *sentence) {
    EXPECT(&f, size_of_route, wanted);
    EXPECT(&f, call_route, wanted);
    check_sentence(sentence);
}

static void check_problems(void) {
    for (int type = TOPK_F16; type <= TOPK_U64; type++) {
        reset();
        f.problem.type = (topk_type)type;
        f.problem.rows = 1;
        EXPECT(&f, call_route, type <= TOPK_F8_E5M2 ? TOPK_OK : TOPK_ERROR_UNSUPPORTED);
        EXPECT(&f, size_of_route, type <= TOPK_F8_E5M2 ? TOPK_OK : TOPK_ERROR_UNSUPPORTED);
    }
    check_sentence("problem->type is u64");
    reset();
    f.problem.direction = TOPK_SMALLEST;
    expect_problem(TOPK_ERROR_UNSUPPORTED, "problem->direction");
    reset();
    f.problem.rank = TOPK_BY_MAGNITUDE;
    expect_problem(TOPK_ERROR_UNSUPPORTED, "problem->rank");
    for (int shape = TOPK_SHAPE_SPANS; shape <= TOPK_SHAPE_CSR; shape++) {
        reset();
        f.problem.shape = (topk_shape)shape;
        f.problem.elements_max = ELEMENTS;
        expect_problem(TOPK_ERROR_UNSUPPORTED, "problem->shape");
    }
    reset();
    f.problem.max_iterations = 4;
    expect_problem(TOPK_ERROR_CONTRADICTION, "problem->max_iterations");
    reset();
    f.problem.method = "rows";
    expect_problem(TOPK_ERROR_METHOD_CANNOT, "'rows'");
    check_sentence("does not do route");
    reset();
    f.problem.method = "route";
    f.problem.ties = TOPK_TIES_ANY;
    f.problem.order = TOPK_ORDER_ANY;
    EXPECT(&f, call_route, TOPK_OK);
    EXPECT(&f, call_select, TOPK_ERROR_METHOD_CANNOT);
}

static void check_ranges(void) {
    reset();
    f.problem.k_max = 32;
    EXPECT(&f, call_route, TOPK_OK);
    f.problem.k_max = 33;
    expect_problem(TOPK_ERROR_OUT_OF_RANGE, "problem->k_max is 33");
    reset();
    f.problem.rows = 0;
    f.problem.length_max = 1024;
    EXPECT(&f, call_route, TOPK_OK);
    f.problem.length_max = 1025;
    expect_problem(TOPK_ERROR_OUT_OF_RANGE, "problem->length_max is 1025");
    reset();
    f.problem.rows = INT64_MAX / 16;
    f.problem.length_max = 1;
    f.problem.k_max = 32;
    expect_problem(TOPK_ERROR_OVERFLOW, "k_max 32");
}

static void expect_groups(int64_t groups, int64_t kept, topk_status wanted, const char *sentence) {
    f.routing.groups = groups;
    f.routing.groups_kept = kept;
    EXPECT(&f, call_route, wanted);
    if (wanted != TOPK_OK) {
        check_sentence(sentence);
    }
}

static void check_routings(void) {
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    reset();
    expect_groups(8, 3, TOPK_OK, "");
    expect_groups(8, 8, TOPK_OK, "");
    expect_groups(LENGTH, 1, TOPK_OK, "");
    expect_groups(8, 9, TOPK_ERROR_OUT_OF_RANGE, "routing->groups_kept is 9");
    expect_groups(8, 0, TOPK_ERROR_OUT_OF_RANGE, "routing->groups_kept is 0");
    expect_groups(8, -1, TOPK_ERROR_OUT_OF_RANGE, "routing->groups_kept is -1");
    expect_groups(0, 1, TOPK_ERROR_CONTRADICTION, "routing->groups_kept is 1");
    expect_groups(7, 1, TOPK_ERROR_OUT_OF_RANGE, "routing->groups is 7");
    expect_groups(-8, 1, TOPK_ERROR_OUT_OF_RANGE, "routing->groups is -8");
    expect_groups(2 * LENGTH, 1, TOPK_ERROR_OUT_OF_RANGE, "routing->groups is 80");
    expect_groups(INT64_MIN, 1, TOPK_ERROR_OUT_OF_RANGE, "routing->groups");
    f.problem.length_max = 0;
    expect_groups(1024, 1024, TOPK_OK, "");
    expect_groups(1025, 1, TOPK_ERROR_OUT_OF_RANGE, "routing->groups is 1025");
    for (int i = 0; i < 3; i++) {
        reset();
        f.routing.factor = odd[i];
        EXPECT(&f, call_route, TOPK_ERROR_OUT_OF_RANGE);
        check_sentence("routing->factor");
    }
    for (int beyond = -1; beyond <= 2; beyond += 3) {
        reset();
        memcpy(&f.routing.score, &beyond, sizeof beyond);
        EXPECT(&f, call_route, TOPK_ERROR_UNKNOWN_ENUM);
        check_sentence("routing->score");
        reset();
        memcpy(&f.routing.weighing, &beyond, sizeof beyond);
        EXPECT(&f, call_route, TOPK_ERROR_UNKNOWN_ENUM);
        check_sentence("routing->weighing");
    }
}

static void check_missing_buffers(void) {
    reset();
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_route(NULL, &f.problem, &f.routing, f.values, f.indices, f.results, NULL, 0, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_route(context, NULL, &f.routing, f.values, f.indices, f.results, NULL, 0, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_route(context, &f.problem, NULL, f.values, f.indices, f.results, NULL, 0, NULL));
    check_sentence("routing is NULL");
    f.out_values = f.out_indices = NULL;
    EXPECT(&f, call_route, TOPK_OK);
    f.input.values = NULL;
    EXPECT(&f, call_route, TOPK_ERROR_NULL_POINTER);
    check_sentence("logits is NULL");
    f.problem.k_max = 0;
    EXPECT(&f, call_route, TOPK_ERROR_NULL_POINTER);
    f.problem.length_max = 0;
    EXPECT(&f, call_route, TOPK_OK);
    reset();
    f.workspace = NULL; /* it needs none */
    f.workspace_bytes = 0;
    EXPECT(&f, call_route, TOPK_OK);
    f.stream = (topk_stream)f.memory;
    EXPECT(&f, call_route, TOPK_ERROR_CONTRADICTION);
}

static void check_buffers(void) {
    char *const floats = (char *)f.results;
    reset();
    f.input.values = (const char *)f.values + 1;
    EXPECT(&f, call_route, TOPK_ERROR_MISALIGNED);
    check_sentence("logits");
    reset();
    f.routing.bias = (const float *)((const char *)f.mask + 2);
    EXPECT(&f, call_route, TOPK_ERROR_MISALIGNED);
    check_sentence("routing->bias");
    reset();
    f.out_values = floats + 2;
    EXPECT(&f, call_route, TOPK_ERROR_MISALIGNED);
    check_sentence("weights");
    reset();
    f.out_indices = floats;
    EXPECT(&f, call_route, TOPK_ERROR_OVERLAP);
    f.out_indices = floats + ROWS * K * sizeof(float);
    EXPECT(&f, call_route, TOPK_OK);
    reset();
    f.routing.bias = f.results + ROWS * K - 1;
    EXPECT(&f, call_route, TOPK_ERROR_OVERLAP);
    f.routing.bias++;
    EXPECT(&f, call_route, TOPK_OK);
    reset();
    f.routing.bias = f.values; /* inputs may overlap */
    EXPECT(&f, call_route, TOPK_OK);
    f.out_values = f.values;
    EXPECT(&f, call_route, TOPK_ERROR_OVERLAP);
}

int main(void) {
    context = create_cpu_context(1);
    check_problems();
    check_ranges();
    check_routings();
    check_missing_buffers();
    check_buffers();
    topk_context_destroy(context);
    return check_report();
}
