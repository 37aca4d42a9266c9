/* SPDX-License-Identifier: Apache-2.0
 *
 * topk_select_by(): which problems it takes, what it says of others, its buffers; and its results against
 * topk_select() for each group's elements alone. */
#include <stddef.h>
#include <stdlib.h>

#include "fixture.h"
#include "random.h"
#include "topk_advanced.h"

static fixture f;
static topk_context *context;

static void reset(void) {
    fixture_init(&f, context);
}

static void expect(topk_status wanted, const char *sentence) {
    EXPECT(&f, call_select_by, wanted);
    if (wanted != TOPK_OK && !CHECK(strstr(topk_last_error(), sentence) != NULL)) {
        fprintf(stderr, "    '%s' in '%s'\n", sentence, topk_last_error());
    }
}

static topk_status size_of(fixture *g) {
    size_t bytes = 0;
    return topk_workspace_size(g->context, TOPK_OPERATION_SELECT_BY, &g->problem, &bytes);
}

static void check_problems(void) {
    for (int type = TOPK_F16; type <= TOPK_U64; type++) {
        reset();
        f.problem.type = (topk_type)type;
        f.problem.rank = TOPK_BY_MAGNITUDE;
        expect(TOPK_OK, "");
    }
    for (int shape = TOPK_SHAPE_SPANS; shape <= TOPK_SHAPE_CSR; shape++) {
        reset();
        f.problem.shape = (topk_shape)shape;
        f.problem.elements_max = ELEMENTS;
        EXPECT(&f, size_of, TOPK_ERROR_UNSUPPORTED);
        expect(TOPK_ERROR_UNSUPPORTED, "problem->shape is");
    }
    reset();
    f.problem.row_stride = LENGTH;
    EXPECT(&f, size_of, TOPK_ERROR_CONTRADICTION);
    expect(TOPK_ERROR_CONTRADICTION, "problem->row_stride is 40");
    reset();
    f.problem.epsilon = 1;
    expect(TOPK_ERROR_CONTRADICTION, "problem->epsilon");
    reset();
    f.problem.method = "rows";
    expect(TOPK_ERROR_METHOD_CANNOT, "does not do select_by");
    reset();
    f.problem.k_max = INT64_MAX / 16;
    expect(TOPK_ERROR_OVERFLOW, "k_max");
    reset();
    f.problem.index_base = INT32_MAX - LENGTH + 1;
    expect(TOPK_ERROR_INDEX_TOO_NARROW, "2^31 - 1");
    reset(); /* more groups than strided rows could be: elements are as many as ever */
    f.problem.rows = INT64_MAX / 64;
    f.problem.k_max = 0;
    EXPECT(&f, size_of, TOPK_OK);
}

static void check_missing_buffers(void) {
    const void **const fields[] = {&f.input.begins, &f.input.ends, &f.input.offsets, &f.input.lengths};
    for (int i = 0; i < 4; i++) {
        reset();
        *fields[i] = f.extents;
        i == 3 ? expect(TOPK_ERROR_UNSUPPORTED, "input->lengths must be NULL")
               : expect(TOPK_ERROR_CONTRADICTION, "does not go with groups");
    }
    reset();
    f.input.values = NULL;
    expect(TOPK_ERROR_NULL_POINTER, "input->values is NULL");
    reset();
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_select_by(context, &f.problem, &f.input, f.results, f.indices,
                                                         f.counts, f.memory, sizeof f.memory, NULL));
    CHECK(strstr(topk_last_error(), "input->groups is NULL") != NULL);
    f.problem.length_max = 0;
    f.input.values = NULL;
    CHECK_STATUS(TOPK_OK, topk_select_by(context, &f.problem, &f.input, f.results, f.indices, f.counts,
                                         f.memory, sizeof f.memory, NULL));
    for (int i = 0; i < ROWS * K; i++) {
        CHECK(f.indices[i] == -1 && f.results[i] < -1e38F && f.counts[i / K] == 0);
    }
    reset();
    f.out_values = f.out_indices = NULL; /* counts alone */
    f.problem.k_max = 0;
    expect(TOPK_OK, "");
    CHECK(f.counts[0] == LENGTH / 4 && f.counts[2] == LENGTH / 4);
    reset(); /* other operations have no groups */
    f.input.groups = f.groups;
    EXPECT_ALL(&f, TOPK_ERROR_CONTRADICTION);
    CHECK(strstr(topk_last_error(), "input->groups must be NULL: kth_where takes no groups") != NULL);
}

static void check_buffers(void) {
    reset();
    f.input.groups = (const char *)f.groups + 4;
    expect(TOPK_ERROR_MISALIGNED, "input->groups");
    f.problem.extent_type = TOPK_INDEX_I32;
    expect(TOPK_OK, "");
    reset();
    f.out_values = f.groups;
    expect(TOPK_ERROR_OVERLAP, "input->groups");
    reset();
    f.out_counts = (int64_t *)(void *)f.results;
    expect(TOPK_ERROR_OVERLAP, "counts");
    reset();
    f.workspace_bytes = 0;
    expect(TOPK_ERROR_WORKSPACE_TOO_SMALL, "method 'groups' needs");
}

/* ---- Groups alone ---- */

enum { MOST = 600, GROUPS = 9, K_MOST = 40 };

/* Elements with many ties, some of them zeros of both signs and NaN. */
static float draw(random_state *random) {
    static const float odd[] = {0.0F, -0.0F, __builtin_nanf("1"), -__builtin_nanf("2"), __builtin_inff()};
    const int64_t drawn = random_below(random, 20);
    return drawn < 5 ? odd[drawn] : (float)(drawn - 12);
}

static void check_one(const topk_problem *problem, random_state *random, bool is_one_group) {
    static float elements[MOST], row[MOST], values[GROUPS * K_MOST], wanted[K_MOST];
    static int64_t positions[MOST], indices[GROUPS * K_MOST], wanted_indices[K_MOST], counts[GROUPS];
    static int64_t groups[MOST];
    topk_input input = TOPK_INPUT_INIT;
    topk_problem alone = *problem;
    for (int64_t e = 0; e < problem->length_max; e++) {
        elements[e] = draw(random);
        groups[e] = is_one_group ? 4 : random_below(random, GROUPS + 2) - 1;
    }
    input.values = elements;
    input.groups = groups;
    CHECK_STATUS(TOPK_OK, topk_select_by(context, problem, &input, values, indices, counts, f.memory,
                                         sizeof f.memory, NULL));
    for (int64_t g = 0; g < GROUPS; g++) {
        int64_t members = 0;
        for (int64_t e = 0; e < problem->length_max; e++) {
            if (groups[e] == g) {
                row[members] = elements[e];
                positions[members++] = e;
            }
        }
        input = (topk_input)TOPK_INPUT_INIT;
        input.values = row;
        input.indices = positions;
        alone.rows = 1;
        alone.length_max = members;
        CHECK_STATUS(TOPK_OK, topk_select(context, &alone, &input, wanted, wanted_indices, f.memory,
                                          sizeof f.memory, NULL));
        const size_t slots = (size_t)problem->k_max, first = (size_t)g * slots;
        CHECK(counts[g] == members);
        CHECK(memcmp(values + first, wanted, slots * sizeof *wanted) == 0);
        CHECK(memcmp(indices + first, wanted_indices, slots * sizeof *wanted_indices) == 0);
    }
}

static void check_groups(void) {
    random_state random = {1};
    for (int i = 0; i < 400; i++) {
        topk_problem problem = TOPK_PROBLEM_INIT;
        problem.type = TOPK_F32;
        problem.index_type = TOPK_INDEX_I64;
        problem.rows = GROUPS;
        problem.length_max = random_below(&random, MOST + 1);
        problem.k_max = i % K_MOST;
        problem.direction = (topk_direction)(i / 12 % 2);
        problem.rank = (topk_rank)(i / 24 % 2);
        problem.nan = (topk_nan)(i / 48 % 2);
        problem.order = i % 2 == 0 ? TOPK_ORDER_BEST_FIRST : TOPK_ORDER_BY_POSITION;
        check_one(&problem, &random, i % 5 == 0);
    }
}

int main(void) {
    context = create_cpu_context(1);
    check_problems();
    check_missing_buffers();
    check_buffers();
    check_groups();
    topk_context_destroy(context);
    return check_report();
}
