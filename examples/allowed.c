/* SPDX-License-Identifier: Apache-2.0
 * A filtered search: the best scores among the documents that another column allows. topk_mask() turns the
 * column into a bit for each document, whatever its type; the same bits then restrict any number of searches.
 */
#include <stdio.h>
#include <stdlib.h>

#include <topk.h>

enum { QUERIES = 2, DOCUMENTS = 10, BEST = 3 };

static const uint16_t years[DOCUMENTS] = {2019, 2021, 2023, 2018, 2022, 2020, 2024, 2017, 2021, 2025};
static const float scores[QUERIES][DOCUMENTS] = {
    {0.91f, 0.15f, 0.42f, 0.99f, 0.67f, 0.12f, 0.42f, 0.88f, 0.30f, 0.05f},
    {0.20f, 0.81f, 0.33f, 0.95f, 0.02f, 0.81f, 0.40f, 0.77f, 0.64f, 0.10f},
};

static int fail(void) {
    (void)fprintf(stderr, "allowed: %s\n", topk_last_error());
    return EXIT_FAILURE;
}

/* One row of years, to the bits of those from 2020 on. */
static topk_status find_allowed(topk_context *context, unsigned char *allowed) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    topk_predicate recent = TOPK_PREDICATE_INIT;
    size_t bytes;
    problem.type = TOPK_U16;
    problem.length_max = DOCUMENTS;
    input.values = years;
    recent.kind = TOPK_GE;
    recent.low = topk_bound_i64(2020);
    topk_status status = topk_workspace_size(context, TOPK_OPERATION_MASK, &problem, &bytes);
    if (status == TOPK_OK) {
        void *workspace = malloc(bytes);
        status = topk_mask(context, &problem, &input, &recent, allowed, workspace, bytes, NULL);
        free(workspace);
    }
    return status;
}

/* A mask has a bit for each element of values: each query is a problem of its own over the same bits. */
static topk_status search(topk_context *context, const float *of_query, const unsigned char *allowed,
                          int32_t *documents) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    topk_predicate by_mask = TOPK_PREDICATE_INIT;
    size_t bytes;
    problem.type = TOPK_F32;
    problem.length_max = DOCUMENTS;
    problem.k_max = BEST;
    input.values = of_query;
    by_mask.kind = TOPK_BIT_MASK;
    by_mask.mask = allowed;
    topk_status status = topk_workspace_size(context, TOPK_OPERATION_SELECT_WHERE, &problem, &bytes);
    if (status == TOPK_OK) {
        void *workspace = malloc(bytes);
        status =
            topk_select_where(context, &problem, &input, &by_mask, NULL, documents, workspace, bytes, NULL);
        free(workspace);
    }
    return status;
}

int main(void) {
    static const int32_t right[QUERIES][BEST] = {{4, 2, 6}, {1, 5, 8}};
    unsigned char allowed[(DOCUMENTS + 7) / 8];
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    int wrong = 0;
    options.backend = TOPK_BACKEND_CPU;
    if (topk_context_create(&options, &context) != TOPK_OK || find_allowed(context, allowed) != TOPK_OK) {
        return fail();
    }
    for (int query = 0; query < QUERIES; query++) {
        int32_t documents[BEST];
        if (search(context, scores[query], allowed, documents) != TOPK_OK) {
            return fail();
        }
        (void)printf("query %d:", query);
        for (int i = 0; i < BEST; i++) {
            (void)printf(" %d", (int)documents[i]);
            wrong += documents[i] != right[query][i];
        }
        (void)printf("\n");
    }
    topk_context_destroy(context);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
