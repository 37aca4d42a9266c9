/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that was built with an earlier release's headers, which lie in folders beside it, and that runs
 * with this library, whose structs have grown. Only what that release has is used here: each function, with
 * results that are looked at. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

#if TOPK_VERSION == 100 /* 0.1.0: its sizes are what the library goes by, and never change */
_Static_assert(sizeof(topk_context_options) == 32 && sizeof(topk_context_properties) == 32, "of 0.1");
_Static_assert(sizeof(topk_problem) == 144 && sizeof(topk_input) == 64, "of 0.1");
_Static_assert(sizeof(topk_predicate) == 64 && sizeof(topk_bound) == 16, "of 0.1");
_Static_assert(sizeof(topk_routing) == 48, "of 0.1, with 4 bytes that no field ever takes");
#endif

enum { LENGTH = 8, K = 3, BYTES = 1 << 20, BEHIND = 0xa5 };

static const float values[LENGTH] = {3, 1, 4, 1, 5, 9, 2, 6};
static topk_context *context;
static unsigned char workspace[BYTES], other[BYTES];
static float results[LENGTH];
static int32_t indices[LENGTH];
static int64_t counts[LENGTH], equal[LENGTH];

/* Each struct as the program has it, with bytes behind it that are not its own. */
typedef struct structs {
    topk_problem problem;
    unsigned char behind_problem[32];
    topk_input input;
    unsigned char behind_input[32];
    topk_predicate predicate;
    unsigned char behind_predicate[32];
    topk_routing routing;
    unsigned char behind_routing[32];
} structs;

static structs given(void) {
    structs s;
    memset(&s, BEHIND, sizeof s);
    s.problem = (topk_problem)TOPK_PROBLEM_INIT;
    s.problem.type = TOPK_F32;
    s.problem.length_max = LENGTH;
    s.problem.k_max = K;
    s.input = (topk_input)TOPK_INPUT_INIT;
    s.input.values = values;
    s.predicate = (topk_predicate)TOPK_PREDICATE_INIT;
    s.predicate.kind = TOPK_LT;
    s.predicate.low.value.f64 = 5;
    s.routing = (topk_routing)TOPK_ROUTING_INIT;
    return s;
}

static void check_contexts(void) {
    struct {
        topk_context_options options;
        unsigned char behind_options[32];
        topk_context_properties properties;
        unsigned char behind[32];
    } s;
    memset(&s, BEHIND, sizeof s);
    s.options = (topk_context_options)TOPK_CONTEXT_OPTIONS_INIT;
    s.options.backend = TOPK_BACKEND_CPU;
    s.options.threads = 2;
    s.properties = (topk_context_properties)TOPK_CONTEXT_PROPERTIES_INIT;
    CHECK_STATUS(TOPK_OK, topk_context_create(&s.options, &context));
    CHECK_STATUS(TOPK_OK, topk_context_query(context, &s.properties));
    CHECK(s.properties.size == sizeof s.properties && s.properties.backend == TOPK_BACKEND_CPU);
    CHECK(s.properties.threads == 2 && s.properties.features[0] != '\0');
    for (size_t i = 0; i < sizeof s.behind; i++) {
        CHECK(s.behind[i] == BEHIND);
    }
}

static void check_ranking(void) {
    const structs s = given();
    size_t bytes = 0;
    char text[4096];
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, TOPK_OPERATION_SELECT, &s.problem, &bytes));
    CHECK_STATUS(TOPK_OK,
                 topk_explain(context, TOPK_OPERATION_SELECT, &s.problem, text, sizeof text, &bytes));
    CHECK_STATUS(TOPK_OK,
                 topk_select(context, &s.problem, &s.input, results, indices, workspace, BYTES, NULL));
    CHECK(results[0] == 9 && results[1] == 6 && results[2] == 5 && indices[0] == 5 && indices[2] == 4);
    CHECK_STATUS(TOPK_OK,
                 topk_kth(context, &s.problem, &s.input, results, counts, equal, workspace, BYTES, NULL));
    CHECK(results[0] == 5 && counts[0] == 2 && equal[0] == 1);
    CHECK_STATUS(TOPK_OK, topk_route(context, &s.problem, &s.routing, values, indices, results, workspace,
                                     BYTES, NULL));
    CHECK(indices[0] == 5 && indices[1] == 7 && results[0] > results[1] && results[1] > 0);
}

static void check_predicates(void) {
    const structs s = given();
    unsigned char mask = 0;
    CHECK_STATUS(TOPK_OK, topk_where(context, &s.problem, &s.input, &s.predicate, results, indices, LENGTH,
                                     counts, workspace, BYTES, NULL));
    CHECK(counts[1] == 5 && results[4] == 2 && indices[4] == 6);
    CHECK_STATUS(TOPK_OK, topk_select_where(context, &s.problem, &s.input, &s.predicate, results, indices,
                                            workspace, BYTES, NULL));
    CHECK(results[0] == 4 && results[2] == 2 && indices[0] == 2);
    CHECK_STATUS(TOPK_OK,
                 topk_count(context, &s.problem, &s.input, &s.predicate, counts, workspace, BYTES, NULL));
    CHECK_STATUS(TOPK_OK,
                 topk_mask(context, &s.problem, &s.input, &s.predicate, &mask, workspace, BYTES, NULL));
    CHECK(counts[0] == 5 && mask == 0x4f);
}

static void check_accumulator(void) {
    const structs s = given();
    size_t bytes = 0;
    CHECK_STATUS(TOPK_OK, topk_accumulator_size(context, &s.problem, &bytes));
    CHECK(bytes <= BYTES);
    CHECK_STATUS(TOPK_OK, topk_accumulator_init(context, &s.problem, workspace, bytes, NULL));
    CHECK_STATUS(TOPK_OK, topk_accumulator_init(context, &s.problem, other, bytes, NULL));
    CHECK_STATUS(TOPK_OK,
                 topk_accumulator_push(context, &s.problem, workspace, bytes, &s.input, LENGTH, 0, NULL));
    CHECK_STATUS(TOPK_OK, topk_accumulator_push_where(context, &s.problem, other, bytes, &s.input,
                                                      &s.predicate, LENGTH, LENGTH, NULL));
    CHECK_STATUS(TOPK_OK, topk_accumulator_peek(context, &s.problem, other, bytes, results, indices, NULL));
    CHECK(results[0] == 4 && indices[0] == LENGTH + 2);
    CHECK_STATUS(TOPK_OK, topk_accumulator_merge(context, &s.problem, workspace, bytes, other, bytes, NULL));
    CHECK_STATUS(TOPK_OK,
                 topk_accumulator_finish(context, &s.problem, workspace, bytes, results, indices, NULL));
    CHECK(results[0] == 9 && results[2] == 5 && indices[2] == 4);
}

int main(void) {
    check_contexts();
    check_ranking();
    check_predicates();
    check_accumulator();
    topk_context_destroy(context);
    return check_report();
}
